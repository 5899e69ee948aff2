// Other engines that run the same programs, each in a separate process in every round. Those with a command
// come from the system; the embedded ones are installed by `npm install` in bench/peers. Missing engines are skipped with a notice, and so is a
// program that an engine cannot run or gets wrong (fengari has 32-bit ints, monty has no classes).

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { figure, geometricMean, median, spread } from './stats.js'
import type { MixedTimes, Samples } from './samples.js'
import type { Timing } from './timing.js'

/** How an engine is run: the language of its programs, and the measuring command. */
interface Peer {
  readonly name: string
  readonly language: 'js' | 'lua' | 'py'
  /** The version, or null if the engine is not installed. */
  readonly version: (bench: string) => string | null
  readonly command: (bench: string, source: string, name: string) => readonly string[]
}

export interface PresentPeer {
  readonly name: string
  readonly version: string
  readonly peer: Peer
}

/** Embedding costs, for each engine that can be embedded. */
export interface Embedding {
  readonly hostCallNs: number
  readonly freshUs: number
}

function readVersion(command: string, args: readonly string[], pattern: RegExp): string | null {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return pattern.exec(`${stdout ?? ''}${stderr ?? ''}`)?.[1] ?? null
}

function makeEmbeddedPeer(name: string, library: string, language: Peer['language']): Peer {
  return {
    name,
    language,
    version: (bench) => {
      const manifest = join(bench, 'peers', 'node_modules', library, 'package.json')
      return existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version : null
    },
    command: (bench, source, program) => [process.execPath, join(bench, 'peers', 'measure.mjs'), name, source, program],
  }
}

const PEERS: readonly Peer[] = [
  {
    name: 'LuaJIT',
    language: 'lua',
    version: () => readVersion('luajit', ['-v'], /^LuaJIT (\S+)/),
    command: (bench, source) => ['luajit', join(bench, 'scripts', 'measure.lua'), source],
  },
  {
    name: 'CPython',
    language: 'py',
    version: () => readVersion('python3', ['--version'], /^Python (\S+)/),
    command: (bench, source) => ['python3', join(bench, 'peers', 'measure.py'), source],
  },
  makeEmbeddedPeer('quickjs-emscripten', 'quickjs-emscripten', 'js'),
  makeEmbeddedPeer('wasmoon', 'wasmoon', 'lua'),
  makeEmbeddedPeer('fengari', 'fengari', 'lua'),
  makeEmbeddedPeer('monty', '@pydantic/monty', 'py'),
  makeEmbeddedPeer('isolated-vm', 'isolated-vm', 'js'),
]

/** Installed engines, among `names` if given; `note` is called for the others. */
export function presentPeers(bench: string, note: (text: string) => void, names?: readonly string[]): PresentPeer[] {
  return PEERS.filter(({ name }) => names?.includes(name) ?? true).flatMap((peer) => {
    const version = peer.version(bench)
    if (version !== null && answers(bench, peer)) return [{ name: peer.name, version, peer }]
    const how = peer.command(bench, '', '')[0] === process.execPath ? ' (npm install in bench/peers installs it)' : ''
    note(`bench: ${peer.name} is not installed${how}; its column is left out`)
    return []
  })
}

/** An embedded engine may be installed without its native part. */
function answers(bench: string, peer: Peer): boolean {
  return peer.command(bench, '', '')[0] !== process.execPath || run(peer.command(bench, '', 'embedding')).status === 0
}

function run(command: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(command[0]!, command.slice(1), { encoding: 'utf8', timeout: 120_000 })
}

/**
 * Times of one program in one engine, null if it cannot run it. `bundle` is the source of all programs in JavaScript.
 */
export function measurePeer(
  bench: string,
  { name, peer }: PresentPeer,
  program: string,
  wanted: string,
  bundle: string,
  note: (text: string) => void,
): Timing | null {
  const source = peer.language === 'js' ? bundle : join(bench, 'scripts', `${program}.${peer.language}`)
  if (!existsSync(source)) return null
  const { status, stdout, stderr } = run(peer.command(bench, source, program))
  if (status !== 0) {
    note(`bench: ${name} cannot run ${program}: ${reason(stderr)}`)
    return null
  }
  const { result, cold, warm } = stdout.startsWith('{') ? (JSON.parse(stdout) as Answer) : parseAnswer(stdout)
  if (result !== wanted) {
    note(`bench: ${name} gives ${result} for ${program}, not ${wanted}`)
    return null
  }
  return { cold, warm }
}

interface Answer extends Timing {
  readonly result: string
}

function parseAnswer(stdout: string): Answer {
  const [result = '', cold = '', warm = ''] = stdout.split('\n')
  return { result, cold: Number(cold), warm: Number(warm) }
}

/** The error line in the output of any engine. */
function reason(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  return lines.find((line) => /Error|error/.test(line))?.trim() ?? 'it ends without a result'
}

/** Null for engines that are separate processes. */
export function measureEmbedding(bench: string, { peer }: PresentPeer): Embedding | null {
  const command = peer.command(bench, '', 'embedding')
  if (command[0] !== process.execPath) return null
  const { status, stdout } = run(command)
  return status === 0 ? (JSON.parse(stdout) as Embedding) : null
}

type Tier = 'engine' | 'base'

function ratios(own: readonly MixedTimes[], theirs: readonly (Timing | null)[] | undefined, tier: Tier): number[] {
  return own.flatMap((times, round) => {
    const other = theirs?.[round]
    return other === null || other === undefined ? [] : [times[tier] / other.warm]
  })
}

/** Geometric means of the median ratios, and of the upper quartiles, over the programs that an engine can run. */
export function meanRatio(samples: Samples, tier: Tier, peer: string): { median: number; high: number } | null {
  const each = Object.entries(samples.mixed).flatMap(([program, own]) => {
    const values = ratios(own, samples.peers[peer]?.[program], tier)
    return values.length === 0 ? [] : [spread(values)]
  })
  if (each.length === 0) return null
  return {
    median: geometricMean(each.map(({ median: middle }) => middle)),
    high: geometricMean(each.map(({ high }) => high)),
  }
}

export function peerTable(samples: Samples, present: readonly PresentPeer[]): string[] {
  const cell = (values: readonly number[]): string => (values.length === 0 ? '–' : figure(median(values)))
  const mean = (tier: Tier, name: string): string => {
    const ratio = meanRatio(samples, tier, name)
    return ratio === null ? '–' : figure(ratio.median)
  }
  return [
    'The time of the compiled tier, mixed, divided by that of each engine, warm in a process of its own; below 1 we are faster. The last',
    'line is the same for the base tier. Medians of at most three rounds. A dash: the engine cannot run the program, or gives another',
    'result.',
    '',
    `| program | ${present.map(({ name, version }) => `${name} ${version}`).join(' | ')} |`,
    `|---|${present.map(() => '---:|').join('')}`,
    ...Object.entries(samples.mixed).map(
      ([program, own]) =>
        `| ${program} | ${present.map(({ name }) => cell(ratios(own, samples.peers[name]?.[program], 'engine'))).join(' | ')} |`,
    ),
    `| **geometric mean** | ${present.map(({ name }) => mean('engine', name)).join(' | ')} |`,
    `| **geometric mean, base tier** | ${present.map(({ name }) => mean('base', name)).join(' | ')} |`,
  ]
}

/** `ours`: the same for this engine, if it was measured. */
export function embeddingTable(
  rounds: Readonly<Record<string, readonly (Embedding | null)[]>>,
  ours: readonly Embedding[],
): string[] {
  const rows = Object.entries({ bridle: ours, ...rounds }).flatMap(([name, samples]) => {
    const present = samples.filter((each) => each !== null)
    if (present.length === 0) return []
    const calls = median(present.map(({ hostCallNs }) => hostCallNs))
    const fresh = median(present.map(({ freshUs }) => freshUs))
    return [`| ${name} | ${figure(calls)} | ${figure(fresh)} |`]
  })
  return [
    'A turn of a loop that calls a function of the host, and a new machine that compiles and runs ten lines.',
    '',
    '| engine | host call, ns | new machine and ten lines, µs |',
    '|---|---:|---:|',
    ...rows,
  ]
}
