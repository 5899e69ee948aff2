// Types of the values in literal options dicts, if the definition of the builtin declares them. Unknown keys are
// found by ../check-options.ts.

import type { Expr, ExprOf } from '@bridle/parser'
import { MODEL_PROVIDERS, MODEL_WORDS, OPTION_KEYS } from '../builtins.generated.js'
import { positional } from '../infer-calls.js'
import { show } from '../show.js'
import { readType } from '../signature-text.js'
import type { Types } from './infer.js'
import { isDisjoint, type Kinds, listKinds } from './kinds.js'
import { suggestName } from './suggest.js'
import type { StrictWorld } from './world.js'

export function checkOptionTypes(call: ExprOf<'Call'>, types: Types, world: StrictWorld): void {
  const shapes = OPTION_KEYS.get(call.callee.text)
  if (shapes === undefined) return
  const args = positional(call.args)
  for (const [place, [param, keys]] of shapes.entries()) {
    const arg = args[param]
    // A dict counts as options only as the last argument.
    if (args.length > param + 1 && place + 1 < shapes.length) continue
    if (arg?.kind === 'Dict') checkValues(call.callee.text, arg, keys, types, world)
  }
}

function checkValues(name: string, dict: ExprOf<'Dict'>, keys: string, types: Types, world: StrictWorld): void {
  for (const entry of dict.entries) {
    if (entry.kind !== 'named') continue
    const { text } = entry.key
    const row = keys.split(' ').find((each) => each.startsWith(`${text}:`))
    if (row === undefined) continue
    checkModelName(text, entry.value, world)
    const declared = readType(row.slice(text.length + 1))
    const given = types.infer(entry.value)
    const actual = listKinds(given, world.root)
    const wanted = listKinds(declared, world.root)
    if (given === null || actual === null || wanted === null || actual.has('nil')) continue
    if (!isDisjoint(wanted, actual) || (isNumber(wanted) && isNumber(actual))) continue
    world.report('T085', entry.value.span, { name, key: text, expected: show(declared), actual: show(given) })
  }
}

/** Only for near misses of a known name: hosts and scripts have providers and models of their own. */
function checkModelName(key: string, value: Expr, world: StrictWorld): void {
  if ((key !== 'provider' && key !== 'model') || value.kind !== 'String') return
  const { name, known } =
    key === 'provider' ? { name: value.value, known: MODEL_PROVIDERS } : { name: readModelWord(value.value), known: MODEL_WORDS }
  if (name === '' || known.includes(name)) return
  const candidates = known.map((each) => ({ name: each, distance: 0 as const }))
  const near = suggestName(name, candidates, world.budget)
  if (near === null) return
  const suggestion = value.value.replace(name, near)
  const fix =
    value.quote === 'double'
      ? { title: `write "${suggestion}"`, edits: [{ span: value.span, text: `"${suggestion}"` }] }
      : undefined
  world.report('T097', value.span, { what: key, name: value.value, suggestion }, fix)
}

/** `openai/gtp-4o`: `gtp`. */
function readModelWord(model: string): string {
  return /^[a-z]+(?=[-.\d]|$)/.exec(model.slice(model.lastIndexOf('/') + 1).toLowerCase())?.[0] ?? ''
}

function isNumber(kinds: Kinds): boolean {
  return kinds.has('int') || kinds.has('float') || kinds.has('duration')
}
