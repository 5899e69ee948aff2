// The gate in front of every tool call: gate.harn says in which order its judges are asked. Here are the judges, the quick way for calls about
// which no policy applies, and the passes of calls that were judged already.

import { findInnermostIn } from '../../library/task-scopes.js'
import { HarnDict, HarnList, builtin, display, family } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Control, LibraryCall, Result, Value } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { computeBinding, describeExecution, completeArguments, isYes } from './approval-binding.js'
import {
  getApprovalPolicy,
  findApprovalPolicy,
  decideApproval,
  listDeclaredPaths,
  looksAtPaths,
  describeMutation,
} from './approval-policy.js'
import { listHooks, mayJudgeCalls } from '../dispatch/hooks.js'
import { APPROVAL_MS } from './approval-time.js'
import { findApprovalMs, needsApproval } from './approval-rules.js'
import { effectApprovalFrame } from './effect-approval.js'
import { permissionPrimitives } from './permissions.js'
import { formatIsoNow } from '../../library/time/dates.js'
import { getEntryFacts } from '../definitions/entry.js'
import { makeCalled, encodeCalled, listEveryName, readCalled } from '../dispatch/identity.js'
import type { CalledTool } from '../dispatch/identity.js'
import { findAnnotations, looksAtArguments, refuseCall, refuseUnder } from './tool-policy.js'
import type { ApprovalDecision } from './approval-policy.js'

/** The strictest of what scripts say and what the host says. */
function decide(ctx: Context, tool: CalledTool, args: HarnDict): ApprovalDecision {
  const policy = findApprovalPolicy(ctx)
  if (policy !== null) {
    const annotations = findAnnotations(ctx, tool)
    const decision = decideApproval(policy, { tool, args, annotations, workspace: () => ctx.source.directory })
    if (decision.kind !== 'approved') return decision
  }
  return { kind: needsApproval(ctx, tool, args) ? 'ask' : 'approved' }
}

/** Arguments as the tool will get them, and the hash that an approval of them is good for. */
function bindCall(ctx: Context, tool: CalledTool, given: HarnDict, options: HarnDict): HarnDict {
  const entry = options.get('entry') ?? null
  const args = completeArguments(ctx, tool, entry, given, options.get('alias') ?? null)
  return HarnDict.of({ args, binding: computeBinding(ctx, tool, entry, args) })
}

/** The params of `session/request_permission`. */
function makePermissionRequest(
  ctx: Context,
  called: CalledTool,
  { args, binding }: { readonly args: HarnDict; readonly binding: Value },
  options: HarnDict,
  { askedMs, deadlineMs }: { readonly askedMs: number; readonly deadlineMs: number },
): HarnDict {
  const tool = called.shown
  const readOption = (key: string): Value => options.get(key) ?? null
  const [callId, entry] = [readOption('call_id'), readOption('entry')]
  const annotations = findAnnotations(ctx, called)
  const paths = new HarnList(listDeclaredPaths(annotations, args))
  return HarnDict.of({
    sessionId: readOption('session_id'),
    approvalRequest: HarnDict.of({
      id: `approval_${callId === null ? tool : display(callId)}`,
      action: tool,
      args,
      principal: null,
      requested_at: formatIsoNow(askedMs),
      deadline: formatIsoNow(deadlineMs),
      approvers_required: 1,
      evidence_refs: new HarnList([]),
      undo_metadata: null,
      capabilities_requested: new HarnList([`tool.${tool}`]),
    }),
    toolCall: HarnDict.of({ toolCallId: callId, toolName: tool, rawInput: args }),
    tool: HarnDict.of({
      identity: describeExecution(called, entry),
      version: entry instanceof HarnDict ? getEntryFacts(entry).version : null,
    }),
    binding,
    mutation: describeMutation(annotations),
    declaredPaths: paths,
    declaredPathEntries: new HarnList(paths.view().map((path) => HarnDict.of({ path }))),
  })
}

/** Arguments of the effect that asks a person. The person sees all of the call; records do not. */
function makeQuestion(request: HarnDict, options: HarnDict): HarnDict {
  const question = HarnDict.of({ kind: 'permission', payload: request })
  const entry = options.get('entry') ?? null
  const named = options.get('secrets') ?? null
  const secrets = entry instanceof HarnDict ? getEntryFacts(entry).secrets : named instanceof HarnList ? named.view() : []
  return secrets.length === 0 ? question : question.with('secrets', new HarnList([...secrets]))
}

/** What gate.harn asks. `called` is what encodeCalled made, `options` a dict. */
const primitives = [
  ...permissionPrimitives,
  definePrimitive(
    '__call_refusal(called: dict, args: dict) -> string?',
    'Why the capability policy refuses a call; nil when it does not.',
    (ctx, called, args) => refuseCall(ctx, readCalled(called!), args as HarnDict),
  ),
  definePrimitive(
    '__approval_decision(called: dict, args: dict) -> dict',
    'What the approval policies say of a call: {kind, reason}; approved, denied or ask.',
    (ctx, called, args) => {
      const decision = decide(ctx, readCalled(called!), args as HarnDict)
      return HarnDict.of({ kind: decision.kind, reason: decision.kind === 'denied' ? decision.reason : null })
    },
  ),
  definePrimitive(
    '__bind_call(called: dict, args: dict, options: dict) -> dict',
    'Arguments as the tool will get them, and the hash that an approval of them is good for: {args, binding}.',
    (ctx, called, args, options) => bindCall(ctx, readCalled(called!), args as HarnDict, options as HarnDict),
  ),
  definePrimitive(
    '__permission_request(called: dict, bound: dict, options: dict, asked_ms: int) -> dict',
    'How a person is asked about what __bind_call gave: {question, binding, deadline_ms}.',
    (ctx, called, bound, options, asked) => {
      const { args, binding } = Object.fromEntries((bound as HarnDict).entries()) as { args: HarnDict; binding: Value }
      const askedMs = Number(asked)
      const deadlineMs = askedMs + findApprovalMs(ctx, APPROVAL_MS)
      const times = { askedMs, deadlineMs }
      const request = makePermissionRequest(ctx, readCalled(called!), { args, binding }, options as HarnDict, times)
      const question = makeQuestion(request, options as HarnDict)
      return HarnDict.of({ question, binding, deadline_ms: deadlineMs })
    },
  ),
  definePrimitive('__is_yes(answer: dict) -> bool', 'Whether the answer of a person is clearly a yes.', (_ctx, answer) =>
    isYes(answer as HarnDict),
  ),
]

const JUDGE: LibraryCall = { module: 'tools/policy/gate', function: 'judge', output: 'drop' }
const POST_HOOKS: LibraryCall = { module: 'tools/dispatch/hooks', function: 'run_post_hooks', output: 'drop' }

/**
 * Tools that pass with any arguments, under one combination of installed policies and hooks. All of these are told apart by
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
  const verdict = judgeByScopes(ctx, tool, args)
  return verdict === 'pass' && needsApproval(ctx, tool, args) ? 'ask' : verdict
}

/** What the scopes of the task say. */
function judgeByScopes(
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

/** Whether an attempt of the call was counted; false for a call that was not begun. */
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

/** Continues as the gate; its result is the verdict. `options`: `call_id`, `session_id`, `entry`, `alias`, `after_hooks`. */
export function startGate(ctx: Context, tool: CalledTool, args: HarnDict, options: HarnDict): Control {
  return ctx.library(JUDGE, [encodeCalled(tool), args, options])
}

/** Continues as the post hooks; their result is the text that the caller gets. */
export function startPostHooks(ctx: Context, tool: CalledTool, args: Value, text: string): Control {
  return ctx.library(POST_HOOKS, [encodeCalled(tool), args, text])
}

/** The target of the builtin's approval: the target in its options, else a tool by its name. */
function readCalledHere(tool: Value, options: Value): CalledTool {
  const called = options instanceof HarnDict ? options.get('called') : null
  return called instanceof HarnDict ? readCalled(called) : makeCalled(display(tool))
}

export const policyGateFamily: BuiltinFamily = {
  name: 'policy-gate',
  modules: findHarnModule,
  primitives,
  frames: [effectApprovalFrame],
  builtins: [
    builtin(
      '__tool_gate(tool: string, args?: dict, options?: dict) -> dict',
      { doc: 'The verdict of all installed policies on one tool call.', effects: ['approval.ask', 'clock.now', 'callback'] },
      (ctx, tool, args, options): Result => {
        const called = readCalledHere(tool ?? null, options ?? null)
        const given = args instanceof HarnDict ? args : new HarnDict()
        // Without applicable policies no one is asked.
        if (judgeQuickly(ctx, called, given) === 'pass')
          return HarnDict.of({ allowed: true, args: given, events: new HarnList([]), approved: null })
        return startGate(ctx, called, given, options instanceof HarnDict ? options : new HarnDict())
      },
    ),
  ],
}
