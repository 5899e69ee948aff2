// A journal in a file, one JSON record a line. Each entry is written before `append` returns, so everything the script received is
// on record even when the process dies the next moment; `sync` makes it survive a power cut too, at the price of a disk flush.

import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { decodeEntry, decodeJournal, encodeEntry } from '../host/journal.js'
import type { Journal, JournalEntry } from '../host/journal.js'
import { appendAll, makeFolders, openAnew } from './whole-file.js'

export function fileJournal(path: string, options: { readonly sync?: boolean } = {}): Journal {
  makeFolders(dirname(path))
  return makeAppending(openAnew(path), options)
}

/**
 * The journal of a run that continues: behind what is there, without what a crash left of a last line. The head of the run is there already
 * and not written again.
 */
export function continuedJournal(path: string, options: { readonly sync?: boolean } = {}): Journal {
  const text = readFileSync(path)
  const end = text.lastIndexOf(LINE_FEED) + 1
  const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND)
  if (end < text.length) {
    if (isEntry(text.subarray(end).toString('utf8'))) appendAll(fd, Buffer.of(LINE_FEED))
    else ftruncateSync(fd, end)
  }
  const journal = makeAppending(fd, options)
  return {
    ...journal,
    append(entry) {
      if (entry.type !== 'run') journal.append(entry)
    },
  }
}

const LINE_FEED = 0x0a

function isEntry(line: string): boolean {
  try {
    decodeEntry(line)
    return true
  } catch {
    return false
  }
}

function makeAppending(opened: number, options: { readonly sync?: boolean }): Journal {
  let fd: number | null = opened
  // A pipe has no size.
  const facts = fstatSync(fd)
  const isOwn = facts.isFile()
  let expected = facts.size
  return {
    append(entry) {
      if (fd === null) throw new Error('the journal is closed')
      // A run that another process continued with is no longer this one's: both would do the same things.
      if (isOwn && fstatSync(fd).size !== expected) throw new Error('another process writes to the journal')
      const line = Buffer.from(`${encodeEntry(entry)}\n`)
      appendAll(fd, line)
      expected += line.length
      if (options.sync === true) fsyncSync(fd)
    },
    close() {
      if (fd !== null) closeSync(fd)
      fd = null
    },
  }
}

/** Throws JournalFormatError for a file that is not a journal. */
export function readJournal(path: string): JournalEntry[] {
  return decodeJournal(readFileSync(path, 'utf8'))
}
