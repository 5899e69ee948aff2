// The words of the revision 2026-07-28 and those after it, for both sides: requests that stand for themselves, each with what the handshake
// said before, as metadata and as headers. (SEP-2575 stateless requests, SEP-2322 results that ask for input, SEP-2243 headers, SEP-2549
// caching, SEP-2663 tasks.)

import { Buffer } from 'node:buffer'
import { unmarkIntegers } from '../tools/executors/exact-json.js'

export const MODERN_VERSION = '2026-07-28'
/** Supported revisions of this kind, newest first. */
export const MODERN_VERSIONS: readonly string[] = [MODERN_VERSION]

export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const

export const TASKS = 'io.modelcontextprotocol/tasks'

export const HEADER_MISMATCH = -32020
export const MISSING_CAPABILITY = -32021
export const UNSUPPORTED_VERSION = -32022

/** What a server may ask of its client in a result. */
export const INPUT_METHODS: ReadonlySet<string> = new Set(['roots/list', 'sampling/createMessage', 'elicitation/create'])

type Fields = { readonly [key: string]: unknown }

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

/** The parameter that a request is about, which `Mcp-Name` repeats. */
const NAMES: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** The `Mcp-Name` header of a request; null without one. */
export function readSubject(method: string, params: Fields): string | null {
  const key = Object.hasOwn(NAMES, method) ? NAMES[method]! : null
  const value = key === null ? undefined : params[key]
  return typeof value === 'string' ? value : null
}

const ENCODED = /^=\?base64\?(.*)\?=$/s
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** A value as a header carries it: in base64 if it is not plain ASCII or could be mistaken for base64. */
export function encodeHeader(value: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(value) && value.trim() === value && !ENCODED.test(value)
  return isPlain ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}

/** Null if it is not a value. */
export function decodeHeader(header: string): string | null {
  const encoded = ENCODED.exec(header)?.[1]
  if (encoded === undefined) return header
  if (!BASE64.test(encoded)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'))
  } catch {
    return null
  }
}

/** An argument of a tool that goes into a header too, by the tool's schema. */
export interface HeaderArgument {
  readonly path: readonly string[]
  readonly header: string
  readonly type: string
}

export type HeaderArguments =
  | { readonly ok: true; readonly list: readonly HeaderArgument[] }
  | { readonly ok: false; readonly problem: string }

const MARK = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Types whose values a header can carry. */
const HEADER_TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])
/** How deep schemas are read; what is deeper is refused rather than left out. */
const DEEPEST = 64

/** The arguments that go into headers; a problem makes the whole tool unusable over HTTP. */
export function readHeaderArguments(schema: unknown): HeaderArguments {
  const list: HeaderArgument[] = []
  const taken = new Set<string>()
  const fail = (problem: string): HeaderArguments => ({ ok: false, problem })
  /** `path` null: at a position that is optional or repeated. */
  const visit = (node: unknown, path: readonly string[] | null, depth: number): string | null => {
    if (Array.isArray(node)) return firstOf(node, (each) => visit(each, null, depth + 1))
    if (!isFields(node)) return null
    if (depth > DEEPEST) return 'its schema is too deep'
    if (MARK in node) {
      const header = node[MARK]
      if (path === null || path.length === 0) return `${MARK} stands at a place that is no plain argument`
      const name = path.join('.')
      if (typeof header !== 'string' || !TOKEN.test(header)) return `${MARK} of ${name} is no name of a header`
      if (!HEADER_TYPES.has(node['type'])) return `${MARK} of ${name} is on a value that is no string, integer or boolean`
      if (taken.has(header.toLowerCase())) return `${MARK} ${header} is there twice`
      taken.add(header.toLowerCase())
      list.push({ path, header, type: String(node['type']) })
    }
    return firstOf(Object.entries(node), ([key, inner]) => {
      if (key === MARK || key === 'default' || key === 'const' || key === 'enum' || key === 'examples') return null
      if (key !== 'properties') return visit(inner, null, depth + 1)
      return isFields(inner)
        ? firstOf(Object.entries(inner), ([name, child]) => visit(child, path === null ? null : [...path, name], depth + 1))
        : null
    })
  }
  const problem = visit(schema, [], 0)
  return problem === null ? { ok: true, list } : fail(problem)
}

function firstOf<T>(items: readonly T[], find: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = find(item)
    if (found !== null) return found
  }
  return null
}

/** The text of an argument as a header has it; null for what no header carries. */
export function formatHeaderValue(value: unknown): string | null {
  if (typeof value === 'string') {
    const text = JSON.stringify(value)
    const plain = unmarkIntegers(text)
    return plain === text ? value : plain
  }
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value)
  return null
}

export function readArgument(args: unknown, path: readonly string[]): unknown {
  let at = args
  for (const key of path) at = isFields(at) && Object.hasOwn(at, key) ? at[key] : undefined
  return at
}

/** `Mcp-Param-…` of a call. */
export function makeArgumentHeaders(declared: readonly HeaderArgument[], args: unknown): { [header: string]: string } {
  const headers: { [header: string]: string } = {}
  for (const { path, header } of declared) {
    const text = formatHeaderValue(readArgument(args, path))
    if (text !== null) headers[`Mcp-Param-${header}`] = encodeHeader(text)
  }
  return headers
}
