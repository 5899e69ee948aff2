// Dict literals as options of builtins: an unknown key is a mistake that a run silently ignores.

import type { Expr, ExprOf, SuggestionBudget } from '@bridle/parser'
import { OPTIONS_OF_LINT } from '../signatures.js'
import { OPTION_KEYS } from './builtins.generated.js'
import type { CheckContext } from './context.js'
import { positional } from './infer-calls.js'
import { replaceWord } from './strict/world.js'
import { type Candidate, countEdits, suggestName } from './strict/suggest.js'
import { closest } from './suggest.js'

/**
 * Marker among the keys: other keys are allowed too, so only likely typos are reported. Its type is that of the
 * others: `dict` if they are names of providers.
 */
const OTHERS = '*'

export function checkOptions(call: ExprOf<'Call'>, context: CheckContext): void {
  const shapes = context.reportsOptions ? OPTION_KEYS.get(call.callee.text) : undefined
  if (shapes === undefined) return
  const args = positional(call.args)
  for (const [place, [param, keys]] of shapes.entries()) {
    const arg = args[param]
    // A dict counts as options only as the last argument.
    if (args.length > param + 1 && place + 1 < shapes.length) continue
    if (arg?.kind === 'Dict') checkKeys(arg, readKeys(keys), call.callee.text, context)
  }
}

function checkKeys(dict: Extract<Expr, { kind: 'Dict' }>, known: KnownKeys, name: string, context: CheckContext): void {
  const { keys, others } = known
  for (const entry of dict.entries) {
    if (entry.kind !== 'named' || OPTIONS_OF_LINT.includes(entry.key.text) || keys.includes(entry.key.text)) continue
    if (others === 'dict' && entry.value.kind === 'Dict') continue
    const { suggestions } = context
    const isOpen = others !== null
    const meant = findHabit(entry.key.text, keys, dict)
    const suggestion = isOpen
      ? (meant ?? suggestNear(entry.key.text, keys, suggestions))
      : (meant ?? suggestNear(entry.key.text, keys, suggestions) ?? closest(entry.key.text, keys, suggestions))
    if (suggestion === null && isOpen) continue
    const { span, text } = entry.key
    const fix = entry.quoted ? undefined : replaceWord(span, suggestion)
    // A run accepts a key that another component may read.
    const severity = isOpen && others !== 'dict' ? 'warning' : 'error'
    context.report('T084', span, { key: text, name, suggestion }, fix, severity)
  }
}

/** The equivalent of another library's key, if the dict does not have it already. */
function findHabit(text: string, keys: readonly string[], dict: Extract<Expr, { kind: 'Dict' }>): string | null {
  const words = Object.hasOwn(OPTION_HABITS, text) ? OPTION_HABITS[text]! : []
  const isThere = (word: string): boolean => dict.entries.some((entry) => entry.kind === 'named' && entry.key.text === word)
  return words.find((word) => keys.includes(word) && !isThere(word)) ?? null
}

/** If other keys are allowed, only a very near one counts as misspelt. */
function suggestNear(text: string, keys: readonly string[], budget: SuggestionBudget): string | null {
  // With many keys, one is near by chance: three edits make another word.
  const suggest = (distance: Candidate['distance']): string | null =>
    suggestName(
      text,
      keys.map((name) => ({ name, distance })),
      budget,
    )
  const near = suggest(1) ?? suggest(0)
  return near === null || (countEdits(text, near, 3) > 2 && suggest(1) === null) ? null : near
}

/** Names of options in other libraries: the first equivalent that the builtin has is meant. */
const OPTION_HABITS: Readonly<Record<string, readonly string[]>> = {
  max_turns: ['max_iterations'],
  max_steps: ['max_iterations'],
  maxTurns: ['max_iterations'],
  max_completion_tokens: ['max_tokens'],
  stop_sequences: ['stop'],
  params: ['query', 'parameters'],
  data: ['body'],
  args: ['parameters'],
  arguments: ['parameters'],
  inputSchema: ['parameters'],
  input_schema: ['parameters'],
  execute: ['handler'],
  run: ['handler'],
  func: ['handler'],
  function: ['handler'],
  callback: ['handler'],
  implementation: ['handler'],
}

interface KnownKeys {
  readonly keys: readonly string[]
  /** The type of other keys; null if they are not allowed. */
  readonly others: string | null
}

/** A key may have its type appended, which strict/options.ts reads. */
function readKeys(text: string): KnownKeys {
  const keys: string[] = []
  let others: string | null = null
  for (const row of text.split(' ')) {
    const colon = row.indexOf(':')
    const key = colon < 0 ? row : row.slice(0, colon)
    if (key === OTHERS) others = colon < 0 ? 'any' : row.slice(colon + 1)
    else keys.push(key)
  }
  return { keys, others }
}
