// Whether agent loops ask for words that a person sends while they work (inbox.harn).

import { defineHostSlot } from '@bridle/vm/families'

/** Whether a person may send messages to agent loops while they work. */
export const HAS_INBOX = defineHostSlot('has_inbox', false)
