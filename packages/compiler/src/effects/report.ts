// The manifest of a program: for each function of the main file and for the whole, which effects and tools it can reach and
// under which grants. People read it before running code of a model, hosts compare it with their ceiling,
// and a run is limited to it. It contains every possible effect.

import type { SourceFile } from '@bridle/parser'
import { readDeclaredRow, type Grant } from './declared.js'
import type { Facts, Inference, ToolUse } from './infer.js'
import { decodeEffect, isKind } from './kinds.js'
import type { Unit, World } from './units.js'

/** A grant: alias or tool id, constraints, effects that it is limited to (null: all), declaration (null: the whole file). */
export type GrantReport = Grant

export interface FunctionEffects {
  readonly name: string
  readonly kind: Exclude<Unit['kind'], 'module'>
  /** Counts from 1. */
  readonly line: number
  /** Sorted. */
  readonly effects: readonly string[]
  /** The row as declared; null without one. */
  readonly declared: readonly string[] | null
  readonly tools: readonly ToolUse[]
  readonly grants: readonly GrantReport[]
  /** Called parameters: their effects come from the caller. */
  readonly callsParameters: readonly string[]
  /** Whether it calls a value that is only known at run time. */
  readonly unknown: boolean
}

export interface ScriptEffects {
  /** Sorted. */
  readonly effects: readonly string[]
  /** Kinds of effect, as a host grants them; sorted. */
  readonly kinds: readonly string[]
  readonly tools: readonly ToolUse[]
  readonly grants: readonly GrantReport[]
}

export interface EffectManifest {
  readonly file: string
  /** In source order. */
  readonly functions: readonly FunctionEffects[]
  readonly script: ScriptEffects
}

export interface ManifestParts {
  readonly world: World
  readonly inference: Inference
  readonly main: SourceFile
  /** Units that run without being called: modules as they are loaded, the entry pipeline of the file. */
  readonly entries: readonly Unit[]
  /** Of the main file. */
  readonly grants: readonly Grant[]
}

export function makeManifest({ world, inference, main, entries, grants }: ManifestParts): EffectManifest {
  const own = world.units.filter((unit) => unit.module === main.name)
  const functions = own.filter((unit) => isShown(unit)).sort((one, other) => one.span.start - other.span.start)
  const all = inference.reachable(entries)
  return {
    file: main.name,
    functions: functions.map((unit) => functionEffects(unit, inference.inferUnit(unit), grants, main)),
    script: {
      effects: effectsIn(all),
      kinds: [...all.tokens.keys()].filter(isKind).sort(),
      tools: toolsIn(all, world, all.units),
      grants,
    },
  }
}

type Shown = Unit & { readonly kind: FunctionEffects['kind'] }

function isShown(unit: Unit): unit is Shown {
  if (unit.kind === 'module') return false
  return unit.kind !== 'closure' || (unit.topLevel && unit.name !== '')
}

function functionEffects(unit: Unit, facts: Facts, grants: readonly Grant[], main: SourceFile): FunctionEffects {
  const tools = toolsIn(facts, null)
  return {
    name: unit.name,
    kind: unit.kind === 'module' ? 'fn' : unit.kind,
    line: main.lineAt(unit.span.start),
    effects: effectsIn(facts),
    declared: readDeclaredRow(unit),
    tools,
    grants: grants.filter((grant) => grant.within === unit.name),
    callsParameters: [...facts.called.values()].flatMap((param) => {
      return param.unit === unit.id ? (unit.params[param.index] ?? []) : []
    }),
    unknown: facts.unknown !== null,
  }
}

export function effectsIn(facts: Facts): readonly string[] {
  const names = new Set<string>()
  for (const token of facts.tokens.keys()) {
    const effect = decodeEffect(token)
    if (effect !== null) names.add(effect)
  }
  return [...names].sort()
}

/** Named tools, sorted. With a world, also those that the program defines: any code with their registry may call them. */
function toolsIn(facts: Facts, world: World | null, reached: ReadonlySet<Unit> = new Set()): readonly ToolUse[] {
  const uses = new Map([...facts.tools].map(([key, { use }]) => [key, use]))
  for (const { name, reaches } of world?.tools.values() ?? []) uses.set(`tool:${name}`, { via: 'tool', name, reaches })
  if ([...(world?.dynamicTools ?? [])].some((unit) => reached.has(unit))) uses.set('tool:*', { via: 'tool', name: '*' })
  return [...uses].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, use]) => use)
}
