// A connector that a project writes in Harn, on a server: deliveries for each form of result, refused effects, polls, and outbound calls. Then
// its manifest changes while it serves.

import { afterAll, expect, test } from 'vitest'
import { OrchestratorBox, until } from './orchestrator-server.js'

const KEY = { HARN_ORCHESTRATOR_API_KEYS: 'key-one' }

function makeManifest(...triggers: readonly string[]): string {
  return `[package]\nname = "desk"\n\n[[providers]]\nid = "shop"\nconnector = { harn = "shop.harn" }\n\n${triggers.join('\n')}`
}

const HOOK = `[[triggers]]
id = "orders"
kind = "webhook"
provider = "shop"
match = { path = "/hooks/shop" }
dedupe_key = "event.dedupe_key"
handler = "keep"
`
const POLL = `[[triggers]]
id = "stock"
kind = "poll"
provider = "shop"
match = { events = [] }
handler = "keep"
poll = { interval = "40ms", state_key = "shop-stock", max_batch_size = 2 }
`

const SHOP = `pub fn provider_id() { return "shop" }
pub fn kinds() { return ["webhook", "poll"] }
pub fn payload_schema() { return {harn_schema_name: "ShopEvent"} }

pub fn init(ctx) { append_file("life.txt", "init \${ctx.provider_id}\\n") }
pub fn activate(bindings) { event_log_emit("shop.activated", "activated", {bindings: bindings}) }
pub fn shutdown() { append_file("life.txt", "shutdown\\n") }

pub fn normalize_inbound(raw) {
  metrics_inc("seen", 2)
  let body = raw.body_json
  match raw.query.mode {
    "event" -> { return {type: "event", event: {kind: "order.placed", dedupe_key: body.id, payload: body + {token: secret_get("shop/token")}}} }
    "inline" -> { return {type: "event", kind: "order.inline", dedupe_key: body.id, payload: body, tenant_id: "acme", occurred_at: "2026-01-02T03:04:05Z"} }
    "legacy" -> { return {kind: "order.legacy", dedupe_key: body.id, payload: body} }
    "batch" -> { return {type: "batch", events: body.map({ each -> {kind: "order.batch", dedupe_key: each.id, payload: each} })} }
    "empty" -> { return {type: "batch", events: []} }
    "answer" -> {
      event_log_emit("shop.answers", "answered", {id: body.id})
      return {type: "immediate_response", immediate_response: {status: 202, headers: {["x-shop"]: "yes"}, body: {taken: true}}, event: {kind: "order.answered", dedupe_key: body.id, payload: body}}
    }
    "reject" -> { return {type: "reject", status: 409, body: "not now"} }
    "odd" -> { return {type: "odd"} }
    "write" -> {
      write_file("forbidden.txt", "no")
      return {type: "reject"}
    }
    _ -> { return {type: "reject", reject: {body: {text: raw.body_text, kind: raw.kind, binding: raw.binding_id, path: raw.binding_path, version: raw.binding_version}}} }
  }
}

pub fn poll_tick(ctx) {
  let at = ctx.cursor ?? 0
  if at >= 3 {
    return []
  }
  event_log_emit("shop.polls", "polled", ctx)
  return {events: [{kind: "stock.changed", dedupe_key: "stock-\${at}", payload: {at: at}}, {kind: "stock.changed", dedupe_key: "stock-0", payload: {}}], cursor: at + 1, state: {seen: at}}
}

pub fn call(method, args) {
  if method != "price" {
    throw "method_not_found: \${method}"
  }
  return {price: args.amount * 2}
}
`

const LIB = `import "std/triggers"

pub fn keep(event: TriggerEvent) -> dict {
  let price = event.kind == "order.placed" ? connector_call("shop", "price", {amount: 21}).price : nil
  append_file("events.jsonl", json_stringify({trigger: handler_context().agent, kind: event.kind, key: event.dedupe_key, price: price, tenant: event.tenant_id, at: event.occurred_at, payload: event.provider_payload}) + "\\n")
  return {ok: true}
}

pub fn keep_too(event: TriggerEvent) -> dict {
  append_file("events.jsonl", json_stringify({trigger: "too", kind: event.kind, key: event.dedupe_key}) + "\\n")
}
`

const box = new OrchestratorBox(
  { 'harn.toml': makeManifest(HOOK, POLL), 'shop.harn': SHOP, 'lib.harn': LIB },
  { HARN_SECRET_SHOP_TOKEN: 'token-1', ...KEY },
)
afterAll(async () => box.remove())

interface Kept {
  readonly trigger: string
  readonly kind: string
  readonly key: string
  readonly [name: string]: unknown
}

async function findEvent(key: string): Promise<Kept> {
  const find = (): Kept | undefined => box.readLines<Kept>('events.jsonl').find((each) => each.key === key)
  await until(() => find() !== undefined)
  return find()!
}

test('a connector in Harn, and a manifest that changes while it runs', async () => {
  const server = await box.serve()
  const send = async (mode: string, body: object | string): Promise<string> => {
    const { status, text } = await server.post(`/hooks/shop?mode=${mode}`, body)
    return `${status} ${text}`
  }
  expect((await box.listRecords('shop.activated'))[0]!.payload).toEqual({
    bindings: [
      {
        provider: 'shop',
        kind: 'webhook',
        id: 'orders',
        dedupe_key: 'event.dedupe_key',
        dedupe_retention_days: 7,
        config: expect.anything(),
      },
      { provider: 'shop', kind: 'poll', id: 'stock', dedupe_key: null, dedupe_retention_days: 7, config: expect.anything() },
    ],
  })
  expect(await send('event', { id: 'o1', amount: 1 })).toContain('"status":"accepted"')
  expect(await send('event', { id: 'o1', amount: 1 })).toContain('duplicate_dropped')
  expect(await findEvent('o1')).toMatchObject({
    kind: 'order.placed',
    price: 42,
    payload: { provider: 'shop', schema_name: 'ShopEvent', raw: { id: 'o1', amount: 1, token: 'token-1' } },
  })
  await send('inline', { id: 'o2' })
  expect(await findEvent('o2')).toMatchObject({ kind: 'order.inline', tenant: 'acme', at: '2026-01-02T03:04:05Z' })
  await send('legacy', { id: 'o3' })
  expect(await findEvent('o3')).toMatchObject({ kind: 'order.legacy' })
  expect(await send('batch', [{ id: 'o3' }, { id: 'o4' }, { id: 'o5' }])).toBe(
    '200 {"status":"accepted","events_accepted":2,"duplicates_dropped":1,"trigger_id":"orders"}',
  )
  await findEvent('o5')
  expect(await send('empty', {})).toBe('500 NormalizeResult batch must contain at least one event')
  const answered = await server.post('/hooks/shop?mode=answer', { id: 'o6' })
  expect([answered.status, answered.text, answered.headers.get('x-shop')]).toEqual([202, '{"taken":true}', 'yes'])
  await findEvent('o6')
  expect(await send('reject', {})).toBe('409 not now')
  expect(await send('odd', {})).toBe("500 unsupported NormalizeResult type 'odd'")
  expect(await send('write', {})).toMatch(/^500 connector export 'normalize_inbound' violated effect policy: /)
  expect(box.read('forbidden.txt')).toBe('')
  expect(JSON.parse((await send('none', 'no JSON')).slice(4))).toEqual({
    text: 'no JSON',
    kind: 'webhook',
    binding: 'orders',
    path: '/hooks/shop',
    version: 1,
  })
  expect((await box.listRecords('shop.answers')).map(({ payload }) => payload)).toEqual([{ id: 'o6' }])
  expect(await (await fetch(`${server.url}/metrics`)).text()).toContain('connector_custom_seen_total 22')

  // Each cursor is seen once; a key that was polled before gives no new event.
  await findEvent('stock-2')
  const polls = (await box.listRecords('shop.polls')).map(({ payload }) => payload as { readonly [name: string]: unknown })
  expect(polls.map(({ cursor, state }) => [cursor, state])).toEqual([
    [null, null],
    [1, { seen: 0 }],
    [2, { seen: 1 }],
  ])
  expect(polls[0]).toMatchObject({
    provider_id: 'shop',
    binding_id: 'stock',
    state_key: 'shop-stock',
    max_batch_size: 2,
    lease: { id: 'stock', tenant_id: null },
  })
  expect(
    box
      .readLines<Kept>('events.jsonl')
      .filter(({ key }) => key.startsWith('stock-'))
      .map(({ key }) => key),
  ).toEqual(['stock-0', 'stock-1', 'stock-2'])

  // An invalid manifest changes nothing.
  box.write('harn.toml', makeManifest(HOOK.replace('"keep"', '"gone"')))
  const refused = await server.post('/admin/reload', { source: 'test' }, { 'x-api-key': 'key-one' })
  expect(refused.status).toBe(500)
  expect(JSON.parse(refused.text)).toMatchObject({
    status: 'error',
    source: 'test',
    error: expect.stringContaining("handler 'gone' is not exported") as string,
  })
  expect((await send('reject', {})).slice(0, 3)).toBe('409')

  // The handler of one changes, the other is removed, one is added.
  const more = HOOK.replaceAll('orders', 'returns').replace('/hooks/shop', '/hooks/returns')
  box.write('harn.toml', makeManifest(HOOK.replace('"keep"', '"keep_too"'), more))
  const { code, out } = await box.run(['orchestrator', 'reload', '--state-dir', 'state', '--json'])
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { status: 'ok', source: 'cli', summary: { added: ['returns'], modified: ['orders'], removed: ['stock'], unchanged: [] } },
  ])
  await send('event', { id: 'o7' })
  expect(await findEvent('o7')).toMatchObject({ trigger: 'too' })
  expect((await server.post('/hooks/returns?mode=reject', {})).status).toBe(409)
  await until(() => box.read('state/orchestrator-state.json').includes('"returns"'))
  const snapshot = JSON.parse(box.read('state/orchestrator-state.json')) as { triggers: { id: string; version: number }[] }
  expect(snapshot.triggers.map(({ id, version }) => [id, version])).toEqual([
    ['orders', 2],
    ['returns', 1],
  ])

  // Reverted, by a signal: the old version number again.
  box.write('harn.toml', makeManifest(HOOK, POLL))
  server.child.kill('SIGHUP')
  await until(() => server.log().includes('manifest reloaded via signal (+1 ~1 -1)'))
  expect((await server.post('/hooks/returns?mode=reject', {})).status).toBe(404)
  expect(JSON.parse(box.read('state/orchestrator-state.json'))).toMatchObject({
    triggers: [
      { id: 'orders', version: 1 },
      { id: 'stock', version: 1 },
    ],
  })
  expect((await box.listRecords('orchestrator.manifest')).map(({ kind, payload }) => [kind, payload['source']])).toEqual([
    ['reload_failed', 'test'],
    ['reload_succeeded', 'cli'],
    ['reload_succeeded', 'signal'],
  ])
  expect(await server.stop()).toBe(0)
  expect(
    box
      .read('life.txt')
      .split('\n')
      .filter((line) => line !== ''),
  ).toEqual(['init shop', 'shutdown', 'init shop', 'shutdown', 'init shop', 'shutdown'])
}, 120_000)

test('with --watch the manifest is reloaded when it changes', async () => {
  box.write('harn.toml', makeManifest(HOOK))
  const server = await box.serve(['--watch'])
  box.write('harn.toml', makeManifest(HOOK.replace('/hooks/shop', '/hooks/moved')))
  await until(() => server.log().includes('manifest reloaded via file_watch'))
  expect((await server.post('/hooks/shop?mode=reject', {})).status).toBe(404)
  expect((await server.post('/hooks/moved?mode=reject', {})).status).toBe(409)
  // The code of a handler changes, and the manifest does not.
  box.write('lib.harn', LIB.replace('trigger: handler_context().agent', 'trigger: "new code"'))
  await until(() => server.log().split('manifest reloaded via file_watch').length > 2)
  await server.post('/hooks/moved?mode=legacy', { id: 'w1' })
  expect(await findEvent('w1')).toMatchObject({ trigger: 'new code' })
  expect(await server.stop()).toBe(0)
}, 60_000)
