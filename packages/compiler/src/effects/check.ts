// Compares the contracts of the main file with the inferred effects. A row is checked in both directions; a file without rows
// and grants has no contract and no diagnostics.

import { report } from '@bridle/parser'
import type { Diagnostic, RowArgs, Span } from '@bridle/parser'
import { leavesEffect } from '../grants/ceilings.js'
import type { ImportCeiling } from '../grants/ceilings.js'
import { checkGrant } from '../grants/constraints.js'
import type { ConstraintRules } from '../grants/constraints.js'
import { findExceededImport, findRefusalInImport } from '../grants/imports.js'
import type { DeclaredCeiling } from '../grants/imports.js'
import { EFFECT_CATALOG, type EffectCode } from './catalog.js'
import { boundEffects, readDeclaredRow, type Grant } from './declared.js'
import type { Cause, Inference } from './infer.js'
import { decodeCeilingEffect, decodeEffect, foldKind, needsGrant } from './kinds.js'
import type { Site, Unit, World } from './units.js'

export interface EffectCheck {
  readonly world: World
  readonly inference: Inference
  /** Key of the main module; only its declarations are reported on. */
  readonly main: string
  /** Of the main file. */
  readonly grants: readonly Grant[]
  /** Tool ids by alias. */
  readonly aliases: ReadonlyMap<string, string>
  /** Also hints: effects that cannot occur, `@deterministic` functions that are not deterministic. */
  readonly strict: boolean
}

const NONDETERMINISTIC: ReadonlySet<string> = new Set([
  'database',
  'db',
  'email',
  'env',
  'external',
  'fs',
  'http',
  'llm',
  'mcp',
  'process',
  'random',
  'time',
])

export function checkEffects({ world, inference, main, grants, aliases, strict }: EffectCheck): readonly Diagnostic[] {
  const findings: Diagnostic[] = []
  const own = world.units.filter((unit) => unit.module === main && unit.kind !== 'module')
  reportUndefinedTools(world, inference, findings)
  const bound = new Set(boundEffects(world).map(({ effect }) => effect))
  for (const unit of own) {
    const causes = causesByEffect(inference, unit)
    const row = readDeclaredRow(unit)
    if (row !== null) checkRow(unit, row, causes, { world, inference, strict }, findings)
    if (grants.length > 0) checkGrants(unit, causes, { grants, bound, aliases, world }, findings)
    if (strict && isDeterministic(unit)) {
      for (const [effect, cause] of causes) {
        if (NONDETERMINISTIC.has(effect))
          addFinding(findings, 'E005', cause.span, { fn: unit.name, effect, operation: cause.text })
      }
    }
  }
  return findings.sort((one, other) => one.span.start - other.span.start)
}

/** Diagnostics for effects above a host's ceiling; empty when there are none. */
export function checkCeiling(effects: ReadonlyMap<string, Cause>, ceiling: readonly string[]): readonly Diagnostic[] {
  const findings: Diagnostic[] = []
  for (const [effect, cause] of effects) {
    if (!ceiling.includes(effect)) addFinding(findings, 'E008', cause.span, { effect, cause: cause.text })
  }
  return findings
}

/**
 * Effects of an imported module's functions above their ceiling, one diagnostic for each effect and function. A function has the effects of
 * its own code, of the functions that it calls, and of those that it creates or returns.
 */
export function checkImport({
  world,
  inference,
  narrowed: { ceiling, span: declared },
  span,
  units,
  rules,
}: {
  readonly world: World
  readonly inference: Inference
  readonly narrowed: DeclaredCeiling
  /** Of the import. */
  readonly span: Span
  readonly units: readonly (readonly [name: string, unit: Unit])[]
  /** Constraints of the host. They judge whole calls, so they are checked at run time. */
  readonly rules: ConstraintRules | null
}): readonly Diagnostic[] {
  const findings: Diagnostic[] = []
  for (const [fn, unit] of units) {
    const seen = new Set<string>()
    for (const site of listReached(world, unit).flatMap(({ sites }) => sites)) {
      const refusal = findRefusedLiteral(ceiling, site, rules)
      if (refusal === null || seen.has(refusal.reason)) continue
      seen.add(refusal.reason)
      findings.push(findRefusalInImport(declared ?? span, { module: ceiling.module, fn, ...refusal }))
    }
    for (const each of listHandedOut(world, unit)) {
      for (const [token, cause] of inference.inferUnit(each).tokens) {
        const named = decodeCeilingEffect(token)
        const name = named ?? foldKind(token)
        if (name === null || seen.has(name)) continue
        // Only kinds show that an effect is read-only. A name without a kind passes here and is judged at run time.
        if (leavesEffect(ceiling, name, named === null ? token : null)) continue
        if (named === null && ceiling.effects?.includes(`${name}.read`) !== true) continue
        seen.add(name)
        findings.push(findExceededImport(declared ?? span, { module: ceiling.module, fn, effect: name, cause: cause.text }))
      }
    }
  }
  return findings
}

/** A unit with all units that it returns or calls by name, transitively. */
function listReached(world: World, unit: Unit): readonly Unit[] {
  const found = new Set([unit])
  for (const each of found) {
    for (const other of listHandedOut(world, each)) found.add(other)
    for (const { target } of each.sites) if (target.kind === 'unit') found.add(target.unit)
  }
  return [...found]
}

/** A direct effect of a builtin, as the tool that does the same; null when its first argument is computed. */
function literalCall({
  target,
  args: [first],
}: Site): { readonly tool: string; readonly args: { readonly [name: string]: string } } | null {
  if (target.kind !== 'builtin' || first?.kind !== 'text') return null
  const { text } = first
  const method = /^http_(get|post|put|patch|delete|head)$/.exec(target.name)?.[1]
  if (method !== undefined) return { tool: `http.${method}`, args: { url: text } }
  if (target.name === 'env' || target.name === 'env_or') return { tool: 'env.get', args: { name: text } }
  return target.name === 'exec' ? { tool: 'process.exec', args: { program: text } } : null
}

/** Why a ceiling always refuses a call; null when it may pass. */
function findRefusedLiteral(
  ceiling: ImportCeiling,
  site: Site,
  rules: ConstraintRules | null,
): { readonly tool: string; readonly reason: string } | null {
  const call = literalCall(site)
  if (call === null) return null
  const { tool, args } = call
  for (const [key, grant] of Object.entries(ceiling.grants)) {
    if (key !== '*' && key !== tool && !tool.startsWith(`${key.replace(/\.\*$/, '')}.`)) continue
    const judged = Object.entries(grant).filter(
      ([name]) => rules?.has(name) !== true && (name === 'domain' ? 'url' in args : Object.hasOwn(args, name)),
    )
    const violation = checkGrant(Object.fromEntries(judged), args, { knows: () => false, base: null })
    if (violation !== null) return { tool, reason: violation.reason }
  }
  return null
}

/** A unit and the functions that its code creates or names. */
function listHandedOut(world: World, unit: Unit): ReadonlySet<Unit> {
  const found = new Set([unit])
  for (const each of found) {
    for (const { value, owner } of world.mentions) if (owner === each && value.kind === 'unit') found.add(value.unit)
  }
  return found
}

/** Each effect of a unit with the first position that causes it. */
export function causesByEffect(inference: Inference, unit: Unit): ReadonlyMap<string, Cause> {
  const causes = new Map<string, Cause>()
  for (const [token, cause] of inference.inferUnit(unit).tokens) {
    const effect = decodeEffect(token)
    if (effect !== null && !causes.has(effect)) causes.set(effect, cause)
  }
  return causes
}

function checkRow(
  unit: Unit,
  row: readonly string[],
  causes: ReadonlyMap<string, Cause>,
  { world, inference, strict }: Pick<EffectCheck, 'world' | 'inference' | 'strict'>,
  findings: Diagnostic[],
): void {
  for (const [effect, cause] of causes) {
    if (row.includes(effect)) continue
    const contract = describeContract(cause, world)
    if (contract === null) addFinding(findings, 'E001', cause.span, { fn: unit.name, effect, cause: cause.text })
    else addFinding(findings, 'E002', cause.span, { fn: unit.name, effect, callee: contract })
  }
  const { unknown } = inference.inferUnit(unit)
  if (unknown !== null) addFinding(findings, 'E006', unknown.span, { fn: unit.name, cause: unknown.text })
  if (!strict) return
  for (const effect of row) {
    if (!causes.has(effect) && unknown === null && inference.inferUnit(unit).called.size === 0) {
      addFinding(findings, 'E007', unit.span, { fn: unit.name, effect })
    }
  }
}

/** Name in messages of a callee with declared effects: a tool, or a function with a row; null for any other. */
function describeContract(cause: Cause, world: World): string | null {
  if (cause.callee.startsWith('tool ')) return cause.callee
  const callee = world.units.find((unit) => unit.name === cause.callee && readDeclaredRow(unit) !== null)
  return callee === undefined ? null : `'${callee.name}'`
}

function checkGrants(
  unit: Unit,
  causes: ReadonlyMap<string, Cause>,
  {
    grants,
    bound,
    aliases,
    world,
  }: Pick<EffectCheck, 'grants' | 'aliases' | 'world'> & { /** By `@bind_effect`. */ readonly bound: ReadonlySet<string> },
  findings: Diagnostic[],
): void {
  const inScope = grants.filter((grant) => grant.within === null || grant.within === unit.name)
  // Coverage is checked only if some grant has an effect clause: a grant of a host or a path says nothing about other effects.
  if (inScope.every(({ effects }) => effects === null)) return
  for (const [effect, cause] of causes) {
    if (!needsGrant(effect) || bound.has(effect)) continue
    if (inScope.some(({ tool, effects }) => covers(effect, effects ?? listToolEffects(aliases.get(tool) ?? tool, world))))
      continue
    addFinding(findings, 'E003', cause.span, { fn: unit.name, effect })
  }
}

const EVERYTHING = '*'

const covers = (effect: string, granted: readonly string[]): boolean => granted.includes(effect) || granted.includes(EVERYTHING)

/** The effects that a grant without an effect clause allows: those that its tool declares. */
function listToolEffects(id: string, world: World): readonly string[] {
  if (id === EVERYTHING) return [EVERYTHING]
  const declared = world.tools.get(id)?.effects
  if (declared !== undefined && declared !== null) return declared
  const family = id.split('.', 1)[0] ?? ''
  return needsGrant(family) ? [family] : ['external']
}

function reportUndefinedTools(world: World, inference: Inference, findings: Diagnostic[]): void {
  const known = new Set(world.tools.keys())
  for (const unit of world.units) {
    for (const { use } of inference.inferUnit(unit).tools.values()) known.add(use.alias ?? use.name)
  }
  if (world.dynamicTools.size > 0 || known.has('*')) return
  for (const { tool, span } of boundEffects(world)) {
    if (!known.has(tool)) addFinding(findings, 'E004', span, { name: tool })
  }
}

function isDeterministic(unit: Unit): boolean {
  return unit.attributes.some((attribute) => attribute.name.text === 'deterministic')
}

function addFinding<C extends EffectCode>(
  findings: Diagnostic[],
  code: C,
  span: Span,
  args: RowArgs<(typeof EFFECT_CATALOG)[C]>,
): void {
  findings.push(report(EFFECT_CATALOG, code, span, args))
}
