// Statements of other languages: they begin with an unknown word or sign, or have an invalid part after a condition, a binding or a
// call. If a repair would have to guess, the rule only identifies the habit.

import type { Code, Edit, Rule } from './code.js'

/** Only the habit: its row of the table is the hint of the error. */
const HINT: readonly Edit[] = []

export const STATEMENTS: readonly Rule[] = [
  {
    habit: 'goWord',
    find: (code, at) => {
      if (!code.is(at, 'go') || !code.startsStatement(at) || !code.isName(at + 1)) return null
      const end = code.expressionEnd(at + 1)
      // `go func() { … }()` calls the function that it declares.
      return code.is(at + 1, 'func', 'fn') ? HINT : code.replace(at, end, `spawn { ${code.slice(at + 1, end)} }`)
    },
  },
  {
    habit: 'deferCall',
    find: (code, at) => {
      if (!code.is(at, 'defer') || !code.isName(at + 1)) return null
      const end = code.expressionEnd(at + 1)
      return code.is(at + 1, 'func', 'fn') ? HINT : code.replace(at + 1, end, `{ ${code.slice(at + 1, end)} }`)
    },
  },
  { habit: 'ifLet', find: findConditionBinding },
  {
    habit: 'scopeWord',
    find: (code, at) => {
      if (!code.is(at, 'global', 'nonlocal') || !code.startsStatement(at) || !code.isName(at + 1)) return null
      const end = code.lineEnd(at)
      const start = code.text.lastIndexOf('\n', code.at(at).start) + 1
      return [{ span: { start, end: end < code.tokens.length ? code.at(end).end : code.text.length }, text: '' }]
    },
  },
  {
    habit: 'modifier',
    find: (code, at) => {
      if (!code.is(at, 'if', 'unless', 'while') || !code.isOperandEnd(at - 1) || code.startsStatement(at)) return null
      const end = code.expressionEnd(at + 1, 'else', '{', 'then')
      if (code.is(end, 'else', '{', 'then', ',')) return null
      const from = startOfStatement(code, at)
      const condition = code.is(at, 'unless') ? negate(code, at + 1, end) : code.slice(at + 1, end)
      const word = code.is(at, 'while') ? 'while' : 'if'
      return end === at + 1 ? null : code.replace(from, end, `${word} ${condition} { ${code.slice(from, at)} }`)
    },
  },
  { habit: 'doWhile', find: findDoWhile },
  {
    habit: 'whenWord',
    find: (code, at) => {
      if (!code.is(at, 'when') || !code.startsStatement(at)) return null
      const brace = code.expressionBrace(at + 1)
      if (brace === null || brace === at + 1) return HINT
      const edits = [...code.replace(at, at + 1, 'match')]
      const close = code.closer(brace)
      for (let index = brace + 1; index < close; index += 1) {
        if (code.is(index, '{', '(', '[')) index = code.closer(index)
        else if (code.is(index, 'else') && code.is(index + 1, '->')) edits.push(...code.replace(index, index + 1, '_'))
      }
      return edits
    },
  },
  {
    habit: 'ifThenElse',
    find: (code, at) => {
      if (!code.is(at, 'if')) return null
      const then = code.expressionEnd(at + 1, 'then', '{')
      if (!code.is(then, 'then') || code.at(then + 1).kind === 'break') return null
      const otherwise = code.expressionEnd(then + 1, 'else')
      const end = code.expressionEnd(otherwise + 1)
      if (!code.is(otherwise, 'else') || end === otherwise + 1) return null
      const [condition, one, other] = [code.slice(at + 1, then), code.slice(then + 1, otherwise), code.slice(otherwise + 1, end)]
      // A statement has branches, a value has operands.
      const text = code.startsStatement(at) ? `if ${condition} { ${one} } else { ${other} }` : `${condition} ? ${one} : ${other}`
      return code.replace(at, end, text)
    },
  },
  {
    habit: 'tryCall',
    find: (code, at) => {
      if (!code.is(at, 'try')) return null
      const behind = code.is(at + 1, '!', '?') ? at + 2 : at + 1
      if (!code.isName(behind)) return null
      if (!code.is(at + 1, '?')) return code.remove(at, behind)
      const end = code.primaryEnd(behind)
      return code.replace(at, end, `try { ${code.slice(behind, end)} } catch (e) { nil }`)
    },
  },
  {
    habit: 'catchType',
    find: (code, at) => {
      if (!code.is(at, 'catch', 'rescue', 'except') || !code.is(at + 1, '(')) return null
      const close = code.closer(at + 1)
      // `catch (Exception e)`, `catch (const E& e)`; `catch (e: E)` is valid here.
      if (close >= code.tokens.length || close < at + 4 || !code.isName(close - 1) || code.is(at + 3, ':')) return null
      return code.replace(at, close + 1, `catch (${code.at(close - 1).text})`)
    },
  },
  {
    habit: 'except',
    find: (code, at) => (code.is(at, 'rescue', 'ensure') && code.startsStatement(at) ? HINT : null),
  },
  {
    habit: 'assertWord',
    find: (code, at) => {
      if (
        !code.is(at, 'assert') ||
        !code.startsStatement(at) ||
        code.is(at + 1, '(', '=', '.') ||
        code.at(at + 1).kind === 'break'
      )
        return null
      const end = code.lineEnd(at)
      return code.replace(at, end, `assert(${code.slice(at + 1, end)})`)
    },
  },
  {
    habit: 'withAs',
    find: (code, at) => (code.is(at, 'with', 'using') && code.startsStatement(at) && code.isName(at + 1) ? HINT : null),
  },
  // ---- bindings ----------------------------------------------------------------------------------------------------------
  {
    habit: 'severalBindings',
    find: (code, at) => {
      if (!code.is(at, 'let', 'var', 'const') || !code.isName(at + 1)) return null
      const word = code.is(at, 'var') ? 'var' : 'let'
      const edits: Edit[] = []
      for (let end = code.expressionEnd(at + 1); code.is(end, ','); end = code.expressionEnd(end + 1)) {
        if (!code.isName(end + 1) || !code.is(end + 2, '=', ':')) return null
        const span = { start: code.at(end).start, end: code.at(end + 1).start }
        edits.push({ span, text: `\n${code.indentOf(code.at(at).start)}${word} ` })
      }
      return edits.length === 0 || !hasValue(code, at + 1) ? null : edits
    },
  },
  {
    habit: 'severalTargets',
    find: (code, at) => {
      if (!code.is(at, ',') || !code.isName(at - 1)) return null
      let from = at - 1
      while (code.is(from - 1, ',') && code.isName(from - 2)) from -= 2
      let last = at + 1
      while (code.isName(last) && code.is(last + 1, ',')) last += 2
      if (!code.isName(last) || !code.is(last + 1, '=', ':=', '<-')) return null
      const isBound = code.is(from - 1, 'let', 'var', 'const', 'local')
      if (!code.startsStatement(isBound ? from - 1 : from)) return null
      // A variable that is assigned again must not be bound again.
      if (!isBound && !code.is(last + 1, ':=')) return HINT
      const end = code.expressionEnd(last + 2)
      const value = code.is(end, ',') ? `[${code.slice(last + 2, code.lineEnd(end))}]` : code.slice(last + 2, end)
      const word = code.is(from - 1, 'var') ? 'var' : 'let'
      const stop = code.is(end, ',') ? code.lineEnd(end) : end
      return code.replace(isBound ? from - 1 : from, stop, `${word} [${code.slice(from, last + 1)}] = ${value}`)
    },
  },
  {
    habit: 'bareBinding',
    find: (code, at) => {
      if (!code.startsStatement(at) || !code.isName(at) || !code.is(at + 1, ':') || !code.isName(at + 2)) return null
      if (code.is(code.around(at), '{') && !isBlock(code, code.around(at))) return null
      const end = code.primaryEnd(at + 2)
      return code.is(end, '=') ? code.replace(at, at + 1, `let ${code.at(at).text}`) : null
    },
  },
  {
    habit: 'dollarName',
    find: (code, at) => {
      if (!code.is(at, '$') || !code.isName(at + 1)) return null
      const edits: Edit[] = []
      for (let index = 0; index < code.tokens.length; index += 1)
        if (code.is(index, '$') && code.isName(index + 1)) edits.push(...code.replace(index, index + 1, ''))
      return edits
    },
  },
  {
    habit: 'pairLoop',
    find: (code, at) => {
      if (!code.is(at, 'for') || !code.isName(at + 1) || !code.is(at + 2, ',') || !code.isName(at + 3)) return null
      if (!code.is(at + 4, 'in', ':=', 'of')) return null
      const from = code.is(at + 4, ':=') && code.is(at + 5, 'range') ? at + 6 : at + 5
      const brace = code.expressionBrace(from)
      if (brace === null) return HINT
      const [one, other] = [code.at(at + 1).text, code.at(at + 3).text]
      const made = writePairLoop(code, from, brace, one, other)
      return made === null ? HINT : code.replace(at, brace, `for ${made}`)
    },
  },
  {
    habit: 'dashComment',
    find: (code, at) => {
      const isComment = (index: number): boolean =>
        code.is(index, '--') && code.startsStatement(index) && code.at(index + 1).start > code.at(index).end
      if (!isComment(at)) return null
      const edits: Edit[] = []
      for (let index = 0; index < code.tokens.length; index += 1)
        if (isComment(index)) edits.push(...code.replace(index, index + 1, '//'))
      return edits
    },
  },
  {
    habit: 'generatorStar',
    find: (code, at) => (code.is(at, 'fn', 'function') && code.is(at + 1, '*') ? code.replace(at, at + 2, 'gen fn') : null),
  },
  {
    habit: 'goType',
    find: (code, at) => {
      if (!code.is(at, 'type') || !code.isName(at + 1) || !code.is(at + 2, 'struct', 'interface')) return null
      return code.replace(at, at + 3, `${code.at(at + 2).text} ${code.at(at + 1).text}`)
    },
  },
  {
    habit: 'matchWith',
    find: (code, at) => {
      if (!code.is(at, 'with', 'of', 'in') || !code.is(at + 1, '{')) return null
      const word = startOfStatement(code, at)
      const isMatch = code.is(word, 'match', 'case') || code.is(word + 3, 'match')
      return isMatch ? code.remove(at, at + 1) : null
    },
  },
]

/** `if let x = f() {`, `while let x = f() {`, `guard let x = f() else {`, as a binding and a condition. */
function findConditionBinding(code: Code, at: number): readonly Edit[] | null {
  if (!code.is(at, 'if', 'while', 'guard') || !code.is(at + 1, 'let', 'var', 'const')) return null
  const isWrapped = code.is(at + 2, 'Some') && code.is(at + 3, '(') && code.is(at + 5, ')')
  const name = isWrapped ? at + 4 : at + 2
  const equals = isWrapped ? at + 6 : at + 3
  if (!code.isName(name) || !code.is(equals, '=') || !code.startsStatement(at)) return HINT
  const isGuard = code.is(at, 'guard')
  const end = code.expressionEnd(equals + 1, isGuard ? 'else' : '{')
  if (!code.is(end, isGuard ? 'else' : '{') || end === equals + 1) return HINT
  const indent = code.indentOf(code.at(at).start)
  const own = code.at(name).text
  const binding = `let ${own} = ${code.slice(equals + 1, end)}`
  if (!code.is(at, 'while')) return code.replace(at, end, `${binding}\n${indent}${code.at(at).text} ${own} != nil`)
  const inner = `\n${indent}  `
  const behind = code.at(end + 1).kind === 'break' ? '' : inner
  return code.replace(at, end + 1, `while true {${inner}${binding}${inner}if ${own} == nil { break }${behind}`)
}

/** `do { … } while (c)` and `repeat { … } until c`. */
function findDoWhile(code: Code, at: number): readonly Edit[] | null {
  if (!code.is(at, 'do', 'repeat') || !code.is(at + 1, '{')) return null
  const close = code.closer(at + 1)
  if (!code.is(close + 1, 'while', 'until')) return null
  const end = code.expressionEnd(close + 2)
  if (end === close + 2) return null
  const isWrapped = code.is(close + 2, '(') && code.closer(close + 2) === end - 1
  const [from, to] = isWrapped ? [close + 3, end - 1] : [close + 2, end]
  const question = code.is(close + 1, 'until') ? code.slice(from, to) : negate(code, from, to)
  const indent = code.indentOf(code.at(at).start)
  const behind = code.at(close - 1).kind === 'break' ? '  ' : `\n${indent}  `
  return [...code.replace(at, at + 1, 'while true'), ...code.replace(close, end, `${behind}if ${question} { break }\n${indent}}`)]
}

/** The loop over `enumerate(xs)`, `xs.enumerate()`, `d.items()`; null if its subject is only a name. */
function writePairLoop(code: Code, from: number, brace: number, one: string, other: string): string | null {
  const list = code.is(from, 'enumerate') && code.is(from + 1, '(') ? code.slice(from + 2, code.closer(from + 1)) : null
  const field = (name: string, own: string): string => (name === own ? name : `${name}: ${own}`)
  if (list !== null && code.closer(from + 1) === brace - 1)
    return `{${field('index', one)}, ${field('value', other)}} in ${list}.enumerate()`
  if (!code.is(brace - 1, ')') || !code.is(brace - 2, '(')) return null
  const receiver = code.slice(from, brace - 4)
  if (code.is(brace - 3, 'enumerate', 'each_with_index'))
    return `{${field('index', one)}, ${field('value', other)}} in ${receiver}.enumerate()`
  if (code.is(brace - 3, 'items', 'entries', 'iteritems'))
    return `{${field('key', one)}, ${field('value', other)}} in ${receiver}`
  return code.is(brace - 3, 'iter', 'zip') ? `(${one}, ${other}) in ${code.slice(from, brace)}` : null
}

/** Whether the name at the start of a binding is followed by a value. */
function hasValue(code: Code, name: number): boolean {
  return code.is(name + 1, '=') || (code.is(name + 1, ':') && code.is(code.primaryEnd(name + 2), '='))
}

/** Whether a brace begins statements and not a dict: it follows a head, not a sign that a value follows. */
function isBlock(code: Code, open: number): boolean {
  return !code.is(open - 1, '=', '(', '[', ',', ':', 'return', '{', '+', '??', '?')
}

export function startOfStatement(code: Code, at: number): number {
  let from = at - 1
  for (let depth = 0; from > 0; from -= 1) {
    if (code.is(from, ')', ']', '}')) depth += 1
    else if (code.is(from, '(', '[', '{')) depth -= 1
    if (depth < 0) return from + 1
    if (depth === 0 && (code.at(from - 1).kind === 'break' || code.is(from - 1, ';', '{'))) return from
  }
  return Math.max(from, 0)
}

/** `!x`, or `!(a == b)`. */
export function negate(code: Code, from: number, to: number): string {
  const text = code.slice(from, to)
  const isWrapped = code.is(from, '(') && code.closer(from) === to - 1
  return isWrapped || code.primaryEnd(from) === to ? `!${text}` : `!(${text})`
}
