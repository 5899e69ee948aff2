// Linked instructions: the form that runs. A function's stack code is decoded once into objects that reference each other, with
// stack positions turned into slots, moves folded and constants in the instruction. They hold no script values
// except constants, and belong to the shared Module. Each has its code position `pc`, the only thing snapshots and traces use.
//
// OPERATIONS is THE table of them. The decoder, the loop, the rare operations, the templates of compiled code and data-flow analysis read
// it; each of their switches is closed with `never`, so that an operation without a case does not compile.

/** Which fields are slots to read. `run` is `b`, `b + 1` … `c` of them, `values` every second of it; `args` is `d` … `c` of them. */
type Form = '' | 'b' | 'c' | 'bc' | 'bcd' | 'run' | 'run+' | 'values' | 'args' | 'b args' | 'pair' | 'b c? d?'

/** Families of operations that templates and data-flow analysis treat alike. `int`: with a small int on the right, in `c`; `jump`: jumps when the test fails. */
export type OperationKind =
  | 'move'
  | 'arithmetic'
  | 'arithmetic int'
  | 'order'
  | 'order int'
  | 'order jump'
  | 'order jump int'
  | 'equality'
  | 'equality int'
  | 'equality jump'
  | 'equality jump int'
  | 'test'

interface OperationRow {
  readonly code: number
  readonly reads: Form
  /** Whether it writes `a` when control continues at `next`. By default, operations without `flow` do. NEXT writes `d` instead on its edge to `target`. */
  readonly writes?: boolean
  /** jump: continues at `target`; branch: there or at `next`; end: leaves the function. */
  readonly flow?: 'jump' | 'branch' | 'end'
  /**
   * false: a handler around it cannot be entered from it. Every fuel point can enter a handler, because a deadline or a cancellation is
   * raised there: at backward jumps, and at operations whose time depends on their operands, such as comparisons.
   */
  readonly faults?: false
  /** Where it is implemented: its quick side in loop.ts and the rest in slow.ts by default; all in rare.ts; or the quick side in loop.ts and the rest in rare.ts. */
  readonly runs?: 'rare' | 'both'
  readonly kind?: OperationKind
  /** The opcode of this name pops this many operands and pushes the result; others have a case in decode.ts. */
  readonly stack?: 'unary' | 'binary'
  /** Its form for a small int on the right. */
  readonly int?: string
  /** The jump that it becomes when a conditional jump consumes it. */
  readonly jump?: string
  /** The test that it makes. */
  readonly test?: string
  /** false: compiled code hands over to the base tier before it. */
  readonly template?: false
  /** Whether a function containing it may be inlined: it does not read its depth, call, or jump back. */
  readonly inlined?: true
  /** Whether it does not affect fuel (compiled/quiet.ts): always, or for some operands. */
  readonly quiet?: true | 'sometimes'
  /** Whether it uses no fuel. */
  readonly free?: true
}

export const OPERATIONS = {
  MOVE: { code: 0, reads: 'b', faults: false, kind: 'move', inlined: true, quiet: true, free: true },
  LOADK: { code: 1, reads: '', faults: false, inlined: true, quiet: true, free: true },
  LOAD_DATA: { code: 2, reads: '', faults: false, runs: 'rare' },
  SHARE: { code: 3, reads: 'b', faults: false, kind: 'move', inlined: true, quiet: true, free: true },
  LOAD_CAPTURE: { code: 4, reads: '', faults: false, inlined: true, quiet: true },
  LOAD_MODULE: { code: 5, reads: '', faults: false, inlined: true },
  LOAD_MODULE_SHARED: { code: 6, reads: '', faults: false, inlined: true },
  STORE_MODULE: { code: 7, reads: 'b', writes: false, faults: false },
  NEW_CELL: { code: 8, reads: '', faults: false, runs: 'rare' },
  SET_CELL: { code: 9, reads: 'bc', writes: false, faults: false },
  CELL_CALLABLE: { code: 10, reads: 'b', faults: false, stack: 'unary' },
  CELL_VARIABLE: { code: 11, reads: 'b', runs: 'rare' },
  LOAD_EXPORT: { code: 12, reads: '', faults: false },
  LOAD_GLOBAL: { code: 13, reads: '', runs: 'rare' },
  SELF: { code: 14, reads: '', faults: false },
  RUN_MODULE: { code: 15, reads: '', runs: 'rare', template: false },
  ADD: { code: 20, reads: 'bc', kind: 'arithmetic', stack: 'binary', int: 'ADDK', inlined: true, quiet: 'sometimes' },
  SUB: { code: 21, reads: 'bc', kind: 'arithmetic', stack: 'binary', int: 'SUBK', inlined: true, quiet: 'sometimes' },
  MUL: { code: 22, reads: 'bc', kind: 'arithmetic', stack: 'binary', int: 'MULK', inlined: true, quiet: 'sometimes' },
  DIV: { code: 23, reads: 'bc', kind: 'arithmetic', stack: 'binary', inlined: true, quiet: 'sometimes' },
  MOD: { code: 24, reads: 'bc', stack: 'binary', int: 'MODK', inlined: true },
  POW: { code: 25, reads: 'bc', runs: 'rare', stack: 'binary', inlined: true },
  NEG: { code: 26, reads: 'b', stack: 'unary', inlined: true, quiet: 'sometimes' },
  NOT: { code: 27, reads: 'b', faults: false, kind: 'test', stack: 'unary', inlined: true, quiet: true },
  ADD_OWNED: { code: 28, reads: 'bc', kind: 'arithmetic', stack: 'binary', int: 'ADDK', inlined: true, quiet: 'sometimes' },
  EQ: { code: 30, reads: 'bc', kind: 'equality', stack: 'binary', int: 'EQK', jump: 'JNEQ', inlined: true, quiet: true },
  NE: { code: 31, reads: 'bc', kind: 'equality', stack: 'binary', int: 'NEK', jump: 'JNNE', inlined: true, quiet: true },
  LT: { code: 32, reads: 'bc', kind: 'order', stack: 'binary', int: 'LTK', jump: 'JNLT', inlined: true, quiet: true },
  LE: { code: 33, reads: 'bc', kind: 'order', stack: 'binary', int: 'LEK', jump: 'JNLE', inlined: true, quiet: true },
  GT: { code: 34, reads: 'bc', kind: 'order', stack: 'binary', int: 'GTK', jump: 'JNGT', inlined: true, quiet: true },
  GE: { code: 35, reads: 'bc', kind: 'order', stack: 'binary', int: 'GEK', jump: 'JNGE', inlined: true, quiet: true },
  IN: { code: 36, reads: 'bc', runs: 'rare', kind: 'test', stack: 'binary', inlined: true },
  NOT_IN: { code: 37, reads: 'bc', runs: 'rare', kind: 'test', stack: 'binary', inlined: true },
  ADDK: { code: 40, reads: 'b', kind: 'arithmetic int', inlined: true, quiet: 'sometimes' },
  SUBK: { code: 41, reads: 'b', kind: 'arithmetic int', inlined: true, quiet: 'sometimes' },
  MULK: { code: 42, reads: 'b', kind: 'arithmetic int', inlined: true, quiet: 'sometimes' },
  MODK: { code: 43, reads: 'b', inlined: true, quiet: 'sometimes' },
  EQK: {
    code: 44,
    reads: 'b',
    faults: false,
    kind: 'equality int',
    jump: 'JNEQK',
    test: 'EQ',
    inlined: true,
    quiet: true,
    free: true,
  },
  NEK: {
    code: 45,
    reads: 'b',
    faults: false,
    kind: 'equality int',
    jump: 'JNNEK',
    test: 'NE',
    inlined: true,
    quiet: true,
    free: true,
  },
  LTK: { code: 46, reads: 'b', faults: false, kind: 'order int', jump: 'JNLTK', test: 'LT', inlined: true, quiet: true },
  LEK: { code: 47, reads: 'b', faults: false, kind: 'order int', jump: 'JNLEK', test: 'LE', inlined: true, quiet: true },
  GTK: { code: 48, reads: 'b', faults: false, kind: 'order int', jump: 'JNGTK', test: 'GT', inlined: true, quiet: true },
  GEK: { code: 49, reads: 'b', faults: false, kind: 'order int', jump: 'JNGEK', test: 'GE', inlined: true, quiet: true },
  JUMP: { code: 50, reads: '', flow: 'jump', faults: false, inlined: true, quiet: true, free: true },
  LOOP: { code: 51, reads: '', flow: 'jump', quiet: true },
  JF: { code: 52, reads: 'b', flow: 'branch', faults: false, inlined: true, quiet: true, free: true },
  JT: { code: 53, reads: 'b', flow: 'branch', faults: false, inlined: true, quiet: true, free: true },
  JNN: { code: 54, reads: 'b', flow: 'branch', faults: false, inlined: true, quiet: true, free: true },
  JPASSED: { code: 55, reads: 'b', flow: 'branch', faults: false, quiet: true },
  JEND: { code: 56, reads: 'b', flow: 'branch', faults: false, quiet: true },
  JNLT: { code: 57, reads: 'bc', flow: 'branch', kind: 'order jump', test: 'LT', inlined: true, quiet: true },
  JNLE: { code: 58, reads: 'bc', flow: 'branch', kind: 'order jump', test: 'LE', inlined: true, quiet: true },
  JNGT: { code: 59, reads: 'bc', flow: 'branch', kind: 'order jump', test: 'GT', inlined: true, quiet: true },
  JNGE: { code: 60, reads: 'bc', flow: 'branch', kind: 'order jump', test: 'GE', inlined: true, quiet: true },
  JNEQ: { code: 61, reads: 'bc', flow: 'branch', kind: 'equality jump', test: 'EQ', inlined: true, quiet: true },
  JNNE: { code: 62, reads: 'bc', flow: 'branch', kind: 'equality jump', test: 'NE', inlined: true, quiet: true },
  JNLTK: { code: 63, reads: 'b', flow: 'branch', faults: false, kind: 'order jump int', test: 'LT', inlined: true, quiet: true },
  JNLEK: { code: 64, reads: 'b', flow: 'branch', faults: false, kind: 'order jump int', test: 'LE', inlined: true, quiet: true },
  JNGTK: { code: 65, reads: 'b', flow: 'branch', faults: false, kind: 'order jump int', test: 'GT', inlined: true, quiet: true },
  JNGEK: { code: 66, reads: 'b', flow: 'branch', faults: false, kind: 'order jump int', test: 'GE', inlined: true, quiet: true },
  JNEQK: {
    code: 67,
    reads: 'b',
    flow: 'branch',
    faults: false,
    kind: 'equality jump int',
    test: 'EQ',
    inlined: true,
    quiet: true,
    free: true,
  },
  JNNEK: {
    code: 68,
    reads: 'b',
    flow: 'branch',
    faults: false,
    kind: 'equality jump int',
    test: 'NE',
    inlined: true,
    quiet: true,
    free: true,
  },
  CHECK_PARAM: { code: 70, reads: 'b', writes: false, runs: 'both', inlined: true, quiet: 'sometimes' },
  BUILD_LIST: { code: 71, reads: 'run', faults: false },
  LIST_PUSH: { code: 72, reads: 'bc', faults: false, stack: 'binary' },
  LIST_EXTEND: { code: 73, reads: 'bc', runs: 'rare', stack: 'binary' },
  BUILD_DICT: { code: 74, reads: 'run' },
  DICT_PUT: { code: 75, reads: 'bcd' },
  DICT_EXTEND: { code: 76, reads: 'bc', runs: 'rare', stack: 'binary' },
  BUILD_STRUCT: { code: 77, reads: 'b', faults: false, runs: 'rare' },
  BUILD_ENUM: { code: 78, reads: 'run', faults: false },
  BUILD_ENUM_LIST: { code: 79, reads: 'b', faults: false, runs: 'rare' },
  BUILD_RANGE: { code: 80, reads: 'bc', faults: false, quiet: true },
  TEXT: { code: 81, reads: 'run', inlined: true },
  CLOSURE: { code: 82, reads: 'run', faults: false },
  DEFINE_IMPL: { code: 83, reads: 'run', writes: false, runs: 'rare', template: false },
  GET_PROP: { code: 84, reads: 'b', inlined: true, quiet: true },
  GET_PROP_OPT: { code: 85, reads: 'b', inlined: true, quiet: true },
  GET_INDEX: { code: 86, reads: 'bc', stack: 'binary', inlined: true },
  GET_INDEX_OPT: { code: 87, reads: 'bc', stack: 'binary', inlined: true },
  SLICE: { code: 88, reads: 'b c? d?', runs: 'rare' },
  SET_PROP: { code: 89, reads: 'bc' },
  SET_INDEX: { code: 90, reads: 'bcd' },
  CHECK_DICT: { code: 91, reads: 'b', runs: 'rare', stack: 'unary' },
  CHECK_LIST: { code: 92, reads: 'b', runs: 'rare', stack: 'unary' },
  FIELD: { code: 93, reads: 'b', faults: false, inlined: true, quiet: true },
  ITEM: { code: 94, reads: 'b', faults: false, inlined: true, quiet: true, free: true },
  LIST_REST: { code: 95, reads: 'b', runs: 'rare' },
  DICT_REST: { code: 96, reads: 'b', runs: 'rare' },
  IS_ENUM: { code: 97, reads: 'b', faults: false, kind: 'test', inlined: true, quiet: true, free: true },
  ENUM_FIELD: { code: 98, reads: 'b', faults: false, inlined: true, quiet: true, free: true },
  IS_DICT: { code: 99, reads: 'b', faults: false, kind: 'test', stack: 'unary', inlined: true, quiet: true, free: true },
  IS_LIST: { code: 100, reads: 'b', faults: false, kind: 'test', inlined: true, quiet: true, free: true },
  CALL: { code: 101, reads: 'b args', quiet: 'sometimes' },
  CALL_NAMED: { code: 102, reads: 'b args', quiet: 'sometimes' },
  BUILTIN1: { code: 103, reads: 'b', inlined: true, quiet: 'sometimes' },
  BUILTIN2: { code: 104, reads: 'bc', inlined: true, quiet: 'sometimes' },
  BUILTIN_N: { code: 105, reads: 'run', inlined: true },
  CALL_METHOD: { code: 106, reads: 'run+', quiet: 'sometimes' },
  CALL_SPREAD: { code: 107, reads: 'pair', runs: 'rare', template: false },
  CALL_NAMED_SPREAD: { code: 108, reads: 'pair', runs: 'rare', template: false },
  BUILTIN_SPREAD: { code: 109, reads: 'b', runs: 'rare', template: false },
  CALL_METHOD_SPREAD: { code: 110, reads: 'pair', runs: 'rare', template: false },
  TAIL_NAMED: { code: 111, reads: 'b args', writes: true, flow: 'end' },
  PIPE: { code: 112, reads: 'pair' },
  TAIL_PIPE: { code: 113, reads: 'pair', writes: true, flow: 'end', template: false },
  RETURN: { code: 114, reads: 'b', flow: 'end', faults: false, inlined: true, quiet: true },
  YIELD: { code: 115, reads: 'b', stack: 'unary', template: false },
  THROW: { code: 116, reads: 'b', flow: 'end', inlined: true, quiet: true },
  RETHROW: { code: 117, reads: 'b', flow: 'end', runs: 'rare', quiet: true },
  CATCH_VALUE: { code: 118, reads: 'b', faults: false, stack: 'unary', quiet: true },
  CATCH_IS: { code: 119, reads: 'b', faults: false, runs: 'rare', kind: 'test', quiet: true },
  RAISE: { code: 120, reads: '', flow: 'end', runs: 'rare', inlined: true, quiet: true },
  RESULT_OK: { code: 121, reads: 'b', faults: false, runs: 'rare', stack: 'unary' },
  PROPAGATE: { code: 122, reads: 'b', writes: true, flow: 'branch', runs: 'rare' },
  ITERATE: { code: 123, reads: 'b', faults: false, runs: 'rare', stack: 'unary', quiet: 'sometimes' },
  NEXT: { code: 124, reads: 'b', writes: true, flow: 'branch', quiet: 'sometimes' },
  DEADLINE_ENTER: { code: 125, reads: 'b', writes: false, runs: 'rare', template: false },
  DEADLINE_LEAVE: { code: 126, reads: '', writes: false, runs: 'rare', template: false },
  NATIVE_STEP: { code: 127, reads: '', writes: false, template: false },
  TASK_END: { code: 128, reads: '', writes: false, template: false },
  CALL_SELF: { code: 129, reads: 'args' },
  BUILD_RECORD: { code: 130, reads: 'values', faults: false },
  BUILD_STRUCT_RECORD: { code: 131, reads: 'values', faults: false },
  OWN: { code: 133, reads: 'b' },
  OWN_INDEX: { code: 134, reads: 'bcd' },
  OWN_PROP: { code: 135, reads: 'bc' },
  HOLD: { code: 136, reads: 'b', faults: false, runs: 'rare' },
  CALL_OUT: { code: 132, reads: 'b args', runs: 'rare', template: false },
} as const satisfies Record<string, OperationRow>

type Rows = typeof OPERATIONS
export type OperationName = keyof Rows

/** Operations whose row has this value in a column. */
export type OpWith<Column extends keyof OperationRow, Cell> = {
  [Name in OperationName]: Rows[Name] extends { readonly [key in Column]: Cell } ? Rows[Name]['code'] : never
}[OperationName]

/** The number of any operation. */
export type LinkedOp = Rows[OperationName]['code']

/** Numbers by name; loop.ts repeats them as literals, because V8 compiles a switch over imports badly. */
export const LINKED = Object.fromEntries(Object.entries(OPERATIONS).map(([name, { code }]) => [name, code])) as {
  readonly [Name in OperationName]: Rows[Name]['code']
}

/** A row with every column. */
export interface Operation {
  readonly name: OperationName
  readonly reads: Form
  readonly writes: boolean
  readonly flow: 'jump' | 'branch' | 'end' | null
  readonly faults: boolean
  readonly kind: OperationKind | null
  readonly stack: 'unary' | 'binary' | null
  /** Numbers, -1 for none. */
  readonly int: LinkedOp | -1
  readonly jump: LinkedOp | -1
  readonly test: LinkedOp | -1
  readonly template: boolean
  readonly inlined: boolean
  readonly quiet: boolean | 'sometimes'
  readonly free: boolean
}

/** Rows by number. */
export const OPERATION_BY_CODE: readonly Operation[] = indexByCode()

function indexByCode(): Operation[] {
  const readCode = (name: string | undefined): LinkedOp | -1 => (name === undefined ? -1 : LINKED[name as NamedInRows])
  const rows: Operation[] = []
  for (const [name, row] of Object.entries(OPERATIONS) as [OperationName, OperationRow][]) {
    rows[row.code] = {
      name,
      reads: row.reads,
      writes: row.writes ?? row.flow === undefined,
      flow: row.flow ?? null,
      faults: row.faults ?? true,
      kind: row.kind ?? null,
      stack: row.stack ?? null,
      int: readCode(row.int),
      jump: readCode(row.jump),
      test: readCode(row.test),
      template: row.template ?? true,
      inlined: row.inlined ?? false,
      quiet: row.quiet ?? false,
      free: row.free ?? false,
    }
  }
  return rows
}

type CellsOf<Column extends keyof OperationRow> = {
  [Name in OperationName]: Rows[Name] extends { readonly [key in Column]: infer Cell } ? Cell : never
}[OperationName]

/** Names of rows used in other columns; a wrong name is an error where LINKED is indexed by it. */
type NamedInRows = CellsOf<'int'> | CellsOf<'jump'> | CellsOf<'test'>

/** Closes a switch over operations: a missing case is a type error. */
export function unreachable(op: never): never {
  throw new Error(`no case for linked operation ${OPERATION_BY_CODE[op]?.name ?? String(op)}`)
}

export function isKind<Kind extends OperationKind>(op: LinkedOp, kind: Kind): op is Extract<LinkedOp, OpWith<'kind', Kind>> {
  return OPERATION_BY_CODE[op]!.kind === kind
}

/**
 * One linked instruction. `a` is the slot of the result; `b`, `c`, `d` are source slots or small numbers by operation; `k` is a
 * constant; `d` of CALL_METHOD is 1 for `x = x.push(v)`; `kind`, `cache` and `seen` are an inline cache. One shape for all, so that every field access in the loop is monomorphic.
 */
/** `d` of SET_PROP and `k` of SET_INDEX if OWN has made the object changeable: by a variable, or by its holder. */
export const HELD = 2
/** `d` of CALL_METHOD if the receiver, prepared in the same way, may be changed by the builtin. */
export const LENT = 3

/** In `Instr.moves` of a call whose receiver a builtin method may change, because the result overwrites its variable. */
export const EXTENDS = 1 << 30

/** The name of a called method; calls with the same `place` share their cache (calls.ts). */
export interface MethodSite {
  readonly name: string
  readonly optional: boolean
  readonly place: number
}

/** The number of methods that a machine may cache, minus one. */
const METHOD_PLACES = 255

/** `pc` is the position of the call in its function: functions are many and names differ, so that few calls of a program collide. */
export function makeMethodSite(name: string, optional: boolean, pc: number): MethodSite {
  let place = pc
  for (let at = 0; at < name.length; at++) place = (place * 31 + name.charCodeAt(at)) & 0xffffff
  return { name, optional, place: (place ^ (place >> 8)) & METHOD_PLACES }
}

export class Instr {
  /** Changed only by the decoder, when a comparison becomes a jump. */
  op: LinkedOp
  a: number
  b: number
  c: number
  d: number
  k: unknown
  /** 0, or the kind of receiver that `cache` is for: see CALL_METHOD in slow.ts. */
  kind = 0
  cache: unknown = null
  seen: unknown = null
  /** Whether compiled code was wrong to assume what `cache` knows for all later values. */
  missed = false
  /** For a call: 1 if its result becomes owned, and 2, 4, … for the arguments that the caller does not use again. */
  moves = 0
  /** Likewise, the arguments that are lent: a callee that keeps them must share them. */
  lends = 0
  /** The instruction after this one; for jumps the fall-through. Set before the code runs. */
  next: Instr = null as never
  target: Instr = null as never
  readonly pc: number

  constructor(op: LinkedOp, pc: number, a: number, b: number, c: number, d: number, k: unknown) {
    this.op = op
    this.pc = pc
    this.a = a
    this.b = b
    this.c = c
    this.d = d
    this.k = k
  }
}

/** The instruction of a native frame's step, and where a function called by one returns to. */
export const NATIVE_STEP = new Instr(LINKED.NATIVE_STEP, 0, 0, 0, 0, 0, null)
export const NATIVE_RETURN = new Instr(LINKED.NATIVE_STEP, 0, 0, 0, 0, 0, null)
NATIVE_STEP.next = NATIVE_STEP
NATIVE_RETURN.next = NATIVE_STEP
/** Where the bottom function of a task or coroutine returns to. */
export const TASK_END = new Instr(LINKED.TASK_END, 0, 0, 0, 0, 0, null)
TASK_END.next = TASK_END
/** Returns the value in the frame's first slot: how the base tier leaves a function that compiled code ran to its end. */
export const RETURN_FIRST = new Instr(LINKED.RETURN, 0, 0, 0, 0, 0, null)
