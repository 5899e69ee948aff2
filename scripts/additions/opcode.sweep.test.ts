// "Add an opcode" of CONTRIBUTING, done on a copy of the tree: which files it changes, and that tsc names each of them.
// The opcode is a template: TIMES, `x -> x * a`, with its own kind of operand, a form in the base tier and one in compiled code.

import { afterAll, expect, test } from 'vitest'
import { SourceTree } from './tree.js'

const PARTS = ['packages/parser/', 'packages/compiler/', 'packages/vm/', 'types/', 'tsconfig.base.json', 'package.json']
const tree = new SourceTree((path) => PARTS.some((part) => path.startsWith(part)))

afterAll(() => tree.remove())

tree.writeProject('packages/vm/src', 'packages/compiler/src')

test('an opcode changes six source files, and tsc names each that lacks it', { timeout: 300_000 }, () => {
  // 1. The row of the opcode. The decoder has no case for it.
  tree.insert(
    'packages/compiler/src/bytecode/opcodes.ts',
    '} as const satisfies',
    "  TIMES: { code: 250, operands: ['int'], pops: 1, pushes: 1, text: 'x -> x * a' },\n",
  )
  expect(tree.listTypeErrors()).toEqual(['packages/vm/src/interpreter/decode.ts'])

  // 2. The decoder, and 3. the row of the operation. The base tier and the templates have no case for it.
  tree.insert(
    'packages/vm/src/interpreter/decode.ts',
    "      case 'ITEM':\n",
    "      case 'TIMES':\n        return this.withNumber(LINKED.TIMES, o[0]!)\n",
  )
  tree.insert(
    'packages/vm/src/interpreter/linked.ts',
    '} as const satisfies',
    "  TIMES: { code: 250, reads: 'b', runs: 'rare' },\n",
  )
  expect(tree.listTypeErrors()).toEqual(['packages/vm/src/compiled/templates.ts', 'packages/vm/src/interpreter/rare.ts'])

  // 4. The base tier, and 5. compiled code; `template: false` in the row leaves it to the base tier instead.
  tree.insert('packages/vm/src/interpreter/rare.ts', 'contains, power }', 'multiply, ')
  tree.insert(
    'packages/vm/src/interpreter/rare.ts',
    '    case LINKED.POW: {',
    `    case LINKED.TIMES: {
      const product = multiply(b, i.c)
      return product instanceof Fault ? m.raise(task, product) : give(m, co, product)
    }
`,
  )
  tree.insert(
    'packages/vm/src/compiled/templates.ts',
    '    case L.POW:\n',
    '    case L.TIMES:\n      return setOrFault(`multiply(${b()},${i.c})`)\n',
  )
  // 6. The emitter, for which there is no type error: an opcode that is never emitted is dead.
  tree.insert(
    'packages/compiler/src/emit/expressions.ts',
    'export function emitExpr',
    "export function emitTimes(fn: FunctionEmitter, count: number): void {\n  fn.emit('TIMES', count)\n}\n\n",
  )
  expect(tree.listTypeErrors()).toEqual([])
  expect(tree.touched).toEqual([
    'packages/compiler/src/bytecode/opcodes.ts',
    'packages/compiler/src/emit/expressions.ts',
    'packages/vm/src/compiled/templates.ts',
    'packages/vm/src/interpreter/decode.ts',
    'packages/vm/src/interpreter/linked.ts',
    'packages/vm/src/interpreter/rare.ts',
  ])
})
