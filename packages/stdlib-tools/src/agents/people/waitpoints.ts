// Waitpoints: the builtins `waitpoint_*` and what std/waitpoint is made of; waitpoints.harn is what they do.

import { harnBuiltin } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'

function define(signature: string, doc: string, name?: string): BuiltinDef {
  const called = name ?? signature.slice(0, signature.indexOf('('))
  const effects = ['clock.now', 'random.bytes']
  return harnBuiltin(signature, { doc, effects }, { module: 'agents/people/waitpoints', function: called })
}

export const waitpointsFamily: BuiltinFamily = {
  name: 'waitpoints',
  modules: findHarnModule,
  builtins: [
    define('waitpoint_create(options?: dict | string | nil) -> dict', 'Makes a waitpoint, or gives the one of that id.'),
    define(
      'waitpoint_complete(id: string | dict, options?: dict) -> dict',
      'Completes a waitpoint; everybody who waits for it goes on.',
    ),
    define('waitpoint_cancel(id: string | dict, options?: dict) -> dict', 'Cancels a waitpoint.'),
    define('waitpoint_wait(ids: string | dict | list, options?: dict) -> dict', 'Waits for waitpoints and says how that ended.'),
    define('__waitpoint_create(id_or_options?: string | dict) -> dict', 'As waitpoint.create of std/waitpoint.', 'create_record'),
    define(
      '__waitpoint_complete(handle: dict | string, value?: any, options?: dict) -> dict',
      'As waitpoint.complete of std/waitpoint.',
      'complete_record',
    ),
    define(
      '__waitpoint_cancel(handle: dict | string, options?: dict) -> dict',
      'As waitpoint.cancel of std/waitpoint.',
      'cancel_record',
    ),
    define(
      '__waitpoint_wait(handles: dict | string | list, options?: dict) -> any',
      'As waitpoint.wait of std/waitpoint.',
      'wait_records',
    ),
  ],
}
