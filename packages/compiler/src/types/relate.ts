// Whether a value of one type may stand where another is expected. The order of the rules matters: the first that applies decides.
// Interface satisfaction is one of these rules and needs the others, so it is here too. Pure questions: nothing is reported.
//
// Termination: aliases may be recursive, so a pair whose heads needed resolving is assumed to fit while it is being decided,
// and one question takes a bounded number of steps, after which the answer is yes (no finding).

import { resolveHead } from './aliases.js'
import { bind, type Conflict } from './bind.js'
import type { FnSignature } from './declarations.js'
import type { InterfaceInfo, Scope, Variance } from './scope.js'
import { show } from './show.js'
import { UNTYPED, isNamed, sameType, substitute, type Type } from './type.js'

const MAX_STEPS = 20_000

interface Question {
  readonly scope: Scope
  readonly assumed: Set<string>
  steps: number
}

/** Whether `actual` may be used where `expected` is required. */
export function fits(expected: Type, actual: Type, scope: Scope): boolean {
  return decide(expected, actual, { scope, assumed: new Set(), steps: 0 })
}

function decide(expected: Type, actual: Type, question: Question): boolean {
  if (expected === actual || actual === UNTYPED || ++question.steps > MAX_STEPS) return true
  const { scope } = question
  scope.work.step()
  if (isNamed(expected, '_') || isNamed(actual, '_')) return true
  if (isTypeParam(expected, scope) || isTypeParam(actual, scope)) return true
  const target = resolveHead(expected, scope)
  const source = resolveHead(actual, scope)
  if (target === expected && source === actual) return structural(target, source, question)
  const pair = `${show(expected)} <- ${show(actual)}`
  if (question.assumed.has(pair)) return true
  question.assumed.add(pair)
  const result = decide(target, source, question)
  if (!result) question.assumed.delete(pair)
  return result
}

function structural(expected: Type, actual: Type, question: Question): boolean {
  const { scope } = question
  if (isNamedOrApplied(expected)) {
    const wanted = scope.interfaceNamed(expected.name)
    if (wanted !== undefined) return satisfies(expected, wanted, actual, scope)
  }
  if (actual.kind === 'never') return true
  if (expected.kind === 'never') return false
  if (isNamed(actual, 'any') || isNamed(expected, 'any') || isNamed(expected, 'unknown')) return true
  if (expected.kind === 'named' && actual.kind === 'named') {
    return (
      expected.name === actual.name ||
      (expected.name === 'float' && actual.name === 'int') ||
      sameSequence(expected.name, actual.name)
    )
  }
  if (expected.kind === 'union' || actual.kind === 'union') return unions(expected, actual, question)
  if (isNamedOrApplied(expected) && isNamedOrApplied(actual)) return constructors(expected, actual, question)
  return composite(expected, actual, question)
}

type NamedOrApplied = Extract<Type, { kind: 'named' | 'applied' }>

function isNamedOrApplied(type: Type): type is NamedOrApplied {
  return type.kind === 'named' || type.kind === 'applied'
}

function isTypeParam(type: Type, scope: Scope): boolean {
  return type.kind === 'named' && scope.isTypeParam(type.name)
}

function constructors(expected: NamedOrApplied, actual: NamedOrApplied, question: Question): boolean {
  if (expected.name !== actual.name) return false
  if (expected.kind === 'named' || actual.kind === 'named') return true
  if (expected.args.length !== actual.args.length) return false
  const variance = readVariance(expected.name, question.scope)
  return expected.args.every((arg, at) => {
    const other = actual.args[at]
    if (other === undefined) return false
    switch (variance?.[at] ?? null) {
      case 'out':
        return decide(arg, other, question)
      case 'in':
        return decide(other, arg, question)
      case null:
        return both(arg, other, question)
    }
  })
}

/** Variance markers of a declared enum, struct or interface; undefined for an undeclared constructor. */
export function readVariance(name: string, scope: Scope): readonly Variance[] | undefined {
  return (scope.enumNamed(name) ?? scope.struct(name) ?? scope.interfaceNamed(name))?.variance
}

function both(one: Type, other: Type, question: Question): boolean {
  return decide(one, other, question) && decide(other, one, question)
}

// Nested unions (from `?:` and `if` expressions) are looked through; the reference does not, which only adds errors.
function unions(expected: Type, actual: Type, question: Question): boolean {
  if (actual.kind === 'union') return actual.members.every((member) => decide(expected, member, question))
  return expected.kind === 'union' && expected.members.some((member) => decide(member, actual, question))
}

function composite(expected: Type, actual: Type, question: Question): boolean {
  switch (expected.kind) {
    case 'shape':
      if (actual.kind === 'shape') return shapes(expected, actual, question)
      return isNamed(actual, 'dict') || actual.kind === 'dict'
    case 'dict':
      if (actual.kind === 'shape') {
        return (
          isNamed(resolveHead(expected.key, question.scope), 'string') &&
          actual.fields.every((field) => decide(expected.value, field.type, question))
        )
      }
      if (actual.kind === 'dict') return both(expected.key, actual.key, question) && both(expected.value, actual.value, question)
      return isNamed(actual, 'dict')
    case 'list':
      return actual.kind === 'list' ? both(expected.element, actual.element, question) : isNamed(actual, 'list')
    case 'iter':
    case 'generator':
    case 'stream':
      if (actual.kind === expected.kind) return decide(expected.element, actual.element, question)
      return actual.kind === 'named' && bareName(expected.kind, actual.name)
    case 'fn':
      if (actual.kind === 'fn') return functions(expected, actual, question)
      return isNamed(actual, 'closure')
    case 'string-literal':
      return isNamed(actual, 'string') || sameType(expected, actual)
    case 'int-literal':
      return isNamed(actual, 'int') || sameType(expected, actual)
    case 'named':
      return toNamed(expected.name, actual)
    case 'applied':
      // A schema parameter is checked as a node, never by type: any possible schema passes.
      return expected.name === 'Schema' && (actual.kind === 'shape' || actual.kind === 'dict' || isNamed(actual, 'dict'))
    default:
      return false
  }
}

/** A plain name against something structured: the bare form of a constructor, or the base type of a literal. */
function toNamed(expected: string, actual: Type): boolean {
  switch (actual.kind) {
    case 'shape':
    case 'dict':
      return expected === 'dict'
    case 'list':
      return expected === 'list'
    case 'iter':
    case 'generator':
    case 'stream':
      return bareName(actual.kind, expected)
    case 'fn':
      return expected === 'closure'
    case 'string-literal':
      return expected === 'string'
    case 'int-literal':
      return expected === 'int' || expected === 'float'
    default:
      return false
  }
}

/** The two spellings of a lazy sequence's bare name. */
function sameSequence(one: string, other: string): boolean {
  return SEQUENCES.has(one) && SEQUENCES.get(one) === SEQUENCES.get(other)
}

const SEQUENCES: ReadonlyMap<string, 'iter' | 'generator' | 'stream'> = new Map([
  ['iter', 'iter'],
  ['Iter', 'iter'],
  ['generator', 'generator'],
  ['Generator', 'generator'],
  ['stream', 'stream'],
  ['Stream', 'stream'],
])

export function bareName(kind: 'iter' | 'generator' | 'stream', name: string): boolean {
  return SEQUENCES.get(name) === kind
}

// Optional fields of the expected shape are not compared, and extra fields are allowed.
function shapes(
  expected: Extract<Type, { kind: 'shape' }>,
  actual: Extract<Type, { kind: 'shape' }>,
  question: Question,
): boolean {
  return expected.fields.every((field) => {
    if (field.optional) return true
    const found = actual.fields.find((other) => other.name === field.name)
    return found !== undefined && decide(field.type, found.type, question)
  })
}

function functions(expected: Extract<Type, { kind: 'fn' }>, actual: Extract<Type, { kind: 'fn' }>, question: Question): boolean {
  if (expected.params.length !== actual.params.length) return false
  const params = expected.params.every((param, at) => {
    const other = actual.params[at]
    return other !== undefined && decide(other, param, question)
  })
  return params && decide(expected.returns, actual.returns, question)
}

// ---- interfaces -----------------------------------------------------------------------------------------------------

// Only nominal values satisfy an interface: shapes, lists, unions and even `any`, `dict` and `nil` do not.
function satisfies(expected: NamedOrApplied, wanted: InterfaceInfo, actual: Type, scope: Scope): boolean {
  if (actual.kind === 'never') return true
  if (!isNamedOrApplied(actual)) return false
  if (actual.name === expected.name) return true
  const bindings = new Map<string, Type>()
  if (expected.kind === 'applied') {
    wanted.params.forEach((param, at) => {
      const arg = expected.args[at]
      if (arg !== undefined && !isNamed(arg, '_')) bindings.set(param, arg)
    })
  }
  return interfaceMismatch(actual.name, expected.name, bindings, scope) === null
}

/** Why a nominal type does not satisfy an interface, in the wording of messages; null when it does. */
export function interfaceMismatch(
  typeName: string,
  interfaceName: string,
  bindings: ReadonlyMap<string, Type>,
  scope: Scope,
): string | null {
  const wanted = scope.interfaceNamed(interfaceName)
  if (wanted === undefined) return `interface '${interfaceName}' not found`
  const methods = scope.findMethods(typeName)
  if (methods === null) return null
  if (methods === undefined) {
    return wanted.methods.size === 0 ? null : `missing method(s): ${[...wanted.methods.keys()].join(', ')}`
  }
  // The use of the interface binds its parameters (`Box<int>`); only associated types are derived from the methods.
  const names = new Set(wanted.assocTypes.map((assoc) => assoc.name))
  const bound = new Map(bindings)
  const compare = new Comparison(scope, names, bound)
  for (const [method, asked] of wanted.methods) {
    const given = methods.get(method)
    if (given === undefined) return `missing method '${method}'`
    const reason = compare.method(method, asked, given)
    if (reason !== null) return reason
  }
  for (const assoc of wanted.assocTypes) {
    const found = bound.get(assoc.name)
    if (assoc.type === null || found === undefined || fits(assoc.type, found, scope)) continue
    return `associated type '${assoc.name}' resolves to '${show(found)}', expected '${show(assoc.type)}'`
  }
  return null
}

class Comparison {
  private readonly scope: Scope
  private readonly names: ReadonlySet<string>
  private readonly bound: Map<string, Type>

  constructor(scope: Scope, names: ReadonlySet<string>, bound: Map<string, Type>) {
    this.scope = scope
    this.names = names
    this.bound = bound
  }

  method(name: string, asked: FnSignature, given: FnSignature): string | null {
    const wanted = withoutSelf(asked)
    const found = withoutSelf(given)
    if (found.length !== wanted.length) return `method '${name}' has ${found.length} parameter(s), expected ${wanted.length}`
    // Type parameters of the methods themselves are ignored: as names in scope they fit everything.
    const scope = this.scope.child()
    for (const param of [...asked.typeParams, ...given.typeParams]) scope.declareTypeParam(param)
    for (const [at, param] of wanted.entries()) {
      const other = found[at]
      if (param.type === null || other === undefined || other.type === null) continue
      const reason = this.types(param.type, other.type, scope)
      if (reason === null) continue
      if (reason.conflict !== null) return reason.conflict
      return `method '${name}' parameter ${at + 1} has type '${show(other.type)}', expected '${show(reason.expected)}'`
    }
    if (asked.returns === null || given.returns === null) return null
    const reason = this.types(asked.returns, given.returns, scope)
    if (reason === null) return null
    return reason.conflict ?? `method '${name}' returns '${show(given.returns)}', expected '${show(reason.expected)}'`
  }

  private types(asked: Type, given: Type, scope: Scope): { conflict: string | null; expected: Type } | null {
    const conflict = bind(asked, given, this.names, this.bound)
    if (conflict !== null) return { conflict: conflictText(conflict), expected: asked }
    const expected = substitute(asked, this.bound)
    for (const name of this.names) if (!this.bound.has(name)) scope.declareTypeParam(name)
    return fits(expected, given, scope) ? null : { conflict: null, expected }
  }
}

function withoutSelf(signature: FnSignature): FnSignature['params'] {
  return signature.params[0]?.name === 'self' ? signature.params.slice(1) : signature.params
}

export function conflictText(conflict: Conflict): string {
  return `type parameter '${conflict.param}' was inferred as both ${show(conflict.one)} and ${show(conflict.other)}`
}
