// Views of lists (quiet.ts): variables with the items of a list that a quiet loop reads, and the code that keeps them valid.

import type { Block } from './graph.js'
import type { ViewNames } from './instr-writer.js'
import type { View } from './quiet.js'
import type { WholeWriter } from './unit.js'

export class ViewWriter {
  private readonly views: readonly View[]
  private readonly whole: WholeWriter

  constructor(whole: WholeWriter, views: readonly View[]) {
    this.whole = whole
    this.views = views
  }

  /** The view of the list in `slot`, if there is one, as the names of its variables. */
  find(slot: number, isReal: boolean): ViewNames | null {
    const view = this.listOpened().find((each) => each.slot === slot && each.isReal === isReal)
    if (view === undefined) return null
    const items = this.whole.variable(isReal ? 'w' : 'y', slot, isReal ? 'EMPTY' : 'NO_ITEMS')
    return {
      items,
      length: isReal ? `${items}.length` : this.whole.variable('l', slot, '0'),
      owned: view.isOwned ? null : this.whole.variable('o', slot, 'false'),
    }
  }

  private listOpened(): readonly View[] {
    const { at } = this.whole
    return at === null || !this.whole.isQuiet ? [] : this.views.filter(({ loop }) => loop.has(at))
  }

  /** At the entry of a loop. */
  open(to: Block, from: Block | null): string {
    const opened = this.views.filter(({ header, loop }) => header === to && (from === null || !loop.has(from)))
    const first = opened.filter(({ isReal }) => isReal)
    // Converting a list to doubles invalidates the other views of it.
    const rest = first.length === 0 ? opened : this.views.filter(({ isReal, loop }) => !isReal && loop.has(to))
    return [...first, ...rest].map((view) => `${this.look(view, true)};`).join('')
  }

  /** An expression that examines the list again. */
  private look({ slot, isReal, isWritten, isOwned }: View, isFirst = false): string {
    const list = this.whole.any(slot)
    if (isReal && isOwned) return `${this.whole.variable('w', slot, 'EMPTY')}=${isFirst ? 'ownReals(m,' : 'ownRealsNow('}${list})`
    const owned =
      isWritten && !isOwned ? `,${this.whole.variable('o', slot, 'false')}=${list} instanceof List&&${list}.owned` : ''
    if (isReal) return `${this.whole.variable('w', slot, 'EMPTY')}=${isFirst ? 'reals(m,' : 'realsNow('}${list})${owned}`
    const items = this.whole.variable('y', slot, 'NO_ITEMS')
    const length = this.whole.variable('l', slot, '0')
    return `${length}=${list} instanceof List${isOwned ? `&&${list}.owned` : ''}&&${list}.raw===null?(${items}=${list}.boxed,${list}.length):0${owned}`
  }

  /** Checks again what is in `slot` now. */
  lookAgain(slot: number): string {
    return this.listOpened()
      .filter((view) => view.slot === slot)
      .map((view) => `${this.look(view)};`)
      .join('')
  }

  /** After a value may have got another owner. */
  lookForOwners(): string {
    const { host } = this.whole
    if (host !== null) return host.lookForOwners()
    return this.listOpened()
      .filter(({ isWritten }) => isWritten)
      .map((view) => `${this.look(view)};`)
      .join('')
  }

  /** Expressions that examine all of them again, after something may have changed lists. */
  listLooks(): string[] {
    return this.listOpened().map((view) => this.look(view))
  }
}
