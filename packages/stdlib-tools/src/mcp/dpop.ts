// Tokens that are bound to a key of this program (DPoP, RFC 9449; an extension of the protocol's authorization): a stolen token
// is of no use without the key. Each request for a token, and each with one, carries a proof: a signed statement of its method and address. A
// server that wants to know that proofs are fresh gives a nonce, which the next one repeats.

import { encodeBase64Url } from '@bridle/vm/families'
import type { webcrypto } from 'node:crypto'
import { parseUrl } from '@bridle/compiler/grants'

type Fetch = typeof globalThis.fetch

/** What is signed with; every server that takes proofs knows it. */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const
const NONCE_WANTED = 'use_dpop_nonce'

const encodeText = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const encodeJson = (value: unknown): string => encodeBase64Url(encodeText(JSON.stringify(value)))

export class ProofKey {
  private readonly key: webcrypto.CryptoKey
  /** Both halves, as they are stored. */
  private readonly whole: webcrypto.JsonWebKey
  /** Of each server (by origin) the nonce that it gave last. */
  private readonly nonces = new Map<string, string>()

  private constructor(key: webcrypto.CryptoKey, whole: webcrypto.JsonWebKey) {
    this.key = key
    this.whole = whole
  }

  static async generate(): Promise<ProofKey> {
    const { privateKey } = await crypto.subtle.generateKey(ALGORITHM, true, ['sign'])
    return new ProofKey(privateKey, await crypto.subtle.exportKey('jwk', privateKey))
  }

  /** Throws for what `write` did not make. */
  static async read(text: string): Promise<ProofKey> {
    const whole = JSON.parse(text) as webcrypto.JsonWebKey
    return new ProofKey(await crypto.subtle.importKey('jwk', whole, ALGORITHM, true, ['sign']), whole)
  }

  /** With the secret half. */
  write(): string {
    const { kty, crv, x, y, d } = this.whole
    return JSON.stringify({ kty, crv, x, y, d })
  }

  /** A proof is good for one request. `token`: the one that the request carries; null where it asks for one. */
  async prove(method: string, url: URL, token: string | null): Promise<string> {
    const { kty, crv, x, y } = this.whole
    const nonce = this.nonces.get(url.origin)
    const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } }
    const claims = {
      jti: crypto.randomUUID(),
      htm: method,
      htu: url.origin + url.pathname,
      iat: Math.floor(Date.now() / 1000),
      ...(token === null
        ? {}
        : { ath: encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', encodeText(token)))) }),
      ...(nonce === undefined ? {} : { nonce }),
    }
    const signed = `${encodeJson(header)}.${encodeJson(claims)}`
    const signature = await crypto.subtle.sign(SIGNATURE, this.key, encodeText(signed))
    return `${signed}.${encodeBase64Url(new Uint8Array(signature))}`
  }

  /** Keeps the nonce that an answer brings. Whether the request was refused for the want of it, and is to be sent again. */
  async takeNonce(url: URL, answer: Response): Promise<boolean> {
    const nonce = answer.headers.get('dpop-nonce')
    if (nonce === null) return false
    const isNew = this.nonces.get(url.origin) !== nonce
    this.nonces.set(url.origin, nonce)
    if (!isNew) return false
    if (answer.status === 401) return (answer.headers.get('www-authenticate') ?? '').includes(NONCE_WANTED)
    if (answer.status !== 400) return false
    const said = (await answer
      .clone()
      .json()
      .catch(() => null)) as { readonly error?: unknown } | null
    return said?.error === NONCE_WANTED
  }
}

/** Whether the server of an answer wants tokens that are bound to a key. */
export function asksForProof(answer: Response): boolean {
  return /^\s*dpop\b/i.test(answer.headers.get('www-authenticate') ?? '')
}

/** The challenge as one of a bearer token, which readers of challenges know. */
export function asBearerChallenge(answer: Response): Response {
  if (!asksForProof(answer)) return answer
  const headers = new Headers(answer.headers)
  headers.set('www-authenticate', answer.headers.get('www-authenticate')!.replace(/^\s*dpop/i, 'Bearer'))
  return new Response(null, { status: answer.status, headers })
}

/** Requests for tokens carry a proof; others go as they are. */
export function proveTokenRequests(base: Fetch, key: ProofKey): Fetch {
  return async (input, init) => {
    const url = parseUrl(input instanceof Request ? input.url : String(input))
    const { body } = init ?? {}
    if (url === null || !(body instanceof URLSearchParams) || !body.has('grant_type')) return base(input, init)
    for (let isAgain = false; ; isAgain = true) {
      const headers = new Headers(init?.headers)
      headers.set('dpop', await key.prove('POST', new URL(url.href), null))
      const answer = await base(input, { ...init, headers })
      if (!(await key.takeNonce(new URL(url.href), answer)) || isAgain) return answer
      await answer.body?.cancel()
    }
  }
}
