// Skills in folders: `NAME/SKILL.md` files, found in layers of which a higher one shadows a lower one. Scripts see a
// card of each as the global `skills`; the text is fetched when it is loaded.

import { createHash, createPublicKey, verify } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HarnDict, HarnList, display, fromPlain, toPlain } from '@bridle/vm'
import { parseYaml } from '../library/formats/yaml.js'
import type { Plain, Value } from '@bridle/vm'
import { z } from 'zod'
import { findHome, listMachineRoots } from './find-skills.js'

export type SkillLayer = 'cli' | 'env' | 'project' | 'manifest' | 'user' | 'package' | 'system'

const LAYERS: readonly SkillLayer[] = ['cli', 'env', 'project', 'manifest', 'user', 'package', 'system']

export interface SkillSources {
  /** The folder whose nearest ancestor with a manifest is the project. */
  readonly manifest: { readonly path: string; readonly tables: { readonly [name: string]: unknown } } | null
  /** Folders named on the command line. */
  readonly folders?: readonly string[]
  /** Variables: HARN_SKILLS_PATH, HOME, XDG_CONFIG_HOME. Those of this process by default. */
  readonly env?: { readonly [name: string]: string | undefined }
}

interface Skill {
  readonly id: string
  readonly name: string
  readonly card: HarnDict
  readonly full: HarnDict
}

/** What was found, and what was wrong with the rest. */
export interface DiscoveredSkills {
  /** The registry that scripts see as `skills`; null when there are no skills. */
  readonly registry: Value | null
  readonly problems: readonly string[]
  /** The whole of a skill by its id or, when no other has it, by its name. */
  readonly find: (wanted: string) => Plain
}

interface Root {
  readonly layer: SkillLayer
  readonly path: string
  readonly namespace: string | null
}

const makeSettingsSchema = () =>
  z.object({
    paths: z.array(z.string()).optional(),
    disable: z.array(z.string()).optional(),
    lookup_order: z.array(z.string()).optional(),
    signer_registry_url: z.string().optional(),
  })

const makeSourcesSchema = () =>
  z.object({ source: z.array(z.object({ path: z.string().optional(), namespace: z.string().optional() })) })

export function readSkills(sources: SkillSources): DiscoveredSkills {
  const env = sources.env ?? process.env
  const home = findHome(env)
  const project = sources.manifest === null ? null : dirname(sources.manifest.path)
  const problems: string[] = []
  const settings = readTable(sources, 'skills', makeSettingsSchema, problems) ?? {}
  const within = (path: string): string => (isAbsolute(path) || project === null ? path : join(project, path))
  const declared = readTable(sources, 'skill', makeSourcesSchema, problems)?.source ?? []
  const roots: Root[] = []
  const add = (layer: SkillLayer, path: string, namespace: string | null = null): void => {
    roots.push({ layer, path: resolve(path), namespace })
  }
  for (const path of sources.folders ?? []) {
    if (!existsSync(path)) problems.push(`skills: there is no folder ${path}`)
    add('cli', path)
  }
  for (const path of (env['HARN_SKILLS_PATH'] ?? '').split(':')) if (path !== '') add('env', path)
  if (project !== null) {
    add('project', join(project, '.harn', 'skills'))
    for (const path of settings.paths ?? []) add('manifest', within(path))
    for (const { path, namespace } of declared) if (path !== undefined) add('manifest', within(path), namespace ?? null)
    const packages = join(project, '.harn', 'packages')
    for (const name of listNamesIn(packages)) add('package', join(packages, name, 'skills'))
  }
  for (const { layer, path } of listMachineRoots(env)) add(layer, path)
  const order = [...(settings.lookup_order ?? []).filter((layer) => LAYERS.includes(layer as SkillLayer)), ...LAYERS]
  const enabled = roots.filter(({ layer }) => settings.disable?.includes(layer) !== true)
  enabled.sort((a, b) => order.indexOf(a.layer) - order.indexOf(b.layer))

  const signers: Signers = { home, registry: settings.signer_registry_url ?? null, within }
  const skills = new Map<string, Skill>()
  for (const root of enabled) {
    for (const path of listFiles(root.path)) {
      const skill = readSkill(path, root, signers, problems)
      if (skill !== null && !skills.has(skill.id)) skills.set(skill.id, skill)
    }
  }
  const all = [...skills.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  return {
    problems,
    registry:
      all.length === 0 ? null : HarnDict.of({ _type: 'skill_registry', skills: new HarnList(all.map(({ card }) => card)) }),
    find: (wanted) => {
      const exact = skills.get(wanted)
      const named = exact === undefined ? all.filter(({ name }) => name === wanted) : [exact]
      if (named.length === 0) return null
      return named.length > 1 ? { ambiguous: true } : toPlain(named[0]!.full)
    },
  }
}

/** A table of the manifest; null when it is absent or odd. Schemas are made only where there is something to read. */
function readTable<T>(sources: SkillSources, key: string, schema: () => z.ZodType<T>, problems: string[]): T | null {
  const table = sources.manifest?.tables[key]
  if (table === undefined) return null
  const read = schema().safeParse(table)
  if (!read.success) problems.push(`${sources.manifest?.path ?? ''}: the table [${key}] cannot be read`)
  return read.success ? read.data : null
}

function listNamesIn(path: string): string[] {
  try {
    return readdirSync(path).sort()
  } catch {
    return []
  }
}

function readOptional(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}

/** A root holds folders with a SKILL.md each, or is one itself. */
function listFiles(root: string): string[] {
  const names = listNamesIn(root)
  return names.includes('SKILL.md') ? [join(root, 'SKILL.md')] : names.map((name) => join(root, name, 'SKILL.md'))
}

// ------------------------------------------------------------------------------------------------------------- one SKILL.md

const KNOWN: readonly string[] = [
  ...['name', 'short', 'description', 'when_to_use', 'disable_model_invocation', 'allowed_tools', 'user_invocable', 'paths'],
  ...['context', 'agent', 'hooks', 'model', 'effort', 'require_signature', 'trusted_signers', 'shell', 'argument_hint'],
]
const FLAGS = ['disable_model_invocation', 'user_invocable']
const COPIED = ['allowed_tools', 'paths', 'context', 'agent', 'hooks', 'model', 'effort', 'shell', 'argument_hint']

function splitFrontMatter(text: string): { readonly yaml: string; readonly body: string } | null {
  const lines = text.split('\n')
  const isRule = (line: string): boolean => line.startsWith('---') && line.slice(3).trim() === ''
  if (lines[0]?.startsWith('\uFEFF') === true) lines[0] = lines[0].slice(1)
  const open = lines.findIndex((line) => line.trim() !== '')
  if (open < 0 || !isRule(lines[open]!)) return null
  const close = lines.findIndex((line, at) => at > open && isRule(line))
  return close < 0 ? null : { yaml: lines.slice(open + 1, close).join('\n'), body: lines.slice(close + 1).join('\n') }
}

const normalizeKey = (key: string): string => key.replaceAll('-', '_')

/** The fields as they are written; null for anything but a map. */
function parseFields(yaml: string): HarnDict | null {
  let parsed: Value
  try {
    parsed = parseYaml(yaml)
  } catch {
    return null
  }
  return parsed === null ? new HarnDict() : parsed instanceof HarnDict ? parsed : null
}

function readSkill(path: string, root: Root, signers: Signers, problems: string[]): Skill | null {
  const bytes = readOptional(path)
  if (bytes === null) return null
  const refuse = (reason: string): null => {
    problems.push(`skills: ${path}: ${reason}`)
    return null
  }
  const parts = splitFrontMatter(bytes.toString('utf8'))
  const written = parts === null ? null : parseFields(parts.yaml)
  if (parts === null) return refuse('SKILL.md requires a non-empty `short` field')
  if (written === null) return refuse('SKILL.md frontmatter is not a map in YAML')
  const fields = new HarnDict()
  for (const [key, value] of written.entries()) fields.set(normalizeKey(key), value)
  const readText = (key: string): string => {
    const value = fields.get(key) ?? null
    return value === null ? '' : display(value)
  }
  const short = readText('short')
  if (short.trim() === '') return refuse('SKILL.md frontmatter requires a non-empty `short` field')
  const name = readText('name') === '' ? basename(dirname(path)) : readText('name')
  const unknown = written.keys().filter((key) => !KNOWN.includes(normalizeKey(key)))
  if (unknown.length > 0) problems.push(`skills: ${name} has unknown frontmatter fields: ${unknown.join(', ')}`)
  const card = HarnDict.of({
    name,
    short,
    description: readText('description') === '' ? short : readText('description'),
    source: root.layer,
  })
  if (readText('when_to_use') !== '') card.set('when_to_use', readText('when_to_use'))
  for (const key of FLAGS) if (fields.get(key) === true) card.set(key, true)
  for (const key of COPIED) {
    const value = fields.get(key) ?? null
    if (value !== null && !(value instanceof HarnList && value.length === 0)) card.set(key, value)
  }
  if (root.namespace !== null) card.set('namespace', root.namespace)
  const allowed = fields.get('trusted_signers')
  const trusted = allowed instanceof HarnList ? allowed.view().map(display) : []
  card.set('provenance', fromPlain(judgeProvenance(path, bytes, trusted, signers)))
  const full = card.copy()
  full.set('body', parts.body)
  full.set('skill_dir', dirname(path))
  full.set('require_signature', fields.get('require_signature') === true)
  full.set('trusted_signers', new HarnList(trusted))
  return { id: root.namespace === null ? name : `${root.namespace}/${name}`, name, card, full }
}

// --------------------------------------------------------------------------------------------------------------- signatures

interface Signers {
  readonly home: string
  /** Where keys are kept beside the home folder: a `file:` URL or a path; others are not asked. */
  readonly registry: string | null
  readonly within: (path: string) => string
}

const makeSignatureSchema = () =>
  z.object({
    schema: z.literal('harn-skill-sig/v1'),
    signer_fingerprint: z.string().regex(/^[\w.:-]+$/),
    ed25519_sig_base64: z.string(),
    skill_sha256: z.string(),
  })

/** Who signed the file, as its `SKILL.md.sig` says, and whether that is true. */
function judgeProvenance(path: string, bytes: Buffer, trusted: readonly string[], signers: Signers): Plain {
  const skill_sha256 = createHash('sha256').update(bytes).digest('hex')
  const signature_path = `${path}.sig`
  const describeStatus = (status: string, signed: boolean, more: { readonly [key: string]: Plain } = {}): Plain => ({
    skill_sha256,
    signature_path,
    signed,
    trusted: status === 'verified',
    status,
    ...more,
  })
  const text = readOptional(signature_path)
  if (text === null) return describeStatus('missing_signature', false)
  let json: unknown
  try {
    json = JSON.parse(text.toString('utf8'))
  } catch {
    return describeStatus('invalid_signature', false, { error: `${signature_path} is not valid harn-skill-sig/v1 JSON` })
  }
  const parsed = makeSignatureSchema().safeParse(json)
  if (!parsed.success)
    return describeStatus('invalid_signature', false, { error: `${signature_path} is not valid harn-skill-sig/v1 JSON` })
  const signer_fingerprint = parsed.data.signer_fingerprint
  if (parsed.data.skill_sha256 !== skill_sha256)
    return describeStatus('invalid_signature', false, {
      signer_fingerprint,
      error: `${signature_path} does not match the current contents of ${path}`,
    })
  const key = findKey(signer_fingerprint, signers)
  if (key === null)
    return describeStatus('missing_signer', true, {
      signer_fingerprint,
      error: `${path} was signed by ${signer_fingerprint}, whose key is not known`,
    })
  let isGood = false
  try {
    isGood = verify(null, bytes, createPublicKey(key), Buffer.from(parsed.data.ed25519_sig_base64, 'base64'))
  } catch {
    isGood = false
  }
  if (!isGood)
    return describeStatus('invalid_signature', true, {
      signer_fingerprint,
      error: `${signature_path} failed Ed25519 verification for ${path}`,
    })
  if (trusted.length > 0 && !trusted.includes(signer_fingerprint))
    return describeStatus('untrusted_signer', true, {
      signer_fingerprint,
      error: `${path} was signed by ${signer_fingerprint}, which is not in the skill's trusted_signers allowlist`,
    })
  return describeStatus('verified', true, { signer_fingerprint })
}

function findKey(fingerprint: string, { home, registry, within }: Signers): Buffer | null {
  const own = readOptional(join(home, '.harn', 'trusted-signers', `${fingerprint}.pub`))
  if (own !== null || registry === null || /^https?:/.test(registry)) return own
  const folder = registry.startsWith('file:') ? fileURLToPath(registry) : within(registry)
  return readOptional(join(folder, `${fingerprint}.pub`))
}
