// Error messages for invalid YAML: what was expected or found, where, and inside what. The
// package finds the errors; its words for those that scripts are likely to meet are replaced here.

import type { YAMLParseError } from 'yaml'

export const SEVERAL_DOCUMENTS = 'deserializing from YAML containing more than one document is not supported'

/** Error for a duplicate key at `start`. */
export function describeDoubledKey(text: string, start: number): string {
  const key = /^(?:"[^"]*"|'[^']*'|[^:\n,}]*)/.exec(text.slice(start))![0]
  return `duplicate entry with key "${key.trim().replace(/^"([^"]*)"$|^'([^']*)'$/, '$1$2')}"`
}

/** Words of a problem with its place; null where the package's own serve. */
export function describeYamlProblem({ code, message, pos: [start] }: YAMLParseError, text: string): string | null {
  switch (code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
      return `mapping values are not allowed in this context${placeText(text, text.indexOf(':', start))}`
    case 'TAB_AS_INDENT':
      return describeStrangeStart(text, start)
    case 'BAD_DQ_ESCAPE':
      return `found unknown escape character${placeText(text, start)}, while parsing a quoted scalar${placeText(text, openQuote(text, start))}`
  }
  if (/^Plain value cannot start with (?:reserved|directive)/.test(message)) return describeStrangeStart(text, start)
  if (/^Missing closing ["']/.test(message))
    return `found unexpected end of stream${placeText(text, start)}, while scanning a quoted scalar${placeText(text, openQuote(text, start))}`
  const flow = message.includes('must ') && message.includes('end with a') ? /^Flow (sequence|map) /.exec(message) : null
  if (flow !== null) return describeUnclosedFlow(text, start, flow[1] === 'map')
  if (/^Unexpected flow-(?:seq|map)-end token/.test(message))
    return `did not find expected node content${placeText(text, start)}, while parsing a block node`
  if (/^Block scalar header includes extra characters/.test(message)) {
    const line = text.lastIndexOf('\n', start - 1) + 1
    const header = Math.max(text.lastIndexOf('|', start), text.lastIndexOf('>', start), line)
    return `did not find expected comment or line break${placeText(text, start)}, while scanning a block scalar${placeText(text, header)}`
  }
  if (/^Implicit (?:map )?keys need to be/.test(message)) {
    if (/^-(?:\s|$)/.test(text.slice(start)))
      return `did not find expected key${placeText(text, start)}, while parsing a block mapping`
    return `could not find expected ':'${locateNextLine(text, start)}, while scanning a simple key${placeText(text, start)}`
  }
  if (/^Unexpected scalar at node end/.test(message) && /^-\s/.test(text) && /^[^\s-][^\n]*:/.test(text.slice(start)))
    return `did not find expected '-' indicator${placeText(text, start)}, while parsing a block collection`
  return null
}

function describeStrangeStart(text: string, at: number): string {
  return `found character that cannot start any token${placeText(text, at)}, while scanning for the next token`
}

/** What stands where a flow collection should continue or end. */
function describeUnclosedFlow(text: string, at: number, isMap: boolean): string {
  const rest = text.slice(at)
  // A key is seen by the colon behind it.
  const colon = /^[^\s,:[\]{}"'][^\n,:[\]{}]*(?=:(?:\s|$))/.exec(rest)
  const place = rest.trim() === '' ? locateEnd(text) : placeText(text, at + (colon === null ? 0 : colon[0].length))
  if (/[[{,]\s*$/.test(text.slice(0, at))) return `did not find expected node content${place}, while parsing a flow node`
  const opened = placeText(text, openBracket(text.slice(0, at), isMap ? '{' : '['))
  return `did not find expected ',' or '${isMap ? '}' : ']'}'${place}, while parsing a flow ${isMap ? 'mapping' : 'sequence'}${opened}`
}

/** The last bracket of the kind that is not closed. Quoted texts are passed over. */
function openBracket(text: string, kind: string): number {
  const open: number[] = []
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.?)*"?|(?<=[\s,[{:])'[^']*'?|[[\]{}]/gs)) {
    if (token === '[' || token === '{') open.push(index)
    else if (token === ']' || token === '}') open.pop()
  }
  return open.findLast((at) => text[at] === kind) ?? 0
}

/** The quote that opens the text around `at`, of either kind: behind what can stand before a value. */
function openQuote(text: string, at: number): number {
  for (let place = at - 1; place >= 0; place--) {
    const isQuote = text[place] === '"' || text[place] === "'"
    if (isQuote && (place === 0 || /[\s,[{:-]/.test(text[place - 1]!))) return place
  }
  return 0
}

/** The end of a text without a line end counts as its own line. */
function locateEnd(text: string): string {
  return placeText(text.endsWith('\n') ? text : `${text}\n`, text.endsWith('\n') ? text.length : text.length + 1)
}

function locateNextLine(text: string, at: number): string {
  const end = text.indexOf('\n', at)
  return end < 0 ? locateEnd(text) : placeText(text, end + 1)
}

/** ` at line L column C`, both from 1; nothing for the very beginning. */
export function placeText(text: string, at: number): string {
  if (at <= 0) return ''
  const before = text.slice(0, at).split('\n')
  return ` at line ${before.length} column ${[...before.at(-1)!].length + 1}`
}
