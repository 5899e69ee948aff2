// Which statements, functions and branches of scripts ran. A runtime that is given a Coverage compiles programs that count; all its
// runs count into the same object. The counters lie outside of the machine, because nothing that a script can see depends on them:
// a snapshot does not carry them.

import type { CoverageCounters, CoveragePoint } from '@bridle/compiler'
import type { SourceFile, Span } from '@bridle/parser'
import { builtin } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm'

export interface CoverageOptions {
  /** Whether what lies there is left out, such as the tests themselves. */
  readonly skips?: (file: string, span: Span) => boolean
}

/** How often something ran; lines count from 1. */
export interface LineCount {
  readonly line: number
  readonly hits: number
}

export interface FunctionCount extends LineCount {
  readonly name: string
}

export interface BranchCount extends LineCount {
  readonly kind: 'if' | 'ternary' | 'match' | 'guard'
  /** Number of the branch in its file, and of the arm in the branch. */
  readonly branch: number
  readonly arm: number
}

export interface FileCoverage {
  /** As the module is called. */
  readonly file: string
  readonly lines: readonly LineCount[]
  readonly functions: readonly FunctionCount[]
  readonly branches: readonly BranchCount[]
}

interface Counted {
  readonly point: CoveragePoint
  readonly line: number
  readonly number: number
}

/** The name that the emitter knows (compiler, emit/count.ts). */
const COUNT_PRIMITIVE = '__count_coverage'

export class Coverage implements CoverageCounters {
  /** What the runtime adds to its builtins. */
  readonly family: BuiltinFamily
  private readonly hits: number[] = []
  private readonly files = new Map<string, Map<string, Counted>>()
  private readonly skips: (file: string, span: Span) => boolean

  constructor({ skips = () => false }: CoverageOptions = {}) {
    this.skips = skips
    this.family = {
      name: 'coverage',
      builtins: [
        builtin(
          `${COUNT_PRIMITIVE}(number: int) -> nil`,
          { doc: 'Counts that a position was reached.', borrows: true },
          (_, number) => {
            if (typeof number === 'number' && number in this.hits) this.hits[number]!++
            return null
          },
        ),
      ],
    }
  }

  /** For the compiler: the number of the counter of a point. Compiling a file again, for another test, counts on. */
  number(file: SourceFile, point: CoveragePoint): number | null {
    // Modules that are not files have names such as `<stdlib>/NAME` and `host/NAME`.
    if (file.name.startsWith('<') || this.skips(file.name, point.span)) return null
    const points = this.files.get(file.name) ?? new Map<string, Counted>()
    this.files.set(file.name, points)
    const arm = point.kind === 'branch' ? `${point.branch} ${point.arm}` : ''
    const key = `${point.kind} ${point.span.start} ${point.span.end} ${arm}`
    const known = points.get(key)
    if (known !== undefined) return known.number
    const number = this.hits.push(0) - 1
    points.set(key, { point, number, line: file.position(point.span.start).line })
    return number
  }

  /** Of each file with something to count, sorted by name. */
  report(): readonly FileCoverage[] {
    return [...this.files]
      .filter(([, points]) => points.size > 0)
      .map(([file, points]) => this.reportFile(file, [...points.values()]))
      .toSorted((a, b) => (a.file < b.file ? -1 : 1))
  }

  private reportFile(file: string, points: readonly Counted[]): FileCoverage {
    const lines = new Map<number, number>()
    const functions: FunctionCount[] = []
    const branches: BranchCount[] = []
    const numbers = new Map<string, number>()
    for (const { point, line, number } of points) {
      const hits = this.hits[number]!
      if (point.kind === 'statement') lines.set(line, Math.max(hits, lines.get(line) ?? 0))
      else if (point.kind === 'function') functions.push({ name: point.name, line, hits })
      else {
        const key = `${point.branch} ${point.span.start}`
        const branch = numbers.get(key) ?? numbers.size
        numbers.set(key, branch)
        branches.push({ kind: point.branch, branch, arm: point.arm, line, hits })
      }
    }
    return {
      file,
      lines: [...lines].map(([line, hits]) => ({ line, hits })).toSorted((a, b) => a.line - b.line),
      functions: functions.toSorted((a, b) => a.line - b.line),
      branches: branches.toSorted((a, b) => a.line - b.line || a.branch - b.branch || a.arm - b.arm),
    }
  }
}
