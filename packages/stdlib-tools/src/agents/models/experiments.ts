// Structural experiments: named changes of a prompt's shape, to see what a model makes of them.

import { HarnClosure, HarnDict, HarnFloat, HarnList, display, failWith, isInt, typeName } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { listDicts } from '../transcripts/shape.js'

export interface Experiment {
  readonly name: string
  readonly label: string
  readonly args: HarnDict
  /** A transformation of the script's own. */
  readonly transform: HarnClosure | null
}

export interface Prompt {
  readonly messages: HarnList
  readonly system: string | null
}

const BUILT_IN = ['doubled_prompt', 'prompt_order_permutation', 'chain_of_draft', 'inverted_system']
const FORM = 'structural_experiment'

export function readExperiment(value: Value): Experiment | null {
  if (value === null || value === false) return null
  if (typeof value === 'string') return value.trim() === '' ? null : readSpec(value.trim())
  if (value instanceof HarnClosure) return makeCustom(value, 'custom', 'custom', new HarnDict())
  if (!(value instanceof HarnDict)) {
    return failWith(`${FORM}: expected string, dict, closure, nil, or false; got ${typeName(value)}`)
  }
  return readDict(value)
}

function makeCustom(transform: HarnClosure, name: string, label: string, args: HarnDict): Experiment {
  return { name, label, args, transform }
}

function makeKnown(name: string, label: string, args: HarnDict): Experiment {
  if (!BUILT_IN.includes(name)) return failWith(`unknown structural experiment \`${name}\``)
  return { name, label, args, transform: null }
}

const OWN_KEYS = new Set(['name', 'experiment', 'label', 'args', 'transform', 'handler'])

function readDict(dict: HarnDict): Experiment {
  const transform = dict.get('transform') ?? dict.get('handler') ?? null
  const nameValue = dict.get('name') ?? dict.get('experiment') ?? null
  const name = nameValue === null ? null : display(nameValue)
  const labelValue = dict.get('label') ?? null
  const given = dict.get('args')
  const args = given instanceof HarnDict ? given.copy() : new HarnDict()
  if (transform instanceof HarnClosure) {
    return makeCustom(transform, name ?? 'custom', labelValue === null ? (name ?? 'custom') : display(labelValue), args)
  }
  if (name === null) return failWith(`${FORM}: dict form requires \`name\` or \`transform\``)
  // Without `args` all other keys are arguments.
  if (!(given instanceof HarnDict)) for (const key of dict.keys()) if (!OWN_KEYS.has(key)) args.set(key, dict.get(key)!)
  return makeKnown(name, labelValue === null ? name : display(labelValue), args)
}

/** `name` or `name(key: value, …)`. */
function readSpec(spec: string): Experiment {
  const open = spec.indexOf('(')
  if (open < 0) return makeKnown(spec, spec, new HarnDict())
  if (!spec.endsWith(')')) return failWith(`${FORM}: missing closing \`)\``)
  const args = new HarnDict()
  for (const piece of spec.slice(open + 1, -1).split(',')) {
    if (piece.trim() === '') continue
    const colon = piece.indexOf(':')
    if (colon < 0) return failWith(`${FORM}: expected \`name: value\`, got \`${piece.trim()}\``)
    args.set(piece.slice(0, colon).trim(), readScalar(piece.slice(colon + 1).trim()))
  }
  return makeKnown(spec.slice(0, open).trim(), spec, args)
}

function readScalar(text: string): Value {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'nil' || text === 'null') return null
  if (/^-?\d+$/.test(text)) return Number(text)
  if (/^-?\d+\.\d+$/.test(text)) return new HarnFloat(Number(text))
  return text.replace(/^"(.*)"$/s, '$1')
}

// ------------------------------------------------------------------------------------------------------------ the built-in

const DRAFT =
  'First sketch the answer in as few words as you can inside <draft>...</draft>; then give the full answer outside those tags.'

/** The prompt as one of the built-in experiments changes it. */
export function applyBuiltIn(experiment: Experiment, prompt: Prompt): Prompt {
  const { system } = prompt
  const messages = listDicts(prompt.messages)
  const at = messages.findLastIndex((message) => message.get('role') === 'user' && typeof message.get('content') === 'string')
  if (at < 0) return prompt
  const message = messages[at]!
  const text = message.get('content') as string
  const replaceContent = (content: string): HarnList => new HarnList(messages.with(at, message.with('content', content)))
  switch (experiment.name) {
    case 'doubled_prompt':
      return { messages: new HarnList([message, ...messages, message]), system }
    case 'prompt_order_permutation':
      return { messages: replaceContent(permuteSections(text, readSeed(experiment.args.get('seed') ?? null))), system }
    case 'chain_of_draft':
      return { messages: replaceContent(`${text}\n\n${DRAFT}`), system }
    default:
      return system === null || system === '' ? prompt : { messages: replaceContent(system), system: text }
  }
}

function readSeed(value: Value): bigint {
  return isInt(value) ? BigInt(value) : 0n
}

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value)

/** The score of section `index`; sections are put in ascending order. */
function score(seed: bigint, index: number): bigint {
  let v = wrap(seed) ^ wrap((BigInt(index) + 1n) * 0x9e3779b97f4a7c15n)
  v = wrap(v * 6364136223846793005n + 1n)
  return v ^ (v >> 33n)
}

function permuteSections(text: string, seed: bigint): string {
  const sections = text
    .split(/\n[ \t]*\n/)
    .map((section) => section.trim())
    .filter((section) => section !== '')
  if (sections.length < 2) return text
  const scores = sections.map((_, index) => score(seed, index))
  let order = sections
    .map((_, index) => index)
    .sort((a, b) => (scores[a]! < scores[b]! ? -1 : scores[a]! > scores[b]! ? 1 : a - b))
  if (order.every((index, at) => index === at)) order = [...order.slice(1), 0]
  return order.map((index) => sections[index]!).join('\n\n')
}

/** What a transformation of the script's own gave back. */
export function readTransformed(
  value: Value,
  prompt: Prompt,
  experiment: Experiment,
): { readonly prompt: Prompt; readonly record: HarnDict } {
  const record = makeExperimentRecord(experiment)
  const failWrongForm = (): never => failWith(`${FORM} transform must return nil, a message list, or a dict`)
  const listMessages = (list: HarnList): HarnList => new HarnList(listDicts(list))
  if (value === null) return { prompt, record }
  if (value instanceof HarnList) return { prompt: { ...prompt, messages: listMessages(value) }, record }
  if (!(value instanceof HarnDict)) return failWrongForm()
  const messages = value.get('messages')
  const system = value.get('system') ?? null
  for (const key of ['label', 'name']) if (value.has(key)) record.set(key, value.get(key)!)
  const details = value.get('metadata') ?? null
  const metadata = HarnDict.of({ label: record.get('label')!, name: record.get('name')! })
  if (details !== null) metadata.set('details', details)
  record.set('metadata', metadata)
  return {
    prompt: {
      messages: messages instanceof HarnList ? listMessages(messages) : prompt.messages,
      system: system === null ? prompt.system : display(system),
    },
    record,
  }
}

/** What the transcript says of an applied experiment. */
export function makeExperimentRecord(experiment: Experiment): HarnDict {
  return HarnDict.of({
    label: experiment.label,
    name: experiment.name,
    args: experiment.args,
    metadata: experiment.transform === null ? experiment.args : new HarnDict(),
  })
}
