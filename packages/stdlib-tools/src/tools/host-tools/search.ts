// Finding tools by words: BM25 with fields (BM25F) over name, aliases, description and parameter names, any case. A word of the name counts as much as several of the
// description. A word that no tool has stands for those that begin like it (`repo`, `screenshots`). A tool that is named exactly comes first, ties go
// by name. Collections are small, so the index is rebuilt when tools were added.

import type { Tool } from './define.js'
import { isSchema } from './edge.js'

export interface SearchIndex {
  /** Tools with at least one of the words and their scores, best first; all tools by name for an empty text. */
  readonly find: (text: string) => readonly { readonly tool: Tool; readonly score: number }[]
}

interface Entry {
  readonly tool: Tool
  readonly names: ReadonlyMap<string, number>
  /** Words of the description and names of parameters. */
  readonly about: ReadonlyMap<string, number>
  readonly length: number
}

/** Weights of BM25: how fast repetition stops to matter, and how much a long description counts against its tool. */
const K = 1.2
const B = 0.4
const EXACT = 1000
/** As how many words of the description one of the name counts: its author chose it for what the tool does. */
const NAME_WEIGHT = 3
/** Shorter words begin too many others. */
const SHORTEST_STEM = 4

export function indexTools(tools: Iterable<Tool>): SearchIndex {
  const entries: Entry[] = []
  const documents = new Map<string, number>()
  for (const tool of tools) {
    const names = [tool.name, ...tool.aliases].flatMap(split)
    const about = [tool.description, ...listParameters(tool)].flatMap(split)
    for (const word of new Set([...names, ...about])) documents.set(word, (documents.get(word) ?? 0) + 1)
    entries.push({ tool, names: countWords(names), about: countWords(about), length: about.length })
  }
  const average = Math.max(1, entries.reduce((sum, entry) => sum + entry.length, 0) / Math.max(1, entries.length))
  const scoreEntry = ({ names, about, length }: Entry, words: readonly string[]): number => {
    let score = 0
    for (const word of words) {
      const count = NAME_WEIGHT * (names.get(word) ?? 0) + (about.get(word) ?? 0) / (1 - B + (B * length) / average)
      if (count === 0) continue
      const holding = documents.get(word)!
      const rarity = Math.log(1 + (entries.length - holding + 0.5) / (holding + 0.5))
      score += (rarity * count * (K + 1)) / (count + K)
    }
    return score
  }
  /** The word; those of the tools that begin like it, or that it begins with, where no tool has it. */
  const findKnown = (word: string): readonly string[] => {
    if (documents.has(word) || word.length < SHORTEST_STEM) return [word]
    const near = [...documents.keys()].filter(
      (each) => each.length >= SHORTEST_STEM && (each.startsWith(word) || word.startsWith(each)),
    )
    return near.length === 0 ? [word] : near
  }
  return {
    find(text) {
      const wanted = split(text).flatMap(findKnown)
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

function listParameters(tool: Tool): readonly string[] {
  const properties = tool.input?.json['properties']
  return isSchema(properties) ? Object.keys(properties) : []
}

function countWords(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** `http.getJson` → http, get, json. */
function split(text: string): string[] {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
