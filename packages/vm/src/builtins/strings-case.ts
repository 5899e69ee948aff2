// Conversion between naming styles, and grapheme clusters.

interface CaseFunction {
  readonly doc: string
  readonly map: (text: string) => string
}

// One instance, made on first use: building a segmenter takes milliseconds. It holds no state between calls.
let segmenter: Intl.Segmenter | null = null

/** Strings in which each character is its own cluster: without control characters, because CR LF is one cluster. */
const PLAIN = /^[\x20-\x7e]*$/

/** Extended grapheme clusters. */
export function splitGraphemes(text: string): string[] {
  return PLAIN.test(text) ? text.split('') : Array.from(iterateClusters(text), (part) => part.segment)
}

/** Length that the first cluster hardly ever exceeds. */
const MANY_IN_A_CLUSTER = 64

/** Whether the first cluster is one ASCII character, which follows from the next character: then no slow segmenter is needed. */
export function beginsPlainly(text: string): boolean {
  return text.length > 0 && text.charCodeAt(0) < 128 && text[0] !== '\r' && (text.length === 1 || text.charCodeAt(1) < 128)
}

/** The first of them, undefined for an empty text. */
export function takeFirstGrapheme(text: string): string | undefined {
  if (beginsPlainly(text)) return text.charAt(0)
  for (let length = MANY_IN_A_CLUSTER; ; length *= 8) {
    for (const { segment } of iterateClusters(text.slice(0, length))) {
      if (segment.length === length && length < text.length) break
      return segment
    }
    if (length >= text.length) return undefined
  }
}

/** Characters given to the segmenter at once: V8 copies all of them for each cluster. */
const WINDOW = 1024

/** The same, one after the other. A cluster's end depends only on itself and the next character. */
export function* iterateClusters(text: string): Generator<{ readonly segment: string }, void, void> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  let from = 0
  for (let size = WINDOW; from < text.length;) {
    const end = Math.min(text.length, from + size)
    // Do not split a surrogate pair.
    const to = end < text.length && text.codePointAt(end - 1)! > 0xffff ? end + 1 : end
    let at = from
    for (const part of segmenter.segment(text.slice(from, to))) {
      // The last cluster may continue in the next piece.
      if (at + part.segment.length === to && to < text.length) break
      at += part.segment.length
      yield part
    }
    size = at === from ? size * 8 : WINDOW
    from = at
  }
}

function changeFirst(text: string, change: (first: string) => string): string {
  if (text === '') return ''
  const first = String.fromCodePoint(text.codePointAt(0)!)
  return change(first) + text.slice(first.length)
}

const lowerFirst = (text: string): string => changeFirst(text, (first) => first.toLowerCase())
const uppercaseFirst = (text: string): string => changeFirst(text, (first) => first.toUpperCase())

/** Words between separators in lower case, without empty ones. */
function splitWords(text: string, separator: string): string[] {
  return text
    .split(separator)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}

function toCamelCase(parts: readonly string[]): string {
  return parts.map((word, at) => (at === 0 ? word : uppercaseFirst(word))).join('')
}

// A word starts at an upper-case letter after a lower-case letter or digit, and at one that ends an acronym. Built on first use: V8
// builds the sets of letters of all of Unicode for it.
let wordStart: RegExp | null = null

function splitHumps(text: string, separator: string): string {
  wordStart ??= /(?<=[\p{Ll}0-9])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
  return text.split(wordStart).join(separator).toLowerCase()
}

function toTitleCase(text: string): string {
  return text.replace(/[^\s\x85]+/gu, (word) => uppercaseFirst(word.toLowerCase()))
}

export const caseFunctions: Readonly<Record<string, CaseFunction>> = {
  snake_to_camel: { doc: '`a_b` as `aB`.', map: (text) => toCamelCase(splitWords(text, '_')) },
  snake_to_pascal: { doc: '`a_b` as `AB`.', map: (text) => splitWords(text, '_').map(uppercaseFirst).join('') },
  snake_to_kebab: { doc: '`a_b` as `a-b`.', map: (text) => splitWords(text, '_').join('-') },
  kebab_to_camel: { doc: '`a-b` as `aB`.', map: (text) => toCamelCase(splitWords(text, '-')) },
  kebab_to_snake: { doc: '`a-b` as `a_b`.', map: (text) => splitWords(text, '-').join('_') },
  camel_to_snake: { doc: '`aB` as `a_b`.', map: (text) => splitHumps(text, '_') },
  pascal_to_snake: { doc: '`AB` as `a_b`.', map: (text) => splitHumps(text, '_') },
  camel_to_kebab: { doc: '`aB` as `a-b`.', map: (text) => splitHumps(text, '-') },
  pascal_to_camel: { doc: 'The first character in lower case.', map: lowerFirst },
  camel_to_pascal: { doc: 'The first character in upper case.', map: uppercaseFirst },
  lowercase_first: { doc: 'The first character in lower case.', map: lowerFirst },
  uppercase_first: { doc: 'The first character in upper case.', map: uppercaseFirst },
  title_case: { doc: 'Each word with its first letter in upper case, the rest in lower case.', map: toTitleCase },
}
