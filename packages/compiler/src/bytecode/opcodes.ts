// THE opcode table. One row for each opcode; from it follow assembler depth, disassembly, verifier, the fingerprint of saved chunks and
// docs/language/opcodes.md. The machine that these rows describe is a stack machine; the base tier decodes them to slot form.
//
// Operand kinds are in operands.ts. In `text`, K are constants, N names, L local slots, C captures, M module slots, `x y -> z`
// are the popped and pushed values. Pops and pushes are separate so that the verifier sees underflow; a function in `pops` gets
// the operands. `flow` says where control continues; `suspends` marks instructions at which a run may suspend.
//
// Numbers are written into saved chunks: never reuse one; a changed row needs a new FORMAT_VERSION (serialize.ts).

import type { OperandKind } from './operands.js'

export interface OpcodeRow {
  readonly code: number
  readonly operands: readonly OperandKind[]
  readonly pops: number | ((operands: readonly number[]) => number)
  readonly pushes: number
  readonly text: string
  /** branch: may jump or fall through; jump: always jumps; end: leaves the function or block. */
  readonly flow?: 'branch' | 'jump' | 'end'
  readonly suspends?: true
}

const first = (operands: readonly number[]): number => operands[0]!
const second = (operands: readonly number[]): number => operands[1]!
const third = (operands: readonly number[]): number => operands[2]!

export const OPCODES = {
  CONST: { code: 0, operands: ['const'], pops: 0, pushes: 1, text: '-> K[a]' },
  INT: { code: 1, operands: ['int'], pops: 0, pushes: 1, text: '-> a' },
  NIL: { code: 2, operands: [], pops: 0, pushes: 1, text: '-> nil' },
  TRUE: { code: 3, operands: [], pops: 0, pushes: 1, text: '-> true' },
  FALSE: { code: 4, operands: [], pops: 0, pushes: 1, text: '-> false' },
  POP: { code: 5, operands: [], pops: 1, pushes: 0, text: 'x ->' },
  DUP: { code: 6, operands: [], pops: 1, pushes: 2, text: 'x -> x x' },
  LOAD: { code: 7, operands: ['slot'], pops: 0, pushes: 1, text: '-> L[a], which stays the only owner' },
  LOAD_SHARED: { code: 8, operands: ['slot'], pops: 0, pushes: 1, text: '-> L[a], which gives up ownership' },
  STORE: { code: 9, operands: ['slot'], pops: 1, pushes: 0, text: 'x -> ; L[a] := x' },
  LOAD_CAPTURE: { code: 10, operands: ['capture'], pops: 0, pushes: 1, text: '-> C[a]' },
  NEW_CELL: { code: 11, operands: ['slot'], pops: 0, pushes: 0, text: 'L[a] := empty cell' },
  SET_CELL: { code: 12, operands: ['slot'], pops: 1, pushes: 1, text: 'x -> x ; cell L[a] holds x' },
  CELL_CALLABLE: { code: 13, operands: [], pops: 1, pushes: 1, text: 'cell -> its closure, or nil' },
  CELL_VARIABLE: {
    code: 14,
    operands: ['name', 'const'],
    pops: 1,
    pushes: 1,
    text: 'cell -> its closure, or the fault of the undefined variable N[a], suggestion K[b]',
  },
  LOAD_MODULE: { code: 15, operands: ['module'], pops: 0, pushes: 1, text: '-> M[a]' },
  LOAD_MODULE_SHARED: { code: 16, operands: ['module'], pops: 0, pushes: 1, text: '-> M[a], which gives up ownership' },
  STORE_MODULE: { code: 17, operands: ['module'], pops: 1, pushes: 0, text: 'x -> ; M[a] := x' },
  LOAD_EXPORT: { code: 18, operands: ['unit', 'count'], pops: 0, pushes: 1, text: '-> slot b of the imported module a' },
  LOAD_GLOBAL: {
    code: 19,
    operands: ['name', 'const'],
    pops: 0,
    pushes: 1,
    text: '-> constant or builtin N[a]; suggestion K[b] when there is none',
  },
  SELF: { code: 20, operands: [], pops: 0, pushes: 1, text: '-> the running closure' },
  RUN_MODULE: {
    code: 21,
    operands: ['unit'],
    pops: 0,
    pushes: 1,
    text: '-> nil ; runs the initialiser of module a once',
    suspends: true,
  },

  ADD: { code: 30, operands: [], pops: 2, pushes: 1, text: 'x y -> x + y' },
  ADD_OWNED: { code: 31, operands: [], pops: 2, pushes: 1, text: 'x y -> x + y, in place where x is owned' },
  SUB: { code: 32, operands: [], pops: 2, pushes: 1, text: 'x y -> x - y' },
  MUL: { code: 33, operands: [], pops: 2, pushes: 1, text: 'x y -> x * y' },
  DIV: { code: 34, operands: [], pops: 2, pushes: 1, text: 'x y -> x / y' },
  MOD: { code: 35, operands: [], pops: 2, pushes: 1, text: 'x y -> x % y' },
  POW: { code: 36, operands: [], pops: 2, pushes: 1, text: 'x y -> x ** y' },
  NEG: { code: 37, operands: [], pops: 1, pushes: 1, text: 'x -> -x' },
  NOT: { code: 38, operands: [], pops: 1, pushes: 1, text: 'x -> !x' },
  EQ: { code: 39, operands: [], pops: 2, pushes: 1, text: 'x y -> x == y' },
  NE: { code: 40, operands: [], pops: 2, pushes: 1, text: 'x y -> x != y' },
  LT: { code: 41, operands: [], pops: 2, pushes: 1, text: 'x y -> x < y' },
  LE: { code: 42, operands: [], pops: 2, pushes: 1, text: 'x y -> x <= y' },
  GT: { code: 43, operands: [], pops: 2, pushes: 1, text: 'x y -> x > y' },
  GE: { code: 44, operands: [], pops: 2, pushes: 1, text: 'x y -> x >= y' },
  IN: { code: 45, operands: [], pops: 2, pushes: 1, text: 'x c -> x in c' },
  NOT_IN: { code: 46, operands: [], pops: 2, pushes: 1, text: 'x c -> x not in c' },

  JUMP: { code: 50, operands: ['label'], pops: 0, pushes: 0, text: 'ip := a', flow: 'jump' },
  LOOP: {
    code: 51,
    operands: ['label'],
    pops: 0,
    pushes: 0,
    text: 'ip := a, backward; one unit of fuel',
    flow: 'jump',
    suspends: true,
  },
  JUMP_IF_FALSE: { code: 52, operands: ['label'], pops: 1, pushes: 0, text: 'x -> ; if falsy ip := a', flow: 'branch' },
  JUMP_IF_TRUE: { code: 53, operands: ['label'], pops: 1, pushes: 0, text: 'x -> ; if truthy ip := a', flow: 'branch' },
  JUMP_IF_NOT_NIL: { code: 54, operands: ['label'], pops: 1, pushes: 1, text: 'x -> x ; if not nil ip := a', flow: 'branch' },
  JUMP_IF_PASSED: {
    code: 55,
    operands: ['slot', 'label'],
    pops: 0,
    pushes: 0,
    text: 'if the argument L[a] was passed ip := b',
    flow: 'branch',
  },
  CHECK_PARAM: { code: 56, operands: ['slot', 'const'], pops: 0, pushes: 0, text: 'fault unless L[a] passes the check K[b]' },

  BUILD_LIST: { code: 60, operands: ['count'], pops: first, pushes: 1, text: 'x1..xa -> [x1..xa]' },
  LIST_PUSH: { code: 61, operands: [], pops: 2, pushes: 1, text: 'list x -> list with x; the list is under construction' },
  LIST_EXTEND: { code: 62, operands: [], pops: 2, pushes: 1, text: 'list xs -> list with the items of xs' },
  BUILD_DICT: { code: 63, operands: ['count'], pops: (o) => 2 * o[0]!, pushes: 1, text: 'k1 v1..ka va -> {k1: v1..}' },
  DICT_PUT: { code: 64, operands: [], pops: 3, pushes: 1, text: 'dict k v -> dict with k: v; under construction' },
  DICT_EXTEND: { code: 65, operands: [], pops: 2, pushes: 1, text: 'dict d -> dict with the entries of d' },
  BUILD_STRUCT: { code: 66, operands: ['const'], pops: 1, pushes: 1, text: 'dict -> struct of type K[a]' },
  BUILD_ENUM: { code: 67, operands: ['name', 'name', 'count'], pops: third, pushes: 1, text: 'x1..xc -> N[a].N[b](x1..xc)' },
  BUILD_ENUM_LIST: { code: 68, operands: ['name', 'name'], pops: 1, pushes: 1, text: 'list -> N[a].N[b](...list)' },
  BUILD_RANGE: { code: 69, operands: ['flag'], pops: 2, pushes: 1, text: 'x y -> x to y, exclusive if a' },
  TEXT: { code: 70, operands: ['count'], pops: first, pushes: 1, text: 'x1..xa -> their displays joined' },
  CLOSURE: {
    code: 71,
    operands: ['function', 'count'],
    pops: second,
    pushes: 1,
    text: 'c1..cb -> closure of function a with captures c1..cb',
  },
  DEFINE_IMPL: {
    code: 72,
    operands: ['name', 'const', 'count'],
    pops: third,
    pushes: 0,
    text: 'm1..mc -> ; methods K[b] of struct N[a]',
  },

  GET_PROP: { code: 80, operands: ['name'], pops: 1, pushes: 1, text: 'x -> x.N[a]' },
  GET_PROP_OPT: { code: 81, operands: ['name'], pops: 1, pushes: 1, text: 'x -> x?.N[a]' },
  GET_INDEX: { code: 82, operands: [], pops: 2, pushes: 1, text: 'x i -> x[i]' },
  GET_INDEX_OPT: { code: 83, operands: [], pops: 2, pushes: 1, text: 'x i -> x?[i]' },
  SLICE: {
    code: 84,
    operands: ['flag', 'flag'],
    pops: (o) => 1 + o[0]! + o[1]!,
    pushes: 1,
    text: 'x from? to? -> x[from:to]; a, b say which bounds are there',
  },
  SET_PROP: {
    code: 85,
    operands: ['name', 'flag'],
    pops: 2,
    pushes: 1,
    text: 'x v -> x with N[a] = v, in place where owned and b',
  },
  SET_INDEX: { code: 86, operands: ['flag'], pops: 3, pushes: 1, text: 'x v i -> x with [i] = v, in place where owned and a' },
  GET_PROP_OUT: { code: 200, operands: ['name'], pops: 1, pushes: 1, text: 'x -> x.N[a], which gives up ownership' },
  GET_INDEX_OUT: { code: 201, operands: [], pops: 2, pushes: 1, text: 'x i -> x[i], which gives up ownership' },
  TAKE_PROP: {
    code: 211,
    operands: ['name'],
    pops: 1,
    pushes: 1,
    text: 'x -> x.N[a], owned if x alone held it and is owned itself: nothing reads it through x again',
  },
  HOLD: {
    code: 212,
    operands: ['name'],
    pops: 1,
    pushes: 1,
    text: 'x -> x, a new dict or struct, as an owned one that alone holds x.N[a] if that was owned',
  },
  TAKE: { code: 208, operands: ['slot'], pops: 0, pushes: 0, text: 'the argument L[a] may be given to this function as its own' },
  MOVES: {
    code: 209,
    operands: ['count', 'count'],
    pops: 0,
    pushes: 0,
    text: 'of the next call: bit 0 of a if its result is taken over, bit n + 1 if argument n is given away; of b if it is lent',
  },
  OWN: { code: 202, operands: ['slot'], pops: 0, pushes: 0, text: 'L[a] := L[a] as an owned container, a copy unless it is one' },
  OWN_PROP: {
    code: 203,
    operands: ['slot', 'slot', 'name'],
    pops: 0,
    pushes: 0,
    text: 'L[a], which is L[b].N[c], becomes a container that the owned L[b] alone holds',
  },
  OWN_INDEX: {
    code: 204,
    operands: ['slot', 'slot', 'slot'],
    pops: 0,
    pushes: 0,
    text: 'L[a], which is L[b][L[c]], becomes a container that the owned L[b] alone holds',
  },
  PUT_PROP: { code: 205, operands: ['slot', 'name'], pops: 1, pushes: 0, text: 'v -> ; L[a].N[b] := v in place, after OWN' },
  PUT_INDEX: { code: 206, operands: ['slot'], pops: 2, pushes: 0, text: 'v i -> ; L[a][i] := v in place, after OWN' },
  CHECK_DICT: { code: 87, operands: [], pops: 1, pushes: 1, text: 'x -> x, fault unless a dict' },
  CHECK_LIST: { code: 88, operands: [], pops: 1, pushes: 1, text: 'x -> x, fault unless a list' },
  FIELD: { code: 89, operands: ['name'], pops: 1, pushes: 1, text: 'dict -> entry N[a] or nil' },
  ITEM: { code: 90, operands: ['count'], pops: 1, pushes: 1, text: 'list -> item a or nil' },
  LIST_REST: { code: 91, operands: ['count'], pops: 1, pushes: 1, text: 'list -> the items from a on' },
  DICT_REST: { code: 92, operands: ['const'], pops: 1, pushes: 1, text: 'dict -> without the keys K[a]' },
  IS_ENUM: { code: 93, operands: ['name', 'name'], pops: 1, pushes: 1, text: 'x -> whether x is N[a].N[b]' },
  ENUM_FIELD: { code: 94, operands: ['count'], pops: 1, pushes: 1, text: 'enum -> field a or nil' },
  IS_DICT: { code: 95, operands: [], pops: 1, pushes: 1, text: 'x -> whether x is a dict' },
  IS_LIST: { code: 96, operands: ['count'], pops: 1, pushes: 1, text: 'x -> whether x is a list of at least a items' },

  CALL: { code: 100, operands: ['count'], pops: (o) => o[0]! + 1, pushes: 1, text: 'f x1..xa -> f(x1..xa)', suspends: true },
  CALL_NAMED: {
    code: 101,
    operands: ['name', 'count', 'const'],
    pops: (o) => o[1]! + 1,
    pushes: 1,
    text: 'f x1..xb -> f(x1..xb); if f is not callable, what N[a] names; suggestion K[c]',
    suspends: true,
  },
  CALL_BUILTIN: {
    code: 102,
    operands: ['builtin', 'count'],
    pops: second,
    pushes: 1,
    text: 'x1..xb -> B[a](x1..xb)',
    suspends: true,
  },
  CALL_METHOD: {
    code: 103,
    operands: ['name', 'count', 'flag'],
    pops: (o) => o[1]! + 1,
    pushes: 1,
    text: 'x x1..xb -> x.N[a](x1..xb); ?. if c',
    suspends: true,
  },
  CALL_METHOD_HELD: {
    code: 207,
    operands: ['name', 'count'],
    pops: (o) => o[1]! + 1,
    pushes: 1,
    text: 'x x1..xb -> x.N[a](x1..xb), which changes x in place where a builtin does, after OWN',
    suspends: true,
  },
  CALL_SPREAD: { code: 104, operands: [], pops: 2, pushes: 1, text: 'f list -> f(...list)', suspends: true },
  CALL_NAMED_SPREAD: {
    code: 105,
    operands: ['name', 'const'],
    pops: 2,
    pushes: 1,
    text: 'f list -> f(...list), as CALL_NAMED',
    suspends: true,
  },
  CALL_BUILTIN_SPREAD: { code: 106, operands: ['builtin'], pops: 1, pushes: 1, text: 'list -> B[a](...list)', suspends: true },
  CALL_METHOD_SPREAD: {
    code: 107,
    operands: ['name', 'flag'],
    pops: 2,
    pushes: 1,
    text: 'x list -> x.N[a](...list); ?. if b',
    suspends: true,
  },
  TAIL_NAMED: {
    code: 108,
    operands: ['name', 'count', 'const'],
    pops: (o) => o[1]! + 1,
    pushes: 0,
    text: 'f x1..xb -> ; as CALL_NAMED and RETURN, in the frame of the caller',
    flow: 'end',
    suspends: true,
  },
  PIPE: { code: 109, operands: [], pops: 2, pushes: 1, text: 'x f -> f(x)', suspends: true },
  TAIL_PIPE: {
    code: 110,
    operands: [],
    pops: 2,
    pushes: 0,
    text: 'x f -> ; f(x) in the frame of the caller',
    flow: 'end',
    suspends: true,
  },
  RETURN_MOVED: {
    code: 210,
    operands: [],
    pops: 1,
    pushes: 0,
    text: 'x -> ; returns x, which remains owned where the caller takes it over',
    flow: 'end',
  },
  RETURN: { code: 111, operands: [], pops: 1, pushes: 0, text: 'x -> ; leaves the function with x', flow: 'end' },
  YIELD: {
    code: 112,
    operands: [],
    pops: 1,
    pushes: 1,
    text: 'x -> nil ; hands x to whoever pulls this generator',
    suspends: true,
  },

  THROW: { code: 120, operands: [], pops: 1, pushes: 0, text: 'x -> ; raises x', flow: 'end' },
  RETHROW: { code: 121, operands: [], pops: 1, pushes: 0, text: 'fault -> ; raises it again', flow: 'end' },
  CATCH_VALUE: { code: 122, operands: [], pops: 1, pushes: 1, text: 'fault -> what catch binds' },
  CATCH_IS: { code: 123, operands: ['name'], pops: 1, pushes: 2, text: 'fault -> fault bool ; whether it is a thrown enum N[a]' },
  RAISE: {
    code: 124,
    operands: ['fault', 'const'],
    pops: 0,
    pushes: 0,
    text: 'raises a fault of kind a with text K[b]',
    flow: 'end',
  },
  RESULT_OK: { code: 125, operands: [], pops: 1, pushes: 1, text: 'x -> x if a Result, else Result.Ok(x)' },
  PROPAGATE: {
    code: 126,
    operands: ['label'],
    pops: 1,
    pushes: 1,
    text: 'Ok(x) -> x ; Err: ip := a with it on the stack',
    flow: 'branch',
  },

  ITERATE: { code: 130, operands: [], pops: 1, pushes: 1, text: 'x -> iteration over x' },
  NEXT: { code: 131, operands: [], pops: 1, pushes: 2, text: 'it -> it item, or the end mark', suspends: true },
  JUMP_IF_END: {
    code: 132,
    operands: ['label'],
    pops: 1,
    pushes: 1,
    text: 'item -> item ; at the end mark ip := a',
    flow: 'branch',
  },
  DEADLINE_ENTER: { code: 133, operands: [], pops: 1, pushes: 0, text: 'd -> ; starts a deadline' },
  DEADLINE_LEAVE: { code: 134, operands: [], pops: 0, pushes: 0, text: 'ends the innermost deadline of this frame' },
} as const satisfies Record<string, OpcodeRow>

export type OpcodeName = keyof typeof OPCODES
export type Opcode = (typeof OPCODES)[OpcodeName]['code']

/** Row and name by number. */
export const OPCODE_BY_CODE: readonly ({ readonly name: OpcodeName; readonly row: OpcodeRow } | undefined)[] = byCode()

function byCode(): ({ readonly name: OpcodeName; readonly row: OpcodeRow } | undefined)[] {
  const rows = new Array<{ readonly name: OpcodeName; readonly row: OpcodeRow } | undefined>(256).fill(undefined)
  for (const [name, row] of Object.entries(OPCODES) as [OpcodeName, OpcodeRow][]) rows[row.code] = { name, row }
  return rows
}

/** Fault kinds that RAISE can name, by index. */
export const RAISE_KINDS = ['runtime', 'type', 'immutable', 'undefined_variable', 'undefined_builtin', 'thrown'] as const
export type RaiseKind = (typeof RAISE_KINDS)[number]
