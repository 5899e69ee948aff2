// YAML ⇄ values. Reading is left to the `yaml` package, told to keep ints apart from floats; writing is ours: block style,
// keys in order, quotes only where a plain text would be read as something else.

import {
  HarnDict,
  HarnFloat,
  HarnList,
  HarnSet,
  Keyed,
  Problem,
  display,
  formatInterchangeFloat,
  keep,
  visit as visitValues,
  wrapInt,
} from '@bridle/vm/families'
import type { Budget, Value } from '@bridle/vm/families'
import {
  Composer,
  Lexer,
  Pair,
  Parser,
  Scalar,
  YAMLMap,
  YAMLParseError,
  isCollection,
  isMap,
  isScalar,
  parseDocument,
  visit,
} from 'yaml'
import type { CST, Document, Node } from 'yaml'
import { SEVERAL_DOCUMENTS, describeDoubledKey, placeText, describeYamlProblem } from './yaml-problems.js'

/** A text or value that cannot be converted; the message has no prefix yet. */
export class FormatError extends Problem {}

/** A mapping with a key that no dict can have. */
export class KeyError extends FormatError {}

const MAX_DEPTH = 500
const MAX_INT = 2n ** 63n - 1n

export function parseYaml(text: string): Value {
  try {
    const document = compose(text)
    visit(document, {
      Node: (_key, node) => {
        if (!isScalar(node) && !isCollection(node)) return undefined
        if (isMap(node)) refuseDoubledKeys(node, text)
        if (node.tag !== undefined) return withoutTag(node)
        if (isScalar(node) && node.type === Scalar.PLAIN) readPlain(node)
        return undefined
      },
    })
    return fromLibrary(document.toJS({ mapAsMap: true }))
  } catch (error) {
    if (error instanceof FormatError) throw error
    if (error instanceof RangeError) throw new FormatError(TOO_DEEP)
    throw new FormatError(error instanceof Error ? describeProblem(error, text) : String(error))
  }
}

/** The document of a text without errors of syntax. */
function compose(text: string): Document.Parsed {
  const composer = new Composer({
    intAsBigInt: true,
    prettyErrors: false,
    logLevel: 'error',
    resolveKnownTags: false,
    // The package compares each key with all before it.
    uniqueKeys: false,
  })
  // A damaged text has as many errors as characters, and the trace of each takes longer than all else.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    const documents = composer.compose(parseTokens(text), true, text.length) as Iterable<Document.Parsed>
    const [document, another] = documents
    const [problem] = document!.errors
    if (problem !== undefined) throw new FormatError(describeProblem(problem, text))
    if (another !== undefined) throw new FormatError(SEVERAL_DOCUMENTS)
    return document!
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * The syntax of a text, nested no deeper than values may be. The package composes nodes by recursion, and a regular expression that the
 * JavaScript engine compiles where the stack is nearly full ends the process.
 */
function* parseTokens(text: string): Generator<CST.Token, void, void> {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      yield token
      // Only the first error is reported.
      if (token.type === 'error') return
    }
    if (parser.stack.length > MAX_DEPTH + DOCUMENT_AND_SCALAR) throw new FormatError(TOO_DEEP)
  }
  yield* parser.end()
}

const TOO_DEEP = 'recursion limit exceeded'

/** What the parser has open beside collections. */
const DOCUMENT_AND_SCALAR = 2

function refuseDoubledKeys({ items }: YAMLMap, text: string): void {
  const seen = new Set<unknown>()
  for (const { key } of items) {
    const value: unknown = isScalar(key) ? key.value : key
    if (seen.has(value)) throw new FormatError(describeDoubledKey(text, (key as Node).range?.[0] ?? 0))
    seen.add(value)
  }
}

/** Messages for likely errors; other errors have the message of the package. */
function describeProblem(problem: YAMLParseError | Error, text: string): string {
  if (!(problem instanceof YAMLParseError)) {
    const { message } = problem
    if (!message.startsWith('Unresolved alias ')) return message
    const name = message.slice(message.lastIndexOf(': ') + 2)
    return `unknown anchor${placeText(text, text.indexOf(`*${name}`))}`
  }
  return describeYamlProblem(problem, text) ?? problem.message + placeText(text, problem.pos[0])
}

const CORE_TAG = 'tag:yaml.org,2002:'
/** What plain scalars with a tag must look like, and how errors call it. */
const TAGGED: Readonly<Record<string, readonly [expected: string, fits: (value: unknown) => boolean]>> = {
  int: ['an integer', (value) => typeof value === 'bigint'],
  float: ['a float', (value) => typeof value === 'number' || typeof value === 'bigint'],
  bool: ['a boolean', (value) => typeof value === 'boolean'],
  null: ['null', (value) => value === null],
}

/** The node that a tagged one stands for: a value of the type that the tag names, or `{!tag: value}` for a tag of one's own. */
function withoutTag(node: Node & { tag?: string; value?: unknown }): Node | undefined {
  const tag = node.tag!
  delete node.tag
  const core = tag.startsWith(CORE_TAG) ? tag.slice(CORE_TAG.length) : null
  if (!isScalar(node)) return tag.startsWith('!') ? wrapTagged(tag, node) : undefined
  const source = node.source ?? ''
  const expected = core !== null && Object.hasOwn(TAGGED, core) ? TAGGED[core]! : null
  if (expected === null && core !== null) {
    node.value = source
    node.type = Scalar.QUOTE_DOUBLE
    return undefined
  }
  const resolved: unknown = node.type === Scalar.PLAIN || expected !== null ? parsePlainScalar(source) : node.value
  if (expected !== null && !expected[1](resolved))
    throw new FormatError(`invalid value: string ${JSON.stringify(source)}, expected ${expected[0]}`)
  node.value = core === 'float' ? Number(resolved) : resolved
  return tag.startsWith('!') ? wrapTagged(tag, node) : undefined
}

function wrapTagged(tag: string, node: Node): Node {
  // The anchor of the inner node now belongs to the outer one.
  const map = new YAMLMap()
  const inner = node as Node & { anchor?: string }
  if (inner.anchor !== undefined) {
    map.anchor = inner.anchor
    delete inner.anchor
  }
  map.items.push(new Pair(new Scalar(tag), node))
  return map
}

/** The value of a plain scalar by its text: what the package makes of it, but for the forms that `readPlain` knows. */
function parsePlainScalar(source: string): unknown {
  if (source === '') return null
  const scalar = parseDocument(source, { intAsBigInt: true, logLevel: 'silent' }).contents
  if (!isScalar(scalar)) return source
  scalar.source ??= source
  readPlain(scalar)
  return scalar.value
}

/** Numbers as scripts read them: leading zeros make a text (a postal code, a phone number); signs and `0b` are fine. */
function readPlain(node: Scalar): void {
  const source = node.source ?? ''
  const { value } = node
  if (/^[-+]?0\d/.test(source) && typeof value === 'bigint') node.value = source
  else if (typeof value === 'number' && !Number.isFinite(value) && /\d/.test(source)) node.value = source
  else if (typeof value === 'string' && /^[-+]?0(?:b[01]+|o[0-7]+|x[0-9a-fA-F]+)$/.test(source)) {
    const magnitude = BigInt(source.replace(/^[-+]/, ''))
    node.value = source.startsWith('-') ? -magnitude : magnitude
  }
}

/** What parsers give: bigint for ints, number for floats, Map or plain objects for dicts, Date-like objects for times. */
export function fromLibrary(data: unknown): Value {
  return new Conversion().readValue(data, 0)
}

/** Heap units of a slot, and of an object. */
const UNITS = 16

/** An alias stands for all of what it names, and makes it once more: few lines are many values. Those are paid as they are made. */
class Conversion {
  private readonly seen = new Set<object>()
  private repeated = 0

  readValue(data: unknown, depth: number): Value {
    if (depth > MAX_DEPTH) throw new FormatError(TOO_DEEP)
    switch (typeof data) {
      case 'string':
      case 'boolean':
        return data
      case 'number':
        // As in JSON, there is no infinity and no NaN.
        return Number.isFinite(data) ? new HarnFloat(data) : null
      case 'bigint':
        return data > MAX_INT || data < -MAX_INT - 1n ? new HarnFloat(Number(data)) : wrapInt(data)
    }
    if (data === null || typeof data !== 'object') return null
    if (Array.isArray(data)) {
      this.pay(data, data.length)
      return new HarnList(data.map((item) => this.readValue(item, depth + 1)))
    }
    // Times are parsed with three decimals; trailing zeros are removed.
    if ('toISOString' in data && typeof data.toISOString === 'function') {
      return String(data.toISOString()).replace(/\.(\d*?)0+(?=Z|[+-]\d\d:\d\d$|$)/, (_whole, digits: string) =>
        digits === '' ? '' : `.${digits}`,
      )
    }
    const entries: readonly (readonly [unknown, unknown])[] = data instanceof Map ? [...data] : Object.entries(data)
    this.pay(data, entries.length)
    return HarnDict.named(entries.map(([key, item]) => [readKey(key), this.readValue(item, depth + 1)]))
  }

  private pay(container: object, members: number): void {
    if (!this.seen.has(container)) this.seen.add(container)
    else {
      this.repeated = visitValues(this.repeated, 1 + members)
      keep(UNITS * (1 + 2 * members))
    }
  }
}

/** A key may be any scalar but nil. */
function readKey(key: unknown): string {
  if (key === null || typeof key === 'object') throw new KeyError('key must be a string')
  return display(fromLibrary(key))
}

// -------------------------------------------------------------------------------------------------------------- writing

/** Units of a member, whose text is looked at for what readers might take it for; and characters that are a unit, as a power of two. */
const UNITS_A_MEMBER = 6
const TEXT_BITS = 4

/** Members of a container, keyed for dicts; null for a scalar. */
function listParts(value: Value): { readonly keys: readonly string[] | null; readonly items: readonly Value[] } | null {
  if (value instanceof HarnList) return { keys: null, items: value.view() }
  if (value instanceof HarnSet) return { keys: null, items: value.values() }
  return value instanceof Keyed ? { keys: value.keys(), items: value.members() } : null
}

/** A container being written: its members from `at` on are still to come. */
interface Open {
  readonly keys: readonly string[] | null
  readonly items: readonly Value[]
  /** White space of the lines of its members. */
  readonly indent: string
  /** What its first member's line begins with, where that is the line of a dash. */
  readonly first: string
  readonly depth: number
  at: number
}

/** Writes block YAML piece by piece (pieces.ts). `step` throws FormatError. */
export class YamlWriting {
  private readonly lines: string[] = []
  private readonly stack: Open[] = []

  /** The whole value until the first step, which pays for it. */
  private whole: { readonly value: Value } | null

  constructor(value: Value) {
    this.whole = { value }
  }

  /** Undefined when there is more to write. */
  step(budget: Budget): string | undefined {
    if (this.whole !== null) {
      const { value } = this.whole
      this.whole = null
      pay(budget, measureSize(value))
      this.writeBlock('', '', value, 0)
    }
    for (let top = this.stack.at(-1); top !== undefined; top = this.stack.at(-1)) {
      if (top.at === top.items.length) this.stack.pop()
      else if (budget.left <= 0) return undefined
      else this.writeMember(top, top.at++, budget)
    }
    return `${this.lines.join('\n')}\n`
  }

  /** Begins a value; `head` is what stands before it on its first line (indent and `key:` or `-`). */
  private writeBlock(head: string, indent: string, value: Value, depth: number): void {
    if (depth > MAX_DEPTH) throw new FormatError('value is nested too deeply')
    const container = listParts(value)
    if (container === null || container.items.length === 0) {
      const text = container === null ? formatScalar(value, indent) : container.keys === null ? '[]' : '{}'
      this.lines.push(head === '' ? text : `${head} ${text}`)
      return
    }
    // A list item's container begins on the line of its dash; a dict member's begins on the next line.
    const compact = head.endsWith('-')
    if (head !== '' && !compact) this.lines.push(head)
    const { keys, items } = container
    this.stack.push({ keys, items, indent, first: compact ? `${head} ` : indent, depth, at: 0 })
  }

  private writeMember({ keys, items, indent, first, depth }: Open, at: number, budget: Budget): void {
    const item = items[at]!
    pay(budget, measureSize(item) + (keys === null ? 0 : keys[at]!.length))
    const start = at === 0 ? first : indent
    const key = keys === null ? '-' : `${formatTextScalar(keys[at]!, null)}:`
    // Lists inside dicts are not indented.
    const isList = item instanceof HarnList || item instanceof HarnSet
    this.writeBlock(start + key, keys !== null && isList ? indent : `${indent}  `, item, depth + 1)
  }
}

const measureSize = (value: Value): number => (typeof value === 'string' ? value.length : 16)

/** Pays for one member, or the whole value, of this many characters. */
function pay(budget: Budget, size: number): void {
  budget.left -= UNITS_A_MEMBER + (size >> TEXT_BITS)
  budget.heap += 16 + size
}

function formatScalar(value: Value, indent: string): string {
  switch (typeof value) {
    case 'string':
      return formatTextScalar(value, indent)
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) return 'null'
  if (value instanceof HarnFloat) return formatInterchangeFloat(value.v).replace('e+', 'e')
  return formatTextScalar(display(value), indent)
}

/** Words that readers of YAML 1.2 take for nil or a bool. */
const SPECIAL_WORDS = /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE)$/
const NUMBER_LIKE =
  /^[-+]?(?:0x[0-9a-f]+|0o[0-7]+|0b[01]+|[0-9]+|[0-9]*\.[0-9]+(?:e[-+]?[0-9]+)?|[0-9]+\.?(?:e[-+]?[0-9]+)?|\.inf|\.nan)$/i
/** A first character that begins something else than a plain text. */
const INDICATOR_FIRST = /^(?:[#,[\]{}&*!|>'"%@`]|[-?:](?:\s|$)|---|\.\.\.)/

/** A text as plain, quoted or, with `indent`, as a literal block when it has several lines. */
function formatTextScalar(text: string, indent: string | null): string {
  // eslint-disable-next-line no-control-regex -- control characters are what needs escapes
  if (/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/.test(text)) return quoteDouble(text)
  if (text.includes('\n')) {
    if (indent === null || /[ \t]\n|[ \t]$/.test(text) || /^\n*$/.test(text)) return quoteDouble(text)
    return formatLiteralBlock(text, indent)
  }
  const plain =
    text !== '' &&
    !SPECIAL_WORDS.test(text) &&
    !NUMBER_LIKE.test(text) &&
    !INDICATOR_FIRST.test(text) &&
    !/^[ \t]|[ \t]$|: |:$| #/.test(text)
  return plain ? text : `'${text.replaceAll("'", "''")}'`
}

function formatLiteralBlock(text: string, indent: string): string {
  const chomp = !text.endsWith('\n') ? '-' : text.endsWith('\n\n') ? '+' : ''
  const body = text.endsWith('\n') ? text.slice(0, -1) : text
  const pad = indent === '' ? '  ' : indent
  const hint = /^\n*[ \t]/.test(text) ? '2' : ''
  return [`|${hint}${chomp}`, ...body.split('\n').map((line) => (line === '' ? '' : pad + line))].join('\n')
}

function quoteDouble(text: string): string {
  const named: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' }
  // eslint-disable-next-line no-control-regex -- as above
  const escaped = text.replace(/["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g, (char) => {
    const code = char.charCodeAt(0)
    return named[char] ?? (code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`)
  })
  return `"${escaped}"`
}
