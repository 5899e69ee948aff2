// Every builtin with a declared effect, called with arguments of its types by a run without grants.

import { createRuntime } from '@bridle/stdlib-tools'
import { rows } from '../../rows.js'
import { EFFECTS } from '@bridle/stdlib-tools'

/** A run has these without a grant, or they belong to the host's own definitions. */
const FREE = /^(?:tool|host|clock|random|trace|compress|data)\.|^terminal\.write$/

const VALUES: Readonly<Record<string, string>> = {
  string: '"x"',
  int: '1',
  float: '1.0',
  bool: 'true',
  list: '["x"]',
  dict: '{name: "x", url: "http://example.invalid/", path: "x", command: "true", model: "m", prompt: "p"}',
  fn: '{ x -> x }',
  bytes: 'bytes_from_string("x")',
  duration: '1ms',
}

const SPECIAL: Readonly<Record<string, string>> = {
  url: '"http://example.invalid/"',
  path: '"x"',
}

const { registry } = createRuntime()
const callable = [...registry.builtins.values()].filter(
  ({ name, effects }) =>
    !name.startsWith('__') && effects !== 'pure' && effects.some((kind) => kind in EFFECTS && !FREE.test(kind)),
)

function makeArguments(signature: string, arity: number): string {
  const inside = signature.slice(signature.indexOf('(') + 1)
  const parts = inside.split(/,\s*(?=\.{0,3}[a-z_]+\??:)/)
  return Array.from({ length: arity }, (_, at) => {
    const [, name = '', type = ''] = /([a-z_]+)\??:\s*([a-z]+)/.exec(parts[at] ?? '') ?? []
    return SPECIAL[name] ?? VALUES[type] ?? VALUES['string']!
  }).join(', ')
}

export const cases = rows(
  'nothing-without-grant',
  callable.map(({ name, signature, arity }) => ({
    name,
    source: `try {\n  ${name}(${makeArguments(signature, arity)})\n} catch (e) {\n  println("refused")\n}\n`,
    runtime: { enforceManifest: false, start: { deadlineMs: 200 } },
  })),
)
