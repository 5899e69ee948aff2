// Which slots a linked instruction reads and writes, and how control leaves it: the facts that data flow is computed from.
// KEEP WITH: linked.ts (operations) and decode.ts (what a, b, c, d mean for each).

import { LINKED } from '../interpreter/linked.js'
import type { Instr } from '../interpreter/linked.js'

/** Operand forms, named by the fields that are slots. `run` is `b`, `b + 1` … `c` of them, `values` every second of it; `args` is `d` … `c` of them. */
type Form = '' | 'b' | 'c' | 'bc' | 'bcd' | 'run' | 'run+' | 'values' | 'args' | 'b args' | 'pair' | 'b c? d?'

const FORMS: { readonly [Name in keyof typeof LINKED]: Form } = {
  MOVE: 'b',
  LOADK: '',
  LOAD_DATA: '',
  SHARE: 'b',
  LOAD_CAPTURE: '',
  LOAD_MODULE: '',
  LOAD_MODULE_SHARED: '',
  STORE_MODULE: 'b',
  NEW_CELL: '',
  SET_CELL: 'bc',
  CELL_CALLABLE: 'b',
  CELL_VARIABLE: 'b',
  LOAD_EXPORT: '',
  LOAD_GLOBAL: '',
  SELF: '',
  RUN_MODULE: '',
  ADD: 'bc',
  SUB: 'bc',
  MUL: 'bc',
  DIV: 'bc',
  MOD: 'bc',
  POW: 'bc',
  NEG: 'b',
  NOT: 'b',
  ADD_OWNED: 'bc',
  EQ: 'bc',
  NE: 'bc',
  LT: 'bc',
  LE: 'bc',
  GT: 'bc',
  GE: 'bc',
  IN: 'bc',
  NOT_IN: 'bc',
  ADDK: 'b',
  SUBK: 'b',
  MULK: 'b',
  MODK: 'b',
  EQK: 'b',
  NEK: 'b',
  LTK: 'b',
  LEK: 'b',
  GTK: 'b',
  GEK: 'b',
  JUMP: '',
  LOOP: '',
  JF: 'b',
  JT: 'b',
  JNN: 'b',
  JPASSED: 'b',
  JEND: 'b',
  JNLT: 'bc',
  JNLE: 'bc',
  JNGT: 'bc',
  JNGE: 'bc',
  JNEQ: 'bc',
  JNNE: 'bc',
  JNLTK: 'b',
  JNLEK: 'b',
  JNGTK: 'b',
  JNGEK: 'b',
  JNEQK: 'b',
  JNNEK: 'b',
  CHECK_PARAM: 'b',
  BUILD_LIST: 'run',
  LIST_PUSH: 'bc',
  LIST_EXTEND: 'bc',
  BUILD_DICT: 'run',
  DICT_PUT: 'bcd',
  DICT_EXTEND: 'bc',
  BUILD_STRUCT: 'b',
  BUILD_ENUM: 'run',
  BUILD_ENUM_LIST: 'b',
  BUILD_RANGE: 'bc',
  TEXT: 'run',
  CLOSURE: 'run',
  DEFINE_IMPL: 'run',
  GET_PROP: 'b',
  GET_PROP_OPT: 'b',
  GET_INDEX: 'bc',
  GET_INDEX_OPT: 'bc',
  SLICE: 'b c? d?',
  SET_PROP: 'bc',
  SET_INDEX: 'bcd',
  CHECK_DICT: 'b',
  CHECK_LIST: 'b',
  FIELD: 'b',
  ITEM: 'b',
  LIST_REST: 'b',
  DICT_REST: 'b',
  IS_ENUM: 'b',
  ENUM_FIELD: 'b',
  IS_DICT: 'b',
  IS_LIST: 'b',
  CALL: 'b args',
  CALL_NAMED: 'b args',
  BUILTIN1: 'b',
  BUILTIN2: 'bc',
  BUILTIN_N: 'run',
  CALL_METHOD: 'run+',
  CALL_OUT: 'b args',
  CALL_SPREAD: 'pair',
  CALL_NAMED_SPREAD: 'pair',
  BUILTIN_SPREAD: 'b',
  CALL_METHOD_SPREAD: 'pair',
  TAIL_NAMED: 'b args',
  PIPE: 'pair',
  TAIL_PIPE: 'pair',
  RETURN: 'b',
  YIELD: 'b',
  THROW: 'b',
  RETHROW: 'b',
  CATCH_VALUE: 'b',
  CATCH_IS: 'b',
  RAISE: '',
  RESULT_OK: 'b',
  PROPAGATE: 'b',
  ITERATE: 'b',
  NEXT: 'b',
  DEADLINE_ENTER: 'b',
  DEADLINE_LEAVE: '',
  NATIVE_STEP: '',
  TASK_END: '',
  CALL_SELF: 'args',
  BUILD_RECORD: 'values',
  BUILD_STRUCT_RECORD: 'values',
}

const FORM_BY_OP: Form[] = []
for (const [name, op] of Object.entries(LINKED)) FORM_BY_OP[op] = FORMS[name as keyof typeof LINKED]

/** Slots that `i` reads. */
export function readsOf(i: Instr): number[] {
  switch (FORM_BY_OP[i.op]!) {
    case '':
      return []
    case 'b':
      return [i.b]
    case 'c':
      return [i.c]
    case 'bc':
      return [i.b, i.c]
    case 'bcd':
      return [i.b, i.c, i.d]
    case 'pair':
      return [i.b, i.b + 1]
    case 'run':
      return run(i.b, i.c)
    case 'values':
      return Array.from({ length: i.c / 2 }, (_, at) => i.b + 2 * at + 1)
    case 'run+':
      return run(i.b, i.c + 1)
    case 'args':
      return run(i.d, i.c)
    case 'b args':
      return [i.b, ...run(i.d, i.c)]
    case 'b c? d?':
      return [i.b, i.c, i.d].filter((slot) => slot >= 0)
  }
}

/** Where the arguments of a call lie; of a method the receiver is the first. */
export function argumentsOf(i: Instr): { readonly from: number; readonly count: number } {
  return i.op === LINKED.CALL_METHOD ? { from: i.b, count: i.c + 1 } : { from: i.d, count: i.c }
}

function run(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => from + at)
}

const L = LINKED
const WRITES_NOTHING: ReadonlySet<number> = new Set([
  L.STORE_MODULE,
  L.SET_CELL,
  L.CHECK_PARAM,
  L.DEFINE_IMPL,
  L.RETURN,
  L.THROW,
  L.RETHROW,
  L.RAISE,
  L.DEADLINE_ENTER,
  L.DEADLINE_LEAVE,
  L.JUMP,
  L.LOOP,
  L.NATIVE_STEP,
  L.TASK_END,
])

/** The slot that `i` writes when control goes on at `next`, -1 for none. NEXT writes `d` instead on its way to `target`. */
export function writeOf(i: Instr): number {
  if (WRITES_NOTHING.has(i.op) || (i.op >= L.JUMP && i.op <= L.JNNEK)) return -1
  return i.a
}

const ENDS: ReadonlySet<number> = new Set([L.RETURN, L.THROW, L.RETHROW, L.RAISE, L.TAIL_NAMED, L.TAIL_PIPE])

/** Where control may go on, the jump's target last; null when `i` just goes on. A tail call leaves the function. */
export function successorsOf(i: Instr): Instr[] | null {
  if (ENDS.has(i.op)) return []
  if (i.op === L.JUMP || i.op === L.LOOP) return [i.target]
  if ((i.op >= L.JF && i.op <= L.JNNEK) || i.op === L.NEXT || i.op === L.PROPAGATE) return [i.next, i.target]
  return null
}

const NEVER_FAULTS: ReadonlySet<number> = new Set([
  L.MOVE,
  L.LOADK,
  L.LOAD_DATA,
  L.SHARE,
  L.LOAD_CAPTURE,
  L.LOAD_MODULE,
  L.LOAD_MODULE_SHARED,
  L.STORE_MODULE,
  L.NEW_CELL,
  L.SET_CELL,
  L.CELL_CALLABLE,
  L.LOAD_EXPORT,
  L.SELF,
  L.NOT,
  L.EQK,
  L.NEK,
  L.LTK,
  L.LEK,
  L.GTK,
  L.GEK,
  L.BUILD_LIST,
  L.LIST_PUSH,
  L.BUILD_STRUCT,
  L.BUILD_RECORD,
  L.BUILD_STRUCT_RECORD,
  L.BUILD_ENUM,
  L.BUILD_ENUM_LIST,
  L.BUILD_RANGE,
  L.CLOSURE,
  L.FIELD,
  L.ITEM,
  L.IS_ENUM,
  L.ENUM_FIELD,
  L.IS_DICT,
  L.IS_LIST,
  L.CATCH_VALUE,
  L.CATCH_IS,
  L.RESULT_OK,
  L.ITERATE,
  L.RETURN,
])

/**
 * Whether a handler around `i` can be entered from it. Wherever there is a fuel point it can, because a deadline or a cancellation is
 * raised there: at backward jumps, and at what takes as long as what it is given, such as comparing.
 */
export function mayFault(i: Instr): boolean {
  const isPlainJump = i.op === L.JUMP || (i.op >= L.JF && i.op <= L.JNNEK && !(i.op >= L.JNLT && i.op <= L.JNNE))
  return !NEVER_FAULTS.has(i.op) && !isPlainJump
}
