// Flow invariants: results of checks over a change, as plain dicts with a tagged verdict, evidence and a
// remedy. What is not a result in that shape is refused with the reason.

import { builtinTaking, HarnDict, HarnFloat, HarnList, builtin, debugQuoted, display, isInt, typeName } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value, Demands, Fit } from '@bridle/vm/families'

/** A shape: the kinds of its tag `kind` and the fields that each must have, by the type they must be of. */
type Fields = Readonly<Record<string, 'text' | 'int' | 'any'>>
type Variants = Readonly<Record<string, Fields>>

const VERDICTS: Variants = {
  allow: {},
  warn: { reason: 'text' },
  block: { error: 'any' },
  require_approval: { approver: 'any' },
}

const EVIDENCE: Variants = {
  atom_pointer: { atom: 'text', diff_span: 'any' },
  metadata_path: { directory: 'text', namespace: 'text', key: 'text' },
  transcript_excerpt: { transcript_id: 'text', span: 'any' },
  external_citation: { url: 'text', quote: 'text', fetched_at: 'text' },
}

/** How a value of the wrong type is named in a message. */
function describeValue(value: Value): string {
  if (typeof value === 'string') return `string ${debugQuoted(value)}`
  if (isInt(value)) return `integer \`${value}\``
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (value instanceof HarnFloat) return `floating point \`${display(value)}\``
  return value === null ? 'null' : value instanceof HarnList ? 'sequence' : 'map'
}

/** Why `value` is no member of the union; null when it is. */
function describeTagProblem(value: Value | undefined, name: string, variants: Variants): string | null {
  if (!(value instanceof HarnDict))
    return `invalid type: ${describeValue(value ?? null)}, expected internally tagged enum ${name}`
  const kind = value.get('kind') ?? null
  if (kind === null) return 'missing field `kind`'
  const fields = typeof kind === 'string' && Object.hasOwn(variants, kind) ? variants[kind] : undefined
  if (fields === undefined)
    return `unknown variant \`${display(kind)}\`, expected one of ${Object.keys(variants)
      .map((each) => `\`${each}\``)
      .join(', ')}`
  for (const [field, type] of Object.entries(fields)) {
    const found = value.get(field)
    if (found === undefined) return `missing field \`${field}\``
    if (type === 'text' && typeof found !== 'string') return `invalid type: ${describeValue(found)}, expected a string`
  }
  return null
}

function describeResultProblem(value: Value): string | null {
  if (!(value instanceof HarnDict)) return `invalid type: ${describeValue(value)}, expected struct InvariantResult`
  if (!value.has('verdict')) return 'missing field `verdict`'
  const problem = describeTagProblem(value.get('verdict'), 'Verdict', VERDICTS)
  if (problem !== null) return problem
  const confidence = value.get('confidence')
  if (confidence === undefined) return 'missing field `confidence`'
  return isInt(confidence) || confidence instanceof HarnFloat ? null : `invalid type: ${describeValue(confidence)}, expected f64`
}

function toNumber(value: Value | undefined): number {
  return value instanceof HarnFloat ? value.v : Number(value)
}

const KEPT = ['verdict', 'evidence', 'remediation', 'confidence']

/** A result with only what belongs to it; empty parts are left out. */
function normalizeResult(result: HarnDict): HarnDict {
  const copy = new HarnDict()
  for (const name of KEPT) {
    const value = result.get(name) ?? null
    if (value === null || (value instanceof HarnList && value.length === 0)) continue
    copy.set(name, name === 'confidence' ? new HarnFloat(toNumber(value)) : value)
  }
  return copy
}

function makeVerdict(kind: string, more: Readonly<Record<string, Value>> = {}): HarnDict {
  return HarnDict.of({ verdict: HarnDict.of({ kind, ...more }), confidence: new HarnFloat(1) })
}

function makeSpan(start: Value, end: Value): HarnDict {
  return HarnDict.of({ start, end })
}

type Parameter = readonly [name: string, type: 'string' | 'int']

/** A builtin that checks its arguments one after the other before it makes something of them. */
function defineMaker(
  name: string,
  parameters: readonly Parameter[],
  doc: string,
  make: (ctx: Context, args: readonly Value[]) => Result,
): BuiltinDef {
  const signature = `${name}(${parameters.map(([parameter, type]) => `${parameter}: ${type}`).join(', ')}) -> dict`
  const describe = (say: (parameter: string, type: string) => string): { [parameter: string]: string } =>
    Object.fromEntries(parameters.map(([parameter, type]) => [parameter, say(parameter, type)]))
  const isNatural: Fit = (value, { name: builtinName, param }) =>
    isInt(value) && value < 0 ? `${builtinName}: argument \`${param}\` must be non-negative, got ${value}` : null
  const demands: Demands = {
    raise: 'runtime',
    absent: describe((parameter, type) => `{f}: missing required ${type} argument \`${parameter}\``),
    not: describe(
      (parameter, type) => `{f}: argument \`${parameter}\` must be ${type === 'int' ? 'an' : 'a'} ${type}, got {got}`,
    ),
    fits: Object.fromEntries(parameters.map(([parameter]) => [parameter, isNatural])),
  }
  return builtinTaking(signature, { doc }, demands, (ctx, ...args: Value[]) => {
    const [start, end] = parameters.flatMap(([, type], at) => (type === 'int' ? [args[at]!] : []))
    if (isInt(start ?? null) && isInt(end ?? null) && end! < start!)
      return ctx.runtime(`${name}: span end (${String(end)}) must be >= start (${String(start)})`)
    return make(ctx, args)
  })
}

/** A builtin over a result; `use` sees it in its one shape. */
function onResult(
  signature: string,
  doc: string,
  use: (ctx: Context, result: HarnDict, second: Value, name: string) => Result,
): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  const demands: Demands = { raise: 'runtime', fewer: '{f}: missing required invariant result argument', least: 1 }
  return builtinTaking(signature, { doc }, demands, (ctx, result: Value = null, second: Value = null) => {
    const problem = describeResultProblem(result)
    return problem === null
      ? use(ctx, normalizeResult(result as HarnDict), second, name)
      : ctx.runtime(`${name}: invalid InvariantResult: ${problem}`)
  })
}

function readKind(result: HarnDict): string {
  return display((result.get('verdict') as HarnDict).get('kind') ?? '')
}

function withEvidence(ctx: Context, result: HarnDict, evidence: Value, name: string): Result {
  if (!(evidence instanceof HarnList))
    return ctx.runtime(`${name}: argument \`evidence\` must be a list, got ${typeName(evidence)}`)
  for (const item of evidence.view()) {
    const problem = describeTagProblem(item, 'EvidenceItem', EVIDENCE)
    if (problem !== null) return ctx.runtime(`${name}: invalid evidence: ${problem}`)
  }
  return normalizeResult(result.with('evidence', evidence))
}

function withRemediation(ctx: Context, result: HarnDict, remediation: Value, name: string): Result {
  if (!(remediation instanceof HarnDict))
    return ctx.runtime(`${name}: invalid remediation: invalid type: ${describeValue(remediation)}, expected struct Remediation`)
  if (!remediation.has('description')) return ctx.runtime(`${name}: invalid remediation: missing field \`description\``)
  return result.with('remediation', remediation)
}

function withConfidence(ctx: Context, result: HarnDict, confidence: Value, name: string): Result {
  if (!isInt(confidence) && !(confidence instanceof HarnFloat))
    return ctx.runtime(`${name}: argument \`confidence\` must be a number, got ${typeName(confidence)}`)
  return result.with('confidence', new HarnFloat(Math.min(1, Math.max(0, toNumber(confidence)))))
}

export const flowFamily: BuiltinFamily = {
  name: 'flow',
  builtins: [
    builtin('flow_invariant_allow() -> dict', { doc: 'The result of an invariant that holds.' }, () => makeVerdict('allow')),
    defineMaker(
      'flow_invariant_warn',
      [['reason', 'string']],
      'The result of an invariant that holds with a reservation.',
      (_ctx, [reason]) => makeVerdict('warn', { reason: reason! }),
    ),
    defineMaker(
      'flow_invariant_block',
      [
        ['code', 'string'],
        ['message', 'string'],
      ],
      'The result of an invariant that does not hold.',
      (_ctx, [code, message]) => makeVerdict('block', { error: HarnDict.of({ code: code!, message: message! }) }),
    ),
    defineMaker(
      'flow_invariant_require_approval',
      [
        ['kind', 'string'],
        ['id', 'string'],
      ],
      'A result that needs the approval of a principal or a role.',
      (ctx, [kind, who]) => {
        if (kind === 'principal') return makeVerdict('require_approval', { approver: HarnDict.of({ kind, id: who! }) })
        if (kind === 'role') return makeVerdict('require_approval', { approver: HarnDict.of({ kind, name: who! }) })
        return ctx.runtime(
          `flow_invariant_require_approval: kind must be "principal" or "role", got ${debugQuoted(display(kind!))}`,
        )
      },
    ),
    defineMaker(
      'flow_evidence_atom',
      [
        ['atom_id', 'string'],
        ['diff_start', 'int'],
        ['diff_end', 'int'],
      ],
      'Evidence in a part of a change.',
      (ctx, [atom, start, end]) =>
        /^[0-9a-fA-F]{64}$/.test(display(atom!))
          ? HarnDict.of({ kind: 'atom_pointer', atom: atom!, diff_span: makeSpan(start!, end!) })
          : ctx.runtime('flow_evidence_atom: invalid atom id: expected 64 hexadecimal digits'),
    ),
    defineMaker(
      'flow_evidence_metadata',
      [
        ['directory', 'string'],
        ['namespace', 'string'],
        ['key', 'string'],
      ],
      'Evidence in directory metadata.',
      (_ctx, [directory, namespace, key]) =>
        HarnDict.of({ kind: 'metadata_path', directory: directory!, namespace: namespace!, key: key! }),
    ),
    defineMaker(
      'flow_evidence_transcript',
      [
        ['transcript_id', 'string'],
        ['span_start', 'int'],
        ['span_end', 'int'],
      ],
      'Evidence in a transcript.',
      (_ctx, [id, start, end]) => HarnDict.of({ kind: 'transcript_excerpt', transcript_id: id!, span: makeSpan(start!, end!) }),
    ),
    defineMaker(
      'flow_evidence_citation',
      [
        ['url', 'string'],
        ['quote', 'string'],
        ['fetched_at', 'string'],
      ],
      'Evidence on a page elsewhere.',
      (_ctx, [url, quote, fetched]) => HarnDict.of({ kind: 'external_citation', url: url!, quote: quote!, fetched_at: fetched! }),
    ),
    defineMaker('flow_remediation', [['description', 'string']], 'What would help.', (_ctx, [description]) =>
      HarnDict.of({ description: description! }),
    ),
    onResult('flow_with_evidence(result: dict, evidence: list) -> dict', 'The result with evidence.', withEvidence),
    onResult('flow_with_remediation(result: dict, remediation: dict) -> dict', 'The result with a remedy.', withRemediation),
    onResult(
      'flow_with_confidence(result: dict, confidence: number) -> dict',
      'The result with a confidence between 0 and 1.',
      withConfidence,
    ),
    onResult('flow_invariant_kind(result: dict) -> string', 'The kind of the verdict.', (_ctx, result) => readKind(result)),
    onResult(
      'flow_invariant_is_blocking(result: dict) -> bool',
      'Whether the verdict blocks.',
      (_ctx, result) => readKind(result) === 'block',
    ),
    onResult(
      'flow_invariant_confidence(result: dict) -> float',
      'The confidence.',
      (_ctx, result) => result.get('confidence') ?? null,
    ),
  ],
}
