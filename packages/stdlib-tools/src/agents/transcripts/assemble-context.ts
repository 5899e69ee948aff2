// `assemble_context`: artifacts are cut into chunks, repeated ones dropped, the rest ranked and packed
// into a budget; the result says of every chunk why it is in or out.

import {
  HarnDict,
  HarnFloat,
  HarnList,
  bytesToHex,
  chargeArguments,
  display,
  failRuntime,
  isCallable,
  isInt,
  sortTexts,
  typeName,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Value } from '@bridle/vm/families'
import { listDicts } from './shape.js'
import { sha256 } from '../../library/crypto/hashes.js'
import { definePrimitive } from '../../library/harn/primitive.js'

interface Chunk {
  readonly id: string
  readonly artifact: HarnDict
  /** Place of the artifact in the input. */
  readonly order: number
  readonly index: number
  readonly count: number
  readonly text: string
  readonly tokens: number
  score: number
}

interface Settings {
  readonly budget: number
  readonly threshold: number
  readonly dedup: string
  readonly strategy: string
  readonly query: string
  readonly overlap: number
  /** Whether a function of the script gives the scores. */
  readonly isRanked: boolean
}

const DEDUPS = ['none', 'chunked', 'semantic']
const STRATEGIES = ['recency', 'relevance', 'round_robin']

function readNumber(value: Value, fallback: number): number {
  return value instanceof HarnFloat ? value.v : isInt(value) ? Number(value) : fallback
}

function readSettings(options: HarnDict): Settings {
  const readField = (name: string): Value => options.get(name) ?? null
  const readChoice = (name: string, allowed: readonly string[], fallback: string): string => {
    const text = readField(name) === null ? fallback : display(readField(name))
    return allowed.includes(text)
      ? text
      : failRuntime(`assemble_context: ${name} must be one of ${allowed.join(' | ')} (got "${text}")`)
  }
  const settings: Settings = {
    budget: readNumber(readField('budget_tokens'), 8000),
    threshold: Math.max(1, readNumber(readField('microcompact_threshold'), 2000)),
    dedup: readChoice('dedup', DEDUPS, 'chunked'),
    strategy: readChoice('strategy', STRATEGIES, 'relevance'),
    query: readField('query') === null ? '' : display(readField('query')),
    overlap: readNumber(readField('semantic_overlap'), 0.85),
    isRanked: isCallable(readField('ranker_callback')),
  }
  if (settings.budget < 0) return failRuntime('assemble_context: budget_tokens must be >= 0')
  if (settings.overlap < 0 || settings.overlap > 1) return failRuntime('assemble_context: semantic_overlap must be in [0.0, 1.0]')
  return settings
}

// ---------------------------------------------------------------------------------------------------------------- cutting

/** Joins pieces with a separator while they fit into `limit` bytes. */
function packPieces(pieces: readonly string[], separator: string, limit: number): string[] {
  const chunks: string[] = []
  let current: string | null = null
  for (const piece of pieces) {
    const joined: string = current === null ? piece : current + separator + piece
    if (current !== null && toUtf8(joined).length > limit) {
      chunks.push(current)
      current = piece
    } else current = joined
  }
  return current === null ? chunks : [...chunks, current]
}

/** Pieces of at most `limit` bytes, cut between characters. */
function cut(line: string, limit: number): string[] {
  const pieces: string[] = []
  let current = ''
  let size = 0
  for (const char of line) {
    const bytes = toUtf8(char).length
    if (size + bytes > limit && current !== '') {
      pieces.push(current)
      current = ''
      size = 0
    }
    current += char
    size += bytes
  }
  return current === '' ? pieces : [...pieces, current]
}

/** Paragraphs, put together while they fit; one that is too large alone goes by lines, and such a line by characters. */
function cutText(text: string, limit: number): string[] {
  const chunks: string[] = []
  let small: string[] = []
  const flush = (): void => {
    chunks.push(...packPieces(small, '\n\n', limit))
    small = []
  }
  for (const paragraph of text.split(/\n{2,}/).filter((each) => each.trim() !== '')) {
    if (toUtf8(paragraph).length <= limit) {
      small.push(paragraph)
      continue
    }
    flush()
    const lines = paragraph.split(/(?<=\n)/).flatMap((line) => (toUtf8(line).length > limit ? cut(line, limit) : [line]))
    chunks.push(...packPieces(lines, '', limit))
  }
  flush()
  return chunks
}

function cutChunks(artifact: HarnDict, order: number, text: string, threshold: number): Chunk[] {
  const estimate = readNumber(artifact.get('estimated_tokens') ?? null, 0)
  const pieces = estimate > threshold ? cutText(text, threshold * 4) : [text]
  const artifactId = display(artifact.get('id') ?? '')
  return pieces.map((piece, index) => ({
    id: `${artifactId}#${bytesToHex(sha256(toUtf8(piece))).slice(0, 16)}`,
    artifact,
    order,
    index,
    count: pieces.length,
    text: piece,
    tokens: Math.ceil(toUtf8(piece).length / 4),
    score: 0,
  }))
}

// ------------------------------------------------------------------------------------------------------------ duplicates

function listTrigrams(text: string): Set<string> {
  const chars = [...text.toLowerCase()]
  const found = new Set<string>()
  for (let at = 0; at + 3 <= chars.length; at++) found.add(chars.slice(at, at + 3).join(''))
  return found
}

function measureSimilarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0
  for (const each of a) if (b.has(each)) shared++
  const all = a.size + b.size - shared
  return all === 0 ? 0 : shared / all
}

function findDuplicate(kept: readonly Chunk[], chunk: Chunk, settings: Settings): string | null {
  const normalizeSpace = (text: string): string =>
    text
      .split(/\s+/)
      .filter((word) => word !== '')
      .join(' ')
  if (settings.dedup === 'chunked')
    return kept.some((each) => normalizeSpace(each.text) === normalizeSpace(chunk.text)) ? 'chunked' : null
  const own = listTrigrams(chunk.text)
  const like = kept.find((each) => measureSimilarity(listTrigrams(each.text), own) >= settings.overlap)
  return like === undefined ? null : `semantic≈${like.id}`
}

// -------------------------------------------------------------------------------------------------------------- ranking

function measureRelevance(text: string, terms: readonly string[]): number {
  if (terms.length === 0) return 0
  const lower = text.toLowerCase()
  const found = terms.filter((term) => lower.includes(term)).length
  return 0.7 * (found / terms.length) + 0.3 * Math.min(1, found / (toUtf8(text).length / 400 + 1))
}

/** Seconds since 1970 of a time that is text: digits, or a date. */
function parseSeconds(value: Value): number {
  const text = value === null ? '' : display(value)
  const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000
  return Number.isFinite(seconds) ? seconds : 0
}

function encodeChunk(chunk: Chunk): HarnDict {
  const readField = (name: string): Value => chunk.artifact.get(name) ?? null
  return HarnDict.of({
    id: chunk.id,
    artifact_id: readField('id'),
    artifact_kind: readField('kind'),
    title: readField('title'),
    source: readField('source'),
    text: chunk.text,
    estimated_tokens: chunk.tokens,
    chunk_index: chunk.index,
    chunk_count: chunk.count,
    score: new HarnFloat(chunk.score),
  })
}

/** Sets the scores that a function of the script gave. */
function takeScores(chunks: readonly Chunk[], scores: HarnList): void {
  for (const [at, chunk] of chunks.entries()) {
    const score = scores.view()[at] ?? null
    if (score !== null && !isInt(score) && !(score instanceof HarnFloat)) {
      return failRuntime(`assemble_context: ranker_callback score must be a number (got ${typeName(score)})`)
    }
    chunk.score = readNumber(score, 0)
  }
}

function scoreChunks(chunks: readonly Chunk[], settings: Settings): void {
  const words = settings.query.toLowerCase().match(/[\p{Alphabetic}\p{N}_]+/gu) ?? []
  const terms = [...new Set(words.filter((word) => [...word].length > 2))]
  const latest = Math.max(1, ...chunks.map((chunk) => parseSeconds(chunk.artifact.get('created_at') ?? null)))
  for (const [at, chunk] of chunks.entries()) {
    if (settings.strategy === 'relevance') chunk.score = measureRelevance(chunk.text, terms)
    else if (settings.strategy === 'recency') chunk.score = parseSeconds(chunk.artifact.get('created_at') ?? null) / latest
    else chunk.score = (1_000_000 - at) / 1_000_000
  }
}

function orderChunks(chunks: readonly Chunk[], settings: Settings): Chunk[] {
  if (settings.strategy === 'round_robin' && !settings.isRanked)
    return [...chunks].sort((a, b) => a.index - b.index || a.order - b.order)
  const ids = sortTexts([...new Set(chunks.map((chunk) => display(chunk.artifact.get('id') ?? '')))])
  const place = new Map(ids.map((id, at) => [id, at]))
  const findPlace = (chunk: Chunk): number => place.get(display(chunk.artifact.get('id') ?? ''))!
  return [...chunks].sort((a, b) => b.score - a.score || findPlace(a) - findPlace(b) || a.index - b.index)
}

// -------------------------------------------------------------------------------------------------------------- assembly

function makeDrop(artifact: HarnDict, chunkId: string | null, reason: string, detail: string | null): HarnDict {
  return HarnDict.of({ artifact_id: artifact.get('id') ?? null, chunk_id: chunkId, reason, detail })
}

/** The chunks that are not a repetition, as scripts see them, and what was dropped. `orders` are places of their artifacts. */
function cutArtifacts(ctx: Context, artifacts: readonly HarnDict[], settings: Settings): HarnDict {
  const dropped: HarnDict[] = []
  const candidates: Chunk[] = []
  for (const [order, artifact] of artifacts.entries()) {
    const text = artifact.get('text') ?? null
    if (text === null) dropped.push(makeDrop(artifact, null, 'no_text', null))
    else if (display(text).trim() === '') dropped.push(makeDrop(artifact, null, 'empty_text', null))
    else {
      ctx.charge(display(text).length >> 4, display(text).length)
      candidates.push(...cutChunks(artifact, order, display(text), settings.threshold))
    }
  }
  const kept: Chunk[] = []
  for (const chunk of candidates) {
    const detail = settings.dedup === 'none' ? null : findDuplicate(kept, chunk, settings)
    if (detail === null) kept.push(chunk)
    else dropped.push(makeDrop(chunk.artifact, chunk.id, 'duplicate', detail))
  }
  ctx.charge(kept.length * (settings.dedup === 'none' ? 1 : kept.length))
  return HarnDict.of({
    chunks: new HarnList(kept.map(encodeChunk)),
    orders: new HarnList(kept.map(({ order }) => order)),
    dropped: new HarnList(dropped),
  })
}

function decodeChunks(cut: HarnDict, artifacts: readonly HarnDict[]): Chunk[] {
  const orders = (cut.get('orders') as HarnList).view()
  return listDicts(cut.get('chunks')).map((chunk, at) => ({
    id: chunk.get('id') as string,
    artifact: artifacts[Number(orders[at])]!,
    order: Number(orders[at]),
    index: Number(chunk.get('chunk_index')),
    count: Number(chunk.get('chunk_count')),
    text: chunk.get('text') as string,
    tokens: Number(chunk.get('estimated_tokens')),
    score: 0,
  }))
}

/** The chunks that fit the budget, the best first, and why the others are out. */
function packContext(artifacts: readonly HarnDict[], settings: Settings, cut: HarnDict, scores: Value): HarnDict {
  const kept = decodeChunks(cut, artifacts)
  if (scores instanceof HarnList) takeScores(kept, scores)
  else scoreChunks(kept, settings)
  const selected: Chunk[] = []
  const refused: Chunk[] = []
  let total = 0
  for (const chunk of orderChunks(kept, settings)) {
    if (total + chunk.tokens > settings.budget) {
      refused.push(chunk)
      continue
    }
    total += chunk.tokens
    selected.push(chunk)
  }
  const makeReason = (chunk: Chunk, included: boolean): HarnDict =>
    HarnDict.of({
      chunk_id: chunk.id,
      artifact_id: chunk.artifact.get('id') ?? null,
      strategy: settings.strategy,
      score: new HarnFloat(chunk.score),
      included,
      reason: included ? 'selected' : 'budget_exceeded',
    })
  return HarnDict.of({
    chunks: new HarnList(selected.map(encodeChunk)),
    included: new HarnList(artifacts.flatMap((artifact, order) => describeIncluded(artifact, order, selected, kept))),
    dropped: new HarnList([
      ...(cut.get('dropped') as HarnList).view(),
      ...refused.map((chunk) => makeDrop(chunk.artifact, chunk.id, 'budget_exceeded', null)),
    ]),
    reasons: new HarnList([
      ...selected.map((chunk) => makeReason(chunk, true)),
      ...refused.map((chunk) => makeReason(chunk, false)),
    ]),
    total_tokens: total,
    budget_tokens: settings.budget,
    strategy: settings.strategy,
    dedup: settings.dedup,
  })
}

function describeIncluded(artifact: HarnDict, order: number, selected: readonly Chunk[], kept: readonly Chunk[]): HarnDict[] {
  const own = selected.filter((chunk) => chunk.order === order)
  if (own.length === 0) return []
  return [
    HarnDict.of({
      artifact_id: artifact.get('id') ?? null,
      artifact_kind: artifact.get('kind') ?? null,
      chunks_included: own.length,
      chunks_total: kept.filter((chunk) => chunk.order === order).length,
      tokens_included: own.reduce((sum, chunk) => sum + chunk.tokens, 0),
    }),
  ]
}

export const contextPrimitives: readonly BuiltinDef[] = [
  definePrimitive('__check_context_options(options: dict) -> nil', 'Raises what is wrong with them.', (_ctx, options) => {
    readSettings(options as HarnDict)
    return null
  }),
  definePrimitive(
    '__cut_artifacts(artifacts: list, options: dict) -> dict',
    'Chunks of artifacts without repetitions: {chunks, orders, dropped}.',
    (ctx, artifacts, options) => cutArtifacts(ctx, listDicts(artifacts), readSettings(options as HarnDict)),
  ),
  definePrimitive(
    '__pack_context(artifacts: list, options: dict, cut: dict, scores: list?) -> dict',
    'The chunks that fit the budget by their scores, or else by the strategy of the options.',
    (ctx, artifacts, options, cut, scores) => {
      chargeArguments(ctx, [cut!])
      return packContext(listDicts(artifacts), readSettings(options as HarnDict), cut as HarnDict, scores!)
    },
  ),
]
