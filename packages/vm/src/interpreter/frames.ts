// How arguments become the first registers of a frame.

import { HarnList } from '../values/list.js'
import type { Code, Value } from '../values/types.js'

/** Arguments at `base` → parameters: missing ones are nil or, where a default may apply, unset; the rest become a list. */
export function placeArguments(code: Code, regs: Value[], base: number, argc: number): void {
  const { rest, firstDefault } = code.chunk
  if (rest >= 0) {
    const more: Value[] = []
    for (let at = rest; at < argc; at++) more.push(regs[base + at]!)
    for (let at = argc; at < rest; at++) regs[base + at] = at < firstDefault ? null : (undefined as never)
    regs[base + rest] = new HarnList(more)
    return
  }
  // A missing argument is undefined in its slot until its default replaces it.
  for (let at = argc; at < code.paramCount; at++) regs[base + at] = at < firstDefault ? null : (undefined as never)
}
