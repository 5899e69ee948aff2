// What a model is shown of values: JSON, and of long ones the beginning, with a handle to the whole.

/** JSON; ints beyond it and bytes as strings. */
export function renderPlain(value: unknown): string {
  return (
    JSON.stringify(value, (_key, each: unknown) =>
      typeof each === 'bigint' ? String(each) : each instanceof Uint8Array ? `<${each.length} bytes>` : each,
    ) ?? 'null'
  )
}

/** At a boundary of characters: half of a surrogate pair is no text. */
export function cutText(text: string, from: number, to: number): string {
  const isLow = (at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00
  return text.slice(isLow(from) ? from + 1 : from, isLow(to) ? to - 1 : to)
}

/** The beginning and the end of a long text. */
export function shortenText(text: string, most: number): string {
  if (text.length <= most) return text
  const head = Math.floor(most * 0.7)
  const tail = most - head
  return `${cutText(text, 0, head)}\n… ${text.length - most} characters …\n${cutText(text, text.length - tail, text.length)}`
}

/** A few things by their own names; the oldest one goes when there are too many. */
export class Shelf<Thing> {
  private readonly things = new Map<string, Thing>()
  private made = 0
  private readonly letter: string
  private readonly most: number

  private readonly makeSuffix: () => string

  constructor(letter: string, most: number, makeSuffix: () => string = () => '') {
    this.letter = letter
    this.most = most
    this.makeSuffix = makeSuffix
  }

  put(thing: Thing, name = `${this.letter}${++this.made}${this.makeSuffix()}`): string {
    this.things.delete(name)
    this.things.set(name, thing)
    for (const oldest of this.things.keys()) {
      if (this.things.size <= this.most) break
      this.things.delete(oldest)
    }
    return name
  }

  get(name: string): Thing | undefined {
    return this.things.get(name)
  }

  take(name: string): Thing | undefined {
    const thing = this.things.get(name)
    this.things.delete(name)
    return thing
  }
}
