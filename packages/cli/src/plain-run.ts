// `bridle run FILE` in its common form, parsed without the option parser, which is a considerable part of the start of a script.
// Everything else, including errors, is left to the parser (program.ts), which gives the same arguments the same meaning.

import type { RunFlags } from './run-flags.js'

export interface PlainRun {
  readonly file: string
  readonly options: RunFlags & { readonly scriptArguments: readonly string[] }
}

const SWITCHES: Readonly<Record<string, 'json' | 'dryRun'>> = { '--json': 'json', '--dry-run': 'dryRun' }
const NUMBERS: Readonly<Record<string, 'fuel' | 'timeout' | 'maxHeap'>> = {
  '--fuel': 'fuel',
  '--timeout': 'timeout',
  '--max-heap': 'maxHeap',
}

/** Null if the option parser must read the arguments. */
export function parsePlainRun(words: readonly string[]): PlainRun | null {
  if (words[0] !== 'run') return null
  const end = words.indexOf('--')
  const own = end < 0 ? words.slice(1) : words.slice(1, end)
  const options: { -readonly [Key in keyof RunFlags]: RunFlags[Key] } = {}
  let file: string | null = null
  for (let at = 0; at < own.length; at++) {
    const word = own[at]!
    if (word === '') return null
    if (!word.startsWith('-')) {
      if (file !== null) return null
      file = word
    } else if (Object.hasOwn(SWITCHES, word)) options[SWITCHES[word]!] = true
    else if (Object.hasOwn(NUMBERS, word)) {
      const value = own[++at]
      if (value === undefined || !/^[1-9]\d{0,14}$/.test(value)) return null
      options[NUMBERS[word]!] = Number(value)
    } else return null
  }
  return file === null ? null : { file, options: { ...options, scriptArguments: end < 0 ? [] : words.slice(end + 1) } }
}
