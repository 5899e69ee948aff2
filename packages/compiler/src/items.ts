// Facts and findings about one item of a program, cached with the tree of the item. The next version of an edited file shares most
// trees with the last one (`Reparser` of the parser), so that only the items around the edit are analysed again.
//
// Invariant: the cache holds nodes, never positions, because trees move with the text around them. Diagnostics are moved with them.

import type { Diagnostic, Span, Stmt } from '@bridle/parser'

/** One fact per item. `find` is a function of the tree, and of the text from which the tree was made. */
export function rememberItems<T, Given = undefined>(find: (item: Stmt, given: Given) => T): (item: Stmt, given: Given) => T {
  const known = new WeakMap<Stmt, { readonly fact: T }>()
  return (item, given) => {
    let found = known.get(item)
    if (found === undefined) known.set(item, (found = { fact: find(item, given) }))
    return found.fact
  }
}

interface Kept {
  readonly key: string
  /** Where the item began at that time. */
  readonly at: number
  readonly findings: readonly Diagnostic[]
}

/** Diagnostics of items. `key` contains everything that they depend on, except the tree. */
export class ItemFindings {
  private readonly known = new WeakMap<Stmt, Kept>()

  /** Appends the diagnostics of `item` to `findings`, computed by `check`. */
  report(item: Stmt, key: string, findings: Diagnostic[], check: () => void): void {
    const { start, end } = item.span
    const known = this.known.get(item)
    if (known !== undefined && known.key === key) {
      for (const each of known.findings) findings.push(moveDiagnostic(each, start - known.at))
      return
    }
    const before = findings.length
    check()
    const found = findings.slice(before)
    const isWithin = (span: Span): boolean => span.start >= start && span.end <= end
    if (
      found.every(
        ({ span, related, fix }) =>
          isWithin(span) &&
          related.every((each) => isWithin(each.span)) &&
          (fix?.edits ?? []).every((edit) => isWithin(edit.span)),
      )
    )
      this.known.set(item, { key, at: start, findings: found })
    else this.known.delete(item)
  }
}

function moveDiagnostic(diagnostic: Diagnostic, by: number): Diagnostic {
  if (by === 0) return diagnostic
  const move = ({ start, end }: Span): Span => ({ start: start + by, end: end + by })
  const { fix } = diagnostic
  return {
    ...diagnostic,
    span: move(diagnostic.span),
    related: diagnostic.related.map((each) => ({ ...each, span: move(each.span) })),
    fix: fix === null ? null : { ...fix, edits: fix.edits.map((edit) => ({ ...edit, span: move(edit.span) })) },
  }
}
