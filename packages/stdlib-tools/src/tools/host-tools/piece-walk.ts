// Work over large data of the host in pieces, between which other work of the thread has its turn.

import { awaitNextTurn } from '../../library/time/host-clock.js'

/** Work over data that does a piece and says whether all is done. */
export interface PieceWalk {
  step(): boolean
}

/** Does all of it; others have their turn between two pieces. */
export function walkInPieces(walk: PieceWalk): void | Promise<void> {
  if (!walk.step()) return walkOn(walk)
}

async function walkOn(walk: PieceWalk): Promise<void> {
  do await awaitNextTurn()
  while (!walk.step())
}
