// THE list of fuzz targets. A target makes an input from random numbers and checks what the engine does with it; it throws an Error when
// the engine violates a property. An input is a string, so that a finding can be stored, minimised and run again.
//
//   parser    a mutated script is parsed or refused with a diagnostic inside the source; what parses is printed and parsed again
//   layout    a mutated script that parses is formatted to the same program, idempotently; repairs of lint keep it a program
//   grammar   the generated parser and Ohm accept and refuse the same, with the same tree and the same reasons
//   program   a script, generated or mutated, ends the same way in one piece, in slices, and through snapshots
//   tiers     a program, generated or mutated, behaves the same compiled as in the base tier: exits, output, fuel, heap units, faults
//   chunk     mutated bytecode is refused by the verifier, or runs without an internal error
//   snapshot  a mutated snapshot is refused, or loads and the run ends as if nothing had been changed
//   checker   a mutated script is checked to the end, in strict mode too, with findings inside the source; so is its manifest
//   types     a script of the typed fragment without findings ends in no type error
//   effects   a script, generated to pass functions around, or mutated, has no effect that is not in its manifest
//   planted   contains a bug on purpose and must fail: it shows that the machinery finds bugs

import { applyFixes, format, isSameProgram, lex, parse, print, renderDiagnostics, SourceFile } from '@bridle/parser'
import { checkProgram as checkTypesOf, lintProgram } from '@bridle/compiler'
import type { CompiledProgram } from '@bridle/compiler/bytecode'
import { findCompilerFault, LinkError, SNAPSHOT_VERSION, SnapshotError } from '@bridle/vm'
import type { LinkedProgram } from '@bridle/vm'
import { compareParsers } from '../packages/parser/test/compare.js'
import { corpus } from './corpus.js'
import { compile, difference, link, Runner, runToEnd } from './engine.js'
import { generateEffects } from './generate-effects.js'
import { generateTyped } from './generate-typed.js'
import { generateProgram } from './generate.js'
import { generateHotProgram } from './generate-hot.js'
import { generateTiers } from './generate-tiers.js'
import { mutateData, mutateRaw, mutateSource } from './mutate.js'
import { ENVELOPE_BYTES, seal } from '../packages/vm/src/snapshot/envelope.js'
import type { Random } from './random.js'

export interface Target {
  readonly name: string
  /** This target's share of all inputs; 0 for one that is only run by name. */
  readonly share: number
  readonly make: (random: Random) => string
  /** Throws an Error for a finding. `random` decides how the input is run, the same way for the same input. */
  readonly check: (input: string, random: Random) => void
}

export const TARGETS: readonly Target[] = [
  { name: 'parser', share: 50, make: changeScript, check: checkParser },
  { name: 'layout', share: 25, make: changeScript, check: checkLayout },
  { name: 'grammar', share: 34, make: changeTokens, check: (text) => void compareParsers(text) },
  {
    name: 'program',
    share: 25,
    make: (random) => (random.oneIn(3) ? generateProgram(random) : changeScript(random)),
    check: checkProgram,
  },
  {
    name: 'tiers',
    share: 100,
    make: anyProgram,
    check: checkTiers,
  },
  { name: 'chunk', share: 15, make: changeChunk, check: checkChunk },
  { name: 'snapshot', share: 10, make: changeSnapshot, check: checkSnapshot },
  { name: 'checker', share: 40, make: changeScript, check: checkChecker },
  { name: 'types', share: 40, make: generateTyped, check: checkTypes },
  {
    name: 'effects',
    share: 40,
    make: (random) => (random.oneIn(3) ? changeScript(random) : generateEffects(random)),
    check: checkManifest,
  },
  { name: 'planted', share: 0, make: changeScript, check: checkPlanted },
]

export function targetNamed(name: string): Target | undefined {
  return TARGETS.find((each) => each.name === name)
}

function anyScript(random: Random): string {
  return random.pick(corpus()).text
}

function changeScript(random: Random): string {
  const text = random.oneIn(10) ? generateProgram(random) : anyScript(random)
  return mutateSource(random, text, anyScript(random))
}

// ---- parser

function checkLayout(text: string): void {
  const source = new SourceFile('fuzz.harn', text)
  const { program } = parse(source)
  if (program === null) return
  const once = format(source)
  if (once.kind === 'failed') throw new Error('a program cannot be formatted')
  const formatted = parse(new SourceFile('formatted.harn', once.text))
  if (formatted.program === null) throw new Error(`the formatted text is refused: ${formatted.diagnostics[0]?.message}`)
  if (!isSameProgram(program, formatted.program)) throw new Error('the formatted text is another program')
  const twice = format(new SourceFile('formatted.harn', once.text))
  if (twice.kind === 'failed' || twice.text !== once.text) throw new Error('formatting again changes the text')
  const fixed = applyFixes(text, lintProgram(program, { file: source, requireFileHeader: true })).text
  const { diagnostics } = parse(new SourceFile('fixed.harn', fixed))
  if (diagnostics.length > 0) throw new Error(`the repaired text is refused: ${diagnostics[0]!.message}\n${fixed}`)
}

function checkParser(text: string): void {
  const source = new SourceFile('fuzz.harn', text)
  const { program, diagnostics } = parse(source)
  for (const { span } of diagnostics) {
    if (!(span.start >= 0 && span.start <= span.end && span.end <= text.length))
      throw new Error(`span ${span.start}..${span.end} of ${text.length}`)
  }
  renderDiagnostics(diagnostics, source, { color: false })
  if (program === null) {
    if (diagnostics.length === 0) throw new Error('refused without a word')
    return
  }
  const printed = print(program)
  // A comment enabled the extension, and the tree does not contain comments.
  const again = parse(new SourceFile('printed.harn', printed), { extensions: ['grants'] })
  if (again.program === null) throw new Error(`the printed form is refused: ${again.diagnostics[0]?.message}`)
  const reprinted = print(again.program)
  if (reprinted !== printed) throw new Error('the printed form prints differently')
}

// ---- grammar

/** A script with single tokens removed, duplicated or exchanged: most are only a rule or two away from correct. */
function changeTokens(random: Random): string {
  if (random.oneIn(3)) return changeScript(random)
  const text = anyScript(random)
  const { starts, ends } = lex(text)
  if (starts.length === 0) return text
  const cutPiece = (token: number): string => text.slice(starts[token], ends[token])
  let result = text
  for (let changes = random.between(1, 3); changes > 0; changes -= 1) {
    const token = random.between(0, starts.length - 1)
    // Offsets shift with each change; a position that no longer fits only makes a larger mutation.
    const [start, end] = [starts[token]!, ends[token]!]
    const other = cutPiece(random.between(0, starts.length - 1))
    const put = random.pick([
      '',
      `\n${cutPiece(token)}`,
      `${cutPiece(token)} ${cutPiece(token)}`,
      ` ${other} `,
      ` ${other} ${cutPiece(token)} `,
    ])
    result = result.slice(0, start) + put + result.slice(end)
  }
  return result
}

// ---- checker

function checkChecker(text: string): void {
  const file = new SourceFile('fuzz.harn', text)
  const { program } = parse(file)
  if (program === null) return
  for (const strict of [false, true]) {
    const findings = checkTypesOf(program, { file, imports: () => null, strict })
    for (const { span, fix } of findings) {
      for (const { start, end } of [span, ...(fix?.edits ?? []).map((edit) => edit.span)]) {
        if (!(start >= 0 && start <= end && end <= text.length)) throw new Error(`span ${start}..${end} of ${text.length}`)
      }
    }
    renderDiagnostics(findings, file, { color: false })
  }
  void compile(text).effects?.manifest
}

// ---- types

/** Messages of operators, parameters and conversions about a value of the wrong type. */
const TYPE_ERROR = /Type error|TypeError|Cannot (add|subtract|multiply|divide|modulo|exponentiate|negate)/

function checkTypes(text: string): void {
  const file = new SourceFile('fuzz.harn', text)
  const { program } = parse(file)
  if (program === null) throw new Error('the generated program does not parse')
  if (checkTypesOf(program, { file, imports: () => null, strict: true }).length > 0) return
  const compiled = compile(text).program
  if (compiled === null) throw new Error('checked clean, but does not compile')
  const ending = runToEnd(new Runner(link(compiled)))
  if (ending.how === 'failed' && TYPE_ERROR.test(ending.detail)) throw new Error(`checked clean, but ${ending.detail}`)
}

// ---- effects

function checkManifest(text: string): void {
  const { program, effects } = compile(text)
  if (program === null || effects === null) return
  const asked = new Set<string>()
  runToEnd(new Runner(link(program), { mostExits: 200, onEffect: ({ kind }) => asked.add(kind) }))
  const { kinds } = effects.manifest.script
  // Dispatch reads the clock and asks a person by itself.
  const missing = [...asked].filter((kind) => !kinds.includes(kind) && !/^(clock|approval|trace)\./.test(kind))
  if (missing.length > 0) throw new Error(`asked for ${missing.join(', ')}, which is not in the manifest: ${kinds.join(', ')}`)
}

// ---- program

function checkProgram(text: string, random: Random): void {
  const { program } = compile(text)
  if (program !== null) checkRuns(link(program), random)
}

/** A program in one piece, then in slices and through snapshots. */
function checkRuns(program: LinkedProgram, random: Random): void {
  const whole = runToEnd(new Runner(program))
  // At most about a hundred slices: a snapshot costs more than a slice.
  const runner = new Runner(program, { sliceFuel: Math.max(1, Math.floor(whole.fuel / random.between(2, 40))) })
  const every = random.between(1, 6)
  do {
    if (runner.stopped && random.oneIn(every)) runner.throughSnapshot()
  } while (runner.advance())
  const found = difference(whole, runner.ending())
  if (found !== null) throw new Error(`in slices and through snapshots: ${found}`)
}

// ---- tiers

/** A program that compiles: others test nothing about tiers. */
function anyProgram(random: Random): string {
  for (;;) {
    const kind = random.below(16)
    const text =
      kind < 3
        ? changeLiterals(random, anyScript(random))
        : kind < 5
          ? generateProgram(random)
          : kind < 6
            ? generateHotProgram(random)
            : generateTiers(random)
    if (compile(text).program !== null) return text
  }
}

/** A script with some numbers, strings and operators exchanged for others of their kind: most still run, with another result. */
function changeLiterals(random: Random, text: string): string {
  const { starts, ends } = lex(text)
  const places: { readonly at: number; readonly options: readonly string[] }[] = []
  for (let at = 0; at < starts.length; at++) {
    const piece = text.slice(starts[at], ends[at])
    const options = CLASSES.find((each) => each.test.test(piece))?.options
    if (options !== undefined) places.push({ at, options })
  }
  let result = text
  const chosen = Array.from({ length: places.length === 0 ? 0 : random.between(0, 4) }, () => random.pick(places))
  // From the end, so that offsets hold.
  for (const { at, options } of [...new Set(chosen)].sort((one, other) => other.at - one.at)) {
    result = result.slice(0, starts[at]) + random.pick(options) + result.slice(ends[at])
  }
  return result
}

const CLASSES: readonly { readonly test: RegExp; readonly options: readonly string[] }[] = [
  { test: /^\d+$/, options: ['0', '1', '2', '3', '7', '100', '9007199254740993', '2.5'] },
  { test: /^\d+\.\d+$/, options: ['0.0', '0.5', '1.0', '2.25', '3'] },
  { test: /^(true|false|nil)$/, options: ['true', 'false', 'nil', '1'] },
  { test: /^[-+*%]$/, options: ['+', '-', '*', '/', '%'] },
  { test: /^(<=?|>=?|==|!=)$/, options: ['<', '<=', '>', '>=', '==', '!='] },
]

/** The base tier and the compiled one side by side, exit by exit. Sometimes memory is scarce, so that it is measured during the run. */
function checkTiers(text: string, random: Random): void {
  const { program } = compile(text)
  if (program === null) return
  const sliceFuel = random.oneIn(3) ? 20_000 : random.between(1, 200)
  const heap = random.oneIn(2) ? 1 << 22 : random.between(1000, 60_000)
  const mostExits = 400
  const base = new Runner(link(program), { sliceFuel, heap, mostExits, tier: null })
  const tier = { calls: random.below(3), turns: random.below(4) }
  const compiled = new Runner(link(program), { sliceFuel, heap, mostExits, tier })
  const every = random.oneIn(2) ? 0 : random.between(1, 6)
  // A truncated list keeps elements past its end until it is copied, which a snapshot does: heap units agree only if
  // snapshots of both runs are taken, or of none.
  const alike = every === 0 || random.oneIn(2)
  for (let exit = 0; ; exit++) {
    const found = difference(base.ending(), compiled.ending()) ?? (alike ? heapDifference(base, compiled) : null)
    if (found !== null) throw new Error(`base and compiled, at exit ${exit}: ${found}`)
    const broken = findCompilerFault(compiled.machine.program)
    if (broken !== null) throw broken
    const goesOn = base.advance()
    if (compiled.advance() !== goesOn) throw new Error(`only one tier goes on behind exit ${exit}`)
    if (!goesOn) return
    if (every > 0 && compiled.stopped && random.oneIn(every)) {
      compiled.throughSnapshot()
      if (alike) base.throughSnapshot()
    }
  }
}

function heapDifference(one: Runner, other: Runner): string | null {
  const [units, others] = [one.machine.heapCharged, other.machine.heapCharged]
  return units === others ? null : `charged ${units} heap units, then ${others}`
}

// ---- chunk

function changeChunk(random: Random): string {
  for (;;) {
    const { program } = compile(random.oneIn(6) ? generateProgram(random) : anyScript(random))
    if (program === null) continue
    const changed = structuredClone(program)
    // Debug information and strings are most of the data, but code matters most.
    const main = changed.modules[0]!
    const fn = random.pick(main.functions)
    mutateData(
      random,
      random.pick<() => object>([
        () => ({ code: fn.code }),
        () => ({ code: fn.code }),
        () => ({ handlers: fn.handlers, code: fn.code }),
        () => fn,
        () => main,
      ])(),
    )
    return writeChunk(changed)
  }
}

function writeChunk(program: CompiledProgram): string {
  return JSON.stringify(program, (_, value: unknown) => (typeof value === 'bigint' ? { bigint: String(value) } : value))
}

function readChunk(text: string): CompiledProgram {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('bigint' in value)) return value
    return typeof value.bigint === 'string' && /^-?\d+$/.test(value.bigint) ? BigInt(value.bigint) : value
  }) as CompiledProgram
}

function checkChunk(text: string): void {
  let program: LinkedProgram
  try {
    program = link(readChunk(text), 'foreign')
  } catch (error) {
    if (error instanceof LinkError) return
    throw error
  }
  runToEnd(new Runner(program))
}

// ---- snapshot

interface SnapshotInput {
  readonly source: string
  readonly sliceFuel: number
  /** Exits before the snapshot. */
  readonly exits: number
  /** Hexadecimal. */
  readonly snapshot: string
  /** Resealed after the mutation, as by an attacker. */
  readonly forged: boolean
}

function changeSnapshot(random: Random): string {
  for (;;) {
    const source = random.oneIn(6) ? generateProgram(random) : anyScript(random)
    const { program } = compile(source)
    if (program === null) continue
    const linked = link(program)
    const { fuel } = runToEnd(new Runner(linked))
    const sliceFuel = Math.max(1, Math.floor(fuel / random.between(2, 30)))
    const runner = new Runner(linked, { sliceFuel })
    for (let left = random.below(Math.floor(fuel / sliceFuel) + 1); left > 0 && runner.stopped; left--) runner.advance()
    if (!runner.stopped) continue
    const { exits } = runner
    const forged = random.oneIn(2)
    const snapshot = runner.machine.snapshot()
    const donor = random.oneIn(2) && runner.advance() && runner.stopped ? runner.machine.snapshot() : snapshot
    const changed = mutateRaw(random, snapshot, donor)
    // As by an attacker who can compute the seal.
    if (forged && changed.length > ENVELOPE_BYTES) seal(changed, 'machine', SNAPSHOT_VERSION)
    const input: SnapshotInput = { source, sliceFuel, exits, snapshot: Buffer.from(changed).toString('hex'), forged }
    return JSON.stringify(input)
  }
}

function checkSnapshot(text: string): void {
  const { source, sliceFuel, exits, snapshot, forged } = JSON.parse(text) as SnapshotInput
  const { program } = compile(source)
  if (program === null) return
  const linked = link(program)
  const changed = new Runner(linked, { sliceFuel })
  for (let at = 0; at < exits; at++) changed.advance()
  if (!changed.stopped) return
  try {
    changed.continueFrom(Uint8Array.from(Buffer.from(snapshot, 'hex')))
  } catch (error) {
    if (error instanceof SnapshotError) return
    throw error
  }
  // A forged state may do anything when it runs; reading it must not.
  if (forged) return
  const found = difference(runToEnd(new Runner(linked, { sliceFuel })), runToEnd(changed))
  if (found !== null) throw new Error(`a changed snapshot was taken for a good one: ${found}`)
}

// ---- planted

/** A parser that fails on two opening brackets in a row. */
function checkPlanted(text: string): void {
  if (text.includes('[[')) throw new Error('planted: two brackets')
}
