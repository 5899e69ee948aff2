// Linked instructions: the form that runs. A function's stack code is decoded once into objects that point at each other, with
// stack positions turned into slots, moves folded and constants in the instruction. They hold no script values
// except constants, and belong to the shared Module. Each knows its code position `pc`, the only thing snapshots and traces use.

/** Numbers of linked operations; loop.ts repeats them as local constants, because V8 compiles a switch over imports badly. */
export const LINKED = {
  MOVE: 0,
  LOADK: 1,
  LOAD_DATA: 2,
  SHARE: 3,
  LOAD_CAPTURE: 4,
  LOAD_MODULE: 5,
  LOAD_MODULE_SHARED: 6,
  STORE_MODULE: 7,
  NEW_CELL: 8,
  SET_CELL: 9,
  CELL_CALLABLE: 10,
  CELL_VARIABLE: 11,
  LOAD_EXPORT: 12,
  LOAD_GLOBAL: 13,
  SELF: 14,
  RUN_MODULE: 15,
  ADD: 20,
  SUB: 21,
  MUL: 22,
  DIV: 23,
  MOD: 24,
  POW: 25,
  NEG: 26,
  NOT: 27,
  ADD_OWNED: 28,
  EQ: 30,
  NE: 31,
  LT: 32,
  LE: 33,
  GT: 34,
  GE: 35,
  IN: 36,
  NOT_IN: 37,
  ADDK: 40,
  SUBK: 41,
  MULK: 42,
  MODK: 43,
  EQK: 44,
  NEK: 45,
  LTK: 46,
  LEK: 47,
  GTK: 48,
  GEK: 49,
  JUMP: 50,
  LOOP: 51,
  JF: 52,
  JT: 53,
  JNN: 54,
  JPASSED: 55,
  JEND: 56,
  JNLT: 57,
  JNLE: 58,
  JNGT: 59,
  JNGE: 60,
  JNEQ: 61,
  JNNE: 62,
  JNLTK: 63,
  JNLEK: 64,
  JNGTK: 65,
  JNGEK: 66,
  JNEQK: 67,
  JNNEK: 68,
  CHECK_PARAM: 70,
  BUILD_LIST: 71,
  LIST_PUSH: 72,
  LIST_EXTEND: 73,
  BUILD_DICT: 74,
  DICT_PUT: 75,
  DICT_EXTEND: 76,
  BUILD_STRUCT: 77,
  BUILD_ENUM: 78,
  BUILD_ENUM_LIST: 79,
  BUILD_RANGE: 80,
  TEXT: 81,
  CLOSURE: 82,
  DEFINE_IMPL: 83,
  GET_PROP: 84,
  GET_PROP_OPT: 85,
  GET_INDEX: 86,
  GET_INDEX_OPT: 87,
  SLICE: 88,
  SET_PROP: 89,
  SET_INDEX: 90,
  CHECK_DICT: 91,
  CHECK_LIST: 92,
  FIELD: 93,
  ITEM: 94,
  LIST_REST: 95,
  DICT_REST: 96,
  IS_ENUM: 97,
  ENUM_FIELD: 98,
  IS_DICT: 99,
  IS_LIST: 100,
  CALL: 101,
  CALL_NAMED: 102,
  BUILTIN1: 103,
  BUILTIN2: 104,
  BUILTIN_N: 105,
  CALL_METHOD: 106,
  CALL_SPREAD: 107,
  CALL_NAMED_SPREAD: 108,
  BUILTIN_SPREAD: 109,
  CALL_METHOD_SPREAD: 110,
  TAIL_NAMED: 111,
  PIPE: 112,
  TAIL_PIPE: 113,
  RETURN: 114,
  YIELD: 115,
  THROW: 116,
  RETHROW: 117,
  CATCH_VALUE: 118,
  CATCH_IS: 119,
  RAISE: 120,
  RESULT_OK: 121,
  PROPAGATE: 122,
  ITERATE: 123,
  NEXT: 124,
  DEADLINE_ENTER: 125,
  DEADLINE_LEAVE: 126,
  NATIVE_STEP: 127,
  TASK_END: 128,
  CALL_SELF: 129,
  BUILD_RECORD: 130,
  BUILD_STRUCT_RECORD: 131,
  /** A call out of an internal module, of what may be a function of a script. */
  CALL_OUT: 132,
} as const

/**
 * One linked instruction. `a` is the slot of the result; `b`, `c`, `d` are source slots or small numbers by operation; `k` is a
 * constant; `d` of CALL_METHOD is 1 for `x = x.push(v)`; `kind`, `cache` and `seen` are an inline cache. One shape for all, so that every field access in the loop is monomorphic.
 */
export class Instr {
  /** Changed by the decoder only, when a comparison becomes a jump. */
  op: number
  a: number
  b: number
  c: number
  d: number
  k: unknown
  /** 0, or the kind of receiver that `cache` is for: see CALL_METHOD in loop.ts. */
  kind = 0
  cache: unknown = null
  seen: unknown = null
  /** The instruction after this one; for jumps the fall-through. Set before the code runs. */
  next: Instr = null as never
  target: Instr = null as never
  readonly pc: number

  constructor(op: number, pc: number, a: number, b: number, c: number, d: number, k: unknown) {
    this.op = op
    this.pc = pc
    this.a = a
    this.b = b
    this.c = c
    this.d = d
    this.k = k
  }
}

/** What a native frame's step runs as; and the place where a function called by one returns to. */
export const NATIVE_STEP = new Instr(LINKED.NATIVE_STEP, 0, 0, 0, 0, 0, null)
export const NATIVE_RETURN = new Instr(LINKED.NATIVE_STEP, 0, 0, 0, 0, 0, null)
NATIVE_STEP.next = NATIVE_STEP
NATIVE_RETURN.next = NATIVE_STEP
/** Where the bottom function of a task or coroutine returns to. */
export const TASK_END = new Instr(LINKED.TASK_END, 0, 0, 0, 0, 0, null)
TASK_END.next = TASK_END
/** Returns what is in the frame's first slot: how the base tier leaves a function that compiled code ran to its end. */
export const RETURN_FIRST = new Instr(LINKED.RETURN, 0, 0, 0, 0, 0, null)
