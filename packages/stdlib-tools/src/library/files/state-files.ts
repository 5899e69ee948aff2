// Values as data, and operations on files for scripted builtins. state-files.harn has them for internal modules.

import { HarnDict, HarnFloat, HarnList, ask, display, failWith, stringifyJson } from '@bridle/vm/families'
import type { EffectArgs, Script, Value } from '@bridle/vm/families'
import { findRefusal } from './ask.js'
import { getParentPath } from './lexical-path.js'

export function* readEnvironment(name: string): Script<string | null> {
  const value = yield* ask({ kind: 'process.info', args: { op: 'env', name }, own: true })
  return value === null ? null : display(value)
}

/** Whoever was killed in the middle of a line loses that line, and not the next one. */
export function* appendLine(path: string, line: string, label: string): Script<null> {
  yield* makeDirectory(getParentPath(path), label)
  return yield* change({ op: 'append', path, data: `${line}\n`, ownLine: true }, label, path)
}

function* makeDirectory(path: string, label: string): Script<null> {
  return path === '' ? null : yield* change({ op: 'mkdir', path }, label, path)
}

function* change(args: EffectArgs['fs.write'], label: string, path: string): Script<null> {
  const refused = findRefusal(yield* ask({ kind: 'fs.write', args }))
  return refused === null ? null : failWith(`${label}: failed to write ${path}: ${refused.detail}`)
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
