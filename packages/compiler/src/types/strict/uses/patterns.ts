// Patterns of `let` and loops that do not match the form of the value: `for (i, x) in xs.enumerate()` of a list, whose items are dicts,
// `let [a, b] = dict`. A pair pattern then binds nil to both names, the others fail.

import type { Binding, Expr, Stmt } from '@bridle/parser'
import type { Fix } from '../../context.js'
import { ANY, type Known, STRING, type Type } from '../../type.js'
import { describe } from '../describe.js'
import { isDisjoint, isWithin } from '../kinds.js'
import { makeExactShape } from '../signatures.js'
import { replaceWord } from '../world.js'
import type { Uses } from './context.js'
import { findFieldHabit } from './members.js'

type Pattern = Exclude<Binding, { kind: 'NameBinding' }>

const FORMS = {
  PairBinding: new Set(['pair']),
  ListBinding: new Set(['list']),
  DictBinding: new Set(['dict', 'struct']),
} as const

const RECORDS: ReadonlySet<string> = new Set(['dict', 'struct'])

/** The items of a loop over a dict. */
const ENTRY = makeExactShape({ key: STRING, value: ANY })

export function checkLoopPattern(uses: Uses, stmt: Extract<Stmt, { kind: 'For' }>): void {
  const { binding, iterable } = stmt
  if (binding.kind === 'NameBinding') return
  const type = uses.types.infer(iterable)
  const isDict = isWithin(uses.kinds(type), RECORDS)
  const item = isDict ? ENTRY : uses.types.itemType(type)
  if (reportForm(uses, binding, item, isDict ? null : iterable)) return
  if (binding.kind === 'DictBinding') checkFields(uses, binding, item)
}

/** Names that destructure a part which the value does not have, by name or position. */
export function checkLetPattern(uses: Uses, { binding, value }: Extract<Stmt, { kind: 'Let' }>): void {
  if (binding.kind === 'NameBinding') return
  const type = uses.types.infer(value)
  if (reportForm(uses, binding, type, null)) return
  if (binding.kind === 'ListBinding') {
    if (value.kind !== 'List' || value.items.some(({ spread }) => spread)) return
    const beyond = binding.items
      .slice(value.items.length)
      .find(({ name, defaultValue }) => defaultValue === null && name.text !== '_')
    if (beyond !== undefined) uses.world.report('T096', beyond.name.span, { length: value.items.length })
  } else if (binding.kind === 'DictBinding') checkFields(uses, binding, type)
}

/** `iterable`: the subject of a loop, if another method of it would give the form. */
function reportForm(uses: Uses, binding: Pattern, type: Known, iterable: Expr | null): boolean {
  const kinds = uses.kinds(type)
  if (type === null || kinds === null || kinds.size === 0 || !isDisjoint(kinds, FORMS[binding.kind])) return false
  const instead = writePattern(uses, binding, type)
  const fix: Fix | undefined =
    instead === null ? undefined : { title: `write \`${instead}\``, edits: [{ span: binding.span, text: instead }] }
  uses.world.report('T104', binding.span, { type: describe(type), instead, isLoop: iterable !== null || type === ENTRY }, fix)
  return true
}

/** The same names in a pattern of the value's form; null when it is unclear which part each means. */
function writePattern(uses: Uses, binding: Pattern, type: Type): string | null {
  const names = listNames(binding)
  if (names === null) return null
  const kinds = uses.kinds(type)
  if (isWithin(kinds, FORMS.ListBinding)) return binding.kind === 'PairBinding' ? `[${names.join(', ')}]` : null
  if (isWithin(kinds, FORMS.PairBinding)) return names.length === 2 ? `(${names.join(', ')})` : null
  if (type.kind !== 'shape' || type.fields.length !== names.length) return null
  const parts = type.fields.map(({ name }, at) => (name === names[at] ? name : `${name}: ${names[at]!}`))
  return `{${parts.join(', ')}}`
}

/** The names of a pattern by position; null if it contains a key, a default or a rest. */
function listNames(binding: Pattern): readonly string[] | null {
  switch (binding.kind) {
    case 'PairBinding':
      return [binding.first.text, binding.second.text]
    case 'ListBinding':
      return binding.rest !== null || binding.items.some(({ defaultValue }) => defaultValue !== null)
        ? null
        : binding.items.map(({ name }) => name.text)
    case 'DictBinding':
      return binding.rest !== null || binding.fields.some(({ alias, defaultValue }) => alias !== null || defaultValue !== null)
        ? null
        : binding.fields.map(({ key }) => key.text)
  }
}

const MOST_LISTED = 12

function checkFields(uses: Uses, binding: Extract<Pattern, { kind: 'DictBinding' }>, type: Known): void {
  if (type?.kind !== 'shape' || !uses.types.isClosed(type)) return
  const names = type.fields.map(({ name }) => name)
  for (const { key, alias, defaultValue } of binding.fields) {
    if (defaultValue !== null || names.includes(key.text)) continue
    const suggestion = findFieldHabit(key.text, type.fields) ?? uses.suggest(key.text, names)
    const text = alias === null && suggestion !== null ? `${suggestion}: ${key.text}` : suggestion
    const fix = replaceWord(key.span, text)
    const more = names.length > 0 && names.length <= MOST_LISTED ? { known: names } : {}
    uses.world.report('T081', key.span, { type: 'the dict', property: key.text, suggestion, ...more }, fix)
  }
}
