// Memory, behind std/memory: records in an append-only file of events per namespace, found again by
// words. Nothing is kept in the machine: each call reads the file, because other runs append to it too.

import {
  HarnDict,
  HarnFloat,
  HarnList,
  builtin,
  display,
  equals,
  failRuntime,
  here,
  isInt,
  ln,
  parseJson,
  scripts,
  sortTexts,
  stringifyJson,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Script, Value } from '@bridle/vm/families'
import { timeOrderedId, wallMs } from '../time/identity.js'
import { folderNameProblem, isAbsolutePath, normalizePath } from './lexical-path.js'
import { appendLine, environment, jsonData, readKept, stateRoot } from './state-files.js'
import { isoNow } from '../time/dates.js'

const MAX_RECALLED = 100
const K1 = 1.2
const B = 0.75
const KEY_BONUS = 0.4
const TAG_BONUS = 0.25

function dictOf(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : new HarnDict()
}

function namespaceOf(value: Value | undefined, name: string): string {
  const text = (value ?? null) === null ? '' : display(value!)
  if (text.trim() === '') return failRuntime(`__memory_${name}: \`namespace\` must be a non-empty string`)
  if (isAbsolutePath(text)) return failRuntime('memory namespace must be relative')
  if (text.split(/[\\/]/).includes('..')) return failRuntime('memory namespace must not escape the memory root')
  const problem = folderNameProblem(text)
  if (problem !== null) return failRuntime(`memory namespace ${problem}`)
  return text
}

function* fileOf(namespace: string, options: HarnDict): Script<string> {
  const given = options.get('root') ?? (yield* environment('HARN_MEMORY_ROOT'))
  const root = given === null || display(given) === '' ? `${(yield* stateRoot()).root}/memory` : display(given)
  return normalizePath(`${root}/${namespace}/events.jsonl`)
}

/** Living records in the order in which they were stored. */
function* load(path: string): Script<HarnDict[]> {
  const text = yield* readKept(path, 'memory')
  if (text === null) return []
  yield* here((ctx) => ctx.charge(text.length >> 4, text.length))
  const records = new Map<string, HarnDict>()
  for (const line of text.split('\n')) {
    const parsed = parseJson(line)
    if (!parsed.ok || !(parsed.value instanceof HarnDict)) continue
    const event = parsed.value
    const forgotten = event.get('forgotten_ids')
    if (forgotten instanceof HarnList) {
      for (const id of forgotten.view()) records.delete(display(id))
    } else if (event.get('_type') === 'memory_record') {
      const id = display(event.get('id') ?? null)
      // Storing an id again makes it the newest.
      records.delete(id)
      records.set(id, event)
    }
  }
  return [...records.values()]
}

function* timestamp(options: HarnDict): Script<string> {
  const given = options.get('now') ?? null
  return given === null ? isoNow(yield* wallMs()) : display(given)
}

function* identifier(options: HarnDict, prefix: string): Script<string> {
  const given = options.get('id') ?? null
  return given === null ? `${prefix}_${yield* timeOrderedId()}` : display(given)
}

function tagList(value: Value | undefined): HarnList {
  if (value === undefined || value === null) return new HarnList([])
  const items = value instanceof HarnList ? value.view() : [value]
  return new HarnList(sortTexts([...new Set(items.map((item) => display(item)))]))
}

// ---------------------------------------------------------------------------------------------------------------- ranking

function words(text: string): string[] {
  return (text.toLowerCase().match(/[\p{Alphabetic}\p{N}]+/gu) ?? []).filter((word) => [...word].length > 1)
}

function textOf(value: Value): string {
  return typeof value === 'string' ? value : stringifyJson(value, { interchange: true })
}

function tagsOf(record: HarnDict): readonly string[] {
  const tags = record.get('tags')
  return tags instanceof HarnList ? tags.view().map((tag) => display(tag)) : []
}

function recordWords(record: HarnDict): string[] {
  const parts = [record.get('key') ?? '', record.get('text') ?? '', ...tagsOf(record)].map((part) => display(part))
  return [...parts, textOf(record.get('value') ?? null)].flatMap(words)
}

interface Scored {
  readonly record: HarnDict
  readonly score: number
}

/** Records newest first with their scores; those without a hit are left out. A query without words takes everything at 0. */
function rank(records: readonly HarnDict[], query: string): Scored[] {
  const newest = [...records].reverse()
  const wanted = [...new Set(words(query))]
  if (wanted.length === 0) return newest.map((record) => ({ record, score: 0 }))
  const documents = newest.map(recordWords)
  const mean = documents.reduce((sum, document) => sum + document.length, 0) / Math.max(1, documents.length)
  const weights = wanted.map((word) => {
    const holding = documents.filter((document) => document.includes(word)).length
    return ln(1 + (documents.length - holding + 0.5) / (holding + 0.5))
  })
  const scored = newest.map((record, at): Scored => {
    const document = documents[at]!
    const keyWords = words(display(record.get('key') ?? ''))
    const tagWords = tagsOf(record).flatMap(words)
    let score = 0
    for (const [index, word] of wanted.entries()) {
      const count = document.filter((each) => each === word).length
      if (count > 0) score += (weights[index]! * (count * (K1 + 1))) / (count + K1 * (1 - B + (B * document.length) / mean))
      if (keyWords.includes(word)) score += KEY_BONUS
      if (tagWords.includes(word)) score += TAG_BONUS
    }
    return { record, score }
  })
  return scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)
}

// -------------------------------------------------------------------------------------------------------------- operations

function recallLimit(value: Value | undefined): number {
  return isInt(value ?? null) ? Math.max(0, Math.min(MAX_RECALLED, Number(value))) : 5
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}

function wantedTags(options: HarnDict): readonly string[] {
  return tagList(options.get('tags') ?? options.get('tag'))
    .view()
    .map((tag) => display(tag))
}

/** Whether a field satisfies what a predicate says of it: a value, or a list of which any will do. */
function oneOf(value: Value, allowed: Value): boolean {
  return allowed instanceof HarnList ? allowed.view().some((each) => equals(each, value)) : equals(allowed, value)
}

function predicate(given: Value): (record: HarnDict) => boolean {
  if (!(given instanceof HarnDict)) {
    const part = given === null ? '' : display(given)
    return (record) => part !== '' && display(record.get('text') ?? '').includes(part)
  }
  const id = given.get('id') ?? null
  const key = given.get('key') ?? null
  const tags = wantedTags(given)
  const query = given.get('query') ?? null
  if (id === null && key === null && tags.length === 0 && query === null) return () => false
  return (record) =>
    (id === null || oneOf(record.get('id') ?? null, id)) &&
    (key === null || oneOf(record.get('key') ?? null, key)) &&
    (tags.length === 0 || tags.some((tag) => tagsOf(record).includes(tag))) &&
    (query === null ||
      display(record.get('text') ?? '')
        .toLowerCase()
        .includes(display(query).toLowerCase()))
}

const machine = scripts('memory.script', {
  *store(namespace, key, value, tags, given) {
    const name = namespaceOf(namespace, 'store')
    const options = dictOf(given)
    const data = jsonData(value ?? null)
    const provenance = options.get('provenance') ?? null
    const record = HarnDict.of({
      _type: 'memory_record',
      id: yield* identifier(options, 'mem'),
      namespace: name,
      key: display(key ?? null),
      value: data,
      text: textOf(data),
      tags: tagList(tags),
      stored_at: yield* timestamp(options),
      ...(provenance === null ? {} : { provenance: jsonData(provenance) }),
    })
    yield* appendLine(yield* fileOf(name, options), stringifyJson(record, { interchange: true }), 'memory_store')
    return record
  },
  *recall(namespace, query, count, given) {
    const name = namespaceOf(namespace, 'recall')
    const records = yield* load(yield* fileOf(name, dictOf(given)))
    const ranked = rank(records, (query ?? null) === null ? '' : display(query!)).slice(0, recallLimit(count))
    return new HarnList(ranked.map(({ record, score }) => record.with('score', new HarnFloat(score))))
  },
  *summarize(namespace, window, given) {
    const name = namespaceOf(namespace, 'summarize')
    const options = dictOf(given)
    const settings = dictOf(window)
    const limit = isInt(window ?? null)
      ? Number(window)
      : isInt(settings.get('limit') ?? null)
        ? Number(settings.get('limit'))
        : 20
    const tags = wantedTags(settings)
    const query = settings.get('query') ?? null
    let records = yield* load(yield* fileOf(name, options))
    if (tags.length > 0) records = records.filter((record) => tags.some((tag) => tagsOf(record).includes(tag)))
    if (query !== null && words(display(query)).length > 0) {
      const hits = new Set(rank(records, display(query)).map((each) => each.record))
      records = records.filter((record) => hits.has(record))
    }
    const shown = limit <= 0 ? [] : records.slice(-limit)
    const lines = shown.map((record) => {
      const own = tagsOf(record)
      const label = own.length === 0 ? '' : `[${own.join(', ')}] `
      return `- ${label}${display(record.get('key') ?? '')}: ${firstLine(display(record.get('text') ?? ''))}`
    })
    return HarnDict.of({
      _type: 'memory_summary',
      namespace: name,
      count: shown.length,
      text: lines.join('\n'),
      records: new HarnList(shown),
    })
  },
  *forget(namespace, given, more) {
    const name = namespaceOf(namespace, 'forget')
    const options = dictOf(more)
    const path = yield* fileOf(name, options)
    const ids = (yield* load(path)).filter(predicate(given ?? null)).map((record) => record.get('id') ?? null)
    const event = HarnDict.of({
      _type: 'memory_forget',
      id: yield* identifier(options, 'forget'),
      namespace: name,
      forgotten: ids.length,
      forgotten_ids: new HarnList(ids),
      forgotten_at: yield* timestamp(options),
    })
    if (ids.length > 0) yield* appendLine(path, stringifyJson(event), 'memory_forget')
    return event
  },
})

function define(name: string, params: string, returns: string, doc: string): BuiltinDef {
  const effects = ['fs.query', 'fs.read', 'fs.write', 'process.info', 'clock.now', 'random.bytes']
  return builtin(`__memory_${name}(${params}) -> ${returns}`, { doc, effects }, (ctx, ...args) =>
    machine.start(ctx, name, ...args),
  )
}

export const memoryFamily: BuiltinFamily = {
  name: 'memory',
  frames: [machine.frame],
  builtins: [
    define(
      'store',
      'namespace: string, key: string, value: any, tags?: list | string, options?: dict',
      'dict',
      'Appends a record.',
    ),
    define('recall', 'namespace: string, query?: string, k?: int, options?: dict', 'list', 'The records that fit a query best.'),
    define('summarize', 'namespace: string, window?: int | dict, options?: dict', 'dict', 'The newest records as text.'),
    define('forget', 'namespace: string, predicate: string | dict, options?: dict', 'dict', 'Forgets the records that fit.'),
  ],
}
