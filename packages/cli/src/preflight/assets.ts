// Locations of templates and folders that a script names by a literal.

import { readFileSync, readdirSync, statSync } from 'node:fs'
import type { Dirent, Stats } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import type { Config } from '../config.js'
import { readReason } from '../errors.js'

export type AssetPlaces =
  | { readonly kind: 'places'; readonly candidates: readonly string[] }
  /** For a message. */
  | { readonly kind: 'problem'; readonly problem: string }

/** Candidate files for `path` in a script of `folder`. */
export function listAssetPlaces(path: string, folder: string, config: Config, bundleRoot: string | null): AssetPlaces {
  const match = /^@([^/]*)\/(.*)$/.exec(path)
  if (match === null) {
    const own = isAbsolute(path) ? path : `${folder}/${path}`
    return { kind: 'places', candidates: bundleRoot === null || isAbsolute(path) ? [own] : [own, join(bundleRoot, path)] }
  }
  const [, alias = '', rest = ''] = match
  const makeProblem = (text: string): AssetPlaces => ({ kind: 'problem', problem: text })
  if (config.path === null) {
    return makeProblem(`package-root prompt path '${path}' has no project root: no harn.toml found above ${folder}`)
  }
  const root = dirname(config.path)
  if (alias === '') {
    if (!isSafe(rest)) return makeProblem(`invalid project-root asset path '@/${rest}'`)
    return { kind: 'places', candidates: [join(root, rest)] }
  }
  const target = Object.hasOwn(config.asset_roots, alias) ? config.asset_roots[alias] : undefined
  if (target === undefined) return makeProblem(`asset alias '${alias}' is not defined in [asset_roots] of ${config.path}`)
  if (!isSafe(target)) {
    return makeProblem(
      `asset alias '${alias}' resolves to an unsafe path '${target}' (must be a project-relative directory without \`..\` segments)`,
    )
  }
  if (!isSafe(rest)) return makeProblem(`invalid asset path '@${alias}/${rest}'`)
  return { kind: 'places', candidates: [join(root, target, rest)] }
}

function isSafe(path: string): boolean {
  return path !== '' && !isAbsolute(path) && !path.split(/[\\/]/).includes('..')
}

export function isFile(path: string): boolean {
  return statSafe(path)?.isFile() === true
}

/** A larger template is not checked: an editor checks at every keystroke. */
const MOST_TEMPLATE_BYTES = 4 << 20

/** The text of a template, or why it is not available. */
export function readTemplate(path: string): { readonly text: string } | { readonly problem: string } {
  try {
    const { size } = statSync(path)
    if (size > MOST_TEMPLATE_BYTES) return { problem: `has ${size} bytes, and a check reads ${MOST_TEMPLATE_BYTES} at most` }
    return { text: readFileSync(path, 'utf8') }
  } catch (cause) {
    return { problem: `cannot be read: ${readReason(cause)}` }
  }
}

export function isFolder(path: string): boolean {
  return statSafe(path)?.isDirectory() === true
}

/** null also for paths that the system does not take: too long, with a NUL character, behind a folder without rights. */
function statSafe(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

const SKIPPED: ReadonlySet<string> = new Set(['target', 'node_modules', 'dist', 'build', 'out', '.harn-runs'])
const DEEPEST = 8

/** `did you mean 'x'? …` when the project has exactly one file of that name elsewhere; '' otherwise. */
export function suggestElsewhere(path: string, folder: string, config: Config): string {
  if (config.path === null) return ''
  const wanted = basename(path)
  const found: string[] = []
  const search = (at: string, depth: number): void => {
    for (const entry of readEntries(at)) {
      if (entry.isFile() && entry.name === wanted) found.push(join(at, entry.name))
      else if (entry.isDirectory() && depth < DEEPEST && !entry.name.startsWith('.') && !SKIPPED.has(entry.name)) {
        search(join(at, entry.name), depth + 1)
      }
    }
  }
  search(dirname(config.path), 0)
  const [only, more] = found
  if (only === undefined || more !== undefined || dirname(only) === folder) return ''
  return `did you mean '${relative(folder, only).split(sep).join('/')}'? (found at ${only}). Otherwise: `
}

/** Empty for an unreadable folder: this is only for a hint. */
function readEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
