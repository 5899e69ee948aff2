// What the skills of an agent loop are made of: reading them from the options, how well they fit a prompt, and the tool that loads one.
// What a loop does with them is in skills.harn.

import { HarnDict, HarnFloat, HarnList, display, isInt } from '@bridle/vm/families'
import { compileRegex, testRegex } from '../../library/regex/engine.js'
import { listSkills } from '../skills/skills.js'
import { listAt, readText } from '../../tools/definitions/registry.js'

const LOAD_SKILL = 'load_skill'

const STRATEGIES: readonly string[] = ['metadata', 'host', 'embedding']

const readShown = (entry: HarnDict, key: string): string => {
  const value = entry.get(key) ?? null
  return value === null ? '' : display(value)
}

const readName = (entry: HarnDict): string => readShown(entry, 'name')

const listTexts = (entry: HarnDict, key: string): string[] => listAt(entry, key).map(display)

/** The skills of a loop's options; null when there are none, or what was given is no registry and no list. */
export function readLoopSkills(given: HarnDict, active: readonly string[]): HarnDict | null {
  const option = given.get('skills') ?? null
  const all = listSkills(option)
  if (all === null || all.length === 0) return null
  const entries = all.filter((entry): entry is HarnDict => entry instanceof HarnDict && readName(entry) !== '')
  const match = given.get('skill_match')
  const options = match instanceof HarnDict ? match : new HarnDict()
  const strategy = readText(options, 'strategy') ?? 'metadata'
  const most = options.get('top_n') ?? null
  const files = given.get('working_files') ?? null
  const resumed = entries.filter((entry) => active.includes(readName(entry)))
  return HarnDict.of({
    entries: new HarnList(entries),
    strategy: STRATEGIES.includes(strategy) ? strategy : 'metadata',
    most: isInt(most) ? Math.max(1, Number(most)) : 1,
    sticky: options.get('sticky') !== false,
    working_files: new HarnList(files instanceof HarnList ? files.view().map(display) : typeof files === 'string' ? [files] : []),
    present: new HarnList(resumed.map((entry) => HarnDict.of({ entry, text: readShown(entry, 'prompt'), is_loaded: false }))),
    is_resumed: resumed.length > 0,
  })
}

// ---------------------------------------------------------------------------------------------------------------- matching

interface Candidate {
  readonly entry: HarnDict
  readonly score: number
  readonly reason: string
}

/** Skills that fit a prompt or the files at hand, the best first. */
export function rankSkills(entries: readonly HarnDict[], prompt: string, files: readonly string[]): HarnList {
  const candidates = entries.map((entry) => scoreSkill(entry, prompt, files)).filter((each) => each !== null)
  candidates.sort((a, b) => b.score - a.score)
  return new HarnList(candidates.map(({ entry, score, reason }) => HarnDict.of({ entry, score: new HarnFloat(score), reason })))
}

/** `*` within a segment, `**` across, `?` one character. */
function matchesGlob(pattern: string, path: string): boolean {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|[^*?]+/g, (piece) => {
    if (piece === '**/') return '(?:.*/)?'
    if (piece === '**') return '.*'
    if (piece === '*') return '[^/]*'
    return piece === '?' ? '[^/]' : piece.replace(/[\\^$.|+()[\]{}]/g, '\\$&')
  })
  // Patterns come from scripts: the engine takes linear time for all of them.
  return testRegex(compileRegex(`^${source}$`, 's'), path)
}

function scoreSkill(entry: HarnDict, prompt: string, files: readonly string[]): Candidate | null {
  if (entry.get('disable_model_invocation') === true || entry.get('disable-model-invocation') === true) return null
  const lower = prompt.toLowerCase()
  const tokens = (lower.match(/[\p{L}\p{N}]+/gu) ?? []).filter((token) => new TextEncoder().encode(token).length > 2)
  const description = readShown(entry, 'description').toLowerCase()
  const when = readShown(entry, 'when_to_use').toLowerCase()
  const hits = tokens.reduce((sum, token) => sum + Number(description.includes(token)) + Number(when.includes(token)), 0)
  const name = readName(entry)
  const isNamed = lower.includes(name.toLowerCase())
  const globs = listTexts(entry, 'paths').filter((glob) => files.some((file) => matchesGlob(glob, file))).length
  const score = (hits > 0 ? hits / (hits + 1.5) : 0) + (isNamed ? 2 : 0) + 1.5 * globs
  if (score <= 0) return null
  const reasons = [
    ...(hits > 0 ? [`${hits} keyword hit(s)`] : []),
    ...(isNamed ? [`prompt mentions '${name}'`] : []),
    ...(globs > 0 ? [`${globs} path glob(s) matched`] : []),
  ]
  return { entry, score, reason: reasons.join('; ') }
}

// ----------------------------------------------------------------------------------------------------------- the load tool

const DESCRIPTION =
  "Promote a skill's full body into the next turn's context. Accepts the skill id returned by the always-on catalog."
const PARAMETERS = {
  name: { type: 'string', description: 'Skill id from the always-on catalog.' },
  require_signature: {
    type: 'boolean',
    description: 'When true, fail unless the skill has a valid signature from a trusted signer.',
  },
}

const makeProperties = (): HarnDict =>
  HarnDict.of({
    name: HarnDict.of(PARAMETERS.name),
    require_signature: HarnDict.of(PARAMETERS.require_signature),
  })

/** The tool as the contract lists it. */
export function loadSkillEntry(): HarnDict {
  const parameters = makeProperties()
  parameters.set('require_signature', HarnDict.of({ ...PARAMETERS.require_signature, required: false }))
  return HarnDict.of({ name: LOAD_SKILL, description: DESCRIPTION, parameters })
}

/** The tool as it goes with a request. */
export function loadSkillNative(): HarnDict {
  const parameters = HarnDict.of({
    type: 'object',
    properties: makeProperties(),
    required: new HarnList(['name']),
    additionalProperties: false,
  })
  return HarnDict.of({
    type: 'function',
    function: HarnDict.of({ name: LOAD_SKILL, description: DESCRIPTION, parameters }),
  })
}
