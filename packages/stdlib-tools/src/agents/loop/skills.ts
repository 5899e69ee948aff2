// Skills in an agent loop: which of them fit the task, what they say in the system prompt, which tools they
// leave in sight, and the tool by which the model loads the text of one.

import {
  Fault,
  HarnDict,
  HarnFloat,
  HarnList,
  display,
  here,
  isCallable,
  isInt,
  sortedJson,
  tryAsk,
  tryCallBack,
} from '@bridle/vm/families'
import type { Script, Value } from '@bridle/vm/families'
import { emit } from './loop-state.js'
import type { Loop } from './loop-state.js'
import type { Dispatched, ToolCall } from './dispatch.js'
import { compileRegex, testRegex } from '../../library/regex/engine.js'
import { touch } from '../sessions/sessions.js'
import { directoryOf, skillId, skillsOf, substitute, wholeSkill } from '../skills/skills.js'
import { listAt, textAt } from '../../tools/definitions/registry.js'
import { makeEvent } from '../transcripts/shape.js'

export const LOAD_SKILL = 'load_skill'

const STRATEGIES: readonly string[] = ['metadata', 'host', 'embedding']

/** A skill that is in the prompt: active by its match, or loaded by the model, whose text then stands for its prompt. */
interface Present {
  readonly entry: HarnDict
  readonly text: string
  readonly loaded: boolean
}

interface Candidate {
  readonly entry: HarnDict
  readonly score: number
  readonly reason: string
}

/** What a loop knows of its skills. */
export interface LoopSkills {
  readonly entries: readonly HarnDict[]
  readonly strategy: string
  readonly most: number
  readonly sticky: boolean
  readonly workingFiles: readonly string[]
  present: Present[]
  /** True when a loop before on the same session chose them. */
  resumed: boolean
}

const described = (entry: HarnDict, key: string): string => {
  const value = entry.get(key) ?? null
  return value === null ? '' : display(value)
}

const nameOf = (entry: HarnDict): string => described(entry, 'name')

const textsAt = (entry: HarnDict, key: string): string[] => listAt(entry, key).map(display)

/** The skills of a loop's options; null when there are none, or what was given is no registry and no list. */
export function readLoopSkills(given: HarnDict, active: readonly string[]): LoopSkills | null {
  const option = given.get('skills') ?? null
  const all = skillsOf(option)
  if (all === null || all.length === 0) return null
  const entries = all.filter((entry): entry is HarnDict => entry instanceof HarnDict && nameOf(entry) !== '')
  const match = given.get('skill_match')
  const options = match instanceof HarnDict ? match : new HarnDict()
  const strategy = textAt(options, 'strategy') ?? 'metadata'
  const most = options.get('top_n') ?? null
  const files = given.get('working_files') ?? null
  const resumed = entries.filter((entry) => active.includes(nameOf(entry)))
  return {
    entries,
    strategy: STRATEGIES.includes(strategy) ? strategy : 'metadata',
    most: isInt(most) ? Math.max(1, Number(most)) : 1,
    sticky: options.get('sticky') !== false,
    workingFiles: files instanceof HarnList ? files.view().map(display) : typeof files === 'string' ? [files] : [],
    present: resumed.map((entry) => ({ entry, text: described(entry, 'prompt'), loaded: false })),
    resumed: resumed.length > 0,
  }
}

// ---------------------------------------------------------------------------------------------------------------- matching

/** `*` within a segment, `**` across, `?` one character. */
function globMatches(pattern: string, path: string): boolean {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|[^*?]+/g, (piece) => {
    if (piece === '**/') return '(?:.*/)?'
    if (piece === '**') return '.*'
    if (piece === '*') return '[^/]*'
    return piece === '?' ? '[^/]' : piece.replace(/[\\^$.|+()[\]{}]/g, '\\$&')
  })
  // Patterns come from scripts: the engine takes linear time whatever they are.
  return testRegex(compileRegex(`^${source}$`, 's'), path)
}

function scored(entry: HarnDict, prompt: string, skills: LoopSkills): Candidate | null {
  if (entry.get('disable_model_invocation') === true || entry.get('disable-model-invocation') === true) return null
  const lower = prompt.toLowerCase()
  const tokens = (lower.match(/[\p{L}\p{N}]+/gu) ?? []).filter((token) => new TextEncoder().encode(token).length > 2)
  const description = described(entry, 'description').toLowerCase()
  const when = described(entry, 'when_to_use').toLowerCase()
  const hits = tokens.reduce((sum, token) => sum + Number(description.includes(token)) + Number(when.includes(token)), 0)
  const name = nameOf(entry)
  const isNamed = lower.includes(name.toLowerCase())
  const globs = textsAt(entry, 'paths').filter((glob) => skills.workingFiles.some((file) => globMatches(glob, file))).length
  const score = (hits > 0 ? hits / (hits + 1.5) : 0) + (isNamed ? 2 : 0) + 1.5 * globs
  if (score <= 0) return null
  const reasons = [
    ...(hits > 0 ? [`${hits} keyword hit(s)`] : []),
    ...(isNamed ? [`prompt mentions '${name}'`] : []),
    ...(globs > 0 ? [`${globs} path glob(s) matched`] : []),
  ]
  return { entry, score, reason: reasons.join('; ') }
}

/** The text of the latest message of the user. */
function latestPrompt(loop: Loop): string {
  for (const message of [...loop.messages].reverse()) {
    if (message.get('role') !== 'user') continue
    const content = message.get('content') ?? null
    return content === null ? '' : display(content)
  }
  return ''
}

function* note(loop: Loop, kind: string, text: string, metadata: Readonly<Record<string, Value>>): Script<null> {
  loop.events.push(yield* makeEvent(kind, 'system', 'internal', text, HarnDict.of(metadata)))
  return null
}

/** What a hook of a skill throws is no matter of the loop. */
function* runHook(entry: HarnDict, key: string): Script<null> {
  const hook = entry.get(key) ?? null
  if (isCallable(hook)) yield* tryCallBack(hook)
  return null
}

/** Chooses the skills of a turn: in the first one, and later only when they are not to stick. */
export function* matchSkills(loop: Loop, iteration: number): Script<null> {
  const { skills } = loop
  if (skills === null || (skills.sticky && (iteration > 0 || skills.resumed))) return null
  const prompt = latestPrompt(loop)
  yield* here((ctx) => (ctx.charge(skills.entries.length * (1 + (prompt.length >> 6)), prompt.length), null))
  const candidates = skills.entries.map((entry) => scored(entry, prompt, skills)).filter((each) => each !== null)
  candidates.sort((a, b) => b.score - a.score)
  yield* note(loop, 'skill_matched', '', {
    strategy: skills.strategy,
    iteration,
    reassess: iteration > 0,
    candidates: new HarnList(
      candidates.map(({ entry, score, reason }) => HarnDict.of({ name: nameOf(entry), score: new HarnFloat(score), reason })),
    ),
    working_files: new HarnList([...skills.workingFiles]),
  })
  const chosen = candidates.slice(0, skills.most)
  const stays = (present: Present): boolean =>
    present.loaded || chosen.some(({ entry }) => nameOf(entry) === nameOf(present.entry))
  for (const { entry } of skills.present.filter((each) => !stays(each))) {
    const name = nameOf(entry)
    yield* note(loop, 'skill_deactivated', name, { name, iteration })
    yield* emit(loop, { type: 'skill_deactivated', skill_name: name, iteration })
    yield* runHook(entry, 'on_deactivate')
  }
  const before = skills.present
  skills.present = before.filter(stays)
  for (const candidate of chosen) {
    if (before.some(({ entry }) => nameOf(entry) === nameOf(candidate.entry))) continue
    skills.present.push({ entry: candidate.entry, text: described(candidate.entry, 'prompt'), loaded: false })
    yield* activate(loop, candidate, iteration)
  }
  return yield* remember(loop, skills)
}

function* activate(loop: Loop, { entry, score, reason }: Candidate, iteration: number): Script<null> {
  const name = nameOf(entry)
  const allowed = new HarnList(textsAt(entry, 'allowed_tools'))
  yield* note(loop, 'skill_activated', name, {
    name,
    description: described(entry, 'description'),
    iteration,
    score: new HarnFloat(score),
    reason,
    allowed_tools: allowed,
  })
  yield* emit(loop, { type: 'skill_activated', skill_name: name, iteration, reason })
  if (allowed.length > 0) {
    yield* note(loop, 'skill_scope_tools', name, { name, allowed_tools: allowed })
    yield* emit(loop, { type: 'skill_scope_tools', skill_name: name, allowed_tools: allowed })
  }
  for (const server of [...textsAt(entry, 'mcp'), ...textsAt(entry, 'requires_mcp')]) {
    const callee = yield* here((ctx) => ctx.builtinValue('mcp_ensure_active'))
    const client = yield* tryCallBack(callee, server)
    if (client instanceof Fault) yield* note(loop, 'skill_mcp_bind_failed', name, { skill: name, server, error: client.text })
    else yield* note(loop, 'skill_mcp_bound', name, { skill: name, server })
  }
  return yield* runHook(entry, 'on_activate')
}

/** A later loop on the session begins with the skills of this one. */
function* remember(loop: Loop, skills: LoopSkills): Script<null> {
  if (!loop.stored) return null
  return yield* here((ctx) => {
    const session = touch(ctx, loop.sessionId)
    if (session !== undefined) session.activeSkills = skills.present.map(({ entry }) => nameOf(entry))
    return null
  })
}

// ------------------------------------------------------------------------------------------------------- prompt and scope

/** What the skills in sight say, to follow the system prompt; empty when there are none. */
export function skillBlock(skills: LoopSkills | null): string {
  if (skills === null || skills.present.length === 0) return ''
  const parts = skills.present.map(({ entry, text }) => {
    const description = described(entry, 'description')
    const when = described(entry, 'when_to_use')
    const allowed = textsAt(entry, 'allowed_tools')
    const lines = [
      `### ${nameOf(entry)}`,
      ...(description === '' ? [] : [description]),
      ...(when === '' ? [] : [`When to use: ${when}`]),
      ...(allowed.length === 0 ? [] : [`Scoped tools: ${allowed.join(', ')}`]),
    ]
    return `\n${lines.join('\n')}\n${text.trim() === '' ? '' : `\n${text.trim()}\n`}`
  })
  return `\n\n## Active skills\n${parts.join('')}`
}

const TAG = 'namespace:'

/** What the present skills narrow the tools to; null when they do not. */
export function scopeOf(skills: LoopSkills): ReadonlySet<string> | null {
  const allowed = new Set(skills.present.flatMap(({ entry }) => textsAt(entry, 'allowed_tools')))
  return allowed.size === 0 || allowed.has('*') ? null : allowed
}

/** The tools that the skills in sight leave: all, unless one of them names some. */
export function inScope(skills: LoopSkills | null, tools: readonly HarnDict[]): readonly HarnDict[] {
  const allowed = skills === null ? null : scopeOf(skills)
  if (allowed === null) return tools
  return tools.filter((tool) => {
    const name = described(tool, 'name')
    return name.startsWith('__harn_') || allowed.has(name) || allowed.has(`${TAG}${described(tool, 'namespace')}`)
  })
}

const DESCRIPTION =
  "Promote a skill's full body into the next turn's context. Accepts the skill id returned by the always-on catalog."
const PARAMETERS = {
  name: { type: 'string', description: 'Skill id from the always-on catalog.' },
  require_signature: {
    type: 'boolean',
    description: 'When true, fail unless the skill has a valid signature from a trusted signer.',
  },
}

const properties = (): HarnDict =>
  HarnDict.of({
    name: HarnDict.of(PARAMETERS.name),
    require_signature: HarnDict.of(PARAMETERS.require_signature),
  })

/** The tool as the contract tells of it. */
export function loadSkillEntry(): HarnDict {
  const parameters = properties()
  parameters.set('require_signature', HarnDict.of({ ...PARAMETERS.require_signature, required: false }))
  return HarnDict.of({ name: LOAD_SKILL, description: DESCRIPTION, parameters })
}

/** The tool as it goes with a request. */
export function loadSkillNative(): HarnDict {
  const parameters = HarnDict.of({
    type: 'object',
    properties: properties(),
    required: new HarnList(['name']),
    additionalProperties: false,
  })
  return HarnDict.of({
    type: 'function',
    function: HarnDict.of({ name: LOAD_SKILL, description: DESCRIPTION, parameters }),
  })
}

// ----------------------------------------------------------------------------------------------------------- the load tool

type Loaded = { readonly text: string } | { readonly error: string; readonly message: string }

/** A call of `load_skill`, which the runtime answers: policies have no say in it. */
export function* loadSkillCall(loop: Loop, call: ToolCall): Script<Dispatched> {
  const given = call.arguments.get('name') ?? null
  const wanted = given === null ? '' : display(given)
  const events: HarnDict[] = []
  const answer = yield* load(loop, call, wanted, events)
  const good = 'text' in answer
  const text = good ? answer.text : sortedJson(HarnDict.of({ error: answer.error, message: answer.message, skill: wanted }), 2)
  const facts = HarnDict.of({ tool_name: call.name, tool_use_id: call.id, rejected: false })
  events.push(yield* makeEvent('tool_execution', 'tool', 'internal', text, facts))
  return { name: call.name, status: good ? 'ok' : 'error', text, attempted: true, skipped: false, events }
}

function* load(loop: Loop, call: ToolCall, wanted: string, events: HarnDict[]): Script<Loaded> {
  const refuse = (error: string, message: string): Loaded => ({ error, message })
  const signature = call.arguments.get('require_signature') ?? null
  if (wanted.trim() === '') return refuse('invalid_arguments', 'load_skill requires a non-empty `name` argument')
  if (signature !== null && typeof signature !== 'boolean')
    return refuse('invalid_arguments', 'load_skill `require_signature` must be a boolean')
  const { skills } = loop
  if (skills === null)
    return refuse('skill_registry_unavailable', 'load_skill requires agent_loop to receive a `skills:` registry')
  const byId = skills.entries.filter((entry) => skillId(entry) === wanted)
  const found = byId.length > 0 ? byId : skills.entries.filter((entry) => nameOf(entry) === wanted)
  const entry = found[0]
  if (entry === undefined) return refuse('skill_not_found', `skill '${wanted}' not found`)
  if (found.length > 1)
    return refuse('skill_not_found', `skill '${wanted}' is ambiguous; use the fully qualified id from the catalog`)
  const id = skillId(entry)
  const provenance = entry.get('provenance')
  const facts = provenance instanceof HarnDict ? provenance : new HarnDict()
  const signed = facts.get('signed') === true
  const trusted = facts.get('trusted') === true
  const metadata = HarnDict.of({ skill_id: id, signer_fingerprint: facts.get('signer_fingerprint') ?? null, signed, trusted })
  events.push(yield* makeEvent('skill.loaded', 'system', 'internal', id, metadata))
  if (entry.get('disable_model_invocation') === true || entry.get('disable-model-invocation') === true)
    return refuse('skill_model_invocation_disabled', `skill '${id}' is gated to explicit user invocation`)
  const mustBeSigned =
    signature === true ||
    entry.get('require_signature') === true ||
    listAt(entry, 'trusted_signers').length > 0 ||
    (yield* signaturesRequired())
  // A provenance says itself what is wrong with the signature.
  const problem = textAt(facts, 'error')
  if (mustBeSigned && !signed) return refuse('UnsignedSkillError', problem ?? `skill '${id}' is missing a valid signature`)
  if (mustBeSigned && !trusted) {
    const signer = facts.get('signer_fingerprint') ?? 'unknown'
    return refuse('UntrustedSignerError', problem ?? `skill '${id}' was signed by untrusted signer ${display(signer)}`)
  }
  const own = described(entry, 'body') !== '' || described(entry, 'prompt') !== ''
  const whole = own ? entry : yield* wholeSkill(entry)
  const body = described(whole, 'body') === '' ? described(whole, 'prompt') : described(whole, 'body')
  if (body === '') return refuse('skill_not_found', `skill '${id}' not found`)
  const directory = directoryOf(whole)
  const text = yield* substitute(body, { args: [], directory, session: loop.sessionId })
  const at = skills.present.findIndex((each) => nameOf(each.entry) === nameOf(entry))
  if (at < 0) skills.present.push({ entry, text, loaded: true })
  else skills.present[at] = { entry, text, loaded: true }
  return { text }
}

function* signaturesRequired(): Script<boolean> {
  const value = yield* tryAsk({ kind: 'process.info', args: { op: 'env', name: 'HARN_REQUIRE_SIGNED_SKILLS' }, own: true })
  return typeof value === 'string' && ['1', 'true', 'yes'].includes(value.toLowerCase())
}
