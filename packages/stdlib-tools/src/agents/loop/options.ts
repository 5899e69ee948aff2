// Options of an agent loop, read once. What is wrong with them is raised from here.

import { findExecutorFacts, isMarkedOutside, isTakenByLoops, listAlternatives, quoteExecutors } from '@bridle/compiler/grants'
import { HarnDict, HarnList, display, failRuntime, isCallable, isInt, isTruthy, lookup } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { encodeCompaction, countOption, readStrategy } from '../transcripts/compaction.js'
import type { Compaction, Strategy } from '../transcripts/compaction.js'
import { findContextWindow } from '../models/providers.js'
import { RUNTIME_TOOLS } from '../../tools/definitions/runtime-tools.js'
import { readToolName } from '../models/tools.js'
import { listEntries, isRegistry, getOrNil, readText } from '../../tools/definitions/registry.js'

interface Profile {
  readonly iterations: number
  readonly nudges: number
  readonly llmRetries: number
  readonly schemaRetries: number
}

const PROFILES: Readonly<Record<string, Profile>> = lookup({
  tool_using: { iterations: 50, nudges: 8, llmRetries: 2, schemaRetries: 0 },
  researcher: { iterations: 30, nudges: 4, llmRetries: 2, schemaRetries: 0 },
  verifier: { iterations: 5, nudges: 0, llmRetries: 2, schemaRetries: 3 },
  completer: { iterations: 1, nudges: 0, llmRetries: 2, schemaRetries: 0 },
})

export interface TurnPolicy {
  readonly requireAction: boolean
  readonly allowSentinel: boolean
  readonly maxProse: number | null
}

export interface LoopOptions {
  readonly label: string
  readonly maxIterations: number
  readonly maxNudges: number
  readonly llmRetries: number
  readonly llmBackoffMs: number
  readonly schemaRetries: number
  readonly toolRetries: number
  readonly toolBackoffMs: number
  readonly persistent: boolean
  readonly nudge: string | null
  readonly sentinel: string
  readonly breakUnlessPhase: string | null
  readonly toolFormat: string
  readonly fallback: string
  readonly sessionId: string | null
  readonly turnPolicy: TurnPolicy | null
  readonly tokenBudget: number | null
  readonly exitWhenVerified: boolean
  readonly warnAt: number
  readonly blockAt: number
  readonly skipAt: number
  readonly stopAfter: readonly string[]
  readonly requireSuccessful: readonly string[]
  readonly postTurn: Value
  readonly outputCap: number
  readonly compress: Value
  readonly compaction: { readonly label: string; readonly threshold: number; readonly engine: Compaction } | null
  /** Entries of the tools, as the script gave them. */
  readonly tools: readonly HarnDict[]
}

const FALLBACKS = ['allow', 'allow_once', 'reject']
const DEFAULT_THRESHOLD = 48_000
const DEFAULT_OUTPUT_CAP = 16_000

function listNames(value: Value | undefined): string[] {
  return value instanceof HarnList ? value.view().map((item) => display(item)) : []
}

export function readLoopOptions(options: HarnDict, label: string, model: string): LoopOptions {
  const profileName = options.get('profile') ?? null
  const profile = PROFILES[profileName === null ? 'tool_using' : display(profileName)]
  if (profile === undefined) {
    return failRuntime(
      `${label}: profile must be one of tool_using, researcher, verifier, completer; got \`${display(profileName)}\``,
    )
  }
  const fallback = options.get('native_tool_fallback') ?? null
  const policy = fallback === null ? 'allow' : display(fallback)
  if (!FALLBACKS.includes(policy)) {
    return failRuntime(`${label}: native_tool_fallback must be one of allow, allow_once, reject; got \`${policy}\``)
  }
  const readText = (key: string): string | null => {
    const value = options.get(key) ?? null
    return value === null ? null : display(value)
  }
  const turn = options.get('turn_policy')
  const maxProse = turn instanceof HarnDict ? (turn.get('max_prose_chars') ?? null) : null
  const tokenBudget = options.get('token_budget') ?? null
  return {
    label,
    maxIterations: Math.max(0, countOption(options, 'max_iterations', profile.iterations)),
    maxNudges: countOption(options, 'max_nudges', profile.nudges),
    llmRetries: countOption(options, 'llm_retries', profile.llmRetries),
    llmBackoffMs: countOption(options, 'llm_backoff_ms', 2000),
    schemaRetries: countOption(options, 'schema_retries', profile.schemaRetries),
    toolRetries: Math.max(0, countOption(options, 'tool_retries', 0)),
    toolBackoffMs: countOption(options, 'tool_backoff_ms', 1000),
    persistent: isTruthy(options.get('persistent') ?? false),
    nudge: readText('nudge'),
    sentinel: readText('done_sentinel') ?? '##DONE##',
    breakUnlessPhase: readText('break_unless_phase'),
    toolFormat: readText('tool_format') ?? 'text',
    fallback: policy,
    sessionId: readText('session_id'),
    turnPolicy:
      turn instanceof HarnDict
        ? {
            requireAction: isTruthy(turn.get('require_action_or_yield') ?? false),
            allowSentinel: turn.get('allow_done_sentinel') !== false,
            maxProse: isInt(maxProse) ? Number(maxProse) : null,
          }
        : null,
    tokenBudget: isInt(tokenBudget) ? Number(tokenBudget) : null,
    exitWhenVerified: isTruthy(options.get('exit_when_verified') ?? false),
    warnAt: countOption(options, 'loop_detect_warn', 2),
    blockAt: countOption(options, 'loop_detect_block', 3),
    skipAt: countOption(options, 'loop_detect_skip', 4),
    stopAfter: listNames(options.get('stop_after_successful_tools')),
    requireSuccessful: listNames(options.get('require_successful_tools')),
    postTurn: options.get('post_turn_callback') ?? null,
    outputCap: countOption(options, 'tool_output_max_chars', DEFAULT_OUTPUT_CAP),
    compress: options.get('compress_callback') ?? null,
    compaction: readCompactionPolicy(options, label, model),
    tools: readTools(options),
  }
}

/** Options as the internal modules hold them. */
export function encodeLoopOptions(options: LoopOptions): HarnDict {
  const { turnPolicy, compaction } = options
  return HarnDict.of({
    label: options.label,
    max_iterations: options.maxIterations,
    max_nudges: options.maxNudges,
    llm_retries: options.llmRetries,
    llm_backoff_ms: options.llmBackoffMs,
    schema_retries: options.schemaRetries,
    tool_retries: options.toolRetries,
    tool_backoff_ms: options.toolBackoffMs,
    persistent: options.persistent,
    nudge: options.nudge,
    sentinel: options.sentinel,
    break_unless_phase: options.breakUnlessPhase,
    tool_format: options.toolFormat,
    fallback: options.fallback,
    session_id: options.sessionId,
    turn_policy:
      turnPolicy === null
        ? null
        : HarnDict.of({
            require_action: turnPolicy.requireAction,
            allow_sentinel: turnPolicy.allowSentinel,
            max_prose: turnPolicy.maxProse,
          }),
    token_budget: options.tokenBudget,
    exit_when_verified: options.exitWhenVerified,
    warn_at: options.warnAt,
    block_at: options.blockAt,
    skip_at: options.skipAt,
    stop_after: new HarnList([...options.stopAfter]),
    require_successful: new HarnList([...options.requireSuccessful]),
    post_turn: options.postTurn,
    output_cap: options.outputCap,
    compress: options.compress,
    compaction:
      compaction === null
        ? null
        : HarnDict.of({
            label: compaction.label,
            threshold: compaction.threshold,
            engine: encodeCompaction(compaction.engine),
          }),
    tools: new HarnList([...options.tools]),
  })
}

function readTools(options: HarnDict): readonly HarnDict[] {
  const tools = options.get('tools') ?? null
  const list = tools instanceof HarnDict && isRegistry(tools) ? listEntries(tools) : tools instanceof HarnList ? tools.view() : []
  return list.filter((entry): entry is HarnDict => entry instanceof HarnDict)
}

// ------------------------------------------------------------------------------------------------------------- compaction

const ENGINES: Readonly<Record<string, { readonly strategy: Strategy; readonly keepFirst: number; readonly keepLast: number }>> =
  lookup({
    truncate: { strategy: 'truncate', keepFirst: 0, keepLast: 10 },
    summarize_middle: { strategy: 'llm', keepFirst: 1, keepLast: 10 },
    summarize_all: { strategy: 'llm', keepFirst: 0, keepLast: 0 },
    hybrid: { strategy: 'llm', keepFirst: 0, keepLast: 10 },
  })
const LABELS: Readonly<Record<string, string>> = lookup({ summarize: 'summarize_middle', llm: 'summarize_middle' })

function readCompactionPolicy(options: HarnDict, label: string, model: string): LoopOptions['compaction'] {
  const readCount = (key: string): number | null => {
    const value = options.get(key) ?? null
    if (isInt(value) && value < 0) return failRuntime(`${label}: ${key} must be >= 0`)
    return isInt(value) ? Number(value) : null
  }
  const window = findContextWindow(model)
  const given = readCount('compact_threshold')
  const threshold = given ?? (window === null ? DEFAULT_THRESHOLD : Math.min(DEFAULT_THRESHOLD, Math.floor(window * 0.65)))
  const hard = readCount('hard_limit_tokens') ?? (window === null ? null : Math.floor(window * 0.75))
  const mask = options.get('mask_callback') ?? null
  const custom = options.get('compact_callback') ?? null
  const auto = options.get('auto_compact') ?? null
  if (auto === false) return null
  if (auto === true) {
    const strategy = readStrategy(options.get('compact_strategy') ?? null, custom, 'observation_mask')
    const hardStrategy = readStrategy(
      options.get('hard_limit_strategy') ?? null,
      null,
      strategy === 'custom' ? 'truncate' : strategy,
    )
    return {
      label: strategy,
      threshold,
      engine: {
        strategy,
        keepFirst: readCount('compact_keep_first') ?? 0,
        keepLast: readCount('compact_keep_last') ?? 12,
        custom,
        mask,
        hardLimit: hard,
        hardStrategy,
        options,
      },
    }
  }
  const policy = options.get('compaction') ?? null
  if (policy === false) return null
  let name = 'hybrid'
  if (policy instanceof HarnDict) {
    const named = policy.get('type') ?? policy.get('kind') ?? policy.get('strategy') ?? null
    if (named !== null) name = display(named)
  } else if (typeof policy === 'string') name = policy
  else if (policy !== null && policy !== true) {
    return failRuntime(`${label}: compaction must be a string, dict, bool, or nil`)
  }
  name = LABELS[name] ?? name
  if (name === 'none') return null
  const row = ENGINES[name]
  if (row === undefined) {
    return failRuntime(
      `${label}: unknown compaction strategy '${name}' (expected none, truncate, summarize_middle, summarize_all, or hybrid)`,
    )
  }
  const keep = (short: string, fallback: number): number => {
    const value = policy instanceof HarnDict ? (policy.get(`${short}_n`) ?? policy.get(short) ?? null) : null
    if (isInt(value) && value < 0) return failRuntime(`${label}: compaction keep counts must be >= 0`)
    return isInt(value) ? Number(value) : fallback
  }
  return {
    label: name,
    threshold,
    engine: {
      strategy: row.strategy,
      keepFirst: keep('keep_first', row.keepFirst),
      keepLast: keep('keep_last', row.keepLast),
      custom,
      mask,
      hardLimit: hard,
      hardStrategy: name === 'hybrid' ? 'truncate' : row.strategy,
      options,
    },
  }
}

// --------------------------------------------------------------------------------------------------------- executable tools

/** Raises what makes a tool of the loop impossible to carry out. */
export function requireExecutable(tools: readonly HarnDict[], label: string): void {
  for (const tool of tools) {
    const name = readToolName(tool)
    if (name === '') continue
    const executor = readText(tool, 'executor')
    if (executor !== null && !isTakenByLoops(executor)) {
      failRuntime(`${label}: tool '${name}' declares unknown executor "${executor}". Expected one of: ${quoteExecutors()}.`)
    }
    if (isCallable(getOrNil(tool, 'handler'))) continue
    if (findExecutorFacts(executor)?.runs === 'handler' && !RUNTIME_TOOLS.has(name)) {
      failRuntime(
        `${label}: tool '${name}' declares executor: "${executor}" but has no callable \`handler\`. ` +
          'Reattach the handler fn or change the executor to a backend that does not require one.',
      )
    }
    if (executor === null && !isMarkedOutside((key) => readText(tool, key) !== null)) {
      const [first, ...others] = listAlternatives(false).toReversed()
      const alternatives = [...others.toReversed(), `or ${first!}`].join(', ')
      failRuntime(
        `${label}: tool '${name}' has no executable backend — no \`handler\` closure, no declared \`executor\`, and no ` +
          `\`_mcp_server\` annotation. Either attach a handler fn (executor: "harn"), declare an alternate backend (${alternatives}), or ` +
          'remove the tool from the registry. Starting the loop with this tool would surface as ' +
          `\`[builtin_call] unhandled: ${name}\` at the first model call.`,
      )
    }
  }
}
