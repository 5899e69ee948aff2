// The example `issue-triage` over HTTP: deliveries, a model that says no, a person who approves while no server runs, a kill in between, and a service that
// is notified once.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..', '..')
const command = join(root, 'packages', 'cli', 'dist', 'bridle.js')
const box = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-triage-')))
cpSync(join(root, 'examples', 'issue-triage'), box, { recursive: true })
const running = new Set<ChildProcess>()

interface Posted {
  readonly channel: string
  readonly text: string
}

/** Slack as far as the example uses it. */
const posted: Posted[] = []
const slack = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += String(chunk)))
  request.on('end', () => {
    const isKnown = request.url === '/chat.postMessage' && request.headers.authorization === 'Bearer xoxb-test'
    if (isKnown) posted.push(JSON.parse(body) as Posted)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(isKnown ? { ok: true, ts: `ts-${posted.length}` } : { ok: false, error: 'invalid_auth' }))
  })
})
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  slack.close()
  rmSync(box, { recursive: true, force: true })
})

const SECRET = 'hush'

async function bridle(...words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [command, ...words], { cwd: box, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (data: Buffer) => (out += String(data)))
  await new Promise((resolve) => child.once('close', resolve))
  return out
}

async function serve(
  slackUrl: string,
): Promise<{ url: string; stop: (signal: 'SIGKILL' | 'SIGTERM') => Promise<number | null> }> {
  const child = spawn(process.execPath, [command, 'orchestrator', 'serve', '--state-dir', 'state', '--bind', '127.0.0.1:0'], {
    cwd: box,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      HARN_SECRET_GITHUB_WEBHOOK_SECRET: SECRET,
      HARN_SECRET_SLACK_BOT_TOKEN: 'xoxb-test',
      SLACK_API: slackUrl,
    },
  })
  running.add(child)
  let log = ''
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  void ended.then(() => running.delete(child))
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (data: Buffer) => {
      log += String(data)
      const found = /HTTP listener ready on (\S+)/.exec(log)
      if (found !== null) resolve(found[1]!)
    })
    void ended.then((code) => reject(new Error(`ended with ${code}: ${log}`)))
  })
  return {
    url,
    stop: async (signal) => {
      child.kill(signal)
      return ended
    },
  }
}

async function deliver(url: string, id: string, number: number, title: string): Promise<string> {
  const body = JSON.stringify({ action: 'opened', issue: { number, title } })
  const response = await fetch(`${url}/hooks/github`, {
    method: 'POST',
    headers: {
      'x-github-event': 'issues',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    },
    body,
  })
  return ((await response.json()) as { status: string }).status
}

interface RunFacts {
  readonly id: string
  readonly state: string
  readonly waits_for: readonly string[]
}

async function listParked(): Promise<readonly RunFacts[]> {
  const { runs } = JSON.parse(await bridle('runs', 'list', '--store', 'state/events.sqlite', '--state', 'parked', '--json')) as {
    runs: readonly RunFacts[]
  }
  return runs
}

test('an urgent issue is announced once, by the server that runs after the approval', async () => {
  await new Promise<void>((resolve) => slack.listen(0, '127.0.0.1', resolve))
  const slackUrl = `http://127.0.0.1:${(slack.address() as AddressInfo).port}`
  const first = await serve(slackUrl)
  expect(await deliver(first.url, 'one', 7, 'Crash at start')).toBe('accepted')
  expect(await deliver(first.url, 'two', 8, 'A typo in the guide')).toBe('accepted')
  expect(await deliver(first.url, 'one', 7, 'Crash at start')).toBe('duplicate_dropped')
  let parked: readonly RunFacts[] = []
  while (parked.length === 0) parked = await listParked()
  await first.stop('SIGKILL')

  // The approval comes while no server runs.
  expect(parked).toHaveLength(1)
  const [waiting] = parked
  await bridle('signal', '--store', 'state/events.sqlite', waiting!.id, waiting!.waits_for[0]!, 'true')
  const second = await serve(slackUrl)
  expect(await deliver(second.url, 'one', 7, 'Crash at start')).toBe('duplicate_dropped')
  while (posted.length === 0) await delay(50)
  expect(await second.stop('SIGTERM')).toBe(0)
  expect(posted).toEqual([{ channel: '#urgent', text: 'Issue 7 is urgent: Crash at start' }])
  const report = JSON.parse(await bridle('orchestrator', 'inspect', '--state-dir', 'state', '--json')) as {
    triggers: readonly { id: string; metrics: { received: number; dispatched: number; in_flight: number } }[]
    recent_dispatches: readonly { status: string }[]
  }
  expect(report.triggers[0]).toMatchObject({
    id: 'urgent-issues',
    metrics: { received: 2, dispatched: 2, in_flight: 0 },
  })
  expect(report.recent_dispatches.map(({ status }) => status).toSorted()).toEqual(['skipped', 'succeeded'])
}, 180_000)
