// Hints of the protocol, as clients get them in the list of tools.

import { expect, test } from 'vitest'
import { makeHints } from './hints.js'

test.each<[object, object | null]>([
  [{}, null],
  [{ kind: 'other', side_effect_level: 'none' }, null],
  [{ kind: 'read' }, { readOnlyHint: true }],
  [{ side_effect_level: 'read_only' }, { readOnlyHint: true }],
  [
    { kind: 'fetch', side_effect_level: 'network' },
    { readOnlyHint: true, openWorldHint: true },
  ],
  [{ kind: 'delete' }, { readOnlyHint: false, destructiveHint: true }],
  [{ side_effect_level: 'workspace_write' }, { readOnlyHint: false }],
  [
    { kind: 'delete', destructiveHint: false, title: 'Tidy' },
    { readOnlyHint: false, destructiveHint: false, title: 'Tidy' },
  ],
  [{ readOnlyHint: 'yes', title: 7 }, null],
])('%j', (annotations, expected) => {
  expect(makeHints(annotations as never)).toEqual(expected)
})
