// `bridle init [KIND] [FOLDER]`: writes a small project that runs and has a test. If one of its files exists, nothing
// is written.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findClosest } from '@bridle/parser'
import { CommandError, UsageError, readReason } from '../errors.js'
import { KINDS, makeTemplate } from '../init/templates.js'
import type { Kind, Template } from '../init/templates.js'
import { tell, tellJson } from '../printable.js'
import { VERSION } from '../version.js'

export interface InitFlags {
  readonly json?: boolean
  /** Writes the instructions for coding assistants, alone if no kind is given. */
  readonly agent?: boolean
}

/** Throws UsageError for an unknown kind, CommandError if a file exists or cannot be written. */
export async function initCommand(kind: string | undefined, folder: string | undefined, flags: InitFlags): Promise<number> {
  const { json, agent = false } = flags
  if (!(agent && kind === undefined) && (kind === undefined || !isKind(kind))) throw makeKindError(kind)
  const target = resolve(folder ?? '.')
  const { files, next } = await listFiles(kind as Kind | undefined, target, agent)
  const paths = Object.keys(files)
  const inTheWay = paths.filter((path) => existsSync(join(target, path)))
  if (inTheWay.length > 0)
    throw new CommandError(`${inTheWay.join(', ')} ${inTheWay.length === 1 ? 'is' : 'are'} in ${target}: name an empty folder`)
  try {
    for (const path of paths) {
      mkdirSync(dirname(join(target, path)), { recursive: true })
      writeFileSync(join(target, path), files[path]!, { flag: 'wx' })
    }
  } catch (cause) {
    throw new CommandError(`cannot write ${target}: ${readReason(cause)}`)
  }
  if (json === true) tellJson({ kind: kind ?? null, folder: target, files: paths, next })
  else {
    const steps = [...(folder === undefined ? [] : [`cd ${folder}`]), ...next]
    const further = steps.length === 0 ? '' : `\nnext:\n${steps.map((step) => `  ${step}\n`).join('')}`
    tell(`wrote ${paths.join(', ')}\n${further}`)
  }
  return 0
}

/** An agent project includes the files for assistants; other projects on request. */
async function listFiles(kind: Kind | undefined, target: string, agent: boolean): Promise<Pick<Template, 'files' | 'next'>> {
  const own = kind === undefined ? { files: {}, next: [] } : makeTemplate(kind, makeName(target), VERSION)
  if (!agent && kind !== 'agent') return own
  const { makeAssistantFiles } = await import('../init/assistants.js')
  return { files: { ...own.files, ...makeAssistantFiles(own.next) }, next: own.next }
}

function isKind(text: string): text is Kind {
  return (KINDS as readonly string[]).includes(text)
}

function makeKindError(kind: string | undefined): UsageError {
  const choices = KINDS.map((each) => `${each}: ${makeTemplate(each, 'name', VERSION).summary}`).join('; ')
  if (kind === undefined) return new UsageError(`name what to write; ${choices}`)
  const near = findClosest(kind, KINDS)
  return new UsageError(`init ${kind}: there is no such project${near === null ? '' : `; did you mean ${near}?`} ${choices}`)
}

/** The package name: that of the folder, adapted to the rules of npm. */
function makeName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter((part) => part !== '')
    .join('-')
  return name === '' ? 'agent-scripts' : name.slice(0, 100)
}
