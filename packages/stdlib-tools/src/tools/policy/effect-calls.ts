// Effects of builtins as the calls of tools that they amount to.

import type { Effect, EffectAsCall } from '@bridle/vm/families'
import { listUses } from '../../library/effects/index.js'

/** The tool call that an effect amounts to, as traces show it; null for what is no call of the world, or is one already. */
export function toCall(effect: Pick<Effect, 'kind' | 'args'>): EffectAsCall | null {
  const first = listUses(effect)[0]
  if (first === undefined || first.tool === null || first.isCall === false) return null
  const { tool, args, shown } = first
  const { secrets } = effect.args
  const secret = Array.isArray(secrets) ? { secret: secrets.filter((name) => typeof name === 'string') } : {}
  if (shown === undefined) return { tool, args, ...secret }
  const seen = Object.fromEntries(shown.flatMap((name) => (args[name] === undefined ? [] : [[name, args[name]]])))
  return { tool, args: seen, ...secret }
}

/** A streamed answer is reported when it is complete (agents/models/streams.ts). */
export function opensStream({ kind, args }: Pick<Effect, 'kind' | 'args'>): boolean {
  return kind === 'llm.call' && typeof args.stream === 'string'
}
