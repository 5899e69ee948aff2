// Requirements of definitions: in which order arguments are checked, which messages are raised, and what the code receives.

import { describe, expect, test } from 'vitest'
import { callBuiltin, makeFakeMachine } from './test-support/fake-machine.js'
import { builtin } from './builtin.js'
import { builtinTaking, withKnownOptions } from './unpack.js'
import { Fault } from '../interpreter/fault.js'
import { HarnDict } from '../values/dict.js'
import { HarnList } from '../values/list.js'
import type { BuiltinDef } from './builtin.js'
import type { Demands } from './unpack.js'
import type { Value } from '../values/value.js'

/** The result of a call, or its error as scripts see it. The code returns its arguments as a list. */
function define(signature: string, demands: Demands): BuiltinDef {
  return builtinTaking(signature, { doc: '' }, demands, (_ctx, ...args) => new HarnList(args))
}

function callWith(def: BuiltinDef, ...args: Value[]): unknown {
  try {
    const outcome = callBuiltin(makeFakeMachine({ name: 'test', builtins: [def] }), def.name, ...args)
    return outcome instanceof HarnList ? [...outcome.view()] : outcome
  } catch (error) {
    if (error instanceof Fault) return `${error.kind}: ${error.message}`
    throw error
  }
}

describe('messages', () => {
  const def = define('f(path: string, count: int, options?: dict, more?: list | nil) -> nil', {
    fewer: '{f}: requires path and count',
    not: { count: '{f}: {param} must be an {type} at {n}, got {got}', options: 'no {type}' },
    text: { path: 'a path is required' },
  })
  test.each<[readonly Value[], unknown]>([
    [[], 'thrown: f: requires path and count'],
    [['a'], 'thrown: f: requires path and count'],
    [['', 'x'], 'thrown: a path is required'],
    [['a', 'x'], 'thrown: f: count must be an int at 2, got string'],
    [['a', 1, 'x'], 'thrown: no dict'],
    [
      ['a', 1],
      ['a', 1, null, null],
    ],
    [
      [null, 1, null, 'anything'],
      ['nil', 1, null, 'anything'],
    ],
    [
      [5, 1],
      ['5', 1, null, null],
    ],
  ])('%j', (args, expected) => {
    expect(callWith(def, ...args)).toEqual(expected)
  })
})

test('refusals are raised as the definition says', () => {
  expect(callWith(define('f(x: int)', { raise: 'runtime', absent: 'no {n}' }))).toBe('runtime: no 1')
  expect(callWith(define('f(x: int)', { raise: 'type', not: '{got}' }), 'a')).toBe('type: string')
})

test('a default replaces a missing argument, but not nil', () => {
  const def = define('f(name?: string = "a, b)", size?: int = 7, rest?: any) -> nil', { text: { name: null } })
  expect(def.arity).toBe(3)
  expect(callWith(def)).toEqual(['a, b)', 7, null])
  expect(callWith(def, null, null)).toEqual(['nil', null, null])
})

test('too many arguments, too few without an error, and further checks', () => {
  expect(callWith(define('f(x: int)', { fewer: 'one', most: 1 }), 1, 2)).toBe('thrown: one')
  expect(callWith(define('f(x: int, y: int, z: int)', { fewerGive: () => 'nothing' }), 1, 2)).toBe('nothing')
  const fits: Demands = { fits: { x: (value, { name, isPassed }) => (value === 1 ? null : `${name} ${isPassed}`) } }
  expect(callWith(define('f(x: int)', fits), 1)).toEqual([1])
  expect(callWith(define('f(x: int)', fits))).toBe('thrown: f false')
  expect(callWith(define('f(x: int)', fits), 2)).toBe('thrown: f true')
})

test('types with members are checked by their kind; an unknown type is an error in the definition', () => {
  const not = '{got}'
  expect(callWith(define('f(x: list<dict<string, int>> | {a: int})', { not }), new HarnDict())).not.toBe('thrown: dict')
  expect(callWith(define('f(x: list<int>)', { not }), new HarnDict())).toBe('thrown: dict')
  expect(() => callWith(define('f(x: nonsense)', { not }), 1)).toThrow('cannot be checked')
})

describe('keys of options', () => {
  const closed = 'size: int -- a size\ndepth: int -- a depth'
  const define = (signature: string, shapes: Readonly<Record<string, string>>): BuiltinDef =>
    withKnownOptions(builtin(signature, { doc: '', shapes }, () => 'ran'))
  const options = (...keys: readonly string[]): HarnDict => new HarnDict(new Map(keys.map((key) => [key, 1])))
  test.each<[shape: string, keys: readonly string[], expected: string]>([
    [closed, ['size', 'depth'], 'ran'],
    [closed, ['sise'], "thrown: f: unknown option key 'sise' (expected one of: size, depth); did you mean 'size'?"],
    [closed, ['other'], 'ran'],
    [closed, ['background'], 'ran'],
    [`${closed}\n*: any -- kept`, ['sise'], 'ran'],
    [`${closed}\n*: dict -- by provider`, ['other'], 'ran'],
    [
      `${closed}\n*: dict -- by provider`,
      ['sise'],
      "thrown: f: unknown option key 'sise' (expected one of: size, depth); did you mean 'size'?",
    ],
  ])('%s with %j', (shape, keys, expected) => {
    expect(callWith(define('f(x: int, options?: dict) -> string', { options: shape }), 1, options(...keys))).toBe(expected)
  })

  test('a dict with very many unknown keys is not checked', () => {
    const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `x${at}`)
    const def = define('f(x: int, options?: dict) -> string', { options: closed })
    expect(callWith(def, 1, options('sise', ...many(63)))).toContain("unknown option key 'sise'")
    const large = options('sise', ...many(69))
    large.keys = () => {
      throw new Error('the keys were put in order')
    }
    expect(callWith(def, 1, large)).toBe('ran')
  })

  test('a dict counts as options only as the last argument', () => {
    const def = define('f(body?: any, options?: dict) -> string', { body: closed, options: closed })
    expect(callWith(def, options('sise'))).toContain("unknown option key 'sise'")
    expect(callWith(def, options('sise'), options('size'))).toBe('ran')
    expect(callWith(def, 5, options('sise'))).toContain("unknown option key 'sise'")
  })
})
