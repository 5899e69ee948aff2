// Chunk → text, from the opcode table. For people and goldens; nothing reads it back.

import { OPCODE_BY_CODE, RAISE_KINDS } from './opcodes.js'
import type { Constant, FunctionChunk, ModuleChunk } from './chunk.js'
import type { OperandKind } from './operands.js'

export function disassemble(chunk: ModuleChunk): string {
  return chunk.functions.map((fn, index) => disassembleFunction(chunk, fn, index)).join('\n')
}

function disassembleFunction(chunk: ModuleChunk, fn: FunctionChunk, index: number): string {
  const out = [
    `function ${index} ${fn.name}(${fn.params.join(', ')})  kind=${fn.kind} slots=${fn.slots} stack=${fn.stack}${fn.captures.length > 0 ? ` captures=${fn.captures.join(',')}` : ''}`,
  ]
  let row = 0
  let line = 0
  for (let at = 0; at < fn.code.length;) {
    while (row < fn.lines.length && fn.lines[row]! <= at) {
      line = fn.lines[row + 1]!
      row += 3
    }
    const entry = OPCODE_BY_CODE[fn.code[at]!]
    if (entry === undefined) {
      out.push(`${String(at).padStart(5)}  ??? ${fn.code[at]}`)
      break
    }
    const operands = fn.code.slice(at + 1, at + 1 + entry.row.operands.length)
    const shown = entry.row.operands.map((kind, which) => operandText(chunk, fn, kind, operands[which]!)).join(' ')
    out.push(`${String(at).padStart(5)}  ${`${entry.name} `.padEnd(18)}${shown.padEnd(30)} ; ${line}`.trimEnd())
    at += 1 + operands.length
  }
  for (const handler of fn.handlers)
    out.push(`  handler [${handler.start}, ${handler.end}) -> ${handler.target} depth ${handler.depth}`)
  return `${out.join('\n')}\n`
}

function operandText(chunk: ModuleChunk, fn: FunctionChunk, kind: OperandKind, value: number): string {
  switch (kind) {
    case 'const':
      return `K${value}=${constantText(chunk.constants[value])}`
    case 'name':
      return JSON.stringify(chunk.names[value] ?? '?')
    case 'builtin':
      return `@${chunk.builtins[value] ?? '?'}`
    case 'function':
      return `fn${value}<${chunk.functions[value]?.name ?? '?'}>`
    case 'unit':
      return `unit<${chunk.units[value] ?? '?'}>`
    case 'module':
      return `M${value}<${chunk.moduleSlots[value] ?? '?'}>`
    case 'capture':
      return `C${value}<${fn.captures[value] ?? '?'}>`
    case 'slot': {
      const name = fn.locals.find((local) => local.slot === value)?.name ?? fn.params[value]
      return `L${value}${name === undefined ? '' : `<${name}>`}`
    }
    case 'label':
      return `->${value}`
    case 'fault':
      return RAISE_KINDS[value] ?? '?'
    case 'int':
    case 'count':
    case 'flag':
      return String(value)
  }
}

function constantText(value: Constant | undefined): string {
  if (value === undefined) return '?'
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value)
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  switch (value.tag) {
    case 'float':
      return `${value.value}f`
    case 'duration':
      return `${value.ms}ms`
    case 'data':
      return value.json.length > 40 ? `${value.json.slice(0, 40)}…` : value.json
    case 'struct':
      return `struct ${value.name}`
  }
}
