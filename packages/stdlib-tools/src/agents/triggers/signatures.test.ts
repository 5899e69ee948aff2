// Signatures of webhooks against those that node:crypto makes by each service's own rule.

import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SIGNATURE_VARIANTS, readDeliveryKey, verifySignature } from './signatures.js'
import type { SignatureVariant, SignedRequest } from './signatures.js'

const NOW = 1_700_000_000_000
const SECONDS = String(NOW / 1000)
const SECRET = "It's a Secret to Everybody"
const STANDARD_SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789').toString('base64')}`
const BODY = JSON.stringify({ webhookTimestamp: NOW, text: 'ü', id: 'evt_1', event_id: 'Ev1' })

const digest = (key: string | Buffer, text: string, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', key).update(text).digest(encoding)

/** A request that each service would send: its headers, made of the body, the secret and the time. */
const SIGNERS: {
  readonly [variant in SignatureVariant]: (body: string, secret: string, seconds: string) => Record<string, string>
} = {
  github: (body, secret) => ({ 'X-Hub-Signature-256': `sha256=${digest(secret, body, 'hex')}`, 'X-GitHub-Delivery': 'd-1' }),
  notion: (body, secret) => ({ 'X-Notion-Signature': `sha256=${digest(secret, body, 'hex')}` }),
  linear: (body, secret) => ({ 'Linear-Signature': digest(secret, body, 'hex'), 'Linear-Delivery': 'l-1' }),
  slack: (body, secret, seconds) => ({
    'X-Slack-Signature': `v0=${digest(secret, `v0:${seconds}:${body}`, 'hex')}`,
    'X-Slack-Request-Timestamp': seconds,
  }),
  stripe: (body, secret, seconds) => ({
    'Stripe-Signature': `t=${seconds},v1=${'0'.repeat(64)},v1=${digest(secret, `${seconds}.${body}`, 'hex')},v0=x`,
  }),
  standard: (body, secret, seconds) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,AAAA v1,${digest(Buffer.from(secret.replace('whsec_', ''), 'base64'), `msg_1.${seconds}.${body}`, 'base64')} v2,x`,
  }),
  canonical: (body, secret, seconds) => {
    const hash = createHash('sha256').update(body).digest('hex')
    const signature = digest(secret, `POST\n/admin/reload?x=1\n${seconds}\n${hash}`, 'base64')
    return { Authorization: `HMAC-SHA256 key-id=a,timestamp=${seconds},signature=${signature}` }
  },
}

const pickSecret = (variant: SignatureVariant): string => (variant === 'standard' ? STANDARD_SECRET : SECRET)

function makeRequest(variant: SignatureVariant, { body = BODY, seconds = SECONDS } = {}): SignedRequest {
  const headers = SIGNERS[variant](body, pickSecret(variant), seconds)
  return { headers, body: Buffer.from(body), method: 'post', path: '/admin/reload?x=1' }
}

const verify = (
  variant: SignatureVariant,
  request: SignedRequest,
  { secret = pickSecret(variant), nowMs = NOW, ...options }: { secret?: string; nowMs?: number; toleranceSeconds?: number } = {},
) => verifySignature(variant, request, secret, { nowMs, ...options })

/** The header that has the signature. */
const HEADER: { readonly [variant in SignatureVariant]: string } = {
  github: 'X-Hub-Signature-256',
  notion: 'X-Notion-Signature',
  linear: 'Linear-Signature',
  slack: 'X-Slack-Signature',
  stripe: 'Stripe-Signature',
  standard: 'webhook-signature',
  canonical: 'Authorization',
}

const MISMATCH: { readonly [variant in SignatureVariant]: string } = {
  github: 'signature did not match the raw request body',
  notion: 'signature did not match the raw request body',
  linear: 'signature did not match the raw request body',
  slack: 'slack signature mismatch',
  stripe: 'no stripe signature matched the raw request body',
  standard: 'no standard-webhooks signature matched the raw request body',
  canonical: 'signature did not match the canonical request',
}

describe.each(SIGNATURE_VARIANTS)('%s', (variant) => {
  test('takes what was signed, whatever the case of header names', () => {
    const request = makeRequest(variant)
    expect(verify(variant, request)).toMatchObject({ ok: true, reason: '' })
    const lower = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]))
    expect(verify(variant, { ...request, headers: lower }).ok).toBe(true)
    const listed = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, [value as string]]))
    expect(verify(variant, { ...request, headers: listed }).ok).toBe(true)
  })

  test('refuses another body, another secret, and each changed character of the signature', () => {
    const request = makeRequest(variant)
    const body = Buffer.from(BODY.replace('evt_1', 'evt_2'))
    expect(verify(variant, { ...request, body })).toMatchObject({ ok: false, reason: MISMATCH[variant] })
    const other = variant === 'standard' ? `whsec_${Buffer.from('another').toString('base64')}` : 'another'
    expect(verify(variant, request, { secret: other })).toMatchObject({ ok: false, reason: MISMATCH[variant] })
    const name = HEADER[variant]
    const given = request.headers[name] as string
    // The last 40 characters lie within the digest, or in the ignored part after it.
    const accepted = Array.from({ length: 40 }, (_, at) => {
      const place = given.length - 5 - at
      const changed = given.slice(0, place) + (given[place] === 'a' ? 'b' : 'a') + given.slice(place + 1)
      return verify(variant, { ...request, headers: { ...request.headers, [name]: changed } }).ok
    })
    expect(accepted.filter(Boolean)).toEqual([])
  })

  test('refuses what is missing, empty or there twice', () => {
    const request = makeRequest(variant)
    const name = HEADER[variant]
    const withHeader = (value: string | readonly string[] | undefined): SignedRequest => ({
      ...request,
      headers: { ...request.headers, [name]: value },
    })
    const missing = `missing required header \`${name}\``
    expect(verify(variant, withHeader(undefined)).reason).toBe(missing)
    expect(verify(variant, withHeader(' ')).reason).toBe(missing)
    const given = request.headers[name] as string
    const doubled = `invalid header \`${name}\`: it is there more than once`
    expect(verify(variant, withHeader([given, given])).reason).toBe(doubled)
    expect(
      verify(variant, {
        ...request,
        headers: { ...request.headers, [name.toUpperCase() + '']: given, [name.toLowerCase()]: given },
      }).reason,
    ).toBe(doubled)
    expect(verify(variant, withHeader('nonsense')).ok).toBe(false)
    expect(verify(variant, request, { secret: '' }).reason).toBe('the signing secret is empty')
  })
})

describe.each([
  ['slack', 300],
  ['stripe', 300],
  ['standard', 300],
  ['canonical', 300],
  ['linear', 75],
] as const)('%s is fresh for %i s', (variant, window) => {
  test.each([
    [window * 1000, true],
    [window * 1000 + 1, false],
    [-window * 1000, true],
    [-window * 1000 - 1, false],
  ])('%i ms after it was signed: %s', (later, ok) => {
    const found = verify(variant, makeRequest(variant), { nowMs: NOW + later })
    expect([found.ok, found.signedAtMs, found.windowSeconds]).toEqual([ok, NOW, window])
    if (!ok)
      expect(found.reason).toBe(
        `timestamp ${new Date(NOW).toISOString()} is outside the allowed verification window of ${window}s around ${new Date(NOW + later).toISOString()}`,
      )
  })

  test('a tolerance of its own', () => {
    expect(verify(variant, makeRequest(variant), { nowMs: NOW + 2000, toleranceSeconds: 1 }).ok).toBe(false)
    expect(verify(variant, makeRequest(variant), { nowMs: NOW + 1e6, toleranceSeconds: 1000 }).ok).toBe(true)
  })
})

test.each([
  [
    'slack',
    { 'X-Slack-Request-Timestamp': '1.7e9' },
    'invalid header `X-Slack-Request-Timestamp`: expected a timestamp in seconds',
  ],
  ['slack', { 'X-Slack-Request-Timestamp': undefined }, 'missing required header `X-Slack-Request-Timestamp`'],
  ['standard', { 'webhook-id': undefined }, 'missing required header `webhook-id`'],
  ['standard', { 'webhook-timestamp': '-5' }, 'invalid header `webhook-timestamp`: expected a timestamp in seconds'],
  ['stripe', { 'Stripe-Signature': 'v1=00' }, 'invalid header `Stripe-Signature`: expected one t='],
  ['stripe', { 'Stripe-Signature': `t=${SECONDS},t=1,v1=00` }, 'invalid header `Stripe-Signature`: expected one t='],
  ['stripe', { 'Stripe-Signature': `t=${SECONDS}` }, 'invalid header `Stripe-Signature`: expected at least one v1='],
  ['canonical', { Authorization: 'Bearer x' }, 'invalid header `Authorization`: expected HMAC-SHA256 timestamp=…,signature=…'],
  ['canonical', { Authorization: 'HMAC-SHA256 signature=AAAA' }, 'invalid header `Authorization`: expected one timestamp='],
  [
    'github',
    { 'X-Hub-Signature-256': 'sha1=00' },
    'invalid header `X-Hub-Signature-256`: expected sha256= and 64 hexadecimal digits',
  ],
] as const)('%s refuses %j', (variant, headers, reason) => {
  const request = makeRequest(variant)
  expect(verify(variant, { ...request, headers: { ...request.headers, ...headers } })).toMatchObject({ ok: false, reason })
})

test('linear needs its timestamp in the body', () => {
  for (const [body, reason] of [
    ['no json', 'the body is no JSON, so it has no webhookTimestamp'],
    ['{}', 'the body has no webhookTimestamp in milliseconds'],
    ['null', 'the body has no webhookTimestamp in milliseconds'],
    ['{"webhookTimestamp":"soon"}', 'the body has no webhookTimestamp in milliseconds'],
  ] as const)
    expect(verify('linear', makeRequest('linear', { body }))).toMatchObject({ ok: false, reason })
  expect(verify('linear', makeRequest('linear', { body: `{"webhookTimestamp":"${NOW}"}` })).ok).toBe(true)
})

test('a signature holds for one method and one path', () => {
  const request = makeRequest('canonical')
  expect(verify('canonical', { ...request, method: 'GET' }).ok).toBe(false)
  expect(verify('canonical', { ...request, path: '/admin/reload' }).ok).toBe(false)
  const { method: _method, ...unplaced } = request
  expect(verify('canonical', unplaced).ok).toBe(false)
})

test('a secret of standard webhooks is base64, with or without its mark', () => {
  const request = makeRequest('standard')
  expect(verify('standard', request, { secret: STANDARD_SECRET.replace('whsec_', '') }).ok).toBe(true)
  expect(verify('standard', request, { secret: 'not base64!' }).reason).toBe(
    'the signing secret is no base64 text, with or without whsec_ in front',
  )
})

test('deliveries by name, else by a digest of the body', () => {
  const key = (variant: SignatureVariant, body: unknown = JSON.parse(BODY)): string =>
    readDeliveryKey(variant, makeRequest(variant), body)
  const hash = `sha256:${createHash('sha256').update(BODY).digest('hex')}`
  expect(SIGNATURE_VARIANTS.map((variant) => [variant, key(variant)])).toEqual([
    ['github', 'd-1'],
    ['notion', hash],
    ['linear', 'l-1'],
    ['slack', 'Ev1'],
    ['stripe', 'evt_1'],
    ['standard', 'msg_1'],
    ['canonical', hash],
  ])
  expect(key('slack', null)).toBe(hash)
  expect(key('stripe', { id: 5 })).toBe(hash)
})
