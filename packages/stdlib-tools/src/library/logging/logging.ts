// Structured log lines: one JSON object a line on the output of the run. The time is that of the last
// start or resume (`ctx.now`), so that a log line never needs a permission and never suspends.

import { PRINTS_REPORTS, REPORT_LISTENER } from './reports.js'
import {
  HarnDict,
  HarnFloat,
  builtin,
  display,
  family,
  isInt,
  toJsonString,
  stringifyJson,
  readTextArgument,
  work,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Plain, Value } from '@bridle/vm/families'
import { traceStack } from './context.js'
import { formatIsoNow } from '../time/dates.js'
import type { LogLevel } from '../effects/index.js'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]
export type Level = LogLevel

const logState = family('logging', (): { level: Level } => ({ level: 'debug' }))

/** The level that a machine begins with, for its `states`. */
export function logLevelState(level: Level): readonly [family: string, state: unknown] {
  return [logState.name, { level }]
}

/** Quoting looks at each character three times, and writes most of them. */
function quoteText(text: string): string {
  work(text.length >> QUOTED_BITS)
  return toJsonString(text)
}

const QUOTED_BITS = 4

/** Strings, numbers, bools and nil as JSON (infinities and NaN as null); anything else as the text it displays. */
function formatField(value: Value): string {
  if (value instanceof HarnFloat && !Number.isFinite(value.v)) return 'null'
  const scalar = value === null || typeof value === 'boolean' || isInt(value) || value instanceof HarnFloat
  return scalar ? stringifyJson(value) : quoteText(display(value))
}

export function logLine(ctx: Context, level: Level, message: string, fields: Value): void {
  if (LEVELS.indexOf(level) < LEVELS.indexOf(ctx.state(logState).level)) return
  const parts = [`"ts":"${formatIsoNow(ctx.now)}"`, `"level":"${level}"`, `"msg":${quoteText(message)}`]
  const span = ctx.state(traceStack).stack.at(-1)
  if (span !== undefined) parts.push(`"trace_id":${toJsonString(span.traceId)}`, `"span_id":${toJsonString(span.spanId)}`)
  if (fields instanceof HarnDict) {
    const members = fields.members()
    fields.keys().forEach((key, at) => parts.push(`${quoteText(key)}:${formatField(members[at]!)}`))
  }
  if (ctx.machine.hostData(PRINTS_REPORTS)) ctx.write(`{${parts.join(',')}}\n`)
  ctx.machine.hostData(REPORT_LISTENER)?.({
    kind: 'log',
    taskId: ctx.machine.task().taskId,
    level,
    message,
    fields: readFields(fields),
  })
}

/** As the line has them: scalars as they are, anything else as the text it displays. */
function readFields(fields: Value): { readonly [name: string]: Plain } {
  const out = Object.create(null) as { [name: string]: Plain }
  if (fields instanceof HarnDict) for (const key of fields.keys()) out[key] = toPlainField(fields.get(key)!)
  return out
}

function toPlainField(value: Value): Plain {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value
  if (value instanceof HarnFloat) return Number.isFinite(value.v) ? value.v : null
  return isInt(value) ? Number(value) : display(value)
}

function defineLogger(level: Level): BuiltinDef {
  return builtin(
    `log_${level}(msg: any, fields?: dict) -> nil`,
    { doc: `Writes a log line of level ${level}.`, effects: [], borrows: true },
    (ctx, message, fields) => {
      logLine(ctx, level, readTextArgument(ctx, 0, message), fields ?? null)
      return null
    },
  )
}

export const loggingFamily: BuiltinFamily = {
  name: 'logging',
  builtins: [
    ...LEVELS.map(defineLogger),
    builtin('log_set_level(level: string) -> nil', { doc: 'Drops log lines below a level.', effects: [] }, (ctx, level) => {
      const name = readTextArgument(ctx, 0, level)
      const known = LEVELS.find((each) => each === name)
      if (known === undefined) return ctx.throw(`log_set_level: invalid level '${name}'. Expected debug, info, warn, or error`)
      ctx.state(logState).level = known
      return null
    }),
    builtin(
      'log_json(key: string, value: any) -> nil',
      { doc: 'Writes one keyed value as a log line.', effects: [], borrows: true },
      (ctx, key, value) => {
        ctx.write(
          `{"ts":"${formatIsoNow(ctx.now)}","key":${quoteText(readTextArgument(ctx, 0, key))},"value":${formatField(value ?? null)}}\n`,
        )
        return null
      },
    ),
  ],
}
