// Whether agent loops ask for words that a person sends while they work (inbox.harn).

import { hostSlot } from '@bridle/vm/families'

/** Whether a person may send messages to agent loops while they work. */
export const HAS_INBOX = hostSlot('has_inbox', false)
