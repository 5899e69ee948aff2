// The signature of a lock file (docs/tools/lock.md): Ed25519 over everything else in the file, so that write access to the file is not
// enough to change what it pins. Keys are PEM, as `openssl genpkey -algorithm ed25519` writes them, or 32 bytes in base64.

import { createPrivateKey, createPublicKey, sign, verify as isSigned } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { CommandError, UsageError, readReason } from './errors.js'

interface Document {
  readonly [key: string]: unknown
}

const ALGORITHM = 'ed25519'
/** Prefix of the signed bytes: a signature of something else must not be valid for a lock file. */
const PURPOSE = 'bridle-lock-signature-1\n'

/** The prefixes of PKCS 8 and SPKI before the 32 bytes of a key (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/** Throws CommandError. */
export function signDocument(document: Document, keyFile: string): Document {
  const key = readKey('--sign-key', keyFile, (text) =>
    text.includes('-----BEGIN')
      ? createPrivateKey(text)
      : createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, decodeRawKey(text)]), format: 'der', type: 'pkcs8' }),
  )
  return { ...document, signature: { algorithm: ALGORITHM, value: sign(null, encodeSigned(document), key).toString('base64') } }
}

/** Describes what is wrong with the signature of the file; null when it is valid. Throws CommandError for an invalid key. */
export function verify(document: Document, keyFile: string): string | null {
  const key = readKey('--verify-key', keyFile, (text) =>
    text.includes('-----BEGIN')
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, decodeRawKey(text)]), format: 'der', type: 'spki' }),
  )
  const { signature } = document
  if (signature === undefined) return 'is not signed; `bridle tools lock --sign-key FILE` signs it'
  const { algorithm, value } = (signature ?? {}) as { readonly algorithm?: unknown; readonly value?: unknown }
  if (algorithm !== ALGORITHM || typeof value !== 'string') return `has a signature that is not of ${ALGORITHM}`
  return isSigned(null, encodeSigned(document), key, Buffer.from(value, 'base64'))
    ? null
    : `is not signed by the key of ${keyFile}, or was altered after it was signed`
}

function encodeSigned({ signature: _, ...rest }: Document): Buffer {
  return Buffer.from(PURPOSE + stringifyCanonical(rest), 'utf8')
}

/** JSON with sorted keys and without whitespace: equal for files with equal content. */
function stringifyCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stringifyCanonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${stringifyCanonical(each)}`).join(',')}}`
}

function readKey(flag: string, file: string, parse: (text: string) => KeyObject): KeyObject {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`cannot read ${flag} ${file}: ${readReason(cause)}`, { code: 'unreadable_file', file })
  }
  let key: KeyObject
  try {
    key = parse(text)
  } catch {
    throw new CommandError(`${flag} ${file} is no Ed25519 key: PEM is expected, or 32 bytes in base64`)
  }
  if (key.asymmetricKeyType === ALGORITHM) return key
  throw new CommandError(`${flag} ${file} is a key of ${key.asymmetricKeyType ?? 'another kind'}; an Ed25519 key is expected`)
}

function decodeRawKey(text: string): Buffer {
  const bytes = Buffer.from(text.trim(), 'base64')
  if (bytes.length !== 32) throw new Error('not 32 bytes')
  return bytes
}
