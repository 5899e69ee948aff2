// A fault is a script-level error as a value: the interpreter unwinds with it, `catch` binds the result of `caught`, and an
// uncaught one ends the run. Nothing here throws. Messages have the language's wording.

import { display } from '../values/display.js'
import type { Code, Value } from '../values/types.js'

export type FaultKind =
  | 'thrown'
  | 'runtime'
  | 'type'
  | 'categorized'
  | 'undefined_variable'
  | 'undefined_builtin'
  | 'immutable'
  | 'division'
  | 'recursion'

/** One activation at the time of a fault, inner first. `column` is 0 when unknown. */
export interface TraceEntry {
  readonly file: string
  readonly function: string
  readonly line: number
  readonly column: number
  /** The last entry of its task or generator; the following entries waited for it. */
  readonly outermost?: true
}

export class Fault {
  readonly kind: FaultKind
  /** Message without its class prefix; for a thrown value, the formatted value. */
  readonly message: string
  /** The thrown value; for a categorised fault the code of a tool error, if it has one; nil for every other kind. */
  readonly value: Value
  readonly category: string
  private entries: readonly TraceEntry[] | null = null
  /** Activations that are not in `entries` yet, the outermost first: most faults are caught, and their trace is never read. */
  private places: Place | null = null

  constructor(kind: FaultKind, message: string, value: Value = null, category = '') {
    this.kind = kind
    this.message = message
    this.value = value
    this.category = category
  }

  /** Filled while the fault leaves frames; null before. */
  get trace(): readonly TraceEntry[] | null {
    if (this.places !== null) {
      const entries: TraceEntry[] = []
      for (let place: Place | null = this.places; place !== null; place = place.inner) entries.push(makeTraceEntry(place))
      this.places = null
      this.entries = [...(this.entries ?? []), ...entries.reverse()]
    }
    return this.entries
  }

  set trace(entries: readonly TraceEntry[] | null) {
    this.entries = entries
    this.places = null
  }

  get isTraced(): boolean {
    return this.places !== null || (this.entries !== null && this.entries.length > 0)
  }

  /** Whether it comes from a task or generator that the current code waits for: it has no position in this code yet. */
  get isForeign(): boolean {
    return this.places === null && this.entries?.at(-1)?.outermost === true
  }

  /** Called when a task or generator ends with it: its consumer is in a separate run. */
  leaveTask(): void {
    const entries = this.trace
    const last = entries?.at(-1)
    if (last !== undefined) this.trace = entries!.with(-1, { ...last, outermost: true })
  }

  /** Adds the activation of `code` at `pc` to the trace, unless it is one of an internal module. */
  note(code: Code, pc: number): void {
    if (!code.module.isHidden) this.places = { code, pc, inner: this.places }
  }

  /** One-line formatted form. */
  get text(): string {
    switch (this.kind) {
      case 'thrown':
        return `Thrown: ${this.message}`
      case 'runtime':
        return `Runtime error: ${this.message}`
      case 'type':
        return `Type error: ${this.message}`
      case 'categorized':
        return `Error [${this.category}]: ${this.message}`
      default:
        return this.message
    }
  }

  /** The value that `catch (e)` binds. */
  get caught(): Value {
    return this.kind === 'thrown' ? this.value : this.text
  }
}

/** A link of a chain: a fault leaves frames one by one, and a chain grows without copying. */
interface Place {
  readonly code: Code
  readonly pc: number
  readonly inner: Place | null
}

function makeTraceEntry({ code, pc }: Place): TraceEntry {
  const { line, column } = code.findPlace(pc)
  return { file: code.module.file, function: code.chunk.kind === 'main' ? 'pipeline' : code.chunk.name, line, column }
}

export function makeThrown(value: Value): Fault {
  return new Fault('thrown', typeof value === 'string' ? value : display(value), value)
}

export function makeRuntimeFault(message: string): Fault {
  return new Fault('runtime', message)
}

export function makeTypeFault(message: string): Fault {
  return new Fault('type', message)
}

/** `code` is for callers that convert it to a tool error; `catch` binds the message. */
export function makeCategorized(category: string, message: string, code: string | null = null): Fault {
  return new Fault('categorized', message, code, category)
}

/**
 * The fault after leaving an interpreter run: every kind except thrown and categorised
 * values gains ` (line N)`, and the special messages become runtime errors.
 */
export function convertLeavingRun(fault: Fault): Fault {
  if (fault.kind === 'thrown' || fault.kind === 'categorized') return fault
  // Every run that the fault leaves names the same line, that of the innermost script frame; in another task, the line that waits.
  const entries = fault.trace ?? []
  const own = entries.slice(entries.findLastIndex(({ outermost }) => outermost === true) + 1)
  const line = own.find((each) => each.line !== 0)?.line ?? 0
  if (line === 0) return fault
  const outer = new Fault(fault.kind === 'type' ? 'type' : 'runtime', `${fault.message} (line ${line})`)
  outer.trace = fault.trace
  return outer
}

/** The fault thrown in a cancelled task. */
export const CANCELLED_TEXT = 'kind:cancelled:VM cancelled by host'
