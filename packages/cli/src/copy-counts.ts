// The report of `bridle run --copies`: where containers were copied before a change, because another reference may have existed.

import type { CopyRecord } from '@bridle/vm'

/** Further positions are only counted. */
const MOST_SHOWN = 30

interface Count {
  readonly place: string
  copies: number
  bytes: number
}

export class CopyCounts {
  private readonly counts = new Map<string, Count>()

  note({ file, line, column, bytes }: CopyRecord): void {
    const place = `${file}:${line}:${column}`
    const count = this.counts.get(place)
    if (count === undefined) this.counts.set(place, { place, copies: 1, bytes })
    else {
      count.copies++
      count.bytes += bytes
    }
  }

  /** One line per position, most bytes first. */
  render(): string {
    const counts = [...this.counts.values()].toSorted((one, other) => other.bytes - one.bytes)
    if (counts.length === 0) return 'copies: none\n'
    const lines = [
      `copies: ${counts.reduce((sum, { copies }) => sum + copies, 0)}, bytes: ${counts.reduce((sum, { bytes }) => sum + bytes, 0)}`,
      '      copies        bytes  place',
    ]
    for (const { place, copies, bytes } of counts.slice(0, MOST_SHOWN))
      lines.push(`${String(copies).padStart(12)} ${String(bytes).padStart(12)}  ${place}`)
    if (counts.length > MOST_SHOWN) lines.push(`and ${counts.length - MOST_SHOWN} places with fewer bytes`)
    return `${lines.join('\n')}\n`
  }
}
