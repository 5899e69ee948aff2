// Translates the regular expression syntax of scripts (that of Rust's `regex`) into the syntax of re2js, the engine behind
// it. The two agree on most things; what differs is rewritten here: Unicode-aware \w \d \s, set operations in classes,
// `(?x)`, `(?u)`, \u escapes, properties by long name, stacked repetitions. Groups lose their names on the way, because the
// engine's rules for names are narrower; the names come back by group number.
//
// Errors carry the position, and their text has the shape that scripts know: the pattern, a caret below it, the reason.

/** A pattern that scripts get to see as `Invalid regex: …`. */
export class RegexSyntaxError extends Error {}

export interface TranslatedRegex {
  readonly source: string
  /** Name of group i at index i - 1; null for a group without a name. */
  readonly groupNames: readonly (string | null)[]
}

type Range = readonly [number, number]

const MAX_CODE_POINT = 0x10ffff
/** Other_Alphabetic symbols and joiners that count as word characters beside letters, marks, digits and connectors. */
const WORD =
  '\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200c}\\x{200d}\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}'
const SPACE = '\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}'
const PERL_CLASSES: Readonly<Record<string, { unicode: string; ascii: string }>> = {
  w: { unicode: WORD, ascii: '0-9A-Za-z_' },
  d: { unicode: '\\p{Nd}', ascii: '0-9' },
  s: { unicode: SPACE, ascii: '\\t-\\r ' },
}
/** The same classes for JavaScript's engine, which expands them to ranges for set operations. */
const PERL_MEMBERS: Readonly<Record<string, RegExp>> = {
  w: /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]/u,
  d: /\p{Nd}/u,
  s: /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/u,
}
const POSIX: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  ascii: /[\0-\x7f]/,
  blank: /[\t ]/,
  cntrl: /[\0-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t-\r ]/,
  upper: /[A-Z]/,
  word: /[0-9A-Za-z_]/,
  xdigit: /[0-9A-Fa-f]/,
}
const SHORT_CATEGORY = /^(?:L[ulmto]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfo]?)$/
const CONTROL_ESCAPES: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }

/** What the engine counts to; copies of an atom that one count may stand for; characters that they may take as text. */
const MAX_COUNT = 1000
const MAX_COPIES = 100_000
const MAX_PIECES = 100_000

interface Flags {
  extended: boolean
  unicode: boolean
}

/** Translates `pattern`; `flags` are letters of `imsx` that hold for the whole of it. */
export function translateRegex(pattern: string, flags: string): TranslatedRegex {
  return new Translator(pattern, flags).run()
}

class Translator {
  private readonly text: string
  private readonly engineFlags: string
  private at = 0
  private out = ''
  private readonly names: (string | null)[] = []
  private readonly nameStarts = new Map<string, number>()
  private flags: Flags
  private readonly groups: { readonly flags: Flags; readonly outStart: number; readonly position: number }[] = []
  /** Where the last atom begins in `out`, -1 when nothing can be repeated here. */
  private atom = -1
  private repeated = false
  /** Counted repetitions so far by the place of their atom in `out`: the largest product of nested counts. */
  private readonly counts: { readonly from: number; count: number }[] = []

  constructor(text: string, flags: string) {
    this.text = text
    this.flags = { extended: flags.includes('x'), unicode: true }
    this.engineFlags = [...new Set(flags.replaceAll('x', ''))].join('')
  }

  run(): TranslatedRegex {
    while (this.at < this.text.length) this.step()
    const open = this.groups.at(-1)
    if (open !== undefined) this.fail('unclosed group', open.position)
    const source = this.engineFlags === '' ? this.out : `(?${this.engineFlags})${this.out}`
    return { source, groupNames: this.names }
  }

  /** Points at the characters from `position` up to `end`, and at as many from `also` on. */
  private fail(reason: string, position = this.at, end = position + 1, also = position): never {
    const count = Math.max(1, [...this.text.slice(position, end)].length)
    const places = [position, also].map((at) => [...this.text.slice(0, at)].length)
    const marks = new Set(places.flatMap((place) => Array.from({ length: count }, (_unused, index) => place + index)))
    throw new RegexSyntaxError(`regex parse error:\n${markPlaces(this.text, marks)}\nerror: ${reason}`)
  }

  private failTooLarge(): never {
    throw new RegexSyntaxError('Compiled regex exceeds size limit of 10485760 bytes.')
  }

  private next(): string {
    const char = String.fromCodePoint(this.text.codePointAt(this.at)!)
    this.at += char.length
    return char
  }

  private put(piece: string): void {
    this.atom = this.out.length
    this.repeated = false
    this.out += piece
  }

  private step(): void {
    const start = this.at
    const char = this.next()
    if (this.flags.extended) {
      if (/^[\s\u0085\u200e\u200f\u2028\u2029]$/.test(char)) return
      if (char === '#') {
        const end = this.text.indexOf('\n', this.at)
        this.at = end < 0 ? this.text.length : end + 1
        return
      }
    }
    switch (char) {
      case '(':
        return this.openGroup(start)
      case ')':
        return this.closeGroup(start)
      case '[':
        return this.put(this.readClass(start))
      case '\\':
        return this.escape(start)
      case '*':
      case '+':
      case '?':
        return this.repeat(char, start)
      case '{':
        return this.count(start)
      case '|':
        this.out += '|'
        this.atom = -1
        return
      case '^':
      case '$':
      case '.':
        return this.put(char)
      default:
        this.put(escapeLiteral(char.codePointAt(0)!))
    }
  }

  private openGroup(start: number): void {
    this.groups.push({ flags: { ...this.flags }, outStart: this.out.length, position: start })
    this.atom = -1
    if (this.text[this.at] !== '?') {
      this.names.push(null)
      this.out += '('
      return
    }
    this.at++
    const rest = this.text.slice(this.at)
    const around = /^(?:=|!|<=|<!)/.exec(rest)
    if (around !== null)
      this.fail('look-around, including look-ahead and look-behind, is not supported', start, start + 2 + around[0].length)
    const named = /^P?<([^>]*)>/.exec(rest)
    if (named !== null) {
      const name = named[1]!
      if (name === '') this.fail('empty capture group name', this.at + named[0].length - 1)
      if (!/^[\p{L}_][\p{L}\p{N}_.[\]]*$/u.test(name))
        this.fail('invalid capture group character', this.at + named[0].length - 1 - name.length + findBadName(name))
      const nameAt = this.at + named[0].length - 1 - name.length
      const before = this.nameStarts.get(name)
      if (before !== undefined) this.fail('duplicate capture group name', nameAt, nameAt + name.length, before)
      this.nameStarts.set(name, nameAt)
      this.names.push(name)
      this.at += named[0].length
      this.out += '('
      return
    }
    if (/^P?</.test(rest)) this.fail('unclosed capture group name')
    this.readGroupFlags(start)
  }

  /** `(?flags)` or `(?flags:`; the flags that the engine does not know are kept here. */
  private readGroupFlags(start: number): void {
    const match = /^([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])/.exec(this.text.slice(this.at))
    if (match === null) {
      if (this.at >= this.text.length) this.fail('unclosed group', start)
      const strange = this.text.slice(this.at).search(/[^imsUuxR-]/)
      if (strange < 0) this.fail('expected flag but got end of regex', this.text.length)
      this.fail('unrecognized flag', this.at + strange)
    }
    const [whole, on, off = '', end] = match as unknown as [string, string, string | undefined, string]
    for (const flag of on + off) if (!'imsUuxR'.includes(flag)) this.fail('unrecognized flag', this.at + whole.indexOf(flag))
    if (/-[:)]$/.test(whole)) this.fail('dangling flag negation operator', this.at + whole.length - 2)
    for (const [index, flag] of [...whole.slice(0, -1)].entries()) {
      const first = whole.indexOf(flag)
      if (first < index) this.fail('duplicate flag', this.at + index, this.at + index + 1, this.at + first)
    }
    if (end === ')' && on === '' && off === '') this.fail('repetition operator missing expression', start + 1)
    this.at += whole.length
    const scope = end === ')' ? this.groups.pop()! : null
    this.flags = {
      extended: on.includes('x') || (this.flags.extended && !off.includes('x')),
      unicode: on.includes('u') || (this.flags.unicode && !off.includes('u')),
    }
    const keep = (letters: string): string => letters.replace(/[xuR]/g, '')
    const engine = keep(on) + (keep(off) === '' ? '' : `-${keep(off)}`)
    if (scope === null) this.out += `(?${engine}:`
    else if (engine !== '') this.out += `(?${engine})`
  }

  private closeGroup(start: number): void {
    const group = this.groups.pop()
    if (group === undefined) this.fail('unopened group', start)
    this.flags = group.flags
    this.out += ')'
    this.atom = group.outStart
    this.repeated = false
  }

  private repeat(operator: string, start: number): void {
    if (this.atom < 0) this.fail('repetition operator missing expression', start)
    // The engine refuses a repetition of a repetition; a group around the first makes it one atom.
    if (this.repeated) this.out = `${this.out.slice(0, this.atom)}(?:${this.out.slice(this.atom)})`
    this.out += operator
    if (this.text[this.at] === '?') {
      this.at++
      this.out += '?'
    }
    this.repeated = true
  }

  private count(start: number): void {
    if (this.atom < 0) this.fail('repetition operator missing expression', start)
    const match = /^\s*(?:(\d+)\s*)?(?:(,)\s*(?:(\d+)\s*)?)?\}/.exec(this.text.slice(this.at))
    if (match === null) {
      const digits = /^\s*(?:\d+\s*,?\s*)?\d*/.exec(this.text.slice(this.at))![0].length
      if (this.at + digits >= this.text.length) this.fail('unclosed counted repetition', start, this.text.length)
      this.fail('repetition quantifier expects a valid decimal', this.at + digits)
    }
    const [whole, low = '', comma = '', high = ''] = match
    if (low === '') this.fail('repetition quantifier expects a valid decimal')
    if (high !== '' && Number(low) > Number(high))
      this.fail('invalid repetition count range, the start must be <= the end', start, this.at + whole.length)
    this.at += whole.length
    const least = Number(low)
    const most = comma === '' ? least : high === '' ? null : Number(high)
    const inner = this.computeAtomCount()
    if (Math.max(least, most ?? 0) * inner <= MAX_COUNT) {
      this.repeat(comma === '' ? `{${low}}` : `{${low},${high}}`, start)
      this.counts.at(-1)!.count = Math.max(1, least, most ?? 0) * inner
      return
    }
    this.repeatInPieces(least, most, inner)
  }

  /** The largest product of counts inside the atom; forgets the counts of its parts. */
  private computeAtomCount(): number {
    let largest = 1
    while (this.counts.length > 0 && this.counts.at(-1)!.from >= this.atom) largest = Math.max(largest, this.counts.pop()!.count)
    this.counts.push({ from: this.atom, count: largest })
    return largest
  }

  /**
   * The engine counts to 1,000, nested counts multiplied. What goes beyond is written as several counts in a row, which means
   * the same as long as no group inside is captured.
   */
  private repeatInPieces(least: number, most: number | null, inner: number): void {
    const isOneCharacter = !this.repeated && /^(?:[.[]|\\[xpP]|[^()^$\\])/.test(this.out.slice(this.atom))
    const atom = `(?:${this.out.slice(this.atom)})`
    const step = Math.max(1, Math.floor(MAX_COUNT / inner))
    const length = (Math.max(least, most ?? 0) / step) * atom.length
    if (length > MAX_PIECES || Math.max(least, most ?? 0) * inner > MAX_COPIES || /\((?!\?)/.test(atom)) this.failTooLarge()
    let lazy = ''
    if (this.text[this.at] === '?') {
      this.at++
      lazy = '?'
    }
    let out = ''
    for (let left = least; left > 0; left -= step) out += `${atom}{${Math.min(left, step)}}`
    if (most === null) out += `${atom}*${lazy}`
    else if (isOneCharacter) out += repeatUpTo(atom, most - least, step, lazy)
    else for (let left = most - least; left > 0; left -= step) out += `${atom}{0,${Math.min(left, step)}}${lazy}`
    this.out = `${this.out.slice(0, this.atom)}(?:${out})`
    this.counts.at(-1)!.count = step * inner
    this.repeated = false
  }

  private escape(start: number): void {
    if (this.at >= this.text.length) this.fail('incomplete escape sequence, reached end of pattern prematurely', start)
    const char = this.next()
    if (char === 'b' || char === 'B') {
      // A count may follow; anything else in braces would be a boundary of a special kind.
      if (char === 'b' && /^\{\s*(?:[^\s\d,]|$)/.test(this.text.slice(this.at)))
        this.fail('special word boundary assertions are not supported', start)
      return this.put(`(?:\\${char})`)
    }
    if (char === 'A' || char === 'z') return this.put(`\\${char}`)
    const lower = char.toLowerCase()
    if (lower in PERL_CLASSES) return this.put(this.expandPerl(char))
    if (lower === 'p') return this.put(this.readProperty(char === 'P'))
    this.put(escapeLiteral(this.readEscapedCodePoint(char, start)))
  }

  private expandPerl(char: string): string {
    const row = PERL_CLASSES[char.toLowerCase()]!
    return `[${char === char.toLowerCase() ? '' : '^'}${this.flags.unicode ? row.unicode : row.ascii}]`
  }

  /** The character of an escape that stands for one; `char` is what follows the backslash. */
  private readEscapedCodePoint(char: string, start: number): number {
    const control = CONTROL_ESCAPES[char]
    if (control !== undefined) return control
    const digits = { x: 2, u: 4, U: 8 }[char]
    if (digits !== undefined) return this.readHex(digits)
    if (/^[0-9]$/.test(char)) this.fail('backreferences are not supported', start, this.at)
    if (/^[A-Za-z<>]$/.test(char) || char > '\x7f') this.fail('unrecognized escape sequence', start, this.at)
    return char.codePointAt(0)!
  }

  private readHex(digits: number): number {
    const braced = this.text[this.at] === '{'
    const from = braced ? this.at + 1 : this.at
    const size = /^[0-9A-Fa-f]*/.exec(this.text.slice(from, braced ? undefined : from + digits))![0].length
    const end = from + size
    if (end >= this.text.length && (braced || size < digits))
      this.fail('incomplete escape sequence, reached end of pattern prematurely', braced ? from - 1 : end, end)
    if (braced ? this.text[end] !== '}' : size < digits) this.fail('invalid hexadecimal digit', end)
    if (size === 0) this.fail('hexadecimal literal empty', from - 1, end + 1)
    this.at = braced ? end + 1 : end
    const value = Number.parseInt(this.text.slice(from, end), 16)
    if (value > MAX_CODE_POINT || (value >= 0xd800 && value <= 0xdfff))
      this.fail('hexadecimal literal is not a Unicode scalar value', from, end)
    return value
  }

  /** `\pL`, `\p{Name}`, `\p{key=value}`: as the engine writes it, or as ranges when it does not know the name. */
  private readProperty(negated: boolean): string {
    const { name, negative, start } = this.readPropertyName(negated)
    if (SHORT_CATEGORY.test(name)) return `\\${negative ? 'P' : 'p'}{${name}}`
    const set = this.findPropertySet(name, start)
    return `[${showRanges(negative ? complementRanges(set) : set)}]`
  }

  private readPropertyName(negated: boolean): { name: string; negative: boolean; start: number } {
    const start = this.at - 2
    const match = /^(?:\{([^}]*)\}|([^{]))/u.exec(this.text.slice(this.at))
    if (match === null) this.fail('incomplete escape sequence, reached end of pattern prematurely', this.text.length)
    this.at += match[0].length
    return { name: (match[1] ?? match[2])!.trim(), negative: negated, start }
  }

  private findPropertySet(name: string, start: number): readonly Range[] {
    const set = listPropertyRanges(name)
    if (set !== null) return set
    const hasKey = /^(?:gc|general_category|sc|script|scx|script_extensions)\s*[=:]/i.test(name)
    this.fail(`Unicode property ${hasKey ? 'value ' : ''}not found`, start, this.at)
  }

  // ----------------------------------------------------------------------------------------------------------- classes

  /** A class up to its closing bracket. Plain ones stay text; nesting and set operations are worked out to ranges. */
  private readClass(start: number): string {
    const saved = this.at
    const simple = this.readSimpleClass()
    if (simple !== null) return simple
    this.at = saved
    const set = this.readClassSet(start, 0)
    // Nothing, in a form that the engine accepts: not (anything).
    return set.length === 0 ? '[^\\x{0}-\\x{10ffff}]' : `[${showRanges(set)}]`
  }

  private readSimpleClass(): string | null {
    const negated = this.text[this.at] === '^'
    if (negated) this.at++
    let body = ''
    let first = true
    for (;;) {
      if (this.at >= this.text.length) return null
      const char = this.text[this.at]!
      if (char === ']' && !first) break
      const rest = this.text.slice(this.at, this.at + 12)
      const posix = /^\[:(\^?)(\w+):\]/.exec(rest)
      if (posix !== null) {
        if (!Object.hasOwn(POSIX, posix[2]!)) return null
        body += posix[0]
        this.at += posix[0].length
      } else if (char === '[' || /^(?:&&|--|~~)/.test(rest)) return null
      else if (this.flags.extended && /^[\s#]$/.test(char)) return null
      else {
        const item = this.readClassItem()
        if (typeof item === 'string') body += item
        else if (this.text[this.at] === '-' && this.text[this.at + 1] !== ']' && this.text[this.at + 1] !== '-') {
          this.at++
          const to = this.at >= this.text.length ? null : this.readClassItem()
          if (typeof to !== 'number' || to < item) return null
          body += `${escapeLiteral(item)}-${escapeLiteral(to)}`
        } else body += escapeLiteral(item)
      }
      first = false
    }
    this.at++
    return `[${negated ? '^' : ''}${body}]`
  }

  /** One member: a code point, or the engine's text of a class. */
  private readClassItem(): number | string {
    const start = this.at
    const char = this.next()
    if (char !== '\\') return char.codePointAt(0)!
    if (this.at >= this.text.length) this.fail('incomplete escape sequence, reached end of pattern prematurely', start)
    const escaped = this.next()
    const lower = escaped.toLowerCase()
    const row = PERL_CLASSES[lower]
    if (row !== undefined) {
      const body = this.flags.unicode ? row.unicode : row.ascii
      return escaped === lower ? body : showRanges(complementRanges(this.findPerlSet(lower)))
    }
    if (lower === 'p') {
      const text = this.readProperty(escaped === 'P')
      return text.startsWith('[') ? text.slice(1, -1) : text
    }
    return this.readEscapedCodePoint(escaped, start)
  }

  private findPerlSet(letter: string): readonly Range[] {
    if (this.flags.unicode) return listRanges(PERL_MEMBERS[letter]!)
    return listRanges({ w: /[0-9A-Za-z_]/, d: /[0-9]/, s: /[\t-\r ]/ }[letter]!)
  }

  /** Set semantics: union binds tighter than the operators, which group to the left. */
  private readClassSet(start: number, depth: number): readonly Range[] {
    if (depth > 100) this.fail('exceed the maximum number of nested parentheses/brackets', start)
    const negated = this.text[this.at] === '^'
    if (negated) this.at++
    let result: readonly Range[] | null = null
    let operator = ''
    let union: Range[] = []
    let first = true
    const fold = (): void => {
      const right = normalise(union)
      result = result === null ? right : combine(operator, result, right)
      union = []
    }
    for (;;) {
      if (this.at >= this.text.length) this.fail('unclosed character class', start)
      const char = this.text[this.at]!
      const pair = this.text.slice(this.at, this.at + 2)
      if (char === ']' && !first) break
      if (this.flags.extended && /^\s$/.test(char)) {
        this.at++
        continue
      }
      if (pair === '&&' || pair === '--' || pair === '~~') {
        fold()
        operator = pair
        this.at += 2
      } else if (char === '[') union.push(...this.readNestedSet(depth))
      else union.push(...this.readMemberSet(start))
      first = false
    }
    this.at++
    fold()
    return negated ? complementRanges(result!) : result!
  }

  private readNestedSet(depth: number): readonly Range[] {
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.text.slice(this.at))
    // An unknown name makes it a class of these characters.
    if (posix !== null && Object.hasOwn(POSIX, posix[2]!)) {
      const members = POSIX[posix[2]!]!
      this.at += posix[0].length
      const set = listRanges(members)
      return posix[1] === '^' ? complementRanges(set) : set
    }
    const start = this.at++
    return this.readClassSet(start, depth + 1)
  }

  private readMemberSet(classStart: number): readonly Range[] {
    const start = this.at
    if (this.text[this.at] === '\\') {
      const letter = this.text[this.at + 1] ?? ''
      const lower = letter.toLowerCase()
      if (lower !== '' && 'wds'.includes(lower)) {
        this.at += 2
        const set = this.findPerlSet(lower)
        return letter === lower ? set : complementRanges(set)
      }
      if (lower === 'p') {
        this.at += 2
        const { name, negative, start: from } = this.readPropertyName(letter === 'P')
        const set = this.findPropertySet(name, from)
        return negative ? complementRanges(set) : set
      }
    }
    const from = this.readClassItem() as number
    if (this.text[this.at] !== '-' || this.text[this.at + 1] === ']' || this.text[this.at + 1] === '-') return [[from, from]]
    this.at++
    if (this.at >= this.text.length) this.fail('unclosed character class', classStart)
    const second = this.at
    const to = this.readClassItem()
    if (typeof to !== 'number') this.fail('invalid range boundary, must be a literal', second, this.at)
    if (to < from) this.fail('invalid character class range, the start must be <= the end', start, this.at)
    return [[from, to]]
  }
}

/**
 * Up to `most` of an atom that is one character. As `a{0,1000}a{0,1000}` it could be told apart in a thousand ways, and a machine would
 * go all of them; so either a thousand are there and then more, or fewer.
 */
function repeatUpTo(atom: string, most: number, step: number, lazy: string): string {
  if (most <= step) return `${atom}{0,${most}}${lazy}`
  const many = `${atom}{${step}}${repeatUpTo(atom, most - step, step, lazy)}`
  const few = `${atom}{0,${step - 1}}${lazy}`
  return lazy === '' ? `(?:${many}|${few})` : `(?:${few}|${many})`
}

/** Where a group name has its first character that may not be there. */
function findBadName(name: string): number {
  if (!/^[\p{L}_]/u.test(name)) return 0
  return name.search(/[^\p{L}\p{N}_.[\]]/u)
}

/** The pattern with carets under the characters of `marks`; several lines are numbered and framed. */
function markPlaces(pattern: string, marks: ReadonlySet<number>): string {
  const drawCarets = (from: number, size: number): string =>
    Array.from({ length: size + 1 }, (_unused, index) => (marks.has(from + index) ? '^' : ' '))
      .join('')
      .trimEnd()
  if (!pattern.includes('\n')) return `    ${pattern}\n    ${drawCarets(0, [...pattern].length)}`
  const frame = '~'.repeat(79)
  const lines = pattern.split('\n')
  const width = String(lines.length).length
  let from = 0
  const shown = lines.flatMap((line, index) => {
    const size = [...line].length
    const below = drawCarets(from, size)
    from += size + 1
    const text = `${String(index + 1).padStart(width)}: ${line}`
    return below === '' ? [text] : [text, ' '.repeat(width + 2) + below]
  })
  return [frame, ...shown, frame].join('\n')
}

function escapeLiteral(codePoint: number): string {
  const char = String.fromCodePoint(codePoint)
  return /^[\p{L}\p{N}_ ]$/u.test(char) ? char : `\\x{${codePoint.toString(16)}}`
}

function showRanges(set: readonly Range[]): string {
  return set
    .map(([from, to]) => (from === to ? escapeLiteral(from) : `\\x{${from.toString(16)}}-\\x{${to.toString(16)}}`))
    .join('')
}

const rangeCache = new Map<string, readonly Range[]>()

/** The parts of Unicode that are scanned at a time: surrogates are no characters, and no range may cross an edge unseen. */
const PLANES: readonly Range[] = [
  [0, 0xd7ff],
  [0xe000, 0xffff],
  ...Array.from({ length: 16 }, (_unused, plane) => [0x10000 * (plane + 1), 0x10000 * (plane + 2) - 1] as const),
]

/** All code points that `member` matches. Scans Unicode once per class, a plane at a time, then caches. */
function listRanges(member: RegExp): readonly Range[] {
  const known = rangeCache.get(member.source)
  if (known !== undefined) return known
  const ranges: Range[] = []
  // oxlint-disable-next-line bridle/linear-patterns -- repeats one class of a single character over text of our own
  const runs = new RegExp(`(?:${member.source})+`, 'gu')
  for (const [low, high] of PLANES) {
    let text = ''
    for (let code = low; code <= high; code++) text += String.fromCodePoint(code)
    const units = low > 0xffff ? 2 : 1
    for (const match of text.matchAll(runs)) {
      const from = low + match.index / units
      ranges.push([from, from + match[0].length / units - 1])
    }
  }
  const whole = normalise(ranges)
  rangeCache.set(member.source, whole)
  return whole
}

/** Names match loosely, as `Script=Greek`, `greek`, `general_category:Letter` do; null for an unknown one. */
function listPropertyRanges(name: string): readonly Range[] | null {
  const [, first, second] = /^([\w ]+)(?:(?:=|:|!=)([\w ]+))?$/.exec(name) ?? []
  if (first === undefined) return null
  const key = second === undefined ? undefined : first.trim().toLowerCase().replaceAll(' ', '_')
  const value = (second ?? first).trim().replaceAll(' ', '_')
  const spelled = value
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join('_')
  if (key === undefined && /^(?:any|assigned)$/i.test(value))
    return value.toLowerCase() === 'any' ? [[0, MAX_CODE_POINT]] : listRanges(/\P{Cn}/u)
  const forms: string[] = []
  for (const text of new Set([value, spelled, value.toUpperCase(), value.toLowerCase()])) {
    if (key === undefined || key === 'gc' || key === 'general_category') forms.push(`General_Category=${text}`)
    if (key === undefined || key === 'sc' || key === 'script') forms.push(`Script=${text}`)
    if (key === 'scx' || key === 'script_extensions') forms.push(`Script_Extensions=${text}`)
    if (key === undefined) forms.push(text)
  }
  for (const form of forms) {
    try {
      // oxlint-disable-next-line bridle/linear-patterns -- one class, whose name is word characters
      return listRanges(new RegExp(`\\p{${form}}`, 'u'))
    } catch {
      // Not a property of this kind; the next form may be.
    }
  }
  return null
}

function normalise(ranges: readonly Range[]): readonly Range[] {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0])
  const out: [number, number][] = []
  for (const [from, to] of sorted) {
    const last = out.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else out.push([from, to])
  }
  return out
}

function complementRanges(set: readonly Range[]): readonly Range[] {
  const out: Range[] = []
  let from = 0
  for (const [low, high] of set) {
    if (low > from) out.push([from, low - 1])
    from = high + 1
  }
  if (from <= MAX_CODE_POINT) out.push([from, MAX_CODE_POINT])
  return out
}

function intersect(left: readonly Range[], right: readonly Range[]): readonly Range[] {
  return complementRanges(normalise([...complementRanges(left), ...complementRanges(right)]))
}

function combine(operator: string, left: readonly Range[], right: readonly Range[]): readonly Range[] {
  if (operator === '&&') return intersect(left, right)
  const onlyLeft = intersect(left, complementRanges(right))
  return operator === '--' ? onlyLeft : normalise([...onlyLeft, ...intersect(right, complementRanges(left))])
}
