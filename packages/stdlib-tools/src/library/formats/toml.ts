// TOML ⇄ values: reading by smol-toml, writing here. In each table the plain entries come first, then
// the sub-tables, both in key order.

import { HarnFloat, HarnList, HarnSet, Keyed, display, displayFloat, work } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { TomlError, parse } from 'smol-toml'
import { FormatError, fromLibrary } from './yaml.js'

const MAX_DEPTH = 200
/** Units of an entry that is written. */
const ENTRY_UNITS = 5

export function parseTomlText(text: string): Value {
  try {
    const table = parse(text, { integersAsBigInt: true, maxDepth: MAX_DEPTH })
    if (/\d{19}|[xob][0-9a-fA-F_]{16}/.test(text.replaceAll('_', ''))) refuseLargeInts(table)
    return fromLibrary(table)
  } catch (error) {
    if (error instanceof TomlError) {
      const message = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '')
      const line = text.split('\n')[error.line - 1] ?? ''
      throw new FormatError(frameMessage(line, error.line, describeProblem(message, line, error.column)))
    }
    if (error instanceof RangeError) throw new FormatError('recursion limit exceeded')
    throw error
  }
}

/** A problem of a line: its first column, how many it underlines, what is wrong. */
interface Problem {
  readonly column: number
  readonly size?: number
  readonly words: string
}

/** Messages of the package that are replaced by the language's wording, without the line. */
const WORDINGS: Readonly<Record<string, string>> = {
  'trying to redefine an already defined table or value': 'duplicate key',
  'illegal leading zero': 'unexpected leading zero, expected nothing',
  'unexpected end of key': 'unquoted keys cannot be empty, expected letters, numbers, `-`, `_`',
  'expected end of table array declaration': 'unclosed array table, expected `]`',
  'unrecognised escape sequence': 'missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\\`, `"`, `x`, `u`, `U`',
}

/** What a message of the package about a line means to scripts. */
function describeProblem(message: string, line: string, column: number): Problem {
  const end = line.length + 1
  const bare = /^[^#,\]}]*/.exec(line.slice(column - 1))![0].trimEnd()
  const asIt = { column, words: WORDINGS[message] ?? message }
  switch (message) {
    case 'invalid value':
      return describeValueProblem(bare, column)
    case 'each key-value declaration must be followed by an end-of-line': {
      const value = /^[^=]*=\s*(?=[^\s"'[{])/.exec(line)
      return value === null
        ? asIt
        : describeValueProblem(/^[^#]*/.exec(line.slice(value[0].length))![0].trimEnd(), value[0].length + 1)
    }
    case 'expected comma or end of structure':
      if (column < end) return asIt
      return line.lastIndexOf('{') > line.lastIndexOf('[')
        ? { column, words: 'unclosed inline table, expected `}`' }
        : { column, words: 'unclosed array, expected `]`' }
    case 'illegal character in key':
      if (column < end || !/^\s*\[/.test(line)) return { column, words: 'key with no value, expected `=`' }
      return { column, words: `unclosed ${/^\s*\[\[/.test(line) ? 'array table' : 'table'}, expected \`]\`` }
    case 'unfinished string':
      if (/^(?:"""|''')/.test(line.slice(column - 1))) return asIt
      return {
        column: end,
        words: line[column - 1] === "'" ? "invalid literal string, expected `'`" : 'invalid basic string, expected `"`',
      }
    case 'control characters are not allowed in strings':
      return column === end ? { column, words: 'invalid basic string, expected `"`' } : asIt
    case 'unfinished numeric value':
      return bare.endsWith('.') ? { column: column + bare.length, words: 'invalid fraction, expected digits' } : asIt
    case 'invalid date':
      return /^\d{4}-(?:00|1[3-9]|[2-9]\d)-/.test(bare)
        ? { column, size: bare.length, words: 'invalid date, expected month between 01 and 12' }
        : asIt
  }
  if (message.startsWith('incomplete key-value') && !line.includes('='))
    return { column: end, words: 'key with no value, expected `=`' }
  return asIt
}

/** Error for a value that is not a number, date or quoted text. */
function describeValueProblem(bare: string, column: number): Problem {
  const word = bare === '' ? undefined : ['true', 'false'].find((each) => each.startsWith(bare))
  const words =
    word === undefined ? 'string values must be quoted, expected literal string' : `invalid boolean, expected \`${word}\``
  return { column, size: Math.max(1, bare.length), words }
}

/** Ints have 64 bits. */
function refuseLargeInts(data: unknown): void {
  if (typeof data === 'bigint' && data !== BigInt.asIntN(64, data))
    throw new FormatError(data < 0n ? 'i64 value was too small' : 'u64 value was too large')
  if (typeof data === 'object' && data !== null) Object.values(data).forEach(refuseLargeInts)
}

/** A message with its place, as lines: the line of the text, carets below it, what is wrong. */
function frameMessage(source: string, line: number, { column, size = 1, words }: Problem): string {
  const margin = ' '.repeat(String(line).length)
  return [
    `TOML parse error at line ${line}, column ${column}`,
    `${margin} |`,
    `${line} | ${source}`,
    `${margin} | ${' '.repeat(column - 1)}${'^'.repeat(size)}`,
    words,
    '',
  ].join('\n')
}

function asTable(value: Value): Keyed | null {
  return value instanceof Keyed ? value : null
}

function listItems(value: Value): readonly Value[] | null {
  return value instanceof HarnList ? value.view() : value instanceof HarnSet ? value.values() : null
}

/** A list of dicts only, which is written as `[[name]]` sections. */
function listTables(value: Value): readonly Keyed[] | null {
  const items = listItems(value)
  if (items === null || items.length === 0) return null
  const tables = items.map(asTable)
  return tables.every((table) => table !== null) ? tables : null
}

export function stringifyToml(value: Value): string {
  const table = asTable(value)
  if (table === null) throw new FormatError(`unsupported ${nameUnsupported(value)} type`)
  const sections: string[] = []
  writeTable(sections, table, '', '', 0)
  return sections.join('\n')
}

/** Appends the section of a table and those of its sub-tables. `header` is empty for the root. */
function writeTable(sections: string[], table: Keyed, path: string, header: string, depth: number): void {
  if (depth > MAX_DEPTH) throw new FormatError('value is nested too deeply')
  work(ENTRY_UNITS * table.size)
  const lines: string[] = []
  const inner: (() => void)[] = []
  for (const key of table.keys()) {
    const value = table.get(key)!
    const name = path === '' ? formatKey(key) : `${path}.${formatKey(key)}`
    const child = asTable(value)
    const children = listTables(value)
    if (child !== null) inner.push(() => writeTable(sections, child, name, `[${name}]`, depth + 1))
    else if (children !== null)
      for (const each of children) inner.push(() => writeTable(sections, each, name, `[[${name}]]`, depth + 1))
    else lines.push(`${formatKey(key)} = ${formatInline(value, depth + 1)}\n`)
  }
  // A table that only holds tables needs no section of its own, unless it is empty or an element.
  const implied = lines.length === 0 && inner.length > 0 && !header.startsWith('[[')
  if (header === '' ? lines.length > 0 : !implied) sections.push((header === '' ? '' : `${header}\n`) + lines.join(''))
  for (const write of inner) write()
}

function formatKey(key: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(key)) return key
  return /["\\]/.test(key) && !key.includes("'") && !CONTROL.test(key) ? `'${key}'` : quoteText(key)
}

function formatInline(value: Value, depth: number): string {
  if (depth > MAX_DEPTH) throw new FormatError('value is nested too deeply')
  switch (typeof value) {
    case 'string':
      return formatString(value)
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) throw new FormatError('unsupported unit type')
  if (value instanceof HarnFloat) return formatFloat(value.v)
  const items = listItems(value)
  work(ENTRY_UNITS * (items?.length ?? asTable(value)?.size ?? 0))
  if (items !== null) return `[${items.map((item) => formatInline(item, depth + 1)).join(', ')}]`
  const table = asTable(value)
  if (table === null) return formatString(display(value))
  if (table.size === 0) return '{}'
  return `{ ${table
    .keys()
    .map((key) => `${formatKey(key)} = ${formatInline(table.get(key)!, depth + 1)}`)
    .join(', ')} }`
}

/** Digits with a point, `inf`, `nan`. */
function formatFloat(v: number): string {
  if (Number.isNaN(v)) return 'nan'
  const text = displayFloat(v)
  return Number.isFinite(v) && !text.includes('.') ? `${text}.0` : text
}

/** Control characters that no literal text may hold; a tab and a line end are fine. */
// eslint-disable-next-line no-control-regex -- control characters are the point
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/

/** The first form that needs no escapes: quotes, apostrophes, three of the one, three of the other; else quotes with escapes. */
function formatString(text: string): string {
  if (CONTROL.test(text)) return quoteText(text)
  const lines = text.includes('\n')
  const backslash = text.includes('\\')
  if (!lines && !backslash && !text.includes('"')) return quoteText(text)
  if (!lines && !text.includes("'")) return `'${text}'`
  const gap = lines ? '\n' : ''
  if (!backslash && !text.includes('"""')) return `"""${gap}${text}"""`
  return text.includes("'''") ? quoteText(text) : `'''${gap}${text}'''`
}

/** What the error calls a value that cannot be a document. */
function nameUnsupported(value: Value): string {
  if (value === null) return 'unit'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'str'
  if (typeof value !== 'object') return 'i64'
  return value instanceof HarnFloat ? 'f64' : listItems(value) === null ? 'str' : 'array'
}

function quoteText(text: string): string {
  const named: Readonly<Record<string, string>> = {
    '"': '\\"',
    '\\': '\\\\',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\b': '\\b',
    '\f': '\\f',
  }
  // eslint-disable-next-line no-control-regex -- control characters are what needs escapes
  return `"${text.replace(/["\\\u0000-\u001f\u007f]/g, (char) => named[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`
}
