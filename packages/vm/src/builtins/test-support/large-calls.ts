// Calls of every builtin with one large argument, for tests and measurements that go through all of them.

import type { BuiltinDef } from '../builtin.js'

interface Kind {
  readonly name: string
  readonly is: RegExp
  readonly large: string
  readonly small: string
}

/** Arguments by type of parameter; `large` are values of `n` parts. */
const KINDS: readonly Kind[] = [
  { name: 'string', is: /\bstring\b|\bany\b/, large: 'text', small: '"a"' },
  { name: 'list', is: /\blist\b|\bany\b/, large: 'items', small: '[1]' },
  { name: 'dict', is: /\bdict\b|[{]|\bany\b/, large: 'fields', small: '{a: 1}' },
  { name: 'set', is: /\bset\b/, large: 'members', small: 'set(1)' },
  { name: 'bytes', is: /\bbytes\b/, large: 'data', small: 'bytes_from_string("a")' },
]

/** The large value in a call of `listCalls`. */
export function findKind(call: string): string {
  return KINDS.find(({ large }) => new RegExp(`\\b${large}\\b`).test(call))?.name ?? ''
}

const SCALARS: readonly (readonly [is: RegExp, text: string])[] = [
  [/\bclosure\b|=>/, '{ x, y -> x }'],
  [/\bint\b|\bnumber\b|\bfloat\b/, '2'],
  [/\bbool\b/, 'true'],
  [/\bduration\b/, '1s'],
]

/** Large values: strings of `characters`, everything else with `n` elements. */
export const makePrelude = (n: number, characters = n): string => `let n = ${n}
let text = "a,b " * ${characters / 4}
let items = (1 to ${n}).to_list()
let fields = json_parse("{" + items.map({ x -> "\\"k" + to_string(x) + "\\":1" }).join(",") + "}")
let members = set(items)
let data = bytes_from_string(text)
`

interface Parameter {
  readonly name: string
  readonly type: string
}

/** Calls for which arguments by type would be refused, or take a shortcut. */
export const SPELLED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['schema_check', 'schema_parse', 'schema_is', 'is_type', 'schema_expect', 'json_validate'].flatMap((name) => [
      [`${name} data`, `${name}(items, {items: {type: "int"}})`],
      [
        `${name} schema`,
        `${name}({a: 1}, {properties: items.map({ x -> pair("k" + to_string(x), {type: "int"}) }).iter().to_dict()})`,
      ],
    ]),
  ),
  ...Object.fromEntries(
    ['from_json', 'to_json', 'from_openapi', 'to_openapi'].map((name) => [
      `schema_${name}_schema schema`,
      `schema_${name}_schema({properties: items.map({ x -> pair("k" + to_string(x), {}) }).iter().to_dict()})`,
    ]),
  ),
  ...Object.fromEntries(
    ['extend base', 'extend overrides', 'partial schema', 'pick schema', 'omit schema'].map((name) => {
      const schema = '{properties: items.map({ x -> pair("k" + to_string(x), {}) }).iter().to_dict()}'
      const builtin = `schema_${name.split(' ')[0]}`
      return [`schema_${name}`, `${builtin}(${schema}, ${builtin === 'schema_extend' ? schema : '["a"]'})`]
    }),
  ),
  'sync_rwlock_acquire key': 'sync_rwlock_acquire(text, "read")',
  'unicode_normalize s': 'unicode_normalize(text, "NFC")',
  'unicode_normalize form': 'unicode_normalize(text, "NFD")',
  'str_pad s': 'str_pad(text, 3, " ", "left")',
  'str_pad char': 'str_pad(text, 3, text, "left")',
  'str_pad side': 'str_pad(text, 3, " ", "both")',
  'random_shuffle list': 'random_shuffle(rng_seed(1), items)',
  'json_pointer_set value': 'json_pointer_set(items, "/1", 2)',
  'json_pointer_delete value': 'json_pointer_delete(fields, "/k1")',
  'list.slice self': 'items.slice(1)',
  'list.take self': 'items.take(n - 1)',
  'list.first self': 'items.first(n - 1)',
  'list.last self': 'items.last(n - 1)',
  'list.push self': 'items.push(1)\nitems.push(2)',
  'assert_eq actual': 'assert_eq(items, items.reverse().reverse())',
  'assert_ne actual': 'assert_ne(items, items.reverse().reverse())',
  'dict.remove self': 'fields.remove("k1")',
  'iter.to_dict self': 'iter(items).map({ x -> pair(to_string(x), x) }).to_dict()',
  'range.to_dict self': '(1 to n).map({ x -> pair(to_string(x), x) }).to_dict()',
}

function readParameters(def: BuiltinDef): readonly Parameter[] {
  const { signature } = def
  const open = signature.indexOf('(')
  const parameters: Parameter[] = []
  let depth = 0
  let from = open + 1
  for (let at = open + 1; at < signature.length; at++) {
    const char = signature[at]!
    if ((char === ')' || char === ',') && depth === 0) {
      const [name = '', type = 'any'] = signature.slice(from, at).split(/:(.*)/s)
      if (name.trim() !== '') parameters.push({ name: name.trim().replace(/^\.\.\.|\?$/g, ''), type })
      from = at + 1
      if (char === ')') break
    }
    if ('(<[{'.includes(char)) depth++
    else if (')>]}'.includes(char) && signature[at - 1] !== '-') depth--
  }
  return parameters
}

function findSmall(type: string): string {
  return (SCALARS.find(([is]) => is.test(type))?.[1] ?? KINDS.find(({ is }) => is.test(type))?.small) || 'nil'
}

const RECEIVERS: Readonly<Record<string, string>> = {
  string: 'text',
  list: 'items',
  dict: 'fields',
  set: 'members',
  bytes: 'data',
  iter: 'iter(items)',
  range: '(1 to n)',
}
const SMALL_RECEIVERS: Readonly<Record<string, string>> = {
  string: '"a"',
  list: '[1]',
  dict: '{a: 1}',
  set: 'set(1)',
  bytes: 'bytes_from_string("a")',
  iter: 'iter([1])',
  range: '(1 to 2)',
}

/** Calls with one parameter large, by the parameter's name; several where it may be of several types. */
export function listCalls(def: BuiltinDef): Map<string, readonly string[]> {
  const parameters = readParameters(def)
  const calls = new Map<string, readonly string[]>()
  const { receiver, name } = def
  const head = receiver === null ? name : `${SMALL_RECEIVERS[receiver]}.${name}`
  // An unknown option is refused before anything is charged.
  const smalls = parameters.map(({ name: parameter, type }) => (def.shapes?.[parameter] === undefined ? findSmall(type) : '{}'))
  if (receiver !== null && RECEIVERS[receiver] !== undefined)
    calls.set('self', [`${RECEIVERS[receiver]}.${name}(${smalls.join(', ')})`])
  if (receiver !== null && RECEIVERS[receiver] === undefined) return calls
  for (const [at, { name: parameter, type }] of parameters.entries()) {
    const larges = KINDS.filter(({ is }) => is.test(type)).map(({ large }) => large)
    if (larges.length === 0) continue
    calls.set(
      parameter,
      larges.map((large) => `${head}(${smalls.map((small, index) => (index === at ? large : small)).join(', ')})`),
    )
  }
  return calls
}
