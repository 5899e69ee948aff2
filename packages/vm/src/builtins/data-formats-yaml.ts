// YAML ⇄ values. Reading is left to the `yaml` package, told to keep ints apart from floats; writing is ours: block style,
// keys in order, quotes only where a plain text would be read as something else (reference 03a §10.3).

import { Scalar, parseDocument, visit } from 'yaml'
import { HarnDict } from '../values/dict.js'
import { display, displayFloat } from '../values/display.js'
import { HarnList } from '../values/list.js'
import { Keyed } from '../values/keyed.js'
import { HarnFloat } from '../values/scalars.js'
import { HarnSet } from '../values/set.js'
import { wrapInt } from '../values/value.js'
import type { Value } from '../values/value.js'

/** A text or value that cannot be converted; the message has no prefix yet. */
export class FormatError extends Error {}

const MAX_DEPTH = 500
const MAX_INT = 2n ** 63n - 1n

export function parseYaml(text: string): Value {
  try {
    const document = parseDocument(text, { intAsBigInt: true, prettyErrors: false, logLevel: 'error', stringKeys: false })
    const [problem] = document.errors
    if (problem !== undefined) throw new FormatError(problem.message)
    visit(document, {
      // A number with leading zeros (a postal code, a phone number) is text.
      Scalar: (_key, node) => {
        const source = node.source ?? ''
        if (node.type === Scalar.PLAIN && /^[-+]?0\d/.test(source) && typeof node.value === 'bigint') node.value = source
      },
    })
    return fromLibrary(document.toJS({ mapAsMap: true }), 0)
  } catch (error) {
    if (error instanceof FormatError) throw error
    if (error instanceof RangeError) throw new FormatError('recursion limit exceeded')
    throw new FormatError(error instanceof Error ? error.message : String(error))
  }
}

/** What parsers give: bigint for ints, number for floats, Map or plain objects for dicts, Date-like objects for times. */
export function fromLibrary(data: unknown, depth: number): Value {
  if (depth > MAX_DEPTH) throw new FormatError('recursion limit exceeded')
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
  if (Array.isArray(data)) return new HarnList(data.map((item) => fromLibrary(item, depth + 1)))
  if (data instanceof Set) return new HarnList([...data].map((item) => fromLibrary(item, depth + 1)))
  // Times come with three decimals whatever was written; zeros at the end go.
  if ('toISOString' in data && typeof data.toISOString === 'function') {
    return String(data.toISOString()).replace(/\.(\d*?)0+(?=Z|[+-]\d\d:\d\d$|$)/, (_whole, digits: string) =>
      digits === '' ? '' : `.${digits}`,
    )
  }
  const entries = data instanceof Map ? [...data] : Object.entries(data)
  return new HarnDict(new Map(entries.map(([key, item]) => [display(fromLibrary(key, depth + 1)), fromLibrary(item, depth + 1)])))
}

// -------------------------------------------------------------------------------------------------------------- writing

export function stringifyYaml(value: Value): string {
  const lines: string[] = []
  writeBlock(lines, '', '', value, 0)
  return `${lines.join('\n')}\n`
}

/** Members of a container, keyed for dicts; null for a scalar. */
function parts(value: Value): { readonly keys: readonly string[] | null; readonly items: readonly Value[] } | null {
  if (value instanceof HarnList) return { keys: null, items: value.view() }
  if (value instanceof HarnSet) return { keys: null, items: value.values() }
  return value instanceof Keyed ? { keys: value.keys(), items: value.members() } : null
}

/**
 * Appends the lines of a value. `head` is what stands before it on its first line (indent and `key:` or `-`), `indent` the
 * white space of the lines of its members.
 */
function writeBlock(lines: string[], head: string, indent: string, value: Value, depth: number): void {
  if (depth > MAX_DEPTH) throw new FormatError('value is nested too deeply')
  const container = parts(value)
  const gap = head === '' ? '' : ' '
  if (container === null || container.items.length === 0) {
    const text = container === null ? scalar(value, indent) : container.keys === null ? '[]' : '{}'
    lines.push(head + gap + text)
    return
  }
  // A list item's container begins on the line of its dash; a dict member's begins on the next line.
  const compact = head.endsWith('-')
  if (head !== '' && !compact) lines.push(head)
  for (const [at, item] of container.items.entries()) {
    const start = compact && at === 0 ? `${head} ` : indent
    if (container.keys === null) writeBlock(lines, `${start}-`, `${indent}  `, item, depth + 1)
    else {
      const nested = parts(item)
      // Lists inside dicts are not indented.
      const inner = nested !== null && nested.keys === null ? indent : `${indent}  `
      writeBlock(lines, `${start}${textScalar(container.keys[at]!, null)}:`, inner, item, depth + 1)
    }
  }
}

function scalar(value: Value, indent: string): string {
  switch (typeof value) {
    case 'string':
      return textScalar(value, indent)
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) return 'null'
  if (value instanceof HarnFloat) return Number.isFinite(value.v) ? displayFloat(value.v) : 'null'
  return textScalar(display(value), indent)
}

/** Words that readers of YAML 1.2 take for nil or a bool. */
const SPECIAL_WORDS = /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE)$/
const NUMBER_LIKE =
  /^[-+]?(?:0x[0-9a-f]+|0o[0-7]+|0b[01]+|[0-9]+|[0-9]*\.[0-9]+(?:e[-+]?[0-9]+)?|[0-9]+\.?(?:e[-+]?[0-9]+)?|\.inf|\.nan)$/i
/** A first character that begins something else than a plain text. */
const INDICATOR_FIRST = /^(?:[#,[\]{}&*!|>'"%@`]|[-?:](?:\s|$)|---|\.\.\.)/

/** A text as plain, quoted or, with `indent`, as a literal block when it has several lines. */
function textScalar(text: string, indent: string | null): string {
  // eslint-disable-next-line no-control-regex -- control characters are what needs escapes
  if (/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/.test(text)) return doubleQuoted(text)
  if (text.includes('\n')) {
    if (indent === null || /[ \t]\n|[ \t]$/.test(text) || /^\n*$/.test(text)) return doubleQuoted(text)
    return literalBlock(text, indent)
  }
  const plain =
    text !== '' &&
    !SPECIAL_WORDS.test(text) &&
    !NUMBER_LIKE.test(text) &&
    !INDICATOR_FIRST.test(text) &&
    !/^[ \t]|[ \t]$|: |:$| #/.test(text)
  return plain ? text : `'${text.replaceAll("'", "''")}'`
}

function literalBlock(text: string, indent: string): string {
  const chomp = !text.endsWith('\n') ? '-' : text.endsWith('\n\n') ? '+' : ''
  const body = text.endsWith('\n') ? text.slice(0, -1) : text
  const pad = indent === '' ? '  ' : indent
  const hint = /^\n*[ \t]/.test(text) ? '2' : ''
  return [`|${hint}${chomp}`, ...body.split('\n').map((line) => (line === '' ? '' : pad + line))].join('\n')
}

function doubleQuoted(text: string): string {
  const named: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' }
  // eslint-disable-next-line no-control-regex -- as above
  const escaped = text.replace(/["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g, (char) => {
    const code = char.charCodeAt(0)
    return named[char] ?? (code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`)
  })
  return `"${escaped}"`
}
