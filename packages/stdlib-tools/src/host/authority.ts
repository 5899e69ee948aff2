// Who may do what. An effect is performed when the host has a provider for it *and* has granted it to the run; otherwise the
// script gets an error that names the missing power and can catch it. What comes from the host's own definitions (its tools,
// functions, capability operations) needs no grant: defining it was one. Time and randomness belong to the run.

import type { Effect, EffectKind, EffectOutcome } from '@bridle/vm'
import { categorizedError } from '../tools/executors/provider.js'
import type { PerformEffect, Provider } from '../tools/executors/provider.js'
import { GrantError } from '../tools/policy/grant-error.js'
import { EFFECTS, listUses } from '../library/effects/index.js'

/** `*`, an area such as `fs`, or one kind such as `fs.read`. */
export type Grant = '*' | EffectKind | Area

type Area = EffectKind extends infer Kind ? (Kind extends `${infer Name}.${string}` ? Name : never) : never

/** The set of powers of a run. Narrowing is the only way from one to another. */
export class Grants {
  private readonly names: ReadonlySet<string>
  private readonly outer: Grants | null

  constructor(names: readonly Grant[], outer: Grants | null = null) {
    for (const name of names) if (!isGrant(name)) throw new GrantError(`unknown grant ${JSON.stringify(name)}`)
    this.names = new Set(names)
    this.outer = outer
  }

  /** What both allow. */
  narrowedTo(names: readonly Grant[]): Grants {
    return new Grants(names, this)
  }

  allows(kind: EffectKind): boolean {
    if (!EFFECTS[kind].needsGrant) return true
    const area = readArea(kind)
    return (this.names.has('*') || this.names.has(area) || this.names.has(kind)) && (this.outer?.allows(kind) ?? true)
  }
}

export function isGrant(name: string): boolean {
  return name === '*' || Object.hasOwn(EFFECTS, name) || Object.keys(EFFECTS).some((kind) => kind.startsWith(`${name}.`))
}

const NONE: readonly EffectKind[] = []

/** The powers that an effect needs: its own, and those of all that it makes use of. */
function listNeeded(effect: Effect): readonly EffectKind[] {
  const uses = listUses(effect)
  if (uses.length === 0 && !EFFECTS[effect.kind].needsGrant) return NONE
  // Ending or asking about a connection that was judged when it was opened takes no power.
  const isAfterwards = effect.kind === 'mcp.connect' && uses.length === 0
  const own = EFFECTS[effect.kind].needsGrant && !isAfterwards ? [effect.kind] : []
  return [...new Set([...own, ...uses.flatMap(({ power }) => power ?? [])])]
}

/** Joins providers and grants into the function that the driver asks. */
export function authorized(providers: ReadonlyMap<EffectKind, Provider>, powers: Powers): PerformEffect {
  return (effect, call) => refusal(providers, powers, effect) ?? providers.get(effect.kind)!.perform(effect, call)
}

interface Powers {
  readonly grants: Grants
  /** Whether the host wants a person asked about calls (`approve`): that question needs no grant, since the host asks it. */
  readonly asksAboutCalls: boolean
}

export function refusal(
  providers: ReadonlyMap<EffectKind, Provider>,
  { grants, asksAboutCalls }: Powers,
  effect: Effect,
): EffectOutcome | null {
  if (!providers.has(effect.kind)) {
    return categorizedError('tool_rejected', `${effect.kind} is not available: this host provides no "${readArea(effect.kind)}"`)
  }
  if (asksAboutCalls && effect.kind === 'approval.ask' && effect.args.kind === 'permission') return null
  for (const kind of listNeeded(effect)) {
    if (!grants.allows(kind)) {
      return categorizedError(
        'tool_rejected',
        `${effect.kind} is not granted to this run: the host must grant "${kind}" or "${readArea(kind)}"`,
      )
    }
  }
  return null
}

function readArea(kind: string): string {
  return kind.slice(0, kind.indexOf('.'))
}

/** Makes the table of providers; a later one wins, so that a host can replace a single kind. */
export function makeProviderTable(providers: readonly Provider[]): Map<EffectKind, Provider> {
  const table = new Map<EffectKind, Provider>()
  for (const provider of providers) for (const kind of provider.kinds) table.set(kind, provider)
  return table
}

/** The powers of all lists. */
export function makeGrants({ grants }: { readonly grants: readonly (readonly Grant[])[] }): Grants {
  return grants.slice(1).reduce((all, names) => all.narrowedTo(names), new Grants(grants[0] ?? []))
}
