// What a file says about effects, in the portable form: attributes that other implementations of the language skip with a
// warning. `@effects(http, fs)` is a row, `@grant("Fetch", domain: "*.example.com")` a grant for that declaration,
// `@bind_effect(http, "Fetch")` names the effect of a tool. (`tool` is a keyword and cannot name an argument.)

import type { Attribute, AttributeValue, Span } from '@bridle/parser'
import { normalEffect } from './kinds.js'
import type { Unit, World } from './units.js'

/** The row written on a unit: lower-case names, sorted, `pure` dropped; null without one. */
export function declaredRow(unit: Unit): readonly string[] | null {
  const rows = unit.attributes.filter((attribute) => attribute.name.text === 'effects')
  if (rows.length === 0) return null
  return [...new Set(rows.flatMap((row) => row.args.flatMap(({ value }) => namesIn(value))))].sort()
}

export interface Grant {
  readonly tool: string
  /** Constraints as written, without `tool`, `effect` and `effects`. */
  readonly constraints: readonly (readonly [key: string, value: AttributeValue])[]
  /** Effects that the grant is limited to; null when it has no effect clause. */
  readonly effects: readonly string[] | null
  /** The declaration that it stands on. */
  readonly unit: Unit
  readonly span: Span
}

export function grantsOf(unit: Unit): readonly Grant[] {
  return unit.attributes.flatMap((attribute) => {
    const tool = attribute.name.text === 'grant' ? (textOf(attribute, 'tool') ?? positional(attribute, 0)) : null
    if (tool === null) return []
    const clauses = attribute.args.filter(({ name }) => name?.text === 'effect' || name?.text === 'effects')
    const constraints = attribute.args.flatMap(({ name, value }) =>
      name === null || name.text === 'tool' || clauses.some((clause) => clause.name === name)
        ? []
        : [[name.text, value] as const],
    )
    const effects = clauses.length === 0 ? null : clauses.flatMap(({ value }) => namesIn(value))
    return [{ tool, constraints, effects, unit, span: attribute.span }]
  })
}

export interface Bound {
  readonly effect: string
  readonly tool: string
  readonly span: Span
}

export function boundEffects(world: World): readonly Bound[] {
  return world.units.flatMap((unit) =>
    unit.attributes.flatMap((attribute) => {
      if (attribute.name.text !== 'bind_effect') return []
      const effect = normalEffect(textOf(attribute, 'effect') ?? positional(attribute, 0) ?? '')
      const tool = textOf(attribute, 'tool') ?? positional(attribute, 1)
      return effect === null || tool === null ? [] : [{ effect, tool, span: attribute.span }]
    }),
  )
}

function textOf(attribute: Attribute, name: string): string | null {
  const value = attribute.args.find((arg) => arg.name?.text === name)?.value
  return typeof value === 'string' ? value : null
}

function positional(attribute: Attribute, index: number): string | null {
  const value = attribute.args.filter((arg) => arg.name === null)[index]?.value
  return typeof value === 'string' ? value : null
}

/** One name, several separated by commas, or a list of names. */
function namesIn(value: AttributeValue): readonly string[] {
  if (typeof value === 'string') return value.split(',').flatMap((name) => normalEffect(name) ?? [])
  return Array.isArray(value) ? (value as readonly AttributeValue[]).flatMap(namesIn) : []
}
