// Messages of workflows: the global dict `workflow`. mailbox.harn is what its functions do.

import { HarnBuiltin, HarnDict, harnBuiltin } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'

const EFFECTS = ['clock.now', 'random.bytes', 'fs.read', 'fs.write', 'fs.query', 'process.info'] as const

function define(signature: string, doc: string, name: string): BuiltinDef {
  return harnBuiltin(
    signature,
    { doc, effects: [...EFFECTS] },
    { module: 'agents/workflows/mailbox', function: name, output: 'drop' },
  )
}

const TARGET = 'target: dict | string'

const builtins: readonly BuiltinDef[] = [
  define(`workflow.signal(${TARGET}, name: string, payload?: any) -> dict`, 'Sends a workflow a message.', 'signal'),
  define(`workflow.query(${TARGET}, name: string)`, 'What a workflow last published under a name.', 'query'),
  define(
    `workflow.update(${TARGET}, name: string, payload?: any, options?: {timeout_ms: int})`,
    'Sends a workflow a message and waits for its answer.',
    'update',
  ),
  define(
    `workflow.publish_query(${TARGET}, name: string, value?: any) -> dict`,
    'Publishes a value under a name.',
    'publish_query',
  ),
  define(`workflow.receive(${TARGET}) -> dict | nil`, 'Takes the oldest message; nil when there is none.', 'receive_message'),
  define(
    `workflow.respond_update(${TARGET}, request_id: string, value?: any, name?: string) -> dict`,
    'Answers a message that waits.',
    'respond_update',
  ),
  define(`workflow.pause(${TARGET}) -> dict`, 'Marks a workflow as paused.', 'pause_workflow'),
  define(`workflow.resume(${TARGET}) -> dict`, 'Marks a workflow as going on.', 'resume_workflow'),
  define(`workflow.status(${TARGET}) -> dict`, 'How a workflow and its messages stand.', 'status'),
  define(`workflow.continue_as_new(${TARGET}) -> dict`, 'Begins the next generation of a workflow.', 'continue_as_new'),
  define(`continue_as_new(${TARGET}) -> dict`, 'Begins the next generation of a workflow.', 'continue_as_new'),
]

const MEMBERS = [
  'signal',
  'query',
  'update',
  'publish_query',
  'receive',
  'respond_update',
  'pause',
  'resume',
  'status',
  'continue_as_new',
]

export const workflowMessagesFamily: BuiltinFamily = {
  name: 'workflow-messages',
  modules: findHarnModule,
  builtins,
  constants: {
    workflow: HarnDict.of(Object.fromEntries(MEMBERS.map((name) => [name, new HarnBuiltin(`workflow.${name}`)]))),
  },
}
