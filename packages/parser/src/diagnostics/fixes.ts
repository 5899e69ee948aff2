// Applies the fixes of diagnostics. Fixes are applied from the end of the source to its start. A fix that overlaps an applied one is left
// for the next call.

import type { Diagnostic } from './diagnostic.js'

export interface Fixed {
  readonly text: string
  /** Number of diagnostics whose fix was applied. */
  readonly count: number
}

export function applyFixes(text: string, diagnostics: readonly Diagnostic[]): Fixed {
  const fixes = diagnostics
    .flatMap(({ fix }) => (fix === null || fix.edits.length === 0 ? [] : [fix.edits]))
    .map((edits) => ({ edits, start: Math.min(...edits.map(({ span }) => span.start)) }))
    .sort((one, other) => other.start - one.start)
  const accepted: (readonly [start: number, end: number, text: string])[] = []
  let count = 0
  for (const { edits } of fixes) {
    const clashes = edits.some(({ span }) =>
      accepted.some(([start, end]) => (span.start < end && start < span.end) || (span.start === start && span.end === end)),
    )
    if (clashes) continue
    count += 1
    for (const { span, text: inserted } of edits) accepted.push([span.start, span.end, inserted])
  }
  let result = text
  for (const [start, end, inserted] of accepted.sort((one, other) => other[0] - one[0] || other[1] - one[1])) {
    result = result.slice(0, start) + inserted + result.slice(end)
  }
  return { text: result, count }
}
