// The files of an editor: its open documents, and the other scripts below its folders as they are on disk.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { ModuleCache } from '../checking/imports.js'
import type { CheckingRuntimes } from '../checking/runtimes.js'
import { findRealPath, OpenDocument, toPath } from './document.js'

export interface Open {
  readonly document: OpenDocument
  /** The newest earlier version that parsed. */
  readonly before: OpenDocument | null
}

interface OnDisk {
  readonly document: OpenDocument
  readonly changed: number
  readonly size: number
  /** The newest module change that was considered. */
  seen: number
}

/** Maximum number of scripts of a folder: an editor may be opened on a whole disk. */
const MOST_FILES = 5000
const MOST_BYTES = 16 << 20
/** Folders with code of others. */
const FOREIGN: ReadonlySet<string> = new Set(['node_modules', 'dist', 'target', '.git', '.harn', '.bridle'])

export class Workspace {
  readonly modules: ModuleCache
  private readonly makeRuntimes: () => CheckingRuntimes
  private runtimesMade: CheckingRuntimes | null = null
  private readonly open = new Map<string, Open>()
  /** URIs of open documents by module key. */
  private readonly uris = new Map<string, string>()
  private readonly onDisk = new Map<string, OnDisk>()
  private folders: readonly string[] = []
  /** When modules changed, in the editor or on disk, by key: increasing numbers. */
  private readonly changes = new Map<string, number>()
  private newest = 0

  /** `makeRuntimes` is given a function that finds the text of an open document. */
  constructor(makeRuntimes: (findOpenText: (key: string) => string | null) => CheckingRuntimes) {
    const findOpenText = (key: string): string | null => this.findOpenText(key)
    this.modules = new ModuleCache(findOpenText)
    this.makeRuntimes = () => makeRuntimes(findOpenText)
  }

  get runtimes(): CheckingRuntimes {
    return (this.runtimesMade ??= this.makeRuntimes())
  }

  /** URIs of folders; those that are not on this machine are left out. */
  setFolders(uris: readonly string[]): void {
    this.folders = [...new Set(uris.map(toPath).filter((path) => !/^[\w-]{2,}:/.test(path)))].map(findRealPath)
  }

  changeFolders(added: readonly string[], removed: readonly string[]): void {
    const gone = new Set(removed.map(toPath).map(findRealPath))
    this.setFolders([...this.folders.filter((path) => !gone.has(path)).map((path) => pathToFileURL(path).href), ...added])
  }

  get openDocuments(): readonly Open[] {
    return [...this.open.values()]
  }

  find(uri: string): Open | null {
    return this.open.get(uri) ?? null
  }

  set(text: TextDocument): void {
    const known = this.open.get(text.uri)
    const before = known === undefined ? null : known.document.isKnownToParse ? known.document : known.before
    this.open.set(text.uri, { document: new OpenDocument(text, this.runtimes, known?.document ?? null, this.modules), before })
    if (known === undefined) this.uris.set(findRealPath(toPath(text.uri)), text.uri)
  }

  /** The unchanged text is analysed again, because an import has changed. */
  refresh(uri: string): void {
    const known = this.open.get(uri)
    if (known !== undefined) this.set(known.document.text)
  }

  close(uri: string): void {
    this.open.delete(uri)
    for (const [key, each] of this.uris) if (each === uri) this.uris.delete(key)
  }

  readKeyOfUri(uri: string): string {
    return findRealPath(toPath(uri))
  }

  /** The URI of a module: that of the open document, if it is open. */
  readUri(key: string): string {
    return this.uris.get(key) ?? pathToFileURL(key).href
  }

  private findOpenText(key: string): string | null {
    const uri = this.uris.get(key)
    return uri === undefined ? null : (this.open.get(uri)?.document.text.getText() ?? null)
  }

  /** The document with a key, open or on disk; null if it is not a file, or unreadable. */
  findByKey(key: string): OpenDocument | null {
    const uri = this.uris.get(key)
    if (uri !== undefined) return this.open.get(uri)?.document ?? null
    const facts = statSync(key, { throwIfNoEntry: false })
    if (facts === undefined || !facts.isFile() || facts.size > MOST_BYTES) return null
    const known = this.onDisk.get(key)
    if (known?.changed === facts.mtimeMs && known.size === facts.size && this.isCurrent(known)) return known.document
    try {
      const text = TextDocument.create(pathToFileURL(key).href, 'harn', 0, readFileSync(key, 'utf8'))
      const document = new OpenDocument(text, this.runtimes, null, this.modules)
      this.onDisk.set(key, { document, changed: facts.mtimeMs, size: facts.size, seen: this.newest })
      return document
    } catch {
      return null
    }
  }

  findByUri(uri: string): OpenDocument | null {
    return this.open.get(uri)?.document ?? this.findByKey(findRealPath(toPath(uri)))
  }

  /** A module has changed: findings of its importers are computed again. null: any module may have changed. */
  noteChange(key: string | null): void {
    if (key === null) this.onDisk.clear()
    else this.changes.set(key, ++this.newest)
  }

  private isCurrent(known: OnDisk): boolean {
    const { seen, document } = known
    known.seen = this.newest
    if (seen === this.newest || !document.isKnownToParse) return true
    return ![...this.changes].some(([key, at]) => at > seen && document.imports(key))
  }

  /** Open documents, and scripts below the folders. With a name: those whose text contains it. */
  listDocuments(name: string | null = null): readonly OpenDocument[] {
    const keys = new Set([...this.uris.keys(), ...this.listFiles()])
    const found: OpenDocument[] = []
    for (const key of keys) {
      const document = this.findByKey(key)
      if (document !== null && (name === null || document.text.getText().includes(name))) found.push(document)
    }
    return found
  }

  private listFiles(): readonly string[] {
    const files: string[] = []
    const visit = (folder: string): void => {
      for (const entry of listEntries(folder)) {
        if (files.length >= MOST_FILES) return
        const path = join(folder, entry.name)
        if (entry.isDirectory() && !FOREIGN.has(entry.name)) visit(path)
        else if (entry.isFile() && extname(entry.name) === '.harn') files.push(path)
      }
    }
    for (const folder of this.folders) visit(folder)
    return files
  }
}

function listEntries(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder)
  } catch {
    return []
  }
}

const readEntries = (folder: string) =>
  readdirSync(folder, { withFileTypes: true }).toSorted((one, other) => (one.name < other.name ? -1 : 1))
