// The cost of a JavaScript regular expression. V8 backtracks, so a pattern is safe for untrusted text
// only if the number of paths does not grow with the text. That is a property of its automaton (Weber and
// Seidl, "On the degree of ambiguity of finite automata"): if some text leads from a state back to itself in two ways, the cost is exponential; if some
// text keeps state p, leads from p to q and keeps q, it is quadratic or worse. An unanchored search is an additional state
// that reads anything. States from which nothing can fail do not count: the match is certain there.
//
// Texts consist of sample characters: one for each class that the pattern distinguishes.

/** Maximum number of states; larger patterns are not judged. None of ours is near it. */
const MOST_NODES = 600
/** Maximum steps of one search, to keep this check fast. */
const MOST_STEPS = 4_000_000
/** A larger repetition count is treated as unbounded. */
const MOST_COPIES = 80

const LINE_ENDS = '\n\r\u2028\u2029'
const COMMON = [
  'a',
  'A',
  'z',
  '_',
  '0',
  '9',
  ' ',
  '\t',
  '\n',
  '\r',
  '-',
  '.',
  '/',
  '"',
  "'",
  '\u00a0',
  '\u00e9',
  '\u2028',
  '\u4e2d',
  '\ud800',
  '\ud83d\ude00',
]

class Unreadable extends Error {}

/**
 * Why a pattern is refused; null when its time is linear in the text.
 * @param {string} source
 * @param {string} flags
 * @returns {string | null}
 */
export function costProblem(source, flags) {
  try {
    const tree = new Reader(source, flags).read()
    const samples = samplesOf(source, flags)
    return new Automaton(tree, samples, flags).problem()
  } catch (cause) {
    if (cause instanceof Unreadable) return cause.message
    throw cause
  }
}

// --- reading -------------------------------------------------------------------------------------------------------------

/**
 * @typedef {{ kind: 'set', source: string } | { kind: 'seq' | 'alt', parts: Node[] } | { kind: 'repeat', part: Node, min: number, max: number }
 *   | { kind: 'assert', what: string } | { kind: 'look', ahead: boolean, negative: boolean, part: Node }} Node
 */

class Reader {
  constructor(/** @type {string} */ source, /** @type {string} */ flags) {
    this.source = source
    this.unicode = /[uv]/.test(flags)
    this.nested = flags.includes('v')
    this.at = 0
  }

  /** @returns {Node} */
  read() {
    const tree = this.alternatives()
    if (this.at < this.source.length) throw new Unreadable(`cannot be read at ${this.at}`)
    return tree
  }

  /** @returns {Node} */
  alternatives() {
    const parts = [this.sequence()]
    while (this.take('|')) parts.push(this.sequence())
    const [first, ...rest] = parts
    return first !== undefined && rest.length === 0 ? first : { kind: 'alt', parts }
  }

  /** @returns {Node} */
  sequence() {
    /** @type {Node[]} */
    const parts = []
    while (this.at < this.source.length && !/[|)]/.test(this.source.charAt(this.at))) parts.push(this.repeated())
    return { kind: 'seq', parts }
  }

  /** @returns {Node} */
  repeated() {
    const part = this.atom()
    const count = /^(?:([*+?])|\{(\d+)(,(\d*))?\})\??/.exec(this.source.slice(this.at, this.at + 24))
    if (count === null) return part
    this.at += count[0].length
    const [, sign, low, comma, high] = count
    if (sign !== undefined) return { kind: 'repeat', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity }
    const min = Number(low)
    const max = comma === undefined ? min : high === '' ? Infinity : Number(high)
    return { kind: 'repeat', part, min, max }
  }

  /** @returns {Node} */
  atom() {
    const { source } = this
    const char = source.charAt(this.at)
    if (char === '(') return this.group()
    if (char === '^' || char === '$') {
      this.at++
      return { kind: 'assert', what: char }
    }
    if (char === '[') return this.charClass()
    if (char === '\\') return this.escape()
    const text = this.unicode ? String.fromCodePoint(/** @type {number} */ (source.codePointAt(this.at))) : char
    this.at += text.length
    return { kind: 'set', source: text === '/' ? '\\/' : text }
  }

  /** @returns {Node} */
  group() {
    const { source } = this
    const open = /^\((?:\?(?:(:)|([=!])|<([=!])|<[^>]+>))?/.exec(source.slice(this.at, this.at + 64))
    if (open === null || (source[this.at + 1] === '?' && open[0] === '(')) throw new Unreadable('has a group of an unknown kind')
    this.at += open[0].length
    const part = this.alternatives()
    if (!this.take(')')) throw new Unreadable('has an open group')
    const [, , ahead, behind] = open
    if (ahead === undefined && behind === undefined) return part
    if (isUnbounded(part)) throw new Unreadable('looks around without bound')
    return { kind: 'look', ahead: ahead !== undefined, negative: (ahead ?? behind) === '!', part }
  }

  /** @returns {Node} */
  charClass() {
    const start = this.at++
    for (let depth = 1; depth > 0; this.at++) {
      const char = this.source[this.at]
      if (char === undefined) throw new Unreadable('has an open class')
      if (char === '\\') this.at++
      else if (char === ']') depth--
      else if (char === '[' && this.nested) depth++
    }
    return { kind: 'set', source: this.source.slice(start, this.at) }
  }

  /** @returns {Node} */
  escape() {
    const rest = this.source.slice(this.at, this.at + 80)
    if (/^\\(?:[1-9]|k<)/.test(rest)) throw new Unreadable('refers back to a group')
    const found = /^\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[^])/.exec(rest)
    if (found === null) throw new Unreadable('ends in a backslash')
    this.at += found[0].length
    const what = found[0][1]
    return what === 'b' || what === 'B' ? { kind: 'assert', what } : { kind: 'set', source: found[0] }
  }

  /** @param {string} text */
  take(text) {
    if (!this.source.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }
}

/** @param {Node} node @returns {boolean} */
function isUnbounded(node) {
  if (node.kind === 'repeat') return node.max === Infinity || isUnbounded(node.part)
  if (node.kind === 'seq' || node.kind === 'alt') return node.parts.some(isUnbounded)
  return false
}

/** Characters that distinguish the sets of the pattern, found at the ends of their ranges. @param {string} source @param {string} flags */
function samplesOf(source, flags) {
  const found = new Set(COMMON)
  const add = (/** @type {number} */ code) => {
    for (const near of [code - 1, code, code + 1]) if (near >= 0 && near <= 0x10ffff) found.add(String.fromCodePoint(near))
  }
  const plain = source.replace(/\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/g, (_, a, b, c) => {
    add(Number.parseInt(a ?? b ?? c, 16))
    return ''
  })
  for (const char of plain) add(/** @type {number} */ (char.codePointAt(0)))
  const all = [...found].filter((char) => char.length === 1 || /[uv]/.test(flags))
  // Characters that no set distinguishes count as one.
  const sets = setSources(new Reader(source, flags).read()).map((each) => tester(each, flags))
  const seen = new Map(
    all.map((char) => [`${sets.map((test) => Number(test(char))).join('')}${/\w/.test(char)}${LINE_ENDS.includes(char)}`, char]),
  )
  return [...seen.values()]
}

/** @param {Node} node @returns {string[]} */
function setSources(node) {
  if (node.kind === 'set') return [node.source]
  if (node.kind === 'seq' || node.kind === 'alt') return node.parts.flatMap(setSources)
  return 'part' in node ? setSources(node.part) : []
}

/** @param {string} source @param {string} flags @returns {(char: string) => boolean} */
function tester(source, flags) {
  const pattern = new RegExp(`^(?:${source})$`, flags.replace(/[gymd]/g, ''))
  return (char) => pattern.test(char)
}

// --- the automaton -------------------------------------------------------------------------------------------------------

/**
 * A continuation: a node, and the samples that may be read there; `end` when the text may end.
 * @typedef {{ node: number, mask: bigint, end: boolean }} Step
 */

class Automaton {
  constructor(/** @type {Node} */ tree, /** @type {string[]} */ samples, /** @type {string} */ flags) {
    this.samples = samples
    this.flags = flags
    this.all = (1n << BigInt(samples.length)) - 1n
    this.words = this.maskOf((char) => /\w/.test(char))
    this.lines = this.maskOf((char) => LINE_ENDS.includes(char))
    /** Nodes: 'read' with a mask, 'go' to others, 'check' a condition, 'match'. @type {any[]} */
    this.nodes = []
    this.match = this.add({ kind: 'match' })
    const start = this.emit(tree, this.match)
    // A sticky pattern is tried at one position only.
    this.search = flags.includes('y') ? -1 : this.add({ kind: 'read', mask: this.all, next: -1 })
    const begin = this.search < 0 ? start : this.add({ kind: 'go', next: [start, this.search] })
    if (this.search >= 0) this.nodes[this.search].next = begin
    this.begin = begin
    /** @type {Map<number, Step[]>} by node and sample read last */
    this.closures = new Map()
  }

  /** @param {(char: string) => boolean} holds */
  maskOf(holds) {
    return this.samples.reduce((mask, char, at) => (holds(char) ? mask | (1n << BigInt(at)) : mask), 0n)
  }

  add(/** @type {object} */ node) {
    if (this.nodes.length >= MOST_NODES) throw new Unreadable('is too large to be judged')
    return this.nodes.push(node) - 1
  }

  /** @param {Node} node @param {number} next @returns {number} */
  emit(node, next) {
    switch (node.kind) {
      case 'set':
        return this.add({ kind: 'read', mask: this.maskOf(tester(node.source, this.flags)), next })
      case 'seq':
        return node.parts.reduceRight((behind, part) => this.emit(part, behind), next)
      case 'alt':
        return this.add({ kind: 'go', next: node.parts.map((part) => this.emit(part, next)) })
      case 'assert':
        return this.add({ kind: 'check', what: node.what, next: [next] })
      case 'look': {
        const only = onlySet(node.part)
        if (only === null) return next
        const found = this.maskOf(tester(only, this.flags))
        const mask = node.negative ? this.all & ~found : found
        return this.add({ kind: 'check', what: node.ahead ? 'ahead' : 'behind', mask, edge: node.negative, next: [next] })
      }
      case 'repeat': {
        const { part, min } = node
        const max = node.max > MOST_COPIES ? Infinity : node.max
        let start = next
        if (max === Infinity) {
          const loop = this.add({ kind: 'go', next: [] })
          const body = this.emit(part, loop)
          this.nodes[loop].next = [body, next]
          start = loop
        } else for (let copy = min; copy < max; copy++) start = this.add({ kind: 'go', next: [this.emit(part, start), next] })
        for (let copy = 0; copy < Math.min(min, MOST_COPIES); copy++) start = this.emit(part, start)
        return start
      }
    }
  }

  /** All continuations after a node that read a sample (-1: at the start of the text): two paths to one node are two entries. */
  waysFrom(/** @type {number} */ node, /** @type {number} */ sample) {
    const key = node * (this.samples.length + 1) + sample + 1
    const known = this.closures.get(key)
    if (known !== undefined) return known
    /** @type {Step[]} */
    const ways = []
    const before = sample < 0 ? 0n : 1n << BigInt(sample)
    let steps = 0
    const walk = (
      /** @type {number} */ at,
      /** @type {bigint} */ mask,
      /** @type {boolean} */ end,
      /** @type {number[]} */ seen,
    ) => {
      if (++steps > 20_000) throw new Unreadable('is too large to be judged')
      const each = this.nodes[at]
      if (each.kind === 'read' || each.kind === 'match') {
        if (each.kind === 'match' || (mask & each.mask) !== 0n)
          ways.push({ node: at, mask: each.kind === 'read' ? mask & each.mask : mask, end })
        return
      }
      // Twice, because a loop that may read nothing can be left and entered again: `(a*)*`.
      if (seen.filter((other) => other === at).length > 1) return
      if (each.kind === 'check') {
        const held = this.check(each, before)
        if (held === null) return
        mask &= held.mask
        end &&= held.end
        if (mask === 0n && !end) return
      }
      for (const next of each.next) walk(next, mask, end, [...seen, at])
    }
    const from = this.nodes[node].next
    walk(from, this.all, true, [])
    this.closures.set(key, ways)
    return ways
  }

  /** What may follow a condition, given what was read; null when it does not hold. @returns {{ mask: bigint, end: boolean } | null} */
  check(/** @type {any} */ { what, mask, edge }, /** @type {bigint} */ before) {
    const isLine = this.flags.includes('m')
    const free = { mask: this.all, end: true }
    switch (what) {
      case '^':
        return before === 0n || (isLine && (before & this.lines) !== 0n) ? free : null
      case '$':
        return { mask: isLine ? this.lines : 0n, end: true }
      case 'ahead':
        return { mask, end: edge }
      case 'behind':
        return before === 0n ? (edge ? free : null) : (before & mask) !== 0n ? free : null
      default: {
        const isBehindWord = (before & this.words) !== 0n
        return isBehindWord === (what === 'b') ? { mask: this.all & ~this.words, end: true } : { mask: this.words, end: false }
      }
    }
  }

  /** Indices below are those of the tables themselves, so their entries are there. @returns {string | null} */
  problem() {
    const count = this.samples.length
    // Nodes from which nothing can fail, whatever follows.
    const isSafe = (/** @type {number} */ node) =>
      node !== this.search &&
      this.samples.every((_, sample) => {
        if ((this.nodes[node].mask & (1n << BigInt(sample))) === 0n) return true
        return this.waysFrom(node, sample).some((way) => way.node === this.match && way.mask === this.all && way.end)
      })
    /** @type {any[]} */
    const reads = this.nodes.flatMap((node, at) => (node.kind === 'read' && node.mask !== 0n ? [at] : []))
    const index = new Map(reads.map((node, at) => [node, at]))
    const size = reads.length
    /** By node and sample read there: what may read each sample next; a node twice if two paths lead there. @type {any[]} */
    const table = []
    for (let node = 0; node < size; node++) {
      for (let sample = 0; sample < count; sample++) {
        /** @type {number[][]} */
        const next = Array.from({ length: count }, () => [])
        table.push(next)
        if ((this.nodes[reads[node]].mask & (1n << BigInt(sample))) === 0n) continue
        for (const way of this.waysFrom(reads[node], sample)) {
          const to = index.get(way.node)
          if (to === undefined) continue
          for (let read = 0; read < count; read++) if ((way.mask & (1n << BigInt(read))) !== 0n) next[read]?.push(to)
        }
      }
    }
    const ways = (/** @type {number} */ node, /** @type {number} */ sample, /** @type {number} */ read) =>
      table[node * count + sample][read]
    const can = (/** @type {number} */ node, /** @type {number} */ sample) =>
      (this.nodes[reads[node]].mask & (1n << BigInt(sample))) !== 0n
    /** @type {any[]} */
    const reach = reachability(
      size,
      (node) => new Set(Array.from({ length: count }, (_, sample) => table[node * count + sample].flat()).flat()),
    )
    const loops = reads.map((_, at) => at).filter((at) => reach[at].has(at))
    const failing = loops.filter((at) => !isSafe(reads[at]))
    let steps = 0
    const spend = () => {
      if (++steps > MOST_STEPS) throw new Unreadable('is too large to be judged')
    }

    // Two paths from a state back to itself.
    for (const home of failing) {
      for (let first = 0; first < count; first++) {
        if (!can(home, first)) continue
        const seen = new Set()
        /** @type {[number, number, number, boolean][]} */
        const pending = [[home, home, first, false]]
        while (pending.length > 0) {
          const [a, b, sample, apart] = /** @type {[number, number, number, boolean]} */ (pending.pop())
          for (let read = 0; read < count; read++) {
            const [left, right] = [ways(a, sample, read), ways(b, sample, read)]
            for (const [i, x] of left.entries()) {
              if (!reach[x].has(home)) continue
              for (const [j, y] of right.entries()) {
                if (!reach[y].has(home)) continue
                spend()
                const parted = apart || x !== y || (a === b && i !== j)
                if (parted && x === home && y === home && read === first)
                  return `takes exponential time: ${this.told(reads[home])} repeats in two ways`
                const key = ((x * size + y) * count + read) * 2 + Number(parted)
                if (seen.has(key)) continue
                seen.add(key)
                pending.push([x, y, read, parted])
              }
            }
          }
        }
      }
    }

    // A text that keeps p, leads from p to q and keeps q.
    for (const p of loops) {
      for (const q of failing) {
        if (p === q || !reach[p].has(q)) continue
        for (let first = 0; first < count; first++) {
          if (!can(p, first) || !can(q, first)) continue
          const seen = new Set()
          /** @type {[number, number, number, number][]} */
          const pending = [[p, p, q, first]]
          while (pending.length > 0) {
            const [a, b, c, sample] = /** @type {[number, number, number, number]} */ (pending.pop())
            for (let read = 0; read < count; read++) {
              const last = ways(c, sample, read).filter((/** @type {number} */ x) => reach[x].has(q))
              if (last.length === 0) continue
              for (const x of new Set(ways(a, sample, read))) {
                if (!reach[x].has(p)) continue
                for (const y of new Set(ways(b, sample, read))) {
                  if (y !== q && !reach[y].has(q)) continue
                  for (const z of last) {
                    spend()
                    if (x === p && y === q && z === q && read === first) {
                      return reads[p] === this.search
                        ? `takes quadratic time: a search tries ${this.told(reads[q])} again from every place; anchor it, or scan by hand`
                        : `takes quadratic time: ${this.told(reads[p])} and ${this.told(reads[q])} read the same text`
                    }
                    const key = ((x * size + y) * size + z) * count + read
                    if (seen.has(key)) continue
                    seen.add(key)
                    pending.push([x, y, z, read])
                  }
                }
              }
            }
          }
        }
      }
    }
    return null
  }

  /** @param {number} node */
  told(node) {
    if (node === this.search) return 'the search'
    const { mask } = this.nodes[node]
    const chars = this.samples.filter((_, at) => (mask & (1n << BigInt(at))) !== 0n)
    return `what reads ${JSON.stringify(chars.find((char) => /[\w ]/.test(char)) ?? chars[0])}`
  }
}

/** The source of a part that reads exactly one character of one set. @param {Node} node @returns {string | null} */
function onlySet(node) {
  if (node.kind === 'set') return node.source
  return node.kind === 'seq' && node.parts.length === 1 ? (node.parts.map(onlySet)[0] ?? null) : null
}

/** @param {number} size @param {(node: number) => Iterable<number>} nextOf @returns {Set<number>[]} */
function reachability(size, nextOf) {
  const next = Array.from({ length: size }, (_, node) => [...nextOf(node)])
  return next.map((first) => {
    const seen = new Set(first)
    const pending = [...seen]
    while (pending.length > 0) {
      for (const node of next[/** @type {number} */ (pending.pop())] ?? []) {
        if (seen.has(node)) continue
        seen.add(node)
        pending.push(node)
      }
    }
    return seen
  })
}
