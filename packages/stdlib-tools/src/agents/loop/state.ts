// Durable files of one agent session, behind std/agent_state; state.harn is what they do.

import { display, failRuntime, harnBuiltin } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Value } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { isAbsolutePath } from '../../library/files/lexical-path.js'

/** The folder of a session in which state.harn keeps who wrote what. */
const META = '.agent_state_meta'

/** A key as a plain relative path. */
function keyOf(value: Value | undefined): string {
  const key = display(value ?? null)
  if (key.trim() === '') return failRuntime('agent_state: key must be a non-empty relative path')
  if (key.includes('\0')) return failRuntime(`agent_state: key '${key}' must not have a NUL character`)
  if (isAbsolutePath(key)) return failRuntime(`agent_state: key '${key}' must be relative`)
  const parts = key.split(/[\\/]/).filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return failRuntime(`agent_state: key '${key}' must not escape the session root`)
  if (parts[0] === META) return failRuntime(`agent_state: key '${key}' uses a reserved internal path`)
  return parts.length === 0 ? failRuntime('agent_state: key must be a non-empty relative path') : parts.join('/')
}

function define(name: string, params: string, returns: string, doc: string, run = name): BuiltinDef {
  const effects = ['fs.query', 'fs.read', 'fs.write', 'process.info', 'clock.now', 'random.bytes', 'terminal.write', 'callback']
  return harnBuiltin(
    `__agent_state_${name}(${params}) -> ${returns}`,
    { doc, effects },
    { module: 'agents/loop/state', function: run },
  )
}

export const agentStateFamily: BuiltinFamily = {
  name: 'agent_state',
  modules: findHarnModule,
  primitives: [
    definePrimitive('__agent_state_key(key: any) -> string', 'A key as a plain relative path.', (_ctx, key) => keyOf(key)),
  ],
  builtins: [
    define('init', 'root: string, options?: dict, more?: dict', 'dict', 'Opens the state of a session and makes its folder.'),
    define('resume', 'root: string, session_id: string, options?: dict', 'dict', 'Opens the state of a session that exists.'),
    define('write', 'handle: dict, key: string, content: any', 'nil', 'Replaces the content of a key.'),
    define('read', 'handle: dict, key: string', 'string | nil', 'The content of a key, nil when there is none.'),
    define('list', 'handle: dict', 'list', 'All keys, sorted.', 'list_keys'),
    define('delete', 'handle: dict, key: string', 'nil', 'Deletes a key.', 'delete_key'),
    define('handoff', 'handle: dict, summary: dict', 'nil', 'Writes the handoff record of the session.', 'write_handoff'),
  ],
}
