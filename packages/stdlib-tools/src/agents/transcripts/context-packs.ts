// Context packs: manifests of what an agent should be given before it starts, and suggestions of such
// packs from friction events that keep coming back.

import {
  builtinTaking,
  Fault,
  HarnDict,
  HarnFloat,
  HarnList,
  builtin,
  chargeArguments,
  display,
  isInt,
  lookup,
  parseJson,
  makeRuntimeFault,
  sortTexts,
  stringifyJson,
} from '@bridle/vm/families'
import type { BuiltinDef, Value, Demands, Fit } from '@bridle/vm/families'
import { parseTomlText } from '../../library/formats/toml.js'
import { FormatError } from '../../library/formats/yaml.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { listDicts } from './shape.js'
import { readRecord, recordData } from '../../library/formats/record-shapes.js'
import type { RecordShape } from '../../library/formats/record-shapes.js'

const TEXT = { type: 'text' } as const

const MANIFEST: RecordShape = {
  version: { type: 'int', fallback: 1 },
  id: TEXT,
  name: TEXT,
  description: TEXT,
  owner: TEXT,
  triggers: { type: 'records', name: 'ContextPackTrigger', shape: { kind: TEXT, source: TEXT, match_hint: TEXT } },
  inputs: {
    type: 'records',
    name: 'ContextPackInput',
    shape: { name: TEXT, description: TEXT, required: { type: 'flag', fallback: false }, source: TEXT },
  },
  included_queries: {
    type: 'records',
    name: 'ContextPackQuery',
    shape: { id: TEXT, label: TEXT, provider: TEXT, query: TEXT, filters: { type: 'dict' }, output_slot: TEXT },
  },
  included_docs: {
    type: 'records',
    name: 'ContextPackDoc',
    shape: { id: TEXT, title: TEXT, url: TEXT, path: TEXT, freshness: TEXT },
  },
  included_tools: {
    type: 'records',
    name: 'ContextPackTool',
    shape: { name: TEXT, purpose: TEXT, capability: TEXT, deterministic: { type: 'flag', fallback: false } },
  },
  refresh_policy: {
    type: 'record',
    name: 'ContextPackRefreshPolicy',
    optional: false,
    shape: { mode: { type: 'text', fallback: 'on_demand' }, interval: TEXT, stale_after: TEXT },
  },
  secrets: {
    type: 'records',
    name: 'ContextPackSecretRef',
    shape: { name: TEXT, capability: TEXT, required: { type: 'flag', fallback: false } },
  },
  capabilities: { type: 'texts' },
  output_slots: {
    type: 'records',
    name: 'ContextPackOutputSlot',
    shape: { name: TEXT, description: TEXT, artifact_kind: TEXT },
  },
  fallback_instructions: TEXT,
  review: {
    type: 'record',
    name: 'ContextPackReview',
    optional: true,
    shape: { owner: TEXT, approval_required: { type: 'flag', fallback: false }, privacy_notes: { type: 'texts' } },
  },
  metadata: { type: 'dict' },
}

function listItems(record: HarnDict, name: string): readonly HarnDict[] {
  const list = record.get(name)
  return list instanceof HarnList ? list.view().filter((item): item is HarnDict => item instanceof HarnDict) : []
}

function readText(record: HarnDict, name: string): string {
  const value = record.get(name) ?? null
  return value === null ? '' : display(value).trim()
}

function looksSecret(value: string): boolean {
  return /^(?:sk-|ghp_|xoxb-|AKIA)/.test(value) || /(?:token|password|api_?key)=/i.test(value) || value.length > 48
}

/** Lower-case words joined by `_`, at most eight. */
function makeSlug(name: string): string {
  return (name.toLowerCase().match(/[\p{Alphabetic}\p{N}]+/gu) ?? []).slice(0, 8).join('_')
}

/** The manifest in its one shape; raises a runtime fault when it is none. */
function normalizeManifest(payload: Value): HarnDict {
  const manifest = readRecord(recordData(payload), 'context_pack_manifest', 'ContextPackManifest', MANIFEST)
  const refuse = (problem: string): never => {
    throw makeRuntimeFault(`context_pack_manifest: ${problem}`)
  }
  if (readText(manifest, 'name') === '') return refuse('missing name')
  if (readText(manifest, 'owner') === '') return refuse('missing owner')
  if (
    listItems(manifest, 'secrets').some(
      (secret) => looksSecret(readText(secret, 'capability')) || looksSecret(readText(secret, 'name')),
    )
  ) {
    return refuse('secrets must be capability references, not raw secret values')
  }
  if (listItems(manifest, 'included_queries').some((query) => readText(query, 'id') === '' || readText(query, 'query') === ''))
    return refuse('included queries require id and query')
  return readText(manifest, 'id') === '' ? manifest.with('id', makeSlug(readText(manifest, 'name'))) : manifest
}

function parseManifest(source: string): HarnDict {
  if (source.trimStart().startsWith('{')) {
    const parsed = parseJson(source)
    if (!parsed.ok) throw makeRuntimeFault(`context_pack_manifest_parse: invalid JSON: ${parsed.message}`)
    return normalizeManifest(parsed.value)
  }
  try {
    return normalizeManifest(parseTomlText(source))
  } catch (error) {
    if (error instanceof FormatError) throw makeRuntimeFault(`context_pack_manifest_parse: invalid TOML: ${error.message}`)
    throw error
  }
}

function defineManifestBuiltin(signature: string, doc: string, read: (given: Value) => HarnDict): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  const missing = `${name}: missing ${name.endsWith('_parse') ? 'source' : 'payload'}`
  const notEmpty: Fit = (value) => (value === '' ? missing : null)
  const demands: Demands = { raise: 'runtime', fewer: missing, fits: { payload: notEmpty, src: notEmpty } }
  return builtinTaking(signature, { doc }, demands, (ctx, given: Value = null) => {
    ctx.charge(64)
    try {
      return read(given)
    } catch (error) {
      if (error instanceof Fault) return ctx.fail(error)
      throw error
    }
  })
}

export const manifestBuiltins: readonly BuiltinDef[] = [
  defineManifestBuiltin(
    'context_pack_manifest(payload: dict) -> dict',
    'The manifest of a context pack in its one shape.',
    normalizeManifest,
  ),
  defineManifestBuiltin('context_pack_manifest_parse(src: string) -> dict', 'Reads a manifest from JSON or TOML.', (given) =>
    parseManifest(display(given)),
  ),
]

// ------------------------------------------------------------------------------------------------------------- suggestions

const RECOMMENDED: Readonly<Record<string, string>> = lookup({
  approval_stall: 'workflow',
  manual_handoff: 'workflow',
  tool_gap: 'both',
  failed_assumption: 'both',
  expensive_model_used_for_deterministic_step: 'both',
})

const CONFIDENCE = [0.62, 0.74, 0.82]

function readHint(event: HarnDict): string {
  const hints = event.get('recurrence_hints')
  const first = hints instanceof HarnList ? (hints.view()[0] ?? null) : null
  return (first === null ? readText(event, 'redacted_summary') : display(first)).toLowerCase().trim()
}

function makeGroupKey(event: HarnDict): string {
  return [
    readText(event, 'kind'),
    readText(event, 'source'),
    readText(event, 'tool'),
    readText(event, 'provider'),
    readHint(event),
  ].join('\u0000')
}

function readMetadataText(event: HarnDict, ...names: readonly string[]): string {
  const metadata = event.get('metadata')
  if (!(metadata instanceof HarnDict)) return ''
  for (const name of names) {
    const value = metadata.get(name) ?? null
    if (typeof value === 'string' && value.trim() !== '') return value
  }
  return ''
}

function removeDuplicates(values: readonly string[]): string[] {
  return [...new Set(values.filter((value) => value !== ''))]
}

/** An optional text: empty is nil. */
function toOptional(value: string): Value {
  return value === '' ? null : value
}

function listQueries(events: readonly HarnDict[]): HarnDict[] {
  return events
    .flatMap((event) => (readMetadataText(event, 'query', 'deterministic_query') === '' ? [] : [event]))
    .map((event, at) =>
      HarnDict.of({
        id: `query_${at + 1}`,
        label: toOptional(readText(event, 'tool')),
        provider: toOptional(readText(event, 'provider') || readText(event, 'tool')),
        query: readMetadataText(event, 'query', 'deterministic_query'),
        filters: new HarnDict(),
        output_slot: readMetadataText(event, 'output_slot') || 'primary_context',
      }),
    )
}

function listDocs(events: readonly HarnDict[]): HarnDict[] {
  return events
    .filter((event) => readMetadataText(event, 'doc_url', 'doc_path') !== '')
    .map((event, at) =>
      HarnDict.of({
        id: `doc_${at + 1}`,
        title: null,
        url: toOptional(readMetadataText(event, 'doc_url')),
        path: toOptional(readMetadataText(event, 'doc_path')),
        freshness: null,
      }),
    )
}

function makeCandidate(events: readonly HarnDict[], name: string, owner: string, recommended: string): HarnDict {
  const first = events[0]!
  const hints = first.get('recurrence_hints')
  const slots = sortTexts(removeDuplicates(['primary_context', ...events.map((event) => readMetadataText(event, 'output_slot'))]))
  return normalizeManifest(
    HarnDict.of({
      version: 1,
      name,
      description: `Suggested by ${readText(first, 'kind')} friction that came back; to be reviewed before use.`,
      owner,
      triggers: new HarnList([
        HarnDict.of({
          kind: readText(first, 'kind'),
          source: toOptional(readText(first, 'source')),
          match_hint: hints instanceof HarnList ? (hints.view()[0] ?? null) : null,
        }),
      ]),
      inputs: new HarnList([
        HarnDict.of({
          name: 'incident_or_task',
          description: 'What the run is about: its incident, ticket or task.',
          required: true,
          source: toOptional(readText(first, 'source')),
        }),
      ]),
      included_queries: new HarnList(listQueries(events)),
      included_docs: new HarnList(listDocs(events)),
      included_tools: new HarnList(
        events
          .filter((event) => readText(event, 'tool') !== '')
          .map((event) =>
            HarnDict.of({
              name: readText(event, 'tool'),
              purpose: readText(event, 'redacted_summary'),
              capability: toOptional(readMetadataText(event, 'capability')),
              deterministic: true,
            }),
          ),
      ),
      secrets: new HarnList(
        events
          .filter((event) => readMetadataText(event, 'secret_ref') !== '')
          .map((event) =>
            HarnDict.of({
              name: readMetadataText(event, 'secret_ref'),
              capability: toOptional(readMetadataText(event, 'capability')),
              required: true,
            }),
          ),
      ),
      capabilities: new HarnList(sortTexts(removeDuplicates(events.map((event) => readMetadataText(event, 'capability'))))),
      output_slots: new HarnList(
        slots.map((slot) =>
          HarnDict.of({ name: slot, description: 'What is gathered before the agent begins', artifact_kind: 'context' }),
        ),
      ),
      fallback_instructions: 'Where this context does not suffice, ask one narrow question and record the friction.',
      review: HarnDict.of({
        owner: null,
        approval_required: true,
        privacy_notes: new HarnList(['Check that queries and documents show no customer secrets.']),
      }),
      metadata: HarnDict.of({ recommended_artifact: recommended }),
    }),
  )
}

function makeEvidence(event: HarnDict): HarnDict {
  const row = HarnDict.of({ event_id: event.get('id') ?? null })
  for (const name of [
    'kind',
    'source',
    'tool',
    'provider',
    'redacted_summary',
    'run_id',
    'trace_id',
    'estimated_cost_usd',
    'estimated_time_ms',
  ])
    row.set(name, event.get(name) ?? null)
  return row
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : sortTexts([a, b])[0] === a ? -1 : 1
}

/** What the later events of a group would have saved. */
function estimateSavings(events: readonly HarnDict[]): HarnDict {
  const later = [...events]
    .sort(
      (a, b) =>
        compareTexts(readText(a, 'timestamp'), readText(b, 'timestamp')) || compareTexts(readText(a, 'id'), readText(b, 'id')),
    )
    .slice(1)
  let millis = 0
  let dollars = 0
  for (const event of later) {
    const time = event.get('estimated_time_ms') ?? null
    const cost = event.get('estimated_cost_usd')
    millis += isInt(time) ? Number(time) : 0
    dollars += cost instanceof HarnFloat ? cost.v : 0
  }
  return HarnDict.of({
    occurrences: events.length,
    estimated_time_saved_ms: millis,
    estimated_cost_saved_usd: new HarnFloat(dollars),
  })
}

/** What a group of events alike suggests, without id and time. */
function makeSuggestion(events: readonly HarnDict[], owner: string): HarnDict {
  const first = events[0]!
  const title = `${readText(first, 'source') || 'team'} ${readHint(first)} context pack`
  const recommended = RECOMMENDED[readText(first, 'kind')] ?? 'context_pack'
  const actor = removeDuplicates(events.map((event) => readText(event, 'actor')))[0]
  return HarnDict.of({
    _type: 'context_pack_suggestion',
    title,
    recommended_artifact: recommended,
    confidence: new HarnFloat(CONFIDENCE[events.length - 2] ?? 0.9),
    candidate_manifest: makeCandidate(events, title, owner || actor || 'team', recommended),
    evidence: new HarnList(events.map(makeEvidence)),
    examples: new HarnList(sortTexts(removeDuplicates(events.map((event) => readText(event, 'redacted_summary')))).slice(0, 3)),
    estimated_savings: estimateSavings(events),
    risk_privacy_notes: new HarnList([
      'Evidence holds redacted summaries only; raw prompts and contents are not kept.',
      'To be reviewed before later runs are given this pack.',
    ]),
    source_event_ids: new HarnList(events.map((event) => event.get('id') ?? null)),
    metadata: new HarnDict(),
  })
}

/** Groups of events alike that are large enough to suggest something. */
function groupEvents(events: readonly HarnDict[], options: HarnDict): HarnDict[][] {
  const wanted = options.get('min_occurrences') ?? null
  const least = Math.max(2, isInt(wanted) ? Number(wanted) : 2)
  const groups = new Map<string, HarnDict[]>()
  for (const event of events) {
    const key = makeGroupKey(event)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [event])
    else group.push(event)
  }
  return sortTexts([...groups.keys()])
    .map((key) => groups.get(key)!)
    .filter((group) => group.length >= least)
}

function contains(whole: string, part: string): boolean {
  return whole.toLowerCase().includes(part.toLowerCase())
}

function meets(found: HarnDict, wanted: HarnDict): boolean {
  const manifest = found.get('candidate_manifest') as HarnDict
  const capabilities = manifest.get('capabilities') as HarnList
  const has = (name: string): boolean => readText(wanted, name) !== ''
  return (
    (!has('recommended_artifact') || readText(found, 'recommended_artifact') === readText(wanted, 'recommended_artifact')) &&
    (!has('title_contains') || contains(readText(found, 'title'), readText(wanted, 'title_contains'))) &&
    (!has('manifest_name_contains') || contains(readText(manifest, 'name'), readText(wanted, 'manifest_name_contains'))) &&
    (!has('required_capability') || capabilities.view().includes(readText(wanted, 'required_capability'))) &&
    (!has('required_output_slot') ||
      listItems(manifest, 'output_slots').some((slot) => readText(slot, 'name') === readText(wanted, 'required_output_slot')))
  )
}

/** What the `expected_suggestions` of a fixture miss among those that were found. */
function listFailures(found: readonly HarnDict[], fixture: HarnDict): string[] {
  const failures: string[] = []
  for (const wanted of listItems(fixture, 'expected_suggestions')) {
    const least = wanted.get('min_suggestions') ?? null
    if (isInt(least) && found.length < Number(least))
      failures.push(`expected at least ${least} context-pack suggestion(s), got ${found.length}`)
    const keys = wanted.keys().filter((key) => key !== 'min_suggestions')
    if (keys.length > 0 && !found.some((each) => meets(each, wanted)))
      failures.push(`no context-pack suggestion matched expectation ${stringifyJson(wanted)}`)
  }
  return failures
}

export const suggestionPrimitives: readonly BuiltinDef[] = [
  builtin(
    '__friction_groups(events: list, options: dict) -> list',
    { doc: 'Groups of events alike that are large enough to suggest something.' },
    (_ctx, events, options) =>
      new HarnList(groupEvents(listDicts(events), options as HarnDict).map((group) => new HarnList(group))),
  ),
  definePrimitive(
    '__pack_suggestion(events: list, options: dict) -> dict',
    'What a group of events suggests, without id and time.',
    (ctx, events, options) => {
      chargeArguments(ctx, [events!])
      return makeSuggestion(listDicts(events), readText(options as HarnDict, 'owner'))
    },
  ),
  builtin(
    '__unmet_expectations(suggestions: list, fixture: dict) -> list<string>',
    { doc: 'What a fixture expects and suggestions do not meet.' },
    (_ctx, suggestions, fixture) => new HarnList(listFailures(listDicts(suggestions), fixture as HarnDict)),
  ),
]
