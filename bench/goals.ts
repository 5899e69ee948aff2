// THE list of goals: the target of each figure of the benchmarks, and the reason why some are missed. A goal is
// judged on the upper quartile over rounds (the lower one if more is better), so that luck does not meet it.

import { meanRatio } from './peers.js'
import { figure, geometricMean, spread } from './stats.js'
import type { Samples } from './samples.js'

interface Goal {
  readonly what: string
  readonly bound: number
  readonly stretch?: number
  readonly atLeast?: true
  /** One value per round; empty if it was not measured. */
  readonly values: (samples: Samples) => readonly number[]
  /** Shown when the goal is missed. */
  readonly obstacle?: string
}

/** Programs whose every type follows from the literals in them. */
const INFERRED = ['fib', 'int_loop', 'float_loop', 'nbody', 'spectral_norm']

type Yardstick = 'js' | 'lua'

/** Geometric mean over programs of the ratio to a yardstick, one value per round. */
function readMean(tier: 'engine' | 'base', yardstick: Yardstick, names?: readonly string[]) {
  return ({ mixed, scripts }: Samples): number[] => {
    const programs = Object.keys(mixed).filter((name) => names === undefined || names.includes(name))
    const rounds = programs.length === 0 ? 0 : mixed[programs[0]!]!.length
    return Array.from({ length: rounds }, (_, round) => {
      const ratios = programs.flatMap((name) => {
        const times = mixed[name]![round]!
        const other = yardstick === 'js' ? times.js : scripts[name]?.[round]?.lua?.warm
        return other === undefined ? [] : [times[tier] / other]
      })
      return ratios.length === 0 ? Number.NaN : geometricMean(ratios)
    }).filter(Number.isFinite)
  }
}

/** The program with the worst ratio, one value per round. */
function findWorst(ratio: (samples: Samples, name: string, round: number) => number) {
  return (samples: Samples): number[] => {
    const names = Object.keys(samples.mixed)
    const worstOf = names.map((name) => samples.mixed[name]!.map((_, round) => ratio(samples, name, round)))
    return names.length === 0 ? [] : worstOf.reduce((a, b) => (spread(a).median > spread(b).median ? a : b))
  }
}

function readFigure(table: string, label: string) {
  return (samples: Samples): number[] => (samples.system[table] ?? []).map((figures) => figures[label] ?? Number.NaN)
}

function readWorst(table: string) {
  return (samples: Samples): number[] =>
    (samples.system[table] ?? []).map((figures) =>
      Math.max(...Object.entries(figures).flatMap(([label, value]) => (label.endsWith('ms') ? [value] : []))),
    )
}

function readPeerRatio(peer: string) {
  return (samples: Samples): number[] => {
    const ratio = meanRatio(samples, 'base', peer)
    return ratio === null ? [] : [ratio.median, ratio.high]
  }
}

const GOALS: readonly Goal[] = [
  { what: 'compiled tier, × Lua 5.4', bound: 0.45, stretch: 0.3, values: readMean('engine', 'lua') },
  { what: 'compiled tier, × JavaScript', bound: 4, stretch: 3, values: readMean('engine', 'js') },
  {
    what: `compiled tier, × Lua 5.4, types inferred (${INFERRED.join(', ')})`,
    bound: 0.2,
    values: readMean('engine', 'lua', INFERRED),
  },
  {
    what: 'the same, × JavaScript',
    bound: 1.5,
    stretch: 1.25,
    values: readMean('engine', 'js', INFERRED),
    obstacle: 'every call, store and turn of a loop is counted and may be left, which plain JavaScript need not see to',
  },
  {
    what: 'slowest program of the compiled tier, × base tier, mixed',
    bound: 1.05,
    values: findWorst(({ mixed }, name, round) => mixed[name]![round]!.engine / mixed[name]![round]!.base),
    obstacle: '`string` is work of builtins, the same in both tiers',
  },
  {
    what: 'slowest program of the compiled tier, × base tier, cold',
    bound: 1.2,
    values: findWorst((samples, name, round) => {
      const { engine, base } = samples.scripts[name]![round]!
      return engine.cold / base.cold
    }),
    obstacle: 'the text is made and compiled in the run that it ought to speed up',
  },
  { what: 'base tier, × Lua 5.4', bound: 3, stretch: 2.2, values: readMean('base', 'lua') },
  { what: 'base tier, × quickjs-emscripten', bound: 1, values: readPeerRatio('quickjs-emscripten') },
  { what: 'base tier, × monty', bound: 1, values: readPeerRatio('monty') },
  { what: 'base tier, × wasmoon (stretch only)', bound: 1, values: readPeerRatio('wasmoon') },
  { what: 'pure host call, ns', bound: 25, stretch: 10, values: readFigure('host calls', 'pure host function, ns') },
  {
    what: 'pure host call in the base tier, ns',
    bound: 100,
    stretch: 50,
    values: readFigure('host calls', 'pure host function in the base tier, ns'),
  },
  {
    what: 'call that waits for the host, one call deep, ns',
    bound: 500,
    values: readFigure('host calls', 'effect with suspend and resume, ns'),
  },
  { what: 'throw caught one frame up, ns', bound: 40, values: readFigure('exceptions', 'caught one frame up, ns') },
  {
    what: 'throw through ten frames in the base tier, ns',
    bound: 150,
    values: readFigure('exceptions', 'through ten frames, base tier, ns'),
  },
  {
    what: '`bridle check` of 10,000 lines, ms',
    bound: 1000,
    values: readFigure('checking', '`bridle check` as a process, ms'),
  },
  {
    what: 'findings of the language server after an edit of 2,000 lines, ms',
    bound: 50,
    values: readFigure('checking', 'findings of the language server after an edit of 2,000 lines, ms'),
  },
  {
    what: 'machine for a compiled program, run of ten lines, µs',
    bound: 30,
    stretch: 10,
    values: readFigure('fresh machine', 'run on a fresh machine, µs'),
  },
  { what: 'compile and run ten lines, µs', bound: 250, values: readFigure('fresh machine', 'compile and run, µs') },
  { what: 'idle machine, KiB', bound: 6, stretch: 4, values: readFigure('idle machines', 'resident memory of one, KiB') },
  {
    what: 'start of `bridle run`, × bare Node',
    bound: 1.3,
    values: readFigure('process start', 'bridle run of hello, × bare Node'),
    obstacle: 'reading and evaluating the core of the bundle',
  },
  ...[10, 100, 1000].map((size): Goal => ({
    what: `parsing ${size} KB, MB/s`,
    bound: 5,
    atLeast: true,
    values: readFigure('compile', `text to syntax tree of ${size} KB, MB/s`),
    obstacle: 'garbage collection: the tree of a large file survives to the old generation',
  })),
  {
    what: 'snapshot of a script that waits for a tool, bytes',
    bound: 1024,
    values: readFigure('snapshot', 'one variable: bytes'),
  },
  { what: 'writing it, µs', bound: 20, stretch: 10, values: readFigure('snapshot', 'one variable: write, µs') },
  {
    what: 'restoring it and going on, µs',
    bound: 25,
    stretch: 15,
    values: readFigure('snapshot', 'one variable: restore and resume, µs'),
  },
  { what: 'writing 100,000 records, µs', bound: 100_000, values: readFigure('snapshot', '100,000 records: write, µs') },
  {
    what: 'restoring 100,000 records, µs',
    bound: 100_000,
    values: readFigure('snapshot', '100,000 records: restore and resume, µs'),
  },
  { what: 'defining a tool, µs', bound: 50, values: readFigure('tool calls', 'defining a tool, µs') },
  { what: 'whole catalogue as host tools, ms', bound: 5, values: readFigure('tool calls', 'whole catalogue as host tools, ms') },
  {
    what: 'call of a host tool without arguments, µs',
    bound: 10,
    stretch: 4.3,
    values: readFigure('tool calls', 'host tool without arguments, µs'),
  },
  {
    what: 'call of a host tool with three arguments, µs',
    bound: 10,
    values: readFigure('tool calls', 'host tool with three checked arguments, µs'),
  },
  { what: 'call of a host tool, µs', bound: 20, values: readFigure('tool calls', 'host tool that answers at once, µs') },
  {
    what: 'the same with a journal in a file, µs',
    bound: 500,
    values: readFigure('tool calls', 'the same with a journal in a file, µs'),
  },
  {
    what: 'digest from script to tool and back, µs',
    bound: 50,
    values: readFigure('tool calls', 'digest by hash_calculator, µs'),
  },
  {
    what: 'policy, approval policy and hooks on it, % more',
    bound: 5,
    values: readFigure('tool calls', 'the same under policy, approval policy and hooks, % more'),
    obstacle: 'the difference of two times of some 18 µs, of which rounds differ by as much',
  },
  {
    what: 'file of 1 KB within a sandbox, µs',
    bound: 300,
    values: readFigure('tool calls', 'file of 1 KB within a sandbox, µs'),
  },
  {
    what: 'question to a document, µs',
    bound: 100,
    values: readFigure('tool calls', 'question to a document of 50 rows by json_processor, µs'),
  },
  {
    what: 'longest pause under default limits, ms',
    bound: 50,
    values: readWorst('longest pause'),
    obstacle: 'single operations on the largest data that is allowed, and the garbage that they leave',
  },
]

/** Goals with at least one measurement. */
export function goalTable(samples: Samples): string[] {
  const rows = GOALS.flatMap(({ what, bound, stretch, atLeast, values, obstacle }) => {
    const measured = values(samples).filter(Number.isFinite)
    if (measured.length === 0) return []
    const { low, median, high } = spread(measured)
    const meets = (limit: number): boolean => (atLeast === true ? low >= limit : high <= limit)
    const verdict = stretch !== undefined && meets(stretch) ? 'met, with the stretch' : meets(bound) ? 'met' : 'missed'
    const why = verdict === 'missed' && obstacle !== undefined ? `: ${obstacle}` : ''
    const goal = `${atLeast === true ? '≥' : '≤'} ${figure(bound)}${stretch === undefined ? '' : ` (${figure(stretch)})`}`
    return [`| ${what} | ${goal} | ${figure(median)} (${figure(low)}–${figure(high)}) | ${verdict}${why} |`]
  })
  return rows.length === 0
    ? []
    : ['A goal is met when the upper quartile is.', '', '| what | goal (stretch) | measured | |', '|---|---:|---:|---|', ...rows]
}
