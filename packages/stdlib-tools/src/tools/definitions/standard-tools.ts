// Tools that every run has by id, for `use tool` and tool_call: each is a builtin under another name, with argument names and an effect
// of its own (docs/tools/catalogue.md). They run *through* the builtin, so mocks, policies, sandbox and grants hold for both alike. A host
// that defines a tool of the same id is called instead.

import { HarnDict, HarnList, display, fromPlain, stringifyJson } from '@bridle/vm/families'
import type { Int, Plain, Value } from '@bridle/vm/families'
import { STANDARD_TOOL_BUILTINS, executorOf } from '@bridle/compiler/grants'
import type { StandardToolId } from '@bridle/compiler/grants'
import type { SideEffect } from '../../library/effects/effects.js'
import type { SecurityLevel } from '../policy/level-order.js'

/** Arguments that a tool can be called with; the result is left out where it depends on chance, time or the world. */
export interface StandardExample {
  readonly args: { readonly [name: string]: Plain }
  readonly result?: Plain
}

/** `path` begins with `$`. */
export interface ArgumentProblem {
  readonly path: string
  readonly expected: string
  readonly actual: string
}

interface StandardTool {
  readonly description: string
  readonly effect: string | null
  /** Side-effect level, as in tool annotations. */
  readonly level: SideEffect
  /** A repeat does no harm. */
  readonly safe: boolean
  /** Its result depends on its arguments alone: results are kept for the run, and calls of it are not asked twice. */
  readonly pure?: boolean
  readonly properties: { readonly [name: string]: object }
  readonly required: readonly string[]
  readonly examples: readonly StandardExample[]
  readonly args: (args: HarnDict) => Value[]
  /** What is wrong with arguments that fit the schema. */
  readonly problem?: (args: HarnDict) => ArgumentProblem | null
  /** The tool's result made of what the builtin gives; that itself by default. */
  readonly answer?: (value: Value, args: HarnDict) => Value
}

const text = { type: 'string' }
const integer = { type: 'integer' }
const url = { type: 'string', format: 'uri' }

/** The named arguments that were given, as a dict. */
function pickGiven(args: HarnDict, names: readonly string[]): HarnDict {
  const own = new HarnDict()
  for (const name of names) if (args.has(name)) own.set(name, args.get(name)!)
  return own
}

/** The named arguments in order. */
const take =
  (...names: readonly string[]) =>
  (args: HarnDict): Value[] =>
    names.map((name) => args.get(name) ?? null)

// ---- families --------------------------------------------------------------------------------------------------------------

const WITH_BODY = new Set(['post', 'put', 'patch'])

/** A body that is not text is sent as JSON, and says so unless the headers say something else. */
function requestOptions(args: HarnDict): HarnDict {
  const options = pickGiven(args, ['headers', 'query', 'timeout_ms'])
  const body = args.get('body') ?? null
  if (body === null) return options
  if (typeof body === 'string') return options.with('body', body)
  const headers = options.get('headers')
  const own = headers instanceof HarnDict ? headers : new HarnDict()
  const isTyped = own.keys().some((name) => name.toLowerCase() === 'content-type')
  return options.with('headers', isTyped ? own : own.with('content-type', 'application/json')).with('body', stringifyJson(body))
}

function makeHttpTool(method: string): StandardTool {
  const withBody = WITH_BODY.has(method)
  return {
    description: `HTTP ${method.toUpperCase()} request; gives status, headers, body, url, and json when the answer is JSON.`,
    effect: 'http',
    level: 'network',
    safe: method === 'get' || method === 'head',
    properties: {
      url,
      ...(withBody ? { body: { description: 'A text, or a value that is sent as JSON' } } : {}),
      headers: { type: 'object' },
      query: { type: 'object', description: 'Parameters that are added to the URL' },
      timeout_ms: integer,
    },
    required: ['url'],
    examples: [
      { args: { url: 'https://example.com/items', ...(withBody ? { body: { name: 'tea' } } : { query: { page: 2 } }) } },
    ],
    args: (args) => [method, args.get('url')!, requestOptions(args)],
  }
}

function makeFsTool(
  description: string,
  names: readonly string[],
  level: 'read_only' | 'workspace_write',
  example: StandardExample,
): StandardTool {
  return {
    description,
    effect: 'fs',
    level,
    safe: level === 'read_only',
    properties: Object.fromEntries(names.map((name) => [name, text])),
    required: names,
    examples: [example],
    args: take(...names),
    ...(level === 'workspace_write' ? { answer: () => true } : {}),
  }
}

/** A tool that touches nothing; with `effect`, chance, time or the environment. */
function makePlainTool(
  description: string,
  properties: StandardTool['properties'],
  example: StandardExample,
  effect: string | null = null,
): StandardTool {
  const names = Object.keys(properties)
  return {
    description,
    effect,
    level: 'none',
    safe: true,
    pure: effect === null,
    properties,
    required: names,
    examples: [example],
    args: take(...names),
  }
}

const document = { description: 'A value, or a JSON text' }
const secret = { type: 'string', writeOnly: true }
const RFC8032 = {
  secret_key: 'nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=',
  public_key: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  signature: '5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc+bRr0lv18FlbviRlUUFDjnoQCw==',
}

const llmProperties = {
  model: { type: 'string', description: 'PROVIDER/MODEL or a model; what the run is set up for by default' },
  provider: text,
  max_tokens: { type: 'integer', default: 1024 },
  result: { type: 'string', enum: ['record', 'text'], default: 'record', description: 'Whether to give the bare text' },
}

/** `{content, tokens_used, model, finish_reason}`, or the content alone for a binding that says `result: "text"`. */
function makeModelAnswer(value: Value, args: HarnDict): Value {
  if (!(value instanceof HarnDict)) return value
  const content = value.get('text') ?? ''
  if (args.get('result') === 'text') return content
  const count = (key: string): number => {
    const found = value.get(key)
    return typeof found === 'number' ? found : 0
  }
  return HarnDict.of({
    content,
    tokens_used: count('input_tokens') + count('output_tokens'),
    model: value.get('model') ?? null,
    finish_reason: value.get('stop_reason') ?? 'stop',
  })
}

const llm = { effect: 'llm', level: 'network', safe: true } as const

// ---- the table -------------------------------------------------------------------------------------------------------------

const TABLE: Readonly<Record<StandardToolId, StandardTool>> = {
  'http.get': makeHttpTool('get'),
  'http.head': makeHttpTool('head'),
  'http.post': makeHttpTool('post'),
  'http.put': makeHttpTool('put'),
  'http.patch': makeHttpTool('patch'),
  'http.delete': makeHttpTool('delete'),

  'fs.read': makeFsTool('Text of a file.', ['path'], 'read_only', { args: { path: 'notes.txt' }, result: 'tea' }),
  'fs.exists': makeFsTool('Whether a path exists.', ['path'], 'read_only', { args: { path: 'none.txt' }, result: false }),
  'fs.list': makeFsTool('Names in a folder.', ['path'], 'read_only', { args: { path: 'dir' }, result: ['inner.txt'] }),
  'fs.stat': makeFsTool('Facts of a path.', ['path'], 'read_only', { args: { path: 'notes.txt' } }),
  'fs.glob': {
    ...makeFsTool('Files below `path` that fit a pattern.', ['pattern', 'path'], 'read_only', {
      args: { pattern: '**/*.txt', path: 'dir' },
      result: ['/dir/inner.txt'],
    }),
    required: ['pattern'],
    args: (args) => [args.get('pattern')!, args.get('path') ?? '.'],
  },
  'fs.write': makeFsTool('Writes a file, whole or not at all.', ['path', 'content'], 'workspace_write', {
    args: { path: 'new.txt', content: 'n' },
    result: true,
  }),
  'fs.append': makeFsTool('Appends to a file.', ['path', 'content'], 'workspace_write', {
    args: { path: 'notes.txt', content: '!' },
    result: true,
  }),
  'fs.mkdir': makeFsTool('Makes a folder and what is missing above it.', ['path'], 'workspace_write', {
    args: { path: 'a/b/c' },
    result: true,
  }),
  'fs.remove': makeFsTool('Deletes a file or an empty folder.', ['path'], 'workspace_write', {
    args: { path: 'notes.txt' },
    result: true,
  }),
  'fs.delete': makeFsTool('Another name of fs.remove.', ['path'], 'workspace_write', {
    args: { path: 'notes.txt' },
    result: true,
  }),
  'fs.copy': makeFsTool('Copies a file.', ['from', 'to'], 'workspace_write', {
    args: { from: 'notes.txt', to: 'copy.txt' },
    result: true,
  }),
  'fs.move': makeFsTool('Moves or renames a file or folder.', ['from', 'to'], 'workspace_write', {
    args: { from: 'notes.txt', to: 'moved.txt' },
    result: true,
  }),

  'env.get': makePlainTool(
    'An environment variable, nil when it is not set or looks like a secret.',
    { name: text },
    { args: { name: 'HOME' }, result: '/home/ada' },
    'env',
  ),
  'env.has': makePlainTool(
    'Whether an environment variable is set and does not look like a secret.',
    { name: text },
    { args: { name: 'API_KEY' }, result: false },
    'env',
  ),
  'env.list': makePlainTool(
    'The environment variables that do not look like secrets.',
    {},
    { args: {}, result: { HOME: '/home/ada' } },
    'env',
  ),
  'env.set': {
    ...makePlainTool(
      'Sets an environment variable of the run and of the programs that it starts.',
      { name: text, value: text },
      { args: { name: 'LANG', value: 'C' }, result: true },
      'env',
    ),
    level: 'process_exec',
    answer: () => true,
  },
  'env.cwd': makePlainTool('The folder of the run.', {}, { args: {}, result: '/' }, 'env'),
  'env.home': makePlainTool('The home folder of the user.', {}, { args: {} }, 'env'),
  'env.platform': makePlainTool('linux, darwin or windows.', {}, { args: {}, result: 'linux' }, 'env'),
  'env.args': makePlainTool('The arguments of the script.', {}, { args: {}, result: ['first'] }, 'env'),

  'process.exec': {
    description: 'Runs a program without a shell; gives stdout, stderr, status and success.',
    effect: 'process',
    level: 'process_exec',
    safe: false,
    properties: { program: text, args: { type: 'array', items: text } },
    required: ['program'],
    examples: [{ args: { program: 'tool', args: ['a'] } }],
    args: (args) => {
      const words = args.get('args')
      return [args.get('program')!, ...(words instanceof HarnList ? words.view().map(display) : [])]
    },
  },

  json: {
    ...makePlainTool(
      'The operations of json.* by name: parse, stringify, get, set, merge, flatten, diff.',
      { op: text, input: text, value: {}, json: document, path: text, a: document, b: document },
      { args: { op: 'get', json: { a: [1, 2] }, path: 'a[-1]' }, result: 2 },
    ),
    required: ['op'],
    args: (args) => [args.get('op')!, args],
  },
  'json.parse': makePlainTool(
    'The value of a JSON text.',
    { input: text },
    { args: { input: '{"a": [1, null]}' }, result: { a: [1, null] } },
  ),
  'json.stringify': makePlainTool(
    'A value as JSON text.',
    { value: {} },
    { args: { value: { a: [1, null] } }, result: '{"a":[1,null]}' },
  ),
  'json.get': makePlainTool(
    'The value at a place such as `a.b[-1]`.',
    { json: document, path: text },
    { args: { json: '{"a": [{"b": 5}]}', path: '$.a[-1].b' }, result: 5 },
  ),
  'json.set': makePlainTool(
    'The document with another value at a place of dots; what lies between is made.',
    { json: document, path: text, value: {} },
    { args: { json: { a: 1 }, path: 'b.c', value: 2 }, result: { a: 1, b: { c: 2 } } },
  ),
  'json.merge': makePlainTool(
    'Two documents joined at every depth; the second wins, lists are replaced.',
    { a: document, b: document },
    { args: { a: { x: { y: 1 }, l: [1] }, b: { x: { z: 2 }, l: [2] } }, result: { x: { y: 1, z: 2 }, l: [2] } },
  ),
  'json.flatten': makePlainTool(
    'A document as one dict from places to values.',
    { value: document },
    { args: { value: { a: { b: [1, 2] } } }, result: { 'a.b[0]': 1, 'a.b[1]': 2 } },
  ),
  'json.diff': makePlainTool(
    'Additions, deletions and changes between two documents, by place.',
    { a: document, b: document },
    { args: { a: 1, b: 2 }, result: { additions: {}, deletions: {}, changes: { '<root>': { old: 1, new: 2 } } } },
  ),

  'crypto.sha256': makePlainTool(
    'SHA-256 of a text, hex.',
    { input: text },
    { args: { input: 'abc' }, result: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
  ),
  'crypto.sha512': makePlainTool(
    'SHA-512 of a text, hex.',
    { input: text },
    {
      args: { input: '' },
      result:
        'cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e',
    },
  ),
  'crypto.md5': makePlainTool(
    'MD5 of a text, hex.',
    { input: text },
    { args: { input: '' }, result: 'd41d8cd98f00b204e9800998ecf8427e' },
  ),
  'crypto.blake3': makePlainTool(
    'BLAKE3 of a text, hex.',
    { input: text },
    { args: { input: '' }, result: 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262' },
  ),
  'crypto.base64_encode': makePlainTool('A text in base64.', { input: text }, { args: { input: 'tea' }, result: 'dGVh' }),
  'crypto.base64_decode': makePlainTool('The text of base64.', { input: text }, { args: { input: 'dGVh' }, result: 'tea' }),
  'crypto.hmac_sha256': makePlainTool(
    'HMAC with SHA-256, hex.',
    { key: secret, message: text },
    {
      args: { key: 'key', message: 'The quick brown fox jumps over the lazy dog' },
      result: 'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
    },
  ),
  'crypto.hkdf_sha256': {
    ...makePlainTool(
      'A key that is derived from another one, for a purpose (RFC 5869), hex.',
      { key: secret, salt: text, info: text, length: { type: 'integer', minimum: 1, maximum: 8160, default: 32 } },
      {
        args: { key: 'secret', salt: 'salt', info: 'session', length: 16 },
        result: '2baf2709adcaa8e099bd3cc794c5f2e4',
      },
    ),
    required: ['key'],
  },
  'crypto.uuid': makePlainTool('A random UUID (version 4).', {}, { args: {} }, 'random'),
  'crypto.random_int': {
    ...makePlainTool(
      'A random whole number between two, both possible.',
      { min: integer, max: integer },
      { args: { min: 3, max: 3 }, result: 3 },
      'random',
    ),
    // The builtin gives nil, as the reference does.
    problem: (args) =>
      (args.get('min') as Int) > (args.get('max') as Int) // of the schema
        ? { path: '$.max', expected: `${display(args.get('min')!)} or more`, actual: display(args.get('max')!) }
        : null,
  },
  'crypto.ed25519_keygen': makePlainTool('A fresh key pair: public_key and secret_key in base64.', {}, { args: {} }, 'random'),
  'crypto.ed25519_sign': makePlainTool(
    'The Ed25519 signature of a text, in base64.',
    { message: text, secret_key: secret },
    { args: { message: '', secret_key: RFC8032.secret_key }, result: RFC8032.signature },
  ),
  'crypto.ed25519_verify': makePlainTool(
    'Whether an Ed25519 signature in base64 fits a text.',
    { message: text, signature: text, public_key: text },
    { args: { message: '', signature: RFC8032.signature, public_key: RFC8032.public_key }, result: true },
  ),

  'llm.chat': {
    ...llm,
    description: 'What a model answers: content, tokens_used, model, finish_reason.',
    properties: {
      prompt: text,
      messages: { type: 'array', items: { type: 'object' }, description: '{role, content}; instead of a prompt' },
      system: text,
      ...llmProperties,
      temperature: { type: 'number', default: 0.7 },
    },
    required: [],
    examples: [{ args: { prompt: 'hi', provider: 'mock' } }],
    args: (args) => [args],
    answer: makeModelAnswer,
  },
  'llm.complete': {
    ...llm,
    description: 'How a model goes on with a text: content, tokens_used, model, finish_reason.',
    properties: { prompt: text, ...llmProperties },
    required: ['prompt'],
    examples: [{ args: { prompt: 'Once upon', provider: 'mock', result: 'text' }, result: 'Mock completion after 9 chars' }],
    args: (args) => [args.get('prompt')!, null, null, pickGiven(args, ['model', 'provider', 'max_tokens'])],
    answer: makeModelAnswer,
  },
  'llm.embed': {
    ...llm,
    description: 'A text as a vector, a list of floats.',
    properties: { text, model: llmProperties.model, provider: text },
    required: ['text'],
    examples: [{ args: { text: 'tea', provider: 'mock' } }],
    args: (args) => [args.get('text')!, pickGiven(args, ['model', 'provider'])],
  },

  'time.now': makePlainTool('Milliseconds since 1970.', {}, { args: {} }, 'time'),
}

/** How much a tool may do, from what it touches. */
function chooseSecurityLevel({ level }: StandardTool): SecurityLevel {
  if (level === 'process_exec') return 'privileged'
  return level === 'none' ? 'safe' : 'restricted'
}

/** Ids of the standard tools with what they do, for lists and lock files. */
export const STANDARD_TOOLS: readonly {
  readonly id: string
  readonly description: string
  readonly effect: string | null
  readonly level: string
  readonly security: SecurityLevel
  readonly isPure: boolean
  readonly schema: object
  readonly examples: readonly StandardExample[]
}[] = Object.entries(TABLE).map(([id, tool]) => ({
  id,
  description: tool.description,
  effect: tool.effect,
  level: tool.level,
  security: chooseSecurityLevel(tool),
  isPure: tool.pure === true,
  schema: makeSchema(tool),
  examples: tool.examples,
}))

function makeSchema(tool: StandardTool): object {
  return { type: 'object', properties: tool.properties, required: tool.required, additionalProperties: false }
}

function findTool(id: string): StandardTool | null {
  return Object.hasOwn(TABLE, id) ? TABLE[id as StandardToolId] : null // own key
}

const entries = new Map<string, HarnDict>()

/** The registry entry of a standard tool, or null: one shared dict for each; do not change it. */
export function findStandardEntry(id: string): HarnDict | null {
  const tool = findTool(id)
  if (tool === null) return null
  let entry = entries.get(id)
  if (entry === undefined) entries.set(id, (entry = makeEntry(id, tool)))
  return entry
}

function makeEntry(id: string, tool: StandardTool): HarnDict {
  const entry = HarnDict.of({
    name: id,
    description: tool.description,
    executor: executorOf('builtin'),
    version: '1.0.0',
    parameters: fromPlain(makeSchema(tool) as never),
    recovery: tool.safe ? 'safe' : 'once',
    annotations: HarnDict.of({
      side_effect_level: tool.level,
      category: id.split('.')[0]!,
      security_level: chooseSecurityLevel(tool),
    }),
  })
  if (tool.pure === true) entry.set('cacheable', true)
  return entry
}

/** The builtin behind a standard tool and its arguments. */
export function makeStandardCall(id: string, args: HarnDict): { readonly builtin: string; readonly args: Value[] } | null {
  const tool = findTool(id)
  return tool === null ? null : { builtin: STANDARD_TOOL_BUILTINS[id as StandardToolId], args: tool.args(args) }
}

/** What is wrong with arguments that fit the schema of a standard tool, or null. */
export function findStandardProblem(id: string, args: HarnDict): ArgumentProblem | null {
  return findTool(id)?.problem?.(args) ?? null
}

/** What a standard tool gives for what its builtin gave. */
export function makeStandardAnswer(id: string, value: Value, args: HarnDict): Value {
  const answer = findTool(id)?.answer
  return answer === undefined ? value : answer(value, args)
}
