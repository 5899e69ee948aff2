// The settings of `harn.toml` for checking, linting and formatting. It is searched for in the folder of a file and upwards, up
// to a folder that contains `.git`. Keys are written with underscores; hyphens are accepted too.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { MANIFEST_NAME, ManifestError, readManifest } from '@bridle/stdlib-tools/node'
import { z } from 'zod'
import { CommandError } from './errors.js'

const names = z.array(z.string())

const severity = z
  .enum(['error', 'warning', 'warn', 'off', 'allow', 'silent'])
  .transform((text): PreflightSeverity => (text === 'error' ? 'error' : text.startsWith('warn') ? 'warning' : 'off'))

const checkSchema = z.object({
  strict: z.boolean().default(false),
  strict_types: z.boolean().default(false),
  disable_rules: names.default([]),
  host_capabilities: z.record(z.string(), names).default({}),
  host_capabilities_path: z.string().optional(),
  host_capabilities_file: z.string().optional(),
  tools: z.string().optional(),
  bundle_root: z.string().optional(),
  preflight_severity: severity.default('error'),
  preflight_allow: names.default([]),
})

const lintSchema = z.object({
  disabled: names.default([]),
  require_file_header: z.boolean().default(false),
  complexity_threshold: z.int().min(1).optional(),
})

const fmtSchema = z.object({
  line_width: z.int().min(1).optional(),
  separator_width: z.int().min(1).optional(),
})

const schema = z.object({
  check: z.preprocess(withUnderscores, checkSchema).default(checkSchema.parse({})),
  lint: z.preprocess(withUnderscores, lintSchema).default(lintSchema.parse({})),
  fmt: z.preprocess(withUnderscores, fmtSchema).default(fmtSchema.parse({})),
  workspace: z.object({ pipelines: names.default([]) }).default({ pipelines: [] }),
  asset_roots: z.record(z.string(), z.string()).default({}),
})

export type PreflightSeverity = 'error' | 'warning' | 'off'

export interface Config extends z.infer<typeof schema> {
  /** Absolute path of the manifest; null when there is none. */
  readonly path: string | null
}

function withUnderscores(table: unknown): unknown {
  if (typeof table !== 'object' || table === null || Array.isArray(table)) return table
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key.replaceAll('-', '_'), value]))
}

/** The defaults, without a manifest. */
export const NO_CONFIG: Config = { ...schema.parse({}), path: null }

/** The configuration for a file or folder. Throws CommandError for an invalid manifest. */
export function loadConfig(path: string): Config {
  const manifest = findManifestAbove(resolve(path))
  if (manifest === null) return NO_CONFIG
  const tables = readTables(manifest)
  const parsed = schema.safeParse(tables)
  if (parsed.success) return { ...parsed.data, path: manifest }
  const issue = parsed.error.issues[0]!
  throw new CommandError(`${manifest}: ${issue.path.map(String).join('.')}: ${issue.message}`)
}

function readTables(manifest: string): { readonly [name: string]: unknown } {
  try {
    return readManifest(manifest, readFileSync(manifest, 'utf8')).tables
  } catch (cause) {
    if (cause instanceof ManifestError) throw new CommandError(cause.message)
    throw cause
  }
}

function findManifestAbove(path: string): string | null {
  for (let at = path; ; at = dirname(at)) {
    const candidate = join(at, MANIFEST_NAME)
    if (existsSync(candidate)) return candidate
    if (existsSync(join(at, '.git')) || dirname(at) === at) return null
  }
}

/** Each manifest is read once. */
export function makeConfigCache(): (path: string) => Config {
  const known = new Map<string, Config>()
  return (path) => {
    const folder = dirname(resolve(path))
    const found = known.get(folder) ?? loadConfig(folder)
    known.set(folder, found)
    return found
  }
}
