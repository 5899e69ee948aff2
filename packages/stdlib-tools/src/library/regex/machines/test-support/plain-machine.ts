// The plainest machine that runs re2js' compiled program: threads side by side, one character after the other, nothing remembered,
// nothing left out. The machines of this folder are tested against it.

import type { RE2JS } from 're2js'

interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  readonly matchRune: (rune: number) => boolean
}

interface Program {
  readonly inst: readonly Instruction[]
  readonly start: number
  readonly numCap: number
}

const OP = {
  ALT: 1,
  ALT_MATCH: 2,
  CAPTURE: 3,
  EMPTY_WIDTH: 4,
  FAIL: 5,
  MATCH: 6,
  NOP: 7,
  RUNE: 8,
  RUNE1: 9,
  RUNE_ANY: 10,
  RUNE_ANY_NOT_NL: 11,
} as const
const EMPTY = { BEGIN_LINE: 1, END_LINE: 2, BEGIN_TEXT: 4, END_TEXT: 8, WORD: 16, NO_WORD: 32 } as const

const WORD_CHARACTER = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]/u
function isWord(codePoint: number): boolean {
  return codePoint >= 0 && WORD_CHARACTER.test(String.fromCodePoint(codePoint))
}

/** What holds between two code points; -1 is the edge of the text. */
function findConditions(before: number, behind: number): number {
  let flags = 0
  if (before < 0) flags |= EMPTY.BEGIN_TEXT | EMPTY.BEGIN_LINE
  if (before === 10) flags |= EMPTY.BEGIN_LINE
  if (behind < 0) flags |= EMPTY.END_TEXT | EMPTY.END_LINE
  if (behind === 10) flags |= EMPTY.END_LINE
  return flags | (isWord(before) === isWord(behind) ? EMPTY.NO_WORD : EMPTY.WORD)
}

/** Threads in order of preference. `captures` are positions, -1 for none. */
interface Thread {
  readonly pc: number
  readonly captures: readonly number[]
}

/** Positions of the leftmost match at or behind `from`: start and end of each group, -1 for one that took no part. */
export function searchPlainly(engine: RE2JS, text: string, from: number): readonly number[] | null {
  const program = engine.re2Input.prog as Program
  const seen = new Int32Array(program.inst.length).fill(-1)
  let threads: Thread[] = []
  let best: readonly number[] | null = null
  let before =
    from === 0
      ? -1
      : (text
          .slice(Math.max(0, from - 2), from)
          .match(/.$/su)?.[0]
          .codePointAt(0) ?? -1)
  let step = 0
  for (let at = from; ; step++) {
    const behind = at < text.length ? text.codePointAt(at)! : -1
    const size = behind > 0xffff ? 2 : 1
    const flags = findConditions(before, behind)
    // Every thread of this step stands at `at`; one more begins here while there is no match.
    const ready: Thread[] = []
    for (const thread of threads) follow(program, ready, seen, step, thread, at, flags)
    if (best === null)
      follow(
        program,
        ready,
        seen,
        step,
        { pc: program.start, captures: [at, -1, ...new Array<number>(Math.max(0, program.numCap - 2)).fill(-1)] },
        at,
        flags,
      )
    threads = []
    for (const { pc, captures } of ready) {
      const instruction = program.inst[pc]!
      if (instruction.op === OP.MATCH) {
        best = captures.with(1, at)
        // Threads behind it were less preferred.
        break
      }
      if (behind >= 0 && accepts(instruction, behind)) threads.push({ pc: instruction.out, captures })
    }
    if (behind < 0 || (threads.length === 0 && best !== null)) return best
    before = behind
    at += size
  }
}

function accepts(instruction: Instruction, codePoint: number): boolean {
  if (instruction.op === OP.RUNE_ANY) return true
  if (instruction.op === OP.RUNE_ANY_NOT_NL) return codePoint !== 10
  return instruction.matchRune(codePoint)
}

/** Adds the threads that `thread` leads to without reading, most preferred first; each instruction once a step. */
function follow(
  program: Program,
  ready: Thread[],
  seen: Int32Array,
  mark: number,
  thread: Thread,
  at: number,
  flags: number,
): void {
  const pending: Thread[] = [thread]
  while (pending.length > 0) {
    const { pc, captures } = pending.pop()!
    if (seen[pc] === mark) continue
    seen[pc] = mark
    const instruction = program.inst[pc]!
    const go = (to: number, next: readonly number[] = captures): void => {
      pending.push({ pc: to, captures: next })
    }
    switch (instruction.op) {
      case OP.FAIL:
        break
      case OP.ALT:
      case OP.ALT_MATCH:
        go(instruction.arg)
        go(instruction.out)
        break
      case OP.NOP:
        go(instruction.out)
        break
      case OP.CAPTURE:
        go(instruction.out, instruction.arg < captures.length ? captures.with(instruction.arg, at) : captures)
        break
      case OP.EMPTY_WIDTH:
        if ((instruction.arg & ~flags) === 0) go(instruction.out)
        break
      default:
        ready.push({ pc, captures })
    }
  }
}
