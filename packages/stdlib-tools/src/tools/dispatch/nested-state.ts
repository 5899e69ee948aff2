// Where a machine keeps the calls that tools of the host make of other tools; apart from nested-calls.ts, so that the driver can ask for
// it in a run that makes none.

import { family } from '@bridle/vm/families'
import type { HarnDict } from '@bridle/vm/families'

/** By effect and id of the call. Dicts, so that the heap limit counts what is kept. */
export const nestedCalls = family('nested_calls', (): { readonly noted: Map<string, HarnDict> } => ({ noted: new Map() }))
