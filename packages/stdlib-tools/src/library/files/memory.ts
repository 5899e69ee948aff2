// Memory, behind std/memory; memory.harn is what the builtins do. Here are the transformations that go over every record: reading the
// events of a file, and ranking records by the words of a query.

import { HarnDict, HarnFloat, HarnList, builtin, display, harnBuiltin, ln, parseJson, stringifyJson } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Value } from '@bridle/vm/families'
import { findHarnModule } from '../harn/modules.js'
import { describeFolderNameProblem, isAbsolutePath } from './lexical-path.js'

const K1 = 1.2
const B = 0.75
const KEY_BONUS = 0.4
const TAG_BONUS = 0.25

/** Why a text is not a namespace, null when it is one. */
function describeNamespaceProblem(name: string): string | null {
  if (isAbsolutePath(name)) return 'must be relative'
  const parts = name.split(/[\\/]/)
  if (parts.includes('..')) return 'must not escape the memory root'
  // The folder would be that of another namespace.
  if (parts.includes('') || parts.includes('.'))
    return `must have no empty and no '.' part, got '${name}'; write its parts with one '/' between`
  return describeFolderNameProblem(name)
}

/** Living records in the order in which they were stored. */
function readRecords(text: string): HarnDict[] {
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

// ---------------------------------------------------------------------------------------------------------------- ranking

function splitWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{Alphabetic}\p{N}]+/gu) ?? []).filter((word) => [...word].length > 1)
}

function toText(value: Value): string {
  return typeof value === 'string' ? value : stringifyJson(value, { interchange: true })
}

function listTags(record: HarnDict): readonly string[] {
  const tags = record.get('tags')
  return tags instanceof HarnList ? tags.view().map((tag) => display(tag)) : []
}

function recordWords(record: HarnDict): string[] {
  const parts = [record.get('key') ?? '', record.get('text') ?? '', ...listTags(record)].map((part) => display(part))
  return [...parts, toText(record.get('value') ?? null)].flatMap(splitWords)
}

interface Scored {
  readonly record: HarnDict
  readonly score: number
}

/** Records newest first with their scores; those without a hit are left out. A query without words takes everything at 0. */
function rankRecords(records: readonly HarnDict[], query: string): Scored[] {
  const newest = [...records].reverse()
  const wanted = [...new Set(splitWords(query))]
  if (wanted.length === 0) return newest.map((record) => ({ record, score: 0 }))
  const documents = newest.map(recordWords)
  const mean = documents.reduce((sum, document) => sum + document.length, 0) / Math.max(1, documents.length)
  const weights = wanted.map((word) => {
    const holding = documents.filter((document) => document.includes(word)).length
    return ln(1 + (documents.length - holding + 0.5) / (holding + 0.5))
  })
  const scored = newest.map((record, at): Scored => {
    const document = documents[at]!
    const keyWords = splitWords(display(record.get('key') ?? ''))
    const tagWords = listTags(record).flatMap(splitWords)
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

// -------------------------------------------------------------------------------------------------------------- builtins

function listRecords(value: Value | undefined): readonly HarnDict[] {
  return value instanceof HarnList ? value.view().filter((each): each is HarnDict => each instanceof HarnDict) : []
}

function define(name: string, params: string, returns: string, doc: string): BuiltinDef {
  const effects = ['fs.query', 'fs.read', 'fs.write', 'process.info', 'clock.now', 'random.bytes']
  const body = { module: 'library/files/memory', function: `memory_${name}` }
  return harnBuiltin(`__memory_${name}(${params}) -> ${returns}`, { doc, effects }, body)
}

export const memoryFamily: BuiltinFamily = {
  name: 'memory',
  modules: findHarnModule,
  primitives: [
    builtin('__memory_namespace_problem(name: string) -> string?', { doc: 'Why a text is no namespace.' }, (_ctx, name) =>
      describeNamespaceProblem(display(name ?? null)),
    ),
    builtin('__memory_records(text: string) -> list', { doc: 'Living records of a file of events.' }, (ctx, text) => {
      const whole = display(text ?? null)
      ctx.charge(whole.length >> 4, whole.length)
      return new HarnList(readRecords(whole))
    }),
    builtin(
      '__memory_rank(records: list, query: string) -> list',
      { doc: 'Records with their scores, the best first.' },
      (_ctx, records, query) =>
        new HarnList(
          rankRecords(listRecords(records), display(query ?? null)).map(({ record, score }) =>
            record.with('score', new HarnFloat(score)),
          ),
        ),
    ),
    builtin(
      '__memory_hits(records: list, query: string) -> list',
      { doc: 'Records that have words of a query, in their order.' },
      (_ctx, records, query) => {
        const given = listRecords(records)
        const wanted = display(query ?? null)
        if (splitWords(wanted).length === 0) return new HarnList([...given])
        const hits = new Set(rankRecords(given, wanted).map((each) => each.record))
        return new HarnList(given.filter((record) => hits.has(record)))
      },
    ),
  ],
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
