// Operators and types of other languages: `a ?: b`, `x is int`, `x as float`, `"a" .. "b"`, `int?`, `List[str]`, `&self`.

import { primaryStart } from './blocks.js'
import type { Code, Edit, Rule } from './code.js'

const HINT: readonly Edit[] = []

export const EXPRESSIONS: readonly Rule[] = [
  {
    habit: 'elvis',
    find: (code, at) =>
      code.is(at, '?') && code.is(at + 1, ':') && code.at(at).end === code.at(at + 1).start
        ? code.replace(at, at + 2, '??')
        : null,
  },
  {
    habit: 'nestedTernary',
    find: (code, at) => {
      if (!code.is(at, '?') || !code.isOperandEnd(at - 1)) return null
      const from = code.expressionStart(at)
      if (!code.is(from - 1, ':')) return null
      const end = code.expressionEnd(at + 1)
      return code.replace(from, end, `(${code.slice(from, end)})`)
    },
  },
  {
    habit: 'instanceOf',
    find: (code, at) => {
      if (!code.is(at, 'is', 'instanceof', 'isa') || !code.isOperandEnd(at - 1)) return null
      const isNot = code.is(at + 1, 'not')
      const type = at + (isNot ? 2 : 1)
      const from = primaryStart(code, at)
      if (!code.isName(type) || from === null || code.is(type, 'None', 'nil', 'null', 'True', 'False', 'true', 'false'))
        return null
      const own = TYPE_WORDS[code.at(type).text] ?? code.at(type).text
      return code.replace(from, type + 1, `type_of(${code.slice(from, at)}) ${isNot ? '!=' : '=='} "${own}"`)
    },
  },
  {
    habit: 'asCast',
    find: (code, at) => {
      if (!code.is(at, 'as') || !code.isOperandEnd(at - 1) || !code.isName(at + 1)) return null
      const from = primaryStart(code, at)
      const type = TYPE_WORDS[code.at(at + 1).text] ?? code.at(at + 1).text
      if (from === null || !CONVERTED.has(type)) return HINT
      return code.replace(from, at + 2, `to_${type}(${code.slice(from, at)})`)
    },
  },
  {
    habit: 'concat',
    find: (code, at) => {
      const isText = (index: number): boolean => code.at(index).kind === 'string' || code.at(index).kind === 'triple'
      if (code.is(at, '..') && code.isOperandEnd(at - 1) && (isText(at - 1) || isText(at + 1)))
        return code.replace(at, at + 1, '+')
      const isJoin = code.is(at, '++') && code.isOperandEnd(at - 1) && code.at(at - 1).end < code.at(at).start
      return isJoin && (code.isOperandEnd(at + 1) || code.is(at + 1, '[', '(')) ? code.replace(at, at + 1, '+') : null
    },
  },
  {
    habit: 'spaceship',
    find: (code, at) => (code.is(at, '<=') && code.is(at + 1, '>') && code.at(at).end === code.at(at + 1).start ? HINT : null),
  },
  {
    habit: 'sliceStep',
    find: (code, at) => {
      if (!code.is(at, '::', ':')) return null
      const open = code.around(at)
      if (!code.is(open, '[') || !code.isOperandEnd(open - 1) || code.at(open - 1).end !== code.at(open).start) return null
      if (code.is(at, '::')) return HINT
      const close = code.closer(open)
      for (let index = open + 1; index < at; index += 1)
        if (code.is(index, ':') && code.around(index) === open) return close > at ? HINT : null
      return null
    },
  },
  {
    habit: 'reference',
    find: (code, at) => {
      if (!code.is(at, '&', '*') || code.isOperandEnd(at - 1)) return null
      // `&mut self`, `&str`, `&'a str`
      const behind = code.is(at + 1, 'mut') ? at + 2 : at + 1
      return code.isName(behind) && code.is(at, '&') ? code.remove(at, behind) : null
    },
  },
  {
    habit: 'optionalType',
    find: (code, at) => {
      if (!code.is(at, '?') || !code.isName(at - 1) || code.at(at).start !== code.at(at - 1).end) return null
      // `x?: int` of a parameter, `x: int?` of any type.
      if (code.is(at + 1, ':') && code.is(code.around(at), '(')) {
        const end = typeEnd(code, at + 2)
        const behind = code.is(end, '=') ? '' : ' = nil'
        return code.replace(at, end, `: ${code.slice(at + 2, end)} | nil${behind}`)
      }
      if (
        !code.is(code.at(at + 1).kind === 'break' ? -1 : at + 1, ',', ')', '=', '{', '>', '}') &&
        code.at(at + 1).kind !== 'break'
      )
        return null
      return isTypePlace(code, at - 1) ? code.replace(at, at + 1, ' | nil') : null
    },
  },
  {
    habit: 'optionalType',
    find: (code, at) => {
      // `list<int>?`
      if (!code.is(at, '?') || !code.is(at - 1, '>') || code.at(at).start !== code.at(at - 1).end) return null
      return code.replace(at, at + 1, ' | nil')
    },
  },
  {
    habit: 'typeBrackets',
    find: (code, at) => {
      if (!code.isName(at) || !code.is(at + 1, '[') || code.at(at).end !== code.at(at + 1).start) return null
      if (!Object.hasOwn(GENERIC, code.at(at).text) || !code.is(at - 1, ':', '->', '|', '<', ',', '[')) return null
      const close = code.closer(at + 1)
      const text = writeType(code, at, close + 1)
      return text === null ? HINT : code.replace(at, close + 1, text)
    },
  },
]

/** Type names of other languages, with the types of this one. */
const TYPE_WORDS: Readonly<Record<string, string | undefined>> = {
  str: 'string', String: 'string', number: 'float', f64: 'float', double: 'float', Double: 'float', i32: 'int', i64: 'int', u64: 'int',
  usize: 'int', integer: 'int', Integer: 'int', Int: 'int', boolean: 'bool', Boolean: 'bool', Bool: 'bool', Array: 'list', List: 'list',
  Object: 'dict', object: 'dict', Map: 'dict', Any: 'any', None: 'nil', null: 'nil', undefined: 'nil',
} // prettier-ignore

const CONVERTED: ReadonlySet<string> = new Set(['int', 'float', 'string'])

const GENERIC: Readonly<Record<string, string>> = {
  List: 'list', list: 'list', Sequence: 'list', Iterable: 'list', Dict: 'dict', dict: 'dict', Mapping: 'dict', Set: 'set', set: 'set',
  Optional: 'nil', Union: '|', Tuple: '', tuple: '',
} // prettier-ignore

/** A type of Python in square brackets; null if there is no equivalent. */
function writeType(code: Code, from: number, to: number): string | null {
  const name = code.at(from).text
  if (to === from + 1) return TYPE_WORDS[name] ?? name
  if (!code.is(from + 1, '[') || code.closer(from + 1) !== to - 1) return null
  const kind = Object.hasOwn(GENERIC, name) ? GENERIC[name]! : name
  const parts: string[] = []
  for (let at = from + 2; at < to - 1;) {
    const end = Math.min(code.expressionEnd(at), to - 1)
    const part = end > at ? writeType(code, at, end) : null
    if (part === null) return null
    parts.push(part)
    at = end + 1
  }
  if (kind === '' || parts.length === 0) return null
  if (kind === 'nil') return `${parts[0]} | nil`
  return kind === '|' ? parts.join(' | ') : `${kind}<${parts.join(', ')}>`
}

function typeEnd(code: Code, from: number): number {
  let depth = 0
  let at = from
  for (; at < code.tokens.length && code.at(at).kind !== 'break'; at += 1) {
    if (depth === 0 && code.is(at, ',', ')', '=')) return at
    if (code.is(at, '<', '(', '[', '{')) depth += 1
    else if (code.is(at, '>', ')', ']', '}')) depth -= 1
  }
  return at
}

/** Whether a name is in the position of a type: after the colon of a parameter, binding or field, or an arrow. */
function isTypePlace(code: Code, at: number): boolean {
  return code.is(at - 1, ':', '->', '|', '<')
}
