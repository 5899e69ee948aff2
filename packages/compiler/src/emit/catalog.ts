// Diagnostics of the emitter: source that parses and passes the checks, but has no meaning in its context.

import { entry } from '@bridle/parser'

export const EMIT_CATALOG = {
  C001: entry<{ readonly message: string }>({
    severity: 'error',
    title: 'cannot be compiled',
    doc: 'The text is well formed and passed the checks, but says something that has no meaning where it stands, such as `break` outside a loop.',
    message: (a) => a.message,
  }),
}
