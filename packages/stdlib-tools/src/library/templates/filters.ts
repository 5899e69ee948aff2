// Filters of the template language: value and arguments in, value out. Truth and text here are the template's own: blank
// text counts as false, and nil shows as nothing.

import {
  HarnDict,
  HarnFloat,
  HarnList,
  HarnRange,
  HarnSet,
  countCodePoints,
  display,
  isInt,
  splitText,
  stringifyJson,
  trim,
  typeName,
} from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'

export class FilterError extends Error {}

/** nil, false, zero, blank text, empty list or dict are false; everything else, an empty set too, is true. */
export function isTemplateTrue(value: Value): boolean {
  if (value === null || value === false || value === 0) return false
  if (typeof value === 'string') return value.trim() !== ''
  if (value instanceof HarnFloat) return value.v !== 0
  if (value instanceof HarnList) return value.length > 0
  return !(value instanceof HarnDict) || value.size > 0
}

export function toTemplateText(value: Value): string {
  return value === null ? '' : display(value)
}

interface Filter {
  /** Fewest and most arguments. */
  readonly args: readonly [number, number]
  readonly run: (value: Value, args: readonly Value[]) => Value
}

const onText = (change: (text: string) => string): Filter => ({ args: [0, 0], run: (value) => change(toTemplateText(value)) })

function capitalize(word: string): string {
  const [first = '', ...rest] = word
  return first.toUpperCase() + rest.join('').toLowerCase()
}

function listItems(value: Value): readonly Value[] | null {
  if (value instanceof HarnList) return value.view()
  return value instanceof HarnSet ? value.values() : null
}

function takeEnd(value: Value, index: 0 | -1): Value {
  const items = listItems(value) ?? (typeof value === 'string' ? Array.from(value) : [])
  return items.at(index) ?? null
}

function measureLength(value: Value): Value {
  if (value === null) return 0
  if (typeof value === 'string') return countCodePoints(value)
  if (value instanceof HarnList || value instanceof HarnRange) return value.length
  if (value instanceof HarnSet || value instanceof HarnDict) return value.size
  throw new FilterError(`\`length\` not defined for ${typeName(value)}`)
}

function reverseValue(value: Value): Value {
  if (typeof value === 'string') return Array.from(value).reverse().join('')
  return value instanceof HarnList ? new HarnList(value.copyItems().reverse()) : value
}

function joinItems(value: Value, separator: Value): Value {
  if (typeof value === 'string') return value
  const items = listItems(value)
  if (items === null) throw new FilterError(`\`join\` requires a list (got ${typeName(value)})`)
  return items.map(toTemplateText).join(toTemplateText(separator))
}

function indentText(value: Value, [width, first]: readonly Value[]): Value {
  if (!isInt(width!)) throw new FilterError('`indent` requires an integer width')
  const columns = Math.min(Math.max(0, Number(width)), 10_000)
  const pad = ' '.repeat(columns)
  const withFirst = isTemplateTrue(first ?? null)
  return toTemplateText(value)
    .split('\n')
    .map((line, at) => (line === '' || (at === 0 && !withFirst) ? line : pad + line))
    .join('\n')
}

const FILTERS: Readonly<Record<string, Filter>> = {
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  trim: onText(trim),
  capitalize: onText(capitalize),
  title: onText((text) => text.replace(/\S+/g, capitalize)),
  escape_md: onText((text) => text.replace(/[\\`*_{}[\]()#+\-.!|<>]/g, '\\$&')),
  lines: { args: [0, 0], run: (value) => new HarnList(toTemplateText(value).split('\n')) },
  length: { args: [0, 0], run: measureLength },
  first: { args: [0, 0], run: (value) => takeEnd(value, 0) },
  last: { args: [0, 0], run: (value) => takeEnd(value, -1) },
  reverse: { args: [0, 0], run: reverseValue },
  join: { args: [1, 1], run: (value, [separator]) => joinItems(value, separator!) },
  default: { args: [1, 1], run: (value, [fallback]) => (isTemplateTrue(value) ? value : fallback!) },
  json: {
    args: [0, 1],
    run: (value, [pretty]) =>
      stringifyJson(value, { interchange: true, displays: true, indent: isTemplateTrue(pretty ?? null) ? 2 : 0 }),
  },
  indent: { args: [1, 2], run: indentText },
  replace: {
    args: [2, 2],
    run: (value, [from, to]) => splitText(toTemplateText(value), toTemplateText(from!)).join(toTemplateText(to!)),
  },
}

const BY_NAME: ReadonlyMap<string, Filter> = new Map(Object.entries(FILTERS))

/** Throws FilterError. */
export function applyFilter(name: string, value: Value, args: readonly Value[]): Value {
  const filter = BY_NAME.get(name)
  if (filter === undefined) throw new FilterError(`unknown filter \`${name}\``)
  if (args.length < filter.args[0] || args.length > filter.args[1])
    throw new FilterError(`filter \`${name}\` got wrong number of arguments`)
  return filter.run(value, args)
}
