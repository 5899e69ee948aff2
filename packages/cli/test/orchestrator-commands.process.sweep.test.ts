// Commands beside an orchestrator, in the order in which a person needs them: failed events, jobs of workers, dispatches that a crash left behind,
// escalations, and MCP clients.

import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { OrchestratorBox, until } from './orchestrator-server.js'

const KEY = { HARN_ORCHESTRATOR_API_KEYS: 'key-one' }
const command = join(import.meta.dirname, '..', 'dist', 'bridle.js')

function makeTrigger(id: string, handler: string, more = ''): string {
  return `[[triggers]]\nid = "${id}"\nkind = "stream"\nprovider = "kafka"\nmatch = { path = "/${id}" }\ntopic = "t"\nhandler = "${handler}"\n${more}\n`
}

const box = new OrchestratorBox(
  {
    'harn.toml': `[package]\nname = "desk"\n\n${[
      makeTrigger('steady', 'steady'),
      makeTrigger('shaky', 'shaky', 'retry = { max = 2 }\ndedupe_key = "event.dedupe_key"'),
      makeTrigger('jobs', 'worker://jobs', 'priority = "low"'),
      makeTrigger('asks', 'asks'),
    ].join('\n')}`,
    'worker.toml': `[package]\nname = "worker"\n\n${makeTrigger('jobs', 'work')}`,
    'lib.harn': `import "std/triggers"

pub fn steady(event: TriggerEvent) -> dict {
  append_file("handled.txt", "steady \${event.provider_payload.raw.number}\\n")
  return {number: event.provider_payload.raw.number, replay: handler_context().replay_of_event_id}
}

pub fn shaky(event: TriggerEvent) -> dict {
  if !file_exists("mended") {
    throw "it is not mended"
  }
  return {mended: true}
}

pub fn work(event: TriggerEvent) -> dict {
  if !file_exists("mended") {
    throw "no tools"
  }
  append_file("handled.txt", "job \${event.provider_payload.raw.number}\\n")
  return {done: event.provider_payload.raw.number}
}

pub fn asks(event: TriggerEvent) -> dict {
  let answer = escalate_to("desk", "what now")
  append_file("handled.txt", "answered by \${answer.reviewer}\\n")
  return {reviewer: answer.reviewer}
}
`,
  },
  KEY,
)
afterAll(async () => box.remove())

const STATE = ['--state-dir', 'state']

interface Letter {
  readonly id: string
  readonly event_id: string
  readonly error: string
  readonly state: string
  readonly retry_history: readonly { readonly status: string }[]
}

async function listLetters(): Promise<readonly Letter[]> {
  const { entries } = await box.runJson<{ entries: readonly Letter[] }>(['orchestrator', 'dlq', '--list', ...STATE, '--json'])
  return entries
}

async function findEventId(trigger: string, at = 0): Promise<string> {
  const records = await box.listRecords('trigger.inbox.envelopes')
  const ids = records
    .map(({ payload }) => payload as unknown as { trigger_id: string; event: { id: string } })
    .filter((each) => each.trigger_id === trigger)
  return ids.at(at)!.event.id
}

async function untilRecords(topic: string, kind: string, count: number): Promise<void> {
  for (;;) {
    const found = (await box.listRecords(topic)).filter((record) => record.kind === kind)
    if (found.length >= count) return
  }
}

test('dead letters, replays and cancelled events', async () => {
  const server = await box.serve()
  await server.post('/steady', { number: 1 })
  await server.post('/shaky', { number: 2, id: 'a' })
  await server.post('/shaky', { number: 3, id: 'b' })
  await untilRecords('trigger.dlq', 'dlq_entry', 2)
  await until(() => box.read('handled.txt') === 'steady 1\n')

  const letters = await listLetters()
  expect(letters.map(({ error, state, retry_history: history }) => [error, state, history.map(({ status }) => status)])).toEqual([
    ['it is not mended', 'pending', ['dlq']],
    ['it is not mended', 'pending', ['dlq']],
  ])
  const [one, two] = letters
  const shown = await box.run(['orchestrator', 'dlq', ...STATE])
  expect(shown.out).toContain(`- pending_entries=2\n- ${one!.id} binding=shaky event=${one!.event_id} error=it is not mended\n`)

  const discarded = await box.run(['orchestrator', 'dlq', '--discard', two!.id, ...STATE])
  expect(discarded.out).toBe(`DLQ entry discarded:\n- entry_id=${two!.id}\n- event_id=${two!.event_id}\n- state=discarded\n`)
  expect((await box.run(['orchestrator', 'dlq', '--discard', two!.id, ...STATE])).err).toContain(
    `unknown pending DLQ entry '${two!.id}'`,
  )

  const again = await box.runJson<{ handle: { status: string; dlq_entry_id: string } }>([
    'orchestrator',
    'dlq',
    '--replay',
    one!.id,
    ...STATE,
    '--json',
  ])
  expect(again.handle).toMatchObject({ status: 'dlq', dlq_entry_id: one!.id })
  box.write('mended', '')
  const replayed = await box.run(['orchestrator', 'dlq', '--replay', one!.id, ...STATE])
  expect(replayed.out).toBe(
    `DLQ replay:\n- entry_id=${one!.id}\n- event_id=${one!.event_id}\n- status=dispatched\n- error=-\n- replay_of_event_id=${one!.event_id}\n`,
  )
  expect(await listLetters()).toEqual([])
  expect((await box.run(['orchestrator', 'dlq', ...STATE])).out).toContain('- pending_entries=0\n- none\n')

  const event = await findEventId('steady')
  const handle = await box.run(['orchestrator', 'replay', event, ...STATE])
  expect(handle.out).toBe(
    `Replay result:\n- binding_id=steady\n- binding_version=1\n- event_id=${event}\n- status=dispatched\n- replay_of_event_id=${event}\n- dlq_entry_id=-\n- error=-\n- result={"number":1,"replay":"${event}"}\n`,
  )
  const report = await box.runJson<{
    replay: { status: string; attempt_count: number }
    drift: object
    original: { result: object }
  }>(['trigger', 'replay', event, '--diff'])
  expect(report).toMatchObject({
    event_id: event,
    binding_id: 'steady',
    replay: { status: 'succeeded', attempt_count: 1, handler_kind: 'local', target_uri: 'steady', error: null },
    original: { status: 'succeeded', result: { number: 1, replay: null } },
    drift: { changed: true, fields: ['result'] },
  })
  expect((await box.run(['orchestrator', 'replay', 'none', ...STATE])).err).toContain("trigger_replay: unknown event id 'none'")
  expect(await box.runJson(['trigger', 'cancel', event])).toMatchObject({ requested: [], already_finished: ['steady@v1'] })
  expect((await box.run(['trigger', 'cancel', 'none'])).err).toContain("unknown event id 'none'")

  // All that an expression picks; replays count no attempt of their own here.
  const picked = await box.runJson([
    'trigger',
    'replay',
    '--where',
    'event.provider_payload.raw.number < 3 && attempt.outcome == "success"',
    '--dry-run',
  ])
  expect(picked).toMatchObject({ operation: 'replay', dry_run: true, matched: 2, results: [] })
  const bulk = await box.run(['trigger', 'replay', '--where', 'trigger_id == "steady"', '--progress', '--rate-limit', '50'])
  expect(JSON.parse(bulk.out)).toMatchObject({ matched: 1, results: [{ event_id: event, replay: { status: 'succeeded' } }] })
  expect(bulk.err).toContain(`[harn] replayed 1 of 1: ${event}`)
  expect(await box.runJson(['trigger', 'cancel', '--where', 'trigger_id == "shaky"'])).toMatchObject({
    matched: 2,
    requested: [],
    already_finished: [{ binding_key: 'shaky@v1' }, { binding_key: 'shaky@v1' }],
  })
  expect((await box.run(['trigger', 'replay', '--where', 'event.'])).code).toBe(1)
  expect((await box.run(['trigger', 'replay'])).code).toBe(2)
  expect(await box.runJson(['trigger', 'replay', event, '--as-of', new Date().toISOString()])).toMatchObject({
    binding_version: 1,
    as_of: expect.any(String) as string,
  })
  expect((await box.run(['trigger', 'replay', event, '--as-of', '2020-01-01T00:00:00Z'])).err).toContain(
    "no active trigger binding 'steady' at 2020-01-01T00:00:00Z",
  )

  const fired = await box.run(['orchestrator', 'fire', 'steady', ...STATE])
  expect(fired.out).toMatch(
    /^Synthetic event dispatched:\n- binding_id=steady\n- binding_version=1\n- event_id=trigger_evt_\S+\n- status=dispatched\n/,
  )
  expect((await box.run(['orchestrator', 'fire', 'none', ...STATE])).err).toContain("unknown manifest binding 'none'")

  const inspected = await box.run(['orchestrator', 'inspect', ...STATE])
  expect(inspected.out).toContain(
    '- shaky provider=kafka kind=stream state=active version=1 metrics=received:4 dispatched:1 failed:0 in_flight:0\n',
  )
  expect(inspected.out).toContain('Snapshot:\n- status=running\n')
  const stats = await box.runJson<{ totals: object; triggers: readonly object[] }>(['orchestrator', 'stats', ...STATE, '--json'])
  expect(stats.triggers.length).toBeGreaterThan(0)
  const trust = await box.run(['trust', 'verify-chain'])
  expect([trust.code, trust.out]).toEqual([0, expect.stringContaining('verified=true') as string])
  expect(await server.stop()).toBe(0)
}, 120_000)

test('jobs of a worker queue', async () => {
  const server = await box.serve()
  for (const number of [1, 2, 3]) await server.post('/jobs', { number }, { priority: number === 3 ? 'high' : 'normal' })
  await untilRecords('worker.jobs', 'trigger_dispatch', 3)
  await server.stop()
  const report = await box.runJson<{ worker_queues: readonly object[] }>(['orchestrator', 'queue', ...STATE, '--json'])
  expect(report.worker_queues).toEqual([
    expect.objectContaining({ queue: 'jobs', ready: 3, in_flight: 0, acked: 0, purged: 0, responses: 0 }),
  ])
  expect((await box.run(['orchestrator', 'queue', ...STATE, 'ls'])).out).toContain(
    'Worker queues:\n- jobs ready=3 in_flight=0 acked=0 purged=0 responses=0 ',
  )

  // For the queue of its own manifest there is no worker.
  interface Drained {
    readonly drained: number
    readonly acked: number
    readonly deferred: number
    readonly responses: readonly {
      readonly job_event_id: number
      readonly error: string | null
      readonly outcome: { readonly status: string } | null
    }[]
    readonly summary: { readonly ready: number; readonly in_flight: number }
  }
  const drain = async (config: string, consumer: string, ttl: string): Promise<Drained> =>
    box.runJson<Drained>([
      'orchestrator',
      'queue',
      '--config',
      config,
      ...STATE,
      'drain',
      'jobs',
      '--consumer-id',
      consumer,
      '--claim-ttl',
      ttl,
      '--json',
    ])
  const refused = await drain('harn.toml', 'c0', '1ms')
  expect(refused.responses[0]!.error).toContain("worker queue 'jobs' resolved trigger 'jobs' to another worker:// handler")
  const worked = await drain('worker.toml', 'c1', '5m')
  expect(worked).toMatchObject({ drained: 3, acked: 3, deferred: 0, summary: { ready: 0, in_flight: 0, acked: 3 } })
  // The one of high priority first.
  expect(worked.responses.map(({ job_event_id: id }) => id)).toEqual([3, 1, 2])
  expect(box.read('handled.txt')).toContain('job 3\njob 1\njob 2\n')

  const again = await box.serve()
  await again.post('/jobs', { number: 4 })
  await untilRecords('worker.jobs', 'trigger_dispatch', 4)
  await again.stop()
  const unsure = await box.run(['orchestrator', 'queue', ...STATE, 'purge', 'jobs'])
  expect([unsure.code, unsure.err]).toEqual([
    1,
    expect.stringContaining('queue purge is destructive; rerun with `--confirm` to drop ready jobs') as string,
  ])
  expect((await box.run(['orchestrator', 'queue', ...STATE, 'purge', 'jobs', '--confirm'])).out).toBe(
    "Purged queue 'jobs': purged=1 ready=0 in_flight=0 purged_total=1\n",
  )
}, 120_000)

test('dispatches that a crash interrupted before their start', async () => {
  const crashing = await box.serve([], { HARN_TEST_DISPATCHER_FAIL_BEFORE_OUTBOX: '1' })
  await crashing.post('/steady', { number: 7 }).catch(() => {})
  expect(await crashing.ended).toBe(86)
  const server = await box.serve()
  expect(server.log()).toContain('1 stranded envelopes')
  const event = await findEventId('steady', -1)
  const unsure = await box.run(['orchestrator', 'recover', '--envelope-age', '0s', ...STATE])
  expect(unsure.err).toContain('refusing to replay stranded envelopes without --yes; pass --dry-run to inspect first')
  const dry = await box.run(['orchestrator', 'recover', '--envelope-age', '0s', '--dry-run', ...STATE])
  expect(dry.out).toContain('Recovery:\n- dry_run=true\n- min_envelope_age=0s\n- stranded_envelopes=1\n\nCandidates:\n')
  expect(dry.out).toContain(`- event_id=${event} trigger_id=steady binding_version=1 provider=kafka kind=stream.message age=`)
  expect((await box.run(['orchestrator', 'recover', '--envelope-age', '5h', '--dry-run', ...STATE])).out).toContain(
    'Candidates:\n- none\n',
  )
  expect(
    (await box.runJson<{ dispatcher: { stranded_envelopes: readonly object[] } }>(['orchestrator', 'queue', ...STATE, '--json']))
      .dispatcher.stranded_envelopes,
  ).toHaveLength(1)
  const done = await box.run(['orchestrator', 'recover', '--envelope-age', '0s', '--yes', ...STATE])
  expect(done.out).toContain(
    `Replay results:\n- event_id=${event} status=dispatched replay_of_event_id=${event} binding_id=steady binding_version=1 dlq_entry_id=- error=-\n`,
  )
  expect(box.read('handled.txt').split('steady 7\n')).toHaveLength(2)
  expect((await box.run(['orchestrator', 'recover', '--envelope-age', '0s', '--dry-run', ...STATE])).out).toContain(
    'Candidates:\n- none\n',
  )
  expect(await server.stop()).toBe(0)
}, 120_000)

test('an escalation is answered from the command line', async () => {
  const server = await box.serve()
  await server.post('/asks', { number: 1 })
  await untilRecords('hitl.escalations', 'hitl.escalation_issued', 1)
  const [asked] = await box.listRecords('hitl.escalations')
  const id = String((asked!.payload as { request_id: string }).request_id)
  expect(id).toBe(`hitl_escalation_${await findEventId('asks')}_1`)
  expect((await box.run(['orchestrator', 'resume', 'none', ...STATE])).err).toContain("unknown escalation request 'none'")
  const resumed = await box.run(['orchestrator', 'resume', id, '--reviewer', 'ann', '--reason', 'looks right', ...STATE])
  expect(resumed.out).toBe(`Resumed escalation:\n- request_id=${id}\n- reviewer=ann\n- reason=looks right\n`)
  await until(() => box.read('handled.txt').includes('answered by ann\n'))
  expect(await server.stop()).toBe(0)
}, 120_000)

test('a management client over MCP, beside the server and within it', async () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { harn: { apiKey: 'key-one' } },
      clientInfo: { name: 'c', version: '1' },
    },
  }
  const fire = {
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/call',
    params: { name: 'harn.trigger.fire', arguments: { trigger_id: 'steady', payload: { number: 9 } } },
  }
  const server = await box.serve(['--mcp'])
  const post = async (
    message: object,
    headers: { readonly [name: string]: string },
  ): Promise<{ status: number; text: string; session: string | null }> => {
    const {
      status,
      text,
      headers: given,
    } = await server.post('/mcp', message, { 'content-type': 'application/json', ...headers })
    return { status, text, session: given.get('mcp-session-id') }
  }
  expect((await post(initialize, {})).status).toBe(401)
  const authorization = 'Bearer key-one'
  const { session, text } = await post(initialize, { authorization })
  expect(JSON.parse(text)).toMatchObject({ result: { serverInfo: { name: 'harn-orchestrator' } } })
  const call = await post(fire, { authorization, 'mcp-session-id': session! })
  expect(JSON.parse(call.text)).toMatchObject({
    id: 2,
    result: { isError: false, structuredContent: { status: 'dispatched', binding_id: 'steady', result: { replay: null } } },
  })
  await server.stop()

  // On standard input, at the path that programs of the reference start.
  mkdirSync(join(box.folder, 'bin'))
  const link = join(box.folder, 'bin', 'harn')
  symlinkSync(command, link)
  const child = spawn(process.execPath, [link, 'mcp', 'serve', '--config', 'harn.toml', ...STATE], {
    cwd: box.folder,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...KEY },
  })
  let out = ''
  child.stdout.on('data', (data: Buffer) => (out += String(data)))
  const list = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'harn.trigger.list', arguments: {} } }
  const none = { jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'harn.none', arguments: {} } }
  for (const message of [{ ...list, id: 0 }, initialize, fire, list, none]) child.stdin.write(`${JSON.stringify(message)}\n`)
  child.stdin.end()
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
  const answers = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; error?: { code: number }; result?: object })
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    [0, -32_002],
    [1, undefined],
    [2, undefined],
    [3, undefined],
    [4, expect.any(Number)],
  ])
  expect(answers[2]!.result).toMatchObject({ structuredContent: { status: 'dispatched' } })
}, 120_000)

test('the command under the name of the reference', async () => {
  const link = join(box.folder, 'bin', 'harn')
  const child = spawn(process.execPath, [link, 'orchestrator', 'inspect', ...STATE, '--json'], {
    cwd: box.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (data: Buffer) => (out += String(data)))
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
  expect((JSON.parse(out) as { triggers: readonly object[] }).triggers).toHaveLength(4)
}, 60_000)
