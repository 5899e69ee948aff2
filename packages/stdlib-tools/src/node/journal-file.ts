// A journal in a file, one JSON record a line. Each entry is written before `append` returns, so what the script was told is
// on record even when the process dies the next moment; `sync` makes it survive a power cut too, at the price of a disk flush.

import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { decodeJournal, encodeEntry } from '../journal.js'
import type { Journal, JournalEntry } from '../journal.js'
import { ANEW, appendAll, makeFolders } from './whole-file.js'

export function fileJournal(path: string, options: { readonly sync?: boolean } = {}): Journal {
  makeFolders(dirname(path))
  let fd: number | null = openSync(path, ANEW)
  return {
    append(entry) {
      if (fd === null) throw new Error('the journal is closed')
      appendAll(fd, Buffer.from(`${encodeEntry(entry)}\n`))
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
