// Runs that are recorded, replayed, stored and resumed from the command line, in separate processes where the process matters and
// otherwise in one.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'
import { runInProcess } from './in-process.js'
import type { Ended } from './in-process.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-suspend-'))
let command: Awaited<ReturnType<typeof bundledCommand>>

beforeAll(async () => {
  command = await bundledCommand()
})

afterAll(() => {
  for (const each of [folder, command.folder]) rmSync(each, { recursive: true, force: true })
})

/** In the process of the test. */
const runHere = (words: readonly string[]): Promise<Ended> => runInProcess(folder, words)

/** `interruptAt`: the interrupt key is pressed once this was printed. */
function runBridle(words: readonly string[], interruptAt?: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command.path, ...words], { cwd: folder, stdio: 'pipe' })
    let stdout = ''
    let stderr = ''
    let interrupted = false
    child.stdout.on('data', (chunk) => {
      stdout += chunk
      if (interruptAt === undefined || interrupted || !stdout.includes(interruptAt)) return
      interrupted = true
      child.kill('SIGINT')
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    child.stdin.end()
  })
}

function writeScript(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe.concurrent('record and replay', () => {
  const text = `
println("start \${argv}")
let data = read_file("${join(folder, 'data.txt')}")
println(data)
sleep(5)
println(random_int(1, 1000000000))
println(exec("echo", "hello").stdout)
`

  test('a replay performs nothing and has the same trace hash', async () => {
    const script = writeScript('same.harn', text.replace('data.txt', 'same.txt'))
    const data = writeScript('same.txt', 'as it was')
    const journal = join(folder, 'same.jsonl')
    const recorded = await runBridle(['run', script, '--record', journal, '--', 'x'])
    expect(recorded).toMatchObject({ code: 0, stderr: '' })
    // Everything that the run used is gone, including the script: the recording is sufficient.
    rmSync(data)
    rmSync(script)
    const [replayed, document] = await Promise.all([runBridle(['replay', journal]), runBridle(['replay', journal, '--json'])])
    expect(replayed).toEqual(recorded)
    const { trace } = JSON.parse(readFileSync(journal, 'utf8').trimEnd().split('\n').at(-1)!) as { trace: string }
    expect(trace).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.parse(document.stdout)).toEqual({ status: 'done', exit_code: 0, output: recorded.stdout, trace })
  })

  test('a changed argument stops the replay at the call, with its position', async () => {
    const script = writeScript('changed.harn', text.replace('data.txt', 'changed.txt'))
    writeScript('changed.txt', 'x')
    const journal = join(folder, 'changed.jsonl')
    expect(await runHere(['run', script, '--record', journal])).toMatchObject({ code: 0 })
    writeScript('changed.harn', text.replace('data.txt', 'other.txt'))
    const [ended, asRecorded] = await Promise.all([
      runHere(['replay', journal, script]),
      runHere(['replay', journal, '--recorded']),
    ])
    expect(ended.code).toBe(1)
    expect(ended.stdout).toBe('start []\n')
    expect(ended.stderr).toContain('has changed since')
    expect(ended.stderr).toContain('replay_mismatch: fs.read was called with other arguments than recorded')
    expect(ended.stderr).toContain('changed.harn:3:12')
    expect(ended.stderr).toContain('let data = read_file(')
    expect(ended.stderr).toMatch(/recorded: call 1, fs\.read \{.*changed\.txt"\}\n +now: call 1, fs\.read \{.*other\.txt"\}/)
    expect(asRecorded.code).toBe(0)
  })

  test('a change that affects no call shows in the output', async () => {
    const script = writeScript('printed.harn', 'println("one")\nsleep(1)')
    const journal = join(folder, 'printed.jsonl')
    expect(await runHere(['run', script, '--record', journal])).toMatchObject({ code: 0 })
    writeScript('printed.harn', 'println("two")\nsleep(1)')
    expect((await runHere(['replay', journal])).stderr).toContain('the program printed something else')
  })

  test('a replay stops before a call, and continues from there for real or with another outcome', async () => {
    const script = writeScript('until.harn', text.replace('data.txt', 'until.txt'))
    writeScript('until.txt', 'recorded')
    const journal = join(folder, 'until.jsonl')
    const snapshot = join(folder, 'until.snap')
    const recorded = await runHere(['run', script, '--record', journal])
    expect(recorded.code).toBe(0)
    writeScript('until.txt', 'not read again')
    const [listed, stopped, edited, wrong] = await Promise.all([
      runHere(['replay', journal, '--list']),
      runHere(['replay', journal, '--until', '2', '-o', snapshot]),
      runHere(['replay', journal, '--edit', '1={"data": "edited"}']),
      runHere(['replay', journal, '--edit', '9=1']),
    ])
    expect(listed.stdout.match(/^ +\d+ {2}\S+/gm)).toEqual(['   1  fs.read', '   2  random.bytes', '   3  process.exec'])
    expect(stopped).toMatchObject({ code: 0, stdout: recorded.stdout.replace('hello\n\n', '') })
    expect(stopped.stderr).toContain('stopped in front of call 3, process.exec')
    expect(await runHere(['resume', snapshot])).toEqual({ code: 0, stdout: 'hello\n\n', stderr: '' })
    expect(edited).toMatchObject({ code: 0, stdout: recorded.stdout.replace('recorded', 'edited') })
    expect(wrong).toMatchObject({ code: 2, stderr: 'error: --edit 9: the recording has 3 calls\n' })
  })

  test('a file that is not a journal is refused', async () => {
    const ended = await runHere(['replay', writeScript('none.jsonl', 'hello\nworld\n')])
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain('is not a journal')
  })
})

describe.concurrent('snapshot and resume', () => {
  // Everything that a waiting machine can hold, in one script.
  const everything = `
fn counted(n) { var i = 0
  while i < n { yield i
    i = i + 1 } }
let gen = counted(5)
let first = gen.next()
let it = [1, 2, 3].iter().map({ x -> x * first })
let ch = channel("c", 4)
send(ch, "sent before")
let factor = 3
let scale = { x -> x * factor }
let slow = spawn { sleep(40)
  send(ch, "sent by a task")
  scale(7) }
println("before")
let squares = parallel each [1, 2, 3] { x -> sleep(20 + x)
  scale(x) }
println(squares)
let late = try { deadline 30ms { sleep(1000) } } catch (e) { "deadline: " + to_string(e) }
println(late)
println(await(slow))
println(gen.next())
println(receive(ch))
let r = random_int(1, 2)
println(receive(ch))
println([3, 1, 2].sort_by({ x -> sleep(1)
  0 - x }))
`

  test('a run with all kinds of state continues in a fresh process, twice, and from there in the next', async () => {
    const script = writeScript('everything.harn', everything)
    const [one, two] = [join(folder, 'one.snap'), join(folder, 'two.snap')]
    const [whole, stopped] = await Promise.all([runBridle(['run', script]), runBridle(['snapshot', script, '-o', one])])
    expect(whole).toMatchObject({ code: 0, stderr: '' })
    expect(stopped).toMatchObject({ code: 0, stdout: 'before\n' })
    expect(stopped.stderr).toMatch(/wrote .*one\.snap, \d+ bytes; the run waits for a timer/)
    rmSync(script)
    const rest = whole.stdout.replace('before\n', '')
    const [again, onwards] = await Promise.all([
      runBridle(['resume', one]),
      runBridle(['snapshot', one, '-o', two, '--at', '1', '--json']),
    ])
    expect(again).toEqual({ code: 0, stdout: rest, stderr: '' })
    expect(JSON.parse(onwards.stdout)).toMatchObject({ status: 'suspended', snapshot: two })
    expect((await runBridle(['resume', two])).stdout).toBe(rest.slice(rest.indexOf('sent by a task')))
  })

  test('--at performs nothing from that call on', async () => {
    const path = join(folder, 'written.txt')
    const script = writeScript('at.harn', `println("a")\nwrite_file("${path}", "x")\nprintln(read_file("${path}"))`)
    const snapshot = join(folder, 'at.snap')
    const stopped = await runHere(['snapshot', script, '-o', snapshot, '--at', '1'])
    expect(stopped).toMatchObject({ code: 0, stdout: 'a\n' })
    expect(stopped.stderr).toContain('waits for call 1, fs.write write')
    expect(existsSync(path)).toBe(false)
    expect(await runHere(['resume', snapshot])).toEqual({ code: 0, stdout: 'x\n', stderr: '' })
  })

  test('the interrupt key loses nothing, neither in a wait nor in a loop', async () => {
    const waits = writeScript('waits.harn', 'println("one")\nsleep(3000)\nprintln("two")')
    const loops = writeScript('loops.harn', 'println("on")\nvar n = 0\nwhile n < 20000000 { n = n + 1 }\nprintln(n)')
    const [one, two] = [join(folder, 'waits.snap'), join(folder, 'loops.snap')]
    const journal = join(folder, 'loops.jsonl')
    const [first, second, recorded] = await Promise.all([
      runBridle(['run', waits, '--snapshot', one], 'one'),
      runBridle(['snapshot', loops, '-o', two, '--on-interrupt'], 'on'),
      runBridle(['run', loops, '--record', journal], 'on'),
    ])
    expect(first).toMatchObject({ code: 130, stdout: 'one\n' })
    expect(second).toMatchObject({ code: 130, stdout: 'on\n' })
    expect(recorded).toMatchObject({ code: 130, stdout: 'on\n', stderr: 'error: interrupted\n' })
    expect(await runBridle(['resume', one])).toEqual({ code: 0, stdout: 'two\n', stderr: '' })
    expect(await runBridle(['resume', two])).toEqual({ code: 0, stdout: '20000000\n', stderr: '' })
    const replayed = await runBridle(['replay', journal])
    expect(replayed).toMatchObject({ code: 1, stdout: 'on\n' })
    expect(replayed.stderr).toContain('the recorded run was cancelled here: interrupted')
  })

  test('damaged bytes and other files are refused with a reason', async () => {
    const snapshot = join(folder, 'whole.snap')
    await runHere(['snapshot', '-e', 'sleep(5)', '-o', snapshot])
    const bytes = readFileSync(snapshot)
    bytes[bytes.length - 3]! ^= 4
    const damaged = join(folder, 'damaged.snap')
    writeFileSync(damaged, bytes)
    expect((await runHere(['resume', damaged])).stderr).toMatch(/is refused \(damaged\)/)
    expect((await runHere(['resume', writeScript('text.snap', 'text')])).stderr).toMatch(/is refused \(format\)/)
    expect((await runHere(['resume', join(folder, 'none.snap')])).stderr).toMatch(/no such file/)
  })

  test('a run that ends before it waits writes no snapshot', async () => {
    const snapshot = join(folder, 'ended.snap')
    const ended = await runHere(['snapshot', '-e', 'pipeline default() { return 7 }', '-o', snapshot])
    expect(ended).toEqual({ code: 7, stdout: '', stderr: 'bridle: the run ended before that; no snapshot was written\n' })
    expect(existsSync(snapshot)).toBe(false)
  })
})
