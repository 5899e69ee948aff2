// Splits the bytes of an editor into messages (Language Server Protocol, base protocol): `Content-Length: N`, an empty line, N bytes of JSON.
// Invalid bytes are reported and skipped. The next message is found again by its header, so that a bad frame loses only itself.

/** The longest script in JSON needs a fraction of this (PARSE_LIMITS of the parser). */
const MOST_BYTES = 64 << 20
/** A longer body is implausible: its length is treated as damage, and no body is skipped. */
const MOST_SKIPPED = 1 << 30
const MOST_HEADER_BYTES = 8 << 10
/** Bytes kept of a header that is too long: the header of the next message may begin in them. */
const KEPT_HEADER_BYTES = 1 << 10
const END_OF_HEADER = '\r\n\r\n'
const NOTHING = Buffer.alloc(0)

export interface FrameHandlers {
  readonly onMessage: (text: string) => void
  /** `why` is for people. */
  readonly onDamage: (why: string) => void
}

export class FrameCutter {
  private readonly handlers: FrameHandlers
  private header: Buffer = NOTHING
  /** Whether the header was reported as too long. */
  private isLost = false
  private body: Buffer[] = []
  /** Bytes of the body that are still missing. */
  private missing = 0
  private isSkipping = false

  constructor(handlers: FrameHandlers) {
    this.handlers = handlers
  }

  push(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) rest = this.missing > 0 ? this.takeBody(rest) : this.takeHeader(rest)
  }

  private takeBody(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.missing)
    if (!this.isSkipping) this.body.push(part)
    this.missing -= part.length
    if (this.missing === 0) this.endBody()
    return bytes.subarray(part.length)
  }

  private endBody(): void {
    const { body, isSkipping } = this
    this.body = []
    this.isSkipping = false
    if (!isSkipping) this.handlers.onMessage(Buffer.concat(body).toString('utf8'))
  }

  private takeHeader(bytes: Buffer): Buffer {
    const joined = this.header.length === 0 ? bytes : Buffer.concat([this.header, bytes])
    const end = joined.indexOf(END_OF_HEADER)
    if (end < 0) {
      const isTooLong = joined.length > MOST_HEADER_BYTES
      if (isTooLong && !this.isLost) this.handlers.onDamage(`a header of more than ${MOST_HEADER_BYTES} bytes was left out`)
      this.isLost ||= isTooLong
      this.header = Buffer.from(isTooLong ? joined.subarray(-KEPT_HEADER_BYTES) : joined)
      return NOTHING
    }
    this.header = NOTHING
    this.isLost = false
    this.readHeader(joined.toString('latin1', Math.max(0, end - MOST_HEADER_BYTES), end))
    return joined.subarray(end + END_OF_HEADER.length)
  }

  /** The last length counts: what precedes it may be the body of a damaged message. */
  private readHeader(text: string): void {
    const fields = text.toLowerCase()
    const name = 'content-length:'
    const at = fields.lastIndexOf(name)
    const length = at < 0 ? '' : readLine(fields, at + name.length)
    if (!/^\d{1,10}$/.test(length) || Number(length) > MOST_SKIPPED)
      return this.handlers.onDamage(
        `a header without a usable Content-Length was left out: ${JSON.stringify(length.slice(0, 40))}`,
      )
    this.missing = Number(length)
    const charsetAt = fields.lastIndexOf('charset=')
    const charset = charsetAt < 0 ? 'utf-8' : readLine(fields, charsetAt + 'charset='.length)
    if (this.missing > MOST_BYTES) this.skip(`a message of ${length} bytes was left out; ${MOST_BYTES} is the limit`)
    else if (charset !== 'utf-8' && charset !== 'utf8')
      this.skip(`a message in ${JSON.stringify(charset.slice(0, 40))} was left out; send UTF-8`)
    if (this.missing === 0) this.endBody()
  }

  private skip(why: string): void {
    this.isSkipping = true
    this.handlers.onDamage(why)
  }
}

function readLine(text: string, start: number): string {
  const end = text.indexOf('\r\n', start)
  return text.slice(start, end < 0 ? undefined : end).trim()
}
