// `npm run bench -- --corpus visible|sealed|all`: programs that the engine was not tuned with, against the same programs in other
// languages. In each round every program runs once in every engine, each run in a separate process. Ratios are computed within a round, and
// medians over rounds are reported. A measurement counts only if all languages print the same line.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { presentPeers } from '../peers.js'
import type { Timing } from '../timing.js'
import type { Grown } from './measure.js'
import { HALVES, listPrograms } from './programs.js'
import type { CorpusProgram, Half } from './programs.js'
import { growthCounts, growthTable, makeTotals, programTable, totalsTable } from './tables.js'
import type { CorpusSamples, Growing, Times } from './tables.js'

export const CORPUS_HEADING = '## Programs that nobody tuned for'

interface CorpusOptions {
  readonly bench: string
  readonly halves: readonly Half[]
  readonly rounds: number
  readonly filter: string
  readonly hasGrowth: boolean
  readonly bundle: (entry: string, outfile: string) => Promise<unknown>
  readonly built: string
  readonly note: (text: string) => void
  readonly machine: readonly string[]
}

interface Answer extends Timing {
  readonly output: string
}

interface CorpusPeer {
  readonly name: string
  /** Null if there is no version of the program in the language of the engine. */
  readonly command: (program: CorpusProgram, bundled: string) => readonly string[] | null
}

export interface CorpusReport {
  readonly samples: CorpusSamples
  readonly lines: readonly string[]
}

/** Null for an unknown word. */
export function readHalves(text: string): readonly Half[] | null {
  const halves = HALVES.filter((half) => text === half || text === 'all')
  return halves.length === 0 ? null : halves
}

export async function runCorpus(options: CorpusOptions): Promise<CorpusReport> {
  const { bench, halves, rounds, filter, note, built } = options
  const programs = halves.flatMap((half) => listPrograms(half, join(bench, 'corpus'))).filter(({ name }) => name.includes(filter))
  if (programs.length === 0) throw new Error(`bench: no program of the corpus is called "${filter}"`)
  const samples: CorpusSamples = { times: { visible: {}, sealed: {} }, growth: { visible: {}, sealed: {} } }
  mkdirSync(built, { recursive: true })
  try {
    const child = join(built, 'corpus.mjs')
    await options.bundle(join(bench, 'corpus', 'measure.ts'), child)
    const peers = findPeers(bench, note)
    const bundles = new Map<string, string>()
    if (peers.some(({ name }) => name === 'QuickJS'))
      for (const program of programs) bundles.set(program.folder, await bundleTwin(program, built))
    for (let round = 1; round <= rounds; round++) {
      for (const program of programs) {
        const times = measureProgram(options, child, program, peers, bundles.get(program.folder) ?? '')
        ;(samples.times[program.half][program.name] ??= []).push(times)
      }
      note(`bench: round ${round} of ${rounds} over ${programs.length} programs of the corpus is done`)
    }
    if (options.hasGrowth) {
      for (const program of programs) samples.growth[program.half][program.name] = measureGrowing(options, child, program)
      note('bench: the corpus was run at N, 2N and 4N')
    }
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
  return { samples, lines: renderCorpus(samples, options) }
}

function findPeers(bench: string, note: (text: string) => void): CorpusPeer[] {
  const lua = (program: CorpusProgram): string | null => textIn(program, 'main.lua')
  const measureLua = join(bench, 'scripts', 'measure.lua')
  const lua54: CorpusPeer = {
    name: 'Lua 5.4',
    command: (program) => (lua(program) === null ? null : ['lua5.4', measureLua, lua(program)!, String(program.size)]),
  }
  const hasLua = spawnSync('lua5.4', ['-v']).status === 0
  if (!hasLua) note('bench: lua5.4 is not installed; its column is left out')
  const others = presentPeers(bench, note, ['LuaJIT', 'CPython', 'quickjs-emscripten']).flatMap(
    ({ name, peer }): CorpusPeer[] => {
      if (name === 'quickjs-emscripten')
        return [{ name: 'QuickJS', command: (program, bundled) => peer.command(bench, bundled, String(program.size)) }]
      const file = name === 'LuaJIT' ? 'main.lua' : 'main.py'
      return [
        {
          name,
          command: (program) => {
            const text = textIn(program, file)
            return text === null ? null : [...peer.command(bench, text, ''), String(program.size)]
          },
        },
      ]
    },
  )
  return hasLua ? [lua54, ...others] : others
}

function textIn(program: CorpusProgram, file: string): string | null {
  const path = join(program.folder, file)
  return existsSync(path) ? path : null
}

/** The JavaScript twin as one script that defines `run`, for an engine without modules. */
async function bundleTwin(program: CorpusProgram, built: string): Promise<string> {
  const outfile = join(built, `${program.half}-${program.name}.js`)
  await build({
    stdin: {
      contents: `import { run } from './main.mjs'; globalThis.run = (n) => run(Number(n))`,
      resolveDir: program.folder,
      loader: 'js',
    },
    outfile,
    bundle: true,
    format: 'iife',
    platform: 'neutral',
    logLevel: 'warning',
  })
  return outfile
}

function runProcess(words: readonly string[]): {
  readonly stdout: string
  readonly stderr: string
  readonly status: number | null
} {
  return spawnSync(words[0]!, words.slice(1), { encoding: 'utf8', maxBuffer: 1 << 24, timeout: 600_000 })
}

function measureProgram(
  { bench, note }: CorpusOptions,
  child: string,
  program: CorpusProgram,
  peers: readonly CorpusPeer[],
  bundled: string,
): Times {
  const { folder, size, half, name } = program
  const measureOwn = (task: string): Answer => ask([process.execPath, child, task, folder, String(size)]) as Answer
  const js = ask([process.execPath, join(bench, 'corpus', 'javascript.mjs'), folder, String(size)]) as Answer
  const compiled = measureOwn('default')
  const base = measureOwn('base')
  for (const [tier, { output }] of Object.entries({ default: compiled, base }))
    if (output !== js.output) throw new Error(`bench: ${half}/${name} gives ${output} in ${tier}, JavaScript gives ${js.output}`)
  const times: Record<string, Timing> = {}
  for (const peer of peers) {
    const command = peer.command(program, bundled)
    if (command === null) continue
    const answer = askPeer(command)
    if (answer.output === js.output) times[peer.name] = { cold: answer.cold, warm: answer.warm }
    else note(`bench: ${peer.name} gives ${answer.output} for ${half}/${name}, not ${js.output}; it is left out`)
  }
  return { compiled: timing(compiled), base: timing(base), js: timing(js), peers: times }
}

const timing = ({ cold, warm }: Timing): Timing => ({ cold, warm })

function ask(words: readonly string[]): unknown {
  const { stdout, stderr, status } = runProcess(words)
  if (status !== 0) throw new Error(`bench: ${words.slice(1).join(' ')} failed:\n${stderr}`)
  return JSON.parse(stdout)
}

function askPeer(words: readonly string[]): Answer {
  const { stdout, stderr, status } = runProcess(words)
  if (status !== 0) return { output: `an error (${stderr.trim().split('\n').at(-1)})`, cold: Number.NaN, warm: Number.NaN }
  if (stdout.startsWith('{')) {
    const { result, cold, warm } = JSON.parse(stdout) as Timing & { result: string }
    return { output: result, cold, warm }
  }
  const [output = '', cold = '', warm = ''] = stdout.split('\n')
  return { output, cold: Number(cold), warm: Number(warm) }
}

function measureGrowing({ bench }: CorpusOptions, child: string, { folder, size }: CorpusProgram): Growing {
  const own = ask([process.execPath, child, 'growth', folder, String(size)]) as Grown[]
  const js = ask([process.execPath, join(bench, 'corpus', 'javascript.mjs'), folder, String(size), 'growth']) as Grown[]
  return { own, js }
}

export function renderCorpus({ times, growth }: CorpusSamples, { rounds, machine }: CorpusOptions): string[] {
  const lines = [
    CORPUS_HEADING,
    '',
    `Written by \`npm run bench -- --corpus all\`: medians of ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ratios taken inside a round; below 1 is faster. ${machine.join('; ')}.`,
    '',
    'Programs of 50 to 300 lines from [the corpus](corpus/README.md), each run in a process of its own. Default: code is compiled as it',
    'gets hot; base: the base tier alone. Cold is the first run of a process, with reading and compiling the program, without the start of',
    'the process. Who works on the engine may profile the visible half; of the sealed half nobody sees more than these totals.',
    '',
  ]
  const halves = HALVES.toReversed().filter((half) => Object.keys(times[half]).length > 0)
  for (const half of halves)
    lines.push(`### ${half === 'sealed' ? 'Sealed' : 'Visible'} half`, '', ...totalsTable(makeTotals(times[half])), '')
  if (halves.includes('visible')) lines.push('### Programs of the visible half', '', ...programTable(times.visible), '')
  const growing = halves.filter((half) => Object.keys(growth[half]).length > 0)
  if (growing.length > 0) {
    lines.push(
      '### Growth with N',
      '',
      'The best of three runs, and the heap units that a run is charged. A program is counted when time or charge rise from N to 4N by more than',
      '1.5 times what the time of its JavaScript twin does (or 1.5 × 4, where that is more).',
      '',
    )
    for (const half of growing) {
      const { programs, faster } = growthCounts(growth[half])
      lines.push(`- ${half}: ${faster} of ${programs} programs grow faster than their twins in JavaScript`)
    }
    if (growing.includes('visible')) lines.push('', ...growthTable(growth.visible))
    lines.push('')
  }
  return lines
}

/** The samples without data that would identify a sealed program. */
export function publicSamples({ times, growth }: CorpusSamples): Readonly<Record<Half, unknown>> {
  return {
    visible: { totals: makeTotals(times.visible), programs: times.visible, growth: growth.visible },
    sealed: { totals: makeTotals(times.sealed), growth: growthCounts(growth.sealed) },
  }
}

/** `text` with `section` replacing the one of the same heading, or appended. */
export function replaceSection(text: string, section: readonly string[]): string {
  const wanted = `${section.join('\n').trimEnd()}\n`
  const start = text.indexOf(`${section[0]}\n`)
  if (start < 0) return `${text.trimEnd()}\n\n${wanted}`
  const next = text.indexOf('\n## ', start)
  return text.slice(0, start) + wanted + (next < 0 ? '' : text.slice(next))
}

/** The section as it is in a text, null without it. */
export function readSection(text: string): readonly string[] | null {
  const start = text.indexOf(`${CORPUS_HEADING}\n`)
  if (start < 0) return null
  const next = text.indexOf('\n## ', start)
  return text
    .slice(start, next < 0 ? undefined : next)
    .trimEnd()
    .split('\n')
}

export function writeSection(file: string, section: readonly string[]): void {
  writeFileSync(file, replaceSection(readFileSync(file, 'utf8'), section))
}
