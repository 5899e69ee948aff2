// JSON objects in files that several processes change: a change is made to what the file says now. It is written only if the file still is
// what was read, which the provider of files decides; otherwise another process came first, and the change is made to what that one wrote.

import { HarnDict, ask, failWith, runHere, parseJson } from '@bridle/vm/families'
import type { Context, Script } from '@bridle/vm/families'
import { findRefusal } from './ask.js'
import { getParentPath } from './lexical-path.js'
import { makeDirectory, stringifyPretty, readKept, replaceFile } from './state-files.js'

/** What a file said when it was last read or written. */
export interface RecordFile {
  /** Never changed in place. Empty when there is no file. */
  readonly content: HarnDict
  /** SHA-256 of the file's text; null when there was none. */
  readonly hash: string | null
  /** The text when it is no JSON object: kept beside the file before it is written over. */
  readonly damaged: string | null
}

/** So many others in a row that come first is somebody who does nothing else. */
const MOST_ATTEMPTS = 1000

/** A file that cannot be read is an error: taken for an empty one it would be written over. `label` begins messages. */
export function* readRecordFile(path: string, label: string): Script<RecordFile> {
  const text = yield* readKept(path, label)
  if (text === null) return { content: new HarnDict(), hash: null, damaged: null }
  return yield* runHere((ctx) => {
    const hash = hashText(ctx, text)
    const parsed = parseJson(text)
    if (parsed.ok && parsed.value instanceof HarnDict) return { content: parsed.value, hash, damaged: null }
    return { content: new HarnDict(), hash, damaged: text.trim() === '' ? null : text }
  })
}

/** Changes what the file says, `known` being what it said to the best of our knowledge; gives what it says now. */
export function* updateRecordFile(
  path: string,
  label: string,
  known: RecordFile,
  edit: (content: HarnDict) => HarnDict,
): Script<RecordFile> {
  let before = known
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const { content, hash, damaged } = before
    const next = yield* runHere((ctx) => {
      ctx.charge(content.size)
      const changed = edit(content)
      const text = stringifyPretty(changed)
      return { content: changed, text, hash: hashText(ctx, text) }
    })
    if (damaged !== null) yield* replaceFile(`${path}.damaged`, damaged, label)
    if (yield* replaceUnchanged(path, next.text, hash, label)) return { content: next.content, hash: next.hash, damaged: null }
    before = yield* readRecordFile(path, label)
  }
  return failWith(`${label}: failed to write ${path}: other processes change it all the time`)
}

/** Whether it was written; not so when the file no longer is the one of `hash`. */
function* replaceUnchanged(path: string, text: string, hash: string | null, label: string): Script<boolean> {
  yield* makeDirectory(getParentPath(path), label)
  const refused = findRefusal(
    yield* ask({ kind: 'fs.write', args: { op: 'write', path, data: text, whole: true, expected: hash } }),
  )
  if (refused === null) return true
  return refused.code === 'ECHANGED' ? false : failWith(`${label}: failed to write ${path}: ${refused.detail}`)
}

function hashText(ctx: Context, text: string): string {
  ctx.charge(text.length >> 4)
  return ctx.machine.sha256Hex(text)
}
