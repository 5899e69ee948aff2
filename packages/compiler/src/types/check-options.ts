// Dict literals that are options of builtins: a key that nothing reads is a mistake that a run passes over without a word.

import type { Expr, ExprOf, SuggestionBudget } from '@bridle/parser'
import { OPTION_KEYS } from './builtins.generated.js'
import type { CheckContext } from './context.js'
import { positional } from './infer-calls.js'
import { replaceWord } from './strict/world.js'
import { type Candidate, suggestName } from './strict/suggest.js'
import { closest } from './suggest.js'

/** Lint reads these in the options of any call (`long-running-without-cleanup`). */
const FOR_LINT: ReadonlySet<string> = new Set(['background', 'long_running'])

/** Stands among the keys where others have a meaning, too: only what looks like a slip of one is reported then. */
const OTHERS = '*'

export function checkOptions(call: ExprOf<'Call'>, context: CheckContext): void {
  const shapes = context.reportsOptions ? OPTION_KEYS.get(call.callee.text) : undefined
  if (shapes === undefined) return
  const args = positional(call.args)
  for (const [param, keys] of shapes) {
    const arg = args[param]
    if (arg?.kind === 'Dict') checkKeys(arg, keys.split(' ').map(readKey), call.callee.text, context)
  }
}

function checkKeys(dict: Extract<Expr, { kind: 'Dict' }>, keys: readonly string[], name: string, context: CheckContext): void {
  for (const entry of dict.entries) {
    if (entry.kind !== 'named' || FOR_LINT.has(entry.key.text) || keys.includes(entry.key.text)) continue
    const { suggestions } = context
    const isOpen = keys.includes(OTHERS)
    const suggestion = isOpen ? suggestNear(entry.key.text, keys, suggestions) : closest(entry.key.text, keys, suggestions)
    if (suggestion === null && isOpen) continue
    const { span, text } = entry.key
    context.report('T084', span, { key: text, name, suggestion }, entry.quoted ? undefined : replaceWord(span, suggestion))
  }
}

/** Where other keys have a meaning too, one must be very near to be a misspelt one. */
function suggestNear(text: string, keys: readonly string[], budget: SuggestionBudget): string | null {
  const candidates = keys.filter((key) => key !== OTHERS).map((name): Candidate => ({ name, distance: 0 }))
  return suggestName(text, candidates, budget)
}

/** Behind the key may stand its type, which strict/options.ts looks at. */
function readKey(text: string): string {
  const colon = text.indexOf(':')
  return colon < 0 ? text : text.slice(0, colon)
}
