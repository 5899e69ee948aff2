// Operations of an OpenAPI document (3.0, 3.1) as tools: typed by its schemas, under the same grants, approvals and budgets as tools of servers.
// A call goes to the server of the document or of the configuration, and to no other: redirects to another origin are refused.

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseUrl } from '@bridle/compiler/grants'
import { defineTool } from '../tools/host-tools/define.js'
import type { Tool } from '../tools/host-tools/define.js'
import { ToolError } from '../tools/host-tools/errors.js'
import type { JsonSchema } from '../tools/host-tools/schema.js'
import { describeCause } from '../tools/executors/provider.js'
import type { GatewayApi } from './config.js'

export interface ApiOptions {
  readonly fetch?: typeof globalThis.fetch
  readonly cwd?: string
  readonly onWarning?: (message: string) => void
}

type JsonRecord = { readonly [key: string]: unknown }

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const
const READING: ReadonlySet<string> = new Set(['get', 'head'])
const MOST_BYTES = 4 << 20
const MOST_OPERATIONS = 2_000
const MOST_ALIASES = 100
const MOST_REDIRECTS = 5
const TIMEOUT_MS = 60_000
/** Schemas that contain themselves are cut off here. */
const DEEPEST = 12

const isRecord = (value: unknown): value is JsonRecord => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Rejects for an unreadable or invalid document. An operation that cannot be a tool is omitted with a warning. */
export async function loadApiTools(name: string, api: GatewayApi, options: ApiOptions): Promise<readonly Tool[]> {
  const document = await parseDocument(api.document, await readDocument(api, options))
  if (!isRecord(document) || typeof document['openapi'] !== 'string' || !document['openapi'].startsWith('3.'))
    throw new Error(`${api.document} is no OpenAPI document of version 3`)
  const base = findBase(api, document)
  const reader = new DocumentReader(document)
  const tools: Tool[] = []
  for (const [path, given] of Object.entries(reader.record(document['paths']))) {
    const item = reader.record(given)
    for (const method of METHODS) {
      if (!isRecord(item[method])) continue
      if (tools.length >= MOST_OPERATIONS) throw new Error(`${api.document} has more than ${MOST_OPERATIONS} operations`)
      try {
        tools.push(makeOperation(name, api, base, reader, { path, method, item, operation: item[method] }, options))
      } catch (cause) {
        options.onWarning?.(`operation ${method} ${path} of ${name} is left out: ${describeCause(cause)}`)
      }
    }
  }
  return tools
}

/** JSON or YAML, as the text says: the types that servers name for YAML differ, and many name none. */
async function parseDocument(name: string, text: string): Promise<unknown> {
  const isJson = text.trimStart().startsWith('{')
  try {
    if (isJson) return JSON.parse(text) as unknown
    const { parse } = await import('yaml')
    // Aliases that would make a small document a large value are refused by the library (maxAliasCount).
    return parse(text, { maxAliasCount: MOST_ALIASES, prettyErrors: true, logLevel: 'error' }) as unknown
  } catch (cause) {
    throw new Error(`${name} is no ${isJson ? 'JSON' : 'YAML'}: ${describeCause(cause)}`, { cause })
  }
}

async function readDocument({ document, headers = {} }: GatewayApi, options: ApiOptions): Promise<string> {
  if (!/^https?:\/\//.test(document)) return readFile(resolve(options.cwd ?? '.', document), 'utf8')
  const fetch = options.fetch ?? globalThis.fetch
  const response = await fetch(document, { headers, signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'error' })
  if (!response.ok) throw new Error(`${document} answers ${response.status}`)
  return readBody(response)
}

function findBase(api: GatewayApi, document: JsonRecord): URL {
  const { servers } = document
  const first: unknown = Array.isArray(servers) ? servers[0] : undefined
  const told = api.baseUrl ?? (isRecord(first) && typeof first['url'] === 'string' ? first['url'] : undefined)
  const isRemote = /^https?:\/\//.test(api.document)
  if (told === undefined && !isRemote) throw new Error(`${api.document} names no server: give base_url`)
  const base = parseUrl(told ?? '/', isRemote ? api.document : undefined)
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new Error(`${JSON.stringify(told)} is no URL of a server: give base_url`)
  return base
}

interface Operation {
  readonly path: string
  readonly method: string
  readonly item: JsonRecord
  readonly operation: JsonRecord
}

interface Parameter {
  readonly name: string
  readonly place: string
  readonly isRequired: boolean
  readonly schema: JsonSchema
}

function makeOperation(
  api: string,
  config: GatewayApi,
  base: URL,
  reader: DocumentReader,
  { path, method, item, operation }: Operation,
  options: ApiOptions,
): Tool {
  const parameters = reader.parameters(item['parameters'], operation['parameters'])
  const body = reader.body(operation['requestBody'])
  if (body !== null && parameters.some(({ name }) => name === 'body')) throw new Error('a parameter has the name body')
  const id = typeof operation['operationId'] === 'string' ? operation['operationId'] : `${method}_${path}`
  const about = [operation['summary'], operation['description']].filter((text) => typeof text === 'string' && text !== '')
  const required = [
    ...parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    ...(body?.isRequired === true ? ['body'] : []),
  ]
  const output = reader.output(operation['responses'])
  const isReading = READING.has(method)
  return defineTool({
    name: `${api}.${makeName(id)}`,
    description: about.length === 0 ? `${method.toUpperCase()} ${path}` : [...new Set(about)].join('\n\n'),
    category: 'api',
    effects: ['http'],
    sideEffect: isReading ? 'read_only' : 'network',
    recovery: isReading ? 'safe' : method === 'put' || method === 'delete' ? 'idempotent' : 'once',
    input: {
      type: 'object',
      properties: Object.fromEntries([
        ...parameters.map(({ name, schema }) => [name, schema] as const),
        ...(body === null ? [] : [['body', body.schema] as const]),
      ]),
      required,
      additionalProperties: false,
    },
    ...(output === null ? {} : { output }),
    timeoutMs: config.timeoutMs ?? TIMEOUT_MS,
    execute: (args, { signal }) =>
      send({ base, path, method, parameters, hasBody: body !== null, config }, args as JsonRecord, signal, options),
  })
}

function makeName(id: string): string {
  const name = id
    .split(/[^A-Za-z0-9]/)
    .filter((part) => part !== '')
    .join('_')
  return /^[A-Za-z]/.test(name) ? name : `_${name}`
}

interface Call {
  readonly base: URL
  readonly path: string
  readonly method: string
  readonly parameters: readonly Parameter[]
  readonly hasBody: boolean
  readonly config: GatewayApi
}

async function send(call: Call, args: JsonRecord, signal: AbortSignal, options: ApiOptions): Promise<unknown> {
  const headers = new Headers()
  const cookies: string[] = []
  const query = new URLSearchParams()
  let { path } = call
  for (const { name, place } of call.parameters) {
    const value = args[name]
    if (value === undefined || value === null) continue
    if (place === 'path') path = path.replaceAll(`{${name}}`, () => encodeSegment(name, value))
    else if (place === 'query') for (const each of Array.isArray(value) ? value : [value]) query.append(name, toText(each))
    else if (place === 'header') headers.set(name, toText(value))
    else cookies.push(`${encodeURIComponent(name)}=${encodeURIComponent(toText(value))}`)
  }
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '))
  headers.set('accept', 'application/json')
  // What the configuration says is not for scripts to change.
  for (const [name, value] of Object.entries(call.config.headers ?? {})) headers.set(name, value)
  const hasBody = call.hasBody && args['body'] !== undefined
  if (hasBody) headers.set('content-type', 'application/json')
  const { origin, pathname } = call.base
  const url = new URL(`${origin}${pathname.endsWith('/') ? pathname.slice(0, -1) : pathname}${path}`)
  url.search = query.toString()
  const response = await follow(
    url,
    { method: call.method.toUpperCase(), headers, signal, ...(hasBody ? { body: JSON.stringify(args['body']) } : {}) },
    options,
  )
  const text = await readBody(response)
  if (!response.ok)
    throw new ToolError(
      'execution_failed',
      `${call.method.toUpperCase()} ${path} answers ${response.status}: ${text.slice(0, 1_000)}`,
    )
  if (text === '') return null
  if (!/[/+]json\b/.test(response.headers.get('content-type') ?? '')) return text
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new ToolError('execution_failed', `${call.method.toUpperCase()} ${path} answers what is no JSON`, { cause })
  }
}

/** Headers with keys must not go to another origin, and what was meant to change something is not sent twice. */
async function follow(url: URL, request: RequestInit, options: ApiOptions): Promise<Response> {
  const fetch = options.fetch ?? globalThis.fetch
  let at = url
  for (let step = 0; step <= MOST_REDIRECTS; step++) {
    let response: Response
    try {
      response = await fetch(at.href, { ...request, redirect: 'manual' })
    } catch (cause) {
      throw new ToolError('connection', `${at.origin} cannot be reached: ${describeCause(cause)}`, { cause })
    }
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (location === null) return response
    await response.body?.cancel()
    const next = parseUrl(location, at.href)
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    if (next === null || next.origin !== url.origin || !isReading)
      throw new ToolError('connection', `${at.href} leads to ${location}, which the configuration does not name`)
    at = next
  }
  throw new ToolError('connection', `${url.href} leads further and further`)
}

async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MOST_BYTES) throw new ToolError('resource_limit', `the answer is longer than ${MOST_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** A segment of dots alone would be another path. */
function encodeSegment(name: string, value: unknown): string {
  const text = toText(value)
  if (text === '' || text === '.' || text === '..')
    throw new ToolError('invalid_args', `${name} cannot be ${JSON.stringify(text)}: it is a part of the path`)
  return encodeURIComponent(text)
}

/** The document with its references followed. */
class DocumentReader {
  private readonly document: JsonRecord

  constructor(document: JsonRecord) {
    this.document = document
  }

  record(value: unknown): JsonRecord {
    const found = this.follow(value)
    return isRecord(found) ? found : {}
  }

  /** Those of an operation replace those of its path. */
  parameters(ofPath: unknown, ofOperation: unknown): readonly Parameter[] {
    const found = new Map<string, Parameter>()
    for (const list of [ofPath, ofOperation])
      for (const given of Array.isArray(list) ? (list as readonly unknown[]) : []) {
        const { name, in: place, required, schema, description } = this.record(given)
        if (typeof name !== 'string' || typeof place !== 'string') throw new Error('a parameter has no name or place')
        found.set(name, {
          name,
          place,
          isRequired: required === true || place === 'path',
          schema: { ...this.schema(schema), ...(typeof description === 'string' ? { description } : {}) },
        })
      }
    return [...found.values()]
  }

  body(given: unknown): { readonly isRequired: boolean; readonly schema: JsonSchema } | null {
    const body = this.record(given)
    const content = this.record(body['content'])
    const types = Object.keys(content)
    if (types.length === 0) return null
    const type = types.find((each) => /[/+]json\b/.test(each))
    if (type === undefined) throw new Error(`it takes ${types.join(', ')}, not JSON`)
    return { isRequired: body['required'] === true, schema: this.schema(this.record(content[type])['schema']) }
  }

  /** Of the first response that is a success. */
  output(given: unknown): JsonSchema | null {
    const responses = this.record(given)
    const code = Object.keys(responses)
      .filter((each) => /^2(\d\d|XX)$/.test(each))
      .toSorted()[0]
    if (code === undefined) return null
    const content = this.record(this.record(responses[code])['content'])
    const type = Object.keys(content).find((each) => /[/+]json\b/.test(each))
    const schema = type === undefined ? undefined : this.record(content[type])['schema']
    return schema === undefined ? null : this.schema(schema)
  }

  /** As JSON Schema: version 3.0 writes `nullable`. */
  private schema(given: unknown, depth = 0): JsonSchema {
    if (depth > DEEPEST) return {}
    const schema = this.record(given)
    const convert = (value: unknown): JsonSchema => this.schema(value, depth + 1)
    const out: { [key: string]: unknown } = {}
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties' && isRecord(value))
        out[key] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, convert(each)]))
      else if (key === 'items' || (key === 'additionalProperties' && isRecord(value))) out[key] = convert(value)
      else if ((key === 'allOf' || key === 'anyOf' || key === 'oneOf') && Array.isArray(value)) out[key] = value.map(convert)
      else if (KEPT.has(key)) out[key] = value
    }
    if (schema['nullable'] === true && typeof out['type'] === 'string') {
      out['type'] = [out['type'], 'null']
      if (Array.isArray(out['enum'])) out['enum'] = [...(out['enum'] as readonly unknown[]), null]
    }
    return out
  }

  private follow(value: unknown): unknown {
    let at = value
    for (let step = 0; step < DEEPEST && isRecord(at) && typeof at['$ref'] === 'string'; step++) {
      const reference = at['$ref']
      if (!reference.startsWith('#/')) throw new Error(`the reference ${JSON.stringify(reference)} leads out of the document`)
      at = reference
        .slice(2)
        .split('/')
        .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
        .reduce<unknown>((from, part) => (isRecord(from) && Object.hasOwn(from, part) ? from[part] : undefined), this.document)
      if (at === undefined) throw new Error(`nothing is at ${JSON.stringify(reference)}`)
    }
    return at
  }
}

const KEPT: ReadonlySet<string> = new Set([
  'type',
  'description',
  'enum',
  'const',
  'default',
  'required',
  'additionalProperties',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'format',
])
