// Layers of configuration are merged deeply, references are filled in, and the result is flattened and compared.

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

function makeLayer(seed) {
  const services = {}
  for (let k = 0; k < (seed % 5) + 1; k++) {
    services[`svc${(seed + k) % 7}`] = {
      port: 8000 + (seed % 100) + k,
      url: `http://\${host}:\${services.svc${(seed + k) % 7}.port}/v${k}`,
      tags: [`t${seed % 3}`, `t${k}`],
      limits: { cpu: k, memory: seed % 4 === 0 ? null : seed * 10 },
    }
  }
  return { host: `h${seed % 6}`, debug: seed % 2 === 0, services }
}

function merge(base, over) {
  const result = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const before = result[key]
    if (value === null) delete result[key]
    else if (isObject(value) && isObject(before)) result[key] = merge(before, value)
    else if (Array.isArray(value) && Array.isArray(before)) result[key] = [...new Set([...before, ...value])]
    else result[key] = value
  }
  return result
}

function lookup(config, path) {
  let at = config
  for (const part of path.split('.')) {
    if (!isObject(at)) return undefined
    at = at[part]
  }
  return at
}

function fillText(text, config) {
  let out = ''
  let rest = text
  for (;;) {
    const start = rest.indexOf('${')
    if (start < 0) return out + rest
    const stop = rest.indexOf('}')
    out += `${rest.slice(0, start)}${lookup(config, rest.slice(start + 2, stop)) ?? '?'}`
    rest = rest.slice(stop + 1)
  }
}

function fillReferences(node, config) {
  if (Array.isArray(node)) return node.map((value) => fillReferences(value, config))
  if (isObject(node)) {
    const result = {}
    for (const [key, value] of Object.entries(node)) result[key] = fillReferences(value, config)
    return result
  }
  return typeof node === 'string' ? fillText(node, config) : node
}

function walk(node, prefix, out) {
  if (isObject(node)) {
    for (const key of Object.keys(node).sort()) walk(node[key], prefix === '' ? key : `${prefix}.${key}`, out)
  } else if (Array.isArray(node)) {
    node.forEach((value, index) => walk(value, `${prefix}[${index}]`, out))
  } else {
    out.set(prefix, node)
  }
  return out
}

const flatten = (node) => walk(node, '', new Map())
const show = (value) => (value === null ? 'nil' : String(value))

function compare([a], [b]) {
  return a < b ? -1 : 1
}

export function run(n) {
  let config = { host: 'localhost', services: {} }
  let sum = 0
  let changes = 0
  for (let i = 0; i < n; i++) {
    const next = merge(config, makeLayer(i * 13 + 5))
    const before = flatten(config)
    const after = flatten(next)
    for (const path of new Set([...before.keys(), ...after.keys()]))
      if ((before.get(path) ?? null) !== (after.get(path) ?? null)) changes++
    config = next
    for (const [key, value] of [...flatten(fillReferences(config, config))].sort(compare))
      sum = (sum * 31 + key.length * 7 + show(value).length) % 1000003
  }
  return `merge_configs ${flatten(config).size} ${changes} ${sum}`
}
