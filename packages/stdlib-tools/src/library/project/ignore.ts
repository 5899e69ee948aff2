// Patterns of a `.gitignore`: one a line, the last that fits decides, `!` takes back, a slash before the end anchors at the
// root, a slash at the end is for directories, which is all that scans ask about.

import { compileWildcards } from '@bridle/compiler/grants'

/** A longer file, and a longer line, is none that a person wrote; what is beyond ignores nothing. */
const MOST_CHARACTERS = 64 << 10
const LONGEST_RULE = 1_000
/** Of one rule and one path. */
const MOST_STEPS = 100_000

export function ignoreRules(text: string): (directory: string) => boolean {
  const rules: { readonly fits: (directory: string) => boolean; readonly ignored: boolean }[] = []
  for (const raw of text.slice(0, MOST_CHARACTERS).split('\n')) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#') || line.length > LONGEST_RULE) continue
    const ignored = !line.startsWith('!')
    const taken = ignored ? line : line.slice(1)
    const body = taken.endsWith('/') ? taken.slice(0, -1) : taken
    if (body !== '') rules.push({ fits: compile(body), ignored })
  }
  return (directory) => rules.reduce((ignored, rule) => (rule.fits(directory) ? rule.ignored : ignored), false)
}

/** `*` and `?` stay within one segment, `**` crosses them. */
function compile(body: string): (directory: string) => boolean {
  const pattern = body.startsWith('/') ? body.slice(1) : body
  return compileWildcards(pattern, {
    separator: '/',
    one: true,
    deep: 'folders',
    sets: true,
    anywhere: !body.includes('/'),
    most: MOST_STEPS,
  })
}
