// `npm run test:pace`: calls every builtin and method with one large value in each argument, and reports those that take much longer per
// unit of fuel than the others, or block the thread for too long in one slice: uncharged work. charges.sweep.test.ts of stdlib-tools tests in
// CI that fuel grows with sizes at all; this finds what grows too slowly, and is only useful on a quiet machine.

import { readFileSync } from 'node:fs'
import { compileProgram } from '@bridle/compiler'
import { builtin, createRegistry, linkProgram, Machine, collectSignatures } from '@bridle/vm'
import { STANDARD_FAMILIES } from '../packages/stdlib-tools/src/test-support/standard-families.js'
import { listCalls, makePrelude, SPELLED } from '../packages/vm/src/builtins/test-support/large-calls.js'
import { commandOptions, wholeNumber } from '../scripts/options.js'

const USAGE = `usage: npm run test:pace -- [--filter WORD] [--elements N] [--characters N] [--factor F]

  --filter WORD     builtins whose name contains WORD
  --elements N      of large lists, dicts and sets (20,000)
  --characters N    of large texts (1,000,000)
  --factor F        tells calls that take over F times the median for a unit (20)
  --held MS         and those that keep the thread for longer in a slice, at once (50)

The exit code is 1 when there are any.
`
const options = commandOptions(USAGE, {
  filter: { type: 'string', default: '' },
  elements: { type: 'string', default: '20000' },
  characters: { type: 'string', default: '1000000' },
  factor: { type: 'string', default: '20' },
  held: { type: 'string', default: '50' },
})
const elements = wholeNumber(USAGE, 'elements', options.elements, 1)
const characters = wholeNumber(USAGE, 'characters', options.characters, 4)
const factor = wholeNumber(USAGE, 'factor', options.factor, 1)
const mostHeldMs = wholeNumber(USAGE, 'held', options.held, 1)

/** Shorter calls measure the machine rather than the call. */
const LEAST_MS = 4
/** The time of a call is that of its fastest run. */
const RUNS = 3

interface Pace {
  readonly name: string
  readonly call: string
  readonly ms: number
  readonly units: number
  /** The longest slice, milliseconds. */
  readonly heldMs: number
}

/**
 * Milliseconds for which this thread had a processor, if the system reports it (Linux): the work of others does not count.
 */
function measureWork(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6
  } catch {
    return performance.now()
  }
}

let began = { at: 0, units: 0 }
let running: Machine | null = null

const registry = createRegistry([
  ...STANDARD_FAMILIES,
  {
    name: 'pace',
    builtins: [
      builtin('__pace_begins() -> nil', { doc: '', effects: [] }, () => {
        began = { at: measureWork(), units: running!.fuelUsed }
        return null
      }),
    ],
  },
])
const signatures = collectSignatures(registry)

function measurePace(name: string, call: string): Pace | null {
  const text = `${makePrelude(elements, characters)}__pace_begins()\ntry { ${call} } catch (e) { }\nnil`
  const resolve = (path: string) => ({ kind: 'error' as const, message: `no module ${path}` })
  const { program } = compileProgram({ key: 'main.harn', text }, { signatures, globals: ['__pace_begins'], resolve })
  if (program === null) return null
  running = new Machine(linkProgram(program, registry), { hashHex: () => '00'.repeat(32), limits: { fuel: 500_000_000 } })
  began = { at: Infinity, units: 0 }
  let heldMs = 0
  let at = measureWork()
  let exit = running.start(null, 0)
  for (;;) {
    // The slice in which the call begins counts from there.
    const now = measureWork()
    if (began.at < now) heldMs = Math.max(heldMs, now - Math.max(at, began.at))
    if (exit.kind !== 'yielded') return { name, call, ms: now - began.at, units: running.fuelUsed - began.units, heldMs }
    at = measureWork()
    exit = running.resume(null, 0)
  }
}

const perUnit = ({ ms, units }: Pace): number => (ms * 1e6) / Math.max(units, 1)

function quickest(name: string, call: string): Pace | null {
  let best = measurePace(name, call)
  for (let run = 1; run < RUNS && best !== null && best.ms >= LEAST_MS; run++) {
    const next = measurePace(name, call)
    if (next === null) continue
    const heldMs = Math.min(best.heldMs, next.heldMs)
    best = { ...(perUnit(next) < perUnit(best) ? next : best), heldMs }
  }
  if (best !== null && best.heldMs > mostHeldMs)
    process.stdout.write(`  holds the thread for ${best.heldMs.toFixed(0)} ms: ${name}: ${call}\n`)
  return best
}

const all = [...registry.builtins.values(), ...[...registry.methods.values()].flatMap((methods) => [...methods.values()])]
const paces: Pace[] = []
for (const def of all) {
  const own = `${def.receiver === null ? '' : `${def.receiver}.`}${def.name}`
  if (!own.includes(options.filter)) continue
  for (const [parameter, calls] of listCalls(def)) {
    const name = `${own} ${parameter}`
    const spelled = SPELLED[name]
    for (const call of spelled === undefined ? calls : [spelled, ...calls]) {
      const pace = quickest(name, call)
      if (pace !== null) paces.push(pace)
    }
  }
}

const known = paces.filter(({ units }) => units > 100).map(perUnit)
const median = known.toSorted((a, b) => a - b)[known.length >> 1] ?? 0
const slow = paces.filter((pace) => pace.ms >= LEAST_MS && perUnit(pace) > factor * median)
process.stdout.write(`pace: ${paces.length} calls, ${median.toFixed(0)} ns a unit in the middle\n`)
for (const pace of slow.toSorted((a, b) => perUnit(b) - perUnit(a)))
  process.stdout.write(
    `  ${perUnit(pace).toFixed(0)} ns a unit, ${pace.ms.toFixed(1)} ms for ${pace.units} units: ${pace.name}: ${pace.call}\n`,
  )
process.exitCode = slow.length === 0 && paces.every(({ heldMs }) => heldMs <= mostHeldMs) ? 0 : 1
