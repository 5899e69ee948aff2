// The texts of a registry: the short listing and the prompt that teaches a model the tag form of a call.

import { HarnDict, HarnList, compareText, display } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { listEntries, readName } from './registry.js'

interface Shown {
  readonly name: string
  readonly description: string
  readonly parameters: string
  readonly returns: string
}

function formatPairs(dict: HarnDict): string {
  return dict
    .keys()
    .map((key) => `${key}: ${display(dict.get(key)!)}`)
    .join(', ')
}

function returnText(schema: Value | undefined): string {
  if (typeof schema === 'string') return schema
  if (!(schema instanceof HarnDict)) return ''
  const reference = schema.get('$ref')
  return typeof reference === 'string' ? `$ref(${reference})` : formatPairs(schema)
}

/** The tools by name; a stable sort keeps the order of equal names. */
function listShownTools(registry: HarnDict): Shown[] {
  const shown: Shown[] = []
  for (const entry of listEntries(registry)) {
    if (!(entry instanceof HarnDict)) continue
    const parameters = entry.get('parameters')
    const description = entry.get('description')
    shown.push({
      name: readName(entry),
      description: description === undefined ? '' : display(description),
      parameters: parameters instanceof HarnDict ? formatPairs(parameters) : '',
      returns: returnText(entry.get('outputSchema')),
    })
  }
  return shown.sort((a, b) => compareText(a.name, b.name))
}

export function describeTools(registry: HarnDict): string {
  const lines = ['Available tools:']
  for (const tool of listShownTools(registry)) {
    lines.push(`- ${tool.name}(${tool.parameters}): ${tool.description}`)
    if (tool.returns !== '') lines.push(`  returns ${tool.returns}`)
  }
  if (lines.length === 1) lines.push('(none)')
  return lines.join('\n')
}

const CALL_FORM = '<tool_call>{"name": "tool_name", "arguments": {"param": "value"}}</tool_call>'

export function renderPromptTools(registry: HarnDict): string {
  const tools = listShownTools(registry)
  if (!(registry.get('tools') instanceof HarnList) || tools.length === 0) return 'No tools are available.'
  const lines = [
    '# Available Tools',
    '',
    'You have access to the following tools. To use a tool, output a tool call in this exact format:',
    '',
    CALL_FORM,
    '',
    'You may make multiple tool calls in a single response. Wait for tool results before proceeding.',
    '',
    '## Tools',
    '',
  ]
  for (const tool of tools) {
    lines.push(`### ${tool.name}`, tool.description)
    if (tool.parameters !== '') lines.push(`Parameters: ${tool.parameters}`)
    if (tool.returns !== '') lines.push(`Returns: ${tool.returns}`)
    lines.push('')
  }
  return lines.join('\n').trimEnd()
}
