// JSON Schemas of tools: the export of `tool_schema`, and the schema that dispatch checks arguments against, which
// reads the same parameter specs with the rules of §1.4.

import { HarnDict, HarnList, display } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { listEntries } from './registry.js'

const JSON_TYPES: ReadonlyMap<string, string> = new Map([
  ['int', 'integer'],
  ['float', 'number'],
  ['bool', 'boolean'],
  ['boolean', 'boolean'],
  ['list', 'array'],
  ['array', 'array'],
  ['dict', 'object'],
  ['object', 'object'],
])

/** What one parameter spec or return spec becomes in an exported schema. */
export function resolveSpec(spec: Value, components: Value): Value {
  if (typeof spec === 'string') return HarnDict.of({ type: JSON_TYPES.get(spec) ?? 'string' })
  if (!(spec instanceof HarnDict)) return HarnDict.of({ type: 'string' })
  const reference = spec.get('$ref')
  if (typeof reference !== 'string') return spec
  const found = components instanceof HarnDict ? components.get(reference) : undefined
  return found ?? HarnDict.of({ $ref: `#/components/schemas/${reference}` })
}

function makeInputSchema(parameters: Value | undefined, components: Value): HarnDict {
  const properties = new HarnDict()
  if (!(parameters instanceof HarnDict) || parameters.size === 0) return HarnDict.of({ type: 'object', properties })
  for (const [name, spec] of parameters.entries()) properties.set(name, resolveSpec(spec, components))
  const required = new HarnList([...parameters.keys()])
  return HarnDict.of({ type: 'object', properties, required })
}

function toText(value: Value | undefined): string {
  return value === undefined ? '' : display(value)
}

export function exportSchema(registry: HarnDict, components: Value): HarnDict {
  const schema = HarnDict.of({ schema_version: 'harn-tools/1.0', tools: new HarnList([]) })
  if (!(registry.get('tools') instanceof HarnList)) return schema
  const tools: Value[] = []
  for (const entry of listEntries(registry)) {
    if (!(entry instanceof HarnDict)) continue
    const tool = HarnDict.of({
      name: toText(entry.get('name')),
      description: toText(entry.get('description')),
      inputSchema: makeInputSchema(entry.get('parameters'), components),
    })
    const output = entry.get('outputSchema')
    if (output !== undefined) tool.set('outputSchema', resolveSpec(output, components))
    tools.push(tool)
  }
  schema.set('tools', new HarnList(tools))
  if (components instanceof HarnDict) schema.set('components', HarnDict.of({ schemas: components }))
  return schema
}
