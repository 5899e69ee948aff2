// `--limit NAME=N`: limits without a flag of their own, for compiling files and for what MCP servers may send.

import type { lazyMcpProvider } from '@bridle/stdlib-tools/node'
import type { RuntimeOptions } from '@bridle/stdlib-tools'
import { findClosest } from '@bridle/parser'
import type { Limits } from '@bridle/vm'
import { UsageError } from './errors.js'

type CompileLimits = NonNullable<RuntimeOptions['compileLimits']>
type McpLimits = NonNullable<NonNullable<Parameters<typeof lazyMcpProvider>[0]>['limits']>

export interface LimitFlags {
  readonly limit?: readonly string[]
}

/** Limits of each run. */
export interface SizeFlags extends LimitFlags {
  readonly fuel?: number
  readonly maxHeap?: number
}

export interface FurtherLimits {
  readonly compile: CompileLimits
  readonly mcp: McpLimits
}

// As records, so that a limit that is added elsewhere is a type error here.
const COMPILE: { readonly [Name in keyof Required<CompileLimits>]: true } = {
  characters: true,
  tokens: true,
  findings: true,
  checkSteps: true,
}
const MCP: { readonly [Name in keyof Required<McpLimits>]: true } = {
  maxMessageBytes: true,
  maxPages: true,
  maxTools: true,
  maxDescriptionLength: true,
  maxSchemaLength: true,
  maxNotifications: true,
}
const NAMES: readonly string[] = [
  ...Object.keys(COMPILE).map((name) => `compile.${name}`),
  ...Object.keys(MCP).map((name) => `mcp.${name}`),
]

/** Limits of each run of a command. Throws UsageError. */
export function readSizes(flags: SizeFlags): { readonly limits: Partial<Limits>; readonly furtherLimits: FurtherLimits } {
  const { fuel, maxHeap } = flags
  return {
    limits: { ...(fuel === undefined ? {} : { fuel }), ...(maxHeap === undefined ? {} : { heap: maxHeap }) },
    furtherLimits: readFurtherLimits(flags),
  }
}

/** Throws UsageError; for a repeated name the last number counts. */
export function readFurtherLimits({ limit: specs = [] }: LimitFlags): FurtherLimits {
  const found = { compile: {}, mcp: {} } as { readonly [area: string]: { [name: string]: number } }
  for (const spec of specs) {
    const [, name = '', number = ''] = /^([^=]*)=(.*)$/s.exec(spec) ?? []
    if (!NAMES.includes(name)) {
      const near = findClosest(name, NAMES)
      throw new UsageError(
        `--limit ${spec}: write NAME=NUMBER${near === null ? '' : `; did you mean ${near}?`}; the names are ${NAMES.join(', ')}`,
      )
    }
    if (!/^[1-9]\d{0,14}$/.test(number)) throw new UsageError(`--limit ${spec}: ${name} must be a whole number from 1 on`)
    const [area, own] = name.split('.') as [string, string]
    found[area]![own] = Number(number)
  }
  return found as unknown as FurtherLimits
}
