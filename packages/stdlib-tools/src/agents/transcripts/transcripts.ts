// Conversations and transcripts as values, and agents as plain dicts; transcripts.harn is what takes an id or a model.

import { builtinTaking, HarnDict, HarnList, builtin, display, parseJson } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'
import { stringifyPretty } from '../../library/files/state-files.js'
import { listDicts, isTranscript } from './shape.js'

const EFFECTS: readonly string[] = ['random.bytes', 'clock.now']

function runHarn(ctx: Context, name: string, ...args: readonly Value[]): Result {
  return ctx.library({ module: 'agents/transcripts/transcripts', function: name, output: 'drop' }, args)
}

function listMessages(transcript: HarnDict): HarnDict[] {
  return listDicts(transcript.get('messages'))
}

function toList(value: Value | undefined): HarnList {
  return value instanceof HarnList ? value : new HarnList([])
}

// --------------------------------------------------------------------------------------------------------------- builtins

/** A builtin whose first argument must be a transcript. */
function onTranscript(
  signature: string,
  doc: string,
  run: (ctx: Context, transcript: HarnDict, second: Value) => Result,
  effects: readonly string[] = [],
): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  return builtin(signature, { doc, effects: effects.length > 0 ? effects : 'pure' }, (ctx, transcript, second) =>
    isTranscript(transcript) ? run(ctx, transcript, second ?? null) : ctx.throw(`${name}: argument must be a transcript`),
  )
}

/** `add_*`: one more message on a list or a transcript. */
function defineAdding(signature: string, doc: string, message: (ctx: Context, args: readonly Value[]) => HarnDict): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  return builtin(signature, { doc, effects: EFFECTS }, (ctx, target, ...args) => {
    const isList = target instanceof HarnList
    if (!isList && !isTranscript(target)) return ctx.throw(`${name}: first argument must be a message list or transcript`)
    const added = message(ctx, args.slice(0, Math.max(0, ctx.argc - 1)))
    return isList ? target.append(added) : runHarn(ctx, 'add', target, added)
  })
}

function makeRoleMessage(role: string): (ctx: Context, args: readonly Value[]) => HarnDict {
  return (_ctx, [content]) => HarnDict.of({ role, content: toKeptContent(content) })
}

/** Lists of blocks and dicts stay; anything else is text. */
function toKeptContent(content: Value | undefined): Value {
  return content instanceof HarnList || content instanceof HarnDict || content === null ? content : display(content ?? '')
}

function render(transcript: HarnDict, full: boolean): string {
  const lines: string[] = []
  for (const event of listDicts(transcript.get('events'))) {
    const text = display(event.get('text') ?? '')
    const visibility = display(event.get('visibility') ?? 'public')
    const line = `${display(event.get('role') ?? '')}: ${text}`
    if (full) lines.push(`[${visibility}] ${line}`)
    else if (visibility === 'public' && text !== '') lines.push(line)
  }
  return lines.join('\n')
}

function computeStats(transcript: Value): HarnDict {
  const messages = transcript instanceof HarnDict ? listMessages(transcript) : []
  const events = transcript instanceof HarnDict ? listDicts(transcript.get('events')) : []
  const count = (...roles: string[]): number =>
    messages.filter((message) => roles.includes(display(message.get('role') ?? ''))).length
  return HarnDict.of({
    message_count: messages.length,
    user_facing_message_count: count('user', 'assistant'),
    tool_result_message_count: count('tool', 'tool_result'),
    tool_call_count: messages.reduce((sum, message) => sum + toList(message.get('tool_calls')).length, 0),
    assistant_message_count: count('assistant'),
    user_message_count: count('user'),
    visible_event_count: events.filter((event) => event.get('visibility') === 'visible').length,
  })
}

/** What an agent's options may hold. */
const AGENT_OPTIONS = [
  'provider',
  'model',
  'thinking',
  'tools',
  'max_iterations',
  'tool_format',
  'structural_experiment',
  'context_callback',
  'context_filter',
  'tool_retries',
  'tool_backoff_ms',
]

function isAgent(value: Value | undefined): value is HarnDict {
  return value instanceof HarnDict && value.get('_type') === 'agent'
}

function makeAgentConfig(ctx: Context, agent: HarnDict, prompt: Value): Result {
  if (!isAgent(agent)) return ctx.throw('agent_config: first argument must be an agent (created with agent())')
  const options = new HarnDict()
  for (const key of AGENT_OPTIONS) if (agent.has(key)) options.set(key, agent.get(key)!)
  return HarnDict.of({ prompt, system: agent.get('system') ?? null, options })
}

export const transcriptsFamily: BuiltinFamily = {
  name: 'transcripts',
  modules: findHarnModule,
  builtins: [
    builtin('conversation() -> list', { doc: 'An empty list of messages.' }, () => new HarnList([])),
    defineAdding(
      'add_message(target: list | dict, role: string, content: any) -> list | dict as ?',
      'Adds a message.',
      (_ctx, [role = '', content]) => HarnDict.of({ role: display(role), content: toKeptContent(content) }),
    ),
    defineAdding(
      'add_user(target: list | dict, content: any) -> list | dict as ?',
      'Adds what the user says.',
      makeRoleMessage('user'),
    ),
    defineAdding(
      'add_assistant(target: list | dict, content: any) -> list | dict as ?',
      'Adds what the model says.',
      makeRoleMessage('assistant'),
    ),
    defineAdding(
      'add_system(target: list | dict, content: any) -> list | dict as ?',
      'Adds a system message.',
      makeRoleMessage('system'),
    ),
    defineAdding(
      'add_tool_result(target: list | dict, tool_use_id: string, content: any) -> list | dict as ?',
      'Adds what a tool gave.',
      (_ctx, [id = '', content]) =>
        HarnDict.of({ role: 'tool_result', tool_use_id: display(id), content: toKeptContent(content) }),
    ),
    builtin('transcript(metadata?: dict) -> dict', { doc: 'An empty transcript.', effects: EFFECTS }, (ctx, metadata) =>
      runHarn(ctx, 'make', metadata!),
    ),
    builtin(
      'transcript_from_messages(messages_or_transcript: list | dict) -> dict',
      { doc: 'A transcript of a list of messages.', effects: EFFECTS },
      (ctx, source) =>
        source instanceof HarnList || isTranscript(source)
          ? runHarn(ctx, 'from_messages', source)
          : ctx.throw('transcript_from_messages: argument must be a message list or transcript'),
    ),
    onTranscript('transcript_messages(transcript: dict) -> list', 'Its messages.', (_ctx, t) => toList(t.get('messages'))),
    onTranscript('transcript_assets(transcript: dict) -> list', 'Its assets.', (_ctx, t) => toList(t.get('assets'))),
    onTranscript('transcript_events(transcript: dict) -> list', 'Its events.', (_ctx, t) => toList(t.get('events'))),
    onTranscript('transcript_summary(transcript: dict) -> string | nil', 'Its summary.', (_ctx, t) => t.get('summary') ?? null),
    onTranscript('transcript_id(transcript: dict) -> string', 'Its id.', (_ctx, t) => t.get('id') ?? null),
    builtin(
      'transcript_events_by_kind(transcript: dict, kind: string) -> list',
      { doc: 'Its events of one kind; none of anything but a transcript.' },
      (_ctx, t, kind) => {
        const wanted = kind === null ? '' : display(kind!)
        const events = t instanceof HarnDict ? listDicts(t.get('events')) : []
        return new HarnList(events.filter((event) => event.get('kind') === wanted))
      },
    ),
    onTranscript('transcript_render_visible(transcript: dict) -> string', 'What a person may see, a line an event.', (_ctx, t) =>
      render(t, false),
    ),
    onTranscript(
      'transcript_render_full(transcript: dict) -> string',
      'All events, a line each, with their visibility.',
      (_ctx, t) => render(t, true),
    ),
    onTranscript('transcript_export(transcript: dict) -> string', 'The transcript as JSON.', (_ctx, t) => stringifyPretty(t)),
    builtin(
      'transcript_import(json_text: string) -> dict as ?',
      { doc: 'The transcript that a JSON text holds.' },
      (ctx, text) => {
        const source = text === null ? '' : display(text!)
        ctx.charge(source.length >> 3, 4 * source.length)
        const parsed = parseJson(source)
        if (!parsed.ok) return ctx.runtime(`transcript_import: ${parsed.message}`)
        return parsed.value
      },
    ),
    onTranscript(
      'transcript_fork(transcript: dict, options?: dict) -> dict as ?',
      'A branch of a transcript.',
      (ctx, t, options) => runHarn(ctx, 'fork', t, options instanceof HarnDict ? options : new HarnDict()),
      EFFECTS,
    ),
    onTranscript(
      'transcript_archive(transcript: dict) -> dict',
      'The transcript, put away.',
      (ctx, t) => runHarn(ctx, 'move', t, 'transcript_archive'),
      EFFECTS,
    ),
    onTranscript(
      'transcript_abandon(transcript: dict) -> dict',
      'The transcript, given up.',
      (ctx, t) => runHarn(ctx, 'move', t, 'transcript_abandon'),
      EFFECTS,
    ),
    onTranscript(
      'transcript_resume(transcript: dict) -> dict',
      'The transcript, taken up again.',
      (ctx, t) => runHarn(ctx, 'move', t, 'transcript_resume'),
      EFFECTS,
    ),
    builtin(
      'transcript_reset(options?: dict) -> dict',
      { doc: 'A fresh transcript with metadata of its own.', effects: EFFECTS },
      (ctx, options) => runHarn(ctx, 'reset', options instanceof HarnDict ? (options.get('metadata') ?? null) : null),
    ),
    builtinTaking(
      'transcript_add_asset(transcript: dict, asset: any) -> dict',
      { doc: 'The transcript with an asset; one of the same id is replaced.', effects: EFFECTS },
      {
        fits: { transcript: (value) => (isTranscript(value) ? null : 'transcript_add_asset: argument must be a transcript') },
        absent: { asset: '{f}: missing asset' },
      },
      (ctx, transcript, asset) => runHarn(ctx, 'add_asset', transcript, asset),
    ),
    onTranscript(
      'transcript_summarize(transcript: dict, options?: dict) -> dict',
      'The transcript shortened to its last messages, with a summary by a model.',
      (ctx, t, options) => runHarn(ctx, 'summarize', t, options instanceof HarnDict ? options : new HarnDict()),
      ['llm.call', 'process.info', ...EFFECTS],
    ),
    builtin('transcript_stats(transcript: dict | nil) -> dict', { doc: 'How many messages of which kind.' }, (_ctx, transcript) =>
      computeStats(transcript!),
    ),
    builtinTaking(
      'agent(name: string, config?: dict) -> dict',
      { doc: 'An agent: a name and the options of its calls.' },
      {
        text: { name: null },
        fits: {
          config: (config, { isPassed }) =>
            isPassed && !(config instanceof HarnDict) ? 'agent: second argument must be a config dict' : null,
        },
      },
      (_ctx, name, config) => {
        const made = config instanceof HarnDict ? config.copy() : new HarnDict()
        made.set('_type', 'agent')
        made.set('name', name)
        return made
      },
    ),
    builtin('agent_name(agent: dict) -> string as ?', { doc: "An agent's name." }, (ctx, agent) =>
      agent instanceof HarnDict ? (agent.get('name') ?? null) : ctx.throw('agent_name: argument must be an agent'),
    ),
    builtinTaking(
      'agent_config(agent: dict, prompt: string) -> dict',
      { doc: 'Prompt, system text and options of a call in the name of an agent.' },
      { fewer: '{f}: requires agent and prompt', not: { agent: '{f}: first argument must be an agent' } },
      makeAgentConfig,
    ),
  ],
}
