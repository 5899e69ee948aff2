// Primitives of the modules that keep state in files (state-files.harn): data as JSON, and the state root as the run knows it.

import { HarnDict, builtin, display, parseJson, stringifyJson } from '@bridle/vm/families'
import type { BuiltinDef } from '@bridle/vm/families'
import { toJsonData, knownRoot, stringifyPretty } from './state-files.js'

export const statePrimitives: readonly BuiltinDef[] = [
  builtin(
    '__json_data(value: any) -> any',
    { doc: 'What of a value survives as JSON; what is no data becomes nil.' },
    (_ctx, value) => toJsonData(value ?? null),
  ),
  builtin('__pretty_json(value: any) -> string', { doc: 'A value as JSON over several lines.' }, (_ctx, value) =>
    stringifyPretty(value ?? null),
  ),
  builtin('__json_line(value: any) -> string', { doc: 'A value as JSON on one line.' }, (_ctx, value) =>
    stringifyJson(value ?? null, { interchange: true }),
  ),
  builtin('__parse_json(text: string) -> dict?', { doc: '{value} of a JSON text; nil for any other.' }, (_ctx, text) => {
    const parsed = parseJson(display(text ?? null))
    return parsed.ok ? HarnDict.of({ value: parsed.value }) : null
  }),
  builtin(
    '__known_state_root() -> dict?',
    { doc: 'The state root as it was found before: {base, root, program}.', effects: ['callback'] },
    (ctx) => {
      const { place } = ctx.state(knownRoot)
      return place === null ? null : HarnDict.of({ ...place })
    },
  ),
  builtin(
    '__know_state_root(base: string, root: string, program: string) -> nil',
    { doc: 'Remembers it for the run.', effects: ['callback'] },
    (ctx, base, root, program) => {
      ctx.state(knownRoot).place = { base: display(base!), root: display(root!), program: display(program!) }
      return null
    },
  ),
]
