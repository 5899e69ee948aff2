// Runs inputs of a target one after the other and minimises findings. Pure except for the clock it is given: an input is a function of
// (seed, target, index), so that every finding can be reproduced from its report.

import { Random } from './random.js'
import type { Target } from './targets.js'

export interface Finding {
  readonly target: string
  readonly seed: number
  readonly index: number
  readonly message: string
  readonly input: string
}

export interface Campaign {
  readonly target: Target
  readonly seed: number
  /** The first index and the number of inputs. */
  readonly from: number
  readonly inputs: number
  /** Milliseconds of one input above which it counts as a hang, and a clock to measure them; without a clock, time does not count. */
  readonly hang?: { readonly afterMs: number; readonly now: () => number }
  /** Called before each input. */
  readonly onInput?: (index: number) => void
}

/** Findings are grouped by message; one of each group is enough. */
export function runCampaign(campaign: Campaign): Finding[] {
  const { target, seed, hang } = campaign
  const kinds = new Map<string, Finding>()
  for (let index = campaign.from; index < campaign.from + campaign.inputs; index++) {
    campaign.onInput?.(index)
    const before = hang?.now() ?? 0
    const input = target.make(new Random(seed, target.name, index))
    const made = hang?.now() ?? 0
    let message = verdictOn(target, seed, index, input)
    const tookMs = Math.max(made - before, (hang?.now() ?? 0) - made)
    if (message === null && hang !== undefined && tookMs > hang.afterMs) message = `hang: one input took ${Math.round(tookMs)} ms`
    if (message === null || kinds.has(readKind(message))) continue
    kinds.set(readKind(message), { target: target.name, seed, index, message, input: reduce(campaign, index, input, message) })
  }
  return [...kinds.values()]
}

/** null when the input is handled correctly; otherwise what went wrong, with the position in our code. */
export function verdictOn(target: Target, seed: number, index: number, input: string): string | null {
  try {
    target.check(input, new Random(seed, `${target.name}/check`, index))
    return null
  } catch (error) {
    if (!(error instanceof Error)) return String(error)
    const place = error.stack?.split('\n').find((line) => line.includes('packages/') && /^\s+at /.test(line)) ?? ''
    return `${error.message}${place === '' ? '' : ` (${place.trim().replace(/\(.*packages\//, '(packages/')})`}`
  }
}

function readKind(message: string): string {
  return message
    .replace(/\d+/g, 'N')
    .replace(/"[^"]*"|'[^']*'/g, 'T')
    .slice(0, 90)
}

/** Attempts of one minimisation: a finding is worth some seconds, not minutes. */
const MOST_TRIES = 400

/** A smaller input with the same kind of finding: lines first, then words, are removed as long as it still fails. */
function reduce({ target, seed }: Campaign, index: number, input: string, message: string): string {
  const kind = readKind(message)
  if (message.startsWith('hang') || input.startsWith('{"')) return input
  let tries = 0
  const fails = (text: string): boolean => tries++ < MOST_TRIES && readKind(verdictOn(target, seed, index, text) ?? '') === kind
  let smallest = input
  for (const separator of ['\n', ' ', '']) {
    for (let size = Math.ceil(smallest.split(separator).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; ;) {
        const parts = smallest.split(separator)
        if (at >= parts.length) break
        const shorter = [...parts.slice(0, at), ...parts.slice(at + size)].join(separator)
        if (shorter.length < smallest.length && fails(shorter)) smallest = shorter
        else at += size
      }
    }
  }
  return smallest
}
