// Glob patterns over `/`-separated relative paths: `*` and `?` also cross `/`, `**` stands for whole
// directories, `[a-z]`, `[!x]`, `{a,b}`, backslash escapes. Patterns become engine patterns, so matching is linear.

import { RE2JS } from 're2js'

/** A matcher for whole paths, or the text of what is wrong with the pattern. */
export function compileGlob(pattern: string): ((path: string) => boolean) | string {
  const source = translate(pattern)
  if (typeof source !== 'string') return source.problem
  const engine = RE2JS.compile(`(?s)\\A(?:${source})\\z`)
  return (path) => engine.matcher(path).find()
}

function translate(pattern: string): string | { readonly problem: string } {
  let out = ''
  let at = 0
  let depth = 0
  while (at < pattern.length) {
    const rest = pattern.slice(at)
    const char = String.fromCodePoint(pattern.codePointAt(at)!)
    if (rest.startsWith('**')) {
      const [piece, length] = translateDoubleStar(pattern, at, rest)
      out += piece
      at += length
    } else if (rest.startsWith('/**/') || rest === '/**') {
      // A `/` in front belongs to the double star: `a/**/b` also matches `a/b`.
      out += rest === '/**' ? '/.*' : '(?:/|/.*/)'
      at += rest === '/**' ? 3 : 4
    } else if (char === '*' || char === '?') {
      out += char === '*' ? '.*' : '.'
      at++
    } else if (char === '[') {
      const end = pattern.indexOf(']', /^\[[!^]?\]/.test(rest) ? at + rest.indexOf(']') + 1 : at + 1)
      if (end < 0) return { problem: "unclosed character class; missing ']'" }
      const body = pattern.slice(at + 1, end)
      const negated = /^[!^]/.test(body)
      out += translateClass(negated ? body.slice(1) : body, negated)
      at = end + 1
    } else if (char === '{') {
      depth++
      out += '(?:'
      at++
    } else if (char === '}' && depth > 0) {
      depth--
      out += ')'
      at++
    } else if (char === '}') return { problem: "unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)" }
    else if (char === ',' && depth > 0) {
      out += '|'
      at++
    } else if (char === '\\' && at + 1 < pattern.length) {
      const escaped = String.fromCodePoint(pattern.codePointAt(at + 1)!)
      out += quote(escaped)
      at += 1 + escaped.length
    } else {
      out += quote(char)
      at += char.length
    }
  }
  return depth > 0 ? { problem: "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)" } : out
}

/** `**` counts as "any directories" only between separators; elsewhere it is two stars. */
function translateDoubleStar(pattern: string, at: number, rest: string): readonly [string, number] {
  const atStart = at === 0 || '{,'.includes(pattern[at - 1]!)
  if (atStart && rest.startsWith('**/')) return ['(?:/?|.*/)', 3]
  return ['.*', 2]
}

function translateClass(body: string, negated: boolean): string {
  const chars = [...body]
  let out = ''
  for (let at = 0; at < chars.length; at++) {
    const from = chars[at]!
    const to = chars[at + 2]
    if (chars[at + 1] === '-' && to !== undefined && to >= from) {
      out += `${quote(from)}-${quote(to)}`
      at += 2
    } else out += quote(from)
  }
  return `[${negated ? '^' : ''}${out}]`
}

function quote(char: string): string {
  return `\\x{${char.codePointAt(0)!.toString(16)}}`
}
