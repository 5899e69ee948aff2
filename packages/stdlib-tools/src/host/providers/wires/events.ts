// The framing of streamed answers: bytes become server-sent events, or lines of JSON. Chunks of bytes end anywhere: within a character,
// within a line, between CR and LF. What is read does not depend on where they end. Format: html.spec.whatwg.org, "Server-sent events".

/** One event: of server-sent events `data` and `event`, of lines of JSON the line. */
export interface WireEvent {
  /** Null where the service names none. */
  readonly event: string | null
  readonly data: string
}

export interface EventReader {
  /** Events that are complete with these bytes. */
  readonly append: (bytes: Uint8Array) => WireEvent[]
  /** The connection has ended: the rest, if the last event has no terminator. */
  readonly finish: () => WireEvent[]
}

/** Events of models are far smaller; a longer one is not an event stream. */
const MOST_EVENT_CHARACTERS = 16 << 20

export class EventTooLong extends Error {}

/** Lines end with LF, CR or both. */
class Lines {
  private readonly decoder = new TextDecoder()
  private parts: string[] = []
  private size = 0
  /** The last character was CR: a LF that follows belongs to it. */
  private isAfterReturn = false

  append(bytes: Uint8Array): string[] {
    return this.split(this.decoder.decode(bytes, { stream: true }))
  }

  finish(): string[] {
    const lines = this.split(this.decoder.decode())
    const rest = this.takeLine()
    return rest === '' ? lines : [...lines, rest]
  }

  private split(text: string): string[] {
    const lines: string[] = []
    let from = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 0x0a && this.isAfterReturn) from = at + 1
      else if (code === 0x0a || code === 0x0d) {
        this.keep(text.slice(from, at))
        lines.push(this.takeLine())
        from = at + 1
      }
      this.isAfterReturn = code === 0x0d
    }
    this.keep(text.slice(from))
    return lines
  }

  private keep(part: string): void {
    if (part === '') return
    this.size += part.length
    if (this.size > MOST_EVENT_CHARACTERS) throw new EventTooLong(`a line has more than ${MOST_EVENT_CHARACTERS} characters`)
    this.parts.push(part)
  }

  private takeLine(): string {
    const line = this.parts.join('')
    this.parts = []
    this.size = 0
    return line
  }
}

/** Comments, ids and waits for reconnecting are passed over: a model is not asked again where a connection broke off. */
export class ServerSentEvents implements EventReader {
  private readonly lines = new Lines()
  private data: string[] = []
  private size = 0
  private name: string | null = null

  append(bytes: Uint8Array): WireEvent[] {
    return this.lines.append(bytes).flatMap((line) => this.take(line))
  }

  finish(): WireEvent[] {
    return [...this.lines.finish().flatMap((line) => this.take(line)), ...this.take('')]
  }

  private take(line: string): WireEvent[] {
    if (line === '') {
      const { data, name } = this
      this.data = []
      this.size = 0
      this.name = null
      return data.length === 0 ? [] : [{ event: name, data: data.join('\n') }]
    }
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') this.name = value
    if (field !== 'data') return []
    this.size += value.length
    if (this.size > MOST_EVENT_CHARACTERS) throw new EventTooLong(`an event has more than ${MOST_EVENT_CHARACTERS} characters`)
    this.data.push(value)
    return []
  }
}

/** Empty lines say nothing. */
export class JsonLines implements EventReader {
  private readonly lines = new Lines()

  append(bytes: Uint8Array): WireEvent[] {
    return this.lines.append(bytes).flatMap(toEvent)
  }

  finish(): WireEvent[] {
    return this.lines.finish().flatMap(toEvent)
  }
}

function toEvent(line: string): WireEvent[] {
  return line.trim() === '' ? [] : [{ event: null, data: line }]
}
