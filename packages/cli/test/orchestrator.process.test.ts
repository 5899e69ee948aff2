// The orchestrator as a process: deliveries over HTTP, duplicates, signatures, a kill in the middle, a graceful end.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'

const box = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-orchestrator-')))
const running = new Set<ChildProcess>()
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(box, { recursive: true, force: true })
})
const command = join(import.meta.dirname, '..', 'dist', 'bridle.js')
const SECRET = 'It is a secret'

writeFileSync(
  join(box, 'harn.toml'),
  `[package]
name = "desk"

[[triggers]]
id = "triage"
kind = "webhook"
provider = "github"
match = { events = ["issues.opened"] }
path = "/hooks/github"
dedupe_key = "event.dedupe_key"
secrets = { signing_secret = "github/webhook-secret" }
handler = "triage"
when = "is_wanted"

[[triggers]]
id = "slow"
kind = "webhook"
provider = "webhook"
match = { path = "/hooks/slow" }
secrets = { signing_secret = "webhook/secret" }
webhook = { signature_scheme = "github" }
handler = "wait_first"
`,
)
writeFileSync(
  join(box, 'lib.harn'),
  `import "std/triggers"

pub fn is_wanted(event: TriggerEvent) -> bool {
  return event.provider_payload.raw.issue.title != "spam"
}

pub fn triage(event: TriggerEvent) -> dict {
  append_file("handled.txt", "\${event.kind} \${event.provider_payload.issue.title} \${type_of(event.raw_body)}\\n")
  return {title: event.provider_payload.issue.title, agent: handler_context().agent}
}

pub fn wait_first(event: TriggerEvent) -> dict {
  append_file("slow.txt", "begun\\n")
  sleep(3000)
  append_file("slow.txt", "done\\n")
  return {ok: true}
}
`,
)

interface Server {
  readonly child: ChildProcess
  readonly url: string
  readonly log: () => string
  readonly ended: Promise<number | null>
}

/** Resolves when it listens. */
async function serve(...words: readonly string[]): Promise<Server> {
  const child = spawn(
    process.execPath,
    [command, 'orchestrator', 'serve', '--state-dir', 'state', '--bind', '127.0.0.1:0', ...words],
    {
      cwd: box,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HARN_SECRET_GITHUB_WEBHOOK_SECRET: SECRET, HARN_SECRET_WEBHOOK_SECRET: SECRET },
    },
  )
  running.add(child)
  const { stderr } = child
  let log = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  void ended.then(() => running.delete(child))
  const url = await new Promise<string>((resolve, reject) => {
    stderr.on('data', (data: Buffer) => {
      log += String(data)
      const found = /HTTP listener ready on (\S+)/.exec(log)
      if (found !== null) resolve(found[1]!)
    })
    void ended.then((code) => reject(new Error(`ended with ${code}: ${log}`)))
  })
  return { child, url, log: () => log, ended }
}

function sign(body: string): string {
  return `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
}

async function deliver(url: string, path: string, id: string, content: object): Promise<{ status: number; text: string }> {
  const body = JSON.stringify(content)
  const headers = { 'x-github-event': 'issues', 'x-github-delivery': id, 'x-hub-signature-256': sign(body) }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await delay(20)
}

/** The waiting dispatches, as another process sees them. */
async function listParked(): Promise<string> {
  const child = spawn(process.execPath, [command, 'runs', 'list', '--store', 'state/events.sqlite', '--state', 'parked'], {
    cwd: box,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (data: Buffer) => (out += String(data)))
  await new Promise((resolve) => child.once('close', resolve))
  return out
}

function read(name: string): string {
  return existsSync(join(box, name)) ? readFileSync(join(box, name), 'utf8') : ''
}

test('deliveries are verified, handled once by key, and nothing is lost when the process is killed', async () => {
  const first = await serve()
  const issue = { action: 'opened', issue: { title: 'Broken link' }, installation: { id: 7 } }
  expect(await deliver(first.url, '/hooks/github', 'one', issue)).toEqual({
    status: 200,
    text: '{"status":"accepted","event_id":"1","trigger_id":"triage"}',
  })
  expect(await deliver(first.url, '/hooks/github', 'one', issue)).toEqual({
    status: 200,
    text: '{"status":"duplicate_dropped","trigger_id":"triage"}',
  })
  const forged = await fetch(`${first.url}/hooks/github`, {
    method: 'POST',
    headers: { 'x-github-event': 'issues', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
    body: '{}',
  })
  expect([forged.status, await forged.text()]).toEqual([400, 'signature did not match the raw request body'])
  expect((await deliver(first.url, '/hooks/github', 'two', { action: 'opened', issue: { title: 'spam' } })).status).toBe(200)
  await until(() => read('handled.txt') !== '')
  expect((await fetch(`${first.url}/hooks/none`, { method: 'POST' })).status).toBe(404)
  expect(await (await fetch(`${first.url}/readyz`)).text()).toBe('ready')

  // Killed while a handler waits: the next process continues it, and does not start it again.
  expect((await deliver(first.url, '/hooks/slow', 'three', { type: 'ping' })).status).toBe(200)
  while (!(await listParked()).includes('slow@v1/')) await delay(50)
  first.child.kill('SIGKILL')
  await first.ended

  const second = await serve('--resume', 'auto')
  expect((await deliver(second.url, '/hooks/github', 'one', issue)).text).toContain('duplicate_dropped')
  await until(() => read('slow.txt').includes('done'))
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)
  expect(second.log()).toContain('[harn] graceful shutdown complete')
  expect(read('slow.txt')).toBe('begun\ndone\n')
  expect(read('handled.txt')).toBe('issues.opened Broken link bytes\n')
  const snapshot = JSON.parse(read('state/orchestrator-state.json')) as { status: string; triggers: object[] }
  expect(snapshot.status).toBe('stopped')
  expect(snapshot.triggers).toEqual([
    expect.objectContaining({ id: 'triage', version: 1, state: 'active', received: 2, dispatched: 2, in_flight: 0 }),
    expect.objectContaining({ id: 'slow', received: 1, dispatched: 1, in_flight: 0 }),
  ])
}, 120_000)
