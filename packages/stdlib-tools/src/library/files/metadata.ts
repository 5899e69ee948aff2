// Facts about directories: fields by directory and namespace, inherited from the root downwards, kept in
// the machine until `metadata_save` writes one file a namespace. Directory keys are the texts scripts gave; the root is "".

import {
  HarnDict,
  HarnList,
  builtin,
  display,
  failRuntime,
  failWith,
  family,
  hashFnv1a,
  runHere,
  isInt,
  isTruthy,
  makeScripts,
  sortTexts,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Script, Value } from '@bridle/vm/families'
import { readRecordFile, updateRecordFile } from './record-files.js'
import { listDirectoryNames, findExecutionRoot, readFileFacts, isMissing, toJsonData, findStateRoot } from './state-files.js'
import { formatIsoNow } from '../time/dates.js'
import {
  describeFolderNameProblem,
  encodeFolderName,
  decodeFolderName,
  isAbsolutePath,
  normalizePath,
  makeRelativePath,
} from './lexical-path.js'

/** Namespace → directory → fields. Replaced as a whole at each change, so that a script may hold on to what it saw. */
type Facts = ReadonlyMap<string, ReadonlyMap<string, HarnDict>>

/** `unsaved` are the fields that were set since the last save, for other processes save theirs to the same files. */
const metadataState = family<{ facts: Facts | null; unsaved: Facts }>('directory_facts', () => ({
  facts: null,
  unsaved: new Map(),
}))

/** The namespace that holds the hashes by which a directory is found stale. */
const HASHES = 'classification'

function* load(): Script<Facts> {
  const known = yield* runHere((ctx) => ctx.state(metadataState).facts)
  if (known !== null) return known
  const folder = `${(yield* findStateRoot()).root}/metadata`
  const names = yield* listDirectoryNames(folder)
  const facts = new Map<string, ReadonlyMap<string, HarnDict>>()
  if ('detail' in names) {
    if (!isMissing(names)) failWith(`metadata: failed to read ${folder}: ${names.detail}`)
  } else {
    for (const name of sortTexts([...names])) {
      const { content } = yield* readRecordFile(`${folder}/${name}/entries.json`, 'metadata')
      const entries = content.get('entries') ?? null
      if (entries instanceof HarnDict) facts.set(decodeFolderName(name), readEntries(entries))
    }
  }
  return yield* runHere((ctx) => (ctx.state(metadataState).facts ??= facts))
}

function readEntries(entries: HarnDict): Map<string, HarnDict> {
  const found = new Map<string, HarnDict>()
  for (const [directory, fields] of entries.entries()) if (fields instanceof HarnDict) found.set(directory, fields)
  return found
}

/** Each namespace is a folder with a file. */
function readNamespace(value: Value | undefined): string {
  const name = display(value ?? '')
  const problem = describeFolderNameProblem(name)
  return problem === null ? name : failRuntime(`metadata_set: namespace '${name}' ${problem}`)
}

function readKey(directory: Value): string {
  const text = directory === null ? '' : display(directory)
  return text === '.' ? '' : text
}

function formatKey(key: string): string {
  return key === '' ? '.' : key
}

function* setFields(key: string, namespace: string, fields: HarnDict): Script<null> {
  yield* load()
  yield* runHere((ctx) => {
    const state = ctx.state(metadataState)
    state.facts = withFields(state.facts ?? new Map(), key, namespace, fields)
    state.unsaved = withFields(state.unsaved, key, namespace, fields)
    return null
  })
  return null
}

function withFields(facts: Facts, key: string, namespace: string, fields: HarnDict): Facts {
  const own = new Map(facts.get(namespace) ?? [])
  own.set(key, (own.get(key) ?? new HarnDict()).merged(fields))
  return new Map(facts).set(namespace, own)
}

/** Writes what was set since the last save over what the file says now, and takes over what other processes wrote. */
function* saveNamespace(path: string, namespace: string, unsaved: Facts, now: string): Script<null> {
  const set = unsaved.get(namespace) ?? new Map<string, HarnDict>()
  const before = yield* readRecordFile(path, 'metadata_save')
  const after = yield* updateRecordFile(path, 'metadata_save', before, (content) => {
    const entries = parseEntries(content)
    for (const [key, fields] of set) entries.set(key, (entries.get(key) ?? new HarnDict()).merged(fields))
    return HarnDict.of({ version: 1, backend: 'filesystem', namespace, generatedAt: now, entries: new HarnDict(entries) })
  })
  return yield* runHere((ctx) => {
    const state = ctx.state(metadataState)
    let facts: Facts = new Map(state.facts ?? []).set(namespace, parseEntries(after.content))
    const left = new Map(state.unsaved)
    left.delete(namespace)
    // What another task has set since is neither in the file nor lost.
    if (state.unsaved.get(namespace) !== set) {
      const since = state.unsaved.get(namespace) ?? new Map<string, HarnDict>()
      left.set(namespace, since)
      for (const [key, fields] of since) facts = withFields(facts, key, namespace, fields)
    }
    state.facts = facts
    state.unsaved = left
    return null
  })
}

function parseEntries(content: HarnDict): Map<string, HarnDict> {
  const entries = content.get('entries') ?? null
  return entries instanceof HarnDict ? readEntries(entries) : new Map()
}

/** The root and each component on the way to a directory. */
function listLineage(key: string): string[] {
  const chain = ['']
  let path = ''
  for (const part of key.split('/')) {
    if (part === '' || part === '.') continue
    path = path === '' ? part : `${path}/${part}`
    chain.push(path)
  }
  return chain
}

function inheritFacts(facts: Facts, key: string, namespace: string): HarnDict | null {
  const own = facts.get(namespace)
  if (own === undefined) return null
  let result: HarnDict | null = null
  for (const ancestor of listLineage(key)) {
    const fields = own.get(ancestor)
    if (fields !== undefined) result = result === null ? fields : result.merged(fields)
  }
  return result
}

function listNamespaces(facts: Facts): string[] {
  return sortTexts([...facts.keys()])
}

function inheritAllFacts(facts: Facts, key: string): HarnDict | null {
  const result = new HarnDict()
  for (const namespace of listNamespaces(facts)) {
    const fields = inheritFacts(facts, key, namespace)
    if (fields !== null) result.set(namespace, fields)
  }
  return result.size === 0 ? null : result
}

function listLocalFacts(facts: Facts, key: string): HarnDict {
  const result = new HarnDict()
  for (const [namespace, own] of facts) {
    const fields = own.get(key)
    if (fields !== undefined) result.set(namespace, fields)
  }
  return result
}

function listDirectories(facts: Facts): string[] {
  const keys = new Set<string>()
  for (const own of facts.values()) for (const key of own.keys()) keys.add(key)
  return sortTexts([...keys])
}

// ---------------------------------------------------------------------------------------------------------------- hashes

function hashHex(text: string): string {
  return BigInt.asUintN(64, hashFnv1a(toUtf8(text))).toString(16)
}

interface Hashes {
  readonly exists: boolean
  readonly structure: string
  readonly content: string
}

function* resolvePlace(key: string): Script<string> {
  const { base } = yield* findStateRoot()
  return isAbsolutePath(key) ? key : normalizePath(`${base}/${key}`)
}

/** Both hashes of a directory's own entries, hidden ones too; those of nothing when it cannot be read. */
function* computeHashes(key: string): Script<Hashes> {
  const path = yield* resolvePlace(key)
  const names = yield* listDirectoryNames(path)
  if (!Array.isArray(names)) return { exists: false, structure: hashHex(''), content: hashHex('') }
  const structure: string[] = []
  const content: string[] = []
  for (const name of names as readonly string[]) {
    const facts = yield* readFileFacts(`${path}/${name}`)
    if (facts === null) continue
    structure.push(`${name}:${facts.size}`)
    content.push(`${name}:${facts.size}:${facts.modified}`)
  }
  return { exists: true, structure: hashHex(sortTexts(structure).join('|')), content: hashHex(sortTexts(content).join('|')) }
}

function readText(fields: HarnDict | undefined, name: string): string | null {
  const value = fields?.get(name) ?? null
  return typeof value === 'string' ? value : null
}

function* findStale(facts: Facts): Script<HarnDict> {
  const tier1: string[] = []
  const tier2: string[] = []
  const recorded = facts.get(HASHES) ?? new Map<string, HarnDict>()
  for (const key of sortTexts([...recorded.keys()])) {
    const structure = readText(recorded.get(key), 'structureHash')
    const content = readText(recorded.get(key), 'contentHash')
    if (structure === null && content === null) continue
    const now = yield* computeHashes(key)
    if (structure !== null && structure !== now.structure) tier1.push(formatKey(key))
    else if (content !== null && content !== now.content) tier2.push(formatKey(key))
  }
  return HarnDict.of({ any_stale: tier1.length + tier2.length > 0, tier1: new HarnList(tier1), tier2: new HarnList(tier2) })
}

// ------------------------------------------------------------------------------------------------------------- directory scan

interface ScanOptions {
  readonly matches: (path: string) => boolean
  readonly maxDepth: number
  readonly hidden: boolean
  readonly directories: boolean
  readonly files: boolean
}

function makeMatcher(pattern: string | null): (path: string) => boolean {
  if (pattern === null || pattern === '') return () => true
  for (const star of ['**', '*']) {
    const at = pattern.indexOf(star)
    if (at < 0) continue
    const before = pattern.slice(0, at)
    const after = pattern.slice(at + star.length)
    return (path) => path.startsWith(before) && path.endsWith(after)
  }
  return (path) => path.includes(pattern)
}

function scanOptions(second: Value, third: Value): ScanOptions {
  const given = second instanceof HarnDict ? second : third instanceof HarnDict ? third : new HarnDict()
  const pattern = second !== null && !(second instanceof HarnDict) ? second : (given.get('pattern') ?? null)
  const depth = given.get('max_depth') ?? null
  const readFlag = (name: string, fallback: boolean): boolean => (given.has(name) ? isTruthy(given.get(name)!) : fallback)
  return {
    matches: makeMatcher(pattern === null ? null : display(pattern)),
    maxDepth: isInt(depth) ? Math.max(0, Number(depth)) : 5,
    hidden: readFlag('include_hidden', false),
    directories: readFlag('include_dirs', true),
    files: readFlag('include_files', true),
  }
}

function* scan(start: string, options: ScanOptions): Script<HarnList> {
  const root = yield* findExecutionRoot()
  const found: Value[] = []
  // Directories still to be listed, the next one last; entries of a directory follow it at once.
  const pending: { readonly path: string; readonly depth: number }[] = []
  const visit = function* (folder: string, depth: number): Script<null> {
    const names = yield* listDirectoryNames(folder)
    if (!Array.isArray(names)) return null
    const entries: { readonly path: string; readonly name: string }[] = sortTexts([...(names as readonly string[])])
      .filter((name) => options.hidden || !name.startsWith('.'))
      .map((name) => ({ path: `${folder === '/' ? '' : folder}/${name}`, name }))
    for (const entry of entries.reverse()) pending.push({ path: entry.path, depth })
    return null
  }
  yield* visit(normalizePath(isAbsolutePath(start) ? start : `${root}/${start}`), 0)
  while (pending.length > 0) {
    const { path, depth } = pending.pop()!
    // A link is an entry, and never a way into another folder, or into its own.
    const facts = yield* readFileFacts(path, 'as they are')
    if (facts === null) continue
    const shown = makeRelativePath(path, root) ?? path
    if ((facts.isDir ? options.directories : options.files) && options.matches(shown)) {
      found.push(HarnDict.of({ path: shown, size: facts.size, modified: facts.modified, is_dir: facts.isDir }))
    }
    if (facts.isDir && depth < options.maxDepth) yield* visit(path, depth + 1)
  }
  yield* runHere((ctx) => ctx.charge(found.length, found.length * 96))
  return new HarnList(found)
}

// -------------------------------------------------------------------------------------------------------------- builtins

const machine = makeScripts('metadata.script', {
  *set(directory, namespace, fields) {
    const data = toJsonData(fields ?? null)
    if (!(data instanceof HarnDict) || data.size === 0) return null
    return yield* setFields(readKey(directory!), readNamespace(namespace), data)
  },
  *get(directory, namespace) {
    const facts = yield* load()
    const key = readKey(directory!)
    if ((namespace ?? null) !== null) return inheritFacts(facts, key, display(namespace!))
    let flat: HarnDict | null = null
    for (const name of listNamespaces(facts)) {
      const fields = inheritFacts(facts, key, name)
      if (fields !== null) flat = flat === null ? fields : flat.merged(fields)
    }
    return flat
  },
  *resolve(directory, namespace) {
    const facts = yield* load()
    const key = readKey(directory!)
    return (namespace ?? null) === null ? inheritAllFacts(facts, key) : inheritFacts(facts, key, display(namespace!))
  },
  *entries(namespace) {
    const facts = yield* load()
    return new HarnList(
      listDirectories(facts).map((key) => {
        if ((namespace ?? null) === null)
          return HarnDict.of({ dir: formatKey(key), local: listLocalFacts(facts, key), resolved: inheritAllFacts(facts, key) })
        const name = display(namespace!)
        return HarnDict.of({
          dir: formatKey(key),
          local: facts.get(name)?.get(key) ?? null,
          resolved: inheritFacts(facts, key, name),
        })
      }),
    )
  },
  *stale() {
    return yield* findStale(yield* load())
  },
  *status(namespace) {
    const facts = yield* load()
    const wanted = (namespace ?? null) === null ? HASHES : display(namespace!)
    const keys = listDirectories(facts)
    const missing = { structureHash: [] as string[], contentHash: [] as string[] }
    for (const key of keys) {
      const fields = facts.get(wanted)?.get(key) ?? facts.get(HASHES)?.get(key)
      if (fields === undefined) continue
      const place = yield* readFileFacts(yield* resolvePlace(key))
      if (place === null) continue
      for (const name of ['structureHash', 'contentHash'] as const)
        if (readText(fields, name) === null) missing[name].push(formatKey(key))
    }
    const names = listNamespaces(facts)
    return HarnDict.of({
      directory_count: keys.length,
      namespace_count: names.length,
      namespaces: new HarnList(names),
      directories: new HarnList(keys.map(formatKey)),
      missing_structure_hash: new HarnList(missing.structureHash),
      missing_content_hash: new HarnList(missing.contentHash),
      stale: yield* findStale(facts),
    })
  },
  *refresh() {
    const loaded = yield* load()
    for (const key of listDirectories(loaded)) {
      yield* setFields(key, HASHES, HarnDict.of({ structureHash: (yield* computeHashes(key)).structure }))
    }
    return null
  },
  *save() {
    yield* load()
    const { unsaved, now } = yield* runHere((ctx) => ({
      unsaved: ctx.state(metadataState).unsaved,
      now: `${formatIsoNow(ctx.now).slice(0, 19)}Z`,
    }))
    const { root } = yield* findStateRoot()
    for (const name of listNamespaces(unsaved))
      yield* saveNamespace(`${root}/metadata/${encodeFolderName(name)}/entries.json`, name, unsaved, now)
    return null
  },
  *content_hash(directory) {
    return (yield* computeHashes(readKey(directory!))).content
  },
  *scan(directory, second, third) {
    return yield* scan((directory ?? null) === null ? '.' : display(directory!), scanOptions(second ?? null, third ?? null))
  },
})

function define(signature: string, doc: string, name: string): BuiltinDef {
  const writes = name === 'save' ? ['fs.write'] : []
  return builtin(signature, { doc, effects: ['fs.query', 'fs.read', 'process.info', ...writes] }, (ctx, ...args) =>
    machine.start(ctx, name, ...args),
  )
}

export const metadataFamily: BuiltinFamily = {
  name: 'metadata',
  frames: [machine.frame],
  builtins: [
    define(
      'metadata_set(dir: string, namespace: string, data: dict) -> nil',
      'Merges fields into what is known of a directory.',
      'set',
    ),
    define(
      'metadata_get(dir: string, namespace?: string) -> dict | nil as dict',
      'Fields of a directory with what it inherits; all namespaces in one dict when none is named.',
      'get',
    ),
    define(
      'metadata_resolve(dir: string, namespace?: string) -> dict | nil as dict',
      'Fields of a directory with what it inherits; by namespace when none is named.',
      'resolve',
    ),
    define(
      'metadata_entries(namespace?: string) -> list',
      'All directories with their own and their inherited fields.',
      'entries',
    ),
    define('metadata_stale(project?: string) -> dict as ?', 'Directories that changed since their hashes were taken.', 'stale'),
    define('metadata_status(namespace?: string) -> dict', 'Counts, missing hashes and stale directories.', 'status'),
    define('metadata_refresh_hashes() -> nil', 'Takes the structure hash of every directory anew.', 'refresh'),
    define('metadata_save() -> nil', 'Writes all namespaces out.', 'save'),
    builtin(
      'invalidate_facts(dir?: string) -> nil',
      { doc: 'Kept for scripts that call it; facts are not cached beyond their hashes.' },
      () => null,
    ),
    define(
      'compute_content_hash(dir: string) -> string',
      'Hash of names, sizes and times of the entries of a directory.',
      'content_hash',
    ),
    define(
      'scan_directory(dir?: string, pattern_or_options?: string | dict, options?: dict) -> list as ?',
      'Files and folders below a directory.',
      'scan',
    ),
  ],
}
