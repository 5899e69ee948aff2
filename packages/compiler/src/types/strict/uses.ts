// Uses of values whose types are known: methods, properties, arguments, options, comparisons, loops, calls. Each check asks for the
// type and is silent where there is none.

import {
  type Argument,
  type Expr,
  type ExprOf,
  findMemberHabit,
  forEachChild,
  type ImplDecl,
  type Node,
  type Span,
  type Stmt,
} from '@bridle/parser'
import { operatorProblem } from '../operators.js'
import { fits } from '../relate.js'
import { show } from '../show.js'
import { isNamed, type Known, readType, type Type } from '../type.js'
import { checkOptionTypes } from './options.js'
import { givesNothing, Types } from './infer.js'
import { isDisjoint, isWithin, type Kinds, listKinds } from './kinds.js'
import type { Decl, Names } from './names.js'
import { type ExactSignature, findBuiltin, findMethod, listMethods } from './signatures.js'
import { type Candidate, suggestName } from './suggest.js'
import { replaceWord, type StrictWorld } from './world.js'

/** Looks at every expression of the file. */
export function checkUses(world: StrictWorld, names: Names): void {
  const uses = new Uses(world, names, new Types(world, names))
  for (const item of world.program.items) uses.visit(item, null)
}

const NOTHING_TO_ITERATE: ReadonlySet<string> = new Set([
  'int',
  'float',
  'bool',
  'nil',
  'closure',
  'builtin',
  'duration',
  'enum',
  'pair',
])
const HOLDS_NOTHING: ReadonlySet<string> = new Set([
  'int',
  'float',
  'bool',
  'nil',
  'closure',
  'builtin',
  'duration',
  'enum',
  'pair',
])
const NO_CALL: ReadonlySet<string> = new Set([
  'int',
  'float',
  'string',
  'bool',
  'nil',
  'list',
  'dict',
  'set',
  'range',
  'duration',
  'bytes',
])
const NO_PROPERTY: ReadonlySet<string> = new Set([
  'int',
  'float',
  'bool',
  'nil',
  'duration',
  'closure',
  'builtin',
  'range',
  'set',
  'bytes',
])

const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  list: ['count', 'empty', 'first', 'last'],
  string: ['count', 'empty'],
  enum: ['variant', 'fields'],
  pair: ['first', 'second'],
}

/** Kinds whose values may be equal to each other. */
const EQUAL_GROUPS: Readonly<Record<string, string>> = {
  int: 'number',
  float: 'number',
  duration: 'number',
  list: 'sequence',
  range: 'sequence',
  set: 'sequence',
  iter: 'sequence',
  dict: 'record',
  struct: 'record',
  builtin: 'closure',
}

/** Without an argument they print an empty line. */
const PRINTS: ReadonlySet<string> = new Set(['print', 'println', 'eprint', 'eprintln', 'log'])

/** Calls whose optional argument has a default that nobody expects who leaves it away: `split()` does not split at spaces. */
const NEEDED: Readonly<Record<string, number>> = { split: 2, 'string.split': 1 }

/** What a conversion can make something of. */
const CONVERTIBLE: Readonly<Record<string, ReadonlySet<string>>> = {
  to_int: new Set(['list', 'dict', 'set', 'closure', 'builtin', 'range', 'pair']),
  to_float: new Set(['list', 'dict', 'set', 'closure', 'builtin', 'range', 'pair']),
}

class Uses {
  private readonly world: StrictWorld
  private readonly names: Names
  private readonly types: Types
  private readonly impls = new Map<string, Map<string, ImplDecl['methods'][number]>>()
  /** Patterns are no expressions, and what is assigned is not read. */
  private readonly skipped = new Set<Node>()

  constructor(world: StrictWorld, names: Names, types: Types) {
    this.world = world
    this.names = names
    this.types = types
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
      default:
        return
    }
  }

  private kinds(type: Known): Kinds | null {
    return listKinds(type, this.world.root)
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
    return findMemberHabit(name)?.words.find((word) => known.has(word)) ?? this.suggest(name, known)
  }

  // ---- methods and properties ---------------------------------------------------------------------------------------

  private checkMethod(expr: ExprOf<'MethodCall'>): void {
    const { object, method } = expr
    if (object.kind === 'Identifier' && this.checkVariant(object, method.text, method.span, expr.args)) return
    const type = this.types.infer(object)
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
      const suggestion = this.suggestMember(method.text, known)
      const fix = replaceWord(method.span, suggestion)
      this.world.report('T080', method.span, { type: describe(type), method: method.text, suggestion }, fix)
      return
    }
    const [signature] = signatures
    if (receivers.length === 1 && signature !== null && signature !== undefined) {
      this.checkArguments(`${receivers[0]}.${method.text}`, signature, expr.args, method.span)
    }
  }

  /** Methods of structs and enums, and entries of a dict whose keys are known. */
  private checkOwnMethod(expr: ExprOf<'MethodCall'>, type: Type): void {
    const { method } = expr
    if (type.kind === 'shape') {
      if (!this.types.closed.has(type) || type.fields.some(({ name }) => name === method.text)) return
      const signature = findMethod('dict', method.text)
      if (signature !== null) {
        this.checkArguments(`dict.${method.text}`, signature, expr.args, method.span)
        return
      }
      const known = new Set([...listMethods('dict').keys(), ...type.fields.map(({ name }) => name)])
      const suggestion = this.suggestMember(method.text, known)
      this.world.report(
        'T080',
        method.span,
        { type: 'dict', method: method.text, suggestion },
        replaceWord(method.span, suggestion),
      )
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
    if (struct === undefined && known.length === 0) return
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
    return true
  }

  private checkMember(expr: ExprOf<'Member'>, parent: Node | null): void {
    const { object, property } = expr
    if (parent?.kind === 'Assign' && parent.target === expr) return
    if (object.kind === 'Identifier') {
      const decl = this.types.target(object)
      if (decl === undefined ? this.world.root.enumNamed(object.name) !== undefined : decl.stmt?.kind === 'EnumDecl') return
    }
    const type = this.types.infer(object)
    const kinds = this.kinds(type)
    if (type === null || kinds === null) return
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
    const report = (name: string, known: readonly string[], isSure: boolean): void => {
      const suggestion = this.suggest(property.text, known)
      if (!isSure && suggestion === null) return
      const fix = replaceWord(property.span, suggestion)
      this.world.report('T081', property.span, { type: name, property: property.text, suggestion }, fix)
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
    const isOptional = expr.optional || (parent?.kind === 'Binary' && (parent.operator === '??' || parent.operator === '=='))
    if (isOptional && this.types.closed.has(type)) return
    report(
      'the dict',
      type.fields.map(({ name }) => name),
      false,
    )
  }

  // ---- calls --------------------------------------------------------------------------------------------------------

  private checkCall(call: ExprOf<'Call'>, parent: Node | null): void {
    const name = call.callee.text
    const decl = this.types.target(call)
    if (decl === undefined) {
      const { importedNames, root } = this.world
      if (importedNames === null || importedNames.has(name) || root.struct(name) !== undefined) return
      const signature = findBuiltin(name)
      if (signature === null) return
      const isEmptyLine = call.args.length === 0 && PRINTS.has(name)
      if (!isEmptyLine) this.checkArguments(name, signature, call.args, call.callee.span)
      this.checkConversion(name, call)
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
      case 'Let':
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
      const declared = readType(param.type)
      const given = this.types.infer(arg.value)
      if (given === null || fits(declared, given, this.world.root)) continue
      if (!this.isMismatch(declared, given, arg.value)) continue
      const { text } = param.name
      this.world.report('T022', arg.value.span, { index: at + 1, param: text, expected: show(declared), actual: show(given) })
    }
  }

  /** Nothing fits, or nil does not and nobody has asked for it. */
  private isMismatch(declared: Type, given: Type, arg: Expr): boolean {
    const wanted = this.kinds(declared)
    const actual = this.kinds(given)
    if (wanted === null || actual === null) return false
    if (isDisjoint(widen(wanted), actual)) return true
    if (given.kind !== 'union' || !actual.has('nil') || wanted.has('nil') || arg.kind !== 'Identifier') return false
    const decl = this.types.target(arg)
    const rest: Type = { kind: 'union', members: given.members.filter((member) => !isNamed(member, 'nil')) }
    return decl !== undefined && decl.kind === 'let' && !decl.isTested && fits(declared, rest, this.world.root)
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
    this.world.report('T082', span, { name, expected: countText(required, most), actual: args.length })
  }

  private checkArguments(name: string, signature: ExactSignature, args: readonly Argument[], span: Span): void {
    const required = Math.max(signature.required, Object.hasOwn(NEEDED, name) ? NEEDED[name]! : 0)
    this.checkCount(name, { required, most: signature.most }, args, span)
    for (const [at, { spread, value }] of args.entries()) {
      const param = signature.params[at]
      if (spread || param === undefined || param.rest) return
      const wanted = param.type === null ? null : this.kinds(param.type)
      const given = this.types.infer(value)
      const actual = this.kinds(given)
      if (param.type === null || wanted === null || given === null || actual === null) continue
      if (actual.has('nil') || !isDisjoint(widen(wanted), actual)) continue
      this.world.report('T083', value.span, { name, param: param.name, expected: show(param.type), actual: describe(given) })
    }
  }

  private checkConversion(name: string, call: ExprOf<'Call'>): void {
    const hopeless = Object.hasOwn(CONVERTIBLE, name) ? CONVERTIBLE[name]! : null
    const arg = call.args[0]
    if (hopeless === null || arg === undefined || arg.spread) return
    const type = this.types.infer(arg.value)
    if (type === null || !isWithin(this.kinds(type), hopeless)) return
    const expected = 'a number or a string'
    this.world.report('T083', arg.value.span, { name, param: 'value', expected, actual: describe(type) })
  }

  // ---- operators and loops ------------------------------------------------------------------------------------------

  private checkBinary(expr: ExprOf<'Binary'>): void {
    const { operator } = expr
    const left = this.types.infer(expr.left)
    const right = this.types.infer(expr.right)
    switch (operator) {
      case '==':
      case '!=':
        this.checkEqual(expr, left, right)
        return
      case 'in':
      case 'not in':
        if (right !== null && isWithin(this.kinds(right), HOLDS_NOTHING)) {
          this.world.report('T090', expr.right.span, { type: describe(right) })
        }
        return
      default:
        this.checkOperator(expr, left, right)
    }
  }

  private checkEqual(expr: ExprOf<'Binary'>, left: Known, right: Known): void {
    const { operator } = expr
    const one = this.kinds(left)
    const other = this.kinds(right)
    if (left === null || right === null || one === null || other === null) return
    if (operator !== '==' && operator !== '!=') return
    if (one.has('nil') || other.has('nil') || !isDisjoint(group(one), group(other))) return
    this.world.report('T086', expr.span, { left: describe(left), right: describe(right), operator })
  }

  /** The language's own check of operators, for what it takes no notice of: the top level and `${…}`. */
  private checkOperator(expr: ExprOf<'Binary'>, leftType: Known, rightType: Known): void {
    const { operator, span } = expr
    const plainLeft = plain(leftType)
    const plainRight = plain(rightType)
    if (plainLeft === null || plainRight === null) return
    const problem = operatorProblem(operator, plainLeft, plainRight)
    const left = describe(plainLeft)
    const right = describe(plainRight)
    if (problem === 'add') this.world.report('T001', span, { left, right })
    else if (problem === 'numeric') this.world.report('T002', span, { operator, left, right })
    else if (problem === 'multiply') this.world.report('T003', span, { left, right })
    else if (problem === 'not-comparable') this.world.report('T004', span, { operator, left, right })
    else if (problem === 'mixed-comparison') this.world.report('T005', span, { operator, left, right })
  }

  private checkFor(stmt: Extract<Stmt, { kind: 'For' }>): void {
    const type = this.types.infer(stmt.iterable)
    if (type !== null && isWithin(this.kinds(type), NOTHING_TO_ITERATE)) {
      this.world.report('T087', stmt.iterable.span, { type: describe(type) })
    }
  }
}

function plain(type: Known): Known {
  if (type === null || type.kind !== 'named') return null
  return ['int', 'float', 'string', 'bool', 'nil', 'list', 'dict'].includes(type.name) ? type : null
}

/** Numbers stand for each other where one is asked for. */
function widen(kinds: Kinds): Kinds {
  const wider = new Set(kinds)
  if (wider.has('int') || wider.has('float')) wider.add('int').add('float')
  if (wider.has('duration')) wider.add('int').add('float')
  if (wider.has('list')) wider.add('range').add('iter').add('set').add('generator').add('stream')
  if (wider.has('iter')) wider.add('list').add('range').add('set').add('generator').add('stream').add('dict').add('string')
  // What is no text is written as one.
  if (wider.has('string')) wider.add('int').add('float').add('bool').add('duration').add('bytes')
  // A function can be named by a string.
  if (wider.has('closure')) wider.add('string')
  return wider
}

function group(kinds: Kinds): Kinds {
  return new Set([...kinds].map((kind) => EQUAL_GROUPS[kind] ?? kind))
}

function describe(type: Type): string {
  switch (type.kind) {
    case 'list':
      return 'list'
    case 'shape':
    case 'dict':
      return 'dict'
    case 'fn':
      return 'closure'
    default:
      return show(type)
  }
}

interface CountedParam {
  readonly optional: boolean
  readonly rest: boolean
}

function countParams(params: readonly CountedParam[]): Pick<ExactSignature, 'required' | 'most'> {
  return {
    required: params.filter(({ optional, rest }) => !optional && !rest).length,
    most: params.some(({ rest }) => rest) ? null : params.length,
  }
}

function countText(required: number, most: number | null): string {
  const noun = (count: number): string => (count === 1 ? 'argument' : 'arguments')
  if (most === null) return `at least ${required} ${noun(required)}`
  if (required === most) return most === 0 ? 'no arguments' : `${most} ${noun(most)}`
  return `${required} to ${most} arguments`
}
