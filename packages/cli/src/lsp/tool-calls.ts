// The call around a position, found in the text: while arguments are typed, a file often does not parse. Returns the host tool that the
// call reaches, and which arguments are present.

import type { ToolType, ToolTypes } from '@bridle/compiler'

export interface OpenCall {
  readonly callee: string
  /** The first argument, when it is a string. */
  readonly name: string | null
  /** Index of the argument at the position. */
  readonly argument: number
  /** Keys of the dicts around the position, outermost first; null when the position is in no dict of arguments. */
  readonly path: readonly string[] | null
  /** Keys that the innermost dict already has. */
  readonly given: readonly string[]
  /** The key whose value is at the position; null where a key is expected. */
  readonly key: string | null
}

interface Level {
  readonly open: '(' | '{' | '['
  readonly callee: string
  name: string | null
  argument: number
  /** The key whose value this bracket is. */
  readonly under: string | null
  readonly given: string[]
  key: string | null
}

/** null outside of every call. */
export function findOpenCall(text: string, offset: number): OpenCall | null {
  const levels: Level[] = []
  let word = ''
  let isFresh = false
  for (let at = 0; at < offset; at++) {
    const char = text[at]!
    const top = levels.at(-1)
    if (/[\p{L}\p{N}_.]/u.test(char)) {
      word = isFresh ? word + char : char
      isFresh = true
      continue
    }
    const isGap = char === ' ' || char === '\t' || char === '\n' || char === '\r'
    isFresh = false
    if (isGap) continue
    if (char === '"') {
      const end = skipString(text, at)
      if (end >= offset) return describe(levels)
      if (top?.open === '(' && top.argument === 0) top.name = text.slice(at + 1, end)
      word = text.slice(at + 1, end)
      at = end
      continue
    }
    if (char === '/' && text[at + 1] === '/') {
      const end = text.indexOf('\n', at)
      at = end < 0 ? offset : end
    } else if (char === '/' && text[at + 1] === '*') {
      const end = text.indexOf('*/', at)
      at = end < 0 ? offset : end + 1
    } else if (char === '(' || char === '{' || char === '[') {
      const under = top?.open === '{' ? top.key : null
      levels.push({ open: char, callee: char === '(' ? word : '', name: null, argument: 0, under, given: [], key: null })
    } else if (char === ')' || char === '}' || char === ']') levels.pop()
    else if (char === ':' && top?.open === '{') {
      top.key = word
      top.given.push(word)
    } else if (char === ',' && top !== undefined) {
      top.argument++
      top.key = null
    }
    word = ''
  }
  return describe(levels)
}

/** Position of the closing quote, or the end of the text. */
function skipString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"' || text[at] === '\n') return at
  }
  return text.length
}

function describe(levels: readonly Level[]): OpenCall | null {
  const from = levels.findLastIndex(({ open }) => open === '(')
  const call = levels[from]
  if (call === undefined || call.callee === '') return null
  const inner = levels.slice(from + 1)
  const top = inner.at(-1)
  const isDicts = inner.length > 0 && inner[0]!.open === '{' && top!.open === '{'
  return {
    callee: call.callee,
    name: call.name,
    argument: call.argument,
    path: isDicts ? inner.slice(1).flatMap(({ open, under }) => (open === '{' && under !== null ? [under] : [])) : null,
    given: top?.given ?? [],
    key: top?.key ?? null,
  }
}

/** The tool that a call reaches; `imported` has the path that a name is imported from. */
export function findTool(call: OpenCall, types: ToolTypes, imported: (name: string) => string | null): ToolType | null {
  const { callee, name } = call
  if (callee === 'host_tool_call' || imported(callee) === 'std/tools') return name === null ? null : types.find(name)
  const path = imported(callee)
  return path?.startsWith('host/') === true ? types.ofModule(path.slice(5), callee) : null
}
