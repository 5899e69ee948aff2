// Values and arguments that other languages write differently: tuples, named arguments, bit operators. If a repair would
// have to guess, the rule only identifies the habit.

import type { Code, Edit, Rule } from './code.js'

/** Only the habit: its row of the table is the hint of the error. */
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
  {
    habit: 'numberWord',
    find: (code, at) => {
      const first = code.at(at).kind === 'number' ? at : isGlued(code, at) ? at - 1 : null
      return first === null || code.at(first).kind !== 'number' ? null : writeNumber(code, first)
    },
  },
  {
    habit: 'patternShorthand',
    find: (code, at) => (isShorthand(code, at) && isPattern(code, code.around(at)) ? writeKey(code, at) : null),
  },
  {
    habit: 'dictShorthand',
    find: (code, at) => (isShorthand(code, at) && isDict(code, code.around(at)) ? writeKey(code, at) : null),
  },
  {
    habit: 'rangeStep',
    find: (code, at) => {
      if (!code.is(at, 'step', 'by', 'step_by', 'downto') || !code.isOperandEnd(at - 1)) return null
      for (let to = at - 1; to > 0 && at - to < 20 && code.at(to).kind !== 'break'; to -= 1) if (code.is(to, 'to')) return HINT
      return null
    },
  },
  {
    habit: 'deleteWord',
    find: (code, at) => {
      if (!code.is(at, 'delete', 'del') || !code.startsStatement(at) || !code.isName(at + 1)) return null
      const name = code.at(at + 1).text
      if (code.is(at + 2, '.') && code.isName(at + 3))
        return code.replace(at, at + 4, `${name} = ${name}.remove("${code.at(at + 3).text}")`)
      const close = code.is(at + 2, '[') ? code.closer(at + 2) : code.tokens.length
      if (close >= code.tokens.length) return null
      return code.replace(at, close + 1, `${name} = ${name}.remove(${code.slice(at + 3, close)})`)
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
      // `{ |x| … }` is a block of Ruby.
      if (code.is(at, '|') && code.is(code.around(at) + 1, '|') && code.is(code.around(at), '{')) return null
      return code.is(at, '&', '^', '|') || isPair('>') ? HINT : null
    },
  },
]

/** Whether a word or number begins where a number ends. */
function isGlued(code: Code, at: number): boolean {
  const before = code.at(at - 1)
  return before.kind === 'number' && before.end === code.at(at).start && (code.isName(at) || code.at(at).kind === 'number')
}

/** A number with separators, an exponent or another base in decimal digits. */
function writeNumber(code: Code, at: number): readonly Edit[] | null {
  let end = at + 1
  if (isGlued(code, end)) end += 1
  // `1e-3`
  const isSigned =
    /^[eE]$/.test(code.at(at + 1).text) && end === at + 2 && code.is(end, '-', '+') && code.at(end + 1).kind === 'number'
  if (isSigned && code.at(end).start === code.at(at + 1).end) end += 2
  const text = code.slice(at, end).replaceAll('_', '')
  if (text === code.slice(at, end) && end === at + 1) return null
  if (!/^(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|0[xX][\da-fA-F]+|0[bB][01]+|0[oO][0-7]+)$/.test(text)) return null
  const value = Number(text)
  const isFraction = text.includes('.')
  const digits = Number.isSafeInteger(value) ? `${value}${isFraction ? '.0' : ''}` : String(value)
  return /e/.test(digits) ? HINT : code.replace(at, end, digits)
}

/** Whether a name without a value is in braces. */
function isShorthand(code: Code, at: number): boolean {
  return code.isName(at) && code.is(at - 1, '{', ',') && code.is(at + 1, '}', ',') && code.is(code.around(at), '{')
}

function isPattern(code: Code, open: number): boolean {
  const close = code.closer(open)
  return (code.is(close + 1, '->', '=>') || code.is(close + 1, 'if')) && code.startsStatement(open)
}

/** Whether a brace contains entries: another entry has a key, or one is a spread. */
function isDict(code: Code, open: number): boolean {
  const close = code.closer(open)
  if (code.is(open - 1, 'let', 'var', 'import', 'pub')) return false
  return (
    !isPattern(code, open) &&
    (code.is(open + 2, ':') || code.is(open + 1, '...') || code.is(open + 2, ',') || code.is(close - 2, ','))
  )
}

/** Every name of these braces, since one repair covers them all. */
function writeKey(code: Code, at: number): readonly Edit[] {
  const open = code.around(at)
  const edits: Edit[] = []
  for (let each = open + 1; each < code.closer(open); each += 1) {
    if (!isShorthand(code, each) || code.around(each) !== open) continue
    edits.push(...code.replace(each, each + 1, `${code.at(each).text}: ${code.at(each).text}`))
  }
  return edits
}

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

/** The arguments in the order of the parameters, for a function that this source declares. */
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
  // An unknown one, or one after a parameter that has its default.
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

/** Start of the name, literal or bracket that ends before `at`. */
function startOfOperand(code: Code, at: number): number | null {
  const last = at - 1
  if (!code.is(last, ')', ']')) return code.is(last - 1, '.', '?.', ')') ? null : last
  const open = code.opener(last)
  return open < 0 || isCall(code, open) ? null : open
}
