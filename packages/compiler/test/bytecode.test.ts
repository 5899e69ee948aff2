// The chunk format: goldens of the emitted code, round-trips of bytes, and detection of damage.

import { describe, expect, test } from 'vitest'
import {
  ChunkFormatError,
  compileProgram,
  deserialize,
  disassemble,
  opcodeFingerprint,
  serialize,
  verify,
} from '@bridle/compiler'
import type { CompiledProgram, ModuleChunk } from '@bridle/compiler'

const builtins = ['println', 'len']

function compile(text: string): CompiledProgram {
  const { program, diagnostics } = compileProgram(
    { key: 'main.harn', text },
    {
      resolve: (path) => ({ kind: 'error', message: `Import error: cannot read '${path}'` }),
      signatures: {
        has: (name) => builtins.includes(name),
        effects: () => undefined,
        methodEffects: () => undefined,
        borrows: () => true,
        borrowsMethod: () => false,
        constants: [],
        names: builtins,
      },
    },
  )
  if (program === null) throw new Error(diagnostics[0]?.message)
  return program
}

const compileChunk = (text: string): ModuleChunk => compile(text).modules[0]!

const SAMPLES: readonly (readonly [name: string, text: string])[] = [
  ['a recursive function', 'fn fib(n) {\n  if n < 2 { return n }\n  return fib(n - 1) + fib(n - 2)\n}\nprintln(fib(10))'],
  ['a loop that updates a list', 'var xs = []\nfor i in 1 to 3 { xs = xs + [i]\n  xs[0] = i }\nprintln(xs)'],
  [
    'captures by value and cells',
    'pipeline main() {\n  let n = 1\n  fn a() { return b(n) }\n  fn b(x) { return x }\n  println(a())\n}',
  ],
  [
    'try, catch and finally',
    'fn f(x) {\n  try {\n    if x { return 1 }\n    throw "e"\n  } catch (e) { println(e) } finally { println("f") }\n}\nf(false)',
  ],
  [
    'match',
    'enum E { A(x), B }\nlet r = match E.A(1) {\n  E.A(n) if n > 0 -> { n }\n  E.B -> { 0 }\n  1 | 2 -> { 1 }\n  _ -> { nil }\n}\nprintln(r)',
  ],
  ['defaults, rest and spread', 'fn f(a, b = a, ...c) { return c }\nprintln(f(...[1, 2], 3))'],
  ['defer in a loop', 'fn f() {\n  for i in [1, 2] { defer { println(i) } }\n  return 1\n}\nprintln(f())'],
]

describe.each(SAMPLES)('%s', (_, text) => {
  test('disassembles as before', () => expect(disassemble(compileChunk(text))).toMatchSnapshot())
  test('verifies', () => expect(verify(compileChunk(text))).toEqual([]))
  test('comes back from its bytes', () => {
    const program = compile(text)
    expect(deserialize(serialize(program))).toEqual(program)
  })
})

test('constants of every kind come back', () => {
  const program = compile(
    'println([9007199254740993, -1, 1.5, -0.0, 5m, "\u{1F600}", nil, true, 99999999999999999999])\nstruct P { x: int }\nprintln(P {x: 1})',
  )
  expect(deserialize(serialize(program))).toEqual(program)
})

test('the opcode table is the one of this format version', () => {
  // A change here needs a new FORMAT_VERSION in serialize.ts.
  expect(opcodeFingerprint()).toMatchSnapshot()
})

describe('damage', () => {
  const bytes = serialize(compile(SAMPLES[3]![1]))

  test('bytes of something else', () =>
    expect(() => deserialize(new TextEncoder().encode('hello world'))).toThrow(/not a compiled program/))
  test('an empty file', () => expect(() => deserialize(new Uint8Array())).toThrow(ChunkFormatError))
  test('a file truncated anywhere', () => {
    for (let end = 0; end < bytes.length; end++)
      expect(() => deserialize(bytes.subarray(0, end)), `cut at ${end}`).toThrow(ChunkFormatError)
  })

  test('a changed byte is refused by the reader, or the verifier can judge the result', () => {
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes)
      damaged[at] = damaged[at]! ^ 0x15
      try {
        for (const module of deserialize(damaged).modules) expect(Array.isArray(verify(module))).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(ChunkFormatError)
      }
    }
  })

  test.each<[string, (code: number[]) => void, RegExp]>([
    ['an unknown opcode', (code) => code.splice(0, 1, 255), /unknown opcode/],
    ['an instruction that is cut short', (code) => code.splice(1, code.length), /cut short|out of range|falls off/],
    ['a jump into the middle of an instruction', (code) => code.splice(0, code.length, 50, 1, 2, 111), /not an instruction/],
    ['a slot that does not exist', (code) => code.splice(0, code.length, 7, 99, 111), /slot 99 is out of range/],
    ['an operand stack that underflows', (code) => code.splice(0, code.length, 5, 2, 111), /pops 1 of 0/],
    ['code that runs off its end', (code) => code.splice(0, code.length, 2), /falls off the end/],
    ['two depths at one place', (code) => code.splice(0, code.length, 3, 52, 4, 2, 2, 111), /depth/],
  ])('%s', (_, harm, problem) => {
    const chunk = compileChunk('println(1)')
    const code = [...chunk.functions[0]!.code]
    harm(code)
    const harmed = { ...chunk, functions: [{ ...chunk.functions[0]!, code, handlers: [] }] }
    expect(verify(harmed).join('\n')).toMatch(problem)
  })
})
