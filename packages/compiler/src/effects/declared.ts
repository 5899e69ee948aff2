// Contracts about effects in portable form: attributes that other implementations of the language ignore with a
// warning. `@effects(http, fs)` is a row, `@bind_effect(http, "Fetch")` names the effect of a tool. Grants are read by the
// grants extension (grants/lower.ts), which also has statements for both.

import type { Attribute, AttributeValue, Span } from '@bridle/parser'
import type { GrantRecord } from '../grants/constraints.js'
import type { GrantDeclarations } from '../grants/lower.js'
import { normalEffect } from './kinds.js'
import type { Unit, World } from './units.js'

/** The row written on a unit: lower-case names, sorted, `pure` dropped; null without one. */
export function readDeclaredRow(unit: Unit): readonly string[] | null {
  const rows = unit.attributes.filter((attribute) => attribute.name.text === 'effects')
  if (rows.length === 0) return null
  return [...new Set(rows.flatMap((row) => row.args.flatMap(({ value }) => namesIn(value))))].sort()
}

/** A grant in the form of the analysis. */
export interface Grant {
  /** Alias or tool id. */
  readonly tool: string
  /** Constraints as written, without the effect clause. */
  readonly constraints: GrantRecord
  /** Effects of the grant; null when it has no effect clause. */
  readonly effects: readonly string[] | null
  /** Name of the declaration to which it applies; null for the whole file. */
  readonly within: string | null
}

/** The grants of a file: those of its aliases, which apply everywhere, and those of a declaration. */
export function listGrants({ aliases, scoped }: GrantDeclarations): readonly Grant[] {
  const ofAliases = aliases.flatMap(({ name, grant }) => (Object.keys(grant).length === 0 ? [] : [makeGrant(name, grant, null)]))
  return [...ofAliases, ...scoped.map(({ tool, grant, within }) => makeGrant(tool, grant, within))]
}

function makeGrant(tool: string, record: GrantRecord, within: string | null): Grant {
  const { effect, effects, ...constraints } = record
  const clauses = [effect, effects].filter((clause) => clause !== undefined)
  return {
    tool,
    constraints,
    effects: clauses.length === 0 ? null : clauses.flatMap((clause) => namesIn(clause as AttributeValue)),
    within,
  }
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
      const effect = normalEffect(readText(attribute, 'effect') ?? positional(attribute, 0) ?? '')
      const tool = readText(attribute, 'tool') ?? positional(attribute, 1)
      return effect === null || tool === null ? [] : [{ effect, tool, span: attribute.span }]
    }),
  )
}

function readText(attribute: Attribute, name: string): string | null {
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
