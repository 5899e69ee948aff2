// The machine that the base tier was compared with: a plain switch over the same stack code, one array for operands and locals.
// It supports just the instructions of the fib and int_loop programs, with the same ints, fuel and depth bound as the real one, and
// serves no other purpose. Labels are numbers for the reason given in the real loop.

import type { OPCODES } from '@bridle/compiler/bytecode'
import type { CompiledProgram, FunctionChunk } from '@bridle/compiler/bytecode'

type Code<Name extends keyof typeof OPCODES> = (typeof OPCODES)[Name]['code']
type Cell = number | string | null | FunctionChunk

const MAX_FRAMES = 512

/** Returns the output of the program. */
export function runPlainStack(program: CompiledProgram): string {
  const chunk = program.modules.find((module) => module.key === program.main)!
  const { constants, functions } = chunk
  const exact = 9007199254740991
  const stack: Cell[] = []
  for (let at = 0; at < 64; at++) stack.push(null)
  const frames: FunctionChunk[] = []
  const returns: number[] = []
  const bases: number[] = []
  let fn = functions[0]!
  let code = fn.code
  let base = 0
  let sp = fn.slots
  let ip = 0
  let fuel = Number.MAX_SAFE_INTEGER
  let output = ''
  for (;;) {
    switch (code[ip++]) {
      case 0 satisfies Code<'CONST'>:
        stack[sp++] = constants[code[ip++]!] as Cell
        continue
      case 1 satisfies Code<'INT'>:
        stack[sp++] = code[ip++]!
        continue
      case 2 satisfies Code<'NIL'>:
        stack[sp++] = null
        continue
      case 5 satisfies Code<'POP'>:
        sp--
        continue
      case 7 satisfies Code<'LOAD'>:
        stack[sp++] = stack[base + code[ip++]!]!
        continue
      case 9 satisfies Code<'STORE'>:
        stack[base + code[ip++]!] = stack[--sp]!
        continue
      case 20 satisfies Code<'SELF'>:
        stack[sp++] = fn
        continue
      case 30 satisfies Code<'ADD'>:
      case 31 satisfies Code<'ADD_OWNED'>: {
        const y = stack[--sp]!,
          x = stack[sp - 1]!
        if (typeof x !== 'number' || typeof y !== 'number') throw new Error('ints only')
        const sum = x + y
        const small = sum | 0
        if (small === sum) stack[sp - 1] = small
        else if (sum <= exact && sum >= -exact) stack[sp - 1] = sum
        else throw new Error('out of range')
        continue
      }
      case 32 satisfies Code<'SUB'>: {
        const y = stack[--sp]!,
          x = stack[sp - 1]!
        if (typeof x !== 'number' || typeof y !== 'number') throw new Error('ints only')
        const difference = x - y
        const small = difference | 0
        if (small === difference) stack[sp - 1] = small
        else if (difference <= exact && difference >= -exact) stack[sp - 1] = difference
        else throw new Error('out of range')
        continue
      }
      case 33 satisfies Code<'MUL'>: {
        const y = stack[--sp]!,
          x = stack[sp - 1]!
        if (typeof x !== 'number' || typeof y !== 'number') throw new Error('ints only')
        const product = x * y
        const small = product | 0
        if (small === product) stack[sp - 1] = small
        else if (product <= exact && product >= -exact) stack[sp - 1] = product
        else throw new Error('out of range')
        continue
      }
      case 35 satisfies Code<'MOD'>: {
        const y = stack[--sp]!,
          x = stack[sp - 1]!
        if (typeof x !== 'number' || typeof y !== 'number' || y === 0) throw new Error('ints only')
        stack[sp - 1] = (x | 0) === x && (y | 0) === y && x >= 0 ? (x | 0) % (y | 0) : (x % y) + 0
        continue
      }
      case 41 satisfies Code<'LT'>: {
        const y = stack[--sp]!,
          x = stack[sp - 1]!
        if (typeof x !== 'number' || typeof y !== 'number') throw new Error('ints only')
        // The result stays a raw condition: the next instruction is the jump that reads it.
        stack[sp - 1] = x < y ? 1 : 0
        continue
      }
      case 50 satisfies Code<'JUMP'>:
        ip = code[ip]!
        continue
      case 51 satisfies Code<'LOOP'>:
        if (--fuel < 0) throw new Error('out of fuel')
        ip = code[ip]!
        continue
      case 52 satisfies Code<'JUMP_IF_FALSE'>:
        ip = stack[--sp] === 0 ? code[ip]! : ip + 1
        continue
      case 70 satisfies Code<'TEXT'>: {
        const count = code[ip++]!
        sp -= count
        let text = ''
        for (let at = 0; at < count; at++) text += String(stack[sp + at])
        stack[sp++] = text
        continue
      }
      case 71 satisfies Code<'CLOSURE'>:
        stack[sp++] = functions[code[ip]!]!
        ip += 2
        continue
      case 100 satisfies Code<'CALL'>: {
        if (--fuel < 0) throw new Error('out of fuel')
        const count = code[ip++]!
        const callee = stack[sp - count - 1] as FunctionChunk
        if (frames.length >= MAX_FRAMES) throw new Error('stack overflow')
        frames.push(fn)
        returns.push(ip)
        bases.push(base)
        fn = callee
        code = fn.code
        base = sp - count
        sp = base + fn.slots
        while (stack.length < sp + fn.stack) stack.push(null)
        ip = 0
        continue
      }
      case 102 satisfies Code<'CALL_BUILTIN'>:
        output += String(stack[sp - 1])
        stack[sp - 1] = null
        ip += 2
        continue
      case 111 satisfies Code<'RETURN'>: {
        if (frames.length === 0) return output
        const value = stack[sp - 1]!
        sp = base
        stack[sp - 1] = value
        fn = frames.pop()!
        code = fn.code
        base = bases.pop()!
        ip = returns.pop()!
        continue
      }
      default:
        throw new Error(`no case for ${String(code[ip - 1])}`)
    }
  }
}
