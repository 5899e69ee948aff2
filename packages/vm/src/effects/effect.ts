// Effects: what a machine asks of the world. An effect is a plain, serialisable record; a provider outside of the machine carries it out
// and its outcome comes back as plain data. The machine hands effects on and knows none: which kinds there are, what each carries, what it
// may do and what it makes use of is declared by whoever asks for it and answers it (library/effects of @bridle/stdlib-tools).

import type { Plain } from '../values/data.js'

export type { Plain } from '../values/data.js'

/** Data by name. */
export interface PlainRecord {
  readonly [key: string]: Plain
}

/** What an effect of each kind carries. Other packages add their kinds by declaration merging. */
export interface EffectArgs {
  /** `count` random bytes: the seed of a generator (builtins/random.ts). */
  'random.bytes': { readonly count: number }
}

export type EffectKind = keyof EffectArgs

type NamesIn<Args> = Args extends unknown ? keyof Args : never

/** Names of arguments, of all kinds. */
type ArgumentName = NamesIn<EffectArgs[EffectKind]>

/** The arguments, and that none of another kind is there: so they can be asked for by name before the kind is known. */
type OnlyThese<Args> = Args extends unknown ? Args & { readonly [Name in Exclude<ArgumentName, keyof Args>]?: never } : never

/** The effects of some kinds: a union that `kind` tells apart. */
export type EffectOf<Kind extends EffectKind> = {
  readonly [Each in Kind]: {
    readonly kind: Each
    readonly args: OnlyThese<EffectArgs[Each]>
    /** A variable that a builtin looks up for its own work, and whose value the script does not see. Not kept with a pending effect. */
    readonly own?: true
  }
}[Kind]

export type Effect = EffectOf<EffectKind>

/** What may be an effect: who knows the kinds says whether it is one. */
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
  /** Of tool errors (library/tool-errors.ts), where the category says too little; for kind `categorized`. */
  readonly code?: string
  readonly value?: Plain
}

export type EffectOutcome = { readonly ok: true; readonly value: Plain } | { readonly ok: false; readonly error: EffectError }

/** An effect that left the machine and was not answered yet. Ids count from 1 within a run. */
export interface PendingEffect {
  readonly id: number
  readonly task: number
  readonly effect: Effect
}
