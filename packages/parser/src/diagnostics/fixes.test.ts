import { expect, test } from 'vitest'
import type { Diagnostic } from './diagnostic.js'
import { applyFixes } from './fixes.js'

const offer = (...edits: readonly [start: number, end: number, text: string][]): Diagnostic => ({
  code: 'X',
  severity: 'warning',
  message: '',
  span: { start: 0, end: 0 },
  hint: null,
  related: [],
  fix: { title: '', edits: edits.map(([start, end, text]) => ({ span: { start, end }, text })) },
})

test.each<[string, readonly Diagnostic[], string, number]>([
  ['nothing', [], 'abcdef', 0],
  ['several at once', [offer([0, 1, 'A']), offer([3, 4, 'D'])], 'AbcDef', 2],
  ['an insertion beside a change', [offer([2, 2, '-']), offer([2, 3, 'C'])], 'ab-Cdef', 2],
  ['the later of two that overlap', [offer([0, 3, 'x']), offer([2, 4, 'y'])], 'abyef', 1],
  ['the same once', [offer([0, 2, '']), offer([0, 2, ''])], 'cdef', 1],
  ['two insertions at one place', [offer([1, 1, 'x']), offer([1, 1, 'y'])], 'axbcdef', 1],
  ['one of several edits', [offer([0, 1, 'A'], [5, 6, 'F'])], 'AbcdeF', 1],
])('%s', (_, diagnostics, text, count) => {
  expect(applyFixes('abcdef', diagnostics)).toEqual({ text, count })
})
