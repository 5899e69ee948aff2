// Times the JavaScript twin of a program in a separate process: `javascript.mjs FOLDER N` the import with the first run, then repeated
// runs; `javascript.mjs FOLDER N growth` the sizes N, 2N and 4N. The output is a line of JSON.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const LEAST_RUNS = 4
const LEAST_MS = 250
const GROWTH_RUNS = 3

const [folder = '', size = '', task = ''] = process.argv.slice(2)

function timeOf(start) {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

function time(work) {
  const start = process.cpuUsage()
  work()
  return timeOf(start)
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

const start = process.cpuUsage()
const { run } = await import(pathToFileURL(join(folder, 'main.mjs')).href)
const n = Number(size)
const output = run(n)
const cold = timeOf(start)

function measureWarm() {
  for (let ms = 0, runs = 0; runs < 2 || (ms < 400 && runs < 20); runs++) ms += time(() => run(n))
  const times = []
  for (let total = 0; times.length < LEAST_RUNS || total < LEAST_MS;) {
    const ms = time(() => run(n))
    times.push(ms)
    total += ms
  }
  return median(times)
}

/** Short runs are timed together: the clock of a process counts in steps. */
function measureGrowth(large) {
  const once = time(() => run(large))
  const times = Math.max(1, Math.ceil(20 / Math.max(once, 0.01)))
  const each = () =>
    time(() => {
      for (let k = 0; k < times; k++) run(large)
    }) / times
  return { n: large, ms: Math.min(...Array.from({ length: GROWTH_RUNS }, each)), heap: 0 }
}

const answer = task === 'growth' ? [1, 2, 4].map((factor) => measureGrowth(n * factor)) : { cold, warm: measureWarm(), output }
process.stdout.write(`${JSON.stringify(answer)}\n`)
