// `json_parse` and `json_stringify`, joined with pointers and extraction. Reader and writer are in json-read.ts and
// json-write.ts and serve other families too.

import { builtin } from './builtin.js'
import { textArg } from './core-values.js'
import { extractFunction } from './json-extract.js'
import { pointerFunctions } from './json-pointer.js'
import { parseJson } from './json-read.js'
import { stringifyJson } from './json-write.js'
import type { BuiltinFamily } from './registry.js'

export { findJson } from './json-extract.js'
export { parseJson } from './json-read.js'
export type { JsonResult } from './json-read.js'
export { jsonString, stringifyJson } from './json-write.js'
export type { JsonOptions } from './json-write.js'

export const jsonFamily: BuiltinFamily = {
  name: 'json',
  builtins: [
    builtin('json_parse(str: string) -> any', { doc: 'The value that a JSON text stands for.', borrows: true }, (ctx, text) => {
      const source = textArg(ctx, 0, text)
      ctx.charge(source.length >> 2, 2 * source.length)
      const parsed = parseJson(source)
      return parsed.ok ? parsed.value : ctx.throw(`JSON parse error: ${parsed.message}`)
    }),
    builtin(
      'json_stringify(value: any) -> string',
      { doc: 'A compact JSON text with keys in order.', borrows: true },
      (ctx, value = null) => {
        const text = stringifyJson(value)
        ctx.charge(text.length >> 6, text.length)
        return text
      },
    ),
    extractFunction,
    ...pointerFunctions,
  ],
}
