// Effects that come as data are looked at once, by the shapes in their rows: judges and providers rely on the types.

import { HarnFloat } from '@bridle/vm/families'
import type { PlainRecord } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { effectProblem } from './effects.js'

const WALK = { op: 'walk', path: '.', maxDepth: null, followSymlinks: false }
const REQUEST = {
  method: 'GET',
  url: 'https://a.test/',
  headers: { accept: '*/*' },
  body: null,
  saveTo: null,
  timeoutMs: null,
  connectTimeoutMs: null,
  readTimeoutMs: null,
  proxy: null,
  tls: null,
  decompress: true,
}
const PROXY = { url: 'http://p.test/', noProxy: null, user: null, password: null }

test.each<[kind: string, args: PlainRecord]>([
  ['clock.now', {}],
  ['fs.read', { path: 'a', encoding: 'bytes' }],
  ['fs.query', WALK],
  ['fs.query', { ...WALK, maxDepth: 3 }],
  ['fs.write', { op: 'write', path: 'a', data: new Uint8Array(1), expected: null }],
  ['http.request', REQUEST],
  ['http.request', { ...REQUEST, proxy: PROXY, secrets: { authorization: { secret: 'KEY', prefix: 'Bearer ' } } }],
  ['net.stream', { ...REQUEST, op: 'http_open', id: 's' }],
  ['host.tool', { op: 'list', identity: 'host:a' }],
])('%s with %j is an effect', (kind, args) => expect(effectProblem({ kind, args })).toBeNull())

test.each<[kind: string, args: PlainRecord, problem: string]>([
  ['fs.erase', {}, 'unknown kind of effect "fs.erase"'],
  ['constructor', {}, 'unknown kind of effect "constructor"'],
  ['fs.read', { encoding: 'utf8' }, 'fs.read: path must be a string, got nil'],
  ['fs.read', { path: ['a'], encoding: 'utf8' }, 'fs.read: path must be a string, got a list'],
  ['fs.read', { path: 'a', encoding: 'latin1' }, 'fs.read: encoding must be one of utf8, bytes, got "latin1"'],
  ['fs.read', { path: 'a', encoding: 'utf8', to: 'b' }, 'fs.read: unknown argument "to"'],
  ['fs.query', { path: 'a' }, 'fs.query: unknown operation nil'],
  ['fs.query', { op: 'constructor', path: 'a' }, 'fs.query: unknown operation "constructor"'],
  ['fs.query', { ...WALK, op: 'list' }, 'fs.query: unknown argument "maxDepth"'],
  ['fs.query', { ...WALK, maxDepth: '1' }, 'fs.query: maxDepth must be a number or nil, got "1"'],
  ['fs.write', { op: 'write', path: 'a', data: 'x', whole: 1 }, 'fs.write: whole must be true or false, got a number'],
  ['fs.write', { op: 'write', path: 'a', data: new HarnFloat(1) }, 'fs.write: data must be a string or bytes, got a number'],
  ['http.request', { ...REQUEST, headers: { accept: 1 } }, 'http.request: headers must be a dict, each a string, got a dict'],
  ['http.request', { ...REQUEST, headers: new Uint8Array(1) }, 'http.request: headers must be a dict, each a string, got bytes'],
  [
    'http.request',
    { ...REQUEST, proxy: { ...PROXY, host: 'x' } },
    'http.request: proxy must be a dict of url, noProxy, user, password or nil, got a dict',
  ],
  ['process.exec', { program: 'x' }, 'process.exec: args must be a list, each a string, got nil'],
])('%s with %j is none', (kind, args, problem) => expect(effectProblem({ kind, args })).toBe(problem))
