// What the internal modules of agent loops are made with: options, texts for the model, sessions, subscribers, the search for
// deferred tools, and one tool call.

import {
  HarnDict,
  HarnList,
  builtin,
  debugQuoted,
  display,
  failRuntime,
  stringifySorted,
  toPlain,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, Context, Value } from '@bridle/vm/families'
import {
  makeFeedback,
  parseGuidance,
  renderPersistence,
  renderStubListing,
  renderToolContract,
  renderViolations,
} from './contract.js'
import { callPrimitives } from './call-primitives.js'
import { HAS_INBOX } from './inbox.js'
import { loopState } from './loop-state.js'
import { encodeLoopOptions, readLoopOptions, requireExecutable } from './options.js'
import { makeLoopSearch, decodeSearch } from './search.js'
import type { LoopSearch } from './search.js'
import { readServers, makeServerTool } from './servers.js'
import { disownClient, ownClient } from '../../tools/policy/loop-clients.js'
import { loadSkillEntry, loadSkillNative, readLoopSkills, rankSkills } from './skills.js'
import { traceTotals } from './trace.js'
import { makeNativeAssistant } from '../models/reply.js'
import { llmState } from '../models/state.js'
import { openSession, setCurrentSession, touch } from '../sessions/sessions.js'
import { listDicts, toStoredMessage } from '../transcripts/shape.js'
import { REPORT_LISTENER } from '../../library/logging/reports.js'
import { findInnermostScope } from '../../library/task-scopes.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { boundRegistry, isRegistry, listAt } from '../../tools/definitions/registry.js'
import { readParseError, readCallArguments } from '../../tools/definitions/model-arguments.js'
import { validateSurface } from '../../tools/definitions/surface.js'

function listTexts(value: Value | undefined): string[] {
  return value instanceof HarnList ? value.view().map(display) : []
}

// ------------------------------------------------------------------------------------------------------------------ options

/** Under the policy that is in force, which is what the loop's own leaves of its caller's. */
function checkSurface(ctx: Context, registry: HarnDict, label: string): void {
  const surface = HarnDict.of({ tools: registry })
  const policy = findInnermostScope(ctx, 'ceilings')
  if (policy instanceof HarnDict) surface.set('policy', policy)
  const report = validateSurface(surface, null)
  for (const diagnostic of listDicts(report.get('diagnostics'))) {
    if (diagnostic.get('severity') !== 'error') continue
    const code = display(diagnostic.get('code') ?? '')
    failRuntime(`${label} tool surface validation failed: ${code}: ${display(diagnostic.get('message') ?? '')}`)
  }
}

const optionPrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__loop_options(given: dict, label: string, model: string) -> dict',
    'Options of a loop, read and checked.',
    (_ctx, given, label, model) => {
      const options = readLoopOptions(given as HarnDict, label as string, model as string)
      requireExecutable(options.tools, options.label)
      return encodeLoopOptions(options)
    },
  ),
  definePrimitive(
    '__check_tool_surface(tools: any, options: dict) -> nil',
    'Raises what is wrong with the tools of a loop together.',
    (ctx, tools, options) => {
      const label = display((options as HarnDict).get('label')!)
      if (listAt(options as HarnDict, 'tools').length > 0 && tools instanceof HarnDict && isRegistry(tools))
        checkSurface(ctx, tools, label)
      return null
    },
  ),
  definePrimitive(
    '__loop_skills(given: dict, active: list) -> dict?',
    'The skills of a loop; nil without any.',
    (_ctx, given, active) => readLoopSkills(given as HarnDict, listTexts(active)),
  ),
  definePrimitive(
    '__loop_search(option: any, tools: list, native: bool) -> dict?',
    'The search of a loop for deferred tools; nil without one.',
    (_ctx, option, tools, native) => makeLoopSearch(option ?? null, listDicts(tools), native === true),
  ),
]

// ------------------------------------------------------------------------------------------------------------------ servers

const serverPrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__read_servers(option: any) -> list',
    'Specs of the MCP servers of a loop, checked.',
    (_ctx, option) => new HarnList([...readServers(option)]),
  ),
  definePrimitive(
    '__server_entry(server: string, offered: any) -> dict?',
    'The entry for a tool that a server offers; nil without a name.',
    (_ctx, server, offered) => (offered instanceof HarnDict ? makeServerTool(server as string, offered) : null),
  ),
  definePrimitive(
    '__own_client(client: any) -> nil',
    'A connection is that of a loop from here on.',
    (ctx, client) => (ownClient(ctx, client!), null),
  ),
  definePrimitive(
    '__disown_client(client: any) -> nil',
    'A connection is that of a loop no more.',
    (ctx, client) => (disownClient(ctx, client!), null),
  ),
  definePrimitive('__bind_registry(registry: dict) -> nil', 'The registry of the scope.', (ctx, registry) => {
    ctx.state(boundRegistry).registry = registry!
    return null
  }),
]

// -------------------------------------------------------------------------------------------------- sessions and subscribers

const sessionPrimitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__begin_session(id: string, is_stored: bool) -> dict?',
    'Makes a session the current one; {messages, summary, skills} of one that is stored.',
    (ctx, id, isStored) => {
      setCurrentSession(ctx, id as string)
      if (isStored !== true) return null
      const { messages, summary, activeSkills } = openSession(ctx, id as string)
      return HarnDict.of({ messages: new HarnList([...messages]), summary, skills: new HarnList([...activeSkills]) })
    },
  ),
  definePrimitive(
    '__store_session(id: string, conversation: dict) -> nil',
    'Lets a session have {messages, events, summary, state}.',
    (ctx, id, conversation) => {
      const given = conversation as HarnDict
      ctx.charge((listAt(given, 'messages').length + listAt(given, 'events').length) >> 3)
      const session = touch(ctx, id as string) ?? openSession(ctx, id as string)
      session.messages = listDicts(given.get('messages')).map(toStoredMessage)
      session.events = listDicts(given.get('events'))
      session.summary = (given.get('summary') ?? null) as string | null
      session.state = given.get('state') as string
      return null
    },
  ),
  definePrimitive(
    '__remember_skills(id: string, names: list) -> nil',
    'A later loop on the session begins with these skills.',
    (ctx, id, names) => {
      const session = touch(ctx, id as string)
      if (session !== undefined) session.activeSkills = listTexts(names)
      return null
    },
  ),
  definePrimitive(
    '__take_injected(id: string) -> list',
    'Messages that wait for the next turn of a session: {kind, content} each.',
    (ctx, id) => {
      const { injected } = ctx.state(loopState)
      const waiting = injected.get(id as string) ?? []
      injected.delete(id as string)
      return new HarnList(waiting.map(({ kind, content }) => HarnDict.of({ kind, content })))
    },
  ),
  definePrimitive(
    '__take_child_events(id: string) -> list',
    'What sub-agents of the last call left for the transcript of a session.',
    (ctx, id) => {
      const { childEvents } = ctx.state(loopState)
      const events = childEvents.get(id as string) ?? []
      childEvents.delete(id as string)
      return new HarnList([...events])
    },
  ),
  definePrimitive('__subscribers(id: string) -> list', 'Functions that listen to a session.', (ctx, id) => {
    return new HarnList([...(ctx.state(loopState).subscribers.get(id as string) ?? [])])
  }),
  definePrimitive('__tell_host(event: dict) -> nil', 'Tells the host of the run what happens in a session.', (ctx, event) => {
    const listener = ctx.machine.hostData(REPORT_LISTENER)
    // Also built and charged in a replay, which has no listeners, so that fuel is equal.
    const told = toPlain(event)
    if (listener !== null) listener({ kind: 'agent', taskId: ctx.machine.task().taskId, event: told })
    return null
  }),
  definePrimitive('__has_inbox() -> bool', 'Whether a person may send messages to loops while they work.', (ctx) =>
    ctx.machine.hostData(HAS_INBOX),
  ),
  definePrimitive(
    '__begin_turn_span(iteration: int, session_id: string) -> nil',
    'Tells traces that a turn of a session begins.',
    (ctx, iteration, session) => {
      const name = `agent_turn ${Number(iteration) + 1}`
      const facts = { session: session as string }
      ctx.machine.spans?.({ at: 'begin', work: 'agent_turn', id: null, name, task: ctx.machine.taskNumber, ms: ctx.now, facts })
      return null
    },
  ),
  definePrimitive('__agent_totals() -> dict', 'Tokens of all model calls of the run: {input_tokens, output_tokens}.', (ctx) => {
    const { inputTokens, outputTokens } = traceTotals(ctx.state(llmState))
    return HarnDict.of({ input_tokens: inputTokens, output_tokens: outputTokens })
  }),
]

// ---------------------------------------------------------------------------------------------------------- texts for the model

function definePure(signature: string, doc: string, run: (...args: Value[]) => Value): BuiltinDef {
  return builtin(signature, { doc }, (_ctx, ...args) => run(...args))
}

/** What the model's answer says of the next phase, in its last line of that form. */
function findNextPhase(text: string): string | null {
  const phases = [...text.matchAll(/^[^\S\n\r\u2028\u2029]*next_phase:\s*(\S+)/gm)]
  return phases.at(-1)?.[1] ?? null
}

/** The calls of an answer with readable arguments; `parse_error` says why others are not. */
function readCall(call: HarnDict): HarnDict {
  const args = readCallArguments(call.get('arguments'))
  return HarnDict.of({
    id: display(call.get('id') ?? ''),
    name: display(call.get('name') ?? ''),
    arguments: args,
    parse_error: readParseError(args),
  })
}

const textPrimitives: readonly BuiltinDef[] = [
  definePure(
    '__tool_contract(mode: string, tools: list, sentinel: string, examples: string) -> string',
    'How to call tools, and which there are.',
    (mode, tools, sentinel, examples) =>
      renderToolContract(mode as string, listDicts(tools), sentinel as string, examples as string),
  ),
  definePure(
    '__persistence(mode: string, has_tools: bool, sentinel: string) -> string',
    'What a persistent loop adds.',
    (mode, hasTools, sentinel) => renderPersistence(mode as string, hasTools === true, sentinel as string),
  ),
  definePure('__feedback(kind: string, text: string) -> dict', 'A message of the runtime to the model.', (kind, text) =>
    makeFeedback(kind as string, text as string),
  ),
  definePure('__parse_guidance(errors: list) -> string', 'How to write a call that could not be read.', (errors) =>
    parseGuidance(listTexts(errors)),
  ),
  definePure(
    '__violation_text(violations: list, sentinel: string) -> string',
    'What an answer did against the protocol.',
    (violations, sentinel) => renderViolations(listTexts(violations), sentinel as string),
  ),
  definePure(
    '__native_assistant(text: string, calls: list, service_state: dict?) -> dict',
    'An answer with native calls as a message.',
    (text, calls, state) =>
      makeNativeAssistant(text as string, listDicts(calls), { serviceState: state instanceof HarnDict ? state : null }),
  ),
  definePure(
    '__read_calls(calls: list) -> list',
    'Calls of an answer: {id, name, arguments, parse_error}.',
    (calls) => new HarnList(listDicts(calls).map(readCall)),
  ),
  definePure('__next_phase(text: string) -> string?', 'The phase that an answer names as the next one.', (text) =>
    findNextPhase(text as string),
  ),
  definePure('__utf8_length(text: string) -> int', 'Bytes of a text.', (text) => toUtf8(text as string).length),
  definePure('__quoted(text: string) -> string', 'A text as error messages quote it.', (text) => debugQuoted(text as string)),
  definePure('__indented_json(value: any) -> string', 'JSON with sorted keys, indented by two.', (value) =>
    stringifySorted(value!, 2),
  ),
  definePure(
    '__search_visible(search: dict, tools: list) -> list',
    'Tools that the contract tells of while a search is on.',
    (search, tools) => new HarnList([...readSearch(search, tools).visible]),
  ),
  definePure(
    '__search_stubs(search: dict, tools: list) -> string',
    'Names of the tools that a search finds.',
    (search, tools) => {
      const { name, deferred } = readSearch(search, tools)
      return renderStubListing(name, deferred)
    },
  ),
  definePure(
    '__search_tools(search: dict, tools: list, query: string) -> dict',
    'What a search finds: {text, names, added, promoted}.',
    (search, tools, query) => {
      const made = readSearch(search, tools)
      const { text, names, added } = made.find(query as string)
      return HarnDict.of({
        text,
        names: new HarnList([...names]),
        added: new HarnList([...added]),
        promoted: new HarnList([...made.promoted]),
      })
    },
  ),
  definePure('__load_skill_entry() -> dict', 'The tool that loads skills, as the contract tells of it.', () => loadSkillEntry()),
  definePure('__load_skill_native() -> dict', 'The tool that loads skills, as it goes with a request.', () => loadSkillNative()),
]

function readSearch(search: Value | undefined, tools: Value | undefined): LoopSearch {
  return decodeSearch(search as HarnDict, listDicts(tools))
}

export const loopPrimitives: readonly BuiltinDef[] = [
  ...optionPrimitives,
  ...serverPrimitives,
  ...sessionPrimitives,
  ...textPrimitives,
  ...callPrimitives,
  definePrimitive(
    '__skill_candidates(entries: list, prompt: string, files: list) -> list',
    'Skills that fit a prompt, the best first: {entry, score, reason}.',
    (ctx, entries, prompt, files) => {
      const skills = listDicts(entries)
      const text = prompt as string
      ctx.charge(skills.length * (1 + (text.length >> 6)), text.length)
      return rankSkills(skills, text, listTexts(files))
    },
  ),
]
