// Tools that every run has by id, for `use tool` and tool_call: each is a builtin under the name, argument names and effect that
// reference 05 §2.16 gives it. They run *through* the builtin, so mocks, policies, sandbox and grants hold for both alike. A host
// that defines a tool of the same id is asked instead.

import { STANDARD_TOOL_BUILTINS } from '@bridle/compiler/grants'
import type { StandardToolId } from '@bridle/compiler/grants'
import { HarnDict } from '../values/dict.js'
import { HarnList } from '../values/list.js'
import { display } from '../values/display.js'
import { fromPlain } from '../values/plain.js'
import type { Value } from '../values/value.js'

interface StandardTool {
  readonly description: string
  readonly effect: string | null
  /** Side-effect level, as in tool annotations. */
  readonly level: string
  /** A repeat does no harm. */
  readonly safe: boolean
  readonly properties: { readonly [name: string]: object }
  readonly required: readonly string[]
  readonly args: (args: HarnDict) => Value[]
  /** `true` in place of the nil that the builtin gives. */
  readonly answersTrue?: boolean
}

const text = { type: 'string' }
const url = { type: 'string', format: 'uri' }
const http = { headers: { type: 'object' }, timeout_ms: { type: 'integer' } }

function options(args: HarnDict): Value {
  const given = new HarnDict()
  for (const key of ['headers', 'timeout_ms']) if (args.has(key)) given.set(key, args.get(key)!)
  return given
}

/** The named arguments in order. */
const take =
  (...names: readonly string[]) =>
  (args: HarnDict): Value[] =>
    names.map((name) => args.get(name) ?? null)

function httpTool(method: string, withBody: boolean): StandardTool {
  return {
    description: `HTTP ${method.toUpperCase()} request; gives status, headers and body.`,
    effect: 'http',
    level: 'network',
    safe: method === 'get',
    properties: withBody ? { url, body: {}, ...http } : { url, ...http },
    required: ['url'],
    args: withBody
      ? (args) => [args.get('url')!, args.get('body') ?? null, options(args)]
      : (args) => [args.get('url')!, options(args)],
  }
}

function fsTool(description: string, names: readonly string[], level: 'read_only' | 'workspace_write'): StandardTool {
  return {
    description,
    effect: 'fs',
    level,
    safe: level === 'read_only',
    properties: Object.fromEntries(names.map((name) => [name, text])),
    required: names,
    args: take(...names),
    answersTrue: level === 'workspace_write',
  }
}

function pureTool(description: string, properties: StandardTool['properties'], effect: string | null = null): StandardTool {
  const names = Object.keys(properties)
  return { description, effect, level: 'none', safe: true, properties, required: names, args: take(...names) }
}

const TABLE: Readonly<Record<StandardToolId, StandardTool>> = {
  'http.get': httpTool('get', false),
  'http.post': httpTool('post', true),
  'http.put': httpTool('put', true),
  'http.patch': httpTool('patch', true),
  'http.delete': httpTool('delete', false),
  'fs.read': fsTool('Text of a file.', ['path'], 'read_only'),
  'fs.exists': fsTool('Whether a path exists.', ['path'], 'read_only'),
  'fs.list': fsTool('Names in a folder.', ['path'], 'read_only'),
  'fs.stat': fsTool('Facts of a path.', ['path'], 'read_only'),
  'fs.write': fsTool('Writes a file.', ['path', 'content'], 'workspace_write'),
  'fs.append': fsTool('Appends to a file.', ['path', 'content'], 'workspace_write'),
  'fs.mkdir': fsTool('Makes a folder and what is missing above it.', ['path'], 'workspace_write'),
  'fs.remove': fsTool('Deletes a file or an empty folder.', ['path'], 'workspace_write'),
  'fs.copy': fsTool('Copies a file.', ['from', 'to'], 'workspace_write'),
  'env.get': pureTool('An environment variable, nil when it is not set.', { name: text }, 'env'),
  'process.exec': {
    description: 'Runs a program without a shell; gives stdout, stderr, status and success.',
    effect: 'process',
    level: 'process_exec',
    safe: false,
    properties: { program: text, args: { type: 'array', items: text } },
    required: ['program'],
    args: (args) => {
      const words = args.get('args')
      return [args.get('program')!, ...(words instanceof HarnList ? words.view().map(display) : [])]
    },
  },
  'json.parse': pureTool('The value of a JSON text.', { input: text }),
  'json.stringify': pureTool('A value as JSON text.', { value: {} }),
  'crypto.sha256': pureTool('SHA-256 of a text, hex.', { input: text }),
  'crypto.sha512': pureTool('SHA-512 of a text, hex.', { input: text }),
  'crypto.md5': pureTool('MD5 of a text, hex.', { input: text }),
  'crypto.base64_encode': pureTool('A text in base64.', { input: text }),
  'crypto.base64_decode': pureTool('The text of base64.', { input: text }),
  'crypto.hmac_sha256': pureTool('HMAC with SHA-256, hex.', { key: { ...text, writeOnly: true }, message: text }),
  'crypto.uuid': pureTool('A random UUID (version 4).', {}, 'random'),
  'time.now': pureTool('Milliseconds since 1970.', {}, 'time'),
}

/** Ids of the standard tools with what they do, for lists and lock files. */
export const STANDARD_TOOLS: readonly {
  readonly id: string
  readonly description: string
  readonly effect: string | null
  readonly level: string
  readonly schema: object
}[] = Object.entries(TABLE).map(([id, tool]) => ({
  id,
  description: tool.description,
  effect: tool.effect,
  level: tool.level,
  schema: schemaOf(tool),
}))

function schemaOf(tool: StandardTool): object {
  return { type: 'object', properties: tool.properties, required: tool.required, additionalProperties: false }
}

function toolOf(id: string): StandardTool | null {
  return Object.hasOwn(TABLE, id) ? TABLE[id as StandardToolId] : null // own key
}

/** The registry entry of a standard tool, or null. */
export function standardEntry(id: string): HarnDict | null {
  const tool = toolOf(id)
  if (tool === null) return null
  return HarnDict.of({
    name: id,
    description: tool.description,
    executor: 'builtin',
    version: '1.0.0',
    parameters: fromPlain(schemaOf(tool) as never),
    recovery: tool.safe ? 'safe' : 'once',
    annotations: HarnDict.of({ side_effect_level: tool.level }),
  })
}

/** The builtin behind a standard tool and its arguments. */
export function standardCall(
  id: string,
  args: HarnDict,
): { readonly builtin: string; readonly args: Value[]; readonly answersTrue: boolean } | null {
  const tool = toolOf(id)
  if (tool === null) return null
  return { builtin: STANDARD_TOOL_BUILTINS[id as StandardToolId], args: tool.args(args), answersTrue: tool.answersTrue ?? false }
}
