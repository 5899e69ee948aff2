// Policies as scripts install them: `with_policies(config, body)` of std/policy opens the scopes that an agent loop opens from
// its options, runs the body under them and ends them with it in all cases. Agent loops use the same functions.

import { findInnermostScope, popScope, pushScope } from '../../library/task-scopes.js'
import type { ScopeKind } from '../../library/task-scopes.js'
import { HarnDict, builtin, display, frame, isCallable, typeName } from '@bridle/vm/families'
import type { BuiltinFamily, Context, Control, FrameState, Result, Value } from '@bridle/vm/families'
import { pushApprovalPolicy, readApprovalPolicy } from './approval-policy.js'
import { normalizeCommandPolicy } from './command-policy.js'
import { CeilingError, intersectPolicies, pushCeiling } from './ceiling.js'
import { PermissionsError, popPermissions, pushPermissions, readPermissions } from './permissions.js'
import { refuseNamedTool } from './tool-policy.js'

/**
 * Opens the scopes that `options` ask for, in `policy`, `permissions`, `approval_policy` and `command_policy`, and answers
 * which; the fault when an option cannot be read or asks for more than is in force, with nothing left open.
 */
export function openScopes(ctx: Context, options: HarnDict, label: string): ScopeKind[] | Control {
  const opened: ScopeKind[] = []
  const fail = (message: string): Control => {
    closeScopes(ctx, opened)
    return ctx.runtime(message)
  }
  const open = (kind: ScopeKind, push: () => void): void => {
    push()
    opened.push(kind)
  }
  try {
    const policy = options.get('policy') ?? null
    if (policy instanceof HarnDict) open('ceilings', () => pushCeiling(ctx, policy))
    else if (policy !== null && label === 'with_policies') return fail(`${label}: policy must be a dict, got ${typeName(policy)}`)
    const permissions = options.get('permissions') ?? null
    if (permissions !== null) {
      const read = readPermissions(permissions, label)
      open('permissions', () => pushPermissions(ctx, read))
    }
    const approval = options.get('approval_policy') ?? null
    if (approval !== null) {
      const read = readApprovalPolicy(approval)
      if (read === null && label === 'with_policies') return fail(`${label}: approval_policy must be a dict of pattern lists`)
      // Agent loops pass over what they cannot read, as in the reference.
      if (read !== null) open('approvals', () => pushApprovalPolicy(ctx, read))
    }
    const command = options.get('command_policy') ?? (policy instanceof HarnDict ? (policy.get('command_policy') ?? null) : null)
    if (command !== null) {
      const read = normalizeCommandPolicy(command, `${label}: command_policy must be a dict`)
      if (typeof read === 'string') return fail(read)
      open('commands', () => pushScope(ctx, 'commands', read))
    }
  } catch (error) {
    if (error instanceof CeilingError || error instanceof PermissionsError) return fail(error.message)
    throw error
  }
  return opened
}

/** Ends what openScopes opened. */
export function closeScopes(ctx: Context, opened: readonly ScopeKind[]): void {
  for (const kind of [...opened].reverse()) {
    if (kind === 'permissions') popPermissions(ctx)
    else popScope(ctx, kind)
  }
}

interface ScopedState extends FrameState {
  stage: 'open' | 'body'
  readonly options: HarnDict
  readonly body: Value
  opened: ScopeKind[]
}

const scopedFrame = frame<ScopedState>({
  kind: 'policy.scope',
  runBoundary: false,
  step: (ctx, state) => {
    if (state.stage === 'body') return ctx.result
    const opened = openScopes(ctx, state.options, 'with_policies')
    if (!Array.isArray(opened)) return opened
    state.opened = opened
    state.stage = 'body'
    return ctx.call(state.body, [])
  },
  onLeave: (ctx, state) => closeScopes(ctx, state.opened),
})

function openScope(ctx: Context, options: Value, body: Value): Result {
  if (!(options instanceof HarnDict)) return ctx.runtime(`with_policies: options must be a dict, got ${typeName(options)}`)
  if (!isCallable(body)) return ctx.runtime(`with_policies: body must be a closure, got ${typeName(body)}`)
  return ctx.frame('policy.scope', { stage: 'open', options, body, opened: [] } satisfies ScopedState)
}

export const policyFamily: BuiltinFamily = {
  name: 'policy',
  frames: [scopedFrame],
  builtins: [
    builtin(
      '__policy_scope(options: dict, body: closure) -> any',
      { doc: 'Runs `body` under further policies.', effects: ['callback'] },
      openScope,
    ),
    builtin('__policy_current() -> dict', { doc: 'The capability policy in force, nil without one.', effects: [] }, (ctx) =>
      findInnermostScope(ctx, 'ceilings'),
    ),
    builtin(
      '__policy_intersect(ceiling: dict, requested: dict) -> dict',
      { doc: 'What both capability policies allow; an error when the request exceeds the ceiling.' },
      (ctx, ceiling, requested) => {
        if (!(ceiling instanceof HarnDict) || !(requested instanceof HarnDict))
          return ctx.runtime('intersect_policies: both policies must be dicts')
        try {
          return intersectPolicies(ceiling, requested)
        } catch (error) {
          if (error instanceof CeilingError) return ctx.runtime(error.message)
          throw error
        }
      },
    ),
    builtin(
      '__policy_refusal(tool: string, args?: any) -> string',
      { doc: 'Why the capability policy in force refuses a tool call; nil when it does not.', effects: [] },
      (ctx, tool, args) => refuseNamedTool(ctx, display(tool ?? null), args ?? null),
    ),
  ],
}
