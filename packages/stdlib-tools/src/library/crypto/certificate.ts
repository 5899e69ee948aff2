// Self-signed X.509 certificates for development servers: P-256, SHA-256, a year of validity, the hosts as alternative names.
// Just enough DER to write one; nothing here reads any.

import { encodeBase64, utf8 } from '@bridle/vm/families'
import { p256 } from '@noble/curves/nist.js'

type Der = Uint8Array

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function element(tag: number, ...content: readonly Uint8Array[]): Der {
  const body = join(content)
  const digits: number[] = []
  for (let rest = body.length; rest > 0; rest >>= 8) digits.unshift(rest & 0xff)
  const length = body.length < 0x80 ? [body.length] : [0x80 | digits.length, ...digits]
  return join([Uint8Array.of(tag, ...length), body])
}

const sequence = (...content: readonly Der[]): Der => element(0x30, ...content)
const set = (...content: readonly Der[]): Der => element(0x31, ...content)
const octets = (content: Uint8Array): Der => element(0x04, content)
const bits = (content: Uint8Array): Der => element(0x03, Uint8Array.of(0), content)

/** A number that is not negative: a leading zero where the first bit is set. */
function integer(bytes: Uint8Array): Der {
  return element(0x02, bytes[0]! & 0x80 ? join([Uint8Array.of(0), bytes]) : bytes)
}

function objectId(hex: string): Der {
  return element(
    0x06,
    Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16)),
  )
}

const EC_PUBLIC_KEY = '2a8648ce3d0201'
const P256 = '2a8648ce3d030107'
const ECDSA_SHA256 = '2a8648ce3d040302'
const COMMON_NAME = '550403'
const ALTERNATIVE_NAMES = '551d11'

function time(millis: number): Der {
  return element(0x17, utf8(`${new Date(millis).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
}

function name(text: string): Der {
  return sequence(set(sequence(objectId(COMMON_NAME), element(0x0c, utf8(text)))))
}

/** DNS names and IPv4 addresses. */
function alternativeName(host: string): Der {
  const address = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host) ? host.split('.').map(Number) : null
  return address === null ? element(0x82, utf8(host)) : element(0x87, Uint8Array.from(address))
}

function pem(label: string, content: Uint8Array): string {
  const lines = encodeBase64(content).match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

const DAY_MS = 86_400_000

/** `random` has 48 bytes: 32 for the key, 16 for the serial number. */
export function selfSigned(
  hosts: readonly string[],
  random: Uint8Array,
  nowMs: number,
): { readonly certificate: string; readonly key: string } {
  const secret = random.slice(0, 32)
  // Clearing the top bit keeps the scalar below the order of the curve, setting the last one keeps it from being zero.
  secret[0]! &= 0x7f
  secret[31]! |= 1
  const point = p256.getPublicKey(secret, false)
  const serial = random.slice(32, 48)
  serial[0] = (serial[0]! & 0x7f) | 0x40
  const subject = name(hosts[0] ?? 'localhost')
  const algorithm = sequence(objectId(ECDSA_SHA256))
  const publicKey = sequence(sequence(objectId(EC_PUBLIC_KEY), objectId(P256)), bits(point))
  const names = sequence(sequence(objectId(ALTERNATIVE_NAMES), octets(sequence(...hosts.map(alternativeName)))))
  const body = sequence(
    element(0xa0, integer(Uint8Array.of(2))),
    integer(serial),
    algorithm,
    subject,
    sequence(time(nowMs - DAY_MS), time(nowMs + 365 * DAY_MS)),
    subject,
    publicKey,
    element(0xa3, names),
  )
  const signature = p256.sign(body, secret, { format: 'der' })
  const privateKey = sequence(integer(Uint8Array.of(1)), octets(secret), element(0xa1, bits(point)))
  return {
    certificate: pem('CERTIFICATE', sequence(body, algorithm, bits(signature))),
    key: pem(
      'PRIVATE KEY',
      sequence(integer(Uint8Array.of(0)), sequence(objectId(EC_PUBLIC_KEY), objectId(P256)), octets(privateKey)),
    ),
  }
}
