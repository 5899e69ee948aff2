// The texts that an agent loop puts around a task: how to call tools, which there are, and what a
// persistent loop expects. Wording is our own; the marks that scripts and the mocked model look for are not.

import { HarnDict, HarnList, compareText, display, lookup, stringifySorted } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { isRequired } from '../../tools/definitions/validate.js'
import { getOrNil, readText } from '../../tools/definitions/registry.js'
import { readToolName } from '../models/tools.js'

const TAGS = `
## Response protocol

Answer with these blocks only, one after the other, and nothing between them but white space:

<tool_call>
name({ key: value })
</tool_call>

<assistant_prose>
A short remark, if one is needed.
</assistant_prose>

<user_response>
The answer for the person, if there is one.
</user_response>

<done>SENTINEL</done>

- Put exactly one bare call in each <tool_call>. Long text goes in a heredoc: <<TAG, the lines, and TAG at the start of a line.
- Keep remarks short; code, file contents and plans belong into calls.
- Emit <done>SENTINEL</done> once the work is complete, not before.
- Do not put labels before calls, and no code fences around them.`

/** The contract for a loop with tools. */
export function renderToolContract(mode: string, tools: readonly HarnDict[], sentinel: string, examples: string): string {
  const head = `## Tool Calling Contract\nActive mode: \`${mode}\`. It holds even if earlier text names another way to call.`
  if (mode === 'native') return `${head}\n\nCall through the provider's own tool channel, with arguments that fit the schemas.`
  const declared = [...tools].sort((a, b) => compareText(readToolName(a), readToolName(b)))
  const protocol = `${head}\n${TAGS.replaceAll('SENTINEL', sentinel)}`
  const shown = examples.trim() === '' ? [] : [`## Tool call examples\n\n${examples.trim()}`]
  return [protocol, ...shown, '## Available tools', ...declared.map(renderDeclaration)].join('\n\n')
}

/** Names of tools that a search finds, for a model that is to know what there is to look for. */
export function renderStubListing(searchTool: string, deferred: readonly HarnDict[]): string {
  const lines = deferred.map((tool) => {
    const description = tool.get('description') ?? ''
    return `- \`${readToolName(tool)}\`${description === '' ? '' : ` — ${display(description)}`}`
  })
  return [`## Tools available via \`${searchTool}\` (deferred)`, ...lines.sort(compareText)].join('\n')
}

/** What a persistent loop adds. */
export function renderPersistence(mode: string, hasTools: boolean, sentinel: string): string {
  const mark = mode !== 'native' && hasTools ? `emit \`<done>${sentinel}</done>\` as a block of its own` : `write ${sentinel}`
  return `Keep working until the request is complete, and act rather than explain. When all is done, ${mark}.`
}

function renderDeclaration(tool: HarnDict): string {
  const name = readToolName(tool)
  const description = display(tool.get('description') ?? '')
  if (tool.get('compact') === true) return `- \`${name}(${renderArguments(tool)})\` — ${description}`
  const note = description === '' ? '' : `\n/**\n * ${description.replaceAll('\n', '\n * ')}\n */`
  return `declare function ${name}(args: ${renderArguments(tool)}): string;${note}`
}

function renderArguments(tool: HarnDict): string {
  const parameters = getOrNil(tool, 'parameters')
  if (!(parameters instanceof HarnDict) || parameters.size === 0) return '{}'
  // What must be given comes first.
  const names = parameters.keys()
  const ordered = [
    ...names.filter((name) => isRequired(parameters.get(name)!)),
    ...names.filter((name) => !isRequired(parameters.get(name)!)),
  ]
  return `{ ${ordered.map((name) => renderMember(name, parameters.get(name)!, isRequired(parameters.get(name)!))).join('; ')} }`
}

function renderMember(name: string, spec: Value, required: boolean): string {
  const notes: string[] = []
  const text =
    spec instanceof HarnDict
      ? readText(spec, 'description')
      : typeof spec === 'string' && !Object.hasOwn(TYPES, spec)
        ? spec
        : null
  if (text !== null) notes.push(text)
  const fallback = spec instanceof HarnDict ? spec.get('default') : undefined
  if (fallback !== undefined) notes.push(`default ${stringifySorted(fallback)}`)
  const why = [required ? 'required' : 'optional', ...notes].join(' — ')
  return `${name}${required ? '' : '?'}: ${renderType(spec)} /* ${why} */`
}

const TYPES: Readonly<Record<string, string>> = lookup({
  int: 'number',
  integer: 'number',
  float: 'number',
  number: 'number',
  bool: 'boolean',
  boolean: 'boolean',
  string: 'string',
  array: 'any[]',
  object: 'object',
  null: 'null',
  any: 'any',
})

/** A schema as a type of the declaration; other values become text. */
function renderType(spec: Value): string {
  if (!(spec instanceof HarnDict)) return TYPES[display(spec)] ?? 'string'
  const choices = spec.get('enum')
  if (choices instanceof HarnList)
    return choices
      .view()
      .map((choice) => stringifySorted(choice))
      .join(' | ')
  const either = spec.get('oneOf') ?? spec.get('anyOf')
  if (either instanceof HarnList) return either.view().map(renderType).join(' | ')
  const type = spec.get('type') ?? 'string'
  if (type instanceof HarnList) return type.view().map(renderType).join(' | ')
  const items = spec.get('items')
  if (type === 'array' && items instanceof HarnDict) {
    const inner = renderType(items)
    return inner.includes(' | ') ? `(${inner})[]` : `${inner}[]`
  }
  const properties = spec.get('properties')
  if (type === 'object' && properties instanceof HarnDict && properties.size > 0) {
    const required = spec.get('required')
    const must = (name: string): boolean => required instanceof HarnList && required.view().includes(name)
    return `{ ${properties
      .keys()
      .map((name) => renderMember(name, properties.get(name)!, must(name)))
      .join('; ')} }`
  }
  return TYPES[display(type)] ?? 'string'
}

/** A message of the runtime to the model. */
export function makeFeedback(kind: string, text: string): HarnDict {
  const safe = kind.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char]!)
  return HarnDict.of({
    role: 'user',
    content: `<runtime_feedback kind="${safe}">\n${text.trim()}\n</runtime_feedback>`,
  })
}

export function renderViolations(violations: readonly string[], sentinel: string): string {
  return (
    `Your response violated the tagged response protocol. Each issue:\n${violations.map((each) => `- ${each}`).join('\n')}\n\n` +
    'Use only <tool_call>, <assistant_prose>, <user_response> and <done> at top level; ' +
    `finish with <done>${sentinel}</done> when the work is complete.`
  )
}

// Errors that the guidance repeats; all of them follow in their own message.
const GUIDED = 2

export function parseGuidance(errors: readonly string[]): string {
  return (
    `Your tool call could not be parsed: ${errors.slice(0, GUIDED).join('; ')}\n` +
    'Write name({ key: value }) with an object literal; for text of several lines use a heredoc: key: <<EOF, the lines, EOF.'
  )
}
