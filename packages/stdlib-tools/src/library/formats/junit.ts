// JUnit XML reports → one record a test case. The scanner knows just enough XML for that and never fails:
// a damaged report gives the records that were complete before the damage.

export interface TestRecord {
  readonly name: string
  status: 'passed' | 'failed' | 'skipped' | 'errored'
  readonly durationMs: number
  message: string | null
  stdout: string | null
  stderr: string | null
}

type Token =
  | { readonly kind: 'open'; readonly name: string; readonly attributes: ReadonlyMap<string, string>; readonly closed: boolean }
  | { readonly kind: 'close'; readonly name: string }
  | { readonly kind: 'text'; readonly text: string }

function* tokenize(xml: string): Generator<Token, void, void> {
  let at = 0
  while (at < xml.length) {
    if (xml[at] !== '<') {
      const end = xml.indexOf('<', at)
      yield { kind: 'text', text: decode(xml.slice(at, end < 0 ? xml.length : end)) }
      at = end < 0 ? xml.length : end
    } else if (xml.startsWith('<![CDATA[', at)) {
      const end = xml.indexOf(']]>', at)
      if (end < 0) return
      yield { kind: 'text', text: xml.slice(at + 9, end) }
      at = end + 3
    } else if (xml.startsWith('<!--', at)) {
      const end = xml.indexOf('-->', at)
      if (end < 0) return
      at = end + 3
    } else if (xml[at + 1] === '?' || xml[at + 1] === '!') {
      const end = xml.indexOf('>', at)
      if (end < 0) return
      at = end + 1
    } else {
      const end = findTagEnd(xml, at + 1)
      if (end < 0) return
      yield parseTag(xml.slice(at + 1, end))
      at = end + 1
    }
  }
}

/** The `>` of a tag, past quoted attribute values. */
function findTagEnd(xml: string, from: number): number {
  let quote = ''
  for (let at = from; at < xml.length; at++) {
    const char = xml[at]!
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '>') return at
  }
  return -1
}

function cutPrefix(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function parseTag(source: string): Token {
  if (source.startsWith('/')) return { kind: 'close', name: cutPrefix(source.slice(1).trim()) }
  const closed = source.endsWith('/')
  const body = closed ? source.slice(0, -1) : source
  const name = /^[^\s]*/.exec(body)![0]
  return { kind: 'open', name: cutPrefix(name), attributes: parseAttributes(body.slice(name.length)), closed }
}

/** `name="value"` pairs. By hand and forwards only, so that a hostile tag costs no more than its length. */
function parseAttributes(body: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>()
  let at = 0
  for (;;) {
    const equals = body.indexOf('=', at)
    if (equals < 0) return attributes
    const name = body.slice(at, equals).trim().split(/\s/).at(-1)!
    let open = equals + 1
    while (open < body.length && /\s/.test(body[open]!)) open++
    const quote = body[open]
    if (quote !== '"' && quote !== "'") {
      at = equals + 1
      continue
    }
    const close = body.indexOf(quote, open + 1)
    if (close < 0) return attributes
    attributes.set(name, decode(body.slice(open + 1, close)))
    at = close + 1
  }
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function decode(text: string): string {
  return text.replace(
    /&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(lt|gt|amp|quot|apos));/g,
    (whole: string, hex: string | undefined, decimal: string | undefined, name: string | undefined) => {
      if (name !== undefined) return ENTITIES[name]!
      const code = Number.parseInt(hex ?? decimal!, hex === undefined ? 10 : 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}

const OUTCOMES: Readonly<Record<string, TestRecord['status']>> = { failure: 'failed', error: 'errored', skipped: 'skipped' }

/** Of several outcomes of one case the later in this row counts. */
const RANKS: readonly TestRecord['status'][] = ['passed', 'skipped', 'errored', 'failed']

/** A child of a test case whose text is being collected. */
interface Collecting {
  readonly element: string
  readonly attributes: ReadonlyMap<string, string>
  text: string
}

export function parseJunit(xml: string): TestRecord[] {
  const records: TestRecord[] = []
  let current: TestRecord | null = null
  let child: Collecting | null = null
  for (const token of tokenize(xml)) {
    if (token.kind === 'text') {
      if (child !== null) child.text += token.text
    } else if (token.kind === 'open') {
      if (token.name === 'testcase') {
        current = startRecord(token.attributes)
        if (token.closed) {
          records.push(current)
          current = null
        }
      } else if (current !== null && child === null) {
        child = { element: token.name, attributes: token.attributes, text: '' }
        if (token.closed) {
          // `<system-out/>` means no output, not an empty text.
          if (Object.hasOwn(OUTCOMES, token.name)) finishChild(current, child)
          child = null
        }
      }
    } else if (child !== null && token.name === child.element) {
      if (current !== null) finishChild(current, child)
      child = null
    } else if (token.name === 'testcase' && current !== null) {
      records.push(current)
      current = null
    }
  }
  return records
}

function startRecord(attributes: ReadonlyMap<string, string>): TestRecord {
  const className = attributes.get('classname') ?? ''
  const name = attributes.get('name') ?? ''
  const seconds = Number((attributes.get('time') ?? '0').replaceAll(',', ''))
  return {
    name: className === '' || name === '' ? name : `${className}::${name}`,
    status: 'passed',
    durationMs: Number.isFinite(seconds) ? Math.max(0, Math.trunc(seconds * 1000)) : 0,
    message: null,
    stdout: null,
    stderr: null,
  }
}

function finishChild(record: TestRecord, child: Collecting): void {
  if (child.element === 'system-out') record.stdout = child.text.trim()
  else if (child.element === 'system-err') record.stderr = child.text.trim()
  const status = Object.hasOwn(OUTCOMES, child.element) ? OUTCOMES[child.element]! : null
  if (status === null || RANKS.indexOf(status) <= RANKS.indexOf(record.status)) return
  record.status = status
  if (status !== 'skipped')
    record.message = [child.attributes.get('message') ?? '', child.text.trim()].filter((part) => part !== '').join('\n')
}
