// From the readable source of harn.ohm to what Ohm compiles: token spellings become private-use characters, abbreviations are
// expanded. The compiled grammar gives two modules: its recipe, by which syntax errors are explained, and the parser.

import * as ohm from 'ohm-js'
import { TOKEN } from '../src/tokens.js'
import { emitParser } from './emit-parser.js'
import { readRules } from './pegs.js'

const ABBREVIATION = /^ *(_\w*) *= *(.*)$/gm
const ABBREVIATION_USE = /(?<!\w)_\w*/g
const PIECES = /\/\/[^\n]*|"((?:[^"\\]|\\.)*)"/g

/** Replaces token spellings in `source` by escapes of their code units, and expands abbreviations. */
export function expandTokenNames(source: string): string {
  const plain = source.replace(PIECES, (_piece, spelling: string | undefined) => {
    if (spelling === undefined) return ''
    const name = spelling === '\\n' ? '\n' : spelling
    const unit = (TOKEN as Readonly<Record<string, number | undefined>>)[name]
    if (unit === undefined) throw new Error(`harn.ohm names an unknown token "${spelling}"`)
    return escapeUnit(unit)
  })
  const abbreviations = new Map([...plain.matchAll(ABBREVIATION)].map(([, name = '', body = '']) => [name, body]))
  const writeOut = (text: string): string =>
    text.replace(ABBREVIATION_USE, (name) => {
      const body = abbreviations.get(name)
      if (body === undefined) throw new Error(`harn.ohm uses ${name}, which it does not define`)
      return `(${writeOut(body)})`
    })
  return writeOut(plain.replace(ABBREVIATION, ''))
}

export interface CompiledGrammar {
  readonly recipe: string
  /** Our own rules, in the order of the file. */
  readonly rules: readonly string[]
}

/** Compiles the text of harn.ohm to a recipe, which loads some fifty times faster than the text. */
export function compileGrammar(source: string): CompiledGrammar {
  const grammar = ohm.grammar(expandTokenNames(source))
  // Types of ohm-js 17 leave toRecipe out.
  const recipe = (grammar as unknown as { toRecipe(): string }).toRecipe()
  return { recipe: withoutSource(recipe), rules: Object.keys((grammar as unknown as { rules: object }).rules) }
}

/** A recipe carries the grammar source and a position in it for every expression, only for messages about the grammar. */
function withoutSource(recipe: string): string {
  const strip = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(strip)
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part).flatMap(([key, value]) => (SOURCE_KEYS.has(key) ? [] : [[key, strip(value)]])))
  }
  return JSON.stringify(strip(JSON.parse(recipe)))
}

const SOURCE_KEYS: ReadonlySet<string> = new Set(['source', 'sourceInterval'])

/** Source of grammar.generated.ts. Private-use characters are written as escapes, so that the file displays the same everywhere. */
export function generateGrammarModule(source: string): string {
  const { recipe, rules } = compileGrammar(source)
  const literal = recipe
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `// Generated from harn.ohm by scripts/generate-grammar.ts: change that, then run it again.

export type RuleName =
${rules.map((rule) => `  | '${rule}'\n`).join('')}
/** The rules as JSON, in the form in which Ohm stores a grammar. */
export const GRAMMAR_RECIPE =
  '${literal}'
`
}

function escapeUnit(unit: number): string {
  return `"\\u{${unit.toString(16)}}"`
}

/** Source of parser.generated.ts. */
export function generateParserModule(source: string): string {
  return emitParser(readRules(compileGrammar(source).recipe))
}
