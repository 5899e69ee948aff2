// Reads of properties, fields and elements.

import type { ExprOf, Node } from '@bridle/parser'
import type { Field, Type } from '../../type.js'
import { describe } from '../describe.js'
import { FIELD_HABITS, HAS_POSITIONS, NO_INDEX, NO_POSITION, NO_PROPERTY, PROPERTIES } from '../facts.js'
import { isWithin } from '../kinds.js'
import { replaceWord } from '../world.js'
import type { Uses } from './context.js'

const MOST_LISTED = 12

export function checkMember(uses: Uses, expr: ExprOf<'Member'>, parent: Node | null): void {
  const { object, property } = expr
  const isTarget = parent?.kind === 'Assign' && parent.target === expr
  if (object.kind === 'Identifier') {
    const decl = uses.types.target(object)
    if (decl === undefined ? uses.world.root.enumNamed(object.name) !== undefined : decl.stmt?.kind === 'EnumDecl') return
  }
  const type = uses.types.receiverType(object)
  const kinds = uses.kinds(type)
  if (type === null || kinds === null) return
  if (isTarget && !kinds.has('struct')) return
  if (kinds.has('struct') || kinds.has('dict')) {
    checkField(uses, expr, type, parent)
    return
  }
  const receivers = [...kinds].filter((kind) => kind !== 'nil' || !expr.optional)
  if (receivers.length === 0) return
  const hasProperty = (kind: string): boolean =>
    PROPERTIES[kind] === undefined ? !NO_PROPERTY.has(kind) : PROPERTIES[kind].includes(property.text)
  if (receivers.some(hasProperty)) return
  const known = new Set(receivers.flatMap((kind) => PROPERTIES[kind] ?? []))
  const suggestion = uses.suggestMember(property.text, known)
  const fix = replaceWord(property.span, suggestion)
  uses.world.report('T081', property.span, { type: describe(type), property: property.text, suggestion }, fix)
}

export function checkField(uses: Uses, expr: ExprOf<'Member'>, type: Type, parent: Node | null): void {
  const { property } = expr
  const { root } = uses.world
  const report = (name: string, known: readonly string[], isSure: boolean, habit: string | null = null): void => {
    const suggestion = habit ?? uses.suggest(property.text, known)
    if (!isSure && suggestion === null) return
    const fix = replaceWord(property.span, suggestion)
    const more = known.length > 0 && known.length <= MOST_LISTED ? { known } : {}
    uses.world.report('T081', property.span, { type: name, property: property.text, suggestion, ...more }, fix)
  }
  if (type.kind === 'named' || type.kind === 'applied') {
    const struct = root.struct(type.name)
    if (struct !== undefined) {
      if (struct.fields.some(({ name }) => name === property.text)) return
      const own = uses.impls.get(type.name)
      const method = own?.get(property.text)
      if (method !== undefined) {
        const call = `${property.text}(${method.params.length > 1 ? '…' : ''})`
        const fix = method.params.length > 1 ? undefined : replaceWord(property.span, call)
        uses.world.report('T081', property.span, { type: type.name, property: property.text, suggestion: call }, fix)
        return
      }
      const methods = [...(own?.keys() ?? [])]
      report(type.name, [...struct.fields.map(({ name }) => name), ...methods], true)
      return
    }
    const alias = root.alias(type.name)
    if (alias === undefined || alias.body.kind !== 'shape' || alias.params.length > 0) return
    const { fields } = alias.body
    if (!fields.some(({ name }) => name === property.text)) {
      report(
        type.name,
        fields.map(({ name }) => name),
        false,
      )
    }
    return
  }
  if (type.kind !== 'shape' || type.fields.some(({ name }) => name === property.text)) return
  const isClosed = uses.types.isClosed(type)
  if (isClosed && (expr.optional || asksForNil(parent))) return
  report(
    'the dict',
    type.fields.map(({ name }) => name),
    isClosed,
    isClosed ? findFieldHabit(property.text, type.fields) : null,
  )
}

export function checkIndex(uses: Uses, expr: ExprOf<'Index'>, parent: Node | null): void {
  const { object, index } = expr
  const type = uses.types.receiverType(object)
  const kinds = uses.kinds(type)
  if (type === null || kinds === null) return
  if (isWithin(kinds, NO_INDEX)) {
    if (expr.optional && kinds.has('nil')) return
    const name = index.kind === 'String' && /^[A-Za-z_]\w*$/.test(index.value) && kinds.has('struct') ? index.value : null
    const edit = name === null ? undefined : { span: { start: object.span.end, end: expr.span.end }, text: `.${name}` }
    const fix = edit === undefined ? undefined : { title: 'read the field', edits: [edit] }
    uses.world.report('T091', expr.span, { type: describe(type), key: null, field: name }, fix)
    return
  }
  if (isWithin(kinds, HAS_POSITIONS)) {
    const given = uses.types.infer(index)
    if (given !== null && isWithin(uses.kinds(given), NO_POSITION)) {
      uses.world.report('T091', index.span, { type: describe(type), key: describe(given), field: null })
    } else checkPosition(uses, expr, parent)
    return
  }
  if (type.kind !== 'shape' || !uses.types.isClosed(type) || index.kind !== 'String' || expr.optional) return
  if (asksForNil(parent) || (parent?.kind === 'Assign' && parent.target === expr)) return
  if (type.fields.some(({ name }) => name === index.value)) return
  const names = type.fields.map(({ name }) => name)
  const suggestion = findFieldHabit(index.value, type.fields) ?? uses.suggest(index.value, names)
  const fix = suggestion === null ? undefined : replaceWord(index.span, JSON.stringify(suggestion))
  uses.world.report('T081', index.span, { type: 'the dict', property: index.value, suggestion }, fix)
}

/** An index past the end of a literal list. */
export function checkPosition(uses: Uses, { object, index }: ExprOf<'Index'>, parent: Node | null): void {
  if (index.kind !== 'Int' || asksForNil(parent)) return
  const decl = object.kind === 'Identifier' ? uses.types.target(object) : undefined
  const list = decl?.kind === 'let' && !decl.isUpdated ? decl.value : object
  if (list?.kind !== 'List' || list.items.some(({ spread }) => spread) || Number(index.value) < list.items.length) return
  uses.world.report('T096', index.span, { length: list.items.length })
}

export function findFieldHabit(name: string, fields: readonly Field[]): string | null {
  const meant = Object.hasOwn(FIELD_HABITS, name) ? FIELD_HABITS[name] : undefined
  return meant?.find((each) => fields.some((field) => field.name === each)) ?? null
}

/** Where the check for a missing key is intended. */
export function asksForNil(parent: Node | null): boolean {
  if (parent?.kind === 'Member' || parent?.kind === 'Index' || parent?.kind === 'MethodCall') return parent.optional
  if (parent?.kind !== 'Binary') return false
  const isCompared = parent.operator === '==' || parent.operator === '!='
  return parent.operator === '??' || (isCompared && (parent.left.kind === 'Nil' || parent.right.kind === 'Nil'))
}
