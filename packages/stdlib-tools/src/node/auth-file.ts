// Tokens and registrations of MCP servers in one file of the user's, for programs that run more than once. Only its owner may read
// it; each change is made under a lock to what the file says now, and written whole to a file beside it, which then takes its place.

import { chmodSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { McpAuthStore } from '../mcp/oauth.js'
import { readOsErrorCode } from '../tools/executors/os-errors.js'
import { withFileLock } from './file-lock.js'
import { makeFolders, writeWholeFile } from './whole-file.js'

/** The file exists but is not a token store, or cannot be read or written. */
export class AuthFileError extends Error {
  override readonly name = 'AuthFileError'
}

/** `$XDG_CONFIG_HOME/bridle/mcp-auth.json`, below `~/.config` by default. */
export function userAuthFile(env: { readonly [name: string]: string | undefined }): string {
  const base = env['XDG_CONFIG_HOME']
  return join(base === undefined || base === '' ? join(env['HOME'] ?? homedir(), '.config') : base, 'bridle', 'mcp-auth.json')
}

export interface FileAuthStore extends McpAuthStore {
  /** What is kept, by key. */
  readonly entries: () => ReadonlyMap<string, string>
}

/** Read at each use, so that a login in another process is seen. Throws AuthFileError. */
export function fileAuthStore(path: string): FileAuthStore {
  return {
    get: (key) => load(path).get(key),
    set(key, value) {
      const before = load(path).get(key)
      if (value !== before) change(path, (values) => (value === undefined ? values.delete(key) : values.set(key, value)))
    },
    entries: () => load(path),
  }
}

function load(path: string): Map<string, string> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
    // The mode of an existing file may be too open for tokens.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
  } catch (cause) {
    if (readOsErrorCode(cause) === 'ENOENT') return new Map()
    throw new AuthFileError(`cannot read ${path}: ${(cause as Error).message}`, { cause })
  }
  try {
    const data: unknown = JSON.parse(text)
    if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new Error('a JSON object is expected')
    return new Map(Object.entries(data).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch (cause) {
    throw new AuthFileError(`${path} is no store of tokens: ${(cause as Error).message}`, { cause })
  }
}

function change(path: string, edit: (values: Map<string, string>) => void): void {
  try {
    makeFolders(dirname(path), 0o700)
    withFileLock(`${path}.lock`, () => {
      const values = load(path)
      edit(values)
      writeWholeFile(path, `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`, { mode: 0o600, alone: true })
    })
  } catch (cause) {
    if (cause instanceof AuthFileError) throw cause
    throw new AuthFileError(`cannot write ${path}: ${(cause as Error).message}`, { cause })
  }
}
