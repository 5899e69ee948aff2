// Where a run keeps what outlives it, and file operations for scripted builtins. The state root is
// `.harn` in the project of the main program: the nearest directory upwards with a `harn.toml`, else the program's own.

import { HarnDict, HarnFloat, HarnList, ask, display, failWith, family, runHere, stringifyJson } from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import { readAnswerField, findRefusal, readTextField } from './ask.js'
import type { Refusal } from './ask.js'
import { isAbsolutePath, normalizePath, getParentPath, getStem } from './lexical-path.js'
import type { EffectArgs } from '@bridle/vm/families'

export interface StateRoot {
  /** Directory of the project or program; what relative state directories and hashed directories lie under. */
  readonly base: string
  readonly root: string
  /** Name of the main program without its extension. */
  readonly program: string
}

export const knownRoot = family<{ place: StateRoot | null }>('state_root', () => ({ place: null }))

export function* findStateRoot(): Script<StateRoot> {
  const known = yield* runHere((ctx) => ctx.state(knownRoot).place)
  if (known !== null) return known
  const entry = yield* runHere((ctx) => ctx.source.entry)
  const start = getParentPath(entry) === '' ? '.' : getParentPath(entry)
  const project = yield* ask({ kind: 'fs.query', args: { op: 'find_up', path: start, name: 'harn.toml' } })
  const base = typeof project === 'string' ? project : start
  const override = yield* readEnvironment('HARN_STATE_DIR')
  const wanted = override === null || override === '' ? '.harn' : override
  const place: StateRoot = {
    base,
    root: isAbsolutePath(wanted) ? normalizePath(wanted) : normalizePath(`${base}/${wanted}`),
    program: entry.startsWith('<') ? 'main' : getStem(entry),
  }
  return yield* runHere((ctx) => (ctx.state(knownRoot).place = place))
}

export function* readEnvironment(name: string): Script<string | null> {
  const value = yield* ask({ kind: 'process.info', args: { op: 'env', name }, own: true })
  return value === null ? null : display(value)
}

/** The text of a file; null when it cannot be read. */
export function* readText(path: string): Script<string | null> {
  const answer = yield* ask({ kind: 'fs.read', args: { path, encoding: 'utf8' } })
  return findRefusal(answer) === null ? readTextField(answer, 'data') : null
}

/** The same, but only for a file that is not there; one that cannot be read is an error. `label` begins its message. */
export function* readKept(path: string, label: string): Script<string | null> {
  const answer = yield* ask({ kind: 'fs.read', args: { path, encoding: 'utf8' } })
  const refused = findRefusal(answer)
  if (refused === null) return readTextField(answer, 'data')
  return isMissing(refused) ? null : failWith(`${label}: failed to read ${path}: ${refused.detail}`)
}

export function isMissing({ code }: Refusal): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * Replaces a file as a whole: readers see the old text or the new one, also when other processes write it at the same time or this one
 * is killed. `label` begins the message of a failure.
 */
export function* replaceFile(path: string, text: string, label: string): Script<null> {
  yield* makeDirectory(getParentPath(path), label)
  return yield* change({ op: 'write', path, data: text, whole: true }, label, path)
}

/** Whoever was killed in the middle of a line loses that line, and not the next one. */
export function* appendLine(path: string, line: string, label: string): Script<null> {
  yield* makeDirectory(getParentPath(path), label)
  return yield* change({ op: 'append', path, data: `${line}\n`, ownLine: true }, label, path)
}

export function* makeDirectory(path: string, label: string): Script<null> {
  return path === '' ? null : yield* change({ op: 'mkdir', path }, label, path)
}

function* change(args: EffectArgs['fs.write'], label: string, path: string): Script<null> {
  const refused = findRefusal(yield* ask({ kind: 'fs.write', args }))
  return refused === null ? null : failWith(`${label}: failed to write ${path}: ${refused.detail}`)
}

export function* hasPath(path: string): Script<boolean> {
  return (yield* ask({ kind: 'fs.query', args: { op: 'exists', path } })) === true
}

export interface FileFacts {
  readonly size: number
  readonly isDir: boolean
  /** Whole seconds since 1970. */
  readonly modified: number
}

export function* readFileFacts(path: string, links: 'followed' | 'as they are' = 'followed'): Script<FileFacts | null> {
  const args = { op: 'stat' as const, path, ...(links === 'followed' ? {} : { ownLink: true }) }
  const answer = yield* ask({ kind: 'fs.query', args })
  if (findRefusal(answer) !== null) return null
  const modified = readAnswerField(answer, 'modifiedMs')
  return {
    size: Number(readAnswerField(answer, 'size')),
    isDir: readAnswerField(answer, 'isDir') === true,
    modified: Math.floor((modified instanceof HarnFloat ? modified.v : Number(modified)) / 1000),
  }
}

/** Names in a directory, any order, or why there are none. */
export function* listDirectoryNames(path: string): Script<readonly string[] | Refusal> {
  const answer = yield* ask({ kind: 'fs.query', args: { op: 'list', path } })
  const refused = findRefusal(answer)
  if (refused !== null) return refused
  const names = readAnswerField(answer, 'names')
  return names instanceof HarnList ? names.view().map((name) => display(name)) : []
}

export function* findExecutionRoot(): Script<string> {
  return display(yield* ask({ kind: 'process.info', args: { op: 'cwd' } }))
}

/** Nesting beyond this is no data that a script meant to keep. */
const MAX_DEPTH = 2000

/** What of a value survives as JSON: structs, closures, durations and everything else that is no data become nil. */
export function toJsonData(value: Value): Value {
  return toData(value, () => null)
}

/** A copy of a value as data, in which `other` stands for everything that is none. */
export function toData(value: Value, other: (value: Value) => Value, depth = 0): Value {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof HarnFloat) return Number.isFinite(value.v) ? value : null
  if (depth > MAX_DEPTH) return null
  if (value instanceof HarnList) return new HarnList(value.view().map((item) => toData(item, other, depth + 1)))
  if (!(value instanceof HarnDict)) return other(value)
  // Under the same keys, which are not put into a table again one by one.
  const copy = value.copy()
  const { slots } = copy
  for (let at = 0; at < slots.length; at++) slots[at] = toData(slots[at]!, other, depth + 1)
  return copy
}

export function stringifyPretty(value: Value): string {
  return stringifyJson(value, { indent: 2, interchange: true })
}
