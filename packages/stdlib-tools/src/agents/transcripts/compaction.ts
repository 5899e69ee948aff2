// Compaction: the older part of a conversation becomes one message that sums it up, by masking, cutting,
// asking a model, or a closure of the script.

import {
  Fault,
  HarnClosure,
  HarnDict,
  HarnList,
  builtin,
  callBack,
  display,
  failRuntime,
  isInt,
  scripts,
  sortedJson,
  utf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Script, Value } from '@bridle/vm/families'
import { account, failAsRaised, isFailure, prepare, transport } from '../models/call.js'
import { dictsOf, isMessageEvent, isTranscript, makeEvent, makeTranscript } from './shape.js'

export type Strategy = 'llm' | 'truncate' | 'custom' | 'observation_mask'

const STRATEGIES: readonly string[] = ['llm', 'truncate', 'custom', 'observation_mask']

export interface Compaction {
  readonly strategy: Strategy
  readonly keepFirst: number
  readonly keepLast: number
  readonly custom: Value
  readonly mask: Value
  readonly hardLimit: number | null
  readonly hardStrategy: Strategy
  /** Options of the model call of strategy `llm`; null where no model can be asked. */
  readonly options: HarnDict | null
}

const BYTES_PER_TOKEN = 4

function textOf(message: HarnDict): string | null {
  const content = message.get('content')
  return typeof content === 'string' ? content : null
}

/** Bytes of all text contents, a token for four. */
export function estimateTokens(messages: readonly HarnDict[]): number {
  return Math.floor(messages.reduce((sum, message) => sum + utf8(textOf(message) ?? '').length, 0) / BYTES_PER_TOKEN)
}

function roleOf(message: HarnDict): string {
  return display(message.get('role') ?? 'user')
}

function isToolTurn(message: HarnDict): boolean {
  return roleOf(message) === 'tool' || (message.get('tool_calls') ?? null) !== null || (message.get('reasoning') ?? null) !== null
}

function lastUserAt(messages: readonly HarnDict[], from: number): number {
  let at = from
  while (at > 0 && roleOf(messages[at]!) !== 'user') at--
  return at
}

/** Where the kept end begins; null when there is nothing to archive. */
function splitAt(messages: readonly HarnDict[], keepFirst: number, keepLast: number): number | null {
  if (messages.length <= keepFirst + keepLast) return null
  const naive = messages.length - keepLast
  let split = naive < messages.length ? lastUserAt(messages, naive) : naive
  if (split <= keepFirst) split = naive
  const tool = messages.findIndex((message, at) => at >= split && isToolTurn(message))
  if (tool > 0) {
    // The kept end begins with what the person asked, not between a call and its question.
    const asked = lastUserAt(messages, tool - 1)
    if (asked > keepFirst) split = Math.min(split, asked)
  }
  return split > keepFirst ? split : null
}

// ---------------------------------------------------------------------------------------------------------------- summaries

const CUT_BYTES = 500
const CUT_LINES = 15
const MASK_BYTES = 500
const MASK_LINES = 3
const PREVIEW = 120

function truncated(messages: readonly HarnDict[], header: string): string {
  const lines = messages.flatMap((message) => {
    const text = textOf(message)
    if (text === null || text === '') return []
    const size = utf8(text).length
    const shown = size > CUT_BYTES ? `${firstBytes(text, CUT_BYTES)}... [truncated from ${[...text].length} chars]` : text
    return [`[${roleOf(message)}] ${shown}`]
  })
  const more = lines.length > CUT_LINES ? `\n... and ${lines.length - CUT_LINES} more` : ''
  return `${[header, ...lines.slice(0, CUT_LINES)].join('\n')}${more}`
}

function firstBytes(text: string, most: number): string {
  let size = 0
  let end = 0
  for (const char of text) {
    size += utf8(char).length
    if (size > most) break
    end += char.length
  }
  return text.slice(0, end)
}

function* masked(messages: readonly HarnDict[], callback: Value, header: string): Script<string> {
  const lines = [`${header} via observation masking]`]
  for (const message of messages) {
    const text = textOf(message)
    if (text === null || text === '') continue
    const role = roleOf(message)
    const rows = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
    if (role === 'assistant' || utf8(text).length < MASK_BYTES) lines.push(`[${role}] ${text}`)
    else {
      const answer = callback instanceof HarnClosure ? yield* callBack(callback, message) : null
      if (typeof answer === 'string') lines.push(answer)
      else if (rows.length <= MASK_LINES) lines.push(`[${role}] ${text}`)
      else {
        const preview = [...rows[0]!].slice(0, PREVIEW).join('')
        lines.push(`[${role}] ${preview}... [${rows.length} lines, ${[...text].length} chars masked]`)
      }
    }
  }
  return lines.join('\n')
}

function conversation(messages: readonly HarnDict[]): string {
  return messages
    .map((message) => `${roleOf(message).toUpperCase()}: ${textOf(message) ?? sortedJson(message.get('content') ?? null)}`)
    .join('\n')
}

function* byModel(messages: readonly HarnDict[], options: HarnDict | null): Script<string> {
  if (options === null) return failRuntime('LLM transcript compaction requires active LLM call options')
  const prompt =
    'Summarize the archived part of this conversation so that the work can go on without it: the task, decisions, facts found, ' +
    `files and names that matter, and open steps.\n\nArchived message count: ${messages.length}\n\nConversation:\n` +
    conversation(messages)
  const plain = options.copy()
  for (const key of ['tools', 'messages', 'tool_choice', 'tool_search', 'output_schema', 'json_schema', 'output_format'])
    plain.delete(key)
  const request = yield* prepare(prompt, null, plain)
  if (request instanceof Fault) throw request
  const answer = yield* transport(request)
  if (isFailure(answer)) return failAsRaised(answer)
  yield* account(answer, 0)
  return answer.text.trim()
}

function* byClosure(messages: readonly HarnDict[], closure: Value): Script<string> {
  const answer = yield* callBack(closure, new HarnList([...messages]))
  if (typeof answer === 'string') return answer
  if (answer instanceof HarnDict) {
    const text = answer.get('summary') ?? answer.get('text') ?? null
    return text === null ? sortedJson(answer, 2) : display(text)
  }
  return answer === null ? '' : sortedJson(answer, 2)
}

function* summaryOf(
  messages: readonly HarnDict[],
  strategy: Strategy,
  compaction: Compaction,
  archived = messages.length,
): Script<string> {
  const header = `[auto-compacted ${archived} older messages`
  switch (strategy) {
    case 'observation_mask':
      return yield* masked(messages, compaction.mask, header)
    case 'truncate':
      return truncated(messages, `${header} via truncate strategy]`)
    case 'llm':
    case 'custom': {
      const text =
        strategy === 'llm' ? yield* byModel(messages, compaction.options) : yield* byClosure(messages, compaction.custom)
      return text === '' ? truncated(messages, `${header}; no summary was given]`) : `${header}]\n${text}`
    }
  }
}

export interface Compacted {
  readonly messages: readonly HarnDict[]
  readonly summary: string
  readonly archived: number
  readonly before: number
  readonly after: number
}

/** The messages with their older part summed up; null when there is nothing to archive. */
export function* compact(messages: readonly HarnDict[], compaction: Compaction): Script<Compacted | null> {
  const split = splitAt(messages, compaction.keepFirst, compaction.keepLast)
  if (split === null) return null
  const archived = messages.slice(compaction.keepFirst, split)
  const kept = (summary: string): HarnDict[] => [
    ...messages.slice(0, compaction.keepFirst),
    HarnDict.of({ role: 'user', content: summary }),
    ...messages.slice(split),
  ]
  let summary = yield* summaryOf(archived, compaction.strategy, compaction)
  let made = kept(summary)
  if (compaction.hardLimit !== null && estimateTokens(made) > compaction.hardLimit) {
    summary = yield* summaryOf(
      [HarnDict.of({ role: 'user', content: summary })],
      compaction.hardStrategy,
      compaction,
      archived.length,
    )
    made = kept(summary)
  }
  return { messages: made, summary, archived: archived.length, before: estimateTokens(messages), after: estimateTokens(made) }
}

/** A strategy by name; raises the reference's text for another one. */
export function strategyOf(value: Value, callback: Value, fallback: Strategy): Strategy {
  const name = typeof value === 'string' ? value : callback === null ? fallback : 'custom'
  if (!STRATEGIES.includes(name)) {
    return failRuntime(`unknown compact_strategy '${name}' (expected 'llm', 'truncate', 'custom', or 'observation_mask')`)
  }
  if (name === 'custom') {
    if (callback === null) failRuntime("compact_callback is required when compact_strategy is 'custom'")
    if (!(callback instanceof HarnClosure)) failRuntime("compact_callback must be a closure when compact_strategy is 'custom'")
  }
  return name as Strategy
}

export function countOption(options: HarnDict, key: string, fallback: number): number {
  const value = options.get(key) ?? null
  return isInt(value) ? Number(value) : fallback
}

const KEEP_LAST = 12

function readCompaction(options: HarnDict): Compaction {
  const callback = options.get('compact_callback') ?? options.get('custom_compactor') ?? null
  const strategy = strategyOf(options.get('compact_strategy') ?? options.get('strategy') ?? null, callback, 'observation_mask')
  const hard = options.get('hard_limit_tokens') ?? null
  return {
    strategy,
    keepFirst: countOption(options, 'compact_keep_first', 0),
    keepLast: Math.max(0, countOption(options, 'keep_last', countOption(options, 'compact_keep_last', KEEP_LAST))),
    custom: callback,
    mask: options.get('mask_callback') ?? null,
    hardLimit: isInt(hard) ? Number(hard) : null,
    hardStrategy: strategyOf(options.get('hard_limit_strategy') ?? null, null, 'llm'),
    options,
  }
}

export { readCompaction }

// -------------------------------------------------------------------------------------------------------------- transcripts

const COMPACT_LABEL = 'transcript_compact'

function* compactTranscript(transcript: HarnDict, options: HarnDict): Script<HarnDict> {
  const label = display(options.get('strategy') ?? options.get('compact_strategy') ?? 'llm')
  if (label === 'custom') {
    failRuntime(`${COMPACT_LABEL}: strategy 'custom' is not supported; use 'llm', 'truncate', or 'observation_mask'`)
  }
  const keepLast = countOption(options, 'keep_last', KEEP_LAST)
  if (keepLast < 0) failRuntime(`${COMPACT_LABEL}: keep_last must be >= 0`)
  const target = options.get('target_tokens') ?? null
  if (isInt(target) && target < 0) failRuntime(`${COMPACT_LABEL}: target_tokens must be >= 0`)
  if ((options.get('summarize_prompt') ?? null) !== null && label !== 'llm') {
    failRuntime(`${COMPACT_LABEL}: summarize_prompt is only supported with strategy 'llm'`)
  }
  const strategy = strategyOf(label, null, 'llm')
  const messages = dictsOf(transcript.get('messages'))
  const limit = isInt(target) ? Number(target) : null
  if (limit !== null && estimateTokens(messages) <= limit) return transcript
  const given = options.get('summary') ?? null
  const compacted = yield* compact(messages, {
    strategy: given === null ? strategy : 'truncate',
    keepFirst: 0,
    keepLast,
    custom: null,
    mask: null,
    hardLimit: limit,
    hardStrategy: given === null ? strategy : 'truncate',
    options,
  })
  if (compacted === null) return transcript
  const text = given === null ? compacted.summary : display(given)
  const kept =
    given === null ? compacted.messages : [HarnDict.of({ role: 'user', content: text }), ...compacted.messages.slice(1)]
  const before = transcript.get('summary') ?? null
  const source = HarnDict.of({
    _type: 'transcript_asset',
    id: `compaction-source-${display(transcript.get('id') ?? '')}`,
    kind: 'compaction_source_transcript',
    title: 'Pre-compaction transcript',
    visibility: 'internal',
    data: transcript,
  })
  const event = yield* makeEvent(
    'compaction',
    'system',
    'internal',
    `Transcript compacted via ${label}`,
    HarnDict.of({
      mode: 'manual',
      strategy: label,
      keep_last: keepLast,
      target_tokens: limit,
      archived_messages: compacted.archived,
      estimated_tokens_before: compacted.before,
      estimated_tokens_after: estimateTokens(kept),
      snapshot_asset_id: source.get('id')!,
    }),
  )
  const assets = transcript.get('assets')
  return yield* makeTranscript({
    id: display(transcript.get('id') ?? ''),
    messages: kept,
    events: [...dictsOf(transcript.get('events')).filter((each) => !isMessageEvent(each)), event],
    assets: [...(assets instanceof HarnList ? assets.view() : []), source],
    summary: before === null || display(before) === '' ? text : `${display(before)}\n\n${text}`,
    metadata: transcript.get('metadata') ?? null,
    state: transcript.has('state') ? display(transcript.get('state')!) : null,
  })
}

const machine = scripts('compaction.script', {
  *auto(messages, options) {
    const given = dictsOf(messages)
    const compacted = yield* compact(given, readCompaction(options as HarnDict))
    return compacted === null ? messages! : new HarnList([...compacted.messages])
  },
  *transcript(transcript, options) {
    return yield* compactTranscript(transcript as HarnDict, options as HarnDict)
  },
})

const EFFECTS = ['llm.call', 'process.info', 'random.bytes', 'clock.now', 'callback']

const builtins: readonly BuiltinDef[] = [
  builtin(
    'estimate_tokens(messages: list) -> int',
    { doc: 'About how many tokens the texts of messages have.' },
    (_ctx, messages) => estimateTokens(dictsOf(messages)),
  ),
  builtin(
    'transcript_auto_compact(messages: list, options?: dict) -> list as ?',
    { doc: 'The messages with their older part summed up.', effects: EFFECTS },
    (ctx, messages, options) =>
      messages instanceof HarnList
        ? machine.start(ctx, 'auto', messages, options instanceof HarnDict ? options : new HarnDict())
        : ctx.runtime('transcript_auto_compact: first argument must be a message list'),
  ),
  builtin(
    'transcript_compact(transcript: dict, options?: dict) -> dict',
    { doc: 'The transcript with its older part summed up; the whole stays as an asset.', effects: EFFECTS },
    (ctx, transcript, options) =>
      isTranscript(transcript)
        ? machine.start(ctx, 'transcript', transcript, options instanceof HarnDict ? options : new HarnDict())
        : ctx.runtime('transcript_compact: first argument must be a transcript'),
  ),
]

export const compactionFamily: BuiltinFamily = { name: 'compaction', frames: [machine.frame], builtins }
