// Scopes of shared state and mailboxes: the namespace that a key belongs to. A scope name is resolved to
// `<scope>:<id>` when something is opened, so that a handle means the same in every task it is passed to.

import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { Control } from './builtin.js'
import type { Context } from './builtin.js'
import type { Value } from '../values/value.js'
import { lookup } from '../values/lookup.js'

export const DEFAULT_SCOPE = 'task_group'

/** Fields of the runtime context that give a scope its id; the first one that is set wins. */
const CONTEXT_SCOPES: Readonly<Record<string, readonly string[]>> = lookup({
  workflow_run: ['run_id', 'workflow_id'],
  agent_session: ['agent_session_id'],
})

/** Scopes that this in-memory state does not support, and what to use instead. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['durable', 'durable shared state is explicit; use store_* or agent_state_* APIs'],
  ['external', 'external shared state must be provided by a host/connector builtin'],
])

function readOption(options: HarnDict | null, key: string): string | null {
  const value = options?.get(key) ?? null
  return value === null ? null : display(value)
}

/** `task_group:task_root` for `task_group`; `options` may carry `scope_id` or `tenant_id`. */
export function resolveScope(ctx: Context, builtin: string, scope: string, options: HarnDict | null): string | Control {
  const elsewhere = ELSEWHERE.get(scope)
  if (elsewhere !== undefined) return ctx.runtime(`${builtin}: ${elsewhere}`)
  const task = ctx.machine.task()
  switch (scope) {
    case 'task':
      return `task:${task.taskId}`
    case 'root_task':
      return `root_task:${task.rootId}`
    case 'task_group':
      return `task_group:${task.group ?? task.rootId}`
    case 'process':
      return 'process:process'
    case 'tenant': {
      const tenant = readOption(options, 'tenant_id') ?? task.fields.get('tenant_id') ?? null
      return tenant === null
        ? ctx.runtime(`${builtin}: tenant scope requires tenant_id in options or runtime context`)
        : `tenant:${display(tenant)}`
    }
  }
  const named = readOption(options, 'scope_id') ?? readOption(options, `${scope}_id`)
  if (named !== null) return `${scope}:${named}`
  for (const field of CONTEXT_SCOPES[scope] ?? []) {
    const value = task.fields.get(field) ?? null
    if (value !== null) return `${scope}:${display(value)}`
  }
  return Object.hasOwn(CONTEXT_SCOPES, scope) ? `${scope}:${task.rootId}` : `${scope}:${scope}`
}

export interface Place {
  readonly scope: string
  readonly key: string
}

export function placeName(place: Place): string {
  return `${place.scope}\0${place.key}`
}

export function makeHandle(type: string, place: Place): HarnDict {
  return HarnDict.of({ _type: type, scope: place.scope, key: place.key })
}

function isHandle(value: Value, type: string): value is HarnDict {
  return value instanceof HarnDict && value.get('_type') === type
}

function handlePlace(handle: HarnDict): Place {
  return { scope: display(handle.get('scope') ?? DEFAULT_SCOPE), key: display(handle.get('key') ?? '') }
}

/** The key under which something is opened: from a name, an options dict, or its handle. */
export function openPlace(ctx: Context, builtin: string, type: string, given: Value): Place | Control {
  if (isHandle(given, type)) return handlePlace(given)
  const options = given instanceof HarnDict ? given : null
  const key = options === null ? given : (options.get('key') ?? options.get('name') ?? null)
  if (key === null || display(key) === '') return ctx.runtime(`${builtin}: key/name is required`)
  const scope = resolveScope(ctx, builtin, readOption(options, 'scope') ?? DEFAULT_SCOPE, options)
  return scope instanceof Control ? scope : { scope, key: display(key) }
}

/** The key that an operation uses: from a handle, or a bare name in the default scope. */
export function resolveTarget(ctx: Context, builtin: string, type: string, target: Value): Place | Control {
  if (isHandle(target, type)) return handlePlace(target)
  if (target instanceof HarnDict) return ctx.runtime(`${builtin}: expected ${type} handle`)
  if (display(target) === '') return ctx.runtime(`${builtin}: name must not be empty`)
  const scope = resolveScope(ctx, builtin, DEFAULT_SCOPE, null)
  return scope instanceof Control ? scope : { scope, key: display(target) }
}
