// Durable runs from the command line. In the first test each command is a separate process, and none needs another to be running.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runInProcess } from './in-process.js'

const box = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-durable-')))
afterAll(() => rmSync(box, { recursive: true, force: true }))
const command = join(import.meta.dirname, '..', 'dist', 'bridle.js')
const store = join(box, 'runs.db')

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function bridle(...words: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command, ...words], { cwd: box, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let err = ''
    child.stdout.on('data', (data: Buffer) => (out += String(data)))
    child.stderr.on('data', (data: Buffer) => (err += String(data)))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
  })
}

/** In the process of the test. */
async function here(...words: readonly string[]): Promise<Ended> {
  const { code, stdout, stderr } = await runInProcess(box, words)
  return { code, out: stdout, err: stderr }
}

test('a waiting run exits with 75, is answered from another process, and continues in a worker', async () => {
  const file = join(box, 'order.harn')
  writeFileSync(file, 'println("begun")\nlet answer = ask_user("approve")\nprintln("got ${answer}")\n')
  expect(await bridle('run', '--store', store, file, '--id', 'order-7')).toMatchObject({ code: 75, out: 'begun\n' })
  const shown = JSON.parse((await bridle('runs', 'show', '--store', store, 'order-7', '--json')).out) as { waits_for: string[] }
  expect(shown).toMatchObject({ id: 'order-7', state: 'parked', waits_for: [expect.stringMatching(/^approve#\d+$/)] })
  expect(await bridle('signal', '--store', store, 'order-7', 'approve', '"yes"')).toMatchObject({ code: 0 })
  expect(await bridle('signal', '--store', store, 'order-7', shown.waits_for[0]!, '"no"')).toMatchObject({ code: 1 })
  expect((await bridle('worker', '--store', store, '--until-idle')).out).toContain('order-7 done')
  const ended = JSON.parse((await bridle('runs', 'show', '--store', store, 'order-7', '--json')).out) as object
  expect(ended).toMatchObject({ state: 'ended', status: 'done', output: 'begun\ngot yes\n' })
  expect(await bridle('runs', 'show', '--store', store, 'nobody')).toMatchObject({ code: 1 })
}, 120_000)

test('a waiting run continues with an edited script; an edit of its past is refused', async () => {
  const old = join(box, 'old.harn')
  const text = 'println("one")\nlet first = ask_user("first")\nlet answer = ask_user("second")\nprintln("got ${answer}")\n'
  writeFileSync(old, text)
  expect(await here('run', '--store', store, old, '--id', 'long')).toMatchObject({ code: 75 })
  expect(await here('signal', '--store', store, 'long', 'first', '"a"')).toMatchObject({ code: 0 })
  expect(await here('worker', '--store', store, '--until-idle')).toMatchObject({ code: 0 })
  const wrong = join(box, 'wrong.harn')
  writeFileSync(wrong, text.replace('"first"', '"another"'))
  const refused = await here('runs', 'migrate', '--store', store, 'long', '--to', wrong)
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.err).toContain('wrong.harn:2')
  const right = join(box, 'right.harn')
  writeFileSync(right, text.replace('got', 'received'))
  expect(await here('runs', 'migrate', '--store', store, 'long', '--to', right)).toMatchObject({ code: 0 })
  expect(await here('signal', '--store', store, 'long', 'second', '"b"')).toMatchObject({ code: 0 })
  expect(await here('worker', '--store', store, '--until-idle')).toMatchObject({ code: 0 })
  const ended = JSON.parse((await here('runs', 'show', '--store', store, 'long', '--json')).out) as object
  expect(ended).toMatchObject({ status: 'done', output: 'one\nreceived b\n' })
  expect(await here('runs', 'migrate', '--store', store, 'long', '--to', right)).toMatchObject({ code: 1 })
  expect(await here('runs', 'migrate', '--store', store, 'long', '--to', 'nothing')).toMatchObject({ code: 1 })
}, 120_000)

test('unreadable answers are an error before the run starts', async () => {
  const script = join(box, 'asks.harn')
  writeFileSync(script, 'println("begun")\nprintln(ask_user("first"))\n')
  const answers = join(box, 'answers.json')
  writeFileSync(answers, '["a"]')
  const refused = await here('run', script, '--answers', answers)
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toContain('answers.json at 0: ')
})

test('read-only commands create no store; a wrong name is reported, with what to do', async () => {
  const missing = join(box, 'typo.db')
  for (const words of [
    ['runs', 'list'],
    ['runs', 'show', 'x'],
    ['signal', 'x', 'y', '1'],
    ['runs', 'stats'],
  ]) {
    const [first = '', ...rest] = words
    const ended = await here(first, ...rest, '--store', missing)
    expect(ended).toMatchObject({ code: 2, out: '' })
    expect(ended.err).toContain(`cannot open the store ${missing}: no such file`)
    expect(ended.err).toContain('help: ')
  }
  expect(existsSync(missing)).toBe(false)
  const file = join(box, 'nowhere.harn')
  writeFileSync(file, 'println("never")\n')
  const nowhere = await here('run', file, '--store', join(box, 'no', 'runs.db'))
  expect(nowhere).toMatchObject({ code: 2, out: '' })
  expect(nowhere.err).toContain('there is no folder')
})

test('signal reports its effect, and whether the run waits for it', async () => {
  const own = join(box, 'signals.db')
  const file = join(box, 'signals.harn')
  writeFileSync(file, 'let answer = try { ask_user("Ship?") } catch (e) { e.message }\nprintln(answer)\n')
  expect(await here('run', '--store', own, file, '--id', 's')).toMatchObject({ code: 75 })
  const bare = await here('signal', '--store', own, 's', 'Ship?', 'yes')
  expect(bare).toMatchObject({ code: 2 })
  expect(bare.err).toContain('the answer is not JSON')
  expect(bare.err).toContain('help: ')
  const other = await here('signal', '--store', own, 's', 'Shop?', '"yes"')
  expect(other.out).toMatch(/^kept, but s does not wait for "signal:Shop\?" now: it waits for "Ship\?#\d+"\n$/)
  const refused = await here('signal', '--store', own, 's', 'Ship?', '--error', 'all on leave', '--json')
  expect(JSON.parse(refused.out)).toMatchObject({ id: 's', outcome: 'kept', awaited: true })
  const edited = join(box, 'edited.harn')
  writeFileSync(edited, 'println("another")\n')
  const ended = await here('run', '--store', own, edited, '--id', 's')
  expect(ended.err).toContain('warning: s goes on as the script that it was begun with')
  expect(ended.out).toContain('all on leave')
})
