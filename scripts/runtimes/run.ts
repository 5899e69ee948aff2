// `npm run test:runtimes`: the build under other runtimes than that of the tests: Node 22 and 24, Deno, Bun. Each comes from the npm
// package that contains its binary, into `.cache/runtimes`; unavailable ones are skipped with a notice. `-- deno bun` tests only these.
//
// Each runtime does what its users do: the command (run, journal, replay, trace, snapshot, durable store, tests, a part of the conformance suite),
// the examples, and a program that embeds Bridle and serves MCP over `fetch` (sample.mjs).

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeCounts } from '../counts.mjs'
import { root } from '../workspace.mjs'

interface Runtime {
  readonly name: string
  readonly version: string
  /** The npm package, and where its binary is below `node_modules`. */
  readonly package: string
  readonly binary: string
  /** Arguments before the name of a program. */
  readonly flags: readonly string[]
}

const RUNTIMES: readonly Runtime[] = [
  { name: 'node22', version: '22.23.3', package: 'node', binary: 'node/bin/node', flags: [] },
  { name: 'node24', version: '24.21.0', package: 'node', binary: 'node/bin/node', flags: [] },
  { name: 'deno', version: '2.9.6', package: 'deno', binary: '.bin/deno', flags: ['run', '--allow-all', '--no-prompt'] },
  { name: 'bun', version: '1.4.5', package: 'bun', binary: '.bin/bun', flags: [] },
]

const COMMAND = join(root, 'packages', 'cli', 'dist', 'bridle.js')

const FILES = `write_file("notes.txt", "a")
append_file("notes.txt", "b")
println(read_file("notes.txt"))
println(exec("echo", "hi").stdout.trim())
println(sha256("tea"))
println(env("HOME") != nil)
let found = parallel each [1, 2, 3] { n -> n * n }
println(found)
`

const WAITS = `let answer = ask_user("Name?")
println("hello " + answer)
`

const TESTS = `pipeline test_sum(task) { assert_eq(1 + 1, 2) }
`

interface Step {
  readonly name: string
  readonly words: readonly string[]
  /** Expected content of standard output. */
  readonly says: string
  readonly code?: number
}

const bridle = (name: string, says: string, ...words: readonly string[]): Step => ({ name, says, words: [COMMAND, ...words] })

const STEPS: readonly Step[] = [
  bridle('run', 'ab\nhi\n', 'run', 'files.harn'),
  bridle(
    'journal and trace, twice into the same files',
    'ab\n',
    'run',
    'files.harn',
    '--record',
    'run.journal',
    '--trace',
    'run.jsonl',
  ),
  bridle('journal and trace, the second time', 'ab\n', 'run', 'files.harn', '--record', 'run.journal', '--trace', 'run.jsonl'),
  bridle('replay', 'ab\n', 'replay', 'run.journal', 'files.harn'),
  bridle('trace verify', 'chain intact', 'trace', 'verify', 'run.jsonl'),
  bridle('durable run', 'ab\n', 'run', 'files.harn', '--store', 'runs.db', '--id', 'one'),
  { ...bridle('durable run that waits', '', 'run', 'waits.harn', '--store', 'runs.db', '--id', 'two'), code: 75 },
  bridle('signal', '', 'signal', 'two', 'Name?', '"Ada"', '--store', 'runs.db'),
  bridle('worker', 'two done', 'worker', '--store', 'runs.db', '--until-idle'),
  bridle('what a durable run printed', 'hello Ada', 'runs', 'show', 'two', '--store', 'runs.db'),
  bridle('check', '', 'check', 'files.harn'),
  bridle('test', '1 passed', 'test', 'tests.harn'),
  bridle(
    'conformance',
    ' 0 failed',
    'conformance',
    join(root, 'conformance'),
    '--filter',
    'closures|async|files|regex',
    '--mode',
    'sample',
  ),
  { name: 'examples/embed.mjs', says: 'done: 1', words: [join(root, 'examples', 'embed.mjs')] },
  {
    name: 'examples/inventory.mjs',
    says: 'inventory.md',
    words: [join(root, 'examples', 'inventory.mjs'), join(root, 'examples')],
  },
  { name: 'embedding, MCP over fetch and stdio', says: 'all is well', words: [join(root, 'scripts', 'runtimes', 'sample.mjs')] },
]

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => RUNTIMES.every((runtime) => runtime.name !== name))
if (unknown.length > 0)
  throw new Error(`no such runtime: ${unknown.join(', ')}; there are ${RUNTIMES.map(({ name }) => name).join(', ')}`)
const counts = { passed: 0, failed: 0 }
for (const runtime of RUNTIMES) if (asked.length === 0 || asked.includes(runtime.name)) testRuntime(runtime)
writeCounts('runtimes', counts)
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`)
process.exitCode = counts.failed === 0 ? 0 : 1

function testRuntime(runtime: Runtime): void {
  const binary = install(runtime)
  if (binary === null) {
    process.stdout.write(`${runtime.name} ${runtime.version}: cannot be installed here; skipped\n`)
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'bridle-runtime-'))
  writeFileSync(join(folder, 'files.harn'), FILES)
  writeFileSync(join(folder, 'waits.harn'), WAITS)
  writeFileSync(join(folder, 'tests.harn'), TESTS)
  // A separate code cache: other engines reject the code of Node's.
  const env = {
    ...process.env,
    BRIDLE_COMPILE_CACHE: join(folder, 'cache'),
    XDG_CACHE_HOME: join(folder, 'home'),
    HARN_STATE_DIR: join(folder, 'state'),
  }
  for (const { name, words, says, code = 0 } of STEPS) {
    const ended = spawnSync(binary, [...runtime.flags, ...words], { cwd: folder, env, encoding: 'utf8', timeout: 600_000 })
    const isGood = ended.status === code && ended.stdout.includes(says)
    counts[isGood ? 'passed' : 'failed']++
    process.stdout.write(`${runtime.name} ${runtime.version}: ${name}: ${isGood ? 'ok' : 'FAILED'}\n`)
    if (!isGood)
      process.stdout.write(
        `exit code ${ended.status ?? ended.signal}\n${ended.stdout.slice(-2000)}${ended.stderr.slice(-2000)}\n`,
      )
  }
  rmSync(folder, { recursive: true, force: true })
}

/** Its binary, installed on first use; null if it is not available. */
function install({ name, version, package: from, binary }: Runtime): string | null {
  const folder = join(root, '.cache', 'runtimes', name)
  const path = join(folder, 'node_modules', binary)
  const isThere = (): boolean => existsSync(path) && readVersion(folder, from) === version
  if (!isThere()) {
    mkdirSync(folder, { recursive: true })
    const words = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${from}@${version}`]
    spawnSync('npm', words, { cwd: folder, stdio: 'ignore', shell: process.platform === 'win32', timeout: 300_000 })
  }
  return isThere() && spawnSync(path, ['--version']).status === 0 ? path : null
}

function readVersion(folder: string, name: string): string | null {
  try {
    const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')
    return (JSON.parse(text) as { readonly version: string }).version
  } catch {
    return null
  }
}
