// Blocks after calls, as in Ruby, Kotlin and Swift: `3.times { |i| … }`, `xs.each do |x| … end`, `xs.map { it * 2 }`. Loops become loops,
// other blocks arguments. Also methods whose name ends with a question mark.

import type { Code, Edit, Rule } from './code.js'

const HINT: readonly Edit[] = []

export const BLOCKS: readonly Rule[] = [
  {
    habit: 'timesLoop',
    find: (code, at) => {
      if (!code.is(at, 'times') || !code.is(at - 1, '.')) return null
      const block = readBlock(code, at + 1)
      const from = primaryStart(code, at - 1)
      if (block === null || block.params.length > 1 || from === null || !code.startsStatement(from)) return HINT
      const name = block.params[0] ?? '_i'
      return [...code.replace(from, block.from, `for ${name} in 0 to ${code.slice(from, at - 1)} exclusive {`), ...block.end]
    },
  },
  {
    habit: 'forEachMember',
    find: (code, at) => {
      if (!code.is(at, 'each', 'forEach', 'each_with_index') || !code.is(at - 1, '.')) return null
      const block = readBlock(code, at + 1)
      const from = primaryStart(code, at - 1)
      if (block === null || from === null || !code.startsStatement(from)) return null
      const receiver = code.slice(from, at - 1)
      const [one, other, more] = block.params
      if (one === undefined || more !== undefined) return HINT
      if (other === undefined) return [...code.replace(from, block.from, `for ${one} in ${receiver} {`), ...block.end]
      // A dict has keys and values, a list has indexes, and only its type tells which it is.
      if (!code.is(at, 'each_with_index')) return HINT
      return [
        ...code.replace(from, block.from, `for {index: ${other}, value: ${one}} in ${receiver}.enumerate() {`),
        ...block.end,
      ]
    },
  },
  {
    habit: 'trailingBlock',
    find: (code, at) => {
      if (!code.isName(at) || !code.is(at - 1, '.', '?.')) return null
      const isCalled = code.is(at + 1, '(') && code.is(at + 2, ')')
      const block = readBlock(code, isCalled ? at + 3 : at + 1)
      if (block === null || block.isOneOf(HEADS)) return null
      const text = code.text.slice(code.at(block.from - 1).end, block.bodyEnd)
      const isNamed = block.params.length > 0
      const params = isNamed ? `${block.params.join(', ')} -> ` : block.usesIt ? 'it -> ' : block.hasArrow ? '' : '-> '
      const space = /^\s*\n/.test(text) ? text.replace(/^[ \t]*/, '') : text.trim()
      const body = text.includes('\n') ? `${params.trimEnd()}${space.startsWith('\n') ? '' : ' '}${space}` : `${params}${space} `
      return [{ span: { start: code.at(at).end, end: block.stop }, text: `({ ${body}})` }]
    },
  },
  {
    habit: 'questionMethod',
    find: (code, at) => {
      if (!code.is(at, '?') || !code.isName(at - 1) || !code.is(at - 2, '.', '?.') || code.at(at).start !== code.at(at - 1).end)
        return null
      const name = code.at(at - 1).text
      const from = primaryStart(code, at - 2)
      if (from === null) return null
      const receiver = code.slice(from, at - 2)
      const isNegated = code.is(from - 1, '!')
      const [start, equals] = isNegated ? [from - 1, '!='] : [from, '==']
      const empty: Readonly<Record<string, string | undefined>> = { nil: 'nil', zero: '0', even: '0', odd: '1' }
      const value = Object.hasOwn(empty, name) ? empty[name] : undefined
      if (value !== undefined && !code.is(at + 1, '(')) {
        const left = name === 'even' || name === 'odd' ? `${receiver} % 2` : receiver
        return code.replace(start, at + 1, `${left} ${equals} ${value}`)
      }
      const own = Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name]! : null
      return own === null ? HINT : code.replace(at - 1, at + 1, code.is(at + 1, '(') ? own : `${own}()`)
    },
  },
]

const QUESTIONS: Readonly<Record<string, string>> = {
  empty: 'empty', include: 'contains', includes: 'contains', member: 'contains', has_key: 'has', key: 'has', any: 'any', all: 'all',
  start_with: 'starts_with', end_with: 'ends_with', starts_with: 'starts_with', ends_with: 'ends_with', contains: 'contains', has: 'has',
} // prettier-ignore

/** Keywords of this language that are followed by a block on the same line. */
const HEADS = [
  'if',
  'while',
  'for',
  'match',
  'guard',
  'until',
  'unless',
  'switch',
  'when',
  'else',
  'retry',
  'deadline',
  'parallel',
]

interface BlockOfCall {
  /** After the head: the brace or `do`, and the parameters between bars. */
  readonly from: number
  readonly params: readonly string[]
  /** Edits of its end: `end` becomes a brace. */
  readonly end: readonly Edit[]
  /** Offsets where the body and the block end. */
  readonly bodyEnd: number
  readonly stop: number
  readonly usesIt: boolean
  readonly hasArrow: boolean
  /** Whether the statement begins with one of these words. */
  readonly isOneOf: (words: readonly string[]) => boolean
}

function readBlock(code: Code, at: number): BlockOfCall | null {
  if (!code.is(at, '{', 'do')) return null
  const params: string[] = []
  let from = at + 1
  if (code.is(from, '|')) {
    for (from += 1; from < at + 20 && !code.is(from, '|'); from += 1) if (code.isName(from)) params.push(code.at(from).text)
    from += 1
  }
  const close = code.is(at, '{') ? code.closer(at) : findEnd(code, at)
  if (close === null || close >= code.tokens.length) return null
  const words = code.tokens.slice(from, close)
  return {
    from,
    params,
    end: code.is(at, '{') ? [] : code.replace(close, close + 1, '}'),
    bodyEnd: code.at(close).start,
    stop: code.at(close).end,
    usesIt: words.some(({ kind, text }) => kind === 'word' && text === 'it'),
    hasArrow: words.slice(0, 8).some(({ text }) => text === '->'),
    isOneOf: (heads) => {
      for (let index = at - 1; index >= 0 && code.at(index).kind !== 'break'; index -= 1)
        if (code.is(index, ...heads)) return true
      return false
    },
  }
}

/** The `end` of a `do`, after blocks nested in it. */
function findEnd(code: Code, at: number): number | null {
  let depth = 0
  for (let index = at; index < code.tokens.length; index += 1) {
    if (code.is(index, 'do', 'begin', 'def') || (code.is(index, 'if', 'unless', 'while', 'case') && code.startsStatement(index)))
      depth += 1
    else if (code.is(index, 'end') && --depth === 0) return index
  }
  return null
}

/** Start of the name, literal or bracket, with its members and calls, that ends before `at`; null when there is none. */
export function primaryStart(code: Code, at: number): number | null {
  let start = at - 1
  for (;;) {
    if (code.is(start, ')', ']')) {
      const open = code.opener(start)
      if (open < 0) return null
      const isCall = code.isOperandEnd(open - 1) && code.at(open - 1).end === code.at(open).start
      if (!isCall) return open
      start = open - 1
    } else if (code.is(start, '}') || !code.isOperandEnd(start)) return null
    else if (code.is(start - 1, '.', '?.')) start -= 2
    else return start
  }
}
