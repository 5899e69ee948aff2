// Runs that end while something of theirs is active: child processes and their children, the lock of a store, a partly
// written file. However the run ends, nothing of it remains.

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime } from '@bridle/stdlib-tools'
import type { RunResult, RuntimeOptions, StartOptions } from '@bridle/stdlib-tools'
import { nodeProviders } from '@bridle/stdlib-tools/node'
import { makeCases, must } from '../../attempt.js'
import type { World } from '../../world.js'

const STAYS = 'setInterval(() => {}, 1000)'
/** Starts a program that keeps running, records both process ids, and keeps running. */
const STARTS = `const c = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(STAYS)}], { stdio: 'ignore' }); const fs = require('node:fs'); fs.writeFileSync('pids.new', process.pid + ' ' + c.pid); fs.renameSync('pids.new', 'pids'); ${STAYS}`

const BEGIN = `let child = spawn { exec(${JSON.stringify(process.execPath)}, "-e", ${JSON.stringify(STARTS).replaceAll('${', '\\${')}) }
while !file_exists("pids") { sleep(10) }
`

/** How the script continues, how the run is stopped from outside, and how it ends. */
const ENDS: Readonly<
  Record<
    string,
    readonly [string, { readonly cancels?: boolean; readonly limits?: RuntimeOptions['limits'] }, RunResult['status']]
  >
> = {
  'is done': ['return 1', {}, 'done'],
  throws: ['throw "over"', {}, 'failed'],
  exits: ['exit(3)', {}, 'exit'],
  'waits for the program and is cancelled': ['await(child)', { cancels: true }, 'cancelled'],
  'works and is cancelled': ['while true { }', { cancels: true }, 'cancelled'],
  'meets a limit': ['var x = [1]\nwhile true { x = x + x }', { limits: { heap: 1 << 22 } }, 'limit'],
  'gives up the program': ['cancel(child)\nreturn 1', {}, 'done'],
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie process has ended.
    return !/^State:\s+Z/m.test(existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : '')
  } catch {
    return false
  }
}

/** Files of the script, and the store of its project. */
const KEPT = new Set(['pids', 'whole', '.harn', '.harn/store.json'])

/** The system takes a moment to end a process. */
const MOST_LOOKS = 2000

async function runToEnd(
  world: World,
  text: string,
  limits: RuntimeOptions['limits'],
  options: StartOptions,
  cancels: boolean,
): Promise<RunResult> {
  const runtime = createRuntime({
    grants: ['*'],
    enforceManifest: false,
    ...(limits === undefined ? {} : { limits }),
    providers: nodeProviders({ root: world.root }),
  })
  const run = runtime.start(runtime.compile(text, { strict: false }), options)
  if (cancels) {
    while (!existsSync(join(world.root, 'pids'))) await new Promise((resolve) => setTimeout(resolve, 5))
    run.cancel('enough')
  }
  return run.result
}

export const cases = makeCases('nothing-is-left-behind', {
  ...Object.fromEntries(
    Object.entries(ENDS).map(([name, [end, { cancels = false, limits }, status]]) => [
      `a run that ${name} ends its programs and theirs`,
      async (world: World) => {
        const result = await runToEnd(world, BEGIN + end, limits, {}, cancels)
        must(result.status === status, `ended as ${result.status}: ${JSON.stringify(result).slice(0, 300)}`)
        const pids = readFileSync(join(world.root, 'pids'), 'utf8').split(' ').map(Number)
        must(pids.length === 2 && pids.every((pid) => pid > 0), `wrote down ${pids.join(' ')}`)
        for (let look = 0; look < MOST_LOOKS && pids.some(isAlive); look++) await new Promise((resolve) => setTimeout(resolve, 5))
        must(!pids.some(isAlive), `left ${pids.filter(isAlive).length} processes behind`)
      },
    ]),
  ),
  'a run that is cancelled while it writes leaves no lock and no half of a file': async (world: World) => {
    const writes = `write_file("pids", "1 1")\nvar i = 0\nwhile true {\n  write_file("whole", "a" * 100000)\n  store_set("k", i)\n  i += 1\n}`
    const { status } = await runToEnd(world, writes, undefined, {}, true)
    must(status === 'cancelled', `ended as ${status}`)
    const files = readdirSync(world.root, { recursive: true, encoding: 'utf8' })
    const left = files.filter((name) => !KEPT.has(name.replaceAll('\\', '/')))
    must(left.length === 0, `left ${left.join(', ')}`)
  },
})
