// Mechanical repairs of constructs of other languages, by row of the table of habits. A rule examines the scanned tokens from one position
// on and proposes a replacement. repairs.ts tests whether it helps, so a rule may be wrong about what it saw.

import { interpolateBraces } from './braces.js'
import { type Code, type Edit, MOST_TOKENS, NO_OPERANDS, NONE, type Rule } from './code.js'
import { BLOCKS, primaryStart } from './blocks.js'
import { ENDS } from './ends.js'
import { EXPRESSIONS } from './expressions.js'
import { OPERANDS } from './operands.js'
import type { Scanned } from './scan.js'
import { negate, STATEMENTS, startOfStatement } from './statements.js'
import { SWITCH } from './switch.js'

/** Every token of a kind, since one repair covers them all. */
function replaceAll(
  code: Code,
  at: number,
  kind: Scanned['kind'],
  write: (text: string, token: number) => string | null,
): readonly Edit[] | null {
  if (code.at(at).kind !== kind) return null
  const edits: Edit[] = []
  for (const [token, { kind: other, start, end, text }] of code.tokens.entries()) {
    if (other !== kind) continue
    const instead = write(text, token)
    const prefix = code.at(token - 1)
    // A letter before a string is part of it.
    if (prefix.kind === 'word' && prefix.end === start) continue
    if (instead !== null) edits.push({ span: { start, end }, text: instead })
  }
  return edits.length === 0 ? null : edits
}

function quoteDouble(inner: string): string {
  return `"${inner.replaceAll(/\\(['"])|"|\$\{/g, (found, escaped: string | undefined) => {
    if (escaped === "'") return "'"
    return escaped === '"' ? '\\"' : `\\${found}`
  })}"`
}

function writeSingle(text: string): string | null {
  if (!text.startsWith("'''")) return quoteDouble(text.slice(1, -1))
  return text.length < 6 || text.includes('"""') ? null : `"""${text.slice(3, -3)}"""`
}

function writeTemplate(text: string): string | null {
  if (text.length < 2 || !text.endsWith('`')) return null
  const inner = text.slice(1, -1).replaceAll('\\`', '`')
  if (inner.includes('\n')) return inner.includes('"""') ? null : `"""${inner}"""`
  let made = ''
  for (let at = 0; at < inner.length; at += 1) {
    if (inner.startsWith('${', at)) {
      const end = closeBrace(inner, at + 2)
      made += inner.slice(at, end)
      at = end - 1
    } else if (inner[at] === '\\') {
      made += inner.slice(at, at + 2)
      at += 1
    } else made += inner[at] === '"' ? '\\"' : inner[at]!
  }
  return `"${made}"`
}

function closeBrace(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1
    else if (text[at] === '}' && --depth === 0) return at + 1
  }
  return text.length
}

/** The parameters before an arrow: their start, and their form in a closure. */
function readParams(code: Code, arrow: number): { readonly from: number; readonly text: string } | null {
  if (code.isName(arrow - 1) && !NO_OPERANDS.has(code.at(arrow - 1).text)) {
    return { from: arrow - 1, text: code.at(arrow - 1).text }
  }
  if (!code.is(arrow - 1, ')')) return null
  const open = code.opener(arrow - 1)
  return open < 0 ? null : { from: open, text: code.slice(open + 1, arrow - 1) }
}

function writeClosure(params: string, body: string): string {
  const head = params.trim() === '' ? '->' : `${params.trim()} ->`
  const [first, last] = [body.indexOf('\n'), body.lastIndexOf('\n')]
  if (last < 0 || body.slice(last).trim() !== '') return `{ ${head} ${body.trim()} }`
  return `{ ${head}${body.slice(0, first).trim() === '' ? '' : ' '}${body}}`
}

/** The body after an arrow or a colon, which may be a block: its content, and its end. */
function readBody(code: Code, from: number): { readonly text: string; readonly end: number } | null {
  if (code.is(from, '{')) {
    const close = code.closer(from)
    if (close >= code.tokens.length) return null
    return { text: code.text.slice(code.at(from).end, code.at(close).start), end: close + 1 }
  }
  const end = code.expressionEnd(from)
  return end === from ? null : { text: code.slice(from, end), end }
}

/** Whether a token is in the braces of a `match`. */
function isInMatch(code: Code, at: number): boolean {
  const open = code.around(at)
  if (open < 0 || !code.is(open, '{')) return false
  for (let before = open - 1; before > open - MOST_TOKENS && before >= 0 && code.at(before).kind !== 'break'; before -= 1) {
    if (code.is(before, 'match')) return true
    if (code.is(before, '{', '}')) return false
  }
  return false
}

const PLAIN_TYPES = new Set(['int', 'float', 'string', 'bool', 'list', 'dict', 'str', 'String', 'double', 'boolean'])
const TYPE_NAMES: Readonly<Record<string, string>> = { str: 'string', String: 'string', double: 'float', boolean: 'bool' }

/** In the order of trying them at one position: the most specific ones first. */
export const RULES: readonly Rule[] = [
  // ---- literals ------------------------------------------------------------------------------------------------------
  {
    habit: 'fString',
    find: (code, at) => {
      const { kind, text, start } = code.at(at)
      const prefix = code.at(at - 1)
      if ((kind !== 'string' && kind !== 'single') || prefix.kind !== 'word' || prefix.end !== start) return null
      if (!/^(?:[fFbBuU]|rf|fr)$/.test(prefix.text)) return null
      const written = kind === 'single' ? writeSingle(text) : text
      if (written === null) return null
      const isFormat = prefix.text.toLowerCase().includes('f')
      // The escape of a dollar is ours.
      const instead = isFormat ? interpolateBraces(written.replaceAll('\\${', '${')) : written
      return instead === null ? null : code.replace(at - 1, at + 1, instead)
    },
  },
  { habit: 'singleQuotes', find: (code, at) => replaceAll(code, at, 'single', writeSingle) },
  { habit: 'backquotes', find: (code, at) => replaceAll(code, at, 'backquoted', writeTemplate) },
  { habit: 'hashComment', find: (code, at) => replaceAll(code, at, 'hash', (text) => `//${text.slice(1)}`) },
  SWITCH,
  // ---- match arms, before closures -------------------------------------------------------------------------------------
  {
    habit: 'matchArrow',
    find: (code, at) => {
      if (!code.is(at, '=>') || !isInMatch(code, at)) return null
      return [...code.replace(at, at + 1, '->'), ...(code.is(at + 1, '{') ? [] : wrapArm(code, at))]
    },
  },
  {
    habit: 'matchBraces',
    find: (code, at) => (code.is(at, '->') && !code.is(at + 1, '{') && isInMatch(code, at) ? wrapArm(code, at) : null),
  },
  {
    habit: 'caseWord',
    find: (code, at) => {
      if (!code.is(at, 'case') || !isInMatch(code, at)) return null
      const open = code.around(at)
      const edits: Edit[] = []
      for (let index = open + 1; index < code.closer(open); index += 1) {
        if (code.is(index, '{', '(', '[')) index = code.closer(index)
        else if (code.is(index, 'case') && code.startsStatement(index)) edits.push(...code.remove(index, index + 1))
        else if (code.is(index, 'default') && code.is(index + 1, '->')) edits.push(...code.replace(index, index + 1, '_'))
      }
      return edits.length === 0 ? null : edits
    },
  },
  ...BLOCKS,
  ...ENDS,
  ...STATEMENTS,
  ...EXPRESSIONS,
  // ---- functions -----------------------------------------------------------------------------------------------------
  {
    habit: 'arrow',
    find: (code, at) => {
      if (!code.is(at, '=>', '->')) return null
      const params = readParams(code, at)
      const body = readBody(code, at + 1)
      if (params === null || body === null) return null
      const from = code.is(params.from - 1, 'async', 'fn', 'function', 'func', '\\') ? params.from - 1 : params.from
      // `-> int` states a type, and an arm or closure has its arrow within braces.
      if (code.is(at, '->') && !code.is(from - 1, '=', '(', ',', 'return', ':')) return null
      // `fn add(a, b) => a + b` declares a name, which another rule handles.
      if (code.isName(from - 1) && code.is(from - 2, 'fn')) return null
      return code.replace(from, body.end, writeClosure(params.text, body.text))
    },
  },
  {
    habit: 'arrow',
    find: (code, at) => {
      // `function (x) { … }` in the position of a value.
      if (!code.is(at, 'function', 'func') || !code.is(at + 1, '(')) return null
      const close = code.closer(at + 1)
      const body = code.is(close + 1, '{') ? readBody(code, close + 1) : null
      return body === null ? null : code.replace(at, body.end, writeClosure(code.slice(at + 2, close), body.text))
    },
  },
  {
    habit: 'lambda',
    find: (code, at) => {
      if (!code.is(at, 'lambda')) return null
      const colon = code.expressionColon(at + 1)
      const body = colon === null ? null : readBody(code, colon + 1)
      return colon === null || body === null
        ? null
        : code.replace(at, body.end, writeClosure(code.slice(at + 1, colon), body.text))
    },
  },
  {
    habit: 'barClosure',
    find: (code, at) => {
      if (!code.is(at, '|', '||') || code.isOperandEnd(at - 1)) return null
      let close = at
      if (code.is(at, '|')) {
        close = at + 1
        while (close < at + 20 && !code.is(close, '|')) close += 1
      }
      const from = code.is(at - 1, 'move') ? at - 1 : at
      const body = readBody(code, close + 1)
      return body === null ? null : code.replace(from, body.end, writeClosure(code.slice(at + 1, close), body.text))
    },
  },
  {
    habit: 'asyncWord',
    find: (code, at) =>
      code.is(at, 'async') && code.is(at + 1, 'fn', 'function', 'def', 'func') ? code.remove(at, at + 1) : null,
  },
  {
    habit: 'exportWord',
    find: (code, at) => {
      if (!code.startsStatement(at)) return null
      if (code.is(at, 'export') && code.is(at + 1, 'default')) return code.replace(at, at + 2, 'pub')
      if (code.is(at, 'export') && code.is(at + 1, 'const', 'let')) return code.remove(at, at + 1)
      return code.is(at, 'export', 'public') && code.isName(at + 1) ? code.replace(at, at + 1, 'pub') : null
    },
  },
  {
    habit: 'decorator',
    find: (code, at) =>
      code.is(at, 'static', 'private', 'protected') && code.is(at + 1, 'fn', 'function', 'func') ? code.remove(at, at + 1) : null,
  },
  {
    habit: 'functionWord',
    find: (code, at) => {
      // `fn add(a: int): int {` and `fn double(x) => x * 2`
      if (!code.is(at, 'fn', 'function', 'func', 'def', 'fun', 'sub', 'proc') || !code.isName(at + 1) || !code.is(at + 2, '('))
        return null
      const word = code.is(at, 'fn') ? [] : code.replace(at, at + 1, 'fn')
      const close = code.closer(at + 2)
      if (code.is(close + 1, '{')) return word.length === 0 ? null : word
      if (code.is(close + 1, ':') && code.isName(close + 2)) {
        return [...word, { span: { start: code.at(close).end, end: code.at(close + 1).end }, text: ' ->' }]
      }
      if (!code.is(close + 1, '=>', '=')) return word.length === 0 ? null : word
      const end = code.expressionEnd(close + 2)
      return code.is(close + 2, '{')
        ? [...word, ...code.remove(close + 1, close + 2)]
        : [...word, ...code.replace(close + 1, end, `{\n  return ${code.slice(close + 2, end)}\n}`)]
    },
  },
  // ---- bindings --------------------------------------------------------------------------------------------------------
  {
    habit: 'letMut',
    find: (code, at) => (code.is(at, 'let') && code.is(at + 1, 'mut') ? code.replace(at, at + 2, 'var') : null),
  },
  {
    habit: 'constant',
    find: (code, at) =>
      code.is(at, 'const', 'final', 'val', 'local', 'my') && code.isName(at + 1) ? code.replace(at, at + 1, 'let') : null,
  },
  {
    habit: 'typeFirst',
    find: (code, at) => {
      const type = code.at(at).text
      if (!code.startsStatement(at) || !PLAIN_TYPES.has(type) || !code.isName(at + 1) || !code.is(at + 2, '=')) return null
      return code.replace(at, at + 2, `let ${code.at(at + 1).text}: ${TYPE_NAMES[type] ?? type}`)
    },
  },
  {
    habit: 'walrus',
    find: (code, at) => {
      if (!code.is(at, ':=') || !code.isName(at - 1)) return null
      // A condition contains no binding.
      if (!code.startsStatement(at - 1)) return []
      return [...code.replace(at - 1, at, `let ${code.at(at - 1).text}`), ...code.replace(at, at + 1, '=')]
    },
  },
  // ---- imports ---------------------------------------------------------------------------------------------------------
  {
    habit: 'plainImport',
    find: (code, at) => {
      // `import x from 'm'`, `import { x } from 'm'`
      if (!code.is(at, 'import')) return null
      const isNamed = code.is(at + 1, '{')
      const from = isNamed ? code.closer(at + 1) + 1 : at + 2
      const path = code.at(from + 1)
      if (!code.is(from, 'from') || (path.kind !== 'single' && path.kind !== 'string')) return null
      if (isNamed && path.kind === 'string') return null
      const name = path.text.slice(1, -1)
      if (isNamed) return code.replace(from + 1, from + 2, `"${name}"`)
      // If it has the name of the module, it is the module.
      const own = code.at(at + 1).text
      const isModule = name === own || name.endsWith(`/${own}`)
      return code.replace(at, from + 2, isModule ? `import "${name}"` : `import { ${own} } from "${name}"`)
    },
  },
  {
    habit: 'fromImport',
    find: (code, at) => {
      if (!code.is(at, 'from') || !code.startsStatement(at)) return null
      let word = at + 1
      const path: string[] = []
      while (code.isName(word) && !code.is(word, 'import')) {
        path.push(code.at(word).text)
        word += code.is(word + 1, '.') ? 2 : 1
      }
      const end = code.lineEnd(word)
      if (path.length === 0 || !code.is(word, 'import') || !code.isName(word + 1)) return null
      const module = path[0] === 'std' ? path.join('/') : `std/${path.join('/')}`
      return code.replace(at, end, `import { ${code.slice(word + 1, end)} } from "${module}"`)
    },
  },
  {
    habit: 'plainImport',
    find: (code, at) => {
      if (!code.is(at, 'import', 'use', 'require') || !code.isName(at + 1) || code.at(at + 2).kind !== 'break') return null
      return code.replace(at, at + 2, `import "std/${code.at(at + 1).text}"`)
    },
  },
  {
    habit: 'classWord',
    find: (code, at) => (code.is(at, 'class') && code.isName(at + 1) ? code.replace(at, at + 1, 'struct') : null),
  },
  // ---- control flow ----------------------------------------------------------------------------------------------------
  { habit: 'elseIf', find: (code, at) => (code.is(at, 'elif', 'elsif', 'elseif') ? code.replace(at, at + 1, 'else if') : null) },
  {
    habit: 'forLet',
    find: (code, at) => {
      if (!code.is(at, 'for')) return null
      const open = code.is(at + 1, '(') ? at + 1 : -1
      const close = open < 0 ? code.expressionBrace(at + 1) : code.closer(open)
      if (close === null || !code.is(open < 0 ? close : close + 1, '{')) return null
      const word = open < 0 ? at + 1 : open + 1
      const name = code.is(word, 'let', 'var', 'int', 'const') ? word + 1 : word
      if (!code.isName(name) || !code.is(name + 1, '=', ':=')) return null
      const first = code.expressionEnd(name + 2)
      const last = code.expressionEnd(first + 3)
      if (!code.is(first, ';') || !code.is(last, ';')) return null
      if (!code.is(first + 2, '<', '<=')) return []
      const counter = code.at(name).text
      const step = code.tokens
        .slice(last + 1, close)
        .map(({ text }) => text)
        .join('')
      if (!code.is(first + 1, counter) || ![`${counter}++`, `++${counter}`, `${counter}+=1`].includes(step)) return null
      const range = `${code.slice(name + 2, first)} to ${code.slice(first + 3, last)}`
      const isOpenEnd = code.is(first + 2, '<')
      return code.replace(at, open < 0 ? close : close + 1, `for ${counter} in ${range}${isOpenEnd ? ' exclusive' : ''}`)
    },
  },
  {
    habit: 'forOf',
    find: (code, at) => {
      if (!code.is(at, 'for') || !code.is(at + 1, '(')) return null
      const close = code.closer(at + 1)
      const from = code.is(at + 2, 'const', 'let', 'var') ? at + 3 : at + 2
      const behind = code.is(from, '[') ? code.closer(from) + 1 : from + 1
      if (!code.is(behind, 'of', 'in') || behind >= close) return null
      const name = code.is(from, '[') ? `(${code.slice(from + 1, behind - 1)})` : code.at(from).text
      return code.replace(at, close + 1, `for ${name} in ${code.slice(behind + 1, close)}`)
    },
  },
  {
    habit: 'range',
    find: (code, at) => {
      if (!code.is(at, '..', '..=', '...') || !code.isOperandEnd(at - 1)) return null
      const end = code.expressionEnd(at + 1, '{', ']', ')')
      if (end === at + 1) return null
      const open = code.around(at)
      const isSlice = code.is(open, '[') && code.isOperandEnd(open - 1) && code.at(open - 1).end === code.at(open).start
      if (isSlice) return code.is(at, '..') ? code.replace(at, at + 1, ':') : null
      const isOpenEnd = !code.is(at, '..=')
      const last = code.slice(at + 1, end)
      const join = { span: { start: code.at(at - 1).end, end: code.at(end - 1).end } }
      return [{ ...join, text: ` to ${last}${isOpenEnd ? ' exclusive' : ''}` }]
    },
  },
  { habit: 'colonBlock', find: findColonBlock },
  {
    habit: 'bracelessBlock',
    find: (code, at) => {
      if (!code.is(at, 'if', 'while', 'for') || !code.is(at + 1, '(')) return null
      const body = code.closer(at + 1) + 1
      const end = code.expressionEnd(body, 'else')
      if (code.is(body, '{') || end <= body || code.at(body).kind === 'break') return null
      return code.replace(body, end, `{ ${code.slice(body, end)} }`)
    },
  },
  {
    habit: 'arrayType',
    find: (code, at) =>
      code.isName(at) && code.is(at + 1, '[') && code.is(at + 2, ']') && code.is(at - 1, ':', '->', '<', '|')
        ? code.replace(at, at + 3, `list<${code.at(at).text}>`)
        : null,
  },
  {
    habit: 'unless',
    find: (code, at) => {
      const end = code.is(at, 'unless') ? code.expressionBrace(at + 1) : null
      return end === null ? null : code.replace(at, end, `if ${negate(code, at + 1, end)}`)
    },
  },
  {
    habit: 'until',
    find: (code, at) => {
      const end = code.is(at, 'until') ? code.expressionBrace(at + 1) : null
      return end === null ? null : code.replace(at, end, `while ${negate(code, at + 1, end)}`)
    },
  },
  {
    habit: 'loopWord',
    find: (code, at) => (code.is(at, 'loop') && code.is(at + 1, '{') ? code.replace(at, at + 1, 'while true') : null),
  },
  {
    habit: 'except',
    find: (code, at) => {
      if (!code.is(at, 'except', 'rescue', 'catch') || (code.is(at, 'catch') && code.is(at + 1, '('))) return null
      const brace = code.expressionBrace(at + 1)
      const name = brace === null ? NONE : code.at(brace - 1)
      if (brace === null || brace - at > 5) return null
      return code.replace(at, brace, name.kind === 'word' && brace > at + 1 ? `catch (${name.text})` : 'catch')
    },
  },
  {
    habit: 'throwNew',
    find: (code, at) => {
      if (!code.is(at, 'throw', 'raise')) return null
      const made = code.is(at + 1, 'new') ? at + 2 : at + 1
      if (code.isName(made) && code.is(made + 1, '(') && /^(?:[A-Z]\w*)?(?:Error|Exception)$/.test(code.at(made).text)) {
        const close = code.closer(made + 1)
        return code.replace(at, close + 1, `throw ${code.slice(made + 2, close) || `"${code.at(made).text}"`}`)
      }
      return code.is(at, 'raise') && code.startsStatement(at) ? code.replace(at, at + 1, 'throw') : null
    },
  },
  {
    habit: 'pythonTernary',
    find: (code, at) => {
      if (!code.is(at, 'if') || !code.isOperandEnd(at - 1)) return null
      const otherwise = code.expressionEnd(at + 1, 'else', '{')
      if (!code.is(otherwise, 'else') || code.is(otherwise + 1, '{')) return null
      const end = code.expressionEnd(otherwise + 1, '{')
      const from = code.expressionStart(at)
      const parts = [code.slice(at + 1, otherwise), code.slice(from, at), code.slice(otherwise + 1, end)]
      return end === otherwise + 1 ? null : code.replace(from, end, `${parts[0]} ? ${parts[1]} : ${parts[2]}`)
    },
  },
  {
    habit: 'comprehension',
    find: (code, at) => {
      if (!code.is(at, '[')) return null
      const close = code.closer(at)
      const made = code.expressionEnd(at + 1, 'for')
      if (!code.is(made, 'for') || !code.isName(made + 1) || !code.is(made + 2, 'in')) return null
      const condition = code.expressionEnd(made + 3, 'if')
      const name = code.at(made + 1).text
      const holder = code.slice(made + 3, condition)
      const list = code.primaryEnd(made + 3) === condition ? holder : `(${holder})`
      const kept = code.is(condition, 'if') ? `.filter({ ${name} -> ${code.slice(condition + 1, close)} })` : ''
      const value = code.slice(at + 1, made)
      return code.replace(at, close + 1, `${list}${kept}${value === name ? '' : `.map({ ${name} -> ${value} })`}`)
    },
  },
  // ---- operators -------------------------------------------------------------------------------------------------------
  {
    habit: 'isNone',
    find: (code, at) => {
      if (!code.is(at, 'is') || !code.isOperandEnd(at - 1)) return null
      const isNot = code.is(at + 1, 'not')
      const value = at + (isNot ? 2 : 1)
      if (!code.is(value, 'None', 'nil', 'null', 'True', 'False', 'true', 'false')) return null
      return code.replace(at, value + 1, `${isNot ? '!=' : '=='} ${EMPTY[code.at(value).text] ?? code.at(value).text}`)
    },
  },
  {
    habit: 'notWord',
    find: (code, at) => {
      if (!code.is(at, 'not') || code.is(at + 1, 'in')) return null
      const end = code.expressionEnd(at + 1, 'and', 'or', '&&', '||', '{', '?', ':', 'then')
      return end === at + 1 ? null : code.replace(at, end, negate(code, at + 1, end))
    },
  },
  {
    habit: 'andWord',
    find: (code, at) => (code.is(at, 'and') && code.isOperandEnd(at - 1) ? code.replace(at, at + 1, '&&') : null),
  },
  {
    habit: 'orWord',
    find: (code, at) => (code.is(at, 'or') && code.isOperandEnd(at - 1) ? code.replace(at, at + 1, '||') : null),
  },
  {
    habit: 'strictEqual',
    find: (code, at) => (code.is(at, '===', '!==') ? code.replace(at, at + 1, code.at(at).text.slice(0, 2)) : null),
  },
  { habit: 'unequal', find: (code, at) => (code.is(at, '<>', '~=') ? code.replace(at, at + 1, '!=') : null) },
  {
    habit: 'increment',
    find: (code, at) => {
      if (!code.is(at, '++', '--')) return null
      const sign = code.at(at).text[0]!
      if (code.isOperandEnd(at - 1)) {
        // Within an expression it would need a value, which an assignment does not have.
        const behind = code.at(at + 1)
        if (primaryStart(code, at) !== startOfStatement(code, at) || (behind.kind !== 'break' && !code.is(at + 1, '}', ';')))
          return []
        const blanks = { start: code.at(at - 1).end, end: code.at(at).end }
        return [{ span: blanks, text: ` ${sign}= 1` }]
      }
      const end = code.primaryEnd(at + 1)
      return code.startsStatement(at) ? code.replace(at, end, `${code.slice(at + 1, end)} ${sign}= 1`) : null
    },
  },
  {
    habit: 'turnedOperator',
    find: (code, at) => {
      if (!code.is(at, '=') || !code.is(at + 1, '+', '*', '/', '%') || code.at(at + 1).start !== code.at(at).end) return null
      return code.isOperandEnd(at - 1) ? code.replace(at, at + 2, `${code.at(at + 1).text}=`) : null
    },
  },
  {
    habit: 'nilAssign',
    find: (code, at) => {
      if (!code.is(at, '??=', '||=', '&&=')) return null
      const from = code.expressionStart(at)
      const place = code.slice(from, at)
      const operator = code.is(at, '||=') ? '??' : code.at(at).text.slice(0, 2)
      return code.replace(at, at + 1, `= ${place} ${operator}`)
    },
  },
  {
    habit: 'integerDivision',
    // Up to the end of its line it is a comment, if a bracket closes in it that is open before it.
    find: (code, at) => {
      const { end } = code.at(at)
      const line = code.text.slice(end, code.text.indexOf('\n', end) < 0 ? undefined : code.text.indexOf('\n', end))
      const start = end + line.length - line.trimStart().length
      const isComment = code.text.startsWith('//', start)
      if (!isComment || !code.isOperandEnd(at) || !/^[\w(]/.test(code.text.slice(start + 2, start + 40).trimStart())) return null
      return [{ span: { start, end: start + 2 }, text: '/' }]
    },
  },
  { habit: 'genericCall', find: (code, at) => (code.is(at, '::') ? code.replace(at, at + 1, '.') : null) },
  {
    habit: 'typeOf',
    find: (code, at) => {
      if (!code.is(at, 'typeof') || code.is(at + 1, '(')) return null
      const end = code.primaryEnd(at + 1)
      return code.replace(at, end, `type_of(${code.slice(at + 1, end)})`)
    },
  },
  {
    habit: 'newWord',
    find: (code, at) => (code.is(at, 'new') && code.isName(at + 1) ? code.remove(at, at + 1) : null),
  },
  {
    habit: 'macro',
    find: (code, at) => {
      if (!code.is(at, '!') || !code.isName(at - 1) || code.at(at).start !== code.at(at - 1).end) return null
      if (code.is(at - 1, 'vec') && code.is(at + 1, '[')) return code.replace(at - 1, at + 1, '')
      if (!code.is(at + 1, '(')) return null
      const close = code.closer(at + 1)
      const comma = code.expressionEnd(at + 2)
      const isFormat = code.is(at - 1, 'format')
      // Values after the string fill its placeholders.
      if (code.is(comma, ',') || isFormat) {
        const made = `format(${code.slice(at + 2, close)})`
        return code.replace(at - 1, close + 1, isFormat ? made : `${code.at(at - 1).text}(${made})`)
      }
      return code.replace(at, at + 1, '')
    },
  },
  {
    habit: 'printWord',
    find: (code, at) => {
      if (!code.is(at, 'print', 'puts', 'echo', 'println', 'say') || !code.startsStatement(at) || code.is(at + 1, '(', '.', '='))
        return null
      const end = code.expressionEnd(at + 1)
      return end === at + 1 ? null : code.replace(at, end, `println(${code.slice(at + 1, end)})`)
    },
  },
  {
    habit: 'awaitWord',
    find: (code, at) => {
      if (!code.is(at, 'await') || code.is(at + 1, '(') || !code.isName(at + 1)) return null
      const end = code.primaryEnd(at + 1)
      // A name means a task; a call means its result.
      return code.is(end - 1, ')') ? code.remove(at, at + 1) : code.replace(at, end, `await(${code.slice(at + 1, end)})`)
    },
  },
  {
    habit: 'spreadDict',
    find: (code, at) => {
      const isAlone = code.is(at - 1, '(', '[', '{', ',') || code.at(at - 1).kind === 'break'
      return code.is(at, '**', '*') && isAlone && code.isName(at + 1) ? code.replace(at, at + 1, '...') : null
    },
  },
  {
    habit: 'optionalCall',
    find: (code, at) =>
      code.is(at, '!') && code.isOperandEnd(at - 1) && code.at(at - 1).end === code.at(at).start && !code.is(at + 1, '(')
        ? code.replace(at, at + 1, code.is(at + 1, '.') ? '?' : '')
        : null,
  },
  ...OPERANDS,
]

const BLOCK_WORDS = new Set(['if', 'elif', 'else', 'while', 'for', 'def', 'fn', 'try', 'except', 'finally'])

/** An indented block, in braces. */
function findColonBlock(code: Code, at: number): readonly Edit[] | null {
  if (!code.is(at, ':') || code.at(at + 1).kind !== 'break') return null
  const { text } = code
  const lineStart = text.lastIndexOf('\n', code.at(at).start) + 1
  const indent = indentOf(text, lineStart)
  const first = text.slice(lineStart + indent.length, code.at(at).end)
  const word = /^\w+/.exec(first)?.[0] ?? ''
  if (!BLOCK_WORDS.has(word)) return null
  let end = code.at(at).end
  for (let line = code.at(at + 1).end; line < text.length;) {
    const next = text.indexOf('\n', line)
    const stop = next < 0 ? text.length : next
    if (text.slice(line, stop).trim() !== '') {
      if (indentOf(text, line).length <= indent.length) break
      end = stop
    }
    line = stop + 1
  }
  if (end === code.at(at).end) return null
  const start = lineStart + indent.length
  const head: readonly Edit[] = word === 'def' ? [{ span: { start, end: start + 3 }, text: 'fn' }] : []
  return [...head, ...code.replace(at, at + 1, ' {'), { span: { start: end, end }, text: `\n${indent}}` }]
}

function indentOf(text: string, lineStart: number): string {
  let end = lineStart
  while (text[end] === ' ' || text[end] === '\t') end += 1
  return text.slice(lineStart, end)
}

const EMPTY: Readonly<Record<string, string>> = { None: 'nil', null: 'nil', True: 'true', False: 'false' }

/** The body of an arm in braces; a comma after it is removed. */
function wrapArm(code: Code, arrow: number): readonly Edit[] {
  const end = code.expressionEnd(arrow + 1)
  if (end === arrow + 1) return []
  const { start, end: last } = code.span(arrow + 1, end)
  const behind = code.is(end, ',') ? code.at(end).end : last
  return [{ span: { start, end: behind }, text: `{ ${code.slice(arrow + 1, end)} }` }]
}
