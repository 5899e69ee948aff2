// Effects: requests of a machine to the outside. An effect is a plain, serialisable record; a provider outside the machine carries it out,
// and its outcome comes back as plain data. The machine passes effects on and knows no kinds: the package that requests and answers a kind
// declares its arguments, powers and uses (library/effects of @bridle/stdlib-tools).

import type { Plain } from '../values/data.js'

export type { Plain } from '../values/data.js'

/** Plain data by name. */
export interface PlainRecord {
  readonly [key: string]: Plain
}

/** The arguments of effects by kind. Other packages add their kinds by declaration merging. */
export interface EffectArgs {
  /** `count` random bytes: the seed of a generator (builtins/random.ts). */
  'random.bytes': { readonly count: number }
}

export type EffectKind = keyof EffectArgs

type NamesIn<Args> = Args extends unknown ? keyof Args : never

/** Names of arguments, of all kinds. */
type ArgumentName = NamesIn<EffectArgs[EffectKind]>

/** The arguments, with those of all other kinds undefined, so that they can be read by name before the kind is known. */
type OnlyThese<Args> = Args extends unknown ? Args & { readonly [Name in Exclude<ArgumentName, keyof Args>]?: never } : never

/** The effects of some kinds: a union discriminated by `kind`. */
export type EffectOf<Kind extends EffectKind> = {
  readonly [Each in Kind]: {
    readonly kind: Each
    readonly args: OnlyThese<EffectArgs[Each]>
    /** A variable that a builtin looks up for its own use, and whose value the script does not see. Not kept with a pending effect. */
    readonly own?: true
  }
}[Kind]

export type Effect = EffectOf<EffectKind>

/** A possible effect; a judge that knows the kinds decides whether it is valid. */
export interface EffectData {
  readonly kind: string
  readonly args: PlainRecord
}

export const EFFECT_ERROR_KINDS = ['thrown', 'runtime', 'type', 'categorized'] as const

/** How a failed effect reaches the script; `value` is what is thrown for kind `thrown`. */
export interface EffectError {
  readonly kind: (typeof EFFECT_ERROR_KINDS)[number]
  readonly message: string
  readonly category?: string
  /** Code of a tool error (library/tool-errors.ts), more specific than the category; for kind `categorized`. */
  readonly code?: string
  readonly value?: Plain
}

export type EffectOutcome = { readonly ok: true; readonly value: Plain } | { readonly ok: false; readonly error: EffectError }

/** An effect that left the machine and has no outcome yet. Ids count from 1 within a run. */
export interface PendingEffect {
  readonly id: number
  readonly task: number
  readonly effect: Effect
}
