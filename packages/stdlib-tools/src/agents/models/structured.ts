// Structured answers: JSON out of what a model wrote, what is wrong with it, and the message that
// asks for better.

import { HarnDict, HarnList, runAtOnce, display, parseJson, sortTexts, stringifyJson } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { findJson } from '../../library/formats/json-extract.js'
import { checkSchema } from '../../library/schema/check.js'
import { SchemaError, canonicalizeSchema } from '../../library/schema/normal.js'
import { parseTagged } from '../../library/formats/tagged-response.js'
import type { LlmRequest } from './options.js'
import type { LlmResponse } from './state.js'
import { readParseError } from '../../tools/definitions/model-arguments.js'

/** Whether an answer must be JSON. */
export function expectsData(request: LlmRequest): boolean {
  return request.outputKind !== 'text' || request.outputSchema !== null
}

/** The data of an answer: undefined when no part of it is JSON. */
export function extractData(response: LlmResponse, toolNames: readonly string[]): Value | undefined {
  const candidates = [response.text.trim(), readPublicText(response)]
  for (const call of response.toolCalls) {
    const args = call.get('arguments') ?? null
    if (readParseError(args) === null) candidates.push(stringifyJson(args))
  }
  const inside = candidates.map((text) => parseTagged(text, toolNames).prose)
  for (const text of [...candidates, ...inside]) {
    if (text === '') continue
    const parsed = parseJson(findJson(text))
    if (parsed.ok) return parsed.value
  }
  return undefined
}

function readPublicText(response: LlmResponse): string {
  const shown = response.blocks.filter(
    (block) => block.get('type') === 'output_text' && (block.get('visibility') ?? 'public') === 'public',
  )
  return shown.map((block) => display(block.get('text') ?? '')).join('')
}

/** Whether the extraction had to look inside the text. */
export function wasExtracted(text: string): boolean {
  return !parseJson(text.trim()).ok && parseJson(findJson(text)).ok
}

export interface Judged {
  readonly data: Value | undefined
  readonly errors: readonly string[]
  /** Whether there was no JSON at all. */
  readonly missing: boolean
}

/** The answer's data under the schema that it must obey. */
export function judge(request: LlmRequest, response: LlmResponse, violations: readonly string[]): Judged {
  const data = extractData(response, request.toolNames)
  if (data === undefined) {
    const errors = ['response did not contain parseable JSON']
    if (violations.length > 0) errors.push(`protocol violations: ${violations.join('; ')}`)
    if (response.stopReason === 'length' || response.stopReason === 'max_tokens') {
      errors.push('response hit the token limit before producing complete JSON')
    }
    return { data, errors, missing: true }
  }
  if (request.outputSchema === null) return { data, errors: [], missing: false }
  try {
    const checked = checkSchema(data, runAtOnce(canonicalizeSchema(request.outputSchema)), true)
    return { data: checked.errors.length === 0 ? checked.value : data, errors: checked.errors, missing: false }
  } catch (error) {
    if (error instanceof SchemaError) return { data, errors: [error.message], missing: false }
    throw error
  }
}

// ------------------------------------------------------------------------------------------------------------------- nudge

const MAX_LINES = 8
const MAX_KEYS = 16
const MAX_DEPTH = 3

/** The message after a bad answer; null when there is to be none. */
export function nudgeText(request: LlmRequest, errors: readonly string[]): string | null {
  if (request.nudge === false) return null
  if (typeof request.nudge === 'string') return `${request.nudge}\n\nValidation errors: ${errors.join('; ')}`
  let text = `Your previous response did not match the required JSON schema.\nValidation errors: ${errors.join('; ')}.`
  const schema = request.outputSchema
  if (schema !== null) {
    const { allowed, required } = listKeys(schema)
    if (required.length > 0) text += `\nRequired keys: ${required.join(', ')}.`
    if (allowed.length > 0) text += `\nAllowed top-level keys: ${allowed.join(', ')}.`
    const lines = renderShape(schema)
    if (lines.length > 0) text += `\nExpected JSON schema shape:${lines.map((line) => `\n- ${line}`).join('')}`
  }
  return `${text}\nRespond again with ONLY valid JSON conforming to the schema. No prose, no markdown fences.`
}

function listKeys(schema: HarnDict): { readonly allowed: readonly string[]; readonly required: readonly string[] } {
  const properties = schema.get('properties')
  const required = schema.get('required')
  return {
    allowed: properties instanceof HarnDict ? properties.keys() : [],
    required: required instanceof HarnList ? required.view().map((key) => display(key)) : [],
  }
}

function formatLimited(keys: readonly string[]): string {
  const shown = keys.slice(0, MAX_KEYS).join(', ')
  return keys.length > MAX_KEYS ? `${shown}, ... (+${keys.length - MAX_KEYS} more)` : shown
}

function renderShape(schema: HarnDict): string[] {
  const lines: string[] = []
  const visit = (node: Value | undefined, path: string, depth: number): void => {
    if (!(node instanceof HarnDict) || lines.length >= MAX_LINES || depth > MAX_DEPTH) return
    const { allowed, required } = listKeys(node)
    if (allowed.length > 0) {
      const facts = [`allowed keys: ${formatLimited(allowed)}`]
      if (required.length > 0) facts.push(`required keys: ${formatLimited(sortTexts([...required]))}`)
      lines.push(`${path === '' ? 'root' : path} object ${facts.join('; ')}`)
      const properties = node.get('properties') as HarnDict
      for (const key of allowed) visit(properties.get(key), path === '' ? key : `${path}.${key}`, depth + 1)
    }
    const items = node.get('items')
    if (items !== undefined) visit(items, `${path === '' ? 'root' : path}[]`, depth + 1)
  }
  visit(schema, '', 0)
  return lines
}
