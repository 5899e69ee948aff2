// Finding tools by words: BM25 over name, aliases, description and parameter names, any case; a tool that is named
// exactly comes first, ties go by name. Collections are small, so the index is made anew when tools were added.

import type { Tool } from './define.js'
import { isSchema } from './edge.js'

export interface SearchIndex {
  /** Tools with at least one of the words and their scores, best first; all tools by name for an empty text. */
  readonly find: (text: string) => readonly { readonly tool: Tool; readonly score: number }[]
}

interface Entry {
  readonly tool: Tool
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
}

/** Weights of BM25: how fast repetition stops to matter, and how much a long description counts against its tool. */
const K = 1.2
const B = 0.75
const EXACT = 1000

export function indexTools(tools: Iterable<Tool>): SearchIndex {
  const entries: Entry[] = []
  const documents = new Map<string, number>()
  for (const tool of tools) {
    const counts = new Map<string, number>()
    const words = listWords(tool)
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    for (const word of counts.keys()) documents.set(word, (documents.get(word) ?? 0) + 1)
    entries.push({ tool, counts, length: words.length })
  }
  const average = entries.reduce((sum, entry) => sum + entry.length, 0) / Math.max(1, entries.length)
  const scoreEntry = (entry: Entry, words: readonly string[]): number => {
    let score = 0
    for (const word of words) {
      const count = entry.counts.get(word) ?? 0
      if (count === 0) continue
      const holding = documents.get(word)!
      const rarity = Math.log(1 + (entries.length - holding + 0.5) / (holding + 0.5))
      score += (rarity * count * (K + 1)) / (count + K * (1 - B + (B * entry.length) / average))
    }
    return score
  }
  return {
    find(text) {
      const wanted = split(text)
      const name = text.trim().toLowerCase()
      return entries
        .map((entry) => {
          const isNamed = [entry.tool.name, ...entry.tool.aliases].some((each) => each.toLowerCase() === name)
          return { tool: entry.tool, score: scoreEntry(entry, wanted) + (isNamed ? EXACT : 0) }
        })
        .filter(({ score }) => score > 0 || wanted.length === 0)
        .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    },
  }
}

function listWords(tool: Tool): readonly string[] {
  const properties = tool.input?.json['properties']
  const parameters = isSchema(properties) ? Object.keys(properties) : []
  return [tool.name, ...tool.aliases, tool.description, ...parameters].flatMap(split)
}

/** `http.getJson` → http, get, json. */
function split(text: string): string[] {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
