// Artifacts: pieces of context with kind, text, priority and lineage, in one shape, selection within limits, and their rendering for a
// prompt. artifacts.harn is what the builtins do.

import {
  builtinTaking,
  HarnDict,
  HarnFloat,
  HarnList,
  builtin,
  display,
  isInt,
  lookup,
  stringifyJson,
  toUtf8,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value, Fit } from '@bridle/vm/families'
import { contextPrimitives } from './assemble-context.js'
import { listDicts } from './shape.js'
import { diffLines } from '../../library/formats/line-diff.js'
import { readRecord, recordData } from '../../library/formats/record-shapes.js'
import type { RecordShape } from '../../library/formats/record-shapes.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'

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

function estimateTokens(text: string): number {
  return Math.ceil(toUtf8(text).length / 4)
}

function findDefaultPriority(kind: string): number {
  return PRIORITIES.find(([, kinds]) => kinds.includes(kind))?.[0] ?? 40
}

/** Of reading one artifact, beside its size, for which the builtin has paid. */
const ARTIFACT_UNITS = 30

/** The payload as an artifact in its one shape; what it does not say of id and time stays nil. */
function readArtifact(payload: Value): HarnDict {
  const record = readRecord(recordData(payload), 'orchestration', 'ArtifactRecord', ARTIFACT)
  const given = display(record.get('kind') ?? '')
  const kind = Object.hasOwn(ALIASES, given) ? ALIASES[given]! : given
  const text = record.get('text') ?? null
  record.set('_type', 'artifact')
  record.set('kind', kind)
  record.set('priority', record.get('priority') ?? findDefaultPriority(kind))
  record.set('estimated_tokens', record.get('estimated_tokens') ?? (text === null ? null : estimateTokens(display(text))))
  return record
}

function toDict(value: Value | undefined): HarnDict {
  return value instanceof HarnDict ? value : new HarnDict()
}

function toText(value: Value): string {
  const data = recordData(value)
  return typeof data === 'string' ? data : stringifyJson(data, { interchange: true })
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

const FRESHNESS: Readonly<Record<string, number>> = lookup({ fresh: 3, live: 3, recent: 2, stale: 0 })

function rankFreshness(artifact: HarnDict): number {
  const freshness = display(artifact.get('freshness') ?? '')
  return Object.hasOwn(FRESHNESS, freshness) ? FRESHNESS[freshness]! : 1
}

/** When an artifact was made: records have whole seconds, or an id whose first 48 bits are milliseconds. */
function readCreation(artifact: HarnDict): number {
  const text = display(artifact.get('created_at') ?? '')
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1000
  return /^[\da-f]{8}-[\da-f]{4}-7/.test(text) ? Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16) : 0
}

function readTokens(artifact: HarnDict): number {
  return (artifact.get('estimated_tokens') ?? null) === null ? Number.MAX_SAFE_INTEGER : readNumber(artifact, 'estimated_tokens')
}

function readRelevance(artifact: HarnDict): number {
  return (artifact.get('relevance') ?? null) === null ? -Infinity : readNumber(artifact, 'relevance')
}

/** Artifacts that a policy lets through, the most important first. The policy is a record (agents/workflows/shapes.ts). */
function selectArtifacts(artifacts: readonly HarnDict[], policy: HarnDict): HarnDict[] {
  const included = new Set(listTexts(policy, 'include_kinds'))
  const excluded = new Set(listTexts(policy, 'exclude_kinds'))
  const first = new Set(listTexts(policy, 'prioritize_kinds'))
  const pinned = new Set(listTexts(policy, 'pinned_ids'))
  const stages = new Set(listTexts(policy, 'include_stages'))
  const readText = (artifact: HarnDict, name: string): string => display(artifact.get(name) ?? '')
  const most = policy.get('max_artifacts') ?? null
  const budget = policy.get('max_tokens') ?? null
  const left = isInt(budget) ? Math.max(0, Number(budget) - readNumber(policy, 'reserve_tokens')) : null
  const prefersFresh = policy.get('prefer_fresh') === true
  const prefersRecent = policy.get('prefer_recent') === true
  const isWanted = (artifact: HarnDict): boolean => {
    const kind = readText(artifact, 'kind')
    const isKind = (included.size === 0 || included.has(kind)) && !excluded.has(kind)
    return isKind && (stages.size === 0 || stages.has(readText(artifact, 'stage')))
  }
  const candidates = artifacts
    .filter(isWanted)
    .sort(
      (a, b) =>
        Number(pinned.has(readText(b, 'id'))) - Number(pinned.has(readText(a, 'id'))) ||
        Number(first.has(readText(b, 'kind'))) - Number(first.has(readText(a, 'kind'))) ||
        readNumber(b, 'priority') - readNumber(a, 'priority') ||
        (prefersFresh ? rankFreshness(b) - rankFreshness(a) : 0) ||
        (prefersRecent ? readCreation(b) - readCreation(a) : 0) ||
        compareNumbers(readRelevance(b), readRelevance(a)) ||
        readTokens(a) - readTokens(b),
    )
  const chosen: HarnDict[] = []
  let tokens = 0
  for (const artifact of candidates) {
    if (isInt(most) && chosen.length >= Number(most)) break
    const cost = readNumber(artifact, 'estimated_tokens')
    if (left !== null && tokens + cost > left) continue
    tokens += cost
    chosen.push(artifact)
  }
  return chosen
}

/** Two infinities have no difference. */
function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1
}

function readTitle(artifact: HarnDict): string {
  return display(artifact.get('title') ?? `${display(artifact.get('kind') ?? '')} ${display(artifact.get('id') ?? '')}`)
}

function escapeMarks(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function renderArtifact(artifact: HarnDict, asJson: boolean): string {
  const text = artifact.get('text') ?? null
  const data = artifact.get('data') ?? null
  const body = text !== null ? display(text) : data === null ? '' : toText(data)
  if (asJson) {
    const record = HarnDict.of({ title: readTitle(artifact), text: body })
    for (const name of ['id', 'kind', 'source', 'freshness', 'priority']) record.set(name, artifact.get(name) ?? null)
    return stringifyJson(record)
  }
  return [
    '<artifact>',
    `<title>${escapeMarks(readTitle(artifact))}</title>`,
    `<kind>${escapeMarks(display(artifact.get('kind') ?? ''))}</kind>`,
    `<source>${escapeMarks(display(artifact.get('source') ?? 'unknown'))}</source>`,
    `<freshness>${escapeMarks(display(artifact.get('freshness') ?? 'normal'))}</freshness>`,
    `<priority>${readNumber(artifact, 'priority')}</priority>`,
    '<body>',
    body,
    '</body>',
    '</artifact>',
  ].join('\n')
}

// ---------------------------------------------------------------------------------------------------------------- builtins

const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__artifact_record(payload: any) -> dict',
    'The payload as an artifact; what it does not say of id and time is nil.',
    (ctx, payload) => {
      ctx.charge(ARTIFACT_UNITS)
      return readArtifact(payload!)
    },
  ),
  builtin('__record_data(value: any) -> any', { doc: 'A value as records keep it.' }, (_ctx, value) => recordData(value!)),
  builtin('__record_text(value: any) -> string', { doc: 'The text of a value in a record: a string, or JSON.' }, (_ctx, value) =>
    toText(value!),
  ),
  builtin('__escape_marks(text: string) -> string', { doc: 'A text in which `&`, `<` and `>` are entities.' }, (_ctx, text) =>
    escapeMarks(text as string),
  ),
  builtin('__line_diff(before: string, after: string) -> string', { doc: 'Two texts, line by line.' }, (_ctx, before, after) =>
    diffLines(before as string, after as string),
  ),
  definePrimitive(
    '__select_artifacts(artifacts: list, policy: dict) -> list',
    'The artifacts that a policy lets through, the most important first.',
    (ctx, artifacts, policy) => {
      const given = listDicts(artifacts)
      ctx.charge(given.length * 4)
      return new HarnList(selectArtifacts(given, toDict(policy)))
    },
  ),
  builtin(
    '__render_artifact(artifact: dict, is_json: bool) -> string',
    { doc: 'An artifact as text for a prompt.' },
    (_ctx, artifact, isJson) => renderArtifact(artifact as HarnDict, isJson === true),
  ),
  ...contextPrimitives,
]

const EFFECTS = ['clock.now', 'random.bytes']

function runHarn(ctx: Context, name: string, args: readonly Value[]): Result {
  return ctx.library({ module: 'agents/transcripts/artifacts', function: name, output: 'drop' }, args)
}

function defineShorthand(signature: string, required: number, doc: string): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  const parameters = [...signature.matchAll(/\b(\w+)\??: (\w+)/g)].slice(0, required)
  const fits = Object.fromEntries(
    parameters.map(([, parameter = '', type]): [string, Fit] => [
      parameter,
      (value, { isPassed }) =>
        !isPassed || (value === '' && (type === 'string' || name === 'artifact_patch_proposal'))
          ? `${name}: missing ${parameter === 'target' ? 'target artifact' : parameter}`
          : null,
    ]),
  )
  return builtinTaking(`${signature} -> dict`, { doc, effects: EFFECTS }, { raise: 'runtime', fits }, (ctx, ...args: Value[]) =>
    runHarn(ctx, name, args),
  )
}

export const artifactsFamily: BuiltinFamily = {
  name: 'artifacts',
  modules: findHarnModule,
  primitives,
  builtins: [
    builtinTaking(
      'artifact(payload: dict) -> dict',
      { doc: 'An artifact in its one shape.', effects: EFFECTS },
      { raise: 'runtime', fewer: '{f}: missing artifact payload' },
      (ctx, payload) => runHarn(ctx, 'make_artifact', [payload]),
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
      (ctx, artifacts, policy) => runHarn(ctx, 'select_artifacts', [artifacts!, policy!]),
    ),
    builtin(
      'select_artifacts_adaptive(artifacts: list, policy?: dict) -> list as ?',
      { doc: 'The same, without repeats, outdated evidence and overlong texts.', effects: EFFECTS },
      (ctx, artifacts, policy) => runHarn(ctx, 'select_artifacts_adaptive', [artifacts!, policy!]),
    ),
    builtin(
      'artifact_context(artifacts: list, policy?: dict) -> string',
      { doc: 'Selected artifacts as text for a prompt.', effects: EFFECTS },
      (ctx, artifacts, policy) => runHarn(ctx, 'artifact_context', [artifacts!, policy!]),
    ),
    builtin(
      'assemble_context(options: dict) -> dict',
      { doc: 'Chunks of artifacts that fit a budget, ranked, with the reasons.', effects: [...EFFECTS, 'callback'] },
      (ctx, options) =>
        options instanceof HarnDict
          ? runHarn(ctx, 'assemble', [options])
          : ctx.runtime('assemble_context: first argument must be an options dict with `artifacts`'),
    ),
  ],
}
