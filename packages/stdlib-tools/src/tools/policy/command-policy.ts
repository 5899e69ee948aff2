// Command policies: what `host_call("process.exec", …)` may start. Reading policies and what their closures answer is here, and what patterns
// and risks say of a command; command-policy.harn is the preflight of a command, and what follows one that ran.
//
// Verdict of the preflight: {blocked: dict} or {params, context, decisions}.

import { findInnermostScope, popScope, pushScope, listScopes } from '../../library/task-scopes.js'
import {
  builtinTaking,
  HarnDict,
  HarnFloat,
  HarnList,
  builtin,
  bytesToHex,
  debugQuoted,
  display,
  failRuntime,
  family,
  isCallable,
  isTruthy,
  toMillis,
  typeName,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Control, LibraryCall, Result, Value } from '@bridle/vm/families'
import { sha256 } from '@noble/hashes/sha2.js'
import { matchesCommand, formatCommand, scanDict, scanOutput, scanRisk, makeScannedCommand } from './command-risk.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { isAbsolutePath, normalizePath } from '../../library/files/lexical-path.js'

/** Texts that post closures had for the agent, in order; an agent loop takes them into its conversation. */
const feedbackState = family<{ queued: Value[] }>('command_feedback', () => ({ queued: [] }))

export function takeCommandFeedback(ctx: Context): readonly Value[] {
  const state = ctx.state(feedbackState)
  const { queued } = state
  state.queued = []
  return queued
}

const LIST_KEYS = ['tools', 'workspace_roots', 'deny_patterns', 'require_approval']

/** The config with its defaults, or the message that says what is wrong with it. `notDict` is the message for other types. */
export function normalizeCommandPolicy(config: Value, notDict: string): HarnDict | string {
  if (!(config instanceof HarnDict)) return notDict
  const describeWrong = (key: string, kind: string): string =>
    `command_policy.${key} must be a ${kind}, got ${typeName(config.get(key)!)}`
  for (const key of LIST_KEYS) {
    const value = config.get(key) ?? null
    if (value === null) continue
    if (!(value instanceof HarnList)) return describeWrong(key, 'list')
    const odd = value.view().find((item) => typeof item !== 'string')
    if (odd !== undefined) return `command_policy.${key} entries must be strings, got ${typeName(odd)}`
  }
  for (const key of ['pre', 'post']) {
    const value = config.get(key) ?? null
    if (value !== null && !isCallable(value)) return describeWrong(key, 'closure')
  }
  const mode = config.get('default_shell_mode') ?? null
  if (mode !== null && typeof mode !== 'string') return describeWrong('default_shell_mode', 'string')
  const policy = config.copy()
  policy.set('_type', 'command_policy')
  policy.set('default_shell_mode', mode ?? 'argv_only')
  for (const key of LIST_KEYS) if (key !== 'tools' && (config.get(key) ?? null) === null) policy.set(key, new HarnList([]))
  return policy
}

const listTexts = (dict: HarnDict, key: string): string[] => {
  const list = dict.get(key)
  return list instanceof HarnList ? list.view().map(display) : []
}

// ---------------------------------------------------------------------------------------------------------- what hooks see

const hashText = (text: string): string => `sha256:${bytesToHex(sha256(toUtf8(text)))}`

function diffEnvironment(env: Value | undefined): HarnDict {
  const diff = new HarnDict()
  if (!(env instanceof HarnDict)) return diff
  // Values may be secrets; that they changed is what a policy needs.
  for (const name of env.keys()) {
    const value = env.get(name) ?? null
    diff.set(
      name,
      HarnDict.of({ present: value !== null, redacted: true, value_sha256: value === null ? null : hashText(display(value)) }),
    )
  }
  return diff
}

function makeContext(policy: HarnDict, params: HarnDict, facts: { readonly root: string; readonly ceiling: Value }): HarnDict {
  const given = params.get('cwd') ?? null
  const cwd =
    given === null
      ? facts.root
      : isAbsolutePath(display(given))
        ? display(given)
        : normalizePath(`${facts.root}/${display(given)}`)
  const stdin = params.get('stdin') ?? null
  const roots = listTexts(policy, 'workspace_roots')
  const annotations = facts.ceiling instanceof HarnDict ? facts.ceiling.get('tool_annotations') : undefined
  return HarnDict.of({
    request: HarnDict.of({
      mode: params.get('mode') ?? 'shell',
      argv: params.get('argv') ?? null,
      command: params.get('command') ?? null,
      shell: params.get('shell') ?? null,
      cwd,
      env_diff: diffEnvironment(params.get('env')),
      env_mode: params.get('env_mode') ?? null,
      stdin: HarnDict.of({
        size: stdin === null ? 0 : toUtf8(display(stdin)).length,
        sha256: stdin === null ? null : hashText(display(stdin)),
      }),
      timeout_ms: toMillis(params.get('timeout_ms') ?? params.get('timeout')),
    }),
    active_cwd: cwd,
    workspace_roots: new HarnList(roots.length > 0 ? roots : [facts.root]),
    policy: HarnDict.of({
      default_shell_mode: policy.get('default_shell_mode') ?? 'argv_only',
      deny_patterns: policy.get('deny_patterns') ?? new HarnList([]),
      require_approval: policy.get('require_approval') ?? new HarnList([]),
      ceiling: facts.ceiling,
    }),
    tool_annotations: annotations instanceof HarnDict ? annotations : new HarnDict(),
    transcript: HarnDict.of({ recent_messages: new HarnList([]), redacted: true, summary: null }),
    caller: HarnDict.of({ capability: 'process', operation: 'exec', session_id: null, surface: 'host_call' }),
  })
}

interface Decision {
  readonly action: string
  readonly reason: string
  readonly source: string
  readonly labels?: readonly string[]
  readonly confidence?: number
  readonly display?: Value
}

function encodeDecision({ action, reason, source, labels = [], confidence = 1, display: shown = null }: Decision): HarnDict {
  return HarnDict.of({
    action,
    reason,
    source,
    risk_labels: new HarnList([...labels]),
    confidence: new HarnFloat(confidence),
    display: shown,
  })
}

// ------------------------------------------------------------------------------------------------------------- the preflight

const REWRITABLE: ReadonlySet<string> = new Set([
  'mode',
  'argv',
  'command',
  'shell',
  'cwd',
  'env',
  'env_mode',
  'stdin',
  'timeout',
  'timeout_ms',
  'capture',
  'capture_stderr',
  'max_inline_bytes',
])

interface Stop {
  readonly status: 'blocked' | 'dry_run' | 'explain_only'
  readonly decision: Decision
}

function encodeStop({ status, decision }: Stop): HarnDict {
  return HarnDict.of({ status, decision: encodeDecision(decision) })
}

/** Deny patterns and approvals, for the command as asked and again as rewritten. */
function findStandingRefusal(policy: HarnDict, context: HarnDict, params: HarnDict, rewritten: boolean): Stop | null {
  const subject = rewritten ? 'rewritten command' : 'command'
  const text = formatCommand(params)
  const { labels } = scanRisk(makeScannedCommand(context))
  const pattern = listTexts(policy, 'deny_patterns').find((each) => matchesCommand(each, text))
  if (pattern !== undefined) {
    const reason = `${subject} denied by policy pattern ${debugQuoted(pattern)}`
    return {
      status: 'blocked',
      // What was asked has been classified already; what a hook made of it was not.
      decision: { action: 'deny', reason, source: 'deny_patterns', labels: rewritten ? labels : [] },
    }
  }
  const required = listTexts(policy, 'require_approval')
  const label = labels.find((each) => required.includes(each))
  if (label === undefined) return null
  const reason = `${subject} requires approval for risk class ${label}`
  return {
    status: 'blocked',
    decision: { action: 'require_approval', reason, source: 'deterministic', labels, confidence: 0.9 },
  }
}

/** What a pre closure decided: a stop, {rewrite} of the params, or null for "continue". */
function readPreHook(answer: Value, labels: readonly string[]): HarnDict | null {
  if (answer === null || answer === 'allow') return null
  if (!(answer instanceof HarnDict)) {
    return failRuntime(`command policy pre-hook must return nil, 'allow', or a decision dict, got ${typeName(answer)}`)
  }
  const action = answer.get('action') ?? null
  const findText = (...keys: string[]): string | null => {
    for (const key of keys) {
      const value = answer.get(key) ?? null
      if (value !== null) return display(value)
    }
    return null
  }
  const stop = (status: Stop['status'], name: string, reason: string): HarnDict => {
    const shown = answer.get('display') ?? null
    return encodeStop({ status, decision: { action: name, reason, source: 'pre_hook', labels, display: shown } })
  }
  // A denial of nil is one with the text `nil`, as in the reference.
  const denied = answer.has('deny') ? display(answer.get('deny')!) : null
  if (denied !== null) return stop('blocked', 'deny', denied)
  if (action === 'deny' || answer.get('allow') === false)
    return stop('blocked', 'deny', findText('message', 'reason') ?? 'command denied by policy')
  if (action === 'require_approval')
    return stop('blocked', 'require_approval', findText('reason', 'message') ?? 'command requires approval')
  if (action === 'dry_run' || isTruthy(answer.get('dry_run') ?? null)) {
    return stop('dry_run', 'dry_run', findText('message', 'reason') ?? 'command dry-run requested by policy')
  }
  if (action === 'explain_only' || isTruthy(answer.get('explain_only') ?? null)) {
    return stop('explain_only', 'explain_only', findText('message', 'reason') ?? 'command explanation requested by policy')
  }
  const rewrite = answer.get('rewrite') ?? answer.get('request') ?? null
  if (rewrite === null) return null
  if (!(rewrite instanceof HarnDict)) return failRuntime('command policy pre-hook rewrite must be a dict')
  const foreign = rewrite.keys().find((key) => !REWRITABLE.has(key))
  if (foreign !== undefined) return failRuntime(`command policy rewrite cannot modify field ${debugQuoted(foreign)}`)
  return HarnDict.of({ rewrite })
}

function scanResult(result: Value): HarnDict {
  const readPart = (key: string): string => {
    const value = result instanceof HarnDict ? (result.get(key) ?? null) : null
    return value === null ? '' : display(value)
  }
  return scanOutput(readPart('stdout') + readPart('stderr'))
}

/** What command-policy.harn asks. */
const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__command_scope() -> dict',
    'What is in force: {policy, ceiling, is_in_hook}; a hook of a policy may be running.',
    (ctx) =>
      HarnDict.of({
        policy: findInnermostScope(ctx, 'commands'),
        ceiling: findInnermostScope(ctx, 'ceilings'),
        is_in_hook: listScopes(ctx, 'command_hooks').length > 0,
      }),
  ),
  definePrimitive(
    '__command_context(policy: dict, params: dict, root: string, ceiling: any) -> dict',
    'What the closures of a policy see of a command.',
    (_ctx, policy, params, root, ceiling) =>
      makeContext(policy as HarnDict, params as HarnDict, { root: root as string, ceiling: ceiling ?? null }),
  ),
  definePrimitive('__scan_command(context: dict) -> dict', 'Risk labels of a command.', (_ctx, context) =>
    scanDict(scanRisk(makeScannedCommand(context as HarnDict))),
  ),
  definePrimitive(
    '__standing_refusal(policy: dict, context: dict, params: dict, is_rewritten: bool) -> dict?',
    'What deny patterns and required approvals say of a command: {status, decision}; nil when nothing.',
    (_ctx, policy, context, params, isRewritten) => {
      const stop = findStandingRefusal(policy as HarnDict, context as HarnDict, params as HarnDict, isRewritten === true)
      return stop === null ? null : encodeStop(stop)
    },
  ),
  definePrimitive(
    '__read_pre_hook(answer: any, labels: list<string>) -> dict?',
    'What a pre closure decided: {status, decision}, {rewrite}, or nil to go on.',
    (_ctx, answer, labels) => readPreHook(answer ?? null, (labels as HarnList).view() as readonly string[]),
  ),
  definePrimitive('__begin_command_hook() -> nil', 'A closure of a policy runs from now on.', (ctx) => {
    pushScope(ctx, 'command_hooks', true)
    return null
  }),
  definePrimitive('__end_command_hook() -> nil', 'The closure of a policy has ended.', (ctx) => {
    popScope(ctx, 'command_hooks')
    return null
  }),
  definePrimitive('__queue_command_feedback(feedback: dict) -> nil', 'Keeps a text for the agent.', (ctx, feedback) => {
    ctx.state(feedbackState).queued.push(feedback!)
    return null
  }),
]

const JUDGE: LibraryCall = { module: 'tools/policy/command-policy', function: 'judge', output: 'drop' }
const REVIEW: LibraryCall = { module: 'tools/policy/command-policy', function: 'review', output: 'drop' }

export function hasCommandPolicy(ctx: Context): boolean {
  return listScopes(ctx, 'commands').length > 0
}

/** Continues as the preflight of a command; its result is the verdict. */
export function startPreflight(ctx: Context, params: HarnDict): Control {
  return ctx.library(JUDGE, [params])
}

/** Continues as what follows a command that ran; its result is what the caller gets. */
export function startAfterwards(ctx: Context, verdict: HarnDict, result: Value): Control {
  return ctx.library(REVIEW, [verdict, result])
}

// ------------------------------------------------------------------------------------------------------------- builtins

const scanContext = (context: Value): HarnDict =>
  scanDict(scanRisk({ ...makeScannedCommand(context instanceof HarnDict ? context : new HarnDict()), denyPatterns: [] }))

function pushPolicy(ctx: Context, policy: Value): Result {
  const read = normalizeCommandPolicy(policy, 'command_policy_push: command_policy must be a dict')
  if (typeof read === 'string') return ctx.runtime(read)
  pushScope(ctx, 'commands', read.with(PUSHED, true))
  return null
}

/** Marks what `command_policy_push` put in force: that alone can be taken back before the scope around it ends. */
const PUSHED = '_pushed'

function popPolicy(ctx: Context): null {
  const innermost = findInnermostScope(ctx, 'commands')
  if (innermost instanceof HarnDict && innermost.get(PUSHED) === true) popScope(ctx, 'commands')
  return null
}

export const commandPolicyFamily: BuiltinFamily = {
  name: 'command-policy',
  modules: findHarnModule,
  primitives,
  builtins: [
    builtinTaking(
      'command_policy(config: dict) -> dict',
      { doc: 'A command policy with its defaults filled in.' },
      { raise: 'runtime', fewer: '{f}: config dict is required' },
      (ctx, config) => {
        const read = normalizeCommandPolicy(config, 'command_policy: config must be a dict')
        return typeof read === 'string' ? ctx.runtime(read) : read
      },
    ),
    builtinTaking(
      'command_policy_push(policy: dict) -> nil',
      { doc: 'Puts a command policy in force for this task and those it starts.', effects: [] },
      { raise: 'runtime', fewer: '{f}: policy is required' },
      pushPolicy,
    ),
    builtin('command_policy_pop() -> nil', { doc: 'Ends the command policy that was put in force last.', effects: [] }, (ctx) => {
      return popPolicy(ctx)
    }),
    builtinTaking(
      'command_risk_scan(ctx: dict) -> dict',
      { doc: 'Risk labels of a command, from the context that policy closures get.' },
      { raise: 'runtime', fewer: '{f}: ctx is required' },
      (_ctx, context) => scanContext(context),
    ),
    builtinTaking(
      'command_result_scan(ctx: dict) -> dict',
      { doc: 'Labels of what the output of a command gives away.' },
      { raise: 'runtime', fewer: '{f}: ctx is required' },
      (ctx, context) => {
        const result = context instanceof HarnDict ? (context.get('result') ?? null) : null
        ctx.charge(result instanceof HarnDict ? display(result.get('stdout') ?? '').length >> 6 : 1)
        return scanResult(result)
      },
    ),
    builtinTaking(
      'command_llm_risk_scan(ctx: dict, options?: dict) -> dict',
      { doc: 'As command_risk_scan; a model is not asked, which `scan_kind` says.' },
      { raise: 'runtime', fewer: '{f}: ctx is required' },
      (_ctx, context, options) =>
        scanContext(context)
          .with('scan_kind', 'deterministic_fallback')
          .with('llm', options ?? new HarnDict()),
    ),
  ],
}
