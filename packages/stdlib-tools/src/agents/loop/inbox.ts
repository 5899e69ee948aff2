// Words that a person sends to an agent loop while it works: asked for before each turn, and again when the loop would end.
// Which of them are for now is the host's matter. Only hosts that say they have an inbox are asked, so that other runs know nothing of it.

import { Fault, HarnDict, HarnList, display, here, hostSlot, tryAsk } from '@bridle/vm/families'
import type { Script } from '@bridle/vm/families'
import { emit } from './loop-state.js'
import type { Loop } from './loop-state.js'

/** Whether a person may send messages to agent loops while they work. */
export const HAS_INBOX = hostSlot('has_inbox', false)

/** Adds what was said to the conversation; false when it was nothing. */
export function* takeInbox(loop: Loop, at: 'turn' | 'end'): Script<boolean> {
  if (!(yield* here((ctx) => ctx.machine.hostData(HAS_INBOX)))) return false
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
