// Skills of a server (the extension io.modelcontextprotocol/skills, SEP-2640). A skill is a folder of resources with a `SKILL.md` whose front
// matter names it; a script that registers such resources serves skills, and needs nothing else for it. Clients list the skills, with the size and the
// digest of every file, and hold what they read later against that.

import { createHash } from 'node:crypto'
import { parse } from 'yaml'
import { INVALID_PARAMS, RpcError, isObject } from './server-protocol.js'
import type { Json, JsonObject } from './server-protocol.js'

export const SKILLS = 'io.modelcontextprotocol/skills'
/** Answers of a server of skills to clients that support skills. */
export const SKILL_METHODS = ['skills/list', 'skills/get', 'resources/directory/read'] as const

const MANIFEST = '/SKILL.md'
const FOLDER_TYPE = 'inode/directory'
/** Of the specification of Agent Skills. */
const LONGEST_NAME = 64

/** The offered resources, and how one is read. */
export interface SkillSource {
  readonly resources: readonly JsonObject[]
  readonly read: (uri: string) => Promise<JsonObject>
}

/** Whether a resource is the manifest of a skill, judged by its address. */
export function isManifest({ uri }: JsonObject): boolean {
  return typeof uri === 'string' && findName(uri) !== null
}

/** The entries of all skills, in the order of their manifests. What has a manifest that does not name it is not a skill. */
export async function listSkills(source: SkillSource): Promise<readonly JsonObject[]> {
  const found = await Promise.all(source.resources.filter(isManifest).map(({ uri }) => readSkill(source, String(uri))))
  return found.filter((each) => each !== null)
}

/** Raises RpcError for a URI that is not the manifest of a skill. */
export async function getSkill(source: SkillSource, uri: Json | undefined): Promise<JsonObject> {
  const isOffered = source.resources.some((each) => each['uri'] === uri && isManifest(each))
  const skill = isOffered ? await readSkill(source, String(uri)) : null
  if (skill === null) throw new RpcError(INVALID_PARAMS, `there is no skill ${JSON.stringify(uri ?? null)}`)
  return skill
}

/** What lies directly in a folder of a skill: files as the list of resources has them, and folders. Raises RpcError for what is no such folder. */
export function listFolder({ resources }: SkillSource, uri: Json | undefined): readonly JsonObject[] {
  const roots = resources.filter(isManifest).map((each) => String(each['uri']).slice(0, -MANIFEST.length))
  const folder = typeof uri === 'string' && uri.endsWith('/') ? uri.slice(0, -1) : uri
  const isInside = typeof folder === 'string' && roots.some((root) => folder === root || folder.startsWith(`${root}/`))
  const below = isInside ? resources.filter((each) => String(each['uri']).startsWith(`${folder}/`)) : []
  if (below.length === 0) throw new RpcError(INVALID_PARAMS, `${JSON.stringify(uri ?? null)} is no folder of a skill`)
  const found = new Map<string, JsonObject>()
  for (const each of below) {
    const place = String(each['uri'])
    const [name = '', ...rest] = place.slice(`${String(folder)}/`.length).split('/')
    const inner = `${String(folder)}/${name}`
    found.set(inner, rest.length === 0 ? each : { uri: inner, name, mimeType: FOLDER_TYPE })
  }
  return [...found.values()]
}

async function readSkill(source: SkillSource, uri: string): Promise<JsonObject | null> {
  const root = uri.slice(0, -MANIFEST.length)
  const manifest = await readBytes(source, uri)
  const frontmatter = readFrontMatter(manifest.toString('utf8'))
  if (frontmatter === null || frontmatter['name'] !== findName(uri)) return null
  const files = [...new Set(source.resources.map((each) => String(each['uri'])))].filter((each) => each.startsWith(`${root}/`))
  const resources = await Promise.all(
    files.map(async (file) => {
      const bytes = file === uri ? manifest : await readBytes(source, file)
      return { uri: file, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, size: bytes.length }
    }),
  )
  return { uri, frontmatter, resources }
}

async function readBytes(source: SkillSource, uri: string): Promise<Buffer> {
  const { contents } = await source.read(uri)
  const [content] = Array.isArray(contents) ? (contents as readonly Json[]) : []
  const { text, blob } = isObject(content) ? content : {}
  return typeof blob === 'string' ? Buffer.from(blob, 'base64') : Buffer.from(String(text ?? ''), 'utf8')
}

/** The name of the skill that a manifest is of: the last part of its path before the file. */
function findName(uri: string): string | null {
  const scheme = uri.indexOf('://')
  if (scheme <= 0 || !uri.endsWith(MANIFEST)) return null
  const name = uri
    .slice(scheme + '://'.length, -MANIFEST.length)
    .split('/')
    .at(-1)!
  const isGood =
    /^[a-z0-9-]+$/.test(name) &&
    name.length <= LONGEST_NAME &&
    !name.startsWith('-') &&
    !name.endsWith('-') &&
    !name.includes('--')
  return isGood ? name : null
}

/** As JSON; null where there is none with a name and a description. */
function readFrontMatter(given: string): JsonObject | null {
  const lines = given.replace(/^\uFEFF/, '').split(/\r?\n/)
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === '---')
  if (lines[0] !== '---' || end < 0) return null
  try {
    const found = parse(lines.slice(1, end).join('\n')) as Json
    if (!isObject(found)) return null
    const { name, description } = found
    const isWhole = typeof name === 'string' && typeof description === 'string' && description !== ''
    return isWhole ? (JSON.parse(JSON.stringify(found)) as JsonObject) : null
  } catch {
    return null
  }
}
