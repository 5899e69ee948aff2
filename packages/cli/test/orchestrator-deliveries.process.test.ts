// Deliveries of every provider to one orchestrator over HTTP: valid, invalid, expired and missing signatures, and the input of the handler.

import { createHash, createHmac, createSign, generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OrchestratorBox, until } from './orchestrator-server.js'
import type { RunningOrchestrator } from './orchestrator-server.js'

const SECRET = 'It is a secret'
const STANDARD_KEY = Buffer.from('a key of a standard webhook').toString('base64')
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256' }] })

interface TriggerRow {
  readonly id: string
  readonly provider: string
  readonly kind?: string
  readonly more: string
}

function signedBy(provider: string, more = ''): string {
  return `dedupe_key = "event.dedupe_key"\nsecrets = { signing_secret = "${provider}/signing-secret" }\n${more}`
}

const ROWS: readonly TriggerRow[] = [
  { id: 'github', provider: 'github', more: signedBy('github') },
  { id: 'slack', provider: 'slack', more: signedBy('slack') },
  { id: 'linear', provider: 'linear', more: signedBy('linear') },
  {
    id: 'notion',
    provider: 'notion',
    more: 'dedupe_key = "event.dedupe_key"\nsecrets = { verification_token = "notion/verification-token" }\n',
  },
  { id: 'standard', provider: 'webhook', more: signedBy('webhook').replace('signing-secret', 'standard') },
  { id: 'stripe', provider: 'webhook', more: signedBy('webhook', 'webhook = { signature_scheme = "stripe" }\n') },
  { id: 'hub', provider: 'webhook', more: signedBy('webhook', 'webhook = { signature_scheme = "github", source = "hub" }\n') },
  {
    id: 'slow-clock',
    provider: 'webhook',
    more: signedBy('webhook', 'webhook = { signature_scheme = "slack", timestamp_tolerance_secs = 5000 }\n'),
  },
  { id: 'kafka', provider: 'kafka', kind: 'stream', more: 'dedupe_key = "event.dedupe_key"\ntopic = "orders"\n' },
  { id: 'nats', provider: 'nats', kind: 'stream', more: 'subject = "orders"\n' },
  { id: 'pulsar', provider: 'pulsar', kind: 'stream', more: 'topic = "orders"\n' },
  { id: 'cdc', provider: 'postgres-cdc', kind: 'stream', more: 'slot = "orders"\n' },
  { id: 'email', provider: 'email', kind: 'stream', more: 'address = "desk@example.com"\n' },
  { id: 'websocket', provider: 'websocket', kind: 'stream', more: 'url = "wss://example.com/feed"\n' },
  { id: 'push-open', provider: 'a2a-push', kind: 'a2a-push', more: '' },
  {
    id: 'push-jwt',
    provider: 'a2a-push',
    kind: 'a2a-push',
    more: `a2a_push = { expected_iss = "https://agent.example.com", expected_aud = "https://desk.example.com", inline_jwks = '${jwks}', expected_token = "nonce" }\n`,
  },
  { id: 'push-bearer', provider: 'a2a-push', kind: 'a2a-push', more: 'a2a_push = { expected_token = "open sesame" }\n' },
]

const box = new OrchestratorBox(
  {
    'harn.toml': `[package]\nname = "desk"\n\n${ROWS.map(
      ({ id, provider, kind = 'webhook', more }) =>
        `[[triggers]]\nid = "${id}"\nkind = "${kind}"\nprovider = "${provider}"\nmatch = { events = [], path = "/hooks/${id}" }\nhandler = "keep"\n${more}`,
    ).join('\n')}`,
    'lib.harn': `import "std/triggers"

pub fn keep(event: TriggerEvent) -> dict {
  let body = event.raw_body == nil ? nil : bytes_to_string(event.raw_body)
  append_file("events.jsonl", json_stringify(event.remove("raw_body") + {body: body, id_of_trigger: handler_context().agent}) + "\\n")
  return {ok: true}
}
`,
  },
  {
    HARN_SECRET_GITHUB_SIGNING_SECRET: SECRET,
    HARN_SECRET_SLACK_SIGNING_SECRET: SECRET,
    HARN_SECRET_LINEAR_SIGNING_SECRET: SECRET,
    HARN_SECRET_NOTION_VERIFICATION_TOKEN: SECRET,
    HARN_SECRET_WEBHOOK_SIGNING_SECRET: SECRET,
    HARN_SECRET_WEBHOOK_STANDARD: `whsec_${STANDARD_KEY}`,
    HARN_ORCHESTRATOR_API_KEYS: 'key-one,key-two',
    HARN_ORCHESTRATOR_HMAC_SECRET: SECRET,
  },
)
let server: RunningOrchestrator
beforeAll(async () => {
  server = await box.serve()
}, 60_000)
afterAll(async () => box.remove())

type Headers = { readonly [name: string]: string }

interface KeptEvent {
  readonly id_of_trigger: string
  readonly kind: string
  readonly dedupe_key: string
  readonly occurred_at: string | null
  readonly body: string | null
  readonly headers: Headers
  readonly provider_payload: { readonly [name: string]: unknown }
  readonly signature_status: { readonly state: string }
}

/** The events of a trigger, once there are this many. */
async function listEvents(trigger: string, count: number): Promise<readonly KeptEvent[]> {
  const list = (): readonly KeptEvent[] =>
    box.readLines<KeptEvent>('events.jsonl').filter(({ id_of_trigger: id }) => id === trigger)
  await until(() => list().length >= count)
  return list()
}

function hex(text: string, key: string | Buffer = SECRET): string {
  return createHmac('sha256', key).update(text).digest('hex')
}

function now(): number {
  return Math.floor(Date.now() / 1000)
}

const HASH = /^[0-9a-f]{64}$/

/** The signature of each variant; `at` are seconds since 1970. */
const SIGNERS: { [trigger: string]: (body: string, at: number, key: string) => Headers } = {
  github: (body, _at, key) => ({ 'x-hub-signature-256': `sha256=${hex(body, key)}`, 'x-github-event': 'issues' }),
  hub: (body, _at, key) => ({ 'x-hub-signature-256': `sha256=${hex(body, key)}` }),
  notion: (body, _at, key) => ({ 'x-notion-signature': `sha256=${hex(body, key)}` }),
  linear: (body, _at, key) => ({ 'linear-signature': hex(body, key), 'linear-event': 'Issue' }),
  slack: (body, at, key) => ({
    'x-slack-request-timestamp': String(at),
    'x-slack-signature': `v0=${hex(`v0:${at}:${body}`, key)}`,
  }),
  stripe: (body, at, key) => ({ 'stripe-signature': `t=${at},v1=${'0'.repeat(64)},v1=${hex(`${at}.${body}`, key)}` }),
  standard: (body, at, key) => {
    const bytes = key === SECRET ? Buffer.from(STANDARD_KEY, 'base64') : key
    const signature = createHmac('sha256', bytes).update(`msg-1.${at}.${body}`).digest('base64')
    return { 'webhook-id': 'msg-1', 'webhook-timestamp': String(at), 'webhook-signature': `v2,xx v1,${signature}` }
  },
}
SIGNERS['slow-clock'] = SIGNERS['slack']!

/** A body with the time `at`, if the variant has one in the body. */
function makeBody(trigger: string, at: number): string {
  const bodies: { readonly [trigger: string]: object } = {
    github: { action: 'opened', issue: { number: 7 }, installation: { id: 99 } },
    slack: {
      type: 'event_callback',
      event_id: 'Ev1',
      team_id: 'T1',
      event: {
        type: 'message',
        channel_type: 'channel',
        channel: 'C1',
        user: 'U1',
        text: 'hello',
        event_ts: '1715000000.000100',
      },
    },
    linear: {
      type: 'Issue',
      action: 'update',
      webhookTimestamp: at * 1000,
      webhookId: 'hook-1',
      data: { id: 'i1', title: 'New' },
      updatedFrom: { title: 'Old', priority: 2, labelIds: [{ id: 'a' }, 'b'], sortOrder: 1, odd: true },
    },
    notion: { type: 'page.content_updated', entity: { id: 'p1', type: 'page' }, attempt_number: '2' },
    stripe: { id: 'evt_1', type: 'charge.failed' },
    standard: { type: 'invoice.paid' },
    hub: { event: 'ping' },
    'slow-clock': { event_id: 'Ev2', type: 'late' },
  }
  return JSON.stringify(bodies[trigger])
}

const TIMED = ['slack', 'linear', 'stripe', 'standard', 'slow-clock']

const MISSING: { readonly [trigger: string]: string } = {
  github: 'missing required header `X-Hub-Signature-256`',
  hub: 'missing required header `X-Hub-Signature-256`',
  notion: 'missing required header `X-Notion-Signature`',
  linear: 'missing required header `Linear-Signature`',
  slack: 'missing required header `X-Slack-Signature`',
  'slow-clock': 'missing required header `X-Slack-Signature`',
  stripe: 'missing required header `Stripe-Signature`',
  standard: 'missing required header `webhook-id`',
}

const MISMATCHES: { readonly [trigger: string]: string } = {
  slack: 'slack signature mismatch',
  'slow-clock': 'slack signature mismatch',
  stripe: 'no stripe signature matched the raw request body',
  standard: 'no standard-webhooks signature matched the raw request body',
}

const EXPECTED: { readonly [trigger: string]: Partial<KeptEvent> } = {
  github: {
    kind: 'issues.opened',
    dedupe_key: 'd-1',
    provider_payload: {
      provider: 'github',
      event: 'issues',
      action: 'opened',
      delivery_id: 'd-1',
      installation_id: 99,
      issue: { number: 7 },
      raw: expect.anything(),
    },
  },
  slack: {
    kind: 'message.channels',
    dedupe_key: 'Ev1',
    occurred_at: '2024-05-06T12:53:20Z',
    provider_payload: expect.objectContaining({
      channel_id: 'C1',
      user_id: 'U1',
      text: 'hello',
      team_id: 'T1',
      thread_ts: null,
    }) as never,
  },
  linear: {
    kind: 'issue.update',
    dedupe_key: 'd-1',
    provider_payload: expect.objectContaining({
      event: 'issue',
      action: 'update',
      webhook_id: 'hook-1',
      issue: { id: 'i1', title: 'New' },
      changes: [
        { field_name: 'label_ids', previous: ['a', 'b'] },
        { field_name: 'other', field: 'odd', previous: true },
        { field_name: 'priority', previous: 2 },
        { field_name: 'sort_order', previous: 1 },
        { field_name: 'title', previous: 'Old' },
      ],
    }) as never,
  },
  notion: {
    kind: 'page.content_updated',
    dedupe_key: expect.stringMatching(/^notion:p1:\d+$/) as never,
    provider_payload: expect.objectContaining({ entity_id: 'p1', entity_type: 'page', attempt_number: 2, polled: null }) as never,
  },
  stripe: { kind: 'charge.failed', dedupe_key: 'evt_1' },
  standard: { kind: 'invoice.paid', dedupe_key: 'msg-1' },
  hub: { kind: 'ping', dedupe_key: 'd-1', provider_payload: expect.objectContaining({ source: 'hub' }) as never },
  'slow-clock': { kind: 'late', dedupe_key: 'Ev2' },
}

test.each(Object.keys(SIGNERS))(
  'a delivery of %s is judged by its signature',
  async (trigger) => {
    const sign = SIGNERS[trigger]!
    const path = `/hooks/${trigger}`
    const ids = {
      'x-github-delivery': 'd-1',
      'linear-delivery': 'd-1',
      authorization: 'Bearer hidden',
      'content-type': 'application/json',
    }
    const at = now()
    const body = makeBody(trigger, at)
    const send = async (signed: Headers, text = body): Promise<string> => {
      const { status, text: answer } = await server.post(path, text, { ...ids, ...signed })
      return `${status} ${answer}`
    }
    // A refused delivery leaves no trace: the valid one is the first of its key.
    expect(await send({})).toBe(`400 ${MISSING[trigger]}`)
    expect(await send(sign(body, at, 'another key'))).toBe(
      `400 ${MISMATCHES[trigger] ?? 'signature did not match the raw request body'}`,
    )
    expect(await send(sign(body, at, SECRET), `${body} `)).toBe(
      `400 ${MISMATCHES[trigger] ?? 'signature did not match the raw request body'}`,
    )
    if (TIMED.includes(trigger))
      for (const shift of [-6000, 6000]) {
        const late = makeBody(trigger, at + shift)
        const seconds = { linear: 75, 'slow-clock': 5000 }[trigger] ?? 300
        expect(await send(sign(late, at + shift, SECRET), late)).toMatch(
          new RegExp(`^400 timestamp \\S+ is outside the allowed verification window of ${seconds}s around \\S+$`),
        )
      }
    if (trigger === 'slow-clock') expect(await send(sign(body, at - 4000, SECRET))).toContain('"status":"accepted"')
    else
      expect(await send(sign(body, at, SECRET))).toMatch(
        new RegExp(`^200 \\{"status":"accepted","event_id":"\\d+","trigger_id":"${trigger}"\\}$`),
      )
    expect(await send(sign(body, at, SECRET))).toBe(`200 {"status":"duplicate_dropped","trigger_id":"${trigger}"}`)
    const events = await listEvents(trigger, 1)
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({ ...EXPECTED[trigger], body, signature_status: { state: 'verified' } })
    expect(events[0]!.headers).toMatchObject({ authorization: '[redacted]', 'content-type': 'application/json' })
  },
  60_000,
)

test('every rejection is audited', async () => {
  const before = (await box.listRecords('audit.signature_verify')).length
  await server.post('/hooks/slack', '{}', SIGNERS['slack']!('{}', now() - 1000, SECRET))
  await server.post('/hooks/github', '{}', SIGNERS['github']!('{}', 0, 'wrong'))
  const records = (await box.listRecords('audit.signature_verify')).slice(before)
  expect(records.map(({ kind, payload }) => [kind, payload])).toEqual([
    [
      'signature_rejected',
      expect.objectContaining({
        provider: 'slack',
        style: 'slack',
        window_seconds: 300,
        signed_at: expect.any(String) as string,
      }),
    ],
    [
      'signature_rejected',
      expect.objectContaining({ provider: 'github', style: 'github', window_seconds: null, signed_at: null }),
    ],
  ])
}, 60_000)

test('Slack gets its challenge back, and is told not to retry an invalid delivery', async () => {
  const body = JSON.stringify({ type: 'url_verification', challenge: 'c-1' })
  const { status, text } = await server.post('/hooks/slack', body, SIGNERS['slack']!(body, now(), SECRET))
  expect([status, text]).toEqual([200, 'c-1'])
  const refused = await server.post('/hooks/slack', body, {})
  expect([refused.status, refused.headers.get('x-slack-no-retry')]).toEqual([400, '1'])
})

test('the handshake of Notion is answered and recorded, and is not an event', async () => {
  const { status, text } = await server.post('/hooks/notion', { verification_token: 'secret_abc' })
  expect([status, JSON.parse(text)]).toEqual([200, { status: 'handshake_captured', verification_token: 'secret_abc' }])
  const [record] = await box.listRecords('connectors.notion.webhook.handshake')
  expect(record).toMatchObject({
    kind: 'subscription.verification',
    payload: { event: { kind: 'subscription.verification', dedupe_key: 'notion-handshake:notion' } },
  })
}, 60_000)

test('a body that is not JSON is kept unchanged', async () => {
  const body = 'not \u{e4} JSON'
  const { status } = await server.post('/hooks/hub', body, { ...SIGNERS['hub']!(body, 0, SECRET), 'x-github-delivery': 'plain' })
  expect(status).toBe(200)
  const events = await listEvents('hub', 2)
  expect(events.at(-1)).toMatchObject({
    kind: 'webhook',
    body,
    provider_payload: { raw: { raw_base64: Buffer.from(body).toString('base64'), raw_utf8: body } },
  })
})

test.each([
  [
    'kafka',
    { topic: 'orders', partition: 3, offset: 42, key: 'k-1', event: 'order.created', ts: 17 },
    { kind: 'order.created', dedupe_key: 'k-1' },
    { stream: 'orders', partition: '3', offset: '42', key: 'k-1', timestamp: '17' },
  ],
  [
    'nats',
    { subject: 'orders', sequence: 9, connector: 'n1' },
    { kind: 'stream.message', dedupe_key: 'orders:9' },
    { stream: 'orders', offset: '9', source: 'n1', key: null },
  ],
  ['pulsar', { topic: 'orders', message_id: 'm-1', type: 'placed' }, { kind: 'placed', dedupe_key: 'm-1' }, { offset: 'm-1' }],
  [
    'cdc',
    { slot: 'orders', lsn: '0/16', id: 5 },
    { kind: 'stream.message', dedupe_key: '5' },
    { stream: 'orders', offset: '0/16', key: '5' },
  ],
  ['email', { mailbox: 'desk', dedupe_key: 'own', kind: 'mail' }, { kind: 'mail', dedupe_key: 'own' }, { stream: 'desk' }],
  [
    'websocket',
    { channel: 'feed' },
    { kind: 'stream.message', dedupe_key: expect.stringMatching(/^sha256:/) as string },
    { stream: 'feed' },
  ],
] as const)('a message of the stream %s', async (trigger, body, event, payload) => {
  expect((await server.post(`/hooks/${trigger}`, body)).status).toBe(200)
  const events = await listEvents(trigger, 1)
  expect(events[0]).toMatchObject({
    ...event,
    signature_status: { state: 'unsigned' },
    provider_payload: { ...payload, raw: body },
  })
  if (trigger === 'kafka') expect((await server.post('/hooks/kafka', body)).text).toContain('duplicate_dropped')
})

function canonical(path: string, body: string, at: number, key = SECRET): Headers {
  const hash = createHash('sha256').update(body).digest('hex')
  expect(hash).toMatch(HASH)
  const signature = createHmac('sha256', key).update(`POST\n${path}\n${at}\n${hash}`).digest('base64')
  return { authorization: `HMAC-SHA256 key-id=k,timestamp=${at},signature=${signature}` }
}

test('a push without a table needs a credential of the orchestrator', async () => {
  const body = JSON.stringify({ taskId: 'task-1', status: { state: 'cancelled' }, sender: 'agent' })
  const path = '/hooks/push-open'
  const statuses: number[] = []
  for (const headers of [
    {},
    { authorization: 'Bearer key-three' },
    { 'x-api-key': 'key-three' },
    canonical(path, body, now(), 'other'),
    canonical(path, body, now() - 400),
    canonical('/hooks/other', body, now()),
  ]) {
    const { status, text } = await server.post(path, body, headers)
    expect(text).toBe('auth failed')
    statuses.push(status)
  }
  expect(new Set(statuses)).toEqual(new Set([401]))
  for (const headers of [{ authorization: 'Bearer key-one' }, { 'x-api-key': 'key-two' }, canonical(path, body, now())])
    expect((await server.post(path, body, headers)).status).toBe(200)
  const events = await listEvents('push-open', 3)
  expect(events[0]).toMatchObject({
    kind: 'push',
    provider_payload: { task_id: 'task-1', task_state: 'canceled', kind: 'a2a.task.canceled', sender: 'agent' },
  })
})

function makeToken(claims: object, key = privateKey): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'RS256', kid: 'one' })}.${part(claims)}`
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`
}

test('a push with a token of its agent: issuer, audience, time, task, and only once', async () => {
  const body = { taskId: 'task-2', status: { state: 'completed' } }
  const at = now()
  const good = {
    iss: 'https://agent.example.com',
    aud: ['https://desk.example.com'],
    iat: at,
    exp: at + 60,
    jti: 'j-1',
    token: 'nonce',
    taskId: 'task-2',
  }
  const send = async (token: string): Promise<string> => {
    const { status, text } = await server.post('/hooks/push-jwt', body, { authorization: `Bearer ${token}` })
    return `${status} ${text}`
  }
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  expect(await send(makeToken(good, other))).toMatch(/^400 a2a-push JWT is invalid: /)
  for (const [change, problem] of [
    [{ iss: 'https://else.example.com' }, 'issuer'],
    [{ aud: 'https://else.example.com' }, 'audience'],
    [{ iat: at + 600 }, 'issued in the future'],
    [{ exp: at - 1 }, 'expired'],
    [{ jti: '' }, 'jti'],
    [{ token: 'other' }, 'token'],
    [{ taskId: 'task-3' }, 'task'],
  ] as const)
    expect(await send(makeToken({ ...good, ...change }))).toMatch(new RegExp(`^400 a2a-push JWT .*${problem}`))
  expect((await server.post('/hooks/push-jwt', body, {})).text).toBe('missing required header `Authorization`')
  expect(await send(makeToken(good))).toContain('"status":"accepted"')
  expect(await send(makeToken(good))).toBe('400 a2a-push JWT jti `j-1` has already been accepted')
  const events = await listEvents('push-jwt', 1)
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({
    kind: 'a2a.task.completed',
    dedupe_key: 'j-1',
    signature_status: { state: 'verified' },
    provider_payload: { sender: 'https://agent.example.com', task_state: 'completed' },
  })
}, 60_000)

test('a push with a shared token', async () => {
  const body = { task: { id: 't' }, artifactUpdate: { artifact: { name: 'a' } } }
  expect((await server.post('/hooks/push-bearer', body, { authorization: 'Bearer wrong' })).status).toBe(400)
  expect((await server.post('/hooks/push-bearer', body, { authorization: 'Bearer open sesame' })).status).toBe(200)
  expect((await server.post('/hooks/push-bearer', body, { 'x-a2a-notification-token': 'open sesame' })).status).toBe(200)
  const events = await listEvents('push-bearer', 2)
  expect(events[0]).toMatchObject({ kind: 'a2a.task.artifact', provider_payload: { artifact: { name: 'a' }, task_id: 't' } })
})

test('other paths, methods and bodies', async () => {
  const get = async (path: string, method = 'GET'): Promise<string> => {
    const response = await fetch(`${server.url}${path}`, { method })
    return `${response.status} ${await response.text()}`
  }
  expect(await get('/health')).toBe('200 ok')
  expect(await get('/healthz')).toBe('200 ok')
  expect(await get('/readyz')).toBe('200 ready')
  expect(await get('/hooks/none', 'POST')).toBe('404 trigger route not configured')
  expect(await get('/hooks/github')).toMatch(/^405 /)
  expect(await get('/admin/reload', 'POST')).toBe('401 auth failed')
  expect(await get('/metrics')).toContain('harn_trigger_dispatched_total{trigger_id="push-jwt"} 1')
  const tooLarge = await server.post('/hooks/kafka', 'x'.repeat((10 << 20) + 1))
  expect(tooLarge.status).toBe(413)
})

test('it stops with no pending work', async () => {
  expect(await server.stop()).toBe(0)
  expect(server.log()).not.toContain('warning')
}, 60_000)
