// Patterns and texts that look random and are the same in every run: small alphabets, so that they meet; everything that the syntax
// has, so that machines differ where one of them is wrong.

import type { Dice } from '../../../../../../vm/src/test-support/dice.js'

/** The parts that JavaScript understands in the same way, and then those that it does not. */
const COMMON_ATOMS = ['a', 'b', 'c', 'ab', 'abc', '[ab]', '[^a]', '[a-c]', '1', '\\.', 'é', '😀', '[é😀]', '[^é]', '(?:)']
const COMMON_EDGES = ['^', '$']
const OWN_ATOMS = ['.', '\\w', '\\W', '\\d', '\\s', '\\S', '\\pL', '[\\w--b]', '[^\\n]', '(?i:A)', '(?i:k)', '(?s:.)', '\\n']
const OWN_EDGES = ['\\b', '\\B', '(?m:^)', '(?m:$)', '\\A', '\\z']
const REPEATS = ['*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,}', '{1,3}?']

export interface PatternOptions {
  /** Only what JavaScript understands in the same way: no loops over what may be empty, no captures in loops. */
  readonly common: boolean
}

export function makeRandomPattern(roll: Dice, { common }: PatternOptions): string {
  const atoms = common ? COMMON_ATOMS : [...COMMON_ATOMS, ...OWN_ATOMS]
  const edges = common ? COMMON_EDGES : [...COMMON_EDGES, ...OWN_EDGES]
  const pick = (list: readonly string[]): string => list[roll(list.length)]!
  const makeSequence = (depth: number): string => Array.from({ length: 1 + roll(3) }, () => makeItem(depth)).join('')
  const makeChoice = (depth: number): string => Array.from({ length: 1 + roll(roll(3) + 1) }, () => makeSequence(depth)).join('|')
  const makeItem = (depth: number): string => {
    const kind = roll(12)
    if (kind === 0) return pick(edges)
    if (kind < 3 && depth > 0) return `(${makeChoice(depth - 1)})`
    if (kind < 5 && depth > 0 && !common) return `(?:${makeChoice(depth - 1)})${pick(REPEATS)}`
    if (kind < 6 && depth > 0 && !common) return `(${makeChoice(depth - 1)})${pick(REPEATS)}`
    const atom = pick(atoms)
    if (kind < 9) return atom
    return `(?:${atom === '(?:)' ? 'a' : atom})${pick(REPEATS)}`
  }
  return makeChoice(2)
}

const LETTERS = ['a', 'a', 'a', 'b', 'b', 'c', 'A', '1', ' ', '.', '\n', 'é', '😀', '_', 'k', 'K', 'ſ', '\ud83d', '-']

/** `plain`: ASCII without line ends. */
export function makeRandomText(roll: Dice, { plain }: { readonly plain: boolean }): string {
  const letters = plain ? LETTERS.slice(0, 10) : LETTERS
  return Array.from({ length: roll(24) }, () => letters[roll(letters.length)]!).join('')
}
