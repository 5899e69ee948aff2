// `json_parse` and `json_stringify`, joined with pointers. Reader and writer are in json-read.ts and
// json-write.ts and serve other families too.

import { builtin } from './builtin.js'
import { readTextArg } from './core-values.js'
import { pointerFunctions } from './json-pointer.js'
import { JsonReading } from './json-read.js'
import { JsonWriting } from './json-write.js'
import { definePieces } from './pieces.js'
import type { BuiltinFamily } from './registry.js'

/** A value in a list takes 2 units of reading and 16 of the heap; a nested list takes 10 and 48. */
const HEAP_A_UNIT = 6

const parsing = definePieces('json.parse', (args) => {
  const reading = new JsonReading(args[0] as string)
  return {
    step: (ctx, budget) => {
      const result = reading.step(budget.left)
      const spent = reading.takeSpent()
      budget.left -= spent
      budget.heap += HEAP_A_UNIT * spent
      if (result === undefined) return undefined
      return result.ok ? result.value : ctx.throw(`JSON parse error: ${result.message}`)
    },
  }
})

const writing = definePieces('json.stringify', (args) => {
  const writer = new JsonWriting(args[0]!)
  return {
    step: (_ctx, budget) => {
      const before = writer.length
      const text = writer.step(budget.left)
      budget.left -= writer.takeSpent()
      budget.heap += writer.length - before
      return text
    },
  }
})

export const jsonFamily: BuiltinFamily = {
  name: 'json',
  builtins: [
    builtin(
      'json_parse(str: string) -> any',
      { fromOutside: true, doc: 'The value that a JSON text stands for.', borrows: true },
      (ctx, text) => {
        const source = readTextArg(ctx, 0, text)
        ctx.charge(source.length >> 6, source.length)
        return parsing.run(ctx, source)
      },
    ),
    builtin('json_stringify(value: any) -> string', { doc: 'A compact JSON text with keys in order.' }, (ctx, value = null) =>
      writing.run(ctx, value),
    ),
    ...pointerFunctions,
  ],
  frames: [parsing.frame, writing.frame],
}
