// Values and arguments that other languages write in another way: tuples, arguments with names, operators of bits. Where a repair would
// have to guess, the rule says only whose habit it is.

import type { Code, Edit, Rule } from './code.js'

/** The habit alone: its line of the table is the hint of the error. */
const HINT: readonly Edit[] = []

/** Operators within a branch of `c ? a : b`. */
const BETWEEN = ['+', '-', '*', '/', '%', '**', '==', '!=', '<', '>', '<=', '>=', '&&', '||', '??'] as const

export const OPERANDS: readonly Rule[] = [
  {
    habit: 'tuple',
    find: (code, at) => {
      if (!code.is(at, '(') || isCall(code, at) || code.is(at - 1, 'for', 'fn', 'catch')) return null
      const close = code.closer(at)
      if (close >= code.tokens.length || code.is(close + 1, '=>', '->', '{')) return null
      const first = code.expressionEnd(at + 1)
      if (!code.is(first, ',') || first >= close) return null
      // `(a,)` has one.
      const end = code.is(close - 1, ',') ? close - 1 : close
      return [...code.replace(at, at + 1, '['), ...code.replace(end, close + 1, ']')]
    },
  },
  {
    habit: 'listTernary',
    find: (code, at) => {
      if (!code.is(at, '?') || !code.is(at + 1, '[') || code.at(at).end === code.at(at + 1).start) return null
      let end = code.primaryEnd(at + 1)
      while (code.is(end, ...BETWEEN)) end = code.primaryEnd(end + 1)
      return code.is(end, ':') ? code.replace(at + 1, end, `(${code.slice(at + 1, end)})`) : null
    },
  },
  { habit: 'keywordArgument', find: (code, at) => (isNamedArgument(code, at) ? writeByPosition(code, at) : null) },
  {
    habit: 'bitOperator',
    find: (code, at) => {
      const isPair = (sign: string): boolean =>
        code.is(at, sign) && code.is(at + 1, sign) && code.at(at).end === code.at(at + 1).start
      if (code.is(at, '~') && !code.isOperandEnd(at - 1)) return HINT
      if (!code.isOperandEnd(at - 1)) return null
      if (isPair('<')) {
        const from = startOfOperand(code, at)
        const end = code.primaryEnd(at + 2)
        if (from === null || !code.isOperandEnd(end - 1)) return HINT
        const one = code.slice(from, at)
        return code.replace(from, end, `${one === '1' ? '' : `${one} * `}2 ** ${code.slice(at + 2, end)}`)
      }
      return code.is(at, '&', '^', '|') || isPair('>') ? HINT : null
    },
  },
]

/** Whether a parenthesis holds arguments or parameters. */
function isCall(code: Code, open: number): boolean {
  const before = code.at(open - 1)
  return code.isOperandEnd(open - 1) && before.end === code.at(open).start
}

function isNamedArgument(code: Code, at: number): boolean {
  if (!code.isName(at) || !code.is(at + 1, '=', ':') || !code.is(at - 1, '(', ',')) return false
  const open = code.around(at)
  return code.is(open, '(') && isCall(code, open) && code.isName(open - 1) && !code.is(open - 2, 'fn', 'tool', 'pipeline', '@')
}

interface Argument {
  readonly name: string | null
  readonly text: string
}

/** The arguments in the order of the parameters, of a function that this source declares. */
function writeByPosition(code: Code, at: number): readonly Edit[] {
  const open = code.around(at)
  const close = code.closer(open)
  const params = listParams(code, code.at(open - 1).text)
  if (params === null || close >= code.tokens.length || code.is(open - 2, '.', '?.')) return HINT
  const given = listArguments(code, open, close)
  const byName = new Map(given.flatMap(({ name, text }) => (name === null ? [] : [[name, text] as const])))
  const firstNamed = given.findIndex(({ name }) => name !== null)
  if (given.slice(firstNamed).some(({ name }) => name === null)) return HINT
  const written = given.slice(0, firstNamed).map(({ text }) => text)
  for (const param of params.slice(firstNamed)) {
    const text = byName.get(param)
    if (text === undefined) break
    written.push(text)
  }
  // One that is not known, or stands behind one that has its default.
  if (written.length !== given.length) return HINT
  return code.replace(open + 1, close, written.join(', '))
}

function listArguments(code: Code, open: number, close: number): readonly Argument[] {
  const found: Argument[] = []
  for (let at = open + 1; at < close;) {
    while (at < close && code.at(at).kind === 'break') at += 1
    const end = Math.min(code.expressionEnd(at), close)
    if (end <= at) break
    const isNamed = code.isName(at) && code.is(at + 1, '=', ':')
    found.push({ name: isNamed ? code.at(at).text : null, text: code.slice(isNamed ? at + 2 : at, end) })
    at = end + 1
  }
  return found
}

/** Names of the parameters; null for a function that is declared elsewhere. */
function listParams(code: Code, name: string): readonly string[] | null {
  const at = code.tokens.findIndex((_, index) => code.is(index, 'fn') && code.is(index + 1, name) && code.is(index + 2, '('))
  if (at < 0) return null
  const close = code.closer(at + 2)
  const names: string[] = []
  for (let param = at + 3; param < close;) {
    while (param < close && code.at(param).kind === 'break') param += 1
    if (!code.isName(param)) break
    names.push(code.at(param).text)
    param = Math.max(code.expressionEnd(param), param) + 1
  }
  return names
}

/** Where a name, literal or bracket begins that ends before `at`. */
function startOfOperand(code: Code, at: number): number | null {
  const last = at - 1
  if (!code.is(last, ')', ']')) return code.is(last - 1, '.', '?.', ')') ? null : last
  const open = code.opener(last)
  return open < 0 || isCall(code, open) ? null : open
}
