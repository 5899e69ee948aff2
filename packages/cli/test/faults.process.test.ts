// The command when the operating system refuses: the file is named with the reason, and the exit code says whether the run
// could continue. stdlib-tools/src/node/faults.process.test.ts covers refusals within a run.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'

let command: { readonly path: string; readonly folder: string }
let folder: string

beforeAll(async () => {
  command = await bundledCommand()
}, 60_000)
afterAll(() => rmSync(command.folder, { recursive: true }))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bridle-refused-'))
  writeFileSync(join(folder, 'main.harn'), 'println("ran")\nlet t = now_ms()\n')
  writeFileSync(join(folder, 'file'), '')
  mkdirSync(join(folder, 'dir'))
  symlinkSync('loop', join(folder, 'loop'))
})
afterEach(() => rmSync(folder, { recursive: true }))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** `limit`: a `ulimit` of the shell. `output`: the file for standard output. */
function runBridle(words: readonly string[], limit = '-n', output?: string): Ended {
  const own = [process.execPath, command.path, ...words]
  const line = `ulimit ${limit} > /dev/null; exec "$@"${output === undefined ? '' : ` > ${output}`}`
  const isPlain = limit === '-n' && output === undefined
  const [program = '', ...args] = isPlain ? own : ['sh', '-c', line, 'sh', ...own]
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

const fails = (stderr: string): Ended => ({ code: 1, stdout: '', stderr: `error: ${stderr}\n` })

/** An unreadable file on the command line is a usage error. */
const makeMisses = (stderr: string): Ended => ({ ...fails(stderr), code: 2 })

const onLinux = test.skipIf(process.platform !== 'linux')

onLinux.each<readonly [words: string, ended: Ended]>([
  ['run --record /dev/full main.harn', fails('cannot write /dev/full: no space left on device')],
  ['run --record dir main.harn', fails('cannot write dir: it is a folder')],
  ['run --record file/x main.harn', fails('cannot write file/x: not a directory')],
  ['run --record loop main.harn', fails('cannot write loop: too many symbolic links encountered')],
  ['run --record /proc/nowhere/x main.harn', fails('cannot write /proc/nowhere/x: no such file')],
  ['run --trace file/x main.harn', fails('cannot write file/x: not a directory')],
  [
    'run --trace /dev/full main.harn',
    { code: 0, stdout: 'ran\n', stderr: 'bridle: cannot write /dev/full: no space left on device; the trace ends there\n' },
  ],
  [
    'run --trace loop main.harn',
    {
      code: 0,
      stdout: 'ran\n',
      stderr: 'bridle: cannot write loop: too many symbolic links encountered; the trace ends there\n',
    },
  ],
  ['run dir', makeMisses('cannot read dir: it is a folder')],
  ['run file/x', makeMisses('cannot read file/x: not a directory')],
  ['run loop', makeMisses('cannot read loop: too many symbolic links encountered')],
  ['tools lock --no-servers --lock-file dir main.harn', fails('cannot write dir: it is a folder')],
  ['tools lock --no-servers --lock-file /dev/full main.harn', fails('cannot write /dev/full: no space left on device')],
  ['tools lock --no-servers --lock-file file/x main.harn', fails('cannot write file/x: not a directory')],
])('%s', (words, ended) => {
  expect(runBridle(words.split(' '))).toEqual(ended)
})

onLinux('a disk that fills up in the middle of a write leaves what was there', () => {
  writeFileSync(
    join(folder, 'main.harn'),
    `write_file("o.txt", "old")
println(unwrap_err(try { write_file("o.txt", "x" * 5000) }))
println(unwrap_err(try { append_file("o.txt", "y" * 5000) }))
println(read_file("o.txt"))
store_set("k", "old")
println(unwrap_err(try { store_set("k", "z" * 5000) }))
println(store_get("k"))
store_set("k", "new")
println(unwrap_err(try { checkpoint("k", "z" * 5000) }))
`,
  )
  const makeSaid = (what: string): string => `${what}: File too large (os error 27)`
  const makePath = (name: string): string => join(folder, name)
  // Blocks of 512 or 1024 bytes: less than what is written, more than the existing file.
  expect(runBridle(['run', 'main.harn'], '-f 2')).toEqual({
    code: 0,
    stdout: [
      makeSaid(`Failed to write file ${makePath('o.txt')}`),
      makeSaid(`Failed to open file ${makePath('o.txt')}`),
      'old',
      makeSaid(`store: failed to write ${makePath('.harn/store.json')}`),
      'old',
      makeSaid(`checkpoint: failed to write ${makePath('.harn/checkpoints/main.json')}`),
      '',
    ].join('\n'),
    stderr: '',
  })
  expect(JSON.parse(readFileSync(makePath('.harn/store.json'), 'utf8'))).toEqual({ k: 'new' })
  expect(readdirSync(makePath('.harn')).sort()).toEqual(['checkpoints', 'store.json'])
  expect(readdirSync(makePath('.harn/checkpoints'))).toEqual([])
})

onLinux('a source that is formatted or repaired on a full disk stays whole', () => {
  const source = `${'let   x = 1\n'.repeat(400)}`
  writeFileSync(join(folder, 'main.harn'), source)
  expect(runBridle(['fmt', 'main.harn'], '-f 1')).toMatchObject({ code: 1 })
  expect(readFileSync(join(folder, 'main.harn'), 'utf8')).toBe(source)
  expect(readdirSync(folder).sort()).toEqual(['dir', 'file', 'loop', 'main.harn'])
})

onLinux('too few open files', () => {
  writeFileSync(join(folder, 'main.harn'), 'println(try { write_file("o.txt", "x") })\nprintln(try { list_dir("dir") })\n')
  for (const limit of ['-n 20', '-n 24', '-n 40']) {
    const { code, stderr } = runBridle(['run', 'main.harn'], limit)
    // Node itself needs some; if it starts, nothing counts as our bug.
    expect(stderr).not.toContain('this is a bug')
    if (code === 0) expect(stderr).toBe('')
  }
})

onLinux('output to a full disk is an error, in words', () => {
  const full = fails('cannot write the output: no space left on device')
  expect(runBridle(['run', 'main.harn'], undefined, '/dev/full')).toEqual(full)
  const tooLong = fails('cannot write the output: file too large')
  writeFileSync(join(folder, 'main.harn'), 'for i in 0 to 2000 { println("line ${i}") }\n')
  expect(runBridle(['run', 'main.harn'], '-f 1', 'out')).toEqual(tooLong)
  expect(runBridle(['run', '--dry-run', 'main.harn'], '-f 1', 'out')).toEqual(tooLong)
})
