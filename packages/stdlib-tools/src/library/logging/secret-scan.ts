// Credentials in a text: `secret_scan` finds them by their form and by how random they look, and writes an audit record of each scan
// to the event log. One pass over the text looks at each character once, so that the time grows with the text alone.

import {
  HarnDict,
  HarnList,
  builtin,
  compareText,
  definePieces,
  display,
  encodeHex,
  encodeUtf8,
  makeStepWork,
} from '@bridle/vm/families'
import type { BuiltinFamily, LibraryCall, Steps, Value } from '@bridle/vm/families'
import { sha256 } from '../crypto/hashes.js'
import { findHarnModule } from '../harn/modules.js'

interface Detector {
  readonly name: string
  readonly source: string
  readonly title: string
}

/** A credential that begins with known characters and continues with `least` to `most` characters of an alphabet, as a whole word. */
interface TokenForm extends Detector {
  readonly prefixes: readonly string[]
  readonly alphabet: (code: number) => boolean
  readonly least: number
  readonly most: number
}

const isBetween = (code: number, first: string, last: string): boolean =>
  code >= first.charCodeAt(0) && code <= last.charCodeAt(0)
const isDigit = (code: number): boolean => isBetween(code, '0', '9')
const isUpper = (code: number): boolean => isBetween(code, 'A', 'Z')
const isUpperOrDigit = (code: number): boolean => isUpper(code) || isDigit(code)
const isAlphanumeric = (code: number): boolean => isUpperOrDigit(code) || isBetween(code, 'a', 'z')
const isWord = (code: number): boolean => isAlphanumeric(code) || code === UNDERSCORE
const isWordOrDash = (code: number): boolean => isWord(code) || code === DASH
const isAlphanumericOrDash = (code: number): boolean => isAlphanumeric(code) || code === DASH
const UNDERSCORE = 95
const DASH = 45
const NEWLINE = 10
const EQUALS = 61
const COLON = 58

const GITLEAKS = 'gitleaks'
const DETECT_SECRETS = 'detect-secrets'
const TRUFFLEHOG = 'trufflehog'

/** Cells: name, source, title, prefixes, alphabet, fewest and most characters behind the prefix. */
const TOKENS: readonly TokenForm[] = (
  [
    [
      'aws-access-key-id',
      GITLEAKS,
      'AWS access key id',
      ['AKIA', 'ASIA', 'AGPA', 'AIDA', 'ANPA', 'AROA', 'AIPA'],
      isUpperOrDigit,
      16,
      16,
    ],
    ['github-token', GITLEAKS, 'GitHub token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], isAlphanumeric, 36, 255],
    ['github-fine-grained-token', GITLEAKS, 'GitHub fine-grained personal access token', ['github_pat_'], isWord, 20, 255],
    ['gitlab-token', DETECT_SECRETS, 'GitLab personal access token', ['glpat-'], isWordOrDash, 20, 255],
    ['npm-token', DETECT_SECRETS, 'npm access token', ['npm_'], isAlphanumeric, 36, 36],
    ['openai-api-key', DETECT_SECRETS, 'OpenAI API key', ['sk-'], isWordOrDash, 20, 255],
    ['slack-token', TRUFFLEHOG, 'Slack token', ['xoxa-', 'xoxb-', 'xoxp-', 'xoxr-', 'xoxs-'], isAlphanumericOrDash, 10, 255],
    [
      'stripe-secret-key',
      TRUFFLEHOG,
      'Stripe secret or restricted key',
      ['rk_live_', 'rk_test_', 'sk_live_', 'sk_test_'],
      isAlphanumeric,
      16,
      255,
    ],
  ] as const
).map(([name, source, title, prefixes, alphabet, least, most]) => ({ name, source, title, prefixes, alphabet, least, most }))

const PRIVATE_KEY: Detector = { name: 'private-key-block', source: DETECT_SECRETS, title: 'Private key block' }
const KEY_BEGIN = '-----BEGIN '
const KEY_END = 'PRIVATE KEY-----'

const ASSIGNMENT: Detector = {
  name: 'high-entropy-credential-assignment',
  source: TRUFFLEHOG,
  title: 'High-entropy secret assignment',
}

/** What the name of a credential contains, in lower case and without `_` and `-`. */
const CREDENTIAL_NAMES = ['secret', 'token', 'apikey', 'accesskey', 'password', 'passwd', 'pwd', 'clientsecret', 'privatekey']
/** Most characters between such a name and its `:` or `=`, and how long one can be with its separator. */
const MOST_BETWEEN = 32
const LONGEST_NAME = 13
const LEAST_VALUE = 20
const LEAST_ENTROPY = 3.5

interface Match {
  readonly detector: Detector
  readonly start: number
  readonly text: string
  readonly line: number
  readonly column: number
  readonly byteOffset: number
}

/** Characters between two chances to end the slice. */
const AT_ONCE = 2048
/** Characters scanned per unit, as a power of two. */
const CHARACTERS_BITS = 2
const UNITS_A_MATCH = 64
/** Matches that are described between two chances to end the slice. */
const MATCHES_AT_ONCE = 64
const HEAP_A_MATCH = 640

function* scanSteps(text: string): Steps {
  const matches: Match[] = []
  const starts = new Set(TOKENS.flatMap(({ prefixes }) => prefixes.map((prefix) => prefix.charCodeAt(0))))
  const ends = new Map<string, number>()
  let line = 1
  let column = 1
  let byteOffset = 0
  let told = 0
  const add = (detector: Detector, start: number, found: string, skipped = 0): void => {
    matches.push({ detector, start, text: found, line, column: column + skipped, byteOffset: byteOffset + skipped })
    ends.set(detector.name, start + found.length)
  }
  for (let at = 0; at < text.length; at++) {
    if (at % AT_ONCE === 0) {
      const more = matches.length - told
      told = matches.length
      yield { units: AT_ONCE >> CHARACTERS_BITS, heap: HEAP_A_MATCH * more }
    }
    const code = text.charCodeAt(at)
    if (starts.has(code)) {
      for (const form of TOKENS) {
        const end = at < (ends.get(form.name) ?? 0) ? -1 : findTokenEnd(text, at, form)
        if (end >= 0) add(form, at, text.slice(at, end))
      }
    } else if (code === DASH && column === 1 && text.startsWith(KEY_BEGIN, at)) {
      const end = findKeyLineEnd(text, at)
      if (end >= 0) add(PRIVATE_KEY, at, text.slice(at, end))
    } else if (code === COLON || code === EQUALS) {
      const start = findCredentialValue(text, at)
      const end = start < 0 ? -1 : findValueEnd(text, start)
      // What lies between is ASCII: a column and a byte for each.
      if (end >= 0) add(ASSIGNMENT, start, text.slice(start, end), start - at)
    }
    if (code === NEWLINE) {
      line += 1
      column = 1
      byteOffset += 1
      continue
    }
    // The second half of a pair was counted with the first.
    const isSecondHalf = code >= 0xdc00 && code < 0xe000
    column += isSecondHalf ? 0 : 1
    byteOffset += isSecondHalf ? 0 : countUtf8(code)
  }
  yield { units: 0, heap: HEAP_A_MATCH * (matches.length - told) }
  const ordered = sortMatches(matches)
  const findings: Value[] = []
  for (let from = 0; from < ordered.length; from += MATCHES_AT_ONCE) {
    const some = ordered.slice(from, from + MATCHES_AT_ONCE)
    yield { units: UNITS_A_MATCH * some.length, heap: 0 }
    findings.push(...some.map(describeMatch))
  }
  return () => new HarnList(findings)
}

function countUtf8(code: number): number {
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code >= 0xd800 && code < 0xdc00 ? 4 : 3
}

function isBoundary(text: string, at: number): boolean {
  const before = at > 0 && isWord(text.charCodeAt(at - 1))
  const after = at < text.length && isWord(text.charCodeAt(at))
  return before !== after
}

/** The end of a credential that begins at `at`; -1 when none does. */
function findTokenEnd(text: string, at: number, { prefixes, alphabet, least, most }: TokenForm): number {
  const prefix = prefixes.find((each) => text.startsWith(each, at))
  if (prefix === undefined || !isBoundary(text, at)) return -1
  const from = at + prefix.length
  let end = from
  while (end < text.length && end - from < most && alphabet(text.charCodeAt(end))) end += 1
  while (end - from >= least && !isBoundary(text, end)) end -= 1
  return end - from >= least ? end : -1
}

/** The end of the line that begins at `at` when it opens a private key; -1 when not. */
function findKeyLineEnd(text: string, at: number): number {
  let end = at + KEY_BEGIN.length
  while (end < text.length && (isUpperOrDigit(text.charCodeAt(end)) || text[end] === ' ')) end += 1
  const words = 'PRIVATE KEY'
  const whole = end + (KEY_END.length - words.length)
  const isKey = end - words.length >= at + KEY_BEGIN.length && text.startsWith(KEY_END, end - words.length)
  return isKey && (whole === text.length || text[whole] === '\n' || text.startsWith('\r\n', whole)) ? whole : -1
}

/** Where the quoted value begins that stands behind the `:` or `=` at `at`, when the name in front is one of a credential; else -1. */
function findCredentialValue(text: string, at: number): number {
  let quote = at + 1
  while (text[quote] === ' ' || text[quote] === '\t') quote += 1
  if (quote - at > MOST_BETWEEN || (text[quote] !== '"' && text[quote] !== "'")) return -1
  const from = Math.max(0, at - MOST_BETWEEN - LONGEST_NAME)
  const before = text.slice(from, at)
  const name = before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf(':'), before.lastIndexOf('=')) + 1)
  const bare = name.toLowerCase().replaceAll(/[_-]/g, '')
  return CREDENTIAL_NAMES.some((each) => bare.includes(each)) ? quote + 1 : -1
}

/** The end of a value that looks random, where a quote closes it; -1 when it does not. */
function findValueEnd(text: string, start: number): number {
  let end = start
  while (end < text.length && (isWordOrDash(text.charCodeAt(end)) || '+/=.'.includes(text[end]!))) end += 1
  if (end - start < LEAST_VALUE || (text[end] !== '"' && text[end] !== "'")) return -1
  return measureEntropy(text.slice(start, end)) >= LEAST_ENTROPY ? end : -1
}

/** Bits a character, by how often each occurs (Shannon). */
function measureEntropy(text: string): number {
  const counts = new Map<string, number>()
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

function redact({ detector, text }: Match): string {
  if (detector === PRIVATE_KEY) return `${text} …`
  return text.length <= 8 ? '*'.repeat(text.length) : `${text.slice(0, 4)}…${text.slice(-4)}`
}

/** In the order of the text; of two at one place, the particular one alone. */
function sortMatches(matches: readonly Match[]): readonly Match[] {
  const taken = new Set(matches.filter(({ detector }) => detector !== ASSIGNMENT).map(makeSpanKey))
  const kept = matches.filter((match) => match.detector !== ASSIGNMENT || !taken.has(makeSpanKey(match)))
  return kept.toSorted(
    (x, y) => x.start - y.start || x.text.length - y.text.length || compareText(x.detector.name, y.detector.name),
  )
}

function describeMatch(match: Match): Value {
  const { detector, text, line, column, byteOffset } = match
  return HarnDict.of({
    detector: detector.name,
    source: detector.source,
    title: detector.title,
    line,
    column_start: column,
    column_end: column + text.length,
    start_offset: byteOffset,
    end_offset: byteOffset + text.length,
    redacted: redact(match),
    fingerprint: encodeHex(sha256(encodeUtf8(text))).slice(0, 16),
  })
}

function makeSpanKey({ start, text }: Match): string {
  return `${start} ${text.length}`
}

const scanning = definePieces('secrets.scan', ([text]) => makeStepWork(scanSteps(text as string)))

const SCAN: LibraryCall = { module: 'library/logging/secret-scan', function: 'secret_scan', output: 'keep' }

export const secretsFamily: BuiltinFamily = {
  name: 'secrets',
  modules: findHarnModule,
  frames: [scanning.frame],
  primitives: [
    builtin('__secret_findings(content: string) -> list', { doc: 'The credentials in a text.' }, (ctx, content = null) =>
      scanning.run(ctx, display(content)),
    ),
  ],
  builtins: [
    builtin(
      'secret_scan(content: string) -> list',
      {
        doc: 'The credentials in a text, redacted; the scan is written to the topic `audit.secret_scan`.',
        effects: ['clock.now'],
      },
      (ctx, content = null) => {
        if (content === null) return ctx.runtime('secret_scan: content is required')
        return ctx.library(SCAN, [display(content)])
      },
    ),
  ],
}
