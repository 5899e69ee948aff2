// The gate: everything that may refuse one tool call before it is carried out, in this order, which scripts observe: capability policy and
// argument constraints, dynamic permissions, approval policy, pre hooks. Every dispatcher goes through it, whoever asked for
// the call, and gets one verdict dict:
//   {allowed: true, args, events}                   go on, with these arguments (a person or a hook may have changed them)
//   {allowed: false, stage, reason, args, events}   `stage` is policy, permissions, approval or hook
// `events` are transcript events, for callers that keep a transcript. `approved` is the hash that a person approved.
//
// A person is asked last, after the hooks, about the arguments as the tool will get them. Where no person can be asked the refusal comes
// before the hooks, as scripts observe it.

import { findInnermostIn } from '../../library/task-scopes.js'
import { STAND_INS } from '../../library/logging/stand-ins.js'
import { Fault, HarnDict, HarnList, builtin, display, family, runHere, makeScripts, toPlain, tryAsk } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Control, Result, Script, Value } from '@bridle/vm/families'
import { APPROVAL_MS, computeBinding, readBinding, describeExecution, completeArguments, isYes } from './approval-binding.js'
import {
  getApprovalPolicy,
  findApprovalPolicy,
  decideApproval,
  listDeclaredPaths,
  looksAtPaths,
  describeMutation,
} from './approval-policy.js'
import { listHooks, mayJudgeCalls, runPostToolUse, runPreToolUse } from '../dispatch/hooks.js'
import { readWallMs } from '../../library/time/identity.js'
import { evaluatePermissions } from './permissions.js'
import { formatIsoNow } from '../../library/time/dates.js'
import { getEntryFacts } from '../definitions/entry.js'
import { makeCalled, encodeCalled, listEveryName, readCalled } from '../dispatch/identity.js'
import type { CalledTool } from '../dispatch/identity.js'
import { findAnnotations, looksAtArguments, refuseCall, refuseUnder } from './tool-policy.js'
import type { ApprovalDecision } from './approval-policy.js'

const NO_BRIDGE = 'approval required but no host bridge is available'
const ASK_FAILED = 'approval request failed or host does not implement session/request_permission'
const NOT_GRANTED = 'host did not grant approval'
const OTHER_CALL =
  'the approval is for another call: its binding is not that of the tool, version and arguments that were asked about'
const TOO_LATE = 'the approval came after its deadline'

function makeRefused(stage: string, reason: string, args: Value, events: Value): HarnDict {
  return HarnDict.of({ allowed: false, stage, reason, args, events })
}

function* runGate(toolValue: Value, argsValue: Value, options: Value): Script {
  const called = readCalled(toolValue)
  const tool = called.shown
  let args = argsValue as HarnDict
  const readOption = (key: string): Value => (options instanceof HarnDict ? (options.get(key) ?? null) : null)
  let refusal = yield* runHere((ctx) => refuseCall(ctx, called, args))
  if (refusal !== null) return makeRefused('policy', refusal, args, new HarnList([]))

  const permission = yield* evaluatePermissions(called, args, readOption('session_id'))
  const events = new HarnList(
    permission.events.map(({ kind, reason, escalated }) =>
      HarnDict.of({
        kind,
        role: 'tool',
        visibility: 'internal',
        text: reason,
        metadata: HarnDict.of({ tool_name: tool, arguments: args, reason, escalated }),
      }),
    ),
  )
  if (!permission.granted) return makeRefused('permissions', permission.reason, args, events)

  const call = {
    callId: readOption('call_id'),
    sessionId: readOption('session_id'),
    entry: readOption('entry'),
    alias: readOption('alias'),
  }
  let approved: Approval | null = null
  const first = yield* runHere((ctx) => decide(ctx, called, args))
  if (first.kind === 'denied') return makeRefused('approval', first.reason, args, events)
  if (first.kind === 'ask' && (yield* runHere((ctx) => ctx.machine.hostData(STAND_INS) !== 'none'))) {
    approved = yield* askPerson(called, args, call)
    if (approved.reason !== null) return makeRefused('approval', approved.reason, args, events)
    args = approved.args
  }

  if (readOption('after_hooks') !== true) {
    const hooked = yield* runPreToolUse(called, args)
    if (hooked.kind === 'deny') return makeRefused('hook', hooked.reason, args, events)
    args = hooked.args
  }
  const last = yield* runHere((ctx) => decide(ctx, called, args))
  if (last.kind === 'denied') return makeRefused('approval', last.reason, args, events)
  if (last.kind === 'ask' && (approved === null || args !== approved.args)) {
    approved = yield* askPerson(called, args, call)
    if (approved.reason !== null) return makeRefused('approval', approved.reason, args, events)
    args = approved.args
  }
  if (args !== argsValue) {
    // Arguments that were not seen by the policy before must not pass because others did.
    refusal = yield* runHere((ctx) => refuseCall(ctx, called, args))
    if (refusal !== null) return makeRefused('policy', refusal, args, events)
    const changed = yield* runHere((ctx) => decide(ctx, called, args))
    if (changed.kind === 'denied') return makeRefused('approval', changed.reason, args, events)
  }
  return HarnDict.of({ allowed: true, args, events, approved: approved?.binding ?? null })
}

interface Approval {
  /** Null when approved. */
  readonly reason: string | null
  readonly args: HarnDict
  /** What the answer is for; null when it is a no. */
  readonly binding: string | null
}

function decide(ctx: Context, tool: CalledTool, args: HarnDict): ApprovalDecision {
  const policy = findApprovalPolicy(ctx)
  if (policy === null) return { kind: 'approved' }
  const annotations = findAnnotations(ctx, tool)
  return decideApproval(policy, { tool, args, annotations, workspace: () => ctx.source.directory })
}

interface AskedCall {
  readonly callId: Value
  readonly sessionId: Value
  /** The entry of the tool, nil when the caller has none. */
  readonly entry: Value
  /** The binding of the alias that the script calls it by. */
  readonly alias: Value
}

/** Asks about exactly the arguments that it gives back. */
function* askPerson(tool: CalledTool, given: HarnDict, call: AskedCall): Script<Approval> {
  const { args, binding } = yield* runHere((ctx) => {
    const final = completeArguments(ctx, tool, call.entry, given, call.alias)
    return { args: final, binding: computeBinding(ctx, tool, call.entry, final) }
  })
  const makeNo = (reason: string): Approval => ({ reason, args, binding: null })
  const askedMs = yield* readWallMs()
  const request = yield* makePermissionRequest(tool, args, call, { askedMs, binding })
  // The person sees all of it; records do not.
  const secrets = call.entry instanceof HarnDict ? getEntryFacts(call.entry).secrets : []
  const marked = secrets.length === 0 ? {} : { secrets }
  const answer = yield* tryAsk({ kind: 'approval.ask', args: { kind: 'permission', payload: toPlain(request), ...marked } })
  // A host without people to ask refuses the effect itself, which has another text than a request that went wrong.
  if (answer instanceof Fault) return makeNo(answer.category === 'tool_rejected' ? NO_BRIDGE : ASK_FAILED)
  if (!(answer instanceof HarnDict)) return makeNo(ASK_FAILED)
  const reason = answer.get('reason')
  if (!isYes(answer)) return makeNo(typeof reason === 'string' && reason !== '' ? reason : NOT_GRANTED)
  const named = readBinding(answer)
  if (named !== null && named !== binding) return makeNo(OTHER_CALL)
  if ((yield* readWallMs()) > askedMs + APPROVAL_MS) return makeNo(TOO_LATE)
  const replaced = answer.get('args')
  if (!(replaced instanceof HarnDict)) return { reason: null, args, binding }
  // What the person wrote is final, with what the tool gets in any case.
  return yield* runHere((ctx) => {
    const final = completeArguments(ctx, tool, call.entry, replaced, call.alias)
    return { reason: null, args: final, binding: computeBinding(ctx, tool, call.entry, final) }
  })
}

/** The params of `session/request_permission`. */
function* makePermissionRequest(
  called: CalledTool,
  args: HarnDict,
  call: AskedCall,
  { askedMs, binding }: { readonly askedMs: number; readonly binding: string },
): Script<HarnDict> {
  const tool = called.shown
  const requestedAt = formatIsoNow(askedMs)
  const annotations = yield* runHere((ctx) => findAnnotations(ctx, called))
  const paths = new HarnList(listDeclaredPaths(annotations, args))
  const id = call.callId === null ? `approval_${tool}` : `approval_${display(call.callId)}`
  return HarnDict.of({
    sessionId: call.sessionId,
    approvalRequest: HarnDict.of({
      id,
      action: tool,
      args,
      principal: null,
      requested_at: requestedAt,
      deadline: formatIsoNow(askedMs + APPROVAL_MS),
      approvers_required: 1,
      evidence_refs: new HarnList([]),
      undo_metadata: null,
      capabilities_requested: new HarnList([`tool.${tool}`]),
    }),
    toolCall: HarnDict.of({ toolCallId: call.callId, toolName: tool, rawInput: args }),
    tool: HarnDict.of({
      identity: describeExecution(called, call.entry),
      version: call.entry instanceof HarnDict ? getEntryFacts(call.entry).version : null,
    }),
    binding,
    mutation: describeMutation(annotations),
    declaredPaths: paths,
    declaredPathEntries: new HarnList(paths.view().map((path) => HarnDict.of({ path }))),
  })
}

const machine = makeScripts('policy.gate', {
  gate: runGate,
  *after(tool, args, text) {
    return yield* runPostToolUse(readCalled(tool ?? null), args ?? null, text as string)
  },
})

/**
 * Tools that pass whatever their arguments are, under one combination of installed policies and hooks. All of these are told apart by
 * identity: a policy in force is never changed in place, and hooks are only added.
 */
interface Passing {
  readonly approval: Value
  readonly hooks: readonly unknown[]
  readonly hookCount: number
  readonly tools: Set<string>
}

/** By the ceiling, or by the approval policy where there is none. */
const passing = new WeakMap<object, Passing>()

/** Names of tools may come from a script; what was kept is dropped past this. */
const MOST_PASSING = 1000

/**
 * The verdict where no person, closure or hook has a say; `ask` where one may, and then the gate itself is needed. Both look at the
 * same policies in the same order.
 */
export function judgeQuickly(
  ctx: Context,
  tool: CalledTool,
  args: HarnDict,
): 'pass' | 'ask' | { readonly stage: string; readonly reason: string } {
  const { fields } = ctx.machine.task()
  const ceiling = findInnermostIn(fields, 'ceilings')
  const approval = findInnermostIn(fields, 'approvals')
  if (ceiling === null && approval === null) {
    if (findInnermostIn(fields, 'permissions') !== null) return 'ask'
    return mayJudgeCalls(ctx, tool) ? 'ask' : 'pass'
  }
  if (findInnermostIn(fields, 'permissions') !== null) return judgeUnder(ctx, tool, args)
  const hooks = listHooks(ctx)
  const key = (ceiling ?? approval) as HarnDict // scopes are dicts
  const known = passing.get(key)
  const holds = known !== undefined && known.approval === approval && known.hooks === hooks && known.hookCount === hooks.length
  const name = makePassingName(tool)
  if (holds && known.tools.has(name)) return 'pass'
  const verdict = judgeUnder(ctx, tool, args)
  if (verdict !== 'pass' || (ceiling !== null && looksAtArguments(ceiling, tool))) return verdict
  const policy = getApprovalPolicy(approval)
  if (policy !== null && looksAtPaths(policy)) return verdict
  if (holds && known.tools.size < MOST_PASSING) known.tools.add(name)
  else passing.set(key, { approval, hooks, hookCount: hooks.length, tools: new Set([name]) })
  return verdict
}

/** Calls under the same names are judged alike. */
function makePassingName({ shown, identity }: CalledTool): string {
  return identity.names[0] === shown && identity.given.length === 0 ? shown : JSON.stringify([shown, listEveryName(identity)])
}

function judgeUnder(
  ctx: Context,
  tool: CalledTool,
  args: HarnDict,
): 'pass' | 'ask' | { readonly stage: string; readonly reason: string } {
  const { fields } = ctx.machine.task()
  const ceiling = findInnermostIn(fields, 'ceilings')
  if (ceiling !== null) {
    const refusal = refuseUnder(ceiling, tool, args)
    if (refusal !== null) return { stage: 'policy', reason: refusal }
  }
  if (findInnermostIn(fields, 'permissions') !== null) return 'ask'
  const approval = findInnermostIn(fields, 'approvals')
  const policy = approval === null ? null : getApprovalPolicy(approval)
  if (policy !== null) {
    const annotations = findAnnotations(ctx, tool)
    const decision = decideApproval(policy, { tool, args, annotations, workspace: () => ctx.source.directory })
    if (decision.kind === 'denied') return { stage: 'approval', reason: decision.reason }
    if (decision.kind === 'ask') return 'ask'
  }
  return mayJudgeCalls(ctx, tool) ? 'ask' : 'pass'
}

/**
 * Calls that passed the gate already, between the verdict and their dispatch. It lies here and not in an option of the call,
 * because options come from scripts, which must not say that a call was judged.
 */
const passes = family('call_attempts', (): { pass: Pass | null; calls: number; readonly counted: Map<number, true> } => ({
  pass: null,
  calls: 0,
  counted: new Map(),
}))

interface Pass {
  readonly tool: Value
  readonly args: Value
  /** The call that it is an attempt of. */
  readonly call: number
  /** Arguments that the schema of the tool marks as secret. */
  readonly secrets: readonly string[]
}

/** A call that may be tried several times, and is counted once; `endAttempts` forgets it. */
export function beginAttempts(ctx: Context): number {
  return ++ctx.state(passes).calls
}

export function endAttempts(ctx: Context, call: number): void {
  ctx.state(passes).counted.delete(call)
}

/** Whether an attempt of the call was counted. Of a call that nobody began: no. */
export function isCounted(ctx: Context, call: number | null): boolean {
  return call !== null && ctx.findState(passes)?.counted.has(call) === true
}

export function noteCounted(ctx: Context, call: number | null): void {
  if (call !== null) ctx.state(passes).counted.set(call, true)
}

/** The next dispatch of exactly this tool with exactly these arguments is not judged again. */
export function grantPass(ctx: Context, tool: Value, args: Value, call: number, secrets: readonly string[] = []): void {
  ctx.state(passes).pass = { tool, args, call, secrets }
}

/** What was said of this call; null when it was not judged. A pass is good once. */
export function takePass(ctx: Context, tool: Value, args: Value): Pick<Pass, 'call' | 'secrets'> | null {
  const state = ctx.findState(passes)
  if (state === undefined) return null
  const { pass } = state
  state.pass = null
  return pass !== null && pass.tool === tool && pass.args === args ? pass : null
}

/** What the dispatch added to arguments that were judged (pins, defaults) is judged too; hooks and permissions had their say. */
export function judgeAdded(ctx: Context, tool: CalledTool, args: HarnDict): ReturnType<typeof judgeQuickly> {
  const refusal = refuseCall(ctx, tool, args)
  if (refusal !== null) return { stage: 'policy', reason: refusal }
  const decision = decide(ctx, tool, args)
  if (decision.kind === 'denied') return { stage: 'approval', reason: decision.reason }
  return decision.kind === 'ask' ? 'ask' : 'pass'
}

/** Goes on as the gate; the frame's result is the verdict. `options`: `call_id`, `session_id`, `entry`, `alias`, `after_hooks`. */
export function startGate(ctx: Context, tool: CalledTool, args: HarnDict, options: HarnDict): Control {
  return machine.start(ctx, 'gate', encodeCalled(tool), args, options) as Control
}

/** Goes on as the post hooks; the frame's result is the text that the caller gets. */
export function startPostHooks(ctx: Context, tool: CalledTool, args: Value, text: string): Control {
  return machine.start(ctx, 'after', encodeCalled(tool), args, text) as Control
}

/** What the builtin is asked about: what its options say that the call comes down to, else a tool by its name. */
function readCalledHere(tool: Value, options: Value): Value {
  const called = options instanceof HarnDict ? options.get('called') : null
  return called instanceof HarnDict ? called : encodeCalled(makeCalled(display(tool)))
}

export const policyGateFamily: BuiltinFamily = {
  name: 'policy-gate',
  frames: [machine.frame],
  builtins: [
    builtin(
      '__tool_gate(tool: string, args?: dict, options?: dict) -> dict',
      { doc: 'The verdict of all installed policies on one tool call.', effects: ['approval.ask', 'clock.now', 'callback'] },
      (ctx, tool, args, options): Result => {
        const called = readCalledHere(tool ?? null, options ?? null)
        const given = args instanceof HarnDict ? args : new HarnDict()
        // Where nobody has a say, nobody is asked.
        if (judgeQuickly(ctx, readCalled(called), given) === 'pass')
          return HarnDict.of({ allowed: true, args: given, events: new HarnList([]), approved: null })
        return machine.start(ctx, 'gate', called, given, options ?? null)
      },
    ),
  ],
}
