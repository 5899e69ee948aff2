// Places in documents, for the standard tools `json.*`. Builtins of their own, hidden from scripts, because a
// standard tool is a builtin under an id. Documents are values or JSON texts; `json_parse` reads the latter.

import { HarnDict, HarnList, builtin, chargeArguments, display, equals, frame } from '@bridle/vm/families'
import type { BuiltinDef, Context, FrameState, Result, Value } from '@bridle/vm/families'

/** Documents that nest deeper are refused: the walks below are recursive. */
const MOST_DEPTH = 1000

class NestedTooDeeply extends Error {}

function checkDepth(depth: number): void {
  if (depth > MOST_DEPTH) throw new NestedTooDeeply(`documents nested more than ${MOST_DEPTH} deep are not compared or joined`)
}

/** Keys and indices of a path such as `$.a.b[-1]`. */
function parseSteps(path: string): (string | number)[] {
  const plain = path.startsWith('$') ? path.slice(1) : path
  return (plain.match(/\[-?\d+\]|[^.[\]]+/g) ?? []).map((step) => (step.startsWith('[') ? Number(step.slice(1, -1)) : step))
}

function findValue(document: Value, path: string): Value | undefined {
  let at: Value | undefined = document
  for (const step of parseSteps(path)) {
    if (typeof step === 'number') at = at instanceof HarnList ? at.at(step < 0 ? at.length + step : step) : undefined
    else at = at instanceof HarnDict ? at.get(step) : undefined
    if (at === undefined) return undefined
  }
  return at
}

/** The document with a value at a place of dots; what is missing on the way, or is no dict, becomes one. */
function withValue(document: Value, keys: readonly string[], value: Value): Value {
  const dicts: HarnDict[] = []
  let at: Value = document
  for (const key of keys) {
    const own = at instanceof HarnDict ? at : new HarnDict()
    dicts.push(own)
    at = own.get(key) ?? null
  }
  let made = value
  for (let i = keys.length - 1; i >= 0; i--) made = dicts[i]!.with(keys[i]!, made)
  return made
}

/** The second wins; dicts are joined at every depth, lists replaced. */
function mergeValues(a: Value, b: Value, depth = 0): Value {
  checkDepth(depth)
  if (!(a instanceof HarnDict) || !(b instanceof HarnDict)) return b
  const out = a.copy()
  for (const [key, value] of b.entries()) out.set(key, out.has(key) ? mergeValues(out.get(key)!, value, depth + 1) : value)
  return out
}

const joinPath = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

function flatten(value: Value, path: string, out: HarnDict, depth = 0): void {
  checkDepth(depth)
  if (value instanceof HarnDict && value.size > 0) {
    for (const [key, inner] of value.entries()) flatten(inner, joinPath(path, key), out, depth + 1)
  } else if (value instanceof HarnList && value.length > 0) {
    value.view().forEach((inner, i) => flatten(inner, `${path}[${i}]`, out, depth + 1))
  } else out.set(path, value)
}

interface Changes {
  readonly additions: HarnDict
  readonly deletions: HarnDict
  readonly changes: HarnDict
}

function compareAt(before: Value, after: Value, path: string, out: Changes, depth = 0): void {
  checkDepth(depth)
  if (!(before instanceof HarnDict) || !(after instanceof HarnDict)) {
    if (!equals(before, after)) out.changes.set(path === '' ? '<root>' : path, HarnDict.of({ old: before, new: after }))
    return
  }
  for (const [key, value] of before.entries()) {
    if (after.has(key)) compareAt(value, after.get(key)!, joinPath(path, key), out, depth + 1)
    else out.deletions.set(joinPath(path, key), value)
  }
  for (const [key, value] of after.entries()) if (!before.has(key)) out.additions.set(joinPath(path, key), value)
}

function changesBetween(before: Value, after: Value): HarnDict {
  const out: Changes = { additions: new HarnDict(), deletions: new HarnDict(), changes: new HarnDict() }
  compareAt(before, after, '', out)
  return HarnDict.of({ ...out })
}

/** What each operation does with its arguments, and how many of them, from the first, are documents. */
const OPERATIONS = {
  get: {
    documents: 1,
    run: (ctx, json, path) => {
      const found = findValue(json!, display(path!))
      return found === undefined ? ctx.throw(`Path not found: ${display(path!)}`) : found
    },
  },
  set: { documents: 1, run: (_ctx, json, path, value) => withValue(json!, display(path!).split('.'), value!) },
  merge: { documents: 2, run: (_ctx, a, b) => mergeValues(a!, b!) },
  flatten: {
    documents: 1,
    run: (_ctx, value) => {
      const out = new HarnDict()
      flatten(value!, '', out)
      return out
    },
  },
  diff: { documents: 2, run: (_ctx, a, b) => changesBetween(a!, b!) },
} as const satisfies {
  readonly [name: string]: { readonly documents: number; readonly run: (ctx: Context, ...args: Value[]) => Result }
}

type Operation = keyof typeof OPERATIONS

interface DocumentState extends FrameState {
  operation: Operation
  args: Value[]
  /** The document that is being read, by its position. */
  reading: number
}

/** Reads the documents that are texts, then does the operation. */
const documentFrame = frame<DocumentState>({
  kind: 'json.document',
  step: (ctx, state) => {
    const { documents, run } = OPERATIONS[state.operation]
    if (state.reading >= 0) state.args[state.reading] = ctx.result
    for (state.reading++; state.reading < documents; state.reading++) {
      const text = state.args[state.reading]
      if (typeof text === 'string') return ctx.call(ctx.builtinValue('json_parse'), [text])
    }
    // The parsed value is checked too.
    chargeArguments(ctx, state.args.slice(0, documents))
    try {
      return (run as (ctx: Context, ...args: Value[]) => Result)(ctx, ...state.args)
    } catch (error) {
      if (error instanceof NestedTooDeeply) return ctx.throw(error.message)
      throw error
    }
  },
})

function start(ctx: Context, operation: Operation, args: readonly Value[]): Result {
  chargeArguments(ctx, args)
  const state: DocumentState = { operation, args: [...args], reading: -1 }
  return ctx.frame('json.document', state)
}

const place = (name: Operation, signature: string, doc: string): BuiltinDef =>
  builtin(`__json_${name}(${signature})`, { doc, effects: [] }, (ctx, ...args) => start(ctx, name, args as Value[]))

export const jsonPlaceFunctions: readonly BuiltinDef[] = [
  place('get', 'json: any, path: string', 'The value at a place such as `a.b[-1]`.'),
  place('set', 'json: any, path: string, value: any', 'A document with another value at a place of dots.'),
  place('merge', 'a: any, b: any', 'Two documents joined at every depth.'),
  place('flatten', 'value: any', 'One dict from places to values.'),
  place('diff', 'a: any, b: any', 'Additions, deletions and changes.'),
  builtin(
    '__json_tool(op: string, args: dict)',
    { doc: 'One of the operations above, or parse or stringify, by name.', effects: [] },
    (ctx, op, given) => {
      const args = given as HarnDict
      chargeArguments(ctx, [op!, args])
      const pickNamed = (...names: string[]): Value[] => names.map((name) => args.get(name) ?? null)
      switch (op) {
        case 'parse':
          return ctx.call(ctx.builtinValue('json_parse'), pickNamed('input'))
        case 'stringify':
          return ctx.call(ctx.builtinValue('json_stringify'), pickNamed('value'))
        case 'get':
          return start(ctx, 'get', pickNamed('json', 'path'))
        case 'set':
          return start(ctx, 'set', pickNamed('json', 'path', 'value'))
        case 'merge':
        case 'diff':
          return start(ctx, op, pickNamed('a', 'b'))
        case 'flatten':
          return start(ctx, 'flatten', pickNamed('value'))
        default:
          return ctx.throw(`Unknown operation: ${display(op!)}`)
      }
    },
  ),
]

export const jsonPlaceFrames = [documentFrame]
