// Daemons: agent loops with a queue of events in front of them; daemons.harn is what they do.

import { HarnBuiltin, harnBuiltin } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily } from '@bridle/vm/families'
import { AGENT_EFFECTS } from '../loop/loop.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'

const MODULE = 'agents/workers/daemons'
const FILES = ['fs.read', 'fs.write'] as const
const EFFECTS = [...AGENT_EFFECTS, ...FILES]

function define(signature: string, doc: string, effects: readonly string[]): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  return harnBuiltin(signature, { doc, effects }, { module: MODULE, function: name, output: 'drop' })
}

export const daemonsFamily: BuiltinFamily = {
  name: 'daemons',
  modules: findHarnModule,
  primitives: [
    definePrimitive(
      '__spawn_daemon(id: string, name: string) -> int',
      'Starts the task of a daemon; its number.',
      (ctx, id, name) => ctx.machine.spawn(new HarnBuiltin('__daemon_body'), [id!], { name: name as string }),
    ),
  ],
  builtins: [
    harnBuiltin(
      '__daemon_body(id: string) -> nil',
      { doc: 'What the task of a daemon does.', effects: EFFECTS },
      { module: MODULE, function: 'run_daemon', output: 'drop' },
    ),
    define('daemon_spawn(config: dict) -> dict', 'Starts an agent loop that waits for events.', EFFECTS),
    define('daemon_trigger(handle: dict | string, event: any) -> dict', 'Puts an event into the queue of a daemon.', [
      'fs.write',
      'clock.now',
      'callback',
    ]),
    define('daemon_snapshot(handle: dict | string) -> dict', 'What a daemon was when it last idled, and its queue.', [
      'clock.now',
    ]),
    define('daemon_stop(handle: dict | string) -> dict', 'Ends a daemon; its folder stays.', [
      'fs.write',
      'clock.now',
      'callback',
    ]),
    define('daemon_resume(path: string) -> dict', 'Goes on with a daemon that was stopped, from its folder.', EFFECTS),
  ],
}
