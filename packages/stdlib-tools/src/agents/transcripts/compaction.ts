// What compaction is made of: estimates, where a conversation is split, and the texts of summaries. compaction.harn is what it does.

import {
  HarnClosure,
  HarnDict,
  HarnList,
  builtin,
  display,
  failRuntime,
  isInt,
  stringifySorted,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Value } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { listDicts, toMessageEvent, isMessageEvent, isTranscript } from './shape.js'
import { COMPACTION_OPTIONS } from './compaction-options.js'

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

function readText(message: HarnDict): string | null {
  const content = message.get('content')
  return typeof content === 'string' ? content : null
}

/** Bytes of all text contents, a token for four. */
export function estimateTokens(messages: readonly HarnDict[]): number {
  return Math.floor(messages.reduce((sum, message) => sum + toUtf8(readText(message) ?? '').length, 0) / BYTES_PER_TOKEN)
}

function readRole(message: HarnDict): string {
  return display(message.get('role') ?? 'user')
}

function isToolTurn(message: HarnDict): boolean {
  return (
    readRole(message) === 'tool' || (message.get('tool_calls') ?? null) !== null || (message.get('reasoning') ?? null) !== null
  )
}

function findLastUser(messages: readonly HarnDict[], from: number): number {
  let at = from
  while (at > 0 && readRole(messages[at]!) !== 'user') at--
  return at
}

/** Where the kept end begins; null when there is nothing to archive. */
function splitAt(messages: readonly HarnDict[], keepFirst: number, keepLast: number): number | null {
  if (messages.length <= keepFirst + keepLast) return null
  const naive = messages.length - keepLast
  let split = naive < messages.length ? findLastUser(messages, naive) : naive
  if (split <= keepFirst) split = naive
  const tool = messages.findIndex((message, at) => at >= split && isToolTurn(message))
  if (tool > 0) {
    // The kept end begins with what the person asked, not between a call and its question.
    const asked = findLastUser(messages, tool - 1)
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

function truncateMessages(messages: readonly HarnDict[], header: string): string {
  const lines = messages.flatMap((message) => {
    const text = readText(message)
    if (text === null || text === '') return []
    const size = toUtf8(text).length
    const shown = size > CUT_BYTES ? `${cutBytes(text, CUT_BYTES)}... [truncated from ${[...text].length} chars]` : text
    return [`[${readRole(message)}] ${shown}`]
  })
  const more = lines.length > CUT_LINES ? `\n... and ${lines.length - CUT_LINES} more` : ''
  return `${[header, ...lines.slice(0, CUT_LINES)].join('\n')}${more}`
}

function cutBytes(text: string, most: number): string {
  let size = 0
  let end = 0
  for (const char of text) {
    size += toUtf8(char).length
    if (size > most) break
    end += char.length
  }
  return text.slice(0, end)
}

/** The line for a message that is kept unchanged: a text of the model, or a short one. Null for others. */
function formatShortLine(message: HarnDict): string | null {
  const text = readText(message)
  if (text === null || text === '') return null
  return readRole(message) === 'assistant' || toUtf8(text).length < MASK_BYTES ? `[${readRole(message)}] ${text}` : null
}

/** The line for a long message: its beginning, unless it has few lines. */
function formatMaskedLine(message: HarnDict): string {
  const text = readText(message) ?? ''
  const rows = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
  if (rows.length <= MASK_LINES) return `[${readRole(message)}] ${text}`
  const preview = [...rows[0]!].slice(0, PREVIEW).join('')
  return `[${readRole(message)}] ${preview}... [${rows.length} lines, ${[...text].length} chars masked]`
}

function renderConversation(messages: readonly HarnDict[]): string {
  return messages
    .map(
      (message) => `${readRole(message).toUpperCase()}: ${readText(message) ?? stringifySorted(message.get('content') ?? null)}`,
    )
    .join('\n')
}

function renderSummaryPrompt(messages: readonly HarnDict[]): string {
  return (
    'Summarize the archived part of this conversation so that the work can go on without it: the task, decisions, facts found, ' +
    `files and names that matter, and open steps.\n\nArchived message count: ${messages.length}\n\nConversation:\n` +
    renderConversation(messages)
  )
}

/** A compaction as compaction.harn holds it. */
export function encodeCompaction(compaction: Compaction): HarnDict {
  return HarnDict.of({
    strategy: compaction.strategy,
    keep_first: compaction.keepFirst,
    keep_last: compaction.keepLast,
    custom: compaction.custom,
    mask: compaction.mask,
    hard_limit: compaction.hardLimit,
    hard_strategy: compaction.hardStrategy,
    options: compaction.options,
  })
}

/** A strategy by name; raises the reference's text for another one. */
export function readStrategy(value: Value, callback: Value, fallback: Strategy): Strategy {
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
  const strategy = readStrategy(options.get('compact_strategy') ?? options.get('strategy') ?? null, callback, 'observation_mask')
  const hard = options.get('hard_limit_tokens') ?? null
  return {
    strategy,
    keepFirst: countOption(options, 'compact_keep_first', 0),
    keepLast: Math.max(0, countOption(options, 'keep_last', countOption(options, 'compact_keep_last', KEEP_LAST))),
    custom: callback,
    mask: options.get('mask_callback') ?? null,
    hardLimit: isInt(hard) ? Number(hard) : null,
    hardStrategy: readStrategy(options.get('hard_limit_strategy') ?? null, null, 'llm'),
    options,
  }
}

export { readCompaction }

// --------------------------------------------------------------------------------------------------------------- builtins

const EFFECTS = ['llm.call', 'process.info', 'random.bytes', 'clock.now', 'callback']

const MODULE = 'agents/transcripts/compaction'

function definePure(signature: string, doc: string, run: (...args: Value[]) => Value): BuiltinDef {
  return builtin(signature, { doc }, (_ctx, ...args) => run(...args))
}

const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__read_compaction(options: dict) -> dict',
    'The compaction that options ask for; raises what is wrong with them.',
    (_ctx, options) => encodeCompaction(readCompaction(options as HarnDict)),
  ),
  definePrimitive(
    '__compaction_strategy(value: any) -> string',
    'A strategy by name, llm when absent; raises an error for another one.',
    (_ctx, value) => readStrategy(value!, null, 'llm'),
  ),
  definePure(
    '__split_at(messages: list, keep_first: int, keep_last: int) -> int?',
    'Where the kept end of a conversation begins; nil when there is nothing to archive.',
    (messages, first, last) => splitAt(listDicts(messages), Number(first), Number(last)),
  ),
  definePure('__cut_messages(messages: list, header: string) -> string', 'Messages cut short.', (messages, header) =>
    truncateMessages(listDicts(messages), header as string),
  ),
  definePure('__short_line(message: dict) -> string?', 'The line of a message that masking leaves as it is.', (message) =>
    formatShortLine(message as HarnDict),
  ),
  definePure('__masked_line(message: dict) -> string', 'The line of a message that is masked.', (message) =>
    formatMaskedLine(message as HarnDict),
  ),
  definePure('__summary_prompt(messages: list) -> string', 'What a model is asked for a summary.', (messages) =>
    renderSummaryPrompt(listDicts(messages)),
  ),
  definePure('__message_event(message: dict, id: string) -> dict', 'The event of a message.', (message, id) =>
    toMessageEvent(message as HarnDict, id as string),
  ),
  definePure('__is_message_event(event: dict) -> bool', 'Whether an event was made from a message.', (event) =>
    isMessageEvent(event as HarnDict),
  ),
]

const builtins: readonly BuiltinDef[] = [
  builtin(
    'estimate_tokens(messages: list) -> int',
    { doc: 'About how many tokens the texts of messages have.' },
    (_ctx, messages) => estimateTokens(listDicts(messages)),
  ),
  builtin(
    'transcript_auto_compact(messages: list, options?: dict) -> list',
    { doc: 'The messages with their older part summed up.', effects: EFFECTS, shapes: { options: COMPACTION_OPTIONS } },
    (ctx, messages, options) =>
      messages instanceof HarnList
        ? ctx.library({ module: MODULE, function: 'compact_messages', output: 'drop' }, [
            messages,
            options instanceof HarnDict ? options : new HarnDict(),
          ])
        : ctx.runtime('transcript_auto_compact: first argument must be a message list'),
  ),
  builtin(
    'transcript_compact(transcript: dict, options?: dict) -> dict',
    { doc: 'The transcript with its older part summed up; the whole stays as an asset.', effects: EFFECTS },
    (ctx, transcript, options) =>
      isTranscript(transcript)
        ? ctx.library({ module: MODULE, function: 'compact_transcript', output: 'drop' }, [
            transcript,
            options instanceof HarnDict ? options : new HarnDict(),
          ])
        : ctx.runtime('transcript_compact: first argument must be a transcript'),
  ),
]

export const compactionFamily: BuiltinFamily = { name: 'compaction', modules: findHarnModule, primitives, builtins }
