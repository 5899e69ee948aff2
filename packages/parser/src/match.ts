// Token string → parse tree, or a failure that can be explained. This is the one place that knows which parser is at work: the
// generated one. Another for the same rules only has to give the same nodes (parse-tree.ts).

import { explain } from './explain.js'
import { MAX_NESTING } from './lexer.js'
import type { MatchFailure, MatchOutcome, StartRule } from './parse-tree.js'
import { parseTokens } from './parser.generated.js'
import { TreeNode } from './tape.js'

/** Raises TooDeep when types nest beyond the limit. */
export function matchTokens(units: string, start: StartRule): MatchOutcome {
  const { tape, root, restart } = parseTokens(units, start, MAX_NESTING)
  if (root >= 0) return { ok: true, root: new TreeNode(tape, root) }
  return { ok: false, failure: new LazyFailure(units, start, restart) }
}

/** Most failures of an interpolation are never asked about. */
class LazyFailure implements MatchFailure {
  private readonly units: string
  private readonly start: StartRule
  private readonly restart: number
  private found: MatchFailure | null = null
  readonly expected: MatchFailure['expected'] = () => this.explained().expected()

  constructor(units: string, start: StartRule, restart: number) {
    this.units = units
    this.start = start
    this.restart = restart
  }

  get position(): number {
    return this.explained().position
  }

  private explained(): MatchFailure {
    this.found ??= explain(this.units, this.start, this.restart)
    if (this.found === null) throw new Error('the generated parser refuses what harn.ohm accepts')
    return this.found
  }
}
