// Hooks around tool calls: deny rules and output caps that scripts register, and handlers for the events that
// manifests name. Which hooks see a call is decided by the pattern of each; they run in the order of registration.

import {
  HarnDict,
  HarnList,
  builtin,
  callBack,
  display,
  failRuntime,
  family,
  frame,
  runHere,
  isCallable,
  isInt,
  isTruthy,
  stringifySorted,
  typeName,
} from '@bridle/vm/families'
import type { BuiltinFamily, Context, Result, Script, Value } from '@bridle/vm/families'
import { definePrimitive } from '../../library/harn/primitive.js'
import { compactOutput } from './micro-compact.js'
import { compileRegex, testRegex } from '../../library/regex/engine.js'
import { RegexSyntaxError } from '../../library/regex/syntax.js'
import { listEveryName } from './identity.js'
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
function* listToolHooks(event: string, called: CalledTool, payload: HarnDict): Script<readonly Hook[]> {
  const others = listEveryName(called.identity).filter((name) => name !== called.shown)
  const found = new Set(yield* listHooksFor(event, payload))
  for (const name of others) {
    const tool = (payload.get('tool') as HarnDict).with('name', name)
    // Two statements: QuickJS cannot compile `yield*` in the head of an inner loop.
    const more: readonly Hook[] = yield* listHooksFor(event, payload.with('tool', tool))
    for (const hook of more) found.add(hook)
  }
  if (others.length === 0) return [...found]
  return (yield* runHere((ctx) => [...listKnownHooks(ctx)])).filter((hook) => found.has(hook))
}

/** The hooks that see an event, in order. */
function* listHooksFor(event: string, payload: HarnDict): Script<readonly Hook[]> {
  const hooks = yield* runHere((ctx) => listKnownHooks(ctx).filter((hook) => hook.event === event))
  const tool = findText(payload, 'tool.name')
  return hooks.filter((hook) =>
    hook.handler === null ? matchesGlob(hook.pattern, tool) : matchesHookPattern(hook.pattern, payload),
  )
}

// ------------------------------------------------------------------------------------------------------ around tool calls

export type PreToolUse = { readonly kind: 'go'; readonly args: HarnDict } | { readonly kind: 'deny'; readonly reason: string }

/** The first denial wins; replacements of the arguments chain. */
export function* runPreToolUse(called: CalledTool, given: HarnDict): Script<PreToolUse> {
  const tool = called.shown
  let args = given
  const makePayload = (): HarnDict => HarnDict.of({ event: 'PreToolUse', tool: HarnDict.of({ name: tool, args }) })
  const hooks = yield* listToolHooks('PreToolUse', called, makePayload())
  for (const hook of hooks) {
    if (hook.deny !== null) return { kind: 'deny', reason: hook.deny }
    const answer = yield* callBack(hook.handler, makePayload())
    if (answer === null) continue
    if (!(answer instanceof HarnDict)) failRuntime(`PreToolUse hook must return nil or {deny, args}, got ${typeName(answer)}`)
    const deny = answer.get('deny') ?? null
    if (deny !== null) return { kind: 'deny', reason: display(deny) }
    const replaced = answer.get('args')
    if (replaced instanceof HarnDict) args = replaced
  }
  return { kind: 'go', args }
}

/** The text of a result after all hooks; texts chain. */
export function* runPostToolUse(called: CalledTool, args: Value, given: string): Script<string> {
  const tool = called.shown
  let text = given
  const makePayload = (): HarnDict =>
    HarnDict.of({ event: 'PostToolUse', tool: HarnDict.of({ name: tool, args }), result: HarnDict.of({ text }) })
  const hooks = yield* listToolHooks('PostToolUse', called, makePayload())
  for (const hook of hooks) {
    if (hook.maxOutput !== null) {
      text = compactOutput(text, hook.maxOutput)
      continue
    }
    const answer = yield* callBack(hook.handler, makePayload())
    if (answer === null) continue
    if (typeof answer === 'string') text = answer
    else if (answer instanceof HarnDict) {
      const result = answer.get('result') ?? null
      if (result !== null) text = display(result)
    } else failRuntime(`PostToolUse hook must return nil, string, or {result}, got ${typeName(answer)}`)
  }
  return text
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
