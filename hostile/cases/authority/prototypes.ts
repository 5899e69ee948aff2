// Member names of JavaScript objects, passed to every builtin that takes a word, a key or a name.

import { createRuntime } from '@bridle/stdlib-tools'
import { rows } from '../../rows.js'

const WORDS = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty']
const LEFT_OUT = new Set([
  'exit',
  'sleep',
  'sleep_ms',
  'ask_user',
  'request_approval',
  'mcp_serve',
  'mcp_registry_status',
  'mcp_server_card',
])
const AT_A_TIME = 12

const { registry } = createRuntime()
const names = [...registry.builtins.values()].filter(
  ({ name, arity, rest }) => !name.startsWith('__') && !LEFT_OUT.has(name) && (arity > 0 || rest),
)

function calls(name: string, arity: number): string {
  const count = Math.max(1, arity)
  return WORDS.flatMap((word) => {
    const text = JSON.stringify(word)
    const key = `{${text}: ${text}, type: ${text}, kind: ${text}, name: ${text}, format: ${text}, provider: ${text}}`
    return [
      Array.from({ length: count }, () => text),
      Array.from({ length: count }, (_, at) => (at === 0 ? text : key)),
      Array.from({ length: count }, (_, at) => (at === 0 ? key : text)),
    ].map((values) => `try { ${name}(${values.join(', ')}) } catch (e) { said = said.push("\${e}") }\n`)
  }).join('')
}

const groups = Array.from({ length: Math.ceil(names.length / AT_A_TIME) }, (_, at) =>
  names.slice(at * AT_A_TIME, (at + 1) * AT_A_TIME),
)

export const cases = rows(
  'no-javascript-objects',
  groups.map((group) => ({
    name: `words of prototypes for ${group[0]!.name} … ${group.at(-1)!.name}`,
    source: `var said = []\n${group.map(({ name, arity }) => calls(name, arity)).join('')}println(said)\n`,
    runtime: { enforceManifest: false, start: { deadlineMs: 2000 } },
    lacks: ['native code', '[object ', 'TypeError', 'RangeError', 'is not a function', 'Cannot read'],
  })),
)
