// Forms of MCP servers (`elicitation/create`): flat fields of plain types, as the schema of the request lists them.

import type { Plain } from '@bridle/vm'

type Fields = { readonly [key: string]: unknown }

export interface FormField {
  readonly name: string
  readonly title: string
  readonly description: string | null
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'choice' | 'choices'
  /** Values with their titles, for choices. */
  readonly choices: readonly (readonly [value: string, title: string])[]
  readonly isRequired: boolean
  /** Undefined where there is none. */
  readonly fallback: unknown
}

export function readForm(schema: unknown): readonly FormField[] {
  const whole = toFields(schema)
  const required = Array.isArray(whole['required']) ? whole['required'] : []
  return Object.entries(toFields(whole['properties'])).map(([name, given]) => {
    const field = toFields(given)
    const isMany = field['type'] === 'array'
    const choices = readChoices(isMany ? toFields(field['items']) : field)
    return {
      name,
      title: readText(field['title']) ?? name,
      description: readText(field['description']),
      type: isMany ? 'choices' : choices.length > 0 ? 'choice' : readType(field['type']),
      choices,
      isRequired: required.includes(name),
      fallback: field['default'],
    }
  })
}

/** `enum`, with a parallel list of names, or `oneOf` and `anyOf` of constants. */
function readChoices(field: Fields): FormField['choices'] {
  const titled = [field['oneOf'], field['anyOf']].find(Array.isArray) as readonly unknown[] | undefined
  if (titled !== undefined)
    return titled.map(toFields).map((each) => [String(each['const']), readText(each['title']) ?? String(each['const'])] as const)
  const values = Array.isArray(field['enum']) ? (field['enum'] as readonly unknown[]) : []
  const names = Array.isArray(field['enumNames']) ? (field['enumNames'] as readonly unknown[]) : []
  return values.map((value, at) => [String(value), readText(names[at]) ?? String(value)] as const)
}

function readType(type: unknown): 'string' | 'integer' | 'number' | 'boolean' {
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : 'string'
}

/** Converts typed text to the type of the field; undefined when it does not fit. */
export function parseField({ type, choices }: FormField, line: string): unknown {
  switch (type) {
    case 'string':
      return line
    case 'integer':
      return /^[+-]?\d{1,15}$/.test(line) ? Number(line) : undefined
    case 'number':
      return line !== '' && Number.isFinite(Number(line)) ? Number(line) : undefined
    case 'boolean':
      if (/^(?:y|yes|true)$/i.test(line)) return true
      return /^(?:n|no|false)$/i.test(line) ? false : undefined
    case 'choice':
      return findChoice(choices, line)
    case 'choices': {
      const words = line
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== '')
      if (choices.length === 0) return words
      const found = words.map((word) => findChoice(choices, word))
      return found.includes(undefined) ? undefined : found
    }
  }
}

/** By value, title or number. */
function findChoice(choices: FormField['choices'], word: string): string | undefined {
  const lower = word.toLowerCase()
  return (
    choices.find(([value, title]) => value.toLowerCase() === lower || title.toLowerCase() === lower) ?? choices[Number(word) - 1]
  )?.[0]
}

/** Whether a prepared answer has the type of the field. */
export function fitsField({ type, choices }: FormField, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'choices':
      return Array.isArray(value) && (choices.length === 0 || value.every((each) => choices.some(([known]) => known === each)))
    case 'choice':
      return choices.some(([known]) => known === value)
    case 'string':
      return typeof value === 'string'
  }
}

export function describeField(field: FormField): string {
  const { title, description, type, choices, isRequired, fallback } = field
  const kinds = choices.map(([, name], at) => `${at + 1} ${name}`).join(', ')
  const what = kinds === '' ? type : `${type === 'choices' ? 'any of' : 'one of'} ${kinds}`
  const empty =
    fallback !== undefined ? `; empty: ${JSON.stringify(fallback)}` : isRequired ? '; empty: decline' : '; may be empty'
  return `  ${title}${description === null ? '' : `, ${description}`} (${what}${empty})`
}

/** Fields without an answer are left out. */
export function makeContent(
  fields: readonly FormField[],
  answers: ReadonlyMap<string, unknown>,
): { readonly [name: string]: Plain } {
  return Object.fromEntries(
    fields.flatMap(({ name }): readonly (readonly [string, Plain])[] => {
      const value = answers.get(name)
      return value === undefined ? [] : [[name, value as Plain]]
    }),
  )
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}
