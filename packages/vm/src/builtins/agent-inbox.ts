// Words that a person sends to an agent loop while it works (04a §4.4): asked for before each turn, and again when the loop would end.
// Which of them are for now is the host's matter. Only hosts that say they have an inbox are asked, so that other runs know nothing of it.

import { emit } from './agent-loop-state.js'
import type { Loop } from './agent-loop-state.js'
import { here, tryAsk } from './scripted.js'
import type { Script } from './scripted.js'
import { Fault } from '../interpreter/fault.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'

/** Adds what was said to the conversation; false when it was nothing. */
export function* takeInbox(loop: Loop, at: 'turn' | 'end'): Script<boolean> {
  if (!(yield* here((ctx) => ctx.machine.hasInbox))) return false
  const payload = { session_id: loop.sessionId, at }
  const said = yield* tryAsk({ kind: 'approval.ask', args: { kind: 'messages', payload } })
  // A host that may not be asked has said nothing.
  if (said instanceof Fault || !(said instanceof HarnList)) return false
  for (const message of said.view()) {
    const content = display(message)
    loop.messages.push(HarnDict.of({ role: 'user', content }))
    yield* emit(loop, { type: 'user_message', content })
  }
  return said.length > 0
}
