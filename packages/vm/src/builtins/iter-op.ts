// The shape of one row of the iterator table. A HarnIter names its row and carries plain data; the row knows how to advance
// it by one item. Rows live in iter.ts (sources and combinators), channels.ts (`CHANNEL_ITER_OPS`) and stream-rows.ts
// (`STREAM_ITER_OPS`); iter.ts joins them.
//
// A row has one or both of two ways to advance:
//   simple   synchronous, no script code, no waiting. `undefined` means "use a frame this time"; it must then have
//            changed nothing
//   step     inside the native frame `iter.next`; pulls sources with `advance`, calls with ctx.call, waits with ctx.park
// Both return END when the iterator is exhausted. The table's users then mark it done, so a row is never asked again.

import type { Context, FrameState, Result } from './builtin.js'
import type { HarnIter } from '../values/handles.js'
import type { Value } from '../values/value.js'

/** State of the frame `iter.next`: fresh for every item, kept while the row waits for a call or a source. */
export interface IterFrame extends FrameState {
  iter: HarnIter
  /** Where the row continues after a call, a pull or a wait; 0 at the first step. */
  phase: number
  /** What the row must remember meanwhile: an item, the items of a chunk. */
  item: Value
  items: Value[]
}

/** How a row advances its sources. Passed to rows in other files, because advancing a source needs the table of all rows. */
export interface Sources {
  /** The next item or END if that needs neither script code nor waiting; otherwise undefined, with nothing changed. */
  readonly takeNextSimple: (iter: HarnIter) => Value | undefined
  /** The next item, or CONTROL when the machine must pull it; then `step` runs again with ctx.result. */
  readonly advance: (ctx: Context, source: Value) => Result
}

export interface IterOp {
  readonly simple?: (state: Value[]) => Value | undefined
  readonly step?: (ctx: Context, frame: IterFrame, sources: Sources) => Result
}

export type IterOps = Readonly<Record<string, IterOp>>
