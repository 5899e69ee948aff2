// `bridle init [KIND] [FOLDER]`: writes a small project that runs and has a test. Files that are there stay as they are, and then nothing
// is written.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findClosest } from '@bridle/parser'
import { CommandError, UsageError, readReason } from '../errors.js'
import { KINDS, makeTemplate } from '../init/templates.js'
import type { Kind } from '../init/templates.js'
import { tell, tellJson } from '../printable.js'
import { VERSION } from '../version.js'

export interface InitFlags {
  readonly json?: boolean
}

/** Throws UsageError for another kind, CommandError where a file is in the way or cannot be written. */
export function initCommand(kind: string | undefined, folder: string | undefined, { json }: InitFlags): number {
  if (kind === undefined || !isKind(kind)) throw makeKindError(kind)
  const target = resolve(folder ?? '.')
  const { files, next } = makeTemplate(kind, makeName(target), VERSION)
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
  if (json === true) tellJson({ kind, folder: target, files: paths, next })
  else {
    const steps = [...(folder === undefined ? [] : [`cd ${folder}`]), ...next]
    tell(`wrote ${paths.join(', ')}\n\nnext:\n${steps.map((step) => `  ${step}\n`).join('')}`)
  }
  return 0
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

/** The name of a package: that of the folder, as npm allows it. */
function makeName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter((part) => part !== '')
    .join('-')
  return name === '' ? 'agent-scripts' : name.slice(0, 100)
}
