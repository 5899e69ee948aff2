// Properties of every script, checked over the whole conformance suite: its source survives printing, its code verifies,
// and its run depends only on the program: not on slices, not on snapshots, not on earlier runs. `bridle conformance` checks
// the output; here runs are compared with each other, with outcomes that depend only on the effect's number.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compileProgram, verify } from '@bridle/compiler'
import { isSameProgram, parse, print, SourceFile } from '@bridle/parser'
import { collectSignatures } from '@bridle/vm'
import type { CompiledProgram } from '@bridle/compiler/bytecode'
import type { Resolution } from '@bridle/compiler'
import { expect, test } from 'vitest'
import { allScripts, CONFORMANCE } from './corpus.js'
import { difference, link, registry, Runner, runToEnd } from './engine.js'

const signatures = collectSignatures(registry)
const STD = join(CONFORMANCE, '..', 'packages', 'stdlib-tools', 'src', 'std')

function resolve(path: string, from: string): Resolution {
  const file = path.startsWith('std/') ? join(STD, path.slice('std/'.length)) : join(dirname(from), path)
  const found = [file, `${file}.harn`].find((each) => each.endsWith('.harn') && existsSync(each))
  if (found === undefined) return { kind: 'error', message: `Import error: cannot read '${path}': not here` }
  return { kind: 'source', key: found, text: readFileSync(found, 'utf8') }
}

const programs: { readonly name: string; readonly program: CompiledProgram }[] = []
for (const { name, text } of allScripts()) {
  const { program } = compileProgram({ key: join(CONFORMANCE, name), text }, { signatures, resolve })
  if (program !== null) programs.push({ name, program })
}

/** Problems by script; a check returns null if there is none. */
function complaints<T extends { readonly name: string }>(scripts: readonly T[], check: (script: T) => string | null): string[] {
  return scripts.flatMap((script) => {
    const complaint = check(script)
    return complaint === null ? [] : [`${script.name}: ${complaint}`]
  })
}

test('the suite exists', () => {
  expect(programs.length).toBeGreaterThan(600)
})

test('parse ∘ print is the identity on trees, up to the order of imports and quotes of strings', () => {
  const found = complaints(allScripts(), ({ text }) => {
    const { program } = parse(new SourceFile('script.harn', text))
    if (program === null) return null
    const printed = print(program)
    const again = parse(new SourceFile('printed.harn', printed))
    if (again.program === null) return `the printed form is refused: ${again.diagnostics[0]?.message}`
    if (print(again.program) !== printed) return 'the printed form prints differently'
    return isSameProgram(program, again.program) ? null : 'the printed form is another program'
  })
  expect(found).toEqual([])
})

test('every compiled chunk verifies', () => {
  expect(complaints(programs, ({ program }) => program.modules.flatMap((module) => verify(module))[0] ?? null)).toEqual([])
})

/** Every script of the suite, several times: 30 s on a quiet machine. */
const WHOLE_SUITE = { timeout: 180_000 } as const

test('a run ends the same way twice', WHOLE_SUITE, () => {
  expect(
    complaints(programs, ({ program }) => difference(runToEnd(new Runner(link(program))), runToEnd(new Runner(link(program))))),
  ).toEqual([])
})

test('a run ends the same way with one unit of fuel per slice', WHOLE_SUITE, () => {
  const found = complaints(programs, ({ program }) => {
    const linked = link(program)
    return difference(runToEnd(new Runner(linked)), runToEnd(new Runner(linked, { sliceFuel: 1, mostExits: Infinity })))
  })
  expect(found).toEqual([])
})

test('a run ends the same way through a snapshot at every exit', WHOLE_SUITE, () => {
  const found = complaints(programs, ({ program }) => {
    const linked = link(program)
    const whole = runToEnd(new Runner(linked))
    // About thirty exits per script: at every unit for the short ones.
    const runner = new Runner(linked, { sliceFuel: Math.max(1, Math.floor(whole.fuel / 30)) })
    do {
      if (runner.stopped) runner.throughSnapshot()
    } while (runner.advance())
    return difference(whole, runner.ending())
  })
  expect(found).toEqual([])
})
