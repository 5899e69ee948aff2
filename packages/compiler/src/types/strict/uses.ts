// Uses of values whose types are known: methods, properties, arguments, options, comparisons, loops, calls. Each check asks for the
// type and is silent where there is none.

import {
  type Argument,
  type BinaryOperator,
  type Expr,
  type ExprOf,
  findMemberHabit,
  listMemberHabits,
  forEachChild,
  type ImplDecl,
  type Node,
  type Param,
  type Span,
  type Stmt,
  type TypeExpr,
} from '@bridle/parser'
import { resolveHead } from '../aliases.js'
import { operatorProblem } from '../operators.js'
import { fits } from '../relate.js'
import { show } from '../show.js'
import { type Field, isNamed, type Known, readType, type Type } from '../type.js'
import { checkOptionTypes } from './options.js'
import { OwnTools } from './own-tools.js'
import { givesNothing, Types } from './infer.js'
import type { Fix } from '../context.js'
import { countParams, countText, describe, group, plain, present, widen } from './describe.js'
import {
  ARITHMETIC,
  CALLBACK_ARGUMENTS,
  FIELD_HABITS,
  FIELD_READERS,
  FUNCTIONS,
  FUNCTIONS_OF,
  HAS_POSITIONS,
  HOLDING,
  HOLDS_NOTHING,
  LITERALS,
  NEEDED,
  NO_ARITHMETIC,
  NO_CALL,
  NO_INDEX,
  NO_NUMBER,
  NO_PIPE,
  NO_POSITION,
  NO_PROPERTY,
  NOTHING_TO_ITERATE,
  NUMBER_TEXTS,
  PRINTS,
  PROPERTIES,
  TEXT_PARAMS,
  TYPE_HABITS,
  TYPE_NAMES,
} from './facts.js'
import { isDisjoint, isWithin, type Kinds, listKinds } from './kinds.js'
import type { Decl, Names } from './scope.js'
import { type ExactSignature, findBuiltin, findMethod, listMethods } from './signatures.js'
import { type Candidate, suggestName } from './suggest.js'
import { replaceWord, type StrictWorld } from './world.js'

/** Looks at every expression of the file. */
export function checkUses(world: StrictWorld, names: Names): void {
  const uses = new Uses(world, names, new Types(world, names))
  for (const item of world.program.items) uses.visit(item, null)
}

const LONGEST_SHOWN = 60
const MOST_LISTED = 12

/** What is written instead of an expression. */
interface Repair {
  readonly shown: string
  readonly fix: Fix
}

class Uses {
  private readonly world: StrictWorld
  private readonly names: Names
  private readonly types: Types
  private readonly impls = new Map<string, Map<string, ImplDecl['methods'][number]>>()
  private readonly kindsOfTypes = new Map<Type, Kinds | null>()
  private readonly readTypes = new Map<TypeExpr, Type>()
  /** Patterns are no expressions, and what is assigned is not read. */
  private readonly skipped = new Set<Node>()

  private readonly ownTools: OwnTools

  constructor(world: StrictWorld, names: Names, types: Types) {
    this.world = world
    this.names = names
    this.types = types
    this.ownTools = new OwnTools(world)
    for (const item of world.program.items) if (item.kind === 'ImplDecl') this.addImpl(item)
  }

  private addImpl(decl: ImplDecl): void {
    let table = this.impls.get(decl.name.text)
    if (table === undefined) this.impls.set(decl.name.text, (table = new Map()))
    for (const method of decl.methods) table.set(method.name.text, method)
  }

  visit(node: Node, parent: Node | null): void {
    if (node.kind === 'Match') for (const arm of node.arms) for (const pattern of arm.patterns) this.skipped.add(pattern)
    if (node.kind === 'Binary') {
      this.visitChain(node)
      return
    }
    if (this.skipped.has(node)) return
    forEachChild(node, (child) => this.visit(child, node))
    this.check(node, parent)
  }

  /** The left spine of a chain may be thousands long. */
  private visitChain(expr: ExprOf<'Binary'>): void {
    const spine: ExprOf<'Binary'>[] = []
    let at: Expr = expr
    while (at.kind === 'Binary') {
      spine.push(at)
      at = at.left
    }
    spine.reverse()
    this.visit(at, spine[0]!)
    for (const node of spine) {
      this.visit(node.right, node)
      this.checkBinary(node)
    }
  }

  private check(node: Node, parent: Node | null): void {
    switch (node.kind) {
      case 'Call':
        this.checkCall(node, parent)
        return
      case 'MethodCall':
        this.checkMethod(node)
        return
      case 'Member':
        this.checkMember(node, parent)
        return
      case 'For':
        this.checkFor(node)
        return
      case 'Interpolation':
        for (const part of node.parts) if (typeof part !== 'string') this.checkPlainValue(part)
        return
      case 'Index':
        this.checkIndex(node, parent)
        return
      case 'Assign':
        this.checkAssign(node)
        return
      case 'Let':
        this.checkLet(node)
        return
      case 'FnDecl':
      case 'ToolDecl':
      case 'Closure':
        this.checkDefaults(node.params)
        return
      case 'Match':
        this.checkArms(node)
        return
      case 'Unary':
        this.checkUnary(node)
        return
      case 'Pipe':
        this.checkPipe(node)
        return
      default:
        return
    }
  }

  private kinds(type: Known): Kinds | null {
    if (type === null) return null
    let kinds = this.kindsOfTypes.get(type)
    if (kinds === undefined) this.kindsOfTypes.set(type, (kinds = listKinds(type, this.world.root)))
    return kinds
  }

  private read(type: TypeExpr): Type {
    let found = this.readTypes.get(type)
    if (found === undefined) this.readTypes.set(type, (found = readType(type)))
    return found
  }

  private kindsOf(expr: Expr): Kinds | null {
    return this.kinds(this.types.infer(expr))
  }

  private suggest(name: string, candidates: Iterable<string>): string | null {
    const list: Candidate[] = []
    for (const each of candidates) list.push({ name: each, distance: 0 })
    return suggestName(name, list, this.world.budget)
  }

  /** What other languages call so comes before what is spelt alike. */
  private suggestMember(name: string, known: ReadonlySet<string>): string | null {
    const meant = findMemberHabit(name)?.words.find((word) => known.has(word)) ?? this.suggest(name, known)
    if (meant !== null) return meant
    // `lenght` is a slip of what another language says.
    const foreign = this.suggest(name, listMemberHabits())
    return foreign === null ? null : (findMemberHabit(foreign)?.words.find((word) => known.has(word)) ?? null)
  }

  // ---- methods and properties ---------------------------------------------------------------------------------------

  private checkMethod(expr: ExprOf<'MethodCall'>): void {
    const { object, method } = expr
    if (object.kind === 'Identifier' && this.checkVariant(object, method.text, method.span, expr.args)) return
    if (object.kind === 'Identifier' && this.types.target(object)?.stmt?.kind === 'StructDecl') {
      this.world.report('T099', method.span, { type: object.name, method: method.text })
      return
    }
    const type = this.types.receiverType(object)
    const kinds = this.kinds(type)
    if (type === null || kinds === null) return
    const receivers = [...kinds].filter((kind) => kind !== 'nil' || !expr.optional)
    if (receivers.includes('dict') || receivers.includes('struct') || receivers.includes('enum')) {
      this.checkOwnMethod(expr, type)
      return
    }
    const signatures = receivers.map((kind) => findMethod(kind, method.text))
    if (receivers.length > 0 && signatures.every((found) => found === null)) {
      const known = new Set(receivers.flatMap((kind) => [...listMethods(kind).keys()]))
      const call = this.writeAsCall(expr, receivers)
      const suggestion = call?.shown ?? this.suggestMember(method.text, known)
      const fix = call?.fix ?? replaceWord(method.span, suggestion)
      this.world.report('T080', method.span, { type: describe(type), method: method.text, suggestion }, fix)
      return
    }
    const [signature] = signatures
    if (receivers.length === 1 && signature !== null && signature !== undefined) {
      this.checkArguments(`${receivers[0]}.${method.text}`, signature, expr.args, method.span)
      this.checkCallback(`${receivers[0]}.${method.text}`, method.text, expr.args)
      const [item] = expr.args
      if (HOLDING.has(method.text) && item !== undefined && !item.spread) this.checkHeld(item.value, type, item.value.span)
    }
  }

  /** `send(ch, 1)` for `ch.send(1)`, where the language has a function of that name and no method. */
  private writeAsCall({ object, method, args, span }: ExprOf<'MethodCall'>, receivers: readonly string[]): Repair | null {
    const name = FUNCTIONS_OF[receivers[0] ?? '']?.[method.text]
    if (name === undefined || receivers.length !== 1 || object.kind !== 'Identifier') return null
    const { text } = this.world.file
    const written = [object, ...args].map(({ span: { start, end } }) => text.slice(start, end))
    const shown = `${name}(${written.join(', ')})`
    return { shown, fix: { title: `write \`${shown}\``, edits: [{ span, text: shown }] } }
  }

  /** `json_parse(r.body)` for `r.json()`, and `r.body` for `r.text()`. */
  private readFieldInstead({ object, method, args, span }: ExprOf<'MethodCall'>, fields: readonly Field[]): Repair | null {
    if (args.length > 0) return null
    const reader = Object.hasOwn(FIELD_READERS, method.text) ? FIELD_READERS[method.text] : undefined
    const field = reader?.field ?? findFieldHabit(method.text, fields)
    if (field === null || !fields.some(({ name }) => name === field)) return null
    const value = `${this.world.file.text.slice(object.span.start, object.span.end)}.${field}`
    const text = reader === undefined ? value : `${reader.call}(${value})`
    // A call with a long receiver would make a long line of the message.
    const shown = text.length > LONGEST_SHOWN ? (reader?.call ?? field) : text
    return { shown, fix: { title: `write \`${shown}\``, edits: [{ span, text }] } }
  }

  /** Methods of structs and enums, and entries of a dict whose keys are known. */
  private checkOwnMethod(expr: ExprOf<'MethodCall'>, type: Type): void {
    const { method } = expr
    if (type.kind === 'shape') {
      if (!this.types.isClosed(type) || type.fields.some(({ name }) => name === method.text)) return
      const signature = findMethod('dict', method.text)
      if (signature !== null) {
        this.checkArguments(`dict.${method.text}`, signature, expr.args, method.span)
        return
      }
      const known = new Set([...listMethods('dict').keys(), ...type.fields.map(({ name }) => name)])
      const read = this.readFieldInstead(expr, type.fields)
      const suggestion = read?.shown ?? this.suggestMember(method.text, known)
      const fix = read?.fix ?? replaceWord(method.span, suggestion)
      this.world.report('T080', method.span, { type: 'dict', method: method.text, suggestion }, fix)
      return
    }
    if (type.kind !== 'named' && type.kind !== 'applied') return
    const { root } = this.world
    const struct = root.struct(type.name)
    if (struct === undefined && root.enumNamed(type.name) === undefined) return
    const own = this.impls.get(type.name)
    const seen = root.findMethods(type.name)
    if (seen === null) return // declared out of sight
    const found = own?.get(method.text)
    if (found !== undefined) {
      const params = found.params.slice(1).map((param) => ({
        name: param.name.text,
        type: null,
        optional: param.defaultValue !== null,
        rest: param.rest,
      }))
      if (found.params[0]?.name.text === 'self') this.checkCount(method.text, countParams(params), expr.args, method.span)
      return
    }
    if (seen?.has(method.text) === true || struct?.fields.some(({ name }) => name === method.text) === true) return
    const known = [...(own?.keys() ?? []), ...(seen?.keys() ?? [])]
    if (struct === undefined && findMethod('enum', method.text) !== null) return
    const suggestion = this.suggest(method.text, known)
    this.world.report(
      'T080',
      method.span,
      { type: type.name, method: method.text, suggestion },
      replaceWord(method.span, suggestion),
    )
  }

  /** `E.V(…)`; true where that is what is written. */
  private checkVariant(object: ExprOf<'Identifier'>, variant: string, span: Span, args: readonly Argument[]): boolean {
    const decl = this.types.target(object)
    if (decl !== undefined && decl.stmt?.kind !== 'EnumDecl') return false
    const found = decl?.stmt?.kind === 'EnumDecl' ? decl.stmt : this.world.root.enumNamed(object.name)?.decl
    if (found === undefined) return false
    const params = found.variants.find(({ name }) => name.text === variant)?.params
    if (params === undefined) return true
    const infos = params.map((param) => ({
      name: param.name.text,
      type: null,
      optional: param.defaultValue !== null,
      rest: param.rest,
    }))
    this.checkCount(`${object.name}.${variant}`, countParams(infos), args, span)
    if (found.typeParams.length > 0) return true
    for (const [at, { value, spread }] of args.entries()) {
      const type = params[at]?.type ?? null
      if (spread || type === null) break
      const declared = this.read(type)
      const given = this.types.infer(value)
      if (given === null || !this.isMismatch(declared, given, value)) continue
      const { text } = params[at]!.name
      this.world.report('T022', value.span, { index: at + 1, param: text, expected: show(declared), actual: show(given) })
    }
    return true
  }

  private checkMember(expr: ExprOf<'Member'>, parent: Node | null): void {
    const { object, property } = expr
    const isTarget = parent?.kind === 'Assign' && parent.target === expr
    if (object.kind === 'Identifier') {
      const decl = this.types.target(object)
      if (decl === undefined ? this.world.root.enumNamed(object.name) !== undefined : decl.stmt?.kind === 'EnumDecl') return
    }
    const type = this.types.receiverType(object)
    const kinds = this.kinds(type)
    if (type === null || kinds === null) return
    if (isTarget && !kinds.has('struct')) return
    if (kinds.has('struct') || kinds.has('dict')) {
      this.checkField(expr, type, parent)
      return
    }
    const receivers = [...kinds].filter((kind) => kind !== 'nil' || !expr.optional)
    if (receivers.length === 0) return
    const hasProperty = (kind: string): boolean =>
      PROPERTIES[kind] === undefined ? !NO_PROPERTY.has(kind) : PROPERTIES[kind].includes(property.text)
    if (receivers.some(hasProperty)) return
    const known = new Set(receivers.flatMap((kind) => PROPERTIES[kind] ?? []))
    const suggestion = this.suggestMember(property.text, known)
    const fix = replaceWord(property.span, suggestion)
    this.world.report('T081', property.span, { type: describe(type), property: property.text, suggestion }, fix)
  }

  private checkField(expr: ExprOf<'Member'>, type: Type, parent: Node | null): void {
    const { property } = expr
    const { root } = this.world
    const report = (name: string, known: readonly string[], isSure: boolean, habit: string | null = null): void => {
      const suggestion = habit ?? this.suggest(property.text, known)
      if (!isSure && suggestion === null) return
      const fix = replaceWord(property.span, suggestion)
      const more = known.length > 0 && known.length <= MOST_LISTED ? { known } : {}
      this.world.report('T081', property.span, { type: name, property: property.text, suggestion, ...more }, fix)
    }
    if (type.kind === 'named' || type.kind === 'applied') {
      const struct = root.struct(type.name)
      if (struct !== undefined) {
        if (struct.fields.some(({ name }) => name === property.text)) return
        const methods = [...(this.impls.get(type.name)?.keys() ?? [])]
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
    const isClosed = this.types.isClosed(type)
    if (isClosed && (expr.optional || asksForNil(parent))) return
    report(
      'the dict',
      type.fields.map(({ name }) => name),
      isClosed,
      isClosed ? findFieldHabit(property.text, type.fields) : null,
    )
  }

  private checkIndex(expr: ExprOf<'Index'>, parent: Node | null): void {
    const { object, index } = expr
    const type = this.types.receiverType(object)
    const kinds = this.kinds(type)
    if (type === null || kinds === null) return
    if (isWithin(kinds, NO_INDEX)) {
      if (expr.optional && kinds.has('nil')) return
      const name = index.kind === 'String' && /^[A-Za-z_]\w*$/.test(index.value) && kinds.has('struct') ? index.value : null
      const edit = name === null ? undefined : { span: { start: object.span.end, end: expr.span.end }, text: `.${name}` }
      const fix = edit === undefined ? undefined : { title: 'read the field', edits: [edit] }
      this.world.report('T091', expr.span, { type: describe(type), key: null, field: name }, fix)
      return
    }
    if (isWithin(kinds, HAS_POSITIONS)) {
      const given = this.types.infer(index)
      if (given !== null && isWithin(this.kinds(given), NO_POSITION)) {
        this.world.report('T091', index.span, { type: describe(type), key: describe(given), field: null })
      } else this.checkPosition(expr, parent)
      return
    }
    if (type.kind !== 'shape' || !this.types.isClosed(type) || index.kind !== 'String' || expr.optional) return
    if (asksForNil(parent) || (parent?.kind === 'Assign' && parent.target === expr)) return
    if (type.fields.some(({ name }) => name === index.value)) return
    const names = type.fields.map(({ name }) => name)
    const suggestion = findFieldHabit(index.value, type.fields) ?? this.suggest(index.value, names)
    const fix = suggestion === null ? undefined : replaceWord(index.span, JSON.stringify(suggestion))
    this.world.report('T081', index.span, { type: 'the dict', property: index.value, suggestion }, fix)
  }

  /** A position behind the end of a literal list. */
  private checkPosition({ object, index }: ExprOf<'Index'>, parent: Node | null): void {
    if (index.kind !== 'Int' || asksForNil(parent)) return
    const decl = object.kind === 'Identifier' ? this.types.target(object) : undefined
    const list = decl?.kind === 'let' && !decl.isUpdated ? decl.value : object
    if (list?.kind !== 'List' || list.items.some(({ spread }) => spread) || Number(index.value) < list.items.length) return
    this.world.report('T096', index.span, { length: list.items.length })
  }

  /** Of the value that a variable is given, and of what is put into a part of it. */
  private checkAssign(stmt: Extract<Stmt, { kind: 'Assign' }>): void {
    const { target, value, operator } = stmt
    if (operator !== null) {
      this.checkOperands(operator, this.updatedType(target), this.types.infer(value), stmt.span)
      return
    }
    if (target.kind === 'Member') {
      this.checkPart(target, value)
      return
    }
    if (target.kind !== 'Identifier') return
    const decl = this.types.target(target)
    if (decl?.kind !== 'var' || decl.type === null) return
    const declared = this.read(decl.type)
    const given = this.types.infer(value)
    if (given === null || !this.isMismatch(declared, given, value)) return
    this.world.report('T007', stmt.span, { name: decl.name, declared: show(declared), actual: show(given) })
  }

  /** The type of what is updated in place. A variable that is never assigned otherwise keeps the type of its first value. */
  private updatedType(target: Expr): Known {
    const type = this.types.infer(target)
    const decl = target.kind === 'Identifier' ? this.types.target(target) : undefined
    if (type !== null || decl?.kind !== 'var' || decl.type !== null || decl.value === null) return type
    return decl.assigned.every(({ operator }) => operator !== null) ? this.types.infer(decl.value) : null
  }

  private checkLet(stmt: Extract<Stmt, { kind: 'Let' }>): void {
    const { binding, value } = stmt
    if (binding.kind !== 'NameBinding' || binding.type === null) return
    const declared = this.read(binding.type)
    const given = this.types.infer(value)
    if (given === null || !this.isMismatch(declared, given, value)) return
    const { text } = binding.name
    this.world.report('T014', stmt.span, { name: text, declared: show(declared), actual: show(given), detail: '' })
  }

  private checkPart(target: ExprOf<'Member'>, value: Expr): void {
    const type = this.types.receiverType(target.object)
    const { text } = target.property
    const field = type?.kind === 'named' ? this.world.root.struct(type.name)?.fields.find(({ name }) => name === text) : undefined
    const declared = field?.type ?? null
    const given = this.types.infer(value)
    if (declared === null || given === null) return
    if (!this.isMismatch(declared, given, value)) return
    this.world.report('T007', value.span, { name: text, declared: show(declared), actual: show(given) })
  }

  private checkDefaults(params: readonly Param[]): void {
    for (const { name, type, defaultValue } of params) {
      if (type === null || defaultValue === null) continue
      const declared = this.read(type)
      const given = this.types.infer(defaultValue)
      if (given === null || !this.isMismatch(declared, given, defaultValue)) continue
      // `= nil` makes a parameter optional.
      if (defaultValue.kind === 'Nil') continue
      this.world.report('T007', defaultValue.span, { name: name.text, declared: show(declared), actual: show(given) })
    }
  }

  private checkArms({ subject, arms, span }: ExprOf<'Match'>): void {
    const type = this.types.infer(subject)
    this.checkVariants(type, arms, span)
    const kinds = this.kinds(type)
    const isTypeName = asksType(subject, this.types)
    for (const pattern of arms.flatMap(({ patterns }) => patterns)) {
      if (!LITERALS.has(pattern.kind)) continue
      if (isTypeName && pattern.kind === 'String') this.checkTypeName(pattern)
      const given = this.types.infer(pattern)
      const one = this.kinds(given)
      if (type === null || kinds === null || given === null || one === null || kinds.has('nil')) continue
      if (!isDisjoint(group(kinds), group(one))) continue
      this.world.report('T051', pattern.span, { matched: describe(type), literal: describe(given) })
    }
  }

  /** Variants that no arm is for, where some arms take fields out: the language does not look at those. */
  private checkVariants(type: Known, arms: ExprOf<'Match'>['arms'], span: Span): void {
    const found = type?.kind === 'named' ? this.world.root.enumNamed(type.name) : undefined
    if (type?.kind !== 'named' || found === undefined) return
    const covered = new Set<string>()
    let takesFields = false
    for (const pattern of arms.flatMap(({ patterns }) => patterns)) {
      if (pattern.kind !== 'Member' && pattern.kind !== 'MethodCall') return
      if (pattern.object.kind !== 'Identifier' || pattern.object.name !== type.name) return
      covered.add(pattern.kind === 'Member' ? pattern.property.text : pattern.method.text)
      takesFields ||= pattern.kind === 'MethodCall'
    }
    const missing = found.decl.variants.filter(({ name }) => !covered.has(name.text)).map(({ name }) => `"${name.text}"`)
    if (!takesFields || missing.length === 0) return
    this.world.report('T050', span, { subject: `enum ${type.name}`, what: 'variants ', missing: missing.join(', ') })
  }

  /** `type_of` gives a fixed set of names. */
  private checkTypeName(name: ExprOf<'String'>): void {
    if (TYPE_NAMES.has(name.value) || this.world.root.struct(name.value) !== undefined) return
    const suggestion = TYPE_HABITS[name.value] ?? this.suggest(name.value, TYPE_NAMES)
    // Values of hosts have type names of their own.
    if (suggestion === null) return
    const fix = replaceWord(name.span, JSON.stringify(suggestion))
    this.world.report('T094', name.span, { name: name.value, suggestion }, fix)
  }

  // ---- calls --------------------------------------------------------------------------------------------------------

  private checkCall(call: ExprOf<'Call'>, parent: Node | null): void {
    const name = call.callee.text
    const decl = this.types.target(call)
    const imported = decl === undefined || decl.kind === 'import' ? this.types.importedSignature(name) : null
    if (decl === undefined || decl.kind === 'import') this.ownTools.check(call)
    if (imported !== null) {
      this.checkArguments(name, imported, call.args, call.callee.span)
      return
    }
    this.checkPrinted(call)
    if (decl === undefined) {
      const { importedNames, root } = this.world
      if (importedNames === null || importedNames.has(name) || root.struct(name) !== undefined) return
      const signature = findBuiltin(name)
      if (signature === null) return
      const isEmptyLine = call.args.length === 0 && PRINTS.has(name)
      if (!isEmptyLine) this.checkArguments(name, signature, call.args, call.callee.span)
      this.checkConversion(name, call)
      if (isNamed(signature.returns, 'nil') && this.isUsed(call, parent)) this.world.report('T089', call.callee.span, { name })
      checkOptionTypes(call, this.types, this.world)
      return
    }
    if (decl.kind === 'fn' && decl.stmt?.kind === 'FnDecl') {
      this.checkUserCall(call, decl.stmt)
      if (givesNothing(decl.stmt) && this.isUsed(call, parent)) this.world.report('T089', call.callee.span, { name })
      return
    }
    this.checkVariableCall(call, decl)
  }

  /** A value that something is made of; where it is handed on, nil may be what is wanted. */
  private isUsed(call: Expr, parent: Node | null): boolean {
    switch (parent?.kind) {
      case 'Binary': {
        const other = parent.left === call ? parent.right : parent.left
        return other.kind !== 'Nil' && parent.operator !== '&&' && parent.operator !== '||'
      }
      case 'Call':
        return parent.callee.text === 'println' || parent.callee.text === 'print' || parent.callee.text === 'len'
      case 'If':
      case 'While':
      case 'Guard':
      case 'Ternary':
        return parent.condition === call
      case 'Let':
        return parent.binding.kind !== 'NameBinding' || !parent.binding.name.text.startsWith('_')
      case 'Interpolation':
      case 'Member':
      case 'MethodCall':
      case 'Index':
      case 'For':
        return true
      default:
        return false
    }
  }

  private checkUserCall(call: ExprOf<'Call'>, decl: Extract<Stmt, { kind: 'FnDecl' }>): void {
    const params = decl.params.map((param) => ({
      name: param.name.text,
      type: null,
      optional: param.defaultValue !== null,
      rest: param.rest,
    }))
    this.checkCount(call.callee.text, countParams(params), call.args, call.callee.span)
    if (decl.typeParams.length > 0) return
    for (const [at, arg] of call.args.entries()) {
      const param = decl.params[at]
      if (arg.spread || param === undefined || param.rest) return
      if (param.type === null) continue
      const declared = this.read(param.type)
      const given = this.types.infer(arg.value)
      if (given === null) continue
      if (!this.isMismatch(declared, given, arg.value)) continue
      const { text } = param.name
      this.world.report('T022', arg.value.span, { index: at + 1, param: text, expected: show(declared), actual: show(given) })
    }
  }

  /** Nothing fits, or nil does not and nobody has asked for it. */
  private isMismatch(declared: Type, given: Type, arg: Expr): boolean {
    if (this.isOtherText(declared, arg) || this.lacksFields(declared, given) || this.isOtherFunction(declared, arg)) return true
    if (fits(declared, given, this.world.root)) return false
    const wanted = this.kinds(declared)
    const actual = this.kinds(given)
    if (wanted === null || actual === null) return false
    if (isDisjoint(widen(wanted), actual)) return true
    if (given.kind !== 'union' || !actual.has('nil') || wanted.has('nil') || arg.kind !== 'Identifier') return false
    const decl = this.types.target(arg)
    const rest: Type = { kind: 'union', members: given.members.filter((member) => !isNamed(member, 'nil')) }
    return decl !== undefined && decl.kind === 'let' && !decl.isTested && fits(declared, rest, this.world.root)
  }

  /** A text that is none of those that are listed. */
  private isOtherText(declared: Type, arg: Expr): boolean {
    if (arg.kind !== 'String') return false
    const head = resolveHead(declared, this.world.root)
    const members = (head.kind === 'union' ? head.members : [head]).map((member) => resolveHead(member, this.world.root))
    return members.every((member) => (member.kind === 'string-literal' ? member.value !== arg.value : isNamed(member, 'nil')))
  }

  /** A literal dict in which a key is missing, or has a value of another type. */
  private lacksFields(declared: Type, given: Type): boolean {
    const wanted = resolveHead(declared, this.world.root)
    if (wanted.kind !== 'shape' || given.kind !== 'shape' || !this.types.isClosed(given)) return false
    return wanted.fields.some(({ name, type, optional }) => {
      const own = given.fields.find((field) => field.name === name)
      const kinds = this.kinds(type)
      if (own === undefined) return !optional && kinds !== null && !kinds.has('nil')
      const actual = this.kinds(own.type)
      return kinds !== null && actual !== null && isDisjoint(widen(kinds), actual)
    })
  }

  /** A closure with more parameters than it is called with. */
  private isOtherFunction(declared: Type, arg: Expr): boolean {
    const wanted = resolveHead(declared, this.world.root)
    if (wanted.kind !== 'fn') return false
    const params = this.paramsOf(arg)?.filter((param) => param.defaultValue === null && !param.rest)
    return params !== undefined && params.length > wanted.params.length
  }

  private checkVariableCall(call: ExprOf<'Call'>, decl: Decl): void {
    const name = call.callee.text
    if (this.world.builtins.has(name)) return // which the call means
    const closure = decl.kind === 'let' && decl.value?.kind === 'Closure' ? decl.value : null
    if (closure !== null) {
      const params = closure.params.map((param) => ({
        name: param.name.text,
        type: null,
        optional: param.defaultValue !== null,
        rest: param.rest,
      }))
      this.checkCount(name, countParams(params), call.args, call.callee.span)
      return
    }
    if (decl.kind !== 'let' && decl.kind !== 'var' && decl.kind !== 'param' && decl.kind !== 'loop') return
    const type = this.types.declType(decl)
    if (type !== null && isWithin(this.kinds(type), NO_CALL)) {
      this.world.report('T088', call.callee.span, { name, type: describe(type) })
    }
  }

  private checkCount(
    name: string,
    signature: Pick<ExactSignature, 'required' | 'most'>,
    args: readonly Argument[],
    span: Span,
  ): void {
    if (args.some(({ spread }) => spread)) return
    const { required, most } = signature
    if (args.length >= required && (most === null || args.length <= most)) return
    const fix = PRINTS.has(name) && args.length > 1 ? this.joinPrinted(args) : undefined
    this.world.report('T082', span, { name, expected: countText(required, most), actual: args.length }, fix)
  }

  /** The arguments of a call that prints one, in one string. */
  private joinPrinted(args: readonly Argument[]): Fix | undefined {
    const { text } = this.world.file
    const parts: string[] = []
    for (const [at, { value }] of args.entries()) {
      const source = text.slice(value.span.start, value.span.end)
      const before = args[at - 1]
      // Without a comma they may be one thing of another language.
      if (before !== undefined && !text.slice(before.value.span.end, value.span.start).includes(',')) return undefined
      const isText = value.kind === 'String' || value.kind === 'Interpolation'
      if ((isText && value.quote !== 'double') || source.includes('\n')) return undefined
      parts.push(isText ? source.slice(1, -1) : `\${${source}}`)
    }
    const span = { start: args[0]!.value.span.start, end: args.at(-1)!.value.span.end }
    return { title: 'write one string', edits: [{ span, text: `"${parts.join(' ')}"` }] }
  }

  private checkArguments(name: string, signature: ExactSignature, args: readonly Argument[], span: Span): void {
    const required = Math.max(signature.required, Object.hasOwn(NEEDED, name) ? NEEDED[name]! : 0)
    this.checkCount(name, { required, most: signature.most }, args, span)
    for (let at = 0; at < args.length; at++) {
      const { spread, value } = args[at]!
      const param = signature.params[at]
      if (spread || param === undefined || param.rest) return
      const wanted = param.type === null ? null : this.kinds(param.type)
      const given = wanted === null ? null : this.types.infer(value)
      const actual = this.kinds(given)
      if (param.type === null || wanted === null || given === null || actual === null || !isDisjoint(wanted, actual)) continue
      const isText = wanted.size === 1 && TEXT_PARAMS.has(param.name) && !name.includes('.')
      if (actual.has('nil') || !isDisjoint(widen(wanted, isText), actual)) continue
      this.world.report('T083', value.span, { name, param: param.name, expected: show(param.type), actual: describe(given) })
    }
  }

  private checkConversion(name: string, call: ExprOf<'Call'>): void {
    const texts = Object.hasOwn(NUMBER_TEXTS, name) ? NUMBER_TEXTS[name]! : null
    const arg = call.args[0]
    if (texts === null || arg === undefined || arg.spread) return
    const type = this.types.infer(arg.value)
    const isText = arg.value.kind === 'String'
    if (arg.value.kind === 'String' ? texts.test(arg.value.value) : type === null || !isWithin(this.kinds(type), NO_NUMBER))
      return
    const expected = isText ? 'the text of a number' : 'a number or a string'
    const actual = isText ? JSON.stringify(arg.value.value) : describe(type!) // it has kinds
    this.world.report('T083', arg.value.span, { name, param: 'value', expected, actual })
  }

  /** Parameters of a callback that it is never given anything for. */
  private checkCallback(name: string, method: string, args: readonly Argument[]): void {
    const given = Object.hasOwn(CALLBACK_ARGUMENTS, method) ? CALLBACK_ARGUMENTS[method]! : null
    const value = args.at(-1)?.value
    if (given === null || value === undefined) return
    const params = this.paramsOf(value)?.filter((param) => param.defaultValue === null && !param.rest)
    if (params === undefined || params.length <= given) return
    this.world.report('T092', value.span, { name, given, actual: params.length })
  }

  private paramsOf(value: Expr): readonly Param[] | null {
    if (value.kind === 'Closure') return value.params
    const decl = value.kind === 'Identifier' ? this.types.target(value) : undefined
    if (decl?.stmt?.kind === 'FnDecl') return decl.stmt.params
    return decl?.kind === 'let' && decl.value?.kind === 'Closure' ? decl.value.params : null
  }

  // ---- operators and loops ------------------------------------------------------------------------------------------

  private checkBinary(expr: ExprOf<'Binary'>): void {
    const { operator } = expr
    const left = this.types.infer(expr.left)
    const right = this.types.infer(expr.right)
    switch (operator) {
      case '==':
      case '!=':
        if (asksType(expr.left, this.types) && expr.right.kind === 'String') this.checkTypeName(expr.right)
        else if (asksType(expr.right, this.types) && expr.left.kind === 'String') this.checkTypeName(expr.left)
        this.checkEqual(expr, left, right)
        return
      case 'in':
      case 'not in':
        if (right !== null && isWithin(this.kinds(right), HOLDS_NOTHING)) {
          this.world.report('T090', expr.right.span, { item: null, type: describe(right) })
        } else this.checkHeld(expr.left, right, expr.span)
        return
      default:
        this.checkOperator(expr, left, right)
    }
  }

  /** Whether a list can hold what is looked for in it. */
  private checkHeld(item: Expr, holder: Known, span: Span): void {
    if (holder?.kind !== 'list') return
    const given = this.types.infer(item)
    const one = this.kinds(given)
    const other = this.kinds(holder.element)
    if (given === null || one === null || other === null || one.has('nil') || !isDisjoint(group(one), group(other))) return
    this.world.report('T090', span, { item: describe(given), type: show(holder) })
  }

  private checkEqual(expr: ExprOf<'Binary'>, left: Known, right: Known): void {
    const { operator } = expr
    const one = this.kinds(left)
    const other = this.kinds(right)
    if (left === null || right === null || one === null || other === null) return
    if (operator !== '==' && operator !== '!=') return
    if (one.has('nil') || other.has('nil')) return
    if (!isDisjoint(group(one), group(other)) && !this.areOtherDeclarations(left, right)) return
    this.world.report('T086', expr.span, { left: describe(left), right: describe(right), operator })
  }

  /** Structs and enums equal only those of their own declaration. */
  private areOtherDeclarations(left: Type, right: Type): boolean {
    const one = this.declarationName(left)
    const other = this.declarationName(right)
    return one !== null && other !== null && one !== other
  }

  private declarationName(type: Type): string | null {
    const { root } = this.world
    const head = resolveHead(type, root)
    if (head.kind !== 'named' && head.kind !== 'applied') return null
    return root.struct(head.name) !== undefined || root.enumNamed(head.name) !== undefined ? head.name : null
  }

  /** The language's own check of operators, for what it takes no notice of: the top level and `${…}`. */
  private checkOperator(expr: ExprOf<'Binary'>, leftType: Known, rightType: Known): void {
    const { operator, span } = expr
    if (operator !== '&&' && operator !== '||' && operator !== '??') {
      this.checkOperand(expr.left, leftType)
      this.checkOperand(expr.right, rightType)
    }
    const mayBeNil = this.mayBeNil(expr.left, leftType) || this.mayBeNil(expr.right, rightType)
    this.checkOperands(operator, mayBeNil ? present(leftType) : leftType, mayBeNil ? present(rightType) : rightType, span)
    if (!mayBeNil || !ARITHMETIC.has(operator)) return
    const operand = this.mayBeNil(expr.left, leftType) ? expr.left : expr.right
    this.world.report('T095', operand.span, { name: operand.kind === 'Identifier' ? operand.name : '', operator })
  }

  /** A variable whose type says that it may be nil, and that nobody has asked. */
  private mayBeNil(expr: Expr, type: Known): boolean {
    if (expr.kind !== 'Identifier' || type?.kind !== 'union' || !type.members.some((member) => isNamed(member, 'nil')))
      return false
    const decl = this.types.target(expr)
    return decl !== undefined && (decl.kind === 'let' || decl.kind === 'param') && decl.type !== null && !decl.isTested
  }

  private checkOperands(operator: BinaryOperator, leftType: Known, rightType: Known, span: Span): void {
    const plainLeft = plain(leftType)
    const plainRight = plain(rightType)
    if (plainLeft === null || plainRight === null) return
    const problem = operatorProblem(operator, plainLeft, plainRight)
    const left = describe(plainLeft)
    const right = describe(plainRight)
    if (problem === 'add') this.world.report('T001', span, { left, right })
    else if (problem === 'numeric') this.world.report('T002', span, { operator, left, right })
    else if (problem === 'multiply') this.world.report('T003', span, { left, right })
    else if (problem === 'not-comparable' && !(left === 'pair' && right === 'pair'))
      this.world.report('T004', span, { operator, left, right })
    else if (problem === 'mixed-comparison') this.world.report('T005', span, { operator, left, right })
  }

  private checkPrinted(call: ExprOf<'Call'>): void {
    if (PRINTS.has(call.callee.text)) for (const { value } of call.args) this.checkPlainValue(value)
  }

  /** The name of a builtin where its result is wanted. */
  private checkPlainValue(value: Expr): void {
    if (value.kind !== 'Identifier') return
    if (this.types.target(value) !== undefined || !this.types.isBuiltin(value.name)) return
    this.world.report('T093', value.span, { what: `\`${value.name}\` is a function and not its result: call it` })
  }

  private checkOperand(operand: Expr, type: Known): void {
    if (type === null || !isWithin(this.kinds(type), FUNCTIONS)) return
    this.world.report('T093', operand.span, { what: 'a function is no operand: call it' })
  }

  private checkUnary(expr: ExprOf<'Unary'>): void {
    if (expr.operator !== '-') return
    const type = this.types.infer(expr.operand)
    if (type === null || !isWithin(this.kinds(type), NO_ARITHMETIC)) return
    this.world.report('T093', expr.span, { what: `\`-\` of ${describe(type)} is an error` })
  }

  private checkPipe({ callee }: ExprOf<'Pipe'>): void {
    const type = this.types.infer(callee)
    if (type === null || !isWithin(this.kinds(type), NO_PIPE)) return
    this.world.report('T093', callee.span, { what: `a pipe calls what is behind it, and ${describe(type)} cannot be called` })
  }

  private checkFor(stmt: Extract<Stmt, { kind: 'For' }>): void {
    const type = this.types.infer(stmt.iterable)
    if (type !== null && isWithin(this.kinds(type), NOTHING_TO_ITERATE)) {
      this.world.report('T087', stmt.iterable.span, { type: describe(type) })
    }
  }
}

function findFieldHabit(name: string, fields: readonly Field[]): string | null {
  const meant = Object.hasOwn(FIELD_HABITS, name) ? FIELD_HABITS[name] : undefined
  return meant?.find((each) => fields.some((field) => field.name === each)) ?? null
}

/** Where a key that is not there is what is asked. */
function asksForNil(parent: Node | null): boolean {
  if (parent?.kind === 'Member' || parent?.kind === 'Index' || parent?.kind === 'MethodCall') return parent.optional
  if (parent?.kind !== 'Binary') return false
  const isCompared = parent.operator === '==' || parent.operator === '!='
  return parent.operator === '??' || (isCompared && (parent.left.kind === 'Nil' || parent.right.kind === 'Nil'))
}

/** `type_of(x)` of the language. */
function asksType(expr: Expr, types: Types): boolean {
  return expr.kind === 'Call' && expr.callee.text === 'type_of' && types.target(expr) === undefined && types.isBuiltin('type_of')
}
