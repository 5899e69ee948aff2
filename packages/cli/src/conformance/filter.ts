// Which tests `--filter` selects, by the path below the suite: a substring, several joined by `|`, a glob
// when the text has `*` or `?`, or `re:` and a regular expression. Paths match with and without `.harn`.

import { compileWildcards } from '@bridle/compiler/grants'
import { RE2JS } from 're2js'

export type Filter = (name: string) => boolean

/** Throws with a readable message when a regular expression is malformed. */
export function parseFilter(text: string): Filter {
  if (text.startsWith('re:')) {
    const pattern = RE2JS.compile(text.slice(3).trim())
    return matchEither((path) => pattern.matcher(path).find())
  }
  if (/[*?]/.test(text)) {
    const globs = text.split('|').map(compileGlob)
    return matchEither((path) => globs.some((glob) => glob(path)))
  }
  const parts = text.split('|').filter((part) => part !== '')
  return matchEither((path) => parts.length === 0 || parts.some((part) => path.includes(part)))
}

function matchEither(matches: (path: string) => boolean): Filter {
  return (name) => matches(`${name}.harn`) || matches(name)
}

/** `*` matches any text, including slashes, `?` one character; the whole path must match. */
function compileGlob(glob: string): (path: string) => boolean {
  return compileWildcards(glob, { separator: null, one: true })
}
