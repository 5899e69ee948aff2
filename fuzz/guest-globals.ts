// What an engine that embeds Bridle must provide beyond the language itself: UTF-8 conversion.

class Encoder {
  encode(text: string): Uint8Array {
    const bytes: number[] = []
    for (const character of text) {
      const code = character.codePointAt(0)!
      const point = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code
      if (point < 0x80) bytes.push(point)
      else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63))
      else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63))
      else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63))
    }
    return Uint8Array.from(bytes)
  }
}

/** Well-formed UTF-8 only, since snapshots contain nothing else. */
class Decoder {
  decode(bytes: Uint8Array): string {
    let text = ''
    for (let at = 0; at < bytes.length;) {
      const first = bytes[at]!
      const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
      let point = length === 1 ? first : first & (0xff >> (length + 1))
      for (let more = 1; more < length; more++) point = (point << 6) | (bytes[at + more]! & 63)
      text += String.fromCodePoint(point)
      at += length
    }
    return text
  }
}

const world = globalThis as { TextEncoder?: unknown; TextDecoder?: unknown }
world.TextEncoder ??= Encoder
world.TextDecoder ??= Decoder
