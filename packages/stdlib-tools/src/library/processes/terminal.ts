// Terminal builtins but for print, println and log: standard error, standard input, colours, progress
// lines. Mocks of stdin and of the tty question live in the machine and answer first.

import { PRINTS_REPORTS, REPORT_LISTENER } from '../logging/reports.js'
import { builtinTaking, HarnDict, builtin, display, family, frame, isInt, readTextArgument, trimEnd } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Int, Result, Value } from '@bridle/vm/families'
import { makeAsker } from '../files/ask.js'

type Stream = 'stdin' | 'stdout' | 'stderr'

interface TerminalState {
  /** Mocked standard input and how much of it was read; null without a mock. */
  stdin: { readonly text: string; at: number } | null
  readonly tty: { stdin: boolean | null; stdout: boolean | null; stderr: boolean | null }
  /** Text for standard error while it is captured; null while it is not. */
  captured: string | null
  colorMode: 'auto' | 'always' | 'never'
  /** The resolved value of `auto`; null before the first use. */
  autoColor: boolean | null
}

const terminalState = family('terminal', (): TerminalState => ({
  stdin: null,
  tty: { stdin: null, stdout: null, stderr: null },
  captured: null,
  colorMode: 'auto',
  autoColor: null,
}))

// ------------------------------------------------------------------------------------------------------- input, output

const terminal = makeAsker('terminal.ask', {
  line: (_ctx, answer) => (typeof answer === 'string' ? trimEnd(answer) : ''),
})

function toStderr(ctx: Context, text: string): Result {
  const state = ctx.state(terminalState)
  if (state.captured === null) return ctx.perform({ kind: 'terminal.write', args: { text } })
  state.captured += text
  return null
}

/** The next line of the mocked input without its end; nil at the end. */
function takeMockedLine(stdin: { readonly text: string; at: number }): Value {
  if (stdin.at >= stdin.text.length) return null
  const end = stdin.text.indexOf('\n', stdin.at)
  const line = stdin.text.slice(stdin.at, end < 0 ? stdin.text.length : end)
  stdin.at = end < 0 ? stdin.text.length : end + 1
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

function isTty(stream: Stream): BuiltinDef {
  return builtin(
    `is_${stream}_tty() -> bool`,
    { doc: `Whether ${stream} is a terminal.`, effects: ['terminal.read'] },
    (ctx) => ctx.state(terminalState).tty[stream] ?? ctx.perform({ kind: 'terminal.read', args: { op: 'tty', stream } }),
  )
}

const STREAMS: readonly string[] = ['stdin', 'stdout', 'stderr']

const inputAndOutput: readonly BuiltinDef[] = [
  builtin(
    'eprint(value: any) -> nil',
    { doc: 'Writes a value to standard error.', effects: ['terminal.write'], borrows: true },
    (ctx, value) => toStderr(ctx, display(value ?? null)),
  ),
  builtinTaking(
    'eprintln(value: any) -> nil',
    { doc: 'Writes a value and a newline to standard error.', effects: ['terminal.write'], borrows: true },
    { text: { value: null } },
    (ctx, text) => toStderr(ctx, `${text}\n`),
  ),
  builtin(
    'capture_stderr_start() -> nil',
    { doc: 'Keeps what is written to standard error from now on.', effects: [] },
    (ctx) => {
      ctx.state(terminalState).captured = ''
      return null
    },
  ),
  builtin('capture_stderr_take() -> string', { doc: 'Gives what was captured and stops capturing.', effects: [] }, (ctx) => {
    const state = ctx.state(terminalState)
    const { captured } = state
    state.captured = null
    return captured ?? ''
  }),
  builtin('read_stdin() -> string | nil', { doc: 'All that is left of standard input.', effects: ['terminal.read'] }, (ctx) => {
    const { stdin } = ctx.state(terminalState)
    if (stdin === null) return ctx.perform({ kind: 'terminal.read', args: { op: 'all' } })
    const rest = stdin.text.slice(stdin.at)
    stdin.at = stdin.text.length
    return rest
  }),
  builtin(
    'read_line() -> string | nil',
    { doc: 'The next line of standard input, nil at the end.', effects: ['terminal.read'] },
    (ctx) => {
      const { stdin } = ctx.state(terminalState)
      return stdin === null ? ctx.perform({ kind: 'terminal.read', args: { op: 'line' } }) : takeMockedLine(stdin)
    },
  ),
  builtin('mock_stdin(text: string) -> nil', { doc: 'Replaces standard input by a text.', effects: [] }, (ctx, text) => {
    ctx.state(terminalState).stdin = { text: readTextArgument(ctx, 0, text), at: 0 }
    return null
  }),
  builtin('unmock_stdin() -> nil', { doc: 'Goes back to the real standard input.', effects: [] }, (ctx) => {
    ctx.state(terminalState).stdin = null
    return null
  }),
  builtin(
    'prompt_user(msg?: string) -> string | nil',
    { doc: 'Prints a message and reads a line; empty at the end of the input.', effects: ['terminal.read'] },
    (ctx, message) => {
      if (message !== null) ctx.write(display(message!))
      return terminal.ask(ctx, { kind: 'terminal.read', args: { op: 'line' } }, 'line')
    },
  ),
  isTty('stdin'),
  isTty('stdout'),
  isTty('stderr'),
  builtin(
    'mock_tty(stream: string, is_tty: bool) -> nil',
    { doc: 'Says what a stream is taken for.', effects: [] },
    (ctx, stream, flag) => {
      const name = readTextArgument(ctx, 0, stream)
      if (!STREAMS.includes(name))
        return ctx.throw(`mock_tty: invalid stream '${name}'. Expected 'stdin', 'stdout', or 'stderr'.`)
      const state = ctx.state(terminalState)
      state.tty[name as Stream] = flag === true
      state.autoColor = null
      return null
    },
  ),
  builtin('unmock_tty() -> nil', { doc: 'Forgets what mock_tty said.', effects: [] }, (ctx) => {
    const state = ctx.state(terminalState)
    state.tty.stdin = state.tty.stdout = state.tty.stderr = null
    state.autoColor = null
    return null
  }),
]

// -------------------------------------------------------------------------------------------------------------- colours

const COLORS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

/** SGR code of a colour; null for an unknown name. */
function findColorCode(name: string): number | null {
  if (name === 'gray' || name === 'grey') return 90
  const bright = name.startsWith('bright_')
  const index = COLORS.findIndex((color) => color === (bright ? name.slice(7) : name))
  return index < 0 ? null : index + (bright ? 90 : 30)
}

interface ColorState {
  [key: string]: unknown
  readonly text: string
  readonly code: number
  stage: 'start' | 'force' | 'no_color' | 'tty'
}

function paintText(text: string, code: number, on: boolean): string {
  return on ? `\u001b[${code}m${text}\u001b[0m` : text
}

/** Finds out once what `auto` means: FORCE_COLOR, then NO_COLOR, then whether stdout is a terminal. */
const colorFrame = frame<ColorState>({
  kind: 'terminal.color',
  step: (ctx, state) => {
    const shared = ctx.state(terminalState)
    const settle = (on: boolean): Result => {
      shared.autoColor = on
      return paintText(state.text, state.code, on)
    }
    switch (state.stage) {
      case 'start':
        state.stage = 'force'
        return ctx.request({ kind: 'process.info', args: { op: 'env', name: 'FORCE_COLOR' }, own: true })
      case 'force':
        if (typeof ctx.result === 'string' && ctx.result !== '') return settle(ctx.result !== '0' && ctx.result !== 'false')
        state.stage = 'no_color'
        return ctx.request({ kind: 'process.info', args: { op: 'env', name: 'NO_COLOR' }, own: true })
      case 'no_color':
        if (typeof ctx.result === 'string' && ctx.result !== '') return settle(false)
        if (shared.tty.stdout !== null) return settle(shared.tty.stdout)
        state.stage = 'tty'
        return ctx.request({ kind: 'terminal.read', args: { op: 'tty', stream: 'stdout' } })
      case 'tty':
        return settle(ctx.result === true)
    }
  },
  // A run that may not ask about its surroundings still gets its text.
  onFault: (ctx, state) => {
    ctx.state(terminalState).autoColor = false
    return state.text
  },
})

function paint(ctx: Context, text: string, code: number | null): Result {
  if (code === null) return text
  const { colorMode, autoColor } = ctx.state(terminalState)
  if (colorMode !== 'auto') return paintText(text, code, colorMode === 'always')
  if (autoColor !== null) return paintText(text, code, autoColor)
  return ctx.frame('terminal.color', { text, code, stage: 'start' } satisfies ColorState)
}

const ASKS = ['process.info', 'terminal.read']

const colors: readonly BuiltinDef[] = [
  builtin(
    'color(text: any, name: string) -> string',
    { doc: 'The text in a colour when colours are on.', effects: ASKS, borrows: true },
    (ctx, text, name) => paint(ctx, readTextArgument(ctx, 0, text), findColorCode(readTextArgument(ctx, 1, name))),
  ),
  builtin(
    'bold(text: any) -> string',
    { doc: 'The text in bold when colours are on.', effects: ASKS, borrows: true },
    (ctx, text) => paint(ctx, readTextArgument(ctx, 0, text), 1),
  ),
  builtin(
    'dim(text: any) -> string',
    { doc: 'The text dimmed when colours are on.', effects: ASKS, borrows: true },
    (ctx, text) => paint(ctx, readTextArgument(ctx, 0, text), 2),
  ),
  builtin('set_color_mode(mode: string) -> nil', { doc: '`auto`, `always` or `never`.', effects: [] }, (ctx, mode) => {
    const name = readTextArgument(ctx, 0, mode)
    if (name !== 'auto' && name !== 'always' && name !== 'never')
      return ctx.throw(`set_color_mode: invalid mode '${name}'. Expected 'auto', 'always', or 'never'.`)
    const state = ctx.state(terminalState)
    state.colorMode = name
    state.autoColor = null
    return null
  }),
]

// ------------------------------------------------------------------------------------------------------------- progress

const SPINNER = ['|', '/', '-', '\\'] as const

function readIntField(options: HarnDict, key: string, fallback: number): Int {
  const value = options.get(key)
  return value !== undefined && isInt(value) ? value : fallback
}

function formatProgress(phase: string, message: string, third: Value, total: Value): string {
  const plain = `[${phase}] ${message}`
  if (isInt(third)) return isInt(total) ? `${plain} (${third}/${total})` : `${plain} (${third}%)`
  if (!(third instanceof HarnDict)) return plain
  const mode = display(third.get('mode') ?? '')
  if (mode === 'spinner') {
    const step = Number(BigInt(readIntField(third, 'step', Number(readIntField(third, 'current', 0)))) % 4n)
    return `[${phase}] ${SPINNER[(step + 4) % 4]!} ${message}`
  }
  if (mode !== 'bar') return plain
  const current = readIntField(third, 'current', 0)
  const all = readIntField(third, 'total', 0)
  const width = Math.min(40, Math.max(3, Number(readIntField(third, 'width', 10))))
  const share = all > 0 ? Number(current) / Number(all) : 0
  const filled = Math.min(width, Math.max(0, Math.round(share * width)))
  return `[${phase}] [${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ${message} (${current}/${all})`
}

/** The figures of a progress line: `n` of `total`, or the place in the bar. */
function readProgressCount(third: Value, total: Value): { readonly current: number | null; readonly total: number | null } {
  const readNumber = (value: Value | undefined): number | null => (value !== undefined && isInt(value) ? Number(value) : null)
  if (third instanceof HarnDict)
    return { current: readNumber(third.get('current')) ?? readNumber(third.get('step')), total: readNumber(third.get('total')) }
  return { current: readNumber(third), total: readNumber(third) === null ? null : readNumber(total) }
}

export const terminalFamily: BuiltinFamily = {
  name: 'terminal',
  frames: [terminal.frame, colorFrame],
  builtins: [
    ...inputAndOutput,
    ...colors,
    builtin(
      'progress(phase: string, message: string, current_or_options?: int | dict, total?: int) -> nil',
      { doc: 'Prints a progress line.', effects: [], borrows: true },
      (ctx, phase, message, third, total) => {
        const [area, text] = [readTextArgument(ctx, 0, phase), readTextArgument(ctx, 1, message)]
        if (ctx.machine.hostData(PRINTS_REPORTS)) ctx.write(`${formatProgress(area, text, third ?? null, total ?? null)}\n`)
        const reported = ctx.machine.hostData(REPORT_LISTENER)
        reported?.({
          kind: 'progress',
          taskId: ctx.machine.task().taskId,
          phase: area,
          message: text,
          ...readProgressCount(third ?? null, total ?? null),
        })
        return null
      },
    ),
  ],
}
