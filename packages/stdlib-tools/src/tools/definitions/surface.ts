// `tool_surface_validate`: looks at the tools a model would see together with the policies and the prompts that
// speak of them, and lists what does not fit. Diagnostics come in a fixed order, which scripts compare.

import { HarnClosure, HarnDict, HarnList, builtin, display, sortTexts } from '@bridle/vm/families'
import type { Context, Result, Value } from '@bridle/vm/families'
import { readApprovalPolicy } from '../policy/approval-policy.js'
import { boundRegistry, listEntries, isRegistry, listAt } from './registry.js'
import { matchesGlob, rankLevel, readAnnotations, readPolicy } from '../policy/tool-policy.js'
import type { CapabilityPolicy, ToolAnnotations } from '../policy/tool-policy.js'
import { SIDE_EFFECTS } from '../../library/effects/effects.js'
import type { SideEffect } from '../../library/effects/effects.js'

interface SurfaceTool {
  readonly name: string
  readonly hasSchema: boolean
  readonly parameterKeys: readonly string[]
  readonly annotations: ToolAnnotations | null
  readonly hasExecutor: boolean
  readonly deferred: boolean
}

class Report {
  readonly diagnostics: Value[] = []
  valid = true

  add(severity: 'warning' | 'error', code: string, message: string, tool: string | null, field: string | null): void {
    const diagnostic = HarnDict.of({ code: `TOOL_SURFACE_${code}`, severity, message })
    if (tool !== null) diagnostic.set('tool', tool)
    if (field !== null) diagnostic.set('field', field)
    this.diagnostics.push(diagnostic)
    if (severity === 'error') this.valid = false
  }
}

function listParameterKeys(parameters: Value | undefined): readonly string[] {
  if (!(parameters instanceof HarnDict)) return []
  const properties = parameters.get('properties')
  if (properties instanceof HarnDict) return properties.keys()
  return parameters.keys().filter((key) => key !== 'type' && key !== 'required' && key !== 'description')
}

function readEntry(entry: HarnDict, policy: CapabilityPolicy | null): SurfaceTool | null {
  const given = entry.get('name')
  if (given === undefined || given === null) return null
  const name = display(given)
  if (name === '') return null
  return {
    name,
    hasSchema: entry.has('parameters'),
    parameterKeys: listParameterKeys(entry.get('parameters')),
    annotations: readAnnotations(entry.get('annotations')) ?? policy?.annotations.get(name) ?? null,
    hasExecutor:
      typeof entry.get('executor') === 'string' ||
      entry.get('handler') instanceof HarnClosure ||
      typeof entry.get('_mcp_server') === 'string',
    deferred: entry.get('defer_loading') === true,
  }
}

/** A tool in a provider's own format, which the provider carries out. */
function readNative(entry: HarnDict, policy: CapabilityPolicy | null): SurfaceTool | null {
  const wrapped = entry.get('function')
  const inner = wrapped instanceof HarnDict ? wrapped : null
  const name = inner?.get('name') ?? entry.get('name')
  if (typeof name !== 'string' || name === 'tool_search' || name.startsWith('tool_search_tool_')) return null
  const schema = inner?.get('parameters') ?? entry.get('input_schema') ?? entry.get('parameters')
  return {
    name,
    hasSchema: schema !== undefined,
    parameterKeys: listParameterKeys(schema),
    annotations: readAnnotations(entry.get('annotations')) ?? policy?.annotations.get(name) ?? null,
    hasExecutor: true,
    deferred: entry.get('defer_loading') === true,
  }
}

/** Where inputs are looked up: the surface first, then the options. */
class Inputs {
  readonly sources: readonly HarnDict[]

  constructor(surface: Value, options: Value) {
    this.sources = [surface, options].filter((source) => source instanceof HarnDict)
  }

  get(key: string): Value | undefined {
    for (const source of this.sources) {
      const value = source.get(key)
      if (value !== undefined) return value
    }
    return undefined
  }

  listPrompts(): string[] {
    const texts: string[] = []
    for (const source of this.sources) {
      for (const key of ['system', 'prompt']) {
        const value = source.get(key) ?? null
        if (value !== null && display(value) !== '') texts.push(display(value))
      }
      for (const item of listAt(source, 'prompts')) texts.push(display(item))
    }
    return texts
  }
}

function readTools(inputs: Inputs, policy: CapabilityPolicy | null): SurfaceTool[] {
  const given = inputs.get('tools')
  const entries = given instanceof HarnDict ? listEntries(given) : given instanceof HarnList ? given.view() : []
  const tools: SurfaceTool[] = []
  for (const entry of entries) {
    const tool = entry instanceof HarnDict ? readEntry(entry, policy) : null
    if (tool !== null) tools.push(tool)
  }
  const natives = inputs.get('native_tools')
  if (!(natives instanceof HarnList)) return tools
  const known = new Set(tools.map((tool) => tool.name))
  for (const entry of natives.view()) {
    const tool = entry instanceof HarnDict ? readNative(entry, policy) : null
    if (tool !== null && !known.has(tool.name)) tools.push(tool)
  }
  return tools
}

function checkEntry(report: Report, tool: SurfaceTool, active: readonly SurfaceTool[], activeNames: ReadonlySet<string>): void {
  const { name, annotations } = tool
  if (!tool.hasSchema)
    report.add('warning', 'MISSING_SCHEMA', `active tool '${name}' has no parameter schema`, name, 'parameters')
  if (annotations === null) {
    report.add('warning', 'MISSING_ANNOTATIONS', `active tool '${name}' has no ToolAnnotations`, name, 'annotations')
  } else if (annotations.level === 'none') {
    report.add(
      'warning',
      'MISSING_SIDE_EFFECT_LEVEL',
      `active tool '${name}' has no side-effect level`,
      name,
      'side_effect_level',
    )
  }
  if (!tool.hasExecutor)
    report.add('warning', 'MISSING_EXECUTOR', `active tool '${name}' has no declared executor`, name, 'executor')
  if (annotations === null || annotations.kind !== 'execute' || !annotations.emitsArtifacts || annotations.inlineResult) return
  const isRead =
    annotations.resultReaders.some((reader) => activeNames.has(reader)) ||
    activeNames.has('read_command_output') ||
    active.some((other) => other.annotations?.kind === 'read' || other.annotations?.kind === 'search')
  if (!isRead) {
    const message = `execute tool '${name}' can emit output artifacts but has no active result reader`
    report.add('error', 'MISSING_RESULT_READER', message, name, 'result_readers')
  }
  for (const reader of annotations.resultReaders) {
    if (activeNames.has(reader)) continue
    report.add(
      'warning',
      'UNKNOWN_RESULT_READER',
      `tool '${name}' declares result reader '${reader}' that is not active`,
      name,
      'result_readers',
    )
  }
}

function checkConstraints(report: Report, policy: CapabilityPolicy, active: readonly SurfaceTool[]): void {
  for (const constraint of policy.constraints) {
    const matched = active.filter((tool) => matchesGlob(constraint.tool, tool.name))
    if (matched.length === 0 && !constraint.tool.includes('*')) {
      const message = `ToolArgConstraint references tool '${constraint.tool}' which is not active`
      report.add('warning', 'UNKNOWN_ARG_CONSTRAINT_TOOL', message, constraint.tool, 'tool_arg_constraints.tool')
    }
    const key = constraint.argKey
    if (key === null) continue
    for (const tool of matched) {
      if (knowsArgument(tool, key)) continue
      const message = `ToolArgConstraint for '${tool.name}' targets unknown argument '${key}'`
      report.add('warning', 'UNKNOWN_ARG_CONSTRAINT_KEY', message, tool.name, `tool_arg_constraints.${key}`)
    }
  }
}

function knowsArgument(tool: SurfaceTool, key: string): boolean {
  if (tool.parameterKeys.includes(key)) return true
  const annotations = tool.annotations
  if (annotations === null) return false
  if (annotations.pathParams.includes(key) || annotations.required.includes(key) || annotations.argAliases.has(key)) return true
  return [...annotations.argAliases.values()].includes(key)
}

function checkApproval(report: Report, given: Value | undefined, activeNames: ReadonlySet<string>): void {
  const approval = readApprovalPolicy(given ?? null)
  if (approval === null) return
  const lists = {
    auto_approve: approval.autoApprove,
    auto_deny: approval.autoDeny,
    require_approval: approval.requireApproval,
  }
  for (const [list, patterns] of Object.entries(lists)) {
    for (const pattern of patterns) {
      if (pattern.includes('*') || activeNames.has(pattern)) continue
      const message = `approval_policy.${list} pattern '${pattern}' matches no active tool`
      report.add('warning', 'APPROVAL_PATTERN_NO_MATCH', message, null, `approval_policy.${list}`)
    }
  }
}

const FENCE = '```'

/** The text without fenced blocks and without lines that a marker suppresses. */
function cutToVisible(text: string): string {
  const kept: string[] = []
  let fenced = false
  let ignoring = false
  let skipNext = false
  for (const line of text.split('\n')) {
    if (line.trimStart().startsWith(FENCE)) {
      fenced = !fenced
      continue
    }
    if (line.includes('harn-tool-surface: ignore-start')) ignoring = true
    else if (line.includes('harn-tool-surface: ignore-end')) ignoring = false
    else if (line.includes('harn-tool-surface: ignore-next-line')) skipNext = true
    else if (skipNext) skipNext = false
    else if (!fenced && !ignoring && !line.includes('harn-tool-surface: ignore-line') && !line.includes('tool-surface-ignore'))
      kept.push(line)
  }
  return kept.join('\n')
}

const NOT_TOOLS: ReadonlySet<string> = new Set(
  'if for while switch return function fn JSON print println contains len render render_prompt'.split(' '),
)

/** Names that a prompt uses as tools, sorted and without repeats. */
function listPromptReferences(text: string): string[] {
  const names = new Set<string>()
  const visible = cutToVisible(text)
  for (const match of visible.matchAll(/<tool_call>\s*([A-Za-z_]\w*)/g)) names.add(match[1]!)
  for (const match of visible.matchAll(/(?<!\w)\d*([A-Za-z_]\w*)\s*\(/g)) names.add(match[1]!)
  return sortTexts([...names].filter((name) => !NOT_TOOLS.has(name)))
}

function containsWord(text: string, word: string): boolean {
  if (word === '') return false
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!/\w/.test(text[at - 1] ?? ' ') && !/\w/.test(text[at + word.length] ?? ' ')) return true
  }
  return false
}

function checkPrompt(
  report: Report,
  text: string,
  tools: readonly SurfaceTool[],
  activeNames: ReadonlySet<string>,
  searchActive: boolean,
): void {
  for (const name of listPromptReferences(text)) {
    const tool = tools.find((candidate) => candidate.name === name)
    if (tool === undefined) {
      if (name.includes('_') || name.startsWith('tool') || name.startsWith('run')) {
        report.add('warning', 'UNKNOWN_PROMPT_TOOL', `prompt references tool '${name}' which is not active`, name, 'prompt')
      }
      continue
    }
    if (!activeNames.has(name)) {
      report.add(
        'warning',
        'PROMPT_TOOL_NOT_IN_POLICY',
        `prompt references tool '${name}' outside the active policy`,
        name,
        'prompt',
      )
    }
    if (tool.deferred && !searchActive) {
      const message = `prompt references deferred tool '${name}' but tool_search is not active`
      report.add('warning', 'DEFERRED_TOOL_PROMPT_REFERENCE', message, name, 'prompt')
    }
  }
  for (const tool of tools) {
    for (const [alias, canonical] of tool.annotations?.argAliases ?? []) {
      if (!containsWord(text, alias)) continue
      const message = `prompt mentions alias '${alias}' for tool '${tool.name}'; use canonical argument '${canonical}'`
      report.add('warning', 'DEPRECATED_ARG_ALIAS', message, tool.name, `arg_schema.arg_aliases.${alias}`)
    }
  }
}

export function validateSurface(surface: Value, options: Value): HarnDict {
  const inputs = new Inputs(surface, options)
  const policy = readPolicy(inputs.get('policy'))
  const tools = readTools(inputs, policy)
  const active =
    policy === null || policy.tools.length === 0
      ? tools
      : tools.filter((tool) => policy.tools.some((pattern) => matchesGlob(pattern, tool.name)))
  const activeNames = new Set(active.map((tool) => tool.name))
  const search = inputs.get('tool_search') ?? null
  const report = new Report()
  for (const tool of active) checkEntry(report, tool, active, activeNames)
  if (policy !== null) checkConstraints(report, policy, active)
  checkApproval(report, inputs.get('approval_policy'), activeNames)
  for (const text of inputs.listPrompts()) checkPrompt(report, text, tools, activeNames, search !== null && search !== false)
  if (policy !== null && policy.level !== null) {
    // Here a text that is not a level holds everything back; where calls are judged it holds back nothing.
    const ceiling = SIDE_EFFECTS.includes(policy.level as SideEffect) ? policy.level : 'none'
    for (const tool of active) {
      if (tool.annotations === null || rankLevel(tool.annotations.level) <= rankLevel(ceiling)) continue
      const { level } = tool.annotations
      const message = `tool '${tool.name}' requires side-effect level '${level}' but policy ceiling is '${ceiling}'`
      report.add('error', 'SIDE_EFFECT_CEILING_EXCEEDED', message, tool.name, 'side_effect_level')
    }
  }
  return HarnDict.of({ valid: report.valid, diagnostics: new HarnList(report.diagnostics) })
}

function run(ctx: Context, surface: Value, options: Value): Result {
  const subject = ctx.argc === 0 ? ctx.state(boundRegistry).registry : surface
  ctx.charge(subject instanceof HarnDict && isRegistry(subject) ? 8 * listEntries(subject).length : 8)
  return validateSurface(subject, options)
}

export const toolSurfaceValidate = builtin(
  'tool_surface_validate(surface?: dict, options?: dict) -> dict',
  { doc: 'A report on tools, policies and prompts that do not fit each other.', effects: [] },
  run,
)
