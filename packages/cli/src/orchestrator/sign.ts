// Signs a request as administrators do: HMAC over method, path, time and body.

import { createHash, createHmac } from 'node:crypto'

/** The header `Authorization`. */
export function signCanonical(secret: string, method: string, path: string, body: string, now = Date.now()): string {
  const timestamp = Math.floor(now / 1000)
  const digest = createHash('sha256').update(body).digest('hex')
  const text = `${method}\n${path}\n${timestamp}\n${digest}`
  return `HMAC-SHA256 timestamp=${timestamp},signature=${createHmac('sha256', secret).update(text).digest('base64')}`
}
