// The client's search for deferred tools: tools that a request leaves out are found by words or by
// a pattern, and are in the next request.

import { HarnDict, HarnList, compareText, display, failWith, stringifySorted, toUtf8 } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { compileRegex, searchRegex } from '../../library/regex/engine.js'
import { RegexSyntaxError } from '../../library/regex/syntax.js'
import { isDeferred, makeNativeTool, readToolSearch, readToolName } from '../models/tools.js'
import type { ToolSearch } from '../models/tools.js'
import { listAt, getOrNil, readText } from '../../tools/definitions/registry.js'
import type { Regex } from '../../library/regex/machines/search.js'

const MOST_FOUND = 20
const K1 = 1.5
const B = 0.75

/** What a tool is searched by. */
function makeCorpus(tool: HarnDict): string {
  const parts = [readToolName(tool), display(tool.get('description') ?? '')]
  const parameters = getOrNil(tool, 'parameters')
  if (parameters instanceof HarnDict) {
    for (const name of parameters.keys()) {
      const spec = parameters.get(name)!
      const description = spec instanceof HarnDict ? readText(spec, 'description') : null
      parts.push(description === null ? name : `${name}: ${description}`)
    }
  }
  const server = readText(tool, 'mcp_server') ?? readText(tool, '_mcp_server')
  if (server !== null) parts.push(`mcp:${server} ${server}`)
  return parts.join(' ')
}

function tokenize(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? []
}

interface Found {
  readonly names: readonly string[]
  readonly diagnostic: string | null
}

function searchWords(tools: readonly HarnDict[], query: string): Found {
  const words = tokenize(query)
  const documents = tools.map((tool) => tokenize(makeCorpus(tool)))
  const average = documents.reduce((sum, each) => sum + each.length, 0) / Math.max(1, documents.length)
  const scored = tools.map((tool, at) => {
    const document = documents[at]!
    let score = 0
    for (const word of words) {
      const count = document.filter((each) => each === word).length
      if (count === 0) continue
      const containing = documents.filter((each) => each.includes(word)).length
      const idf = Math.log((documents.length - containing + 0.5) / (containing + 0.5) + 1)
      score += (idf * count * (K1 + 1)) / (count + K1 * (1 - B + (B * document.length) / average))
    }
    return { name: readToolName(tool), score }
  })
  return rankFound(scored, 'no tools matched your BM25 query; try shorter or more generic terms')
}

function searchPattern(tools: readonly HarnDict[], query: string): Found {
  let pattern: Regex
  try {
    pattern = compileRegex(query, 'i')
  } catch (error) {
    if (!(error instanceof RegexSyntaxError)) throw error
    return { names: [], diagnostic: `regex compile error: ${error.message}` }
  }
  const scored = tools.map((tool) => {
    const search = searchRegex(pattern, makeCorpus(tool), false)
    let score = 0
    while (search.next()) score++
    search.finish()
    return { name: readToolName(tool), score }
  })
  return rankFound(scored, 'no tools matched your regex; widen the alternation or relax quantifiers')
}

function rankFound(scored: readonly { readonly name: string; readonly score: number }[], nothing: string): Found {
  const hits = scored.filter((each) => each.score > 0)
  hits.sort((a, b) => b.score - a.score || compareText(a.name, b.name))
  return hits.length === 0
    ? { names: [], diagnostic: nothing }
    : { names: hits.slice(0, MOST_FOUND).map((each) => each.name), diagnostic: null }
}

/** The search of one loop: which tools are shown, and which wait to be found. */
export class LoopSearch {
  readonly search: ToolSearch
  private readonly all: readonly HarnDict[]
  /** Found tools, oldest first. */
  promoted: string[]

  constructor(search: ToolSearch, all: readonly HarnDict[], promoted: string[]) {
    this.search = search
    this.promoted = promoted
    this.all = all
  }

  get name(): string {
    return this.search.name
  }

  /** Tools that are to be found. */
  get deferred(): readonly HarnDict[] {
    return this.all.filter((tool) => isDeferred(tool) && !this.search.alwaysLoaded.includes(readToolName(tool)))
  }

  /** Names that a request carries though they are deferred. */
  get loaded(): readonly string[] {
    return [...this.search.alwaysLoaded, ...this.promoted]
  }

  /** Tools listed in the contract. */
  get visible(): readonly HarnDict[] {
    const loaded = this.loaded
    const entry = HarnDict.of({
      name: this.name,
      description: 'Finds further capabilities by what they do; what it returns can be called from the next turn on.',
      parameters: HarnDict.of({ query: HarnDict.of({ type: 'string' }) }),
    })
    return [entry, ...this.all.filter((tool) => !isDeferred(tool) || loaded.includes(readToolName(tool)))]
  }

  /** Answers a search and takes what it found into the next requests. */
  find(query: string): { readonly text: string; readonly names: readonly string[]; readonly added: readonly string[] } {
    const { strategy } = this.search
    const waiting = this.deferred
    const found = ((): Found => {
      if (query.trim() === '') return { names: [], diagnostic: 'empty query; specify search terms or a regex pattern' }
      if (waiting.length === 0) return { names: [], diagnostic: 'no candidate tools in the index' }
      if (strategy === 'bm25') return searchWords(waiting, query)
      if (strategy === 'regex') return searchPattern(waiting, query)
      return {
        names: [],
        diagnostic: 'tool_search strategy requires a host bridge but none is attached; switch to bm25 / regex',
      }
    })()
    const fresh = found.names.filter((name) => !this.promoted.includes(name) && this.promote(name))
    // What was evicted again for a later find is not there.
    const added = fresh.filter((name) => this.promoted.includes(name))
    const answer = new HarnDict()
    if (found.diagnostic !== null) answer.set('diagnostic', found.diagnostic)
    answer.set('tool_names', new HarnList([...found.names]))
    return { text: stringifySorted(answer), names: found.names, added }
  }

  /** False for a tool that alone is over the budget. */
  private promote(name: string): boolean {
    const budget = this.search.budgetTokens
    const measureTool = (each: string): number => {
      const tool = this.all.find((one) => readToolName(one) === each)
      return tool === undefined ? 0 : Math.ceil(toUtf8(stringifySorted(makeNativeTool(withoutMark(tool), false))).length / 4)
    }
    if (budget !== null && measureTool(name) > budget) return false
    this.promoted.push(name)
    while (budget !== null && this.promoted.reduce((sum, each) => sum + measureTool(each), 0) > budget) this.promoted.shift()
    return true
  }
}

/** The tool as a request carries it once it was found. */
function withoutMark(tool: HarnDict): HarnDict {
  const copy = tool.copy()
  copy.delete('defer_loading')
  return copy
}

/** The search of a loop's options; null when there is none, or when the service searches by itself. */
export function makeLoopSearch(option: Value, tools: readonly HarnDict[], native: boolean): HarnDict | null {
  const search = readToolSearch(option)
  if (typeof search === 'string') return failWith(search)
  return search === null || native || !tools.some(isDeferred) ? null : searchValue(search)
}

/** A search as internal modules hold it, with nothing found yet. */
function searchValue(search: ToolSearch): HarnDict {
  return HarnDict.of({
    name: search.name,
    variant: search.variant,
    mode: search.mode,
    strategy: search.strategy,
    always_loaded: new HarnList([...search.alwaysLoaded]),
    budget_tokens: search.budgetTokens,
    stub_listing: search.stubListing,
    promoted: new HarnList([]),
  })
}

export function decodeSearch(value: HarnDict, tools: readonly HarnDict[]): LoopSearch {
  const budget = value.get('budget_tokens') ?? null
  const search: ToolSearch = {
    name: value.get('name') as string,
    variant: value.get('variant') as ToolSearch['variant'],
    mode: value.get('mode') as ToolSearch['mode'],
    strategy: value.get('strategy') as ToolSearch['strategy'],
    alwaysLoaded: listAt(value, 'always_loaded').map(display),
    budgetTokens: budget === null ? null : Number(budget),
    stubListing: value.get('stub_listing') === true,
  }
  return new LoopSearch(search, tools, listAt(value, 'promoted').map(display))
}
