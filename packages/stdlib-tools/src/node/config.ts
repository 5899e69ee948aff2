// The configuration file of tools: `bridle.toml`, or the table `[tools]` of a project's `harn.toml`, in the working
// directory, one above it, or the user's config directory; with an overlay by environment (`bridle.prod.toml`) on top. Unknown keys
// are errors with a suggestion. Secrets are named by their environment variable and read at first use, so a file never holds one.
// All settings of a file can be made in code: `defineConfig` checks the same data.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parse } from 'smol-toml'
import { z } from 'zod'
import { findClosest } from '@bridle/compiler/signatures'
import type { McpServerDeclaration } from '../mcp/config.js'
import type { RuntimeConfig } from '../host/runtime-options.js'
import { locateKey } from './config-place.js'
import type { ConfigText } from './config-place.js'
import { applyConfig } from './config-runtime.js'
import { LOG_LEVELS } from '../library/effects/reports.js'
import type { LogLevel } from '../library/effects/reports.js'

export const CONFIG_NAME = 'bridle.toml'

export type ConfigErrorCode = 'config_invalid' | 'secret_missing'

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code: ConfigErrorCode
  /** Of the key in the configuration, for `config_invalid`. */
  readonly path: string
  /** From 1; null without a file or such a key. */
  readonly line: number | null
  /** For `secret_missing`. */
  readonly variable: string | null

  constructor(
    code: ConfigErrorCode,
    message: string,
    place: { readonly path: string; readonly line?: number | null; readonly variable?: string },
  ) {
    super(message)
    this.code = code
    this.path = place.path
    this.line = place.line ?? null
    this.variable = place.variable ?? null
  }
}

const makeMillisecondsSchema = () => z.int().nonnegative()

// Made when asked for: loading zod is a good part of a start.
const makeModelProviderSchema = () => ({
  base_url: z.string().optional(),
  api_key_env: z.string().optional(),
  default_model: z.string().optional(),
  organization: z.string().optional(),
  timeout_ms: makeMillisecondsSchema().default(30_000),
  max_retries: z.int().nonnegative().default(3),
})

const makeSchema = () =>
  z.strictObject({
    /** Which provider carries out a tool, by tool id. */
    providers: z
      .looseObject({
        config: z
          .strictObject({
            'openai-compatible': z
              .strictObject({ ...makeModelProviderSchema(), default_model: z.string().default('gpt-4') })
              .optional(),
            anthropic: z.strictObject(makeModelProviderSchema()).optional(),
            'builtin-http': z
              .strictObject({
                max_redirects: z.int().nonnegative().default(5),
                timeout_ms: makeMillisecondsSchema().default(30_000),
                user_agent: z.string().optional(),
              })
              .optional(),
            postgres: z.strictObject({ connection_string_env: z.string(), pool_size: z.int().positive().default(10) }).optional(),
          })
          .default({}),
        mcp: z
          .record(
            z.string(),
            z.strictObject({
              uri: z.string().min(1),
              tools: z.array(z.string()).optional(),
              env: z.record(z.string(), z.string()).optional(),
              timeout_ms: makeMillisecondsSchema().optional(),
            }),
          )
          .default({}),
      })
      .default({ config: {}, mcp: {} }),
    cache: z
      .strictObject({ enabled: z.boolean().default(false), ttl_ms: makeMillisecondsSchema().optional() })
      .default({ enabled: false }),
    logging: z.strictObject({ level: z.enum(LOG_LEVELS).default('info') }).default({ level: 'info' }),
  })

type Parsed = z.output<ReturnType<typeof makeSchema>>
export type ConfigInput = z.input<ReturnType<typeof makeSchema>>

export interface ToolConfig extends RuntimeConfig {
  /** Absolute path; null for a configuration in code. */
  readonly file: string | null
  /** Names of providers by tool id. */
  readonly providers: { readonly [tool: string]: string }
  /** Settings of providers, by their names. */
  readonly settings: Parsed['providers']['config']
  readonly mcpServers: { readonly [name: string]: McpServerDeclaration }
  readonly cache: { readonly enabled: boolean; readonly ttlMs: number | null }
  readonly logging: { readonly level: LogLevel }
  /** The value of the environment variable that a key such as `anthropic.api_key_env` names. Raises ConfigError `secret_missing`. */
  readonly secret: (key: string) => string
}

type Environment = { readonly [name: string]: string | undefined }

/** A configuration in code. Raises ConfigError. */
export function defineConfig(config: ConfigInput, options: { readonly env?: Environment } = {}): ToolConfig {
  return parseConfig(config, [], options.env ?? process.env)
}

export interface LoadConfigOptions {
  readonly cwd?: string
  readonly env?: Environment
  /** Name of the overlay; `BRIDLE_ENV` of the environment when absent. */
  readonly overlay?: string
}

/** The nearest configuration, or the empty one. Raises ConfigError for a file that cannot be understood. */
export function loadConfig(options: LoadConfigOptions = {}): ToolConfig {
  const env = options.env ?? process.env
  const found = findNearest(resolve(options.cwd ?? '.')) ?? findUserFile(env)
  if (found === null) return parseConfig({}, [], env)
  const { source, data } = found
  const { file } = source
  const overlay = options.overlay ?? env['BRIDLE_ENV']
  const over = overlay === undefined ? null : join(dirname(file), `bridle.${overlay}.toml`)
  const above = over !== null && existsSync(over) ? read(over, []) : null
  const merged = above === null ? data : overlayTables(data, above.data)
  // The overlay takes precedence, so its lines are searched first.
  const sources = [...(above === null ? [] : [above.source]), source]
  return parseConfig(interpolateVariables(merged, env, [], sources), sources, env)
}

interface Found {
  readonly source: ConfigText
  readonly data: unknown
}

function findNearest(start: string): Found | null {
  for (let folder = start; ; folder = dirname(folder)) {
    const own = join(folder, CONFIG_NAME)
    if (existsSync(own)) return read(own, [])
    const manifest = join(folder, 'harn.toml')
    const found = existsSync(manifest) ? read(manifest, ['tools']) : null
    if (found !== null && found.data !== undefined) return found
    if (dirname(folder) === folder) return null
  }
}

function findUserFile(env: Environment): Found | null {
  const base = env['XDG_CONFIG_HOME'] ?? (env['HOME'] === undefined ? undefined : join(env['HOME'], '.config'))
  const file = base === undefined ? null : join(base, 'bridle', 'config.toml')
  return file !== null && existsSync(file) ? read(file, []) : null
}

/** The tables of a file, below `prefix`. */
function read(file: string, prefix: readonly string[]): Found {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError('config_invalid', `${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { path: '' })
  }
  try {
    const data = prefix.reduce<unknown>((table, name) => (isTable(table) ? table[name] : undefined), parse(text))
    return { source: { file, text, prefix }, data }
  } catch (cause) {
    const { line, message } = cause as { readonly line?: unknown; readonly message: string }
    const at = typeof line === 'number' ? line : null
    throw new ConfigError('config_invalid', `${file}${at === null ? '' : `:${at}`}: ${message}`, { path: '', line: at })
  }
}

/** Tables are joined, everything else is replaced. */
function overlayTables(below: unknown, above: unknown): unknown {
  if (!isTable(below) || !isTable(above)) return above
  const joined = Object.entries(above).map(([key, value]) => [
    key,
    Object.hasOwn(below, key) ? overlayTables(below[key], value) : value,
  ])
  return Object.fromEntries([...Object.entries(below), ...joined]) as unknown
}

const isTable = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** `${VAR}` and `${VAR:-default}` in texts. */
function interpolateVariables(
  value: unknown,
  env: Environment,
  path: readonly string[],
  sources: readonly ConfigText[],
): unknown {
  if (typeof value === 'string') {
    const read = (name: string, fallback: string | null): string => {
      const found = Object.hasOwn(env, name) ? env[name] : undefined
      if (found !== undefined && found !== '') return found
      if (fallback !== null) return fallback
      throw makeWrongError(sources, path, `${path.join('.')}: environment variable ${name} is not set`)
    }
    return withVariables(value, read)
  }
  if (Array.isArray(value)) return value.map((item, at) => interpolateVariables(item, env, [...path, String(at)], sources))
  if (!isTable(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, interpolateVariables(item, env, [...path, key], sources)]),
  )
}

/** Replaces each `${NAME}` and `${NAME:-fallback}`. */
function withVariables(text: string, read: (name: string, fallback: string | null) => string): string {
  const open = /\$\{([A-Za-z_]\w*)(:-|\})/g
  let out = ''
  let from = 0
  let isOpen = false
  for (let match = open.exec(text); match !== null; match = open.exec(text)) {
    const [whole, name, behind] = match as unknown as readonly [string, string, string]
    const start = match.index + whole.length
    const close: number = behind === '}' ? start - 1 : isOpen ? -1 : text.indexOf('}', start)
    // What nothing closes here, nothing closes further on.
    isOpen ||= close < 0
    if (close < 0) continue
    out += text.slice(from, match.index) + read(name, behind === '}' ? null : text.slice(start, close))
    from = close + 1
    open.lastIndex = from
  }
  return out + text.slice(from)
}

/** What is wrong with a key, with its place. */
function makeWrongError(sources: readonly ConfigText[], path: readonly string[], message: string): ConfigError {
  const { shown, line } = locateKey(sources, path)
  return new ConfigError('config_invalid', `${shown}${message}`, { path: path.join('.'), line })
}

function parseConfig(data: unknown, sources: readonly ConfigText[], env: Environment): ToolConfig {
  const parsed = makeSchema().safeParse(data)
  if (!parsed.success) throw makeInvalidError(parsed.error.issues[0]!, sources)
  const file = sources.at(-1)?.file ?? null
  const { providers, cache, logging } = parsed.data
  const { config: settings, mcp, ...rest } = providers
  const byTool: { [tool: string]: string } = {}
  collect(rest, '', byTool, sources)
  const config: ToolConfig = {
    file,
    providers: byTool,
    settings,
    mcpServers: Object.fromEntries(Object.entries(mcp).map(([name, server]) => [name, readServer(server)])),
    cache: { enabled: cache.enabled, ttlMs: cache.ttl_ms ?? null },
    logging,
    secret: (key) => readSecret(settings, key, env),
    settle: (options) =>
      applyConfig(options, config, {
        says: (section) => isTable(data) && data[section] !== undefined,
        wrong: (path, message) => makeWrongError(sources, path, message),
      }),
  }
  return config
}

/** `http.get = "name"` in TOML is a table in a table. */
function collect(
  table: { readonly [key: string]: unknown },
  prefix: string,
  into: { [tool: string]: string },
  sources: readonly ConfigText[],
): void {
  for (const [key, value] of Object.entries(table)) {
    const tool = `${prefix}${key}`
    if (typeof value === 'string') into[tool] = value
    else if (isTable(value)) collect(value, `${tool}.`, into, sources)
    else throw makeWrongError(sources, ['providers', ...tool.split('.')], `providers.${tool}: expected the name of a provider`)
  }
}

function readServer(server: Parsed['providers']['mcp'][string]): McpServerDeclaration {
  const { uri, env = {}, tools, timeout_ms: timeoutMs } = server
  const limits = { ...(tools === undefined ? {} : { tools }), ...(timeoutMs === undefined ? {} : { timeoutMs }) }
  if (/^https?:\/\//.test(uri)) return { url: uri, ...limits }
  const [command = '', ...args] = uri.replace(/^stdio:(\/\/)?/, '').split(/\s+/)
  return { command, args, env, ...limits }
}

function readSecret(settings: Parsed['providers']['config'], key: string, env: Environment): string {
  const [provider = '', field = ''] = key.split('.')
  const variable = (settings as { readonly [name: string]: { readonly [field: string]: unknown } | undefined })[provider]?.[field]
  const path = `providers.config.${key}`
  if (typeof variable !== 'string' || !field.endsWith('_env'))
    throw new ConfigError('config_invalid', `${path} does not name an environment variable`, { path })
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined
  if (value === undefined || value === '')
    throw new ConfigError('secret_missing', `environment variable ${variable} is not set (${path})`, { path, variable })
  return value
}

const MODEL_KEYS = ['base_url', 'api_key_env', 'default_model', 'organization', 'timeout_ms', 'max_retries']

/** KEEP WITH: schema. */
const KNOWN: { readonly [place: string]: readonly string[] } = {
  '': ['providers', 'cache', 'logging'],
  'providers.config': ['openai-compatible', 'anthropic', 'builtin-http', 'postgres'],
  'providers.config.openai-compatible': MODEL_KEYS,
  'providers.config.anthropic': MODEL_KEYS,
  'providers.config.builtin-http': ['max_redirects', 'timeout_ms', 'user_agent'],
  'providers.config.postgres': ['connection_string_env', 'pool_size'],
  'providers.mcp': ['uri', 'tools', 'env', 'timeout_ms'],
  cache: ['enabled', 'ttl_ms'],
  logging: ['level'],
}

function makeInvalidError(issue: z.core.$ZodIssue, sources: readonly ConfigText[]): ConfigError {
  const place = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    const inServer = place[0] === 'providers' && place[1] === 'mcp'
    const known = KNOWN[inServer ? 'providers.mcp' : place.join('.')] ?? []
    const near = findClosest(key, known) ?? known.find((each) => each.startsWith(key)) ?? null
    const path = [...place, key]
    const hint = near === null ? '' : `; did you mean '${near}'?`
    return makeWrongError(sources, path, `unknown key ${path.join('.')}${hint}`)
  }
  return makeWrongError(sources, place, `${place.join('.')}: ${issue.message}`)
}
