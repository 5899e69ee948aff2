// The arguments of one call against the schema of its tool. Literals are compared part by part, so that each finding has its own position;
// of all other expressions the type is compared. int and float are interchangeable: whether a float is integral is known at the call.

import { editDistance } from '@bridle/parser'
import type { DictEntry, Expr, ExprOf, Severity, Span } from '@bridle/parser'
import { resolveHead } from '../aliases.js'
import type { CheckContext, Fix } from '../context.js'
import type { ArgsOf } from '../catalog.js'
import { infer } from '../infer.js'
import { fits } from '../relate.js'
import type { Scope } from '../scope.js'
import { quote, show } from '../show.js'
import { closest } from '../suggest.js'
import { isNamed, type Known, type Type } from '../type.js'
import type { TOOL_CATALOG } from './catalog.js'
import { showType, type ToolType } from './declaration.js'
import {
  isSchema,
  type JsonSchema,
  listAlternatives,
  listTypes,
  listValues,
  requiredKeys,
  resolveSchema,
  typeOfSchema,
} from './schema-type.js'

type ToolCode = keyof typeof TOOL_CATALOG

interface Problem {
  /** The position of the finding; only this and the kind of problem decide between alternatives. */
  readonly tell: (context: CheckContext, severity: Severity) => void
  /** Whether the value has another kind than the schema expects: then an alternative was not meant. */
  readonly isOtherKind: boolean
}

/** Reports the problems of a call's dict of arguments. */
export function checkToolArguments(
  tool: ToolType,
  arg: Expr,
  scope: Scope,
  context: CheckContext,
  severity: Severity = 'error',
): void {
  const { schema } = tool
  const isDict = arg.kind === 'Dict'
  if (!isDict) {
    const given = inferArgument(arg, scope)
    if (given !== null && !canBeDict(resolveHead(given, scope))) {
      context.report('A007', arg.span, { tool: tool.name, example: exampleCall(tool), actual: show(given) }, undefined, severity)
      return
    }
  }
  if (schema === null) return
  for (const problem of new ArgumentCheck(tool, schema, scope, context).check(arg, schema, '', 0)) problem.tell(context, severity)
}

export function exampleCall({ name, args }: ToolType): string {
  const local = name.slice(name.lastIndexOf('.') + 1)
  if (args.kind !== 'shape') return `${local}({…})`
  const needed = args.fields.filter(({ optional }) => !optional)
  const shown = (needed.length > 0 ? needed : args.fields.slice(0, 1)).map((field) => `${field.name}: …`)
  return `${local}({${shown.join(', ')}})`
}

function canBeDict(type: Type): boolean {
  switch (type.kind) {
    case 'shape':
    case 'dict':
    case 'applied':
      return true
    case 'union':
      return type.members.some(canBeDict)
    case 'named':
      // An unknown name may be a type parameter.
      return !NO_DICTS.has(type.name)
    default:
      return false
  }
}

const NO_DICTS: ReadonlySet<string> = new Set([
  'string',
  'int',
  'float',
  'bool',
  'nil',
  'list',
  'set',
  'range',
  'closure',
  'iter',
  'bytes',
  'duration',
])

const MAX_DEPTH = 32

class ArgumentCheck {
  private readonly tool: ToolType
  private readonly root: JsonSchema
  private readonly scope: Scope
  private readonly context: CheckContext

  constructor(tool: ToolType, root: JsonSchema, scope: Scope, context: CheckContext) {
    this.tool = tool
    this.root = root
    this.scope = scope
    this.context = context
  }

  /** `at` names the value in messages: a path of keys, empty for the arguments themselves. */
  check(expr: Expr, schema: unknown, at: string, depth: number): readonly Problem[] {
    this.scope.work.step()
    const found = depth > MAX_DEPTH ? null : resolveSchema(schema, this.root)
    if (found === null) return []
    const literal = readLiteral(expr)
    if (literal === null) return this.byType(expr, found, at)
    const alternatives = listAlternatives(found)
    if (alternatives !== null) return this.alternatives(expr, literal, found, alternatives, { at, depth })
    const values = listValues(found)
    if (values !== null) return this.oneOf(expr, literal, values, at)
    const types = listTypes(found)
    if (types !== null && !types.some((type) => hasType(literal, type))) return [this.otherType(expr, found, literal.shown, at)]
    if (expr.kind === 'Dict') return this.dict(expr, found, at, depth)
    if (expr.kind === 'List') return this.list(expr, found, at, depth)
    const rule = brokenRule(literal.value, found)
    return rule === null ? [] : [this.problem('A006', expr.span, { tool: this.tool.name, at: at || 'args', rule })]
  }

  private byType(expr: Expr, schema: JsonSchema, at: string): readonly Problem[] {
    const given = inferArgument(expr, this.scope)
    const wanted = given === null ? null : typeOfSchema(schema, this.root)
    if (given === null || wanted === null || accepts(wanted, given, this.scope)) return []
    const detail = at === '' ? this.shapeProblem(expr, wanted, given) : null
    return [detail ?? this.otherType(expr, schema, show(given), at)]
  }

  /** A variable that holds the arguments: the finding names the wrong key. */
  private shapeProblem(expr: Expr, wanted: Type, given: Type): Problem | null {
    const actual = resolveHead(given, this.scope)
    if (wanted.kind !== 'shape' || actual.kind !== 'shape') return null
    for (const { name, type, optional } of wanted.fields) {
      const own = actual.fields.find((field) => field.name === name)
      if (own === undefined) {
        if (!optional) return this.problem('A003', expr.span, { tool: this.tool.name, key: name, type: showType(type) })
      } else if (!acceptsField(type, own.type, this.scope)) {
        return this.problem('A004', expr.span, {
          tool: this.tool.name,
          at: name,
          expected: showType(type),
          actual: show(own.type),
        })
      }
    }
    return null
  }

  /** The intended alternative is the one of the right kind; if there are several, it is unknown. */
  private alternatives(
    expr: Expr,
    literal: Literal,
    schema: JsonSchema,
    alternatives: readonly unknown[],
    { at, depth }: { readonly at: string; readonly depth: number },
  ): readonly Problem[] {
    const outcomes = alternatives.map((each) => this.check(expr, each, at, depth + 1))
    if (outcomes.some((problems) => problems.length === 0)) return []
    const meant = outcomes.filter((problems) => !problems.some(({ isOtherKind }) => isOtherKind))
    return meant.length === 1 ? meant[0]! : [this.otherType(expr, schema, literal.shown, at)]
  }

  private oneOf(expr: Expr, literal: Literal, values: readonly unknown[], at: string): readonly Problem[] {
    const { value } = literal
    if (value === undefined)
      return values.some((each) => typeof each === 'object') ? [] : [this.notOne(expr, literal, values, at)]
    return values.some((each) => isSameNumber(each, value) || each === value) ? [] : [this.notOne(expr, literal, values, at)]
  }

  private notOne(expr: Expr, { value, shown }: Literal, values: readonly unknown[], at: string): Problem {
    const texts = values.filter((each) => typeof each === 'string')
    const suggestion = typeof value === 'string' ? this.closest(value, texts) : null
    const allowed = values.map((each) => (typeof each === 'string' ? quote(each) : JSON.stringify(each)))
    const args = {
      tool: this.tool.name,
      at: at || 'args',
      actual: typeof value === 'string' ? quote(value) : shown,
      allowed,
      suggestion: suggestion === null ? null : quote(suggestion),
    }
    // A tag with another value: this alternative was not meant.
    const isTag = values.length === 1
    return this.problem('A005', expr.span, args, replace(expr.span, suggestion === null ? null : quote(suggestion)), isTag)
  }

  private dict(dict: ExprOf<'Dict'>, schema: JsonSchema, at: string, depth: number): readonly Problem[] {
    const properties = isSchema(schema['properties']) ? schema['properties'] : {}
    const { additionalProperties } = schema
    const known = Object.keys(properties)
    const isClosed = additionalProperties === false || (additionalProperties === undefined && known.length > 0 && !isOpen(schema))
    const named = dict.entries.filter((entry): entry is NamedEntry => entry.kind === 'named')
    const given = new Set(named.map((entry) => entry.key.text))
    const missing = new Set([...requiredKeys(schema)].filter((key) => !given.has(key)))
    const problems: Problem[] = []
    for (const { key, value } of named) {
      const path = at === '' ? key.text : `${at}.${key.text}`
      if (Object.hasOwn(properties, key.text)) problems.push(...this.check(value, properties[key.text], path, depth + 1))
      else if (isSchema(additionalProperties)) problems.push(...this.check(value, additionalProperties, path, depth + 1))
      else if (isClosed) {
        const free = known.filter((each) => !given.has(each))
        const suggestion = this.closest(key.text, free)
        // Reported once: the repair adds the missing one.
        if (suggestion !== null) missing.delete(suggestion)
        const within = at === '' ? '' : `${at}.`
        const args = { tool: this.tool.name, key: key.text, within, suggestion, known }
        problems.push(this.problem('A002', key.span, args, replace(key.span, suggestion)))
      }
    }
    // A spread or computed entry may add any key.
    if (named.length < dict.entries.length) return problems
    for (const key of missing) {
      const type = typeOfSchema(properties[key], this.root)
      const args = { tool: this.tool.name, key: at === '' ? key : `${at}.${key}`, type: type === null ? 'any' : showType(type) }
      problems.push(this.problem('A003', dict.span, args))
    }
    return problems
  }

  private list(list: ExprOf<'List'>, schema: JsonSchema, at: string, depth: number): readonly Problem[] {
    const { items, minItems, maxItems } = schema
    const isWhole = !list.items.some(({ spread }) => spread)
    const count = list.items.length
    const rule =
      typeof minItems === 'number' && isWhole && count < minItems
        ? `have at least ${minItems} elements`
        : typeof maxItems === 'number' && isWhole && count > maxItems
          ? `have at most ${maxItems} elements`
          : null
    if (rule !== null) return [this.problem('A006', list.span, { tool: this.tool.name, at: at || 'args', rule })]
    if (!isSchema(items) || 'prefixItems' in schema) return []
    return list.items.flatMap(({ spread, value }, index) =>
      spread ? [] : this.check(value, items, `${at}[${index}]`, depth + 1),
    )
  }

  private otherType(expr: Expr, schema: JsonSchema, actual: string, at: string): Problem {
    const wanted = typeOfSchema(schema, this.root)
    const args = {
      tool: this.tool.name,
      at: at || 'args',
      expected: wanted === null ? 'another value' : showType(wanted),
      actual,
    }
    return this.problem('A004', expr.span, args, undefined, true)
  }

  private problem<C extends ToolCode>(code: C, span: Span, args: ArgsOf<C>, fix?: Fix, isOtherKind = false): Problem {
    return { tell: (context, severity) => context.report(code, span, args, fix, severity), isOtherKind }
  }

  private closest(name: string, candidates: Iterable<string>): string | null {
    const { suggestions } = this.context
    const found = suggestions.isSpent ? null : closest(name, candidates, suggestions)
    // With two letters, everything is two edits away.
    return found === null || editDistance(name, found, 2) > name.length / 3 ? null : found
  }
}

type NamedEntry = Extract<DictEntry, { kind: 'named' }>

/** Other keywords that allow keys. */
function isOpen(schema: JsonSchema): boolean {
  return ['patternProperties', 'propertyNames', 'unevaluatedProperties', 'if', 'dependentSchemas', 'anyOf', 'oneOf'].some(
    (key) => key in schema,
  )
}

function replace(span: Span, text: string | null): Fix | undefined {
  return text === null ? undefined : { title: `write \`${text}\``, edits: [{ span, text }] }
}

// ---- literals ---------------------------------------------------------------------------------------------------------

interface Literal {
  /** Its types in JSON Schema. */
  readonly types: readonly string[]
  /** Its type as messages show it. */
  readonly shown: string
  /** undefined for dicts and lists. */
  readonly value?: string | number | bigint | boolean | null
}

function readLiteral(expr: Expr): Literal | null {
  switch (expr.kind) {
    case 'Dict':
      return { types: ['object'], shown: 'dict' }
    case 'List':
      return { types: ['array'], shown: 'list' }
    case 'String':
      return { types: ['string'], shown: 'string', value: expr.value }
    case 'Bool':
      return { types: ['boolean'], shown: 'bool', value: expr.value }
    case 'Nil':
      return { types: ['null'], shown: 'nil', value: null }
    case 'Int':
    case 'Float':
      return numberLiteral(expr.value, expr.kind === 'Int')
    case 'Unary':
      if (expr.operator !== '-' || (expr.operand.kind !== 'Int' && expr.operand.kind !== 'Float')) return null
      return numberLiteral(-expr.operand.value, expr.operand.kind === 'Int')
    default:
      return null
  }
}

function numberLiteral(value: number | bigint, isInt: boolean): Literal {
  const isWhole = typeof value === 'bigint' || Number.isInteger(value)
  return { types: isWhole ? ['integer', 'number'] : ['number'], shown: isInt ? 'int' : 'float', value }
}

function hasType({ types }: Literal, type: string): boolean {
  return types.includes(type)
}

function isSameNumber(one: unknown, other: unknown): boolean {
  return typeof one === 'number' && (typeof other === 'number' || typeof other === 'bigint') && one === Number(other)
}

/** Why a literal is not within the limits of a schema, as the end of a sentence; null when it is. */
function brokenRule(value: Literal['value'], schema: JsonSchema): string | null {
  const limit = (key: string): number | null => (typeof schema[key] === 'number' ? (schema[key] as number) : null)
  if (typeof value === 'number' || typeof value === 'bigint') {
    const [least, most, above, below] = [limit('minimum'), limit('maximum'), limit('exclusiveMinimum'), limit('exclusiveMaximum')]
    if (least !== null && value < least) return `be at least ${least}`
    if (most !== null && value > most) return `be at most ${most}`
    if (above !== null && value <= above) return `be more than ${above}`
    if (below !== null && value >= below) return `be less than ${below}`
  }
  if (typeof value === 'string') {
    const length = [...value].length
    const [least, most] = [limit('minLength'), limit('maxLength')]
    if (least !== null && length < least) return `have at least ${least} characters`
    if (most !== null && length > most) return `have at most ${most} characters`
  }
  return null
}

/** The type of an expression, and of a constant of the file. */
function inferArgument(expr: Expr, scope: Scope): Known {
  const given = infer(expr, scope)
  if (given !== null || expr.kind !== 'Identifier' || scope.findOwner(expr.name) !== scope.root) return given
  const value = scope.tools?.constant(expr.name) ?? null
  return value === null ? null : infer(value, scope.root)
}

// ---- types ------------------------------------------------------------------------------------------------------------

/** As `fits`, but optional fields are compared, too, and numbers fit each other. */
function accepts(wanted: Type, given: Known, scope: Scope): boolean {
  if (given === null) return true
  const actual = resolveHead(given, scope)
  if (isNamed(actual, 'unknown') || isNamed(actual, '_')) return true
  if (actual.kind === 'union') return actual.members.every((member) => accepts(wanted, member, scope))
  if (wanted.kind === 'union') return wanted.members.some((member) => accepts(member, actual, scope))
  if (isNamed(wanted, 'int') && isNamed(actual, 'float')) return true
  if (wanted.kind === 'shape' && actual.kind === 'shape') {
    return wanted.fields.every((field) => {
      const own = actual.fields.find((other) => other.name === field.name)
      return own === undefined ? field.optional : acceptsField(field.type, own.type, scope)
    })
  }
  if (wanted.kind === 'list' && actual.kind === 'list') return accepts(wanted.element, actual.element, scope)
  if (wanted.kind === 'dict' && actual.kind === 'dict') return accepts(wanted.value, actual.value, scope)
  return fits(wanted, actual, scope)
}

/** A field of a literal whose value has no known type counts as nil. */
function acceptsField(wanted: Type, given: Type, scope: Scope): boolean {
  return isNamed(given, 'nil') || accepts(wanted, given, scope)
}
