// Artifacts: pieces of context with kind, text, priority and lineage, in one shape; shorthands for the
// kinds that agents make, selection within limits, and their rendering for a prompt.

import {
  HarnDict,
  HarnFloat,
  HarnList,
  builtin,
  display,
  failRuntime,
  runHere,
  payInSlice,
  isInt,
  lookup,
  makeScripts,
  stringifyJson,
  toUtf8,
  callLibrary,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Script, Value } from '@bridle/vm/families'
import { assembleContext } from './assemble-context.js'
import { readSecondsText, makeTimeOrderedId } from '../../library/time/identity.js'
import { diffLines } from '../../library/formats/line-diff.js'
import { readRecord, recordData } from '../../library/formats/record-shapes.js'
import type { RecordShape } from '../../library/formats/record-shapes.js'

const TEXT = { type: 'text' } as const

const ARTIFACT: RecordShape = {
  id: TEXT,
  kind: TEXT,
  title: TEXT,
  text: TEXT,
  data: { type: 'any' },
  source: TEXT,
  created_at: TEXT,
  freshness: TEXT,
  priority: { type: 'int' },
  lineage: { type: 'texts' },
  relevance: { type: 'number' },
  estimated_tokens: { type: 'int' },
  stage: TEXT,
  metadata: { type: 'dict' },
}

const ALIASES: Readonly<Record<string, string>> = lookup({
  '': 'artifact',
  file: 'workspace_file',
  transcript: 'transcript_summary',
  verification: 'verification_result',
  test: 'test_result',
})

const PRIORITIES: readonly (readonly [priority: number, kinds: readonly string[]])[] = [
  [100, ['verification_result', 'test_result']],
  [95, ['verification_bundle']],
  [92, ['handoff']],
  [90, ['diff', 'git_diff', 'patch', 'patch_set', 'patch_proposal', 'diff_review', 'review_decision', 'apply_intent']],
  [80, ['plan']],
  [70, ['workspace_file', 'workspace_snapshot', 'editor_selection', 'resource']],
  [60, ['summary', 'transcript_summary']],
  [50, ['command_result']],
]

export function estimateTokens(text: string): number {
  return Math.ceil(toUtf8(text).length / 4)
}

function findDefaultPriority(kind: string): number {
  return PRIORITIES.find(([, kinds]) => kinds.includes(kind))?.[0] ?? 40
}

/** The payload as an artifact in its one shape. */
export function* normalizeArtifact(payload: Value): Script<HarnDict> {
  const record = readRecord(recordData(payload), 'orchestration', 'ArtifactRecord', ARTIFACT)
  const given = display(record.get('kind') ?? '')
  const kind = Object.hasOwn(ALIASES, given) ? ALIASES[given]! : given
  const text = record.get('text') ?? null
  const result = record.copy()
  result.set('_type', 'artifact')
  result.set('kind', kind)
  result.set('id', record.get('id') ?? `artifact_${yield* makeTimeOrderedId()}`)
  result.set('created_at', record.get('created_at') ?? (yield* readSecondsText()))
  result.set('priority', record.get('priority') ?? findDefaultPriority(kind))
  result.set('estimated_tokens', record.get('estimated_tokens') ?? (text === null ? null : estimateTokens(display(text))))
  if (kind === 'handoff') {
    const handoff = yield* callLibrary('agents/transcripts/handoff', 'complete_handoff', record.get('data') ?? null)
    if (handoff === null) return failRuntime('artifact handoff data must contain a valid handoff payload')
    result.set('data', handoff)
  }
  return result
}

/** Artifacts that are read in one go, and what reading one takes. */
const AT_ONCE = 128
const ARTIFACT_UNITS = 30

export function* normalizeArtifacts(given: Value): Script<HarnDict[]> {
  if (given === null) return []
  if (!(given instanceof HarnList)) return failRuntime('expected artifact list or nil')
  const artifacts: HarnDict[] = []
  for (const item of given.view()) {
    artifacts.push(yield* normalizeArtifact(item))
    if (artifacts.length % AT_ONCE === 0) yield* payInSlice(AT_ONCE * ARTIFACT_UNITS)
  }
  return artifacts
}

// ------------------------------------------------------------------------------------------------------------ shorthands

interface Draft {
  readonly kind: string
  readonly title: string | null
  readonly text: string | null
  readonly data: Value
  readonly metadata?: HarnDict
  readonly lineage?: readonly Value[]
  readonly more?: Readonly<Record<string, Value>>
}

function toDict(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : new HarnDict()
}

function toText(value: Value): string {
  const data = recordData(value)
  return typeof data === 'string' ? data : stringifyJson(data, { interchange: true })
}

function makeSummary(summary: Value | undefined): string | null {
  const text = (summary ?? null) === null ? '' : toText(summary!)
  return text === '' ? null : text
}

/** A draft with what the script adds to it; metadata of both are kept. */
function* finishDraft(draft: Draft, extra: Value): Script<HarnDict> {
  if (extra !== null && !(extra instanceof HarnDict)) return failRuntime('artifact helper options must be a dict or nil')
  const more = toDict(extra)
  const payload = HarnDict.of({
    kind: draft.kind,
    title: draft.title,
    text: draft.text,
    data: draft.data,
    lineage: new HarnList([...(draft.lineage ?? [])]),
    ...draft.more,
  }).merged(more)
  payload.set('metadata', (draft.metadata ?? new HarnDict()).merged(toDict(more.get('metadata'))))
  return yield* normalizeArtifact(payload)
}

interface Target {
  /** How titles name it: by its own title, else its id. */
  readonly name: string
  readonly facts: HarnDict
  /** The target's own lineage and the target. */
  readonly lineage: readonly Value[]
}

/** Facts about the artifact that another one is about. */
function* readTarget(value: Value): Script<Target> {
  const target = yield* normalizeArtifact(value)
  const id = target.get('id') ?? null
  const facts = HarnDict.of({ target_artifact_id: id, target_kind: target.get('kind') ?? null })
  const name = display(target.get('title') ?? id)
  return { name, facts, lineage: [...(target.get('lineage') as HarnList).view(), id] }
}

const SHORTHANDS: Readonly<Record<string, (...args: Value[]) => Script<HarnDict>>> = {
  *artifact_apply_intent(target, intent, extra) {
    const { name, facts, lineage } = yield* readTarget(target!)
    return yield* finishDraft(
      {
        kind: 'apply_intent',
        title: `${display(intent!)} ${name}`,
        text: display(intent!),
        data: facts.with('intent', intent!),
        metadata: facts,
        lineage,
      },
      extra ?? null,
    )
  },
  *artifact_command_result(command, output, extra) {
    const name = display(command!)
    return yield* finishDraft(
      {
        kind: 'command_result',
        title: name,
        text: toText(output!),
        data: HarnDict.of({ command: name, output: recordData(output!) }),
        metadata: HarnDict.of({ command: name }),
      },
      extra ?? null,
    )
  },
  *artifact_derive(parent, kind, extra) {
    const from = yield* normalizeArtifact(parent!)
    const id = from.get('id') ?? null
    const text = toDict(extra).get('text') ?? null
    const child = from.copy()
    child.set('id', `${display(id)}_derived`)
    child.set('kind', (kind ?? null) === null ? '' : display(kind!))
    child.set('lineage', new HarnList([...(from.get('lineage') as HarnList).view(), id]))
    if (typeof text === 'string') child.set('text', text)
    return yield* normalizeArtifact(child)
  },
  *artifact_diff(path, before, after, extra) {
    const [name, old, fresh] = [toText(path!), toText(before!), toText(after!)]
    yield* runHere((ctx) => ctx.charge((old.length + fresh.length) >> 2))
    const text = `--- a/${name}\n+++ b/${name}\n${diffLines(old, fresh)}\n`
    return yield* finishDraft(
      {
        kind: 'diff',
        title: `diff ${name}`,
        text,
        data: HarnDict.of({ path: name, before: old, after: fresh }),
        metadata: HarnDict.of({ path: name }),
      },
      extra ?? null,
    )
  },
  *artifact_diff_review(target, summary, extra) {
    const { name, facts, lineage } = yield* readTarget(target!)
    return yield* finishDraft(
      {
        kind: 'diff_review',
        title: `review ${name}`,
        text: makeSummary(summary),
        data: facts,
        metadata: facts,
        lineage,
      },
      extra ?? null,
    )
  },
  *artifact_editor_selection(path, text, extra) {
    const [name, body] = [display(path!), toText(text!)]
    return yield* finishDraft(
      {
        kind: 'editor_selection',
        title: `selection ${name}`,
        text: body,
        data: HarnDict.of({ path: name, text: body }),
        metadata: HarnDict.of({ path: name }),
      },
      extra ?? null,
    )
  },
  *artifact_git_diff(diff, extra) {
    return yield* finishDraft(
      { kind: 'git_diff', title: 'git diff', text: toText(diff!), data: HarnDict.of({ diff: toText(diff!) }) },
      extra ?? null,
    )
  },
  *artifact_patch_proposal(target, patch, extra) {
    const { name, facts, lineage } = yield* readTarget(target!)
    return yield* finishDraft(
      {
        kind: 'patch_proposal',
        title: `patch for ${name}`,
        text: toText(patch!),
        data: facts.with('patch', recordData(patch!)),
        metadata: facts,
        lineage,
      },
      extra ?? null,
    )
  },
  *artifact_review_decision(target, decision, extra) {
    const { name, facts, lineage } = yield* readTarget(target!)
    const withDecision = facts.with('decision', display(decision!))
    return yield* finishDraft(
      {
        kind: 'review_decision',
        title: `${display(decision!)} ${name}`,
        text: display(decision!),
        data: withDecision,
        metadata: withDecision,
        lineage,
      },
      extra ?? null,
    )
  },
  *artifact_test_result(title, text, extra) {
    return yield* finishDraft(
      {
        kind: 'test_result',
        title: display(title!),
        text: toText(text!),
        data: HarnDict.of({ title: title!, text: toText(text!) }),
      },
      extra ?? null,
    )
  },
  *artifact_verification_bundle(title, checks, extra) {
    return yield* finishDraft(
      {
        kind: 'verification_bundle',
        title: display(title!),
        text: toText(checks!),
        data: HarnDict.of({ title: title!, checks: recordData(checks!) }),
      },
      extra ?? null,
    )
  },
  *artifact_verification_result(title, text, extra) {
    return yield* finishDraft(
      {
        kind: 'verification_result',
        title: display(title!),
        text: toText(text!),
        data: HarnDict.of({ title: title!, text: toText(text!) }),
      },
      extra ?? null,
    )
  },
  *artifact_workspace_file(path, content, extra) {
    const [name, body] = [display(path!), toText(content!)]
    return yield* finishDraft(
      {
        kind: 'workspace_file',
        title: name,
        text: body,
        data: HarnDict.of({ path: name, content: body }),
        metadata: HarnDict.of({ path: name }),
      },
      extra ?? null,
    )
  },
  *artifact_workspace_snapshot(paths, summary, extra) {
    const facts = HarnDict.of({ paths: recordData(paths!) })
    return yield* finishDraft(
      {
        kind: 'workspace_snapshot',
        title: 'workspace snapshot',
        text: makeSummary(summary),
        data: facts,
        metadata: facts,
      },
      extra ?? null,
    )
  },
}

// ------------------------------------------------------------------------------------------------------------- selection

function readNumber(record: HarnDict, name: string): number {
  const value = record.get(name) ?? null
  return value instanceof HarnFloat ? value.v : isInt(value) ? Number(value) : 0
}

function listTexts(policy: HarnDict, name: string): readonly string[] {
  const list = policy.get(name)
  return list instanceof HarnList ? list.view().map((item) => display(item)) : []
}

/** Artifacts that a policy lets through, the most important first. */
function selectArtifacts(artifacts: readonly HarnDict[], policy: HarnDict): HarnDict[] {
  const included = listTexts(policy, 'include_kinds')
  const excluded = listTexts(policy, 'exclude_kinds')
  const first = listTexts(policy, 'prioritize_kinds')
  const readKind = (artifact: HarnDict): string => display(artifact.get('kind') ?? '')
  const most = policy.get('max_artifacts') ?? null
  const budget = policy.get('max_tokens') ?? null
  const candidates = artifacts
    .filter(
      (artifact) => (included.length === 0 || included.includes(readKind(artifact))) && !excluded.includes(readKind(artifact)),
    )
    .sort(
      (a, b) =>
        Number(first.includes(readKind(b))) - Number(first.includes(readKind(a))) ||
        readNumber(b, 'priority') - readNumber(a, 'priority') ||
        readNumber(b, 'relevance') - readNumber(a, 'relevance'),
    )
  const chosen: HarnDict[] = []
  let tokens = 0
  for (const artifact of candidates) {
    if (isInt(most) && chosen.length >= Number(most)) break
    const cost = readNumber(artifact, 'estimated_tokens')
    if (isInt(budget) && tokens + cost > Number(budget)) continue
    tokens += cost
    chosen.push(artifact)
  }
  return chosen
}

function readTitle(artifact: HarnDict): string {
  return display(artifact.get('title') ?? `${display(artifact.get('kind') ?? '')} ${display(artifact.get('id') ?? '')}`)
}

function renderArtifact(artifact: HarnDict, asJson: boolean): string {
  const text = artifact.get('text') ?? null
  const body = text === null ? toText(artifact.get('data') ?? null) : display(text)
  if (asJson) {
    const record = HarnDict.of({ title: readTitle(artifact), text: body })
    for (const name of ['id', 'kind', 'source', 'freshness', 'priority']) record.set(name, artifact.get(name) ?? null)
    return stringifyJson(record)
  }
  return [
    '<artifact>',
    `<title>${readTitle(artifact)}</title>`,
    `<kind>${display(artifact.get('kind') ?? '')}</kind>`,
    `<source>${display(artifact.get('source') ?? 'unknown')}</source>`,
    `<freshness>${display(artifact.get('freshness') ?? 'normal')}</freshness>`,
    `<priority>${readNumber(artifact, 'priority')}</priority>`,
    '<body>',
    body,
    '</body>',
    '</artifact>',
  ].join('\n')
}

/** The artifacts that a policy lets through, as records and as text for a prompt. */
export function* buildContext(
  artifacts: Value,
  policy: Value,
): Script<{ readonly chosen: readonly HarnDict[]; readonly text: string }> {
  const rules = toDict(policy)
  const chosen = selectArtifacts(yield* normalizeArtifacts(artifacts), rules)
  const asJson = rules.get('render') === 'json'
  return { chosen, text: chosen.map((artifact) => renderArtifact(artifact, asJson)).join('\n\n') }
}

const machine = makeScripts('artifacts.script', {
  ...SHORTHANDS,
  *make(payload) {
    return yield* normalizeArtifact(payload!)
  },
  *select(artifacts, policy) {
    return new HarnList(selectArtifacts(yield* normalizeArtifacts(artifacts ?? null), toDict(policy)))
  },
  *context(artifacts, policy) {
    return (yield* buildContext(artifacts ?? null, policy ?? null)).text
  },
  *assemble(options) {
    if (!(options instanceof HarnDict))
      return failRuntime('assemble_context: first argument must be an options dict with `artifacts`')
    return yield* assembleContext(options, (given) => normalizeArtifacts(given))
  },
})

const EFFECTS = ['clock.now', 'random.bytes']

function defineShorthand(signature: string, required: number, doc: string): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  const parameters = [...signature.matchAll(/\b(\w+)\??: (\w+)/g)].slice(0, required)
  return builtin(`${signature} -> dict`, { doc, effects: EFFECTS }, (ctx, ...args) => {
    const isMissing = (at: number, type: string): boolean =>
      at >= ctx.argc || (args[at] === '' && (type === 'string' || name === 'artifact_patch_proposal'))
    const missing = parameters.find(([, , type], at) => isMissing(at, type!))?.[1]
    if (missing === undefined) return machine.start(ctx, name, ...args)
    return ctx.runtime(`${name}: missing ${missing === 'target' ? 'target artifact' : missing}`)
  })
}

export const artifactsFamily: BuiltinFamily = {
  name: 'artifacts',
  frames: [machine.frame],
  builtins: [
    builtin('artifact(payload: dict) -> dict', { doc: 'An artifact in its one shape.', effects: EFFECTS }, (ctx, payload) =>
      ctx.argc === 0 ? ctx.runtime('artifact: missing artifact payload') : machine.start(ctx, 'make', payload!),
    ),
    defineShorthand(
      'artifact_apply_intent(target: any, intent: string, extra?: dict)',
      2,
      'What is to be done with an artifact.',
    ),
    defineShorthand('artifact_command_result(command: string, output: any, extra?: dict)', 2, 'What a command gave.'),
    defineShorthand('artifact_derive(parent: dict, kind?: string, extra?: dict)', 1, 'An artifact made from another.'),
    defineShorthand(
      'artifact_diff(path: string, before: string, after: string, extra?: dict)',
      3,
      'The difference between two texts of a file.',
    ),
    defineShorthand('artifact_diff_review(target: any, summary?: string, extra?: dict)', 1, 'A review of a change.'),
    defineShorthand('artifact_editor_selection(path: string, text: string, extra?: dict)', 2, 'What is selected in an editor.'),
    defineShorthand('artifact_git_diff(diff_text: string, extra?: dict)', 1, 'A diff as git prints it.'),
    defineShorthand('artifact_patch_proposal(target: any, patch: any, extra?: dict)', 2, 'A patch to an artifact.'),
    defineShorthand('artifact_review_decision(target: any, decision: string, extra?: dict)', 2, 'What a reviewer decided.'),
    defineShorthand('artifact_test_result(title: string, text: string, extra?: dict)', 2, 'How tests went.'),
    defineShorthand('artifact_verification_bundle(title: string, checks: list, extra?: dict)', 2, 'Several checks.'),
    defineShorthand('artifact_verification_result(title: string, text: string, extra?: dict)', 2, 'How a check went.'),
    defineShorthand('artifact_workspace_file(path: string, content: string, extra?: dict)', 2, 'A file of the workspace.'),
    defineShorthand(
      'artifact_workspace_snapshot(paths: list, summary?: string, extra?: dict)',
      1,
      'Which files the workspace has.',
    ),
    builtin(
      'artifact_select(artifacts: list, policy?: dict) -> list',
      { doc: 'The artifacts that a policy lets through, the most important first.', effects: EFFECTS },
      (ctx, artifacts, policy) => machine.start(ctx, 'select', artifacts ?? null, policy ?? null),
    ),
    builtin(
      'artifact_context(artifacts: list, policy?: dict) -> string',
      { doc: 'Selected artifacts as text for a prompt.', effects: EFFECTS },
      (ctx, artifacts, policy) => machine.start(ctx, 'context', artifacts ?? null, policy ?? null),
    ),
    builtin(
      'assemble_context(options: dict) -> dict',
      { doc: 'Chunks of artifacts that fit a budget, ranked, with the reasons.', effects: [...EFFECTS, 'callback'] },
      (ctx, options) => machine.start(ctx, 'assemble', options ?? null),
    ),
  ],
}
