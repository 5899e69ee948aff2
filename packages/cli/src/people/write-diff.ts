// The diff of a call that writes a file, for its approval: the changed lines with three lines of context.

import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { diffLines } from '@bridle/stdlib-tools'

type Fields = { readonly [key: string]: unknown }

/** Longer diffs are unreadable, and computing them would keep the person waiting. */
const MOST_BYTES = 1 << 20
const CONTEXT = 3
const MOST_LINES = 60

/** Words in the names of writing tools: `fs.write`, `mcp:files/write_file`, `create_file`. */
const WRITES = /(?:^|[._/:-])(?:write|create|save|overwrite|put)(?:$|[._/:-]|file)/i
const APPENDS = /(?:^|[._/:-])append(?:$|[._/:-]|file)/i

/** `name` is the called tool, `args` are its arguments. Null for calls that write no text into a named file. */
export function describeWrite(name: string, args: Fields, isWhole: boolean): string | null {
  const isAppending = APPENDS.test(name)
  if (!isAppending && !WRITES.test(name)) return null
  const path = args['path'] ?? args['file_path'] ?? args['file']
  const content = args['content'] ?? args['contents'] ?? args['text']
  if (typeof path !== 'string' || typeof content !== 'string' || content.length > MOST_BYTES) return null
  const before = readText(path)
  if (before === undefined) return null
  const old = before ?? ''
  const lines = shorten(listHunks(diffLines(old, isAppending ? old + content : content).split('\n')), isWhole)
  const what = before === null ? ['a new file'] : lines.length === 0 ? ['nothing changes'] : ['']
  return [...what, ...lines].join('\n    ')
}

/** Null when there is no such file; undefined if it cannot be shown: a large file, bytes, a folder, a device. */
function readText(path: string): string | null | undefined {
  let file: number | null = null
  try {
    file = openSync(path, 'r')
    const facts = fstatSync(file)
    if (!facts.isFile() || facts.size > MOST_BYTES) return undefined
    const text = readFileSync(file, 'utf8')
    return text.includes('\0') ? undefined : text
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ENOENT' ? null : undefined
  } finally {
    if (file !== null) closeSync(file)
  }
}

/** The changed lines and their context, with `…` where lines were left out. */
function listHunks(lines: readonly string[]): readonly string[] {
  const isChanged = (line: string | undefined): boolean => line !== undefined && !line.startsWith(' ') && line !== ''
  const kept = lines.map((_, at) => lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(isChanged))
  if (!kept.includes(true)) return []
  return lines.flatMap((line, at) => (kept[at] === true ? [line] : kept[at - 1] !== false ? ['…'] : []))
}

function shorten(lines: readonly string[], isWhole: boolean): readonly string[] {
  if (isWhole || lines.length <= MOST_LINES) return lines
  return [...lines.slice(0, MOST_LINES), `[and ${lines.length - MOST_LINES} more lines]`]
}
