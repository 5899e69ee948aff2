// Calls of methods: of values of the language, of structs and enums, of dicts whose keys are known; variants of enums.

import { type Argument, type ExprOf, type Span, findMemberHabit } from '@bridle/parser'
import type { Fix } from '../../context.js'
import { show } from '../../show.js'
import { type Field, isNamed, type Type } from '../../type.js'
import { countParams, describe } from '../describe.js'
import { DICT_HABITS, FIELD_READERS, FUNCTIONS_OF, HOLDING, TO_LIST } from '../facts.js'
import { findMethod, listMethods, METHOD_NAMES } from '../signatures.js'
import { replaceWord } from '../world.js'
import { checkArguments, checkCallback, checkCount } from './arguments.js'
import type { Uses } from './context.js'
import { findFieldHabit } from './members.js'
import { checkHeld } from './operators.js'

const LONGEST_SHOWN = 60

/** The replacement of an expression. */
interface Repair {
  readonly shown: string
  readonly fix: Fix
}

export function checkMethod(uses: Uses, expr: ExprOf<'MethodCall'>): void {
  const { object, method } = expr
  if (object.kind === 'Identifier' && checkVariant(uses, object, method.text, method.span, expr.args)) return
  if (object.kind === 'Identifier' && uses.types.target(object)?.stmt?.kind === 'StructDecl') {
    uses.world.report('T099', method.span, { type: object.name, method: method.text })
    return
  }
  const type = uses.types.receiverType(object)
  const kinds = uses.kinds(type)
  if (type === null || kinds === null) return
  const receivers = [...kinds].filter((kind) => kind !== 'nil' || !expr.optional)
  if (isNamed(type, 'Result') && checkResultMethod(uses, expr)) return
  if (receivers.includes('dict') || receivers.includes('struct') || receivers.includes('enum')) {
    checkOwnMethod(uses, expr, type)
    return
  }
  const signatures = receivers.map((kind) => findMethod(kind, method.text))
  if (receivers.length > 0 && signatures.every((found) => found === null)) {
    const known = new Set(receivers.flatMap((kind) => [...listMethods(kind).keys()]))
    const call = receivers.every((kind) => kind === 'list') ? leaveOut(uses, expr) : writeAsCall(uses, expr, receivers)
    const suggestion = call?.shown ?? uses.suggestMember(method.text, known)
    const fix = call?.fix ?? replaceWord(method.span, suggestion)
    uses.world.report('T080', method.span, { type: describe(type), method: method.text, suggestion }, fix)
    return
  }
  const [signature] = signatures
  if (receivers.length === 1 && signature !== null && signature !== undefined) {
    checkArguments(uses, `${receivers[0]}.${method.text}`, signature, expr.args, method.span)
    checkCallback(uses, `${receivers[0]}.${method.text}`, method.text, expr.args)
    const [item] = expr.args
    if (HOLDING.has(method.text) && item !== undefined && !item.spread) checkHeld(uses, item.value, type, item.value.span)
  }
}

/** `is_ok(r)` for `r.is_ok()`; true if this was reported. */
function checkResultMethod(uses: Uses, expr: ExprOf<'MethodCall'>): boolean {
  const { text } = expr.method
  if (findMethod('enum', text) !== null) return false
  const call = writeAsCall(uses, expr, ['Result'])
  uses.world.report('T080', expr.method.span, { type: 'Result', method: text, suggestion: call?.shown ?? null }, call?.fix)
  return true
}

/** `xs.skip(1)` for `xs.skip(1).to_list()`: a list need not be converted to one. */
function leaveOut(uses: Uses, { object, method, args, span }: ExprOf<'MethodCall'>): Repair | null {
  if (!TO_LIST.has(method.text) || args.length > 0) return null
  const text = uses.world.file.text.slice(object.span.start, object.span.end)
  const shown = text.length > LONGEST_SHOWN ? 'the list itself' : text
  return {
    shown,
    fix: { title: `leave \`.${method.text}()\` out`, edits: [{ span: { start: object.span.end, end: span.end }, text: '' }] },
  }
}

/** `send(ch, 1)` for `ch.send(1)`, if the language has a function of that name and no method. */
export function writeAsCall(
  uses: Uses,
  { object, method, args, span }: ExprOf<'MethodCall'>,
  receivers: readonly string[],
): Repair | null {
  const name = FUNCTIONS_OF[receivers[0] ?? '']?.[method.text]
  if (name === undefined || receivers.length !== 1 || object.kind !== 'Identifier') return null
  const { text } = uses.world.file
  const written = [object, ...args].map(({ span: { start, end } }) => text.slice(start, end))
  const shown = `${name}(${written.join(', ')})`
  return { shown, fix: { title: `write \`${shown}\``, edits: [{ span, text: shown }] } }
}

/** `json_parse(r.body)` for `r.json()`, and `r.body` for `r.text()`. */
export function readFieldInstead(
  uses: Uses,
  { object, method, args, span }: ExprOf<'MethodCall'>,
  fields: readonly Field[],
): Repair | null {
  if (args.length > 0) return null
  const reader = Object.hasOwn(FIELD_READERS, method.text) ? FIELD_READERS[method.text] : undefined
  const field = reader?.field ?? findFieldHabit(method.text, fields)
  if (field === null || !fields.some(({ name }) => name === field)) return null
  const value = `${uses.world.file.text.slice(object.span.start, object.span.end)}.${field}`
  const text = reader === undefined ? value : `${reader.call}(${value})`
  // A long receiver would make the message too long.
  const shown = text.length > LONGEST_SHOWN ? (reader?.call ?? field) : text
  return { shown, fix: { title: `write \`${shown}\``, edits: [{ span, text }] } }
}

/** Methods of structs and enums, and entries of a dict whose keys are known. */
export function checkOwnMethod(uses: Uses, expr: ExprOf<'MethodCall'>, type: Type): void {
  const { method } = expr
  if (type.kind === 'shape') {
    if (!uses.types.isClosed(type) || type.fields.some(({ name }) => name === method.text)) return
    const signature = findMethod('dict', method.text)
    if (signature !== null) {
      checkArguments(uses, `dict.${method.text}`, signature, expr.args, method.span)
      return
    }
    const known = new Set([...listMethods('dict').keys(), ...type.fields.map(({ name }) => name)])
    const read = readFieldInstead(uses, expr, type.fields)
    const suggestion = read?.shown ?? uses.suggestMember(method.text, known)
    const fix = read?.fix ?? replaceWord(method.span, suggestion)
    uses.world.report('T080', method.span, { type: 'dict', method: method.text, suggestion }, fix)
    return
  }
  if (type.kind !== 'named' && type.kind !== 'applied') return
  if (isNamed(type, 'dict')) {
    checkDictMethod(uses, expr)
    return
  }
  const { root } = uses.world
  const struct = root.struct(type.name)
  if (struct === undefined && root.enumNamed(type.name) === undefined) return
  const own = uses.impls.get(type.name)
  const seen = root.findMethods(type.name)
  if (seen === null) return // declared elsewhere
  const found = own?.get(method.text)
  if (found !== undefined) {
    const params = found.params.slice(1).map((param) => ({
      name: param.name.text,
      type: null,
      optional: param.defaultValue !== null,
      rest: param.rest,
    }))
    if (found.params[0]?.name.text === 'self') checkCount(uses, method.text, countParams(params), expr.args, method.span)
    return
  }
  if (seen?.has(method.text) === true || struct?.fields.some(({ name }) => name === method.text) === true) return
  const known = [...(own?.keys() ?? []), ...(seen?.keys() ?? [])]
  if (struct === undefined && findMethod('enum', method.text) !== null) return
  const suggestion = uses.suggest(method.text, known)
  uses.world.report(
    'T080',
    method.span,
    { type: type.name, method: method.text, suggestion },
    replaceWord(method.span, suggestion),
  )
}

/** A method that dicts have in other languages, on a dict literal of this file that has no key of that name. */
function checkDictMethod(uses: Uses, { object, method }: ExprOf<'MethodCall'>): void {
  const decl = object.kind === 'Identifier' ? uses.types.target(object) : undefined
  if ((decl?.kind !== 'var' && decl?.kind !== 'let') || decl.value?.kind !== 'Dict') return
  const { text, span } = method
  if (findMethod('dict', text) !== null || uses.keys.has(text)) return
  const isHabit = findMemberHabit(text) !== null || METHOD_NAMES.has(text) || DICT_HABITS.has(text)
  if (!isHabit) return
  // A similar spelling means something else: `set` is not `get`.
  const suggestion = findMemberHabit(text)?.words.find((word) => findMethod('dict', word) !== null) ?? null
  uses.world.report('T080', span, { type: 'dict', method: text, suggestion }, replaceWord(span, suggestion))
}

/** `E.V(…)`; true if this was reported. */
export function checkVariant(
  uses: Uses,
  object: ExprOf<'Identifier'>,
  variant: string,
  span: Span,
  args: readonly Argument[],
): boolean {
  const decl = uses.types.target(object)
  if (decl !== undefined && decl.stmt?.kind !== 'EnumDecl') return false
  const found = decl?.stmt?.kind === 'EnumDecl' ? decl.stmt : uses.world.root.enumNamed(object.name)?.decl
  if (found === undefined) return false
  const params = found.variants.find(({ name }) => name.text === variant)?.params
  if (params === undefined) return true
  const infos = params.map((param) => ({
    name: param.name.text,
    type: null,
    optional: param.defaultValue !== null,
    rest: param.rest,
  }))
  checkCount(uses, `${object.name}.${variant}`, countParams(infos), args, span)
  if (found.typeParams.length > 0) return true
  for (const [at, { value, spread }] of args.entries()) {
    const type = params[at]?.type ?? null
    if (spread || type === null) break
    const declared = uses.read(type)
    const given = uses.types.infer(value)
    if (given === null || !uses.isMismatch(declared, given, value)) continue
    const { text } = params[at]!.name
    uses.world.report('T022', value.span, { index: at + 1, param: text, expected: show(declared), actual: show(given) })
  }
  return true
}
