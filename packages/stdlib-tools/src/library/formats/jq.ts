// The `jq` builtins: evaluation of parsed queries over values. A query maps one input to any number of outputs.

import {
  HarnBytes,
  HarnDict,
  HarnFloat,
  HarnList,
  HarnSet,
  HarnStruct,
  Keyed,
  builtinTaking,
  clampIndex,
  countCodePoints,
  compare,
  equals,
  isInt,
  isTruthy,
  typeName,
  visit,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { QueryError, parseQuery } from './jq-parse.js'
import type { Query, Step, FactName } from './jq-parse.js'

/** Counts work: queries such as `.. | .. | ..` grow fast, and one call must end by itself. */
type Charge = (outputs: number) => void

/** Evaluations and outputs of one query. */
const MAX_WORK = 2_000_000

function evaluate(query: Query, input: Value, charge: Charge): readonly Value[] {
  charge(1)
  switch (query.kind) {
    case 'pipe':
      return evaluate(query.left, input, charge).flatMap((value) => evaluate(query.right, value, charge))
    case 'comma':
      return [...evaluate(query.left, input, charge), ...evaluate(query.right, input, charge)]
    case 'and':
      return [isTrue(query.left, input, charge) && isTrue(query.right, input, charge)]
    case 'or':
      return [isTrue(query.left, input, charge) || isTrue(query.right, input, charge)]
    case 'not':
      return [!isTrue(query.operand, input, charge)]
    case 'compare':
      return [compareValues(query.operator, evaluateFirst(query.left, input, charge), evaluateFirst(query.right, input, charge))]
    case 'path':
      return query.steps.reduce<readonly Value[]>(
        (values, step) => values.flatMap((value) => follow(step, value, charge)),
        [input],
      )
    case 'descend':
      return listDescendants(input, charge)
    case 'object':
      return [HarnDict.named(query.fields.map(([key, value]) => [key, evaluateFirst(value, input, charge)]))]
    case 'literal':
      return [query.value]
    case 'fact':
      return [computeFact(query.name, input)]
    case 'map':
      return [
        input instanceof HarnList
          ? new HarnList(input.view().flatMap((item) => evaluate(query.body, item, charge)))
          : new HarnList([]),
      ]
    case 'select':
      return isTrue(query.body, input, charge) ? [input] : []
  }
}

function evaluateFirst(query: Query, input: Value, charge: Charge): Value {
  return evaluate(query, input, charge)[0] ?? null
}

function isTrue(query: Query, input: Value, charge: Charge): boolean {
  return isTruthy(evaluateFirst(query, input, charge))
}

function isNumber(value: Value): boolean {
  return isInt(value) || value instanceof HarnFloat
}

function compareValues(operator: string, left: Value, right: Value): boolean {
  if (operator === '==') return equals(left, right)
  if (operator === '!=') return !equals(left, right)
  const ordered = (isNumber(left) && isNumber(right)) || (typeof left === 'string' && typeof right === 'string')
  return ordered && (operator === '<' ? compare(left, right) < 0 : compare(left, right) > 0)
}

/** Members in order: items of lists and sets, values of dicts and structs by key; null for anything else. */
function listMembers(value: Value): readonly Value[] | null {
  if (value instanceof HarnList) return value.view()
  if (value instanceof HarnSet) return value.values()
  if (value instanceof Keyed) return value.members()
  return null
}

function follow(step: Step, value: Value, charge: Charge): readonly Value[] {
  switch (step.kind) {
    case 'field':
      return [value instanceof Keyed ? (value.get(step.name) ?? null) : null]
    case 'index': {
      if (!(value instanceof HarnList)) return [null]
      const at = step.index < 0 ? step.index + value.length : step.index
      return [at < 0 ? null : (value.at(at) ?? null)]
    }
    case 'slice': {
      if (!(value instanceof HarnList)) return [new HarnList([])]
      const from = clampIndex(step.from ?? 0, value.length)
      const to = clampIndex(step.to ?? value.length, value.length)
      return [new HarnList(value.items.slice(from, Math.max(from, to)))]
    }
    case 'each': {
      const items = listMembers(value) ?? []
      charge(items.length)
      return items
    }
  }
}

/** The value and everything in it, depth first. */
function listDescendants(root: Value, charge: Charge): readonly Value[] {
  const found: Value[] = []
  const pending: Value[] = [root]
  let visited = 0
  while (pending.length > 0) {
    const value = pending.pop()!
    visited = visit(visited, 1)
    found.push(value)
    const inner = listMembers(value)
    if (inner !== null) for (let at = inner.length - 1; at >= 0; at--) pending.push(inner[at]!)
  }
  charge(found.length)
  return found
}

function computeFact(name: FactName, value: Value): Value {
  switch (name) {
    case 'length':
      return measureSize(value)
    case 'type':
      return nameJsonType(value)
    case 'values':
      return new HarnList([...(listMembers(value) ?? [])])
    case 'keys':
      if (value instanceof Keyed) return new HarnList([...value.keys()])
      return new HarnList(value instanceof HarnList ? value.view().map((_item, index) => index) : [])
  }
}

function measureSize(value: Value): number {
  if (typeof value === 'string') return countCodePoints(value)
  if (value instanceof HarnBytes) return value.data.length
  if (value instanceof HarnList) return value.length
  if (value instanceof HarnSet || value instanceof Keyed) return value.size
  return value === null ? 0 : 1
}

function nameJsonType(value: Value): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'boolean'
  if (isNumber(value)) return 'number'
  if (typeof value === 'string') return 'string'
  if (value instanceof HarnList || value instanceof HarnSet) return 'array'
  return value instanceof HarnDict || value instanceof HarnStruct ? 'object' : typeName(value)
}

const DEMANDS = { fewer: '{f} requires 2 arguments', text: { expr: null } } as const

function runQuery(ctx: Context, input: Value, text: string): readonly Value[] | Result {
  ctx.charge(text.length)
  try {
    let work = 0
    return evaluate(parseQuery(text), input, (outputs) => {
      ctx.charge(0, 16 * outputs)
      work = visit(work, outputs)
      if (work > MAX_WORK) throw new QueryError('jq: query does too much work')
    })
  } catch (error) {
    if (error instanceof QueryError) return ctx.throw(error.message)
    throw error
  }
}

export const jqFamily: BuiltinFamily = {
  name: 'jq',
  builtins: [
    builtinTaking(
      'jq(value: any, expr: string) -> list',
      { doc: 'All results of a jq-style query.' },
      DEMANDS,
      (ctx, value, expr) => {
        const outputs = runQuery(ctx, value, expr)
        return Array.isArray(outputs) ? new HarnList([...(outputs as readonly Value[])]) : (outputs as Result)
      },
    ),
    builtinTaking(
      'jq_first(value: any, expr: string) -> any',
      { doc: 'The first result of a jq-style query, or nil.' },
      DEMANDS,
      (ctx, value, expr) => {
        const outputs = runQuery(ctx, value, expr)
        return Array.isArray(outputs) ? ((outputs as readonly Value[])[0] ?? null) : (outputs as Result)
      },
    ),
  ],
}
