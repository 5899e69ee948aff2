// Where installed policies live: with the task that installed them. A scope binds the task that opened it and every task
// started under it, which get the scopes along as they get context values; tasks beside it are not bound, whatever the order
// in which they run. Each kind of scope is a stack, kept as an immutable list so that a child's stack is not its parent's.

import { HarnList, IMPORT_SCOPES } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'

/** `grants`: dicts of grants by tool. `imports`: keys of modules with ceilings that everything in the scope works for. `ceilings`: capability policies as given. `permissions`, `approvals`: as read by their modules. `commands`: command policies. */
export type ScopeKind = 'grants' | 'ceilings' | 'permissions' | 'approvals' | 'commands' | 'command_hooks' | 'imports'

/** Fields of the task. */
const FIELDS: { readonly [Kind in ScopeKind]: string } = {
  grants: 'policy.grants',
  ceilings: 'policy.ceilings',
  permissions: 'policy.permissions',
  approvals: 'policy.approvals',
  commands: 'policy.commands',
  command_hooks: 'policy.command_hooks',
  imports: IMPORT_SCOPES,
}

const NONE: readonly Value[] = []

/** Outermost first. */
export function listScopes(ctx: Context, kind: ScopeKind): readonly Value[] {
  const stack = ctx.machine.task().fields.get(FIELDS[kind])
  return stack instanceof HarnList ? stack.view() : NONE
}

/** For those who have the fields of the task at hand. */
export function findInnermostIn(fields: Pick<ReadonlyMap<string, Value>, 'get'>, kind: ScopeKind): Value {
  const stack = fields.get(FIELDS[kind])
  return stack instanceof HarnList && stack.length > 0 ? stack.items[stack.length - 1]! : null
}

export function findInnermostScope(ctx: Context, kind: ScopeKind): Value {
  return findInnermostIn(ctx.machine.task().fields, kind)
}

export function pushScope(ctx: Context, kind: ScopeKind, scope: Value): void {
  ctx.machine.task().fields.set(FIELDS[kind], new HarnList([...listScopes(ctx, kind), scope]))
}

/** The scope that ended, or undefined when none was open. */
export function popScope(ctx: Context, kind: ScopeKind): Value | undefined {
  const stack = listScopes(ctx, kind)
  ctx.machine.task().fields.set(FIELDS[kind], new HarnList(stack.slice(0, -1)))
  return stack.at(-1)
}
