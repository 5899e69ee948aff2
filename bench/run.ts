// `npm run bench`: cost of the engine, as ratios to plain JavaScript in the same process, and to Lua and other engines, interleaved. Each
// round measures everything once, each measurement in a separate process; medians and quartiles over rounds are reported, because
// times on a shared machine drift by more than most changes. Results are checked before timing starts.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem, type as systemName } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { commandOptions, wholeNumber } from '../scripts/options.js'
import { pathToFileURL } from 'node:url'
import { root } from '../scripts/workspace.mjs'
import type { entries } from '../scripts/workspace.mjs'
import { BULK_REMARKS, bulkTable } from './bulk.js'
import { goalTable } from './goals.js'
import { growthTable } from './growth.js'
import { embeddingTable, measureEmbedding, measurePeer, peerTable, presentPeers } from './peers.js'
import { choosePauses } from './pauses.js'
import { REGEX_REMARKS, REGEX_SIZES } from './regexes.js'
import { noSamples } from './samples.js'
import { publicSamples, readHalves, readSection, runCorpus, writeSection } from './corpus/run.js'
import { figure, geometricMean, median, spread } from './stats.js'
import { WORKLOADS } from './workloads.js'
import type { Bulk } from './bulk.js'
import type { Growth } from './growth.js'
import type { Embedding, PresentPeer } from './peers.js'
import type { MixedTimes, Samples } from './samples.js'
import type { ShapeTimes } from './shapes/measure.js'
import type { Figures } from './system.js'
import type { Timing } from './timing.js'

const USAGE = `usage: npm run bench -- [--filter NAME] [--rounds N] [--quick] [--programs [--peers]] [--compare REV] [--json]
       npm run bench -- --corpus visible|sealed|all [--filter NAME] [--rounds N] [--quick] [--json]

  --filter NAME  programs and tables whose names contain NAME
  --rounds N     7, or 2 with --quick (3 and 1 with --corpus); a full run of 3 takes about 25 minutes
  --quick        2 rounds, without the other engines
  --programs     programs alone; with --peers the other engines on them too
  --compare REV  builds revision REV in a folder of its own and measures its programs in turn with these
  --corpus HALF  the programs of corpus/ that nobody tunes for; with --quick without growth. A full run with
                 "all" writes their section of bench/results.md; sealed programs are reported as totals
  --json         the figures as JSON

A run without --filter, --quick and --programs writes bench/results.md.
`
const options = commandOptions(USAGE, {
  filter: { type: 'string', default: '' },
  rounds: { type: 'string' },
  quick: { type: 'boolean', default: false },
  programs: { type: 'boolean', default: false },
  peers: { type: 'boolean', default: false },
  compare: { type: 'string' },
  corpus: { type: 'string' },
  json: { type: 'boolean', default: false },
})
const usualRounds = options.corpus === undefined ? { quick: 2, full: 7 } : { quick: 1, full: 3 }
const rounds =
  options.rounds === undefined ? usualRounds[options.quick ? 'quick' : 'full'] : wholeNumber(USAGE, 'rounds', options.rounds, 1)
/** Number of rounds for other engines, and the time limit above which a program is measured only once. */
const PEER_ROUNDS = 3
const SLOW_MS = 500
/** Tables that take a minute, and in how many rounds they (and `bulk`, `regular expressions`) are measured. */
const LONG_TABLES: ReadonlySet<string> = new Set(['longest pause'])
const LONG_ROUNDS = 2
const folder = join(root, 'bench')
const results = join(folder, 'results.md')
// The location of the only library that cannot be bundled.
const locateBuild = (checkout: string): string => join(checkout, 'packages', 'stdlib-tools', '.cache', 'bench')
/** Also by a word in another number: `tools` are `tool calls`. */
const isWanted = (name: string): boolean => [options.filter, options.filter.replace(/s$/, '')].some((text) => name.includes(text))
const chosen = WORKLOADS.filter(({ name }) => isWanted(name))
const TABLES = [
  'host calls',
  'waiting scripts',
  'exceptions',
  'fresh machine',
  'compile',
  'process start',
  'checking',
  'snapshot',
  'idle machines',
  'longest pause',
  'tool calls',
  'value representations',
  'fields of objects',
  'bulk',
  'regular expressions',
  'growth',
  'shapes',
]
/** Tables with their own layout are printed separately. */
const OWN_PLACE: ReadonlySet<string> = new Set(['bulk', 'regular expressions', 'growth', 'shapes'])
const tables = TABLES.filter((name) => !options.programs && isWanted(name))
const SYSTEM = tables.filter((name) => !OWN_PLACE.has(name))
const hasBulk = tables.includes('bulk')
const hasRegexes = tables.includes('regular expressions')
const hasGrowth = tables.includes('growth')
const hasShapes = tables.includes('shapes')
if (options.corpus === undefined && chosen.length + tables.length === 0) {
  const names = [...WORKLOADS.map(({ name }) => name), ...TABLES].join(', ')
  process.stderr.write(`bench: nothing is called "${options.filter}"; there are ${names}\n`)
  process.exit(2)
}

const isFull = options.filter === '' && !options.quick && !options.programs
const hasPeers = options.peers || isFull

/** One file, because code loaded as hundreds of modules starts several times slower. */
async function bundle(
  checkout: string,
  entry = join(checkout, 'bench', 'child.ts'),
  outfile = join(locateBuild(checkout), 'child.mjs'),
): Promise<string> {
  mkdirSync(locateBuild(checkout), { recursive: true })
  // Another revision defines where its packages are.
  const workspace = (await import(pathToFileURL(join(checkout, 'scripts', 'workspace.mjs')).href)) as {
    readonly entries: typeof entries
  }
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    external: ['blake3-wasm'],
    logLevel: 'warning',
    alias: Object.fromEntries(workspace.entries().map((entry) => [entry.name, join(checkout, entry.source)])),
    nodePaths: ['vm', 'stdlib-tools'].map((name) => join(checkout, 'packages', name, 'node_modules')),
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  })
  return outfile
}

/** The plain JavaScript twins as one script. */
async function bundleJavaScript(): Promise<string> {
  const outfile = join(locateBuild(root), 'programs.js')
  await build({
    entryPoints: [join(folder, 'js-programs.ts')],
    outfile,
    bundle: true,
    format: 'iife',
    platform: 'neutral',
    logLevel: 'warning',
  })
  return outfile
}

/** A checkout of another revision, installed and built; in the system's folder for temporary files. */
function checkOut(revision: string): string {
  const checkout = mkdtempSync(join(tmpdir(), 'bridle-bench-'))
  const command = (program: string, args: readonly string[], cwd: string): void => {
    const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' })
    if (status !== 0) throw new Error(`bench: ${program} ${args.join(' ')} failed:\n${stderr}`)
  }
  note(`bench: building ${revision}`)
  command('git', ['worktree', 'add', '--detach', checkout, revision], root)
  command(process.execPath, [join('scripts', 'setup.mjs')], checkout)
  return checkout
}

function removeCheckout(checkout: string): void {
  spawnSync('git', ['worktree', 'remove', '--force', checkout], { cwd: root })
}

function measure(child: string, task: string, names: readonly string[] = [], bench = folder): unknown {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', child, bench, task, ...names], {
    encoding: 'utf8',
    maxBuffer: 1 << 24,
  })
  if (status !== 0) throw new Error(`bench: ${task} ${names.join(' ')} failed:\n${stderr}`)
  return JSON.parse(stdout)
}

function measureLua(name: string, wanted: string): Timing {
  const { status, stdout, stderr } = spawnSync(
    'lua5.4',
    [join(folder, 'scripts', 'measure.lua'), join(folder, 'scripts', `${name}.lua`)],
    {
      encoding: 'utf8',
    },
  )
  const [result = '', cold = '', warm = ''] = stdout.split('\n')
  if (status !== 0 || result !== wanted) throw new Error(`bench: ${name}.lua gave ${result}, want ${wanted}\n${stderr}`)
  return { cold: Number(cold), warm: Number(warm) }
}

function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

function luaVersion(): string | null {
  const { status, stdout } = spawnSync('lua5.4', ['-v'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim().split('  ')[0]! : null
}

/** `--corpus`: its tables only. */
async function mainOfCorpus(corpus: string): Promise<void> {
  const halves = readHalves(corpus)
  if (halves === null) {
    process.stderr.write(`bench: --corpus takes "visible", "sealed" or "all", not "${corpus}"\n`)
    process.exit(2)
  }
  const { samples, lines } = await runCorpus({
    bench: folder,
    halves,
    rounds,
    filter: options.filter,
    hasGrowth: !options.quick,
    bundle: (entry, outfile) => bundle(root, entry, outfile),
    built: locateBuild(root),
    note,
    machine: machineLines(luaVersion()),
  })
  if (options.json) {
    process.stdout.write(
      `${JSON.stringify({ machine: machineLines(luaVersion()), rounds, ...publicSamples(samples) }, null, 2)}\n`,
    )
    return
  }
  process.stdout.write(`${lines.join('\n')}\n`)
  if (corpus === 'all' && options.filter === '') writeSection(results, lines)
}

async function main(): Promise<void> {
  const child = await bundle(root)
  const lua = luaVersion()
  if (lua === null) note('bench: lua5.4 is not installed; its column is left out')
  const peers = hasPeers ? presentPeers(folder, note) : []
  const programs = await bundleJavaScript()
  const checkout = options.compare === undefined ? null : checkOut(options.compare)
  const samples = noSamples()
  try {
    const otherChild = checkout === null ? null : await bundle(checkout)
    const names = chosen.map((workload) => workload.name)
    const wanted = measure(child, 'check', names) as Record<string, string>
    note(`bench: results are right; ${rounds} rounds`)
    const said = new Set<string>()
    const noteOnce = (text: string): void => {
      if (!said.has(text)) note(text)
      said.add(text)
    }
    for (let round = 1; round <= rounds; round++) {
      for (const name of names) {
        const timing = measure(child, 'script', [name]) as { engine: Timing; js: Timing }
        const base = (measure(child, 'base script', [name]) as { engine: Timing }).engine
        const hasLua = lua !== null && existsSync(join(folder, 'scripts', `${name}.lua`))
        ;(samples.scripts[name] ??= []).push({ ...timing, base, lua: hasLua ? measureLua(name, wanted[name]!) : null })
        for (const peer of peers) {
          const times = ((samples.peers[peer.name] ??= {})[name] ??= [])
          const isDone = round > PEER_ROUNDS || times.includes(null) || (times[0]?.warm ?? 0) > SLOW_MS
          times.push(isDone ? null : measurePeer(folder, peer, name, wanted[name]!, programs, noteOnce))
        }
      }
      if (names.length > 0) {
        addTimes(samples.mixed, measure(child, 'mixed', names))
        if (otherChild !== null) addTimes(samples.other, measure(otherChild, 'mixed', names, join(checkout!, 'bench')))
      }
      if (names.length === WORKLOADS.length)
        for (const peer of peers) (samples.embedding[peer.name] ??= []).push(measureEmbedding(folder, peer))
      for (const name of SYSTEM) {
        if (LONG_TABLES.has(name) && round > LONG_ROUNDS) continue
        ;(samples.system[name] ??= []).push(measure(child, name) as Figures)
      }
      if (hasBulk && round <= LONG_ROUNDS) {
        note('bench: builtins over many elements take some minutes')
        samples.bulk.push(measure(child, 'bulk') as Bulk[])
      }
      if (hasRegexes && round <= LONG_ROUNDS) samples.regexes.push(measure(child, 'regular expressions') as Bulk[])
      if (hasGrowth) samples.growth.push(measure(child, 'growth') as Growth[])
      if (hasShapes) {
        for (const [name, times] of Object.entries(measure(child, 'shapes') as Record<string, ShapeTimes>))
          (samples.shapes[name] ??= []).push(times)
      }
      note(`bench: round ${round} of ${rounds} is done`)
    }
  } finally {
    rmSync(locateBuild(root), { recursive: true, force: true })
    if (checkout !== null) removeCheckout(checkout)
  }
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ machine: machineLines(lua), rounds, samples }, null, 2)}\n`)
    return
  }
  const report = renderReport(samples, lua, peers)
  process.stdout.write(report)
  if (!isFull) return
  // The corpus is measured by a separate command; its section stays.
  const corpus = existsSync(results) ? readSection(readFileSync(results, 'utf8')) : null
  writeFileSync(results, report)
  if (corpus !== null) writeSection(results, corpus)
}

/** A revision from before November 23rd 2026 measured only the compiled tier. */
function addTimes(times: Record<string, MixedTimes[]>, measured: unknown): void {
  for (const [name, each] of Object.entries(measured as Record<string, MixedTimes | number>))
    (times[name] ??= []).push(typeof each === 'number' ? { engine: each, base: Number.NaN, js: Number.NaN } : each)
}

function machineLines(lua: string | null): string[] {
  const processors = cpus()
  return [
    `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${systemName()}`,
    `Node ${process.versions.node}, V8 ${process.versions.v8}${lua === null ? '' : `, ${lua}`}`,
  ]
}

function renderReport(samples: Samples, lua: string | null, peers: readonly PresentPeer[]): string {
  const lines = [
    '# Benchmarks',
    '',
    `Written by \`npm run bench\`: ${rounds} rounds, medians with quartiles in brackets. Ratios are taken inside a round; below 1 is faster.`,
    '',
    ...machineLines(lua).map((line) => `- ${line}`),
    '',
  ]
  const goals = goalTable(samples)
  if (goals.length > 0) lines.push('## Goals', '', ...goals, '')
  if (chosen.length > 0) lines.push('## Programs', '', ...programTable(samples), '')
  if (Object.keys(samples.other).length > 0) lines.push(`## Against ${options.compare}`, '', ...comparisonTable(samples), '')
  if (chosen.length > 0 && peers.length > 0) {
    lines.push('## Other engines', '', ...peerTable(samples, peers), '')
  }
  if (Object.keys(samples.embedding).length > 0)
    lines.push('## Embedding other engines', '', ...embeddingTable(samples.embedding, ownEmbedding(samples)), '')
  for (const [name, figures] of Object.entries(samples.system)) {
    const labels = name === 'longest pause' ? choosePauses(figures) : undefined
    lines.push(`## ${name[0]!.toUpperCase()}${name.slice(1)}`, '', ...figureTable(figures, labels), '')
  }
  if (hasBulk) lines.push('## Builtins over many elements', '', BULK_REMARKS, '', ...bulkTable(medianBulk(samples.bulk)), '')
  if (hasRegexes)
    lines.push(
      '## Regular expressions',
      '',
      REGEX_REMARKS,
      '',
      ...bulkTable(medianBulk(samples.regexes), REGEX_SIZES, 'a character'),
      '',
    )
  if (hasGrowth) lines.push('## Growth', '', ...growthTable(medianGrowth(samples.growth)), '')
  if (hasShapes) lines.push('## Linked instructions and a plain stack switch', '', ...shapeTable(samples.shapes), '')
  return `${lines.join('\n').trimEnd()}\n`
}

function withQuartiles(ratios: readonly number[]): string {
  const { low, median: middle, high } = spread(ratios)
  return `${figure(middle)} (${figure(low)}–${figure(high)})`
}

function programTable(samples: Samples): string[] {
  const lines = [
    'Mixed: after all other programs ran twice in the process, both tiers and JavaScript in turn; goals are on mixed. Clean: a process',
    'of its own, warm. Cold: the first run of a process. Compiled is the default: a run starts in the base tier, which runs alone where',
    '`new Function` is forbidden.',
    '',
    '| program | compiled, mixed, ms | × JavaScript | × Lua 5.4 | × base tier, mixed | cold × base tier | base tier, mixed, ms | × JavaScript | × Lua 5.4 | compiled, mixed ÷ clean |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
  ]
  const means: number[][] = [[], [], [], [], [], []]
  for (const { name } of chosen) {
    const rows = samples.scripts[name]!
    const mixed = samples.mixed[name] ?? []
    const toJs = mixed.map(({ engine, js }) => engine / js)
    const baseToJs = mixed.map(({ base, js }) => base / js)
    const toLua = rows.flatMap(({ lua }, round) => (lua === null ? [] : [mixed[round]!.engine / lua.warm]))
    const baseToLua = rows.flatMap(({ lua }, round) => (lua === null ? [] : [mixed[round]!.base / lua.warm]))
    const toBase = mixed.map(({ engine, base }) => engine / base)
    const cold = rows.map(({ engine, base }) => engine.cold / base.cold)
    for (const [at, ratios] of [toJs, toLua, toBase, cold, baseToJs, baseToLua].entries())
      if (ratios.length > 0) means[at]!.push(median(ratios))
    const format = (ratios: readonly number[]): string => (ratios.length === 0 ? '–' : withQuartiles(ratios))
    lines.push(
      `| ${name} | ${figure(median(mixed.map(({ engine }) => engine)))} | ${format(toJs)} | ${format(toLua)} | ${format(toBase)} | ${format(cold)} | ` +
        `${figure(median(mixed.map(({ base: alone }) => alone)))} | ${format(baseToJs)} | ${format(baseToLua)} | ` +
        `${format(mixed.map(({ engine }, round) => engine / rows[round]!.engine.warm))} |`,
    )
  }
  const [js, lua, base, cold, baseJs, baseLua] = means.map((ratios) =>
    ratios.length === 0 ? '–' : figure(geometricMean(ratios)),
  )
  lines.push(`| **geometric mean** | | ${js} | ${lua} | ${base} | ${cold} | | ${baseJs} | ${baseLua} | |`)
  return lines
}

/** Ratio of these sources' time to that of the other revision, mixed; below 1 they are faster. */
function comparisonTable(samples: Samples): string[] {
  const rows = Object.entries(samples.other).flatMap(([name, theirs]) => {
    const ours = samples.mixed[name]
    return ours === undefined ? [] : [{ name, ratios: ours.map(({ engine }, round) => engine / theirs[round]!.engine) }]
  })
  return [
    `| program | × ${options.compare} |`,
    '|---|---:|',
    ...rows.map(({ name, ratios }) => `| ${name} | ${withQuartiles(ratios)} |`),
    `| **geometric mean** | ${figure(geometricMean(rows.map(({ ratios }) => median(ratios))))} |`,
  ]
}

function figureTable(rows: readonly Figures[], labels: readonly string[] = Object.keys(rows[0]!)): string[] {
  return [
    '| what | median (quartiles) |',
    '|---|---:|',
    ...labels.map((label) => `| ${label} | ${withQuartiles(rows.map((row) => row[label]!))} |`),
  ]
}

function ownEmbedding({ system }: Samples): Embedding[] {
  const fresh = system['fresh machine'] ?? []
  return (system['host calls'] ?? []).flatMap((calls, round) => {
    const freshUs = fresh[round]?.['compile and run, µs']
    if (freshUs === undefined) return []
    return [{ hostCallNs: calls['one turn of the empty loop, ns']! + calls['pure host function, ns']!, freshUs }]
  })
}

function medianBulk(rounds: readonly Bulk[][]): Bulk[] {
  return rounds[0]!.map(({ name, ratios }, at) => ({
    name,
    ratios: ratios.map((ratio, size) => (ratio === null ? null : median(rounds.map((rows) => rows[at]!.ratios[size]!)))),
    perElement: median(rounds.map((rows) => rows[at]!.perElement)),
  }))
}

function medianGrowth(rounds: readonly Growth[][]): Growth[] {
  return rounds[0]!.map(({ form, perElement, jsPerElement }, at) => ({
    form,
    perElement: perElement.map((_, size) => median(rounds.map((round) => round[at]!.perElement[size]!))),
    jsPerElement: jsPerElement.map((_, size) => median(rounds.map((round) => round[at]!.jsPerElement[size]!))),
  }))
}

function shapeTable(shapes: Samples['shapes']): string[] {
  const lines = [
    '| program | plain switch, ms | linked, ms | plain ÷ linked, warm | plain ÷ linked, cold |',
    '|---|---:|---:|---:|---:|',
  ]
  for (const [name, rows] of Object.entries(shapes)) {
    lines.push(
      `| ${name} | ${figure(median(rows.map(({ plain }) => plain.warm)))} | ${figure(median(rows.map(({ linked }) => linked.warm)))} | ` +
        `${withQuartiles(rows.map(({ plain, linked }) => plain.warm / linked.warm))} | ${withQuartiles(rows.map(({ plain, linked }) => plain.cold / linked.cold))} |`,
    )
  }
  return lines
}

await (options.corpus === undefined ? main() : mainOfCorpus(options.corpus))
