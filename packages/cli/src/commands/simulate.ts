// `bridle simulate FILE`: does a script survive crashes and full disks? Runs it in a simulated world, once per seed, fault and entry of
// its journal, and shows failures with the command that reproduces them.

import { encodeEntry } from '@bridle/stdlib-tools'
import type { JudgedRun, SimulatedFault, SimulationFailure } from '@bridle/stdlib-tools'
import type { AuthorityFlags } from '../authority.js'
import { EXIT_FAILURE, UsageError } from '../errors.js'
import { readSizes } from '../further-limits.js'
import type { SizeFlags } from '../further-limits.js'
import { makeCommandRuntime } from '../host.js'
import { compileScript, readScript } from '../load.js'
import { writeWhole } from '../perform.js'
import { makeHostOptions, simulateJob } from '../simulation/job.js'
import type { SimulationJob } from '../simulation/job.js'
import { simulateInWorkers } from '../simulation/pool.js'
import { Progress } from '../simulation/progress.js'
import { Stop } from '../stop.js'
import { readFixtures, readInput } from './run-options.js'
import { complain, tell, tellJson } from '../printable.js'

export interface SimulateFlags extends AuthorityFlags, SizeFlags {
  readonly seeds?: number
  readonly seed?: readonly string[]
  readonly faults: string
  readonly points?: string
  readonly pointsPerSeed?: number
  readonly unknown: 'fail' | 'retry'
  readonly anyEnd?: boolean
  readonly eval?: string
  readonly input?: string
  readonly llmMock?: string
  readonly timeout?: number
  readonly jobs?: number
  readonly record?: string
  readonly json?: boolean
}

export interface SimulateCommandOptions extends SimulateFlags {
  /** Arguments of the command line: its own, and those of the script. */
  readonly words: { readonly own: readonly string[]; readonly script: readonly string[] }
}

const DEFAULT_SEEDS = 16

/** Throws UsageError and CommandError. */
export async function simulateCommand(file: string | undefined, options: SimulateCommandOptions): Promise<number> {
  const seeds = readSeeds(options)
  if ((options.root?.length ?? 0) > 1) throw new UsageError('a simulated run has one --root at most')
  const job: SimulationJob = {
    script: await readScript(file, options.eval),
    args: options.words.script,
    input: options.input === undefined ? null : readInput(options.input),
    authority: pickAuthority(options),
    ...readSizes(options),
    modelFixtures: options.llmMock === undefined ? null : readFixtures(options.llmMock),
    faults: parseFaults(options.faults),
    points: options.points === undefined ? null : options.points.split(',').map((text) => parseNumber('--points', text, 1)),
    pointsPerSeed: options.pointsPerSeed ?? null,
    unknown: options.unknown,
    sameEnd: options.anyEnd !== true,
  }
  // Compile errors are reported once, as `run` reports them.
  if (compileScript(makeCommandRuntime({ ...makeHostOptions(job), args: job.args }), job.script, options) === null)
    return EXIT_FAILURE
  const stop = new Stop(options.timeout ?? null)
  const progress = new Progress(seeds.length)
  const failures: SimulationFailure[] = []
  const shown = new Shown()
  const reproduce = (failure: SimulationFailure): string => formatCommand(failure, options.words)
  let runs = 0
  const note = (found: readonly SimulationFailure[]): void => {
    runs++
    failures.push(...found)
    const text = options.json === true ? '' : found.map((failure) => shown.show(failure, reproduce(failure))).join('')
    if (text !== '') progress.clear()
    tell(text)
    progress.show(runs, failures.length)
  }
  const { signal } = stop
  const jobs = Math.min(options.jobs ?? 1, seeds.length)
  try {
    if (jobs > 1) await simulateInWorkers(job, seeds, { jobs, signal, onRun: note })
    else await simulateJob(job, seeds, { signal, onRun: (judged) => note(judged.failures) })
    progress.clear()
    // Threads report their seeds in any order.
    failures.sort((a, b) => a.seed - b.seed)
    const [first] = failures
    if (options.record !== undefined && first !== undefined && !stop.isCancelled) await record(options.record, job, first, signal)
  } finally {
    progress.clear()
    stop.end()
  }
  const code = stop.isCancelled ? stop.code : failures.length === 0 ? 0 : EXIT_FAILURE
  if (options.json === true) {
    const document = {
      status: stop.isCancelled ? 'interrupted' : failures.length === 0 ? 'passed' : 'failed',
      exit_code: code,
      seeds: seeds.length,
      runs,
      failures: failures.map((failure) => ({
        seed: failure.seed,
        oracle: failure.oracle,
        fault: failure.fault?.kind ?? null,
        at: failure.fault?.at ?? null,
        entry: failure.entry,
        message: failure.message,
        command: reproduce(failure),
      })),
    }
    tellJson(document)
    return code
  }
  tell(shown.formatSummary(failures.length, `${formatCount(runs, 'run')} of ${formatCount(seeds.length, 'seed')}`))
  if (failures.some(({ message }) => message.includes(UNKNOWN))) tell(UNKNOWN_HINT)
  if (stop.isCancelled) complain(stop.complaint)
  return code
}

/** The message of the error `unknown_outcome`. */
const UNKNOWN = 'is unknown: its process ended after the call was begun'
const UNKNOWN_HINT = `hint: a call that may not be made twice and was left without an answer fails with unknown_outcome: catch it, or see with
      --unknown retry how the script fares when such calls are made again\n`

/** Most entries of a journal fail for the same reason: one failure of each kind is shown. */
const MOST_KINDS = 5

/** Shows failures as they are found, since a simulation may take long. */
class Shown {
  private readonly kinds = new Set<string>()

  /** '' for kinds that were already shown, or are past the limit. */
  show(failure: SimulationFailure, command: string): string {
    const kind = JSON.stringify([failure.oracle, failure.fault?.kind ?? null, failure.message])
    if (this.kinds.has(kind)) return ''
    this.kinds.add(kind)
    if (this.kinds.size > MOST_KINDS) return ''
    const message = splitInTwo(failure.message)
    return `FAIL  ${failure.oracle}: ${formatPlace(failure)}\n${message.replace(/^/gm, '      ')}\n      again: ${command}\n\n`
  }

  formatSummary(failures: number, about: string): string {
    if (failures === 0) return `No failure in ${about}\n`
    const { size } = this.kinds
    const hidden = size <= MOST_KINDS ? '' : `; the first ${MOST_KINDS} kinds are shown, --json has all`
    return `${formatCount(failures, 'failure')} of ${formatCount(size, 'kind')} in ${about}${hidden}\n`
  }
}

function formatPlace({ seed, fault, entry }: SimulationFailure): string {
  if (fault === null) return `seed ${seed}, undisturbed`
  const place = entry === null ? `entry ${fault.at}` : `entry ${fault.at}, ${entry}`
  return `seed ${seed}, ${fault.kind === 'crash' ? 'the process dies' : 'the store fails'} in front of ${place}`
}

function formatCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

/** Writes the journal of a failing run by simulating it again, because it was not recorded the first time. */
async function record(file: string, job: SimulationJob, failure: SimulationFailure, signal: AbortSignal): Promise<void> {
  const { seed, fault } = failure
  let journal: JudgedRun['journal'] = []
  await simulateJob({ ...job, faults: fault === null ? [] : [fault.kind], points: fault === null ? [] : [fault.at] }, [seed], {
    signal,
    onRun: (judged) => (journal = judged.journal),
  })
  writeWhole(file, journal.map((entry) => `${encodeEntry(entry)}\n`).join(''))
}

// ---- options -------------------------------------------------------------------------------------------------------------

function readSeeds({ seeds, seed }: SimulateFlags): readonly number[] {
  if (seeds !== undefined && seed !== undefined) throw new UsageError('give either --seeds or --seed')
  if (seed !== undefined)
    return [...new Set(seed.flatMap((text) => text.split(',')).map((text) => parseNumber('--seed', text, 0)))]
  return Array.from({ length: seeds ?? DEFAULT_SEEDS }, (_, at) => at)
}

function parseNumber(option: string, text: string, minimum: number): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < minimum)
    throw new UsageError(`${option} ${text}: write a whole number, ${minimum} or more`)
  return number
}

function parseFaults(text: string): readonly SimulatedFault[] {
  if (text === 'none') return []
  return [...new Set(text.split(','))].map((name) => {
    if (name !== 'crash' && name !== 'store') throw new UsageError(`--faults ${name}: the faults are crash and store, or none`)
    return name
  })
}

/** Plain data: it is passed to threads. */
function pickAuthority({ allow, deny, grant, root, sandbox, skillDir }: SimulateFlags): AuthorityFlags {
  return {
    ...(allow === undefined ? {} : { allow }),
    ...(deny === undefined ? {} : { deny }),
    ...(grant === undefined ? {} : { grant }),
    ...(root === undefined ? {} : { root }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(skillDir === undefined ? {} : { skillDir }),
  }
}

/** Options that choose the runs; a failure names its own. */
const CHOICES = new Set(['--seeds', '--seed', '--faults', '--points', '--points-per-seed', '--jobs', '--record', '--timeout'])

/** The original command line, with the seed and the entry of a failure. */
function formatCommand(
  { reproduce: { seeds, faults = [], points = [] } }: SimulationFailure,
  { own, script }: SimulateCommandOptions['words'],
): string {
  const kept: string[] = []
  for (let at = 0; at < own.length; at++) {
    const word = own[at]! // at < length
    if (CHOICES.has(word)) at++
    else if (word !== '--json' && !CHOICES.has(word.split('=', 1)[0]!)) kept.push(word)
  }
  const chosen = ['--seed', seeds.join(','), '--faults', faults.length === 0 ? 'none' : faults.join(',')]
  const where = points.length === 0 ? [] : ['--points', points.join(',')]
  const behind = script.length === 0 ? [] : ['--', ...script]
  return ['bridle', ...kept, ...chosen, ...where, ...behind].map(quoteWord).join(' ')
}

/** Quoted for POSIX shells. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** `undisturbed A, now {B}` as two lines. */
function splitInTwo(message: string): string {
  const now = message.lastIndexOf(', now {')
  if (now < 0 || !message.startsWith('undisturbed ')) return message
  return `undisturbed: ${message.slice('undisturbed '.length, now)}\n        now: ${message.slice(now + ', now '.length)}`
}
