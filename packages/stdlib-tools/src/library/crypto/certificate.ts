// Self-signed X.509 certificates for development servers: P-256, SHA-256, a year of validity, the hosts as alternative names.
// Just enough DER to write one; nothing here reads any.

import { encodeBase64, toUtf8 } from '@bridle/vm/families'
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

function encodeElement(tag: number, ...content: readonly Uint8Array[]): Der {
  const body = join(content)
  const digits: number[] = []
  for (let rest = body.length; rest > 0; rest >>= 8) digits.unshift(rest & 0xff)
  const length = body.length < 0x80 ? [body.length] : [0x80 | digits.length, ...digits]
  return join([Uint8Array.of(tag, ...length), body])
}

const encodeSequence = (...content: readonly Der[]): Der => encodeElement(0x30, ...content)
const set = (...content: readonly Der[]): Der => encodeElement(0x31, ...content)
const encodeOctets = (content: Uint8Array): Der => encodeElement(0x04, content)
const encodeBits = (content: Uint8Array): Der => encodeElement(0x03, Uint8Array.of(0), content)

/** A number that is not negative: a leading zero where the first bit is set. */
function encodeInteger(bytes: Uint8Array): Der {
  return encodeElement(0x02, bytes[0]! & 0x80 ? join([Uint8Array.of(0), bytes]) : bytes)
}

function encodeObjectId(hex: string): Der {
  return encodeElement(
    0x06,
    Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16)),
  )
}

const EC_PUBLIC_KEY = '2a8648ce3d0201'
const P256 = '2a8648ce3d030107'
const ECDSA_SHA256 = '2a8648ce3d040302'
const COMMON_NAME = '550403'
const ALTERNATIVE_NAMES = '551d11'

function encodeTime(millis: number): Der {
  return encodeElement(0x17, toUtf8(`${new Date(millis).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
}

function encodeName(text: string): Der {
  return encodeSequence(set(encodeSequence(encodeObjectId(COMMON_NAME), encodeElement(0x0c, toUtf8(text)))))
}

/** DNS names and IPv4 addresses. */
function encodeAlternativeName(host: string): Der {
  const address = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host) ? host.split('.').map(Number) : null
  return address === null ? encodeElement(0x82, toUtf8(host)) : encodeElement(0x87, Uint8Array.from(address))
}

function encodePem(label: string, content: Uint8Array): string {
  const lines = encodeBase64(content).match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}

const DAY_MS = 86_400_000

/** `random` has 48 bytes: 32 for the key, 16 for the serial number. */
export function makeSelfSigned(
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
  const subject = encodeName(hosts[0] ?? 'localhost')
  const algorithm = encodeSequence(encodeObjectId(ECDSA_SHA256))
  const publicKey = encodeSequence(encodeSequence(encodeObjectId(EC_PUBLIC_KEY), encodeObjectId(P256)), encodeBits(point))
  const names = encodeSequence(
    encodeSequence(encodeObjectId(ALTERNATIVE_NAMES), encodeOctets(encodeSequence(...hosts.map(encodeAlternativeName)))),
  )
  const body = encodeSequence(
    encodeElement(0xa0, encodeInteger(Uint8Array.of(2))),
    encodeInteger(serial),
    algorithm,
    subject,
    encodeSequence(encodeTime(nowMs - DAY_MS), encodeTime(nowMs + 365 * DAY_MS)),
    subject,
    publicKey,
    encodeElement(0xa3, names),
  )
  const signature = p256.sign(body, secret, { format: 'der' })
  const privateKey = encodeSequence(encodeInteger(Uint8Array.of(1)), encodeOctets(secret), encodeElement(0xa1, encodeBits(point)))
  return {
    certificate: encodePem('CERTIFICATE', encodeSequence(body, algorithm, encodeBits(signature))),
    key: encodePem(
      'PRIVATE KEY',
      encodeSequence(
        encodeInteger(Uint8Array.of(0)),
        encodeSequence(encodeObjectId(EC_PUBLIC_KEY), encodeObjectId(P256)),
        encodeOctets(privateKey),
      ),
    ),
  }
}
