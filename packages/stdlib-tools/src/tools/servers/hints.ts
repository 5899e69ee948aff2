// Hints of the protocol about a tool (`readOnlyHint` …): those that its annotations state, and those that follow from the language's own
// annotations, `kind` and `side_effect_level`.

export const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

type Annotations = { readonly [key: string]: unknown }

const READING_KINDS: ReadonlySet<unknown> = new Set(['read', 'search', 'think', 'fetch'])
const CHANGING_KINDS: ReadonlySet<unknown> = new Set(['edit', 'delete', 'move', 'execute'])

/** Null where the annotations say nothing that a client wants to know. What is stated wins over what follows. */
export function makeHints(annotations: Annotations): { readonly [key: string]: string | boolean } | null {
  const { kind, side_effect_level: level, title } = annotations
  const hints: { [key: string]: string | boolean } = {}
  if (READING_KINDS.has(kind) || level === 'read_only') hints['readOnlyHint'] = true
  if (CHANGING_KINDS.has(kind) || level === 'workspace_write' || level === 'process_exec') hints['readOnlyHint'] = false
  if (kind === 'delete' || kind === 'move') hints['destructiveHint'] = true
  if (kind === 'fetch' || level === 'network') hints['openWorldHint'] = true
  for (const hint of HINTS) if (typeof annotations[hint] === 'boolean') hints[hint] = annotations[hint]
  if (typeof title === 'string') hints['title'] = title
  return Object.keys(hints).length === 0 ? null : hints
}
