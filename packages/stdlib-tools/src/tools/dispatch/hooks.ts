// Hooks around tool calls: deny rules and output caps that scripts register, and handlers for the events that
// manifests name. Which hooks see a call is decided by the pattern of each; they run in the order of registration.

import {
  HarnDict,
  HarnList,
  builtin,
  display,
  family,
  frame,
  isCallable,
  isInt,
  isTruthy,
  stringifySorted,
  typeName,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { definePrimitive } from '../../library/harn/primitive.js'
import { compileRegex, testRegex } from '../../library/regex/engine.js'
import { RegexSyntaxError } from '../../library/regex/syntax.js'
import { listEveryName, readCalled } from './identity.js'
import type { CalledTool } from './identity.js'
import { matchesGlob } from '../policy/tool-policy.js'

export const HOOK_EVENTS: readonly string[] = [
  'PreToolUse',
  'PostToolUse',
  'PreAgentTurn',
  'PostAgentTurn',
  'WorkerSpawned',
  'WorkerProgressed',
  'WorkerWaitingForInput',
  'WorkerCompleted',
  'WorkerFailed',
  'WorkerCancelled',
]

interface Hook {
  readonly event: string
  /** A pattern on the tool's name for hooks of register_tool_hook, a pattern expression for handlers. */
  readonly pattern: string
  /** Called with the event's payload; nil for the two fixed hooks. */
  readonly handler: Value
  readonly deny: string | null
  readonly maxOutput: number | null
}

const hookState = family<{ hooks: Hook[] }>('tool_hooks', () => ({ hooks: [] }))

const NO_HOOKS: readonly Hook[] = []

/** The hooks as they are; only ever added to, or cleared all at once. */
export function listHooks(ctx: Context): readonly unknown[] {
  return listKnownHooks(ctx)
}

function listKnownHooks(ctx: Context): readonly Hook[] {
  return ctx.findState(hookState)?.hooks ?? NO_HOOKS
}

/** Whether a hook may have a say about calls of this tool. A handler decides by its pattern, which may look at the arguments. */
export function mayJudgeCalls(ctx: Context, tool: CalledTool): boolean {
  return mayConcern(ctx, 'PreToolUse', tool)
}

/** The same for results. */
export function maySeeResults(ctx: Context, tool: CalledTool): boolean {
  return mayConcern(ctx, 'PostToolUse', tool)
}

function mayConcern(ctx: Context, event: string, { identity }: CalledTool): boolean {
  for (const hook of listKnownHooks(ctx))
    if (
      hook.event === event &&
      (hook.handler !== null || listEveryName(identity).some((name) => matchesGlob(hook.pattern, name)))
    )
      return true
  return false
}

function registerToolHook(ctx: Context, config: Value): Result {
  const dict = config instanceof HarnDict ? config : new HarnDict()
  const { hooks } = ctx.state(hookState)
  const given = dict.get('pattern') ?? null
  const pattern = given === null ? '*' : display(given)
  const deny = dict.has('deny') ? display(dict.get('deny')!) : null
  const maxOutput = dict.get('max_output') ?? null
  if (deny !== null) hooks.push({ event: 'PreToolUse', pattern, handler: null, deny, maxOutput: null })
  if (isInt(maxOutput)) hooks.push({ event: 'PostToolUse', pattern, handler: null, deny: null, maxOutput: Number(maxOutput) })
  return null
}

function addHook(ctx: Context, event: Value, pattern: Value, handler: Value): Result {
  if (typeof event !== 'string' || !HOOK_EVENTS.includes(event)) {
    return ctx.runtime(`on_event: unknown event ${display(event)}; one of ${HOOK_EVENTS.join(', ')} is expected`)
  }
  if (!isCallable(handler)) return ctx.runtime(`on_event: handler must be a closure, got ${typeName(handler)}`)
  const wanted = pattern === null ? '' : display(pattern)
  ctx.state(hookState).hooks.push({ event, pattern: wanted, handler, deny: null, maxOutput: null })
  return null
}

// --------------------------------------------------------------------------------------------------- pattern expressions

function findAtPath(payload: Value, path: string): Value {
  let value = payload
  for (const key of path.split('.')) {
    if (!(value instanceof HarnDict)) return null
    value = value.get(key) ?? null
  }
  return value
}

/** Strings bare, other values as JSON, a missing one empty. */
function findText(payload: Value, path: string): string {
  const value = findAtPath(payload, path)
  return value === null ? '' : typeof value === 'string' ? value : stringifySorted(value)
}

function unquote(text: string): string {
  const quote = text[0]
  const isQuoted = (quote === '"' || quote === "'") && text.length > 1 && text.endsWith(quote)
  return isQuoted ? text.slice(1, -1) : text
}

export function matchesHookPattern(pattern: string, payload: Value): boolean {
  const wanted = pattern.trim()
  if (wanted === '' || wanted === '*') return true
  const operation = /^([\w.]+)\s*(=~|==|!=)(.*)$/s.exec(wanted)
  if (operation !== null) {
    const actual = findText(payload, operation[1]!)
    const expected = unquote(operation[3]!.trim())
    if (operation[2] === '==') return actual === expected
    if (operation[2] === '!=') return actual !== expected
    try {
      return testRegex(compileRegex(expected), actual)
    } catch (error) {
      if (error instanceof RegexSyntaxError) return false
      throw error
    }
  }
  // Names of tools have dots too; a hook that refuses `shop.order` must not wait for a path of that name.
  if (wanted.includes('.') && isTruthy(findAtPath(payload, wanted))) return true
  return matchesGlob(wanted, findText(payload, 'tool.name'))
}

/** The hooks that see a call of a tool under any of its names, in order. */
function listToolHooks(ctx: Context, event: string, called: CalledTool, payload: HarnDict): readonly Hook[] {
  const named = payload.get('tool') as HarnDict
  const payloads = [payload]
  for (const name of listEveryName(called.identity))
    if (name !== called.shown) payloads.push(payload.with('tool', named.with('name', name)))
  return listKnownHooks(ctx).filter((hook) => hook.event === event && payloads.some((each) => seesPayload(hook, each)))
}

function seesPayload(hook: Hook, payload: HarnDict): boolean {
  if (hook.handler !== null) return matchesHookPattern(hook.pattern, payload)
  return matchesGlob(hook.pattern, findText(payload, 'tool.name'))
}

function encodeHook({ handler, deny, maxOutput }: Hook): HarnDict {
  return HarnDict.of({ handler, deny, max_output: maxOutput })
}

/** Handlers of an event whose answers do not matter, in order. */
function listHandlers(ctx: Context, event: string, payload: HarnDict): Value[] {
  const hooks = listKnownHooks(ctx).filter((hook) => hook.event === event && hook.handler !== null)
  return hooks.filter((hook) => matchesHookPattern(hook.pattern, payload)).map((hook) => hook.handler)
}

/** What handlers of a manifest print is lost, as in the reference. */
const quietFrame = frame<{ readonly handler: Value; readonly payload: Value; called: boolean }>({
  kind: 'hooks.quiet',
  output: 'drop',
  step: (ctx, state) => {
    if (state.called) return ctx.result
    state.called = true
    return ctx.call(state.handler, [state.payload])
  },
})

export const hooksFamily: BuiltinFamily = {
  name: 'hooks',
  frames: [quietFrame],
  primitives: [
    definePrimitive(
      '__tool_hooks(event: string, called: dict, payload: dict) -> list<dict>',
      'The hooks that see a call of a tool, in order: {handler, deny, max_output}.',
      (ctx, event, called, payload) =>
        new HarnList(listToolHooks(ctx, event as string, readCalled(called!), payload as HarnDict).map(encodeHook)),
    ),
    definePrimitive(
      '__hook_handlers(event: string, payload: dict) -> list',
      'Handlers of an event whose answers do not matter, in order.',
      (ctx, event, payload) => new HarnList(listHandlers(ctx, event as string, payload as HarnDict)),
    ),
  ],
  builtins: [
    builtin(
      'register_tool_hook(config: dict) -> nil',
      { doc: 'Denies the tools whose name matches `pattern`, or shortens their results to `max_output` bytes.', effects: [] },
      registerToolHook,
    ),
    builtin('clear_tool_hooks() -> nil', { doc: 'Removes all hooks around tool calls.', effects: [] }, (ctx) => {
      const state = ctx.state(hookState)
      state.hooks = state.hooks.filter((hook) => hook.event !== 'PreToolUse' && hook.event !== 'PostToolUse')
      return null
    }),
    builtin(
      '__hook_call(handler: closure, payload: dict)',
      { doc: 'Calls a handler of a manifest.', effects: ['callback'] },
      (ctx, handler, payload) => ctx.frame('hooks.quiet', { handler: handler!, payload: payload!, called: false }),
    ),
    builtin(
      '__hook_on(event: string, pattern: string, handler: closure) -> nil',
      { doc: 'Calls `handler` with the payload of every event that matches the pattern expression.', effects: ['callback'] },
      addHook,
    ),
  ],
}
