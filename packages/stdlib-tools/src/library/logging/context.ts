// The spans that scripts have open, innermost last: what log lines say about where they were written.

import { family } from '@bridle/vm/families'

export const traceStack = family(
  'trace_stack',
  (): { readonly stack: { readonly traceId: string; readonly spanId: string }[]; nextId: number } => ({ stack: [], nextId: 1 }),
)
