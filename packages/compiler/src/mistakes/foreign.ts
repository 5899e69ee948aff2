// Names and members of other languages that this one lacks, in programs that still parse: `null`, `str(x)`,
// `console.log(x)`, `JSON.parse(x)`, `.length`, `user["name"]` on a struct. The table of habits gives the equivalents (habits/table.ts of the
// parser). A name that a file declares or imports has the file's meaning.

import {
  type Expr,
  type ExprOf,
  type FoundHabit,
  findCallHabit,
  findMemberHabit,
  findNameHabit,
  HABITS,
  interpolateBraces,
  repairForeignWord,
  type Span,
  type Stmt,
} from '@bridle/parser'
import { METHOD_NAMES } from '../types/strict/signatures.js'
import type { Fix, MistakeContext } from './context.js'
import { readKind, type ValueKind } from './names.js'
import { formatFix } from './strings.js'

export function checkForeign(expr: Expr, context: MistakeContext): void {
  switch (expr.kind) {
    case 'Identifier':
      return checkName(expr.name, expr.span, context)
    case 'Call':
      return checkCall(expr, context)
    case 'MethodCall':
      return checkMethod(expr, context)
    case 'Member':
      return checkMember(expr, context)
    case 'Index':
      return checkIndex(expr, context)
    default:
      return
  }
}

/** Whether no visible declaration has this name. */
function isUnknown(name: string, { names, scopes, isGlobal }: MistakeContext): boolean {
  return names.knowsImports && !names.declared.has(name) && !isGlobal(name) && scopes.find(name) === null
}

/** `pass`: the name itself is the mistake. */
export function isForeignName(expr: Expr, context: MistakeContext): boolean {
  return expr.kind === 'Identifier' && isUnknown(expr.name, context) && findNameHabit(expr.name)?.replacement === null
}

function reportName(
  found: string,
  span: Span,
  { habit, replacement }: FoundHabit,
  fix: Fix | null,
  context: MistakeContext,
): void {
  const own = fix ?? (replacement === null || replacement.includes('X') ? null : replaceBy(span, replacement))
  context.report('M020', span, { found, habit: `a name of ${habit.from}`, harn: habit.harn }, own)
}

function replaceBy(span: Span, text: string): Fix {
  return { title: `write \`${text}\``, edits: [{ span, text }] }
}

/** Words that are not names in other languages. Commas between arguments are optional, so `f(typeof x)` parses. */
const FOREIGN_WORDS: ReadonlySet<string> = new Set(['await', 'typeof', 'new', 'is', 'and', 'or', 'not', 'lambda', 'async'])

function checkWord(name: string, span: Span, context: MistakeContext): boolean {
  const { file, names, scopes } = context
  if (!FOREIGN_WORDS.has(name) || names.declared.has(name) || scopes.find(name) !== null) return false
  const repair = repairForeignWord(file, span)
  if (repair === null) return false
  const { from, harn } = HABITS[repair.habit]
  context.report('M020', span, { found: name, habit: `a word of ${from}`, harn }, repair.fix)
  return true
}

function checkName(name: string, span: Span, context: MistakeContext): void {
  if (checkWord(name, span, context)) return
  if (!isUnknown(name, context)) return
  if (STRING_PREFIXES.has(name) && context.file.text[span.end] === '"') {
    const { habit } = { habit: HABITS.fString }
    return context.report(
      'M020',
      span,
      { found: `${name}"…"`, habit: `a string of ${habit.from}`, harn: habit.harn },
      prefixFix(name, span, context),
    )
  }
  const found = findNameHabit(name)
  if (found === null) return
  // `this` is only repaired if there is a receiver.
  const usable = found.replacement !== 'self' || context.scopes.find('self') !== null
  // A block may be empty.
  const fix = name === 'pass' ? { title: 'remove it', edits: [{ span, text: '' }] } : null
  reportName(name, span, usable ? found : { ...found, replacement: null }, fix, context)
}

/** String prefixes of Python. `r"…"` is a raw string here, too. */
const STRING_PREFIXES: ReadonlySet<string> = new Set(['f', 'F', 'b', 'B', 'u', 'U', 'rf', 'fr', 's'])

/** Without the prefix, and for a format string with `${x}` in place of `{x}`. */
function prefixFix(name: string, span: Span, { file }: MistakeContext): Fix | null {
  const start = span.end
  let end = start + 1
  while (end < file.text.length && file.text[end] !== '"' && file.text[end] !== '\n') end += file.text[end] === '\\' ? 2 : 1
  const text = file.text.slice(start, end + 1)
  if (!text.endsWith('"') || text === '""') return null
  const isFormat = name !== 'b' && name !== 'B' && name !== 'u' && name !== 'U'
  const own = isFormat ? interpolateBraces(text) : text
  if (own === null) return null
  return { title: 'interpolate', edits: [{ span: { start: span.start, end: end + 1 }, text: own }] }
}

function checkCall(call: ExprOf<'Call'>, context: MistakeContext): void {
  const { text, span } = call.callee
  const declaration = context.names.structs.get(text)
  if (declaration !== undefined && !context.names.functions.has(text) && context.scopes.find(text) === null) {
    const [only] = call.args
    if (call.args.length === 1 && only !== undefined && !isScalar(only.value)) return
    const habit = HABITS.structCall
    const values = call.args.map(({ value }) => context.file.text.slice(value.span.start, value.span.end))
    const fields = declaration.fields.map(({ name }, at) => `${name.text}: ${values[at]}`)
    const isWhole = values.length === declaration.fields.length && !call.args.some(({ spread }) => spread)
    const fix = isWhole ? replaceBy(call.span, `${text} {${fields.join(', ')}}`) : null
    context.report('M020', call.span, { found: `${text}(…)`, habit: `how ${habit.from} make a struct`, harn: habit.harn }, fix)
    return
  }
  const tool = context.names.tools.get(text)
  if (
    tool !== undefined &&
    !context.names.functions.has(text) &&
    context.scopes.find(text) === null &&
    !context.isBuiltin(text)
  ) {
    return context.report('M025', call.span, { name: text }, toolFix(call, tool, context))
  }
  if (text === 'tool_call') checkOwnTool(call, context)
  if (!isUnknown(text, context)) return
  const found = findCallHabit(text)
  if (found === null) return
  reportName(text, span, found, argumentFix(found, call, context), context)
}

/** The positional call, if the named arguments are the parameters in their order or a dict of them. */
function toolFix(call: ExprOf<'Call'>, { params }: Extract<Stmt, { kind: 'ToolDecl' }>, context: MistakeContext): Fix | null {
  const { args } = call
  if (!context.names.declared.has('tool_call') || args.length > params.length || args.some(({ spread }) => spread)) return null
  const [only] = args
  const texts = args.map(({ value }) => context.file.text.slice(value.span.start, value.span.end))
  const isDict = args.length === 1 && only?.value.kind === 'Dict'
  const given = isDict ? texts[0] : `{${texts.map((text, at) => `${params[at]!.name.text}: ${text}`).join(', ')}}`
  return replaceBy(call.span, `tool_call(${call.callee.text}, ${given})`)
}

/** `tool_call("double", {…})`: a name is looked up in a registry, which the tools that a file declares are in only when it is bound. */
function checkOwnTool({ args }: ExprOf<'Call'>, context: MistakeContext): void {
  const { names, file, scopes } = context
  const [name] = args
  if (name?.value.kind !== 'String' || args.length > 2 || args.some(({ spread }) => spread)) return
  const { value: text, span } = name.value
  const isTool = names.tools.has(text) && !names.functions.has(text) && scopes.find(text) === null
  if (!isTool || /\btool_bind\b|\bagent/.test(file.text)) return
  context.report('M027', span, { name: text }, replaceBy(span, text))
}

/** A value that cannot be the dict of fields for a struct. */
function isScalar({ kind }: Expr): boolean {
  return ['Int', 'Float', 'Bool', 'Nil', 'String', 'Interpolation', 'Duration', 'List'].includes(kind)
}

/** `X.sort()` of `sorted(xs)`. */
function argumentFix(
  { replacement }: FoundHabit,
  call: ExprOf<'Call'> | ExprOf<'MethodCall'>,
  context: MistakeContext,
): Fix | null {
  const [only, more] = call.args
  if (replacement === null || !replacement.includes('X') || only === undefined || more !== undefined || only.spread) return null
  const text = context.file.text.slice(only.value.span.start, only.value.span.end)
  const isAtom = ['Identifier', 'Call', 'MethodCall', 'Member', 'Index', 'List', 'String', 'Interpolation'].includes(
    only.value.kind,
  )
  return replaceBy(call.span, replacement.replaceAll('X', replacement === 'X' || isAtom ? text : `(${text})`))
}

function checkMethod(call: ExprOf<'MethodCall'>, context: MistakeContext): void {
  const root = findRoot(call.object)
  if (root !== null && isUnknown(root, context)) {
    const path = `${pathText(call.object)}.${call.method.text}`
    const found = findCallHabit(path)
    if (found !== null) {
      const span = { start: call.object.span.start, end: call.method.span.end }
      reportName(path, span, found, argumentFix(found, call, context), context)
    }
    return
  }
  const name = call.method.text
  const found = findMemberHabit(name)
  if (found === null || METHOD_NAMES.has(name) || context.names.ownMembers.has(name)) return
  const kind = kindIn(call.object, context)
  if ((kind === null && context.names.hasImports) || (typeof kind === 'object' && kind !== null)) return
  const fix = name === 'format' ? formatFix(call, context) : memberFix(call, found)
  const { habit } = found
  context.report('M021', call.method.span, { found: `.${name}()`, habit: `a method of ${habit.from}`, harn: habit.harn }, fix)
}

function memberFix(call: ExprOf<'MethodCall'>, { replacement }: FoundHabit): Fix | null {
  if (replacement === null) return null
  // `count` and similar names are methods as well.
  return replaceBy(call.method.span, replacement)
}

function checkMember(expr: ExprOf<'Member'>, context: MistakeContext): void {
  const root = findRoot(expr)
  if (root !== null && isUnknown(root, context)) {
    const path = pathText(expr)
    const found = findNameHabit(path)
    if (found !== null) reportName(path, expr.span, found, null, context)
    return
  }
  const { text: name, span } = expr.property
  if (context.names.ownMembers.has(name)) return
  const kind = kindIn(expr.object, context)
  if (kind === 'dict' && METHOD_NAMES.has(name) && CALLED.has(name)) {
    context.report(
      'M024',
      span,
      { name },
      { title: 'call it', edits: [{ span: { start: span.end, end: span.end }, text: '()' }] },
    )
    return
  }
  if (kind !== 'list' && kind !== 'string') return
  const found = findMemberHabit(name)
  if (found !== null) {
    const { habit, replacement } = found
    const fix =
      replacement === null || METHOD_NAMES.has(name)
        ? null
        : replaceBy(span, replacement === 'count' ? 'count' : `${replacement}()`)
    context.report('M021', span, { found: `.${name}`, habit: `a property of ${habit.from}`, harn: habit.harn }, fix)
  } else if (METHOD_NAMES.has(name) && !PROPERTIES.has(name)) {
    context.report(
      'M024',
      span,
      { name },
      { title: 'call it', edits: [{ span: { start: span.end, end: span.end }, text: '()' }] },
    )
  }
}

/** Methods of a dict that scripts read like keys. */
const CALLED: ReadonlySet<string> = new Set(['keys', 'values', 'entries'])

/** Members of lists and strings that need no call. */
const PROPERTIES: ReadonlySet<string> = new Set(['count', 'empty', 'first', 'last'])

function checkIndex(expr: ExprOf<'Index'>, context: MistakeContext): void {
  const kind = kindIn(expr.object, context)
  if (kind === null || typeof kind !== 'object' || expr.index.kind !== 'String') return
  const { value: key } = expr.index
  const name = context.file.text.slice(expr.object.span.start, expr.object.span.end)
  const span = { start: expr.object.span.end, end: expr.span.end }
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(key)
  const fix = isName ? { title: 'read the field', edits: [{ span, text: `${expr.optional ? '?' : ''}.${key}` }] } : null
  context.report('M022', expr.span, { name, key }, fix)
}

function kindIn(expr: Expr, { scopes, names }: MistakeContext): ValueKind {
  return expr.kind === 'Identifier' ? (scopes.find(expr.name)?.kind ?? null) : readKind(expr, names.structs)
}

/** The first name of `a.b.c`; null if it does not consist of names alone. */
function findRoot(expr: Expr): string | null {
  let at = expr
  while (at.kind === 'Member' && !at.optional) at = at.object
  return at.kind === 'Identifier' ? at.name : null
}

/** `a.b.c` as text, if it has a root. */
function pathText(expr: Expr): string {
  if (expr.kind === 'Member') return `${pathText(expr.object)}.${expr.property.text}`
  return expr.kind === 'Identifier' ? expr.name : ''
}
