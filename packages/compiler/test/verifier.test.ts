// What the verifier refuses, one broken function per row. The code is written as instruction names and numbers.

import { describe, expect, test } from 'vitest'
import { OPCODES, verify } from '../src/bytecode/index.js'
import type { FunctionChunk, ModuleChunk, OpcodeName } from '../src/bytecode/index.js'

const BASE: FunctionChunk = {
  name: '<main>',
  kind: 'main',
  params: [],
  firstDefault: 0,
  rest: -1,
  slots: 2,
  stack: 0,
  code: [],
  handlers: [],
  captures: [],
  lines: [],
  locals: [],
}

const TABLES: Omit<ModuleChunk, 'functions'> = {
  key: 'test.harn',
  constants: ['text', { tag: 'data', json: '["a"]' }, { tag: 'struct', name: 'P', fields: null }],
  names: ['n'],
  builtins: ['len'],
  units: [],
  moduleSlots: [],
  exports: {},
}

function makeChunk(code: readonly (OpcodeName | number)[], stack: number, rest: Partial<FunctionChunk> = {}): ModuleChunk {
  const words = code.map((word) => (typeof word === 'number' ? word : OPCODES[word].code))
  return { ...TABLES, functions: [{ ...BASE, code: words, stack, ...rest }] }
}

const handler = (start: number, end: number, target: number, depth = 0) => ({ handlers: [{ start, end, target, depth }] })

test('sound code passes', () => {
  expect(verify(makeChunk(['INT', 1, 'STORE', 0, 'LOAD', 0, 'RETURN'], 1), 'foreign')).toEqual([])
  expect(verify(makeChunk(['BUILD_LIST', 0, 'INT', 1, 'LIST_PUSH', 'RETURN'], 2), 'foreign')).toEqual([])
  expect(verify(makeChunk(['NIL', 'THROW', 'CATCH_VALUE', 'RETURN'], 1, handler(0, 2, 2)), 'foreign')).toEqual([])
  expect(
    verify(
      makeChunk(['LOAD', 0, 'IS_LIST', 0, 'JUMP_IF_FALSE', 11, 'LOAD', 0, 'ITEM', 0, 'RETURN', 'NIL', 'RETURN'], 1, {
        params: ['x'],
        firstDefault: 1,
      }),
      'foreign',
    ),
  ).toEqual([])
})

describe('refused', () => {
  test.each<[string, ModuleChunk, string]>([
    ['an unknown opcode', makeChunk([250], 0), 'unknown opcode 250'],
    ['half an instruction', makeChunk(['INT'], 1), 'INT is cut short'],
    ['an operand out of range', makeChunk(['LOAD', 9, 'RETURN'], 1), 'LOAD: slot 9 is out of range'],
    ['too little on the stack', makeChunk(['ADD', 'RETURN'], 2), 'ADD pops 2 of 0'],
    ['more on the stack than declared', makeChunk(['NIL', 'NIL', 'POP', 'RETURN'], 1), 'stack 2 exceeds the declared 1'],
    ['more declared than used', makeChunk(['NIL', 'RETURN'], 5), 'declares 5 operands and uses 1'],
    ['two depths at one place', makeChunk(['TRUE', 'JUMP_IF_FALSE', 4, 'NIL', 'NIL', 'RETURN'], 2), 'depth 1 meets depth 0'],
    ['no end', makeChunk(['NIL', 'POP'], 1), 'control falls off the end'],
    ['a jump into an instruction', makeChunk(['JUMP', 3, 'INT', 1, 'RETURN'], 1), 'jump to 3, which is not an instruction'],
    ['a loop without fuel', makeChunk(['NIL', 'POP', 'JUMP', 0], 1), 'JUMP goes backward to 0'],
    [
      'a handler that guards itself',
      makeChunk(['NIL', 'THROW', 'RETHROW'], 1, handler(0, 3, 2)),
      'a handler before the end of its range',
    ],
    [
      'operands from below a handler',
      makeChunk(['NIL', 'THROW', 'POP', 'RETURN'], 2, handler(1, 2, 2, 1)),
      'takes operands from below its handler',
    ],
    ['an unset slot', makeChunk(['LOAD', 0, 'RETURN'], 1), 'LOAD meets an unset slot'],
    [
      'an argument that may be missing',
      makeChunk(['LOAD', 0, 'RETURN'], 1, { params: ['a'], firstDefault: 0 }),
      'LOAD meets an unset slot',
    ],
    ['a value for a fault', makeChunk(['NIL', 'RETHROW'], 1), 'RETHROW meets a value'],
    ['a fault for a value', makeChunk(['NIL', 'THROW', 'RETURN'], 1, handler(0, 2, 2)), 'RETURN meets a fault'],
    ['a value for an iteration', makeChunk(['NIL', 'NEXT', 'POP', 'RETURN'], 2), 'NEXT meets a value'],
    ['a list that others hold', makeChunk(['BUILD_LIST', 0, 'DUP', 'DUP', 'LIST_PUSH', 'RETURN'], 3), 'LIST_PUSH meets a value'],
    ['an item of what may be no list', makeChunk(['INT', 1, 'ITEM', 0, 'RETURN'], 1), 'ITEM meets a value'],
    ['a cell for a value', makeChunk(['NEW_CELL', 0, 'LOAD', 0, 'RETURN'], 1), 'RETURN meets a cell'],
    ['a value for a cell', makeChunk(['NIL', 'CELL_CALLABLE', 'RETURN'], 1), 'CELL_CALLABLE meets a value'],
    [
      'the wrong kind of constant',
      makeChunk(['BUILD_DICT', 0, 'BUILD_STRUCT', 0, 'RETURN'], 1),
      'BUILD_STRUCT: constant 0 is of another kind',
    ],
    ['a struct as a value', makeChunk(['CONST', 2, 'RETURN'], 1), 'CONST: constant 2 is of another kind'],
    ['captures that do not fit', makeChunk(['CLOSURE', 0, 1, 'RETURN'], 1), 'CLOSURE pops 1 of 0'],
    [
      'captures of the main function',
      makeChunk(['NIL', 'RETURN'], 1, { captures: ['x'] }),
      'the main function cannot have captures',
    ],
    [
      'room that the code does not need',
      makeChunk(['NIL', 'RETURN'], 1, { slots: 1_000_000 }),
      '1000000 slots for 2 words of code',
    ],
    ['a malformed function', makeChunk(['NIL', 'RETURN'], 1, { handlers: 7 as never }), 'malformed handlers'],
    ['a number that is no int', { ...makeChunk(['CONST', 0, 'RETURN'], 1), constants: [1.5] }, 'constant 0 is malformed'],
    ['nothing', null as never, 'not a chunk'],
  ])('%s', (_, chunk, problem) => {
    expect(verify(chunk, 'foreign').join('\n')).toContain(problem)
  })
})
