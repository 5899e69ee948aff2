// Requests for tools are checked against schemas, given defaults, routed by capability, and answered or refused with reasons.

const TOOLS = ['fs.read', 'search.web', 'convert.length', 'fs.list', 'none.such']
const FACTORS = { m: 1, km: 1000, mile: 1609.344 }

function makeArgs(i, seed) {
  switch (seed % 6) {
    case 0:
      return { path: `/tmp/${i}`, limit: seed % 50 }
    case 1:
      return { query: `q${seed % 9}`, tags: ['a', `b${seed % 3}`] }
    case 2:
      return { path: 17 }
    case 3:
      return { query: 'x', limit: 'many' }
    case 4:
      return { amount: (seed % 100) / 4, unit: ['m', 'km', 'mile'][seed % 3] }
    default:
      return {}
  }
}

function typeOf(key, value) {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'string') return 'string'
  return key === 'amount' ? 'float' : 'int'
}

function fits(key, value, rule) {
  switch (rule.type) {
    case 'string':
      return typeof value === 'string'
    case 'int':
      return Number.isInteger(value)
    case 'number':
      return typeof value === 'number'
    default:
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
  }
}

function checkArgs(schema, args) {
  const problems = []
  for (const [key, rule] of Object.entries(schema)) {
    if (!(key in args)) {
      if (rule.required) problems.push(`missing ${key}`)
    } else if (!fits(key, args[key], rule)) {
      problems.push(`wrong ${key}: ${typeOf(key, args[key])} for ${rule.type}`)
    } else if (rule.oneof !== null && !rule.oneof.includes(args[key])) {
      problems.push(`unknown ${key}: ${args[key]}`)
    }
  }
  for (const key of Object.keys(args).sort((a, b) => (a < b ? -1 : 1))) if (!(key in schema)) problems.push(`extra ${key}`)
  return problems
}

function withDefaults(schema, args) {
  const result = { ...args }
  for (const [key, rule] of Object.entries(schema)) if (!(key in result) && rule.default !== null) result[key] = rule.default
  return result
}

const field = (type, required, fallback = null, oneof = null) => ({ type, required, default: fallback, oneof })

const readFile = ({ limit, path }) => `read ${limit} lines of ${path}`

function listFiles({ limit, path }) {
  const names = []
  for (let k = 0; k < limit % 7; k++) names.push(`${path}/f${(k * 3) % 5}`)
  return names.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).join(' ')
}

const searchWeb = ({ query, tags }) => [query, ...tags].map((word) => `${word}:${word.length}`).join(' ')
const convert = ({ amount, unit }) => `${Math.floor(amount * FACTORS[unit] * 100)} cm`

function makeCatalogue() {
  const files = { limit: field('int', false, 20), path: field('string', true) }
  return new Map([
    ['fs.read', { schema: files, run: readFile }],
    ['fs.list', { schema: files, run: listFiles }],
    ['search.web', { schema: { query: field('string', true), tags: field('list', false, []) }, run: searchWeb }],
    [
      'convert.length',
      { schema: { amount: field('number', true), unit: field('string', true, null, ['m', 'km']) }, run: convert },
    ],
  ])
}

function handle(catalogue, { name, args }) {
  const entry = catalogue.get(name)
  if (entry === undefined) return { ok: false, text: `no tool ${name}` }
  const problems = checkArgs(entry.schema, args)
  if (problems.length > 0) return { ok: false, text: problems.join('; ') }
  return { ok: true, text: entry.run(withDefaults(entry.schema, args)) }
}

export function run(n) {
  const catalogue = makeCatalogue()
  let ok = 0
  const refused = new Map()
  let sum = 0
  let seed = 88
  for (let i = 0; i < n; i++) {
    seed = (seed * 16807) % 2147483647
    const answer = handle(catalogue, { name: TOOLS[seed % 5], args: makeArgs(i, seed) })
    if (answer.ok) {
      ok++
    } else {
      const [kind] = answer.text.split(' ')
      refused.set(kind, (refused.get(kind) ?? 0) + 1)
    }
    sum = (sum * 31 + answer.text.length) % 1000003
  }
  const parts = [...refused].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `${kind}=${count}`)
  return `tool_router ${ok} ${sum} ${parts.join(',')}`
}
