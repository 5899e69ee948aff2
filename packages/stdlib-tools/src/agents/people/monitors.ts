// Monitors, behind std/monitors; monitors.harn is what they do.

import { harnBuiltin } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'

export const monitorsFamily: BuiltinFamily = {
  name: 'monitors',
  modules: findHarnModule,
  builtins: [
    harnBuiltin(
      'monitor_wait_for_native(options: dict) -> dict as ?',
      {
        doc: 'Polls a source until a condition holds or the time runs out.',
        effects: ['callback', 'clock.now', 'random.bytes'],
      },
      { module: 'agents/people/monitors', function: 'wait_for', output: 'drop' },
    ),
  ],
}
