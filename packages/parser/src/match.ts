// Token string → parse tree, or a failure that can be explained. Only this file knows which parser runs: the
// generated one. Another parser for the same rules must return the same nodes (parse-tree.ts).

import { explain } from './explain.js'
import { MAX_NESTING } from './lexer.js'
import type { MatchFailure, MatchOutcome, ParseNode, StartRule } from './parse-tree.js'
import { parseTokens } from './parser.generated.js'
import { TreeNode } from './tape.js'

/** Receives the nodes of rule `topItem` in order; a node is valid during the call only. */
export interface ItemTaker {
  /** Called before the first item, and again when the parse restarts. */
  begin(): void
  take(item: ParseNode): void
}

/**
 * With `items`, the top-level items are passed one by one, up to a failure if there is one, and the root is empty: the records of a large
 * file would take forty times the memory of its source. Throws TooDeep when types nest beyond the limit.
 */
export function matchTokens(units: string, start: StartRule, items: ItemTaker | null = null): MatchOutcome {
  const take = items === null ? null : (tape: Int32Array, item: number): void => items.take(new TreeNode(tape, item))
  const { tape, root, restart } = parseTokens(units, start, MAX_NESTING, take, () => items?.begin())
  if (root >= 0) return { ok: true, root: new TreeNode(tape, root) }
  return { ok: false, failure: new LazyFailure(units, start, restart) }
}

/** Lazy: most failures of interpolations need no explanation. */
class LazyFailure implements MatchFailure {
  private readonly units: string
  private readonly start: StartRule
  private readonly restart: number
  private found: MatchFailure | null = null
  readonly expected: MatchFailure['expected'] = () => this.explainFailure().expected()

  constructor(units: string, start: StartRule, restart: number) {
    this.units = units
    this.start = start
    this.restart = restart
  }

  get position(): number {
    return this.explainFailure().position
  }

  private explainFailure(): MatchFailure {
    this.found ??= explain(this.units, this.start, this.restart)
    if (this.found === null) throw new Error('the generated parser refuses what harn.ohm accepts')
    return this.found
  }
}
