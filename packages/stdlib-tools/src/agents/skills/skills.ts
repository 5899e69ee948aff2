// Skill registries: plain dicts with the skills that scripts define, the catalogue of them for a
// prompt, and the text of a skill with its arguments filled in.

import { builtinTaking, HarnClosure, HarnDict, HarnList, MAX_TEXT, builtin, display, isInt, sortTexts } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Result, Value, Demands } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'
import { definePrimitive } from '../../library/harn/primitive.js'

const TEXT_FIELDS = ['short', 'description', 'when_to_use', 'prompt', 'invocation', 'model', 'effort']
const LIST_FIELDS = ['paths', 'allowed_tools', 'mcp', 'requires_mcp']

function isRegistry(value: Value | undefined): value is HarnDict {
  return value instanceof HarnDict && value.get('_type') === 'skill_registry'
}

function listEntries(registry: HarnDict): readonly HarnDict[] {
  const skills = registry.get('skills')
  return skills instanceof HarnList ? skills.view().filter((entry): entry is HarnDict => entry instanceof HarnDict) : []
}

/** The entries of a registry or a list, odd ones too; null for anything else. */
export function listSkills(value: Value): readonly Value[] | null {
  if (value instanceof HarnList) return value.view()
  const skills = isRegistry(value) ? value.get('skills') : undefined
  return skills instanceof HarnList ? skills.view() : null
}

function withEntries(registry: HarnDict, entries: readonly HarnDict[]): HarnDict {
  return registry.with('skills', new HarnList([...entries]))
}

function readText(entry: HarnDict, name: string): string {
  const value = entry.get(name) ?? null
  return value === null ? '' : display(value)
}

function withoutClosures(entry: HarnDict): HarnDict {
  const copy = new HarnDict()
  for (const [key, value] of entry.entries()) if (!(value instanceof HarnClosure)) copy.set(key, value)
  return copy
}

/** What is wrong with a skill's config, or null. */
function describeConfigProblem(config: HarnDict): string | null {
  for (const key of TEXT_FIELDS) {
    const value = config.get(key) ?? null
    if (value !== null && typeof value !== 'string') return `'${key}' must be a string`
  }
  for (const key of LIST_FIELDS) {
    const value = config.get(key) ?? null
    if (value !== null && !(value instanceof HarnList)) return `'${key}' must be a list`
  }
  const tools = config.get('allowed_tools')
  if (!(tools instanceof HarnList)) return null
  for (const item of tools.view()) {
    const tool = display(item)
    if (tool === 'namespace:') return "'allowed_tools' entry 'namespace:' missing a tag after the colon"
    if (tool.includes(':') && !tool.startsWith('namespace:')) {
      return `'allowed_tools' entry '${tool}' contains ':' — only the \`namespace:<tag>\` prefix is recognized`
    }
  }
  return null
}

function define(ctx: Context, registry: Value, name: Value, config: Value): Result {
  if (!isRegistry(registry)) return failNotRegistry(ctx, 'skill_define', registry, 'first argument must be a skill registry')
  if (name === null || display(name) === '') return ctx.throw('skill_define: skill name must be a non-empty string')
  if (config !== null && !(config instanceof HarnDict)) return ctx.throw('skill_define: third argument must be a config dict')
  const given = config ?? new HarnDict()
  const problem = describeConfigProblem(given)
  if (problem !== null) return ctx.throw(`skill_define: ${problem}`)
  const entry = given.copy()
  entry.set('name', display(name))
  if (!entry.has('description')) entry.set('description', given.get('short') ?? '')
  const entries = [...listEntries(registry)]
  const known = entries.findIndex((each) => each.get('name') === display(name))
  if (known < 0) entries.push(entry)
  else entries[known] = entry
  return withEntries(registry, entries)
}

function failNotRegistry(ctx: Context, name: string, value: Value, otherwise: string): Result {
  return ctx.throw(
    `${name}: ${value instanceof HarnDict ? 'argument must be a skill registry (created with skill_registry())' : otherwise}`,
  )
}

/** A builtin whose first argument must be a registry. */
function onRegistry(
  signature: string,
  required: string,
  doc: string,
  run: (ctx: Context, registry: HarnDict, second: Value) => Result,
): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  const hasOne = !signature.includes(',')
  const demands: Demands = { fewer: `{f}: requires ${required}` }
  return builtinTaking(signature, { doc }, demands, (ctx, registry: Value = null, second: Value = null) => {
    if (isRegistry(registry)) return run(ctx, registry, second)
    return failNotRegistry(ctx, name, registry, hasOne ? `requires ${required}` : 'first argument must be a skill registry')
  })
}

// ---------------------------------------------------------------------------------------------------------------- catalogue

const HEADER =
  '## Available skills\n\nThese skills are available. Call `load_skill({ name: "<skill-id>" })` ' +
  'to load the full body of a skill when it becomes relevant.\n\n'
/** Room that a budget leaves for entries at least, in bytes. */
const LEAST_ROOM = 52
const encoder = new TextEncoder()

function countBytes(value: string): number {
  return encoder.encode(value).length
}

function makeSkillId(entry: HarnDict): string {
  const namespace = readText(entry, 'namespace')
  return namespace === '' ? readText(entry, 'name') : `${namespace}/${readText(entry, 'name')}`
}

function listCatalogEntries(registry: HarnDict): HarnList {
  const rows = new Map(
    listEntries(registry).map((entry) => [
      makeSkillId(entry),
      HarnDict.of({
        name: makeSkillId(entry),
        description: readText(entry, 'short') === '' ? readText(entry, 'description') : readText(entry, 'short'),
        when_to_use: entry.get('when_to_use') ?? '',
      }),
    ]),
  )
  return new HarnList(sortTexts([...rows.keys()]).map((id) => rows.get(id)!))
}

function renderCatalog(ctx: Context, given: Value, budgetArgument: Value): Result {
  const entries = isRegistry(given) ? listCatalogEntries(given) : given
  if (entries instanceof HarnDict) return failNotRegistry(ctx, 'render_always_on_catalog', entries, '')
  if (!(entries instanceof HarnList))
    return ctx.throw('render_always_on_catalog: first argument must be a catalog entry list or skill registry')
  if (budgetArgument !== null && (!isInt(budgetArgument) || budgetArgument <= 0))
    return ctx.throw('render_always_on_catalog: second argument must be a positive integer budget')
  const lines = entries.view().flatMap((entry) => {
    if (!(entry instanceof HarnDict) || readText(entry, 'name') === '') return []
    const description = readText(entry, 'description')
    const when = readText(entry, 'when_to_use')
    return [
      `- \`${readText(entry, 'name')}\`${description === '' ? '' : `: ${description}`}${when === '' ? '' : `\n  when: ${when}`}`,
    ]
  })
  if (lines.length === 0) return `${HEADER}(none)`
  ctx.charge(lines.length)
  const budget = Math.max(budgetArgument === null ? 2000 : Number(budgetArgument), countBytes(HEADER) + LEAST_ROOM)
  for (let shown = lines.length; shown >= 0; shown--) {
    const omitted = lines.length - shown
    const note = omitted === 0 ? '' : `\n\n... ${omitted} more skill(s) omitted to stay within budget.`
    const body = HEADER + lines.slice(0, shown).join('\n') + note
    if (countBytes(body) <= budget) return body
  }
  return HEADER
}

// ---------------------------------------------------------------------------------------------------------------- rendering

/** Places of a text that are filled in. */
const PLACES = /\$(?:\$|ARGUMENTS|\d+|\{HARN_[A-Z0-9_]*\})/g

/** Names of the variables in a text, in order. */
function listVariables(body: string): string[] {
  return [...body.matchAll(PLACES)].flatMap(([mark]) => (mark.startsWith('${') ? [mark.slice(2, -1)] : []))
}

/** The pieces of a text with its places filled in; `values` are those of its variables. Variables without a value are not replaced. */
function fillPlaces(body: string, args: readonly string[], values: readonly Value[]): string[] {
  const allArguments = args.join(' ')
  const pieces: string[] = []
  let variables = 0
  let at = 0
  const find = (mark: string): string => {
    if (mark === '$$') return '$'
    if (mark === '$ARGUMENTS') return allArguments
    if (mark.startsWith('${')) return (values[variables++] as string | null) ?? mark
    return (mark === '$0' ? undefined : args[Number(mark.slice(1)) - 1]) ?? mark
  }
  for (const match of body.matchAll(PLACES)) {
    pieces.push(body.slice(at, match.index), find(match[0]))
    at = match.index + match[0].length
  }
  return [...pieces, body.slice(at)]
}

const primitives: readonly BuiltinDef[] = [
  builtin('__skill_id(entry: dict) -> string', { doc: 'The id of a skill in catalogues.' }, (_ctx, entry) =>
    makeSkillId(entry as HarnDict),
  ),
  definePrimitive(
    '__skill_variables(body: string) -> list',
    'Names of the variables in a text of a skill, in order.',
    (ctx, body) => {
      const text = body as string
      ctx.charge(text.length >> 4, text.length)
      return new HarnList(listVariables(text))
    },
  ),
  definePrimitive(
    '__fill_places(body: string, args: list, values: list) -> string',
    'A text of a skill with arguments and the values of its variables filled in.',
    (ctx, body, args, values) => {
      const text = body as string
      ctx.charge(text.length >> 4, text.length)
      const pieces = fillPlaces(text, (args as HarnList).view() as readonly string[], (values as HarnList).view())
      // An argument may stand in many places.
      const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
      if (size > MAX_TEXT) return ctx.runtime('the text of the skill is too long')
      ctx.charge(size >> 4, size)
      return pieces.join('')
    },
  ),
]

/** Continues as a function of skills.harn. */
function goOn(ctx: Context, name: string, ...args: Value[]): Result {
  return ctx.library({ module: 'agents/skills/skills', function: name, output: 'drop' }, args)
}

function render(ctx: Context, entry: Value, args: Value): Result {
  if (typeof entry !== 'string' && !(entry instanceof HarnDict))
    return ctx.throw('skill_render: first argument must be a skill entry or a string body')
  if (args !== null && !(args instanceof HarnList)) return ctx.throw('skill_render: second argument must be a list of strings')
  return goOn(ctx, 'render', entry, args)
}

/** The registry that scripts see as `skills` unless the host found skills before the run. */
const BOUND = HarnDict.of({ _type: 'skill_registry', skills: new HarnList([]) })

function loadSkill(ctx: Context, id: string): Result {
  return id.trim() === '' ? ctx.throw('load_skill: requires a non-empty skill name') : goOn(ctx, 'load', id)
}

export const skillsFamily: BuiltinFamily = {
  name: 'skills',
  modules: findHarnModule,
  primitives,
  builtins: [
    builtin('skill_registry() -> dict', { doc: 'An empty registry of skills.' }, () =>
      HarnDict.of({ _type: 'skill_registry', skills: new HarnList([]) }),
    ),
    builtinTaking(
      'skill_define(registry: dict, name: string, config: dict | nil) -> dict',
      { doc: 'The registry with one more skill; one of the same name is replaced.' },
      { fewer: '{f}: requires registry, name, and config dict' },
      define,
    ),
    onRegistry(
      'skill_list(registry: dict) -> list',
      'a skill registry',
      'All skills, without functions.',
      (_ctx, registry) => new HarnList(listEntries(registry).map(withoutClosures)),
    ),
    onRegistry(
      'skill_find(registry: dict, name: string) -> dict | nil as ?',
      'registry and name',
      'A skill by name.',
      (_ctx, registry, name) => listEntries(registry).find((entry) => readText(entry, 'name') === display(name)) ?? null,
    ),
    onRegistry(
      'skill_select(registry: dict, names: list) -> dict',
      'registry and names list',
      'A registry with the named skills only.',
      (ctx, registry, names) => {
        if (!(names instanceof HarnList)) return ctx.throw('skill_select: second argument must be a list of skill names')
        const wanted = new Set(names.view().map((name) => display(name)))
        return withEntries(
          registry,
          listEntries(registry).filter((entry) => wanted.has(readText(entry, 'name'))),
        )
      },
    ),
    onRegistry(
      'skill_remove(registry: dict, name: string) -> dict',
      'registry and name',
      'A registry without one skill.',
      (_ctx, registry, name) =>
        withEntries(
          registry,
          listEntries(registry).filter((entry) => readText(entry, 'name') !== display(name)),
        ),
    ),
    onRegistry(
      'skill_count(registry: dict) -> int',
      'a skill registry',
      'The number of skills.',
      (_ctx, registry) => listEntries(registry).length,
    ),
    onRegistry(
      'skill_describe(registry: dict) -> string',
      'a skill registry',
      'All skills as text, by name.',
      (_ctx, registry) => {
        const rows = new Map(listEntries(registry).map((entry) => [readText(entry, 'name'), entry]))
        const lines = sortTexts([...rows.keys()]).flatMap((name) => {
          const entry = rows.get(name)!
          const description = readText(entry, 'description')
          const when = readText(entry, 'when_to_use')
          return [`- ${name}${description === '' ? '' : `: ${description}`}`, ...(when === '' ? [] : [`  when: ${when}`])]
        })
        return ['Available skills:', ...(lines.length === 0 ? ['(none)'] : lines)].join('\n')
      },
    ),
    onRegistry(
      'skills_catalog_entries(registry: dict) -> list',
      'a skill registry',
      'Cards of all skills by id.',
      (_ctx, registry) => listCatalogEntries(registry),
    ),
    builtin(
      'render_always_on_catalog(entries_or_registry: list | dict, budget?: int) -> string',
      { doc: 'The catalogue of skills for a prompt, within a budget of bytes.' },
      (ctx, entries, budget) => renderCatalog(ctx, entries ?? null, budget ?? null),
    ),
    builtinTaking(
      'skill_render(entry_or_body: dict | string, args?: list) -> string',
      { doc: 'The text of a skill with its arguments.', effects: ['process.info'] },
      { fewer: '{f}: requires a skill entry or body string' },
      render,
    ),
    builtinTaking(
      'load_skill(name: string, options?: dict) -> string',
      { doc: 'The text of a skill of the bound registry.', effects: ['process.info'] },
      { text: { name: null } },
      loadSkill,
    ),
  ],
  constants: { skills: BOUND },
}
