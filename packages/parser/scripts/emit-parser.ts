// The rules of the grammar → parser.generated.ts: one method per rule, plain recursive descent with PEG semantics (ordered
// choice, greedy repetition), making the same tree as Ohm.
//
// - Choice: an alternative is tried only at tokens it can begin with, so almost nothing is parsed twice.
// - Tree: nodes are records on a tape of integers (parse-tree.ts), so parsing creates no garbage. A rule's
//   method returns the index of its record. Children of a repetition are on a stack until it ends.
// - Failure: a method returns FAILED and leaves the position anywhere; a caller with another alternative restores it.
// - Memory: a rule of REMEMBERED stores its last result, for the places where two alternatives begin with the same rule
//   (`a[x]` and `a[x:y]`). Hostile input can still make it backtrack often: beyond a budget of steps the parse restarts with
//   full memoisation of these rules, which Ohm always does for all rules.
// - Depth: brackets and prefixes are counted by the lexer; types can nest without them, so COUNTED rules count themselves.

import { isWordToken, TOKEN_SPELLINGS } from '../src/tokens.js'
import {
  ALL,
  listAllowedTokens,
  arity,
  type Beginning,
  beginnings,
  END,
  listMembers,
  NONE,
  type Peg,
  type Rules,
  type TokenSet,
} from './pegs.js'

/** Rules that may be applied twice at one token; every cycle of the grammar passes through one of them or through brackets. */
const REMEMBERED: ReadonlySet<string> = new Set([
  'expr',
  'stmt',
  'type',
  'ifExpr',
  'matchExpr',
  'tryExpr',
  'parallelExpr',
  'retryExpr',
  'deadlineExpr',
])

const COUNTED: ReadonlySet<string> = new Set(['type'])

/**
 * Items of a file. The position of the last but one tells where explaining a failure can begin. The parser never backtracks over an item that
 * has matched, so the item can be passed on at once, and the next one reuses its part of the tape.
 */
const ITEM = 'topItem'

const START_RULES = ['program', 'interpolation'] as const

/** Source of parser.generated.ts. */
export function emitParser(rules: Rules): string {
  const beginningOf = beginnings(rules)
  const sets = new TokenTests()
  const numbers = new Map([...rules.bodies.keys(), ITERATION].map((name, at) => [name, at]))
  const methods = [...rules.bodies]
    .filter(([name]) => simpleTokens(rules, name) === null)
    .map(([name, body]) => new RuleEmitter(rules, beginningOf, sets, numbers).method(name, body))
  const arities = [...new Set([...rules.bodies.values(), ONE].map(arity))].toSorted((a, b) => a - b)
  const slots = [...REMEMBERED].flatMap((name) => [`  private ${name}At = -1`, `  private ${name}Node = FAILED`])
  return `// Generated from harn.ohm by scripts/generate-grammar.ts (how: packages/parser/scripts/emit-parser.ts): change that, then run it
// again.
/* eslint-disable */

import { EMPTY, type StartRule, TooDeep } from './parse-tree.js'

const FIRST_UNIT = 0xe000
const END = ${END}
/** Returned by a rule's method when the rule does not match; not the index of a record. */
const FAILED = -1
/** Calls of the rules that remember, for each token; plain code takes two or three. */
const STEPS_PER_TOKEN = 40
/** Integers on the tape to begin with: plain code takes about 32 for each token, and one item seldom has more than 500. */
const TAPE_PER_TOKEN = 32
const TAPE = 16_384
/** More than any record but a repetition takes. */
const RECORD = 32

/** Raised when the budget of steps is used up; never leaves this file. */
const OVERRUN = new Error('the parser goes back too often')

export interface Parsed {
  readonly tape: Int32Array
  /** Place of the root's record on the tape; negative when the tokens are not a program or expression. */
  readonly root: number
  /** First token of the last but one item of the file that was begun: a failure has its reasons behind it. */
  readonly restart: number
}

/** Takes an item of the file, the record at \`item\` and those that it refers to; they are gone after the call. */
export type TakeItem = (tape: Int32Array, item: number) => void

/**
 * Parses a token string. \`maxDepth\` bounds the nesting of types; deeper throws TooDeep. With \`take\`, the items are handed over one
 * by one, also those before a failure, and the root has none; \`begin\` is called before the first, which may be twice.
 */
export function parseTokens(
  units: string,
  rule: StartRule,
  maxDepth: number,
  take: TakeItem | null = null,
  begin: () => void = () => {},
): Parsed {
  const kinds = new Uint8Array(units.length + 1)
  for (let at = 0; at < units.length; at += 1) kinds[at] = units.charCodeAt(at) - FIRST_UNIT
  kinds[units.length] = END
  begin()
  try {
    return new Parser(kinds, maxDepth, null, take).run(rule)
  } catch (error) {
    if (error !== OVERRUN) throw error
    begin()
    return new Parser(kinds, maxDepth, new Map(), take).run(rule)
  }
}

/** Memo table by rule and token. */
type Memory = Map<string, number>

/** Rules by the number in their records; KEEP WITH: the calls of \`node\` below, which are generated from the same list. */
export const RULES = [
${[...numbers.keys()].map((name) => `  '${name}',\n`).join('')}] as const

${sets.declarations()}
class Parser {
  private readonly kinds: Uint8Array
  private readonly maxDepth: number
  private readonly memory: Memory | null
  private readonly take: TakeItem | null
  private tape: Int32Array
  /** End of what is written on the tape; the record of the empty repetition comes first. */
  private top = 4
  /** Children of the repetitions that have not ended, and how many they are. Never shortened: that is slow. */
  private readonly stack: number[] = []
  private waiting = 0
  private stepsLeft: number
  private at = 0
  private depth = 0
  private item = 0
  private restart = 0
${slots.join('\n')}

  constructor(kinds: Uint8Array, maxDepth: number, memory: Memory | null, take: TakeItem | null) {
    this.kinds = kinds
    this.maxDepth = maxDepth
    this.memory = memory
    this.take = take
    this.tape = new Int32Array(Math.min(TAPE, kinds.length * TAPE_PER_TOKEN) + RECORD)
    this.tape[0] = ${numbers.get(ITERATION)}
    this.stepsLeft = memory === null ? kinds.length * STEPS_PER_TOKEN + 1000 : Infinity
  }

  run(rule: StartRule): Parsed {
    const root = ${START_RULES.map((name) => `rule === '${name}' ? this.${name}() : `).join('')}FAILED
    return { tape: this.tape, root, restart: this.restart }
  }

  private grown(): Int32Array {
    const larger = new Int32Array(this.tape.length * 2)
    larger.set(this.tape)
    return (this.tape = larger)
  }

  /** Takes a repetition from the stack: of each row of \`stride\` children from \`base\` on the one at \`offset\`. */
  private column(base: number, offset: number, stride: number): number {
    const { stack, waiting } = this
    const count = (waiting - base) / stride
    if (count === 0) return EMPTY
    while (this.tape.length - this.top < count + RECORD) this.grown()
    const tape = this.tape
    const top = this.top
    tape[top] = ${numbers.get(ITERATION)}
    tape[top + 3] = count
    let to = top + 4
    for (let from = base + offset; from < waiting; from += stride) tape[to++] = stack[from]!
    this.top = to
    return top
  }

${arities.map(nodeMaker).join('\n')}
  /** \`mark\` is where the tape ended before the item. */
  private handOver(item: number, mark: number): number {
    if (this.take === null) return item
    this.take(this.tape, item)
    this.top = mark
    // What is remembered may be records of the item.
${[...REMEMBERED].map((name) => `    this.${name}At = -1\n`).join('')}    if (this.memory !== null) this.memory.clear()
    return EMPTY
  }

  private countStep(): void {
    this.stepsLeft -= 1
    if (this.stepsLeft < 0) throw OVERRUN
  }

${methods.join('\n')}}
`
}

const ITERATION = '_iter'
const ONE: Peg = { op: 'end' }

/** The method that writes a record with `count` children. */
function nodeMaker(count: number): string {
  const names = Array.from({ length: count }, (_, at) => `part${at}`)
  return `  private node${count}(rule: number, start: number, end: number${names.map((name) => `, ${name}: number`).join('')}): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = ${count}
${names.map((name, at) => `    tape[top + ${at + 4}] = ${name}\n`).join('')}    this.top = top + ${count + 4}
    return top
  }
`
}

/** The tokens of a rule that is a single token, possibly through several names; otherwise null. */
function simpleTokens(rules: Rules, name: string): TokenSet | null {
  const body = rules.bodies.get(name)
  if (body === undefined) throw new Error(`harn.ohm does not define ${name}`)
  if (body.op === 'token') return body.set
  return body.op === 'app' && !REMEMBERED.has(body.rule) ? simpleTokens(rules, body.rule) : null
}

interface TokenTest {
  /** A statement that must precede. */
  readonly setup: string | null
  readonly holds: string
  readonly fails: string
}

/** Tests of a token for membership in a set: comparisons if they are few, otherwise a table. */
class TokenTests {
  private readonly tables = new Map<TokenSet, string>()

  /** Conditions on `token`, an expression that is evaluated once: membership in the set, and the opposite. */
  testToken(set: TokenSet, token: string): TokenTest {
    const runs = splitIntoRuns(set)
    const [only] = runs
    if (runs.length === 1 && only !== undefined && only.from === only.to) {
      return { setup: null, holds: `${token} === ${formatToken(only.from)}`, fails: `${token} !== ${formatToken(only.from)}` }
    }
    if (runs.length > 2) {
      const table = this.tables.get(set) ?? `SET_${this.tables.size}`
      this.tables.set(set, table)
      return { setup: null, holds: `${table}[${token}] === 1`, fails: `${table}[${token}] !== 1` }
    }
    const each = (same: string, range: (from: string, to: string) => string): string[] =>
      runs.map(({ from, to }) => (from === to ? `kind ${same} ${formatToken(from)}` : range(formatToken(from), formatToken(to))))
    return {
      setup: `const kind = ${token}`,
      holds: each('===', (from, to) => `(kind >= ${from} && kind <= ${to})`).join(' || '),
      fails: each('!==', (from, to) => `(kind < ${from} || kind > ${to})`).join(' && '),
    }
  }

  declarations(): string {
    return [...this.tables]
      .map(([set, name]) => `const ${name} = setOf(${listMembers(set).join(', ')})\n`)
      .concat(
        this.tables.size === 0
          ? []
          : [
              '\nfunction setOf(...tokens: readonly number[]): Uint8Array {\n  const set = new Uint8Array(256)\n' +
                '  for (const token of tokens) set[token] = 1\n  return set\n}\n',
            ],
      )
      .join('')
  }
}

function splitIntoRuns(set: TokenSet): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = []
  for (const token of listMembers(set)) {
    const last = runs.at(-1)
    if (last?.to === token - 1) last.to = token
    else runs.push({ from: token, to: token })
  }
  return runs
}

/** A token's number, with its spelling for the reader. */
function formatToken(token: number): string {
  const spelling = TOKEN_SPELLINGS[token]
  if (spelling === undefined) return 'END'
  const shown = spelling === '\n' ? '\\n' : spelling.replaceAll('*/', '* /')
  return isWordToken(spelling) || /^[<\\]/.test(shown) || shown.length > 0 ? `${token} /* ${shown} */` : String(token)
}

const TOKEN_HERE = 'kinds[this.at]!'

class RuleEmitter {
  private readonly rules: Rules
  private readonly beginningOf: (peg: Peg) => Beginning
  private readonly tests: TokenTests
  private readonly numbers: ReadonlyMap<string, number>
  private readonly lines: string[] = []
  private indent = 2
  private names = 0

  constructor(rules: Rules, beginningOf: (peg: Peg) => Beginning, tests: TokenTests, numbers: ReadonlyMap<string, number>) {
    this.rules = rules
    this.numbers = numbers
    this.beginningOf = beginningOf
    this.tests = tests
  }

  method(name: string, body: Peg): string {
    const remembers = REMEMBERED.has(name)
    if (remembers) this.remembering(name)
    this.open(`private ${remembers ? `${name}Anew` : name}(): number {`)
    this.line('const kinds = this.kinds')
    this.line('const start = this.at')
    if (name === ITEM) {
      this.line('this.restart = this.item')
      this.line('this.item = start')
      this.line('const mark = this.top')
    }
    const parts = this.emit(body, 'return FAILED', ALL, true)
    const node = this.node(name, 'start', 'this.at', parts)
    this.line(`return ${name === ITEM ? `this.handOver(${node}, mark)` : node}`)
    this.close('}')
    return `${this.lines.join('\n')}\n`
  }

  /** The part of a memoised rule that looks up and counts; the work is in the method with `Anew`. */
  private remembering(name: string): void {
    const counted = COUNTED.has(name)
    this.open(`private ${name}(): number {`)
    this.line('const start = this.at')
    this.open(`if (this.${name}At === start) {`)
    this.line(`const last = this.${name}Node`)
    this.line('if (last !== FAILED) this.at = this.tape[last + 2]!')
    this.line('return last')
    this.close('}')
    this.line('this.countStep()')
    this.open('if (this.memory !== null) {')
    this.line(`const known = this.memory.get('${name}' + start)`)
    this.open('if (known !== undefined) {')
    this.line('if (known !== FAILED) this.at = this.tape[known + 2]!')
    this.line('return known')
    this.close('}')
    this.close('}')
    if (counted) {
      this.line('this.depth += 1')
      this.line('if (this.depth > this.maxDepth) throw new TooDeep(start)')
    }
    this.line(`const node = this.${name}Anew()`)
    if (counted) this.line('this.depth -= 1')
    this.line(`if (this.memory !== null) this.memory.set('${name}' + start, node)`)
    this.line(`this.${name}At = start`)
    this.line(`this.${name}Node = node`)
    this.line('return node')
    this.close('}')
    this.lines.push('')
  }

  /**
   * Writes code that matches `peg` at the current token, which is known to be one of `known`, and runs `fail` if it does not
   * match. Returns the expressions of its nodes; none when `wanted` is false.
   */
  private emit(peg: Peg, fail: string, known: TokenSet, wanted: boolean): string[] {
    switch (peg.op) {
      case 'token':
        this.require(peg.set, fail, known)
        return this.take(wanted)
      case 'end':
        this.require(1n << BigInt(END), fail, known)
        return wanted ? ['~this.at'] : []
      case 'app':
        return this.apply(peg.rule, fail, known, wanted)
      case 'seq':
        return this.sequence(peg.parts, fail, known, wanted)
      case 'alt':
        return this.choice(peg, peg.parts, fail, known, wanted)
      case 'opt':
        return this.option(peg.part, known, wanted)
      case 'star':
      case 'plus':
        return this.repetition(peg, peg.part, fail, wanted)
      case 'not':
        this.lookahead(peg.part, fail, known)
        return []
    }
  }

  private take(wanted: boolean): string[] {
    if (!wanted) {
      this.line('this.at += 1')
      return []
    }
    const token = this.fresh('t')
    this.line(`const ${token} = this.at++`)
    return [`~${token}`]
  }

  private apply(rule: string, fail: string, known: TokenSet, wanted: boolean): string[] {
    const tokens = simpleTokens(this.rules, rule)
    if (tokens !== null) {
      this.require(tokens, fail, known)
      const [token] = this.take(wanted)
      return token === undefined ? [] : [this.simpleNode(rule, token.slice(1))]
    }
    const node = this.fresh('n')
    this.line(`const ${node} = this.${rule}()`)
    this.line(`if (${node} === FAILED) ${fail}`)
    return wanted ? [node] : []
  }

  /** The node of a rule that is one token. */
  private simpleNode(rule: string, token: string): string {
    const body = this.rules.bodies.get(rule)!
    return this.node(rule, token, `${token} + 1`, [body.op === 'app' ? this.simpleNode(body.rule, token) : `~${token}`])
  }

  /** An expression that writes a record. */
  private node(rule: string, start: string, end: string, parts: readonly string[]): string {
    const args = [`${this.numbers.get(rule)!} /* ${rule} */`, start, end, ...parts]
    return `this.node${parts.length}(${args.join(', ')})`
  }

  private sequence(parts: readonly Peg[], fail: string, known: TokenSet, wanted: boolean): string[] {
    const nodes: string[] = []
    let here = known
    for (const part of parts) {
      nodes.push(...this.emit(part, fail, here, wanted))
      const { takes, empty } = this.beginningOf(part)
      // After a part that takes nothing, the token is still the same, and the part may have narrowed its possible values.
      here = (takes & here) === NONE ? here & empty : ALL
    }
    return nodes
  }

  private choice(peg: Peg, parts: readonly Peg[], fail: string, known: TokenSet, wanted: boolean): string[] {
    const results = Array.from({ length: wanted ? arity(peg) : 0 }, () => this.fresh('r'))
    for (const result of results) this.line(`let ${result} = EMPTY`)
    const groups = this.groupAlternatives(parts, known)
    const label = this.fresh('choice')
    const attempt = (members: readonly number[], set: TokenSet): void => {
      members.forEach((member, at) => {
        if (at === members.length - 1) {
          this.alternative(results, parts[member]!, fail, at === 0 ? set : known, wanted)
          return
        }
        const next = this.fresh('next')
        if (at === 0) this.line('const here = this.at')
        this.open(`${next}: {`)
        this.alternative(results, parts[member]!, `break ${next}`, at === 0 ? set : known, wanted)
        this.line(`break ${label}`)
        this.close('}')
        this.line('this.at = here')
      })
    }
    this.open(`${label}: {`)
    const common = groups.reduce((a, b) => (listMembers(b.set).length > listMembers(a.set).length ? b : a))
    if (groups.length === 1) {
      attempt(common.members, known)
    } else {
      // The group with most tokens also takes those that fit no group: its own tests refuse them.
      this.open(`switch (${TOKEN_HERE}) {`)
      for (const group of groups) {
        if (group === common) continue
        const cases = listMembers(group.set)
        cases.forEach((token, at) => {
          if (at < cases.length - 1) this.line(`case ${formatToken(token)}:`)
          else this.open(`case ${formatToken(token)}: {`)
        })
        attempt(group.members, group.set)
        this.line(`break ${label}`)
        this.close('}')
      }
      this.open('default: {')
      attempt(common.members, known)
      this.close('}')
      this.close('}')
    }
    this.close('}')
    return results
  }

  /** One alternative of a choice. Most are one rule; a variable for each would enlarge frames and so limit nesting. */
  private alternative(results: readonly string[], part: Peg, fail: string, known: TokenSet, wanted: boolean): void {
    const [result] = results
    if (part.op !== 'app' || result === undefined || simpleTokens(this.rules, part.rule) !== null) {
      this.assign(results, this.emit(part, fail, known, wanted))
      return
    }
    this.line(`${result} = this.${part.rule}()`)
    this.line(`if (${result} === FAILED) ${fail}`)
  }

  /** The tokens, partitioned by the alternatives that can begin with them. */
  private groupAlternatives(
    parts: readonly Peg[],
    known: TokenSet,
  ): { readonly members: readonly number[]; readonly set: TokenSet }[] {
    const sets = parts.map((part) => listAllowedTokens(this.beginningOf(part)) & known)
    const groups = new Map<string, { members: readonly number[]; set: TokenSet }>()
    for (const token of listMembers(known)) {
      const bit = 1n << BigInt(token)
      const members = sets.flatMap((set, at) => ((set & bit) === NONE ? [] : [at]))
      if (members.length === 0) continue
      const key = members.join()
      const group = groups.get(key)
      if (group === undefined) groups.set(key, { members, set: bit })
      else group.set |= bit
    }
    return [...groups.values()]
  }

  private option(part: Peg, known: TokenSet, wanted: boolean): string[] {
    const { takes } = this.beginningOf(part)
    const results = Array.from({ length: wanted ? arity(part) : 0 }, () => this.fresh('o'))
    for (const result of results) this.line(`let ${result} = EMPTY`)
    if ((takes & known) === NONE) return results
    this.openTest(takes, known)
    if (part.op === 'token') {
      const [token] = this.take(wanted)
      if (token !== undefined) this.line(`${results[0]} = ${this.node(ITERATION, '0', '0', [token])}`)
    } else {
      const here = this.fresh('here')
      const label = this.fresh('option')
      this.line(`const ${here} = this.at`)
      this.open(`${label}: {`)
      const nodes = this.emit(part, `{ this.at = ${here}; break ${label} }`, takes & known, wanted)
      nodes.forEach((node, at) => this.line(`${results[at]} = ${this.node(ITERATION, '0', '0', [node])}`))
      this.close('}')
    }
    this.close('}')
    return results
  }

  private repetition(peg: Peg, part: Peg, fail: string, wanted: boolean): string[] {
    const { takes } = this.beginningOf(part)
    const width = wanted ? arity(part) : 0
    const base = this.fresh('base')
    const count = peg.op === 'plus' ? this.fresh('count') : null
    if (count !== null) this.line(`let ${count} = 0`)
    if (width > 0) this.line(`const ${base} = this.waiting`)
    const here = this.fresh('here')
    const label = this.fresh('loop')
    const { setup, fails } = this.tests.testToken(takes, TOKEN_HERE)
    this.open(`${label}: for (;;) {`)
    if (setup !== null) this.line(setup)
    this.line(`if (${fails}) break`)
    this.line(`const ${here} = this.at`)
    const nodes = this.emit(part, `{ this.at = ${here}; break ${label} }`, takes, wanted)
    for (const node of nodes) this.line(`this.stack[this.waiting++] = ${node}`)
    if (count !== null) this.line(`${count} += 1`)
    this.close('}')
    if (count !== null) this.line(`if (${count} === 0) ${fail}`)
    if (width === 0) return []
    const columns = Array.from({ length: width }, () => this.fresh('c'))
    columns.forEach((column, at) => this.line(`const ${column} = this.column(${base}, ${at}, ${width})`))
    this.line(`this.waiting = ${base}`)
    return columns
  }

  /** `~part`. */
  private lookahead(part: Peg, fail: string, known: TokenSet): void {
    if (part.op === 'token') {
      this.require(ALL & ~part.set, fail, known)
      return
    }
    const positive = part.op === 'not'
    const looked = part.op === 'not' ? part.part : part
    const set = listAllowedTokens(this.beginningOf(looked))
    if (positive && looked.op === 'token') {
      this.require(set, fail, known)
      return
    }
    if (positive) this.require(set, fail, known)
    const here = this.fresh('here')
    const found = this.fresh('found')
    const label = this.fresh('look')
    this.line(`const ${here} = this.at`)
    this.line(`let ${found} = false`)
    this.open(`${label}: {`)
    this.emit(looked, `break ${label}`, positive ? set & known : known, false)
    this.line(`${found} = true`)
    this.close('}')
    this.line(`this.at = ${here}`)
    this.line(`if (${positive ? '!' : ''}${found}) ${fail}`)
  }

  /** Fails unless the current token, which is of `known`, is of `set`. */
  private require(set: TokenSet, fail: string, known: TokenSet): void {
    if ((known & ~set) === NONE) return
    const complement = ALL & ~set
    const inverse = splitIntoRuns(complement).length < splitIntoRuns(set).length
    const { setup, holds, fails } = this.tests.testToken(inverse ? complement : set, TOKEN_HERE)
    const refused = inverse ? holds : fails
    if (setup === null) this.line(`if (${refused}) ${fail}`)
    else this.line(`{ ${setup}; if (${refused}) ${fail} }`)
  }

  /** Opens a block for the tokens of `set`. */
  private openTest(set: TokenSet, known: TokenSet): void {
    if ((known & ~set) === NONE) {
      this.open('{')
      return
    }
    const { setup, holds } = this.tests.testToken(set, TOKEN_HERE)
    if (setup === null) {
      this.open(`if (${holds}) {`)
      return
    }
    const test = this.fresh('kind')
    this.line(setup.replace('kind', test))
    this.open(`if (${holds.replaceAll(/\bkind\b/g, test)}) {`)
  }

  private assign(results: readonly string[], nodes: readonly string[]): void {
    nodes.forEach((node, at) => this.line(`${results[at]} = ${node}`))
  }

  private fresh(prefix: string): string {
    this.names += 1
    return `${prefix}${this.names}`
  }

  private open(text: string): void {
    this.line(text)
    this.indent += 2
  }

  private close(text: string): void {
    this.indent -= 2
    this.line(text)
  }

  private line(text: string): void {
    this.lines.push(' '.repeat(this.indent) + text)
  }
}
