// Options that a provider of models takes as they are (`{openai: {…}}`). They go into the request beside what the call says, so one
// that says the same once more – model, tokens, temperature, tools, messages – would replace what grants and limits have judged.

import { lookup } from '@bridle/vm/families'

type Options = { readonly [name: string]: unknown }

/** By name without case and underscores, since services differ in both: the option of the call that says it. */
const JUDGED: Readonly<Record<string, string>> = lookup({
  model: 'model',
  models: 'model',
  fallbacks: 'model',
  route: 'model',
  provider: 'provider',
  maxtokens: 'max_tokens',
  maxcompletiontokens: 'max_tokens',
  maxoutputtokens: 'max_tokens',
  maxnewtokens: 'max_tokens',
  mintokens: 'max_tokens',
  numpredict: 'max_tokens',
  ignoreeos: 'max_tokens',
  temperature: 'temperature',
  tools: 'tools',
  functions: 'tools',
  plugins: 'tools',
  mcpservers: 'tools',
  websearchoptions: 'tools',
  messages: 'messages',
  contents: 'messages',
  prompt: 'messages',
  input: 'messages',
  system: 'system',
  systeminstruction: 'system',
  // Each further answer costs as much as the first.
  n: 'max_tokens',
  bestof: 'max_tokens',
  candidatecount: 'max_tokens',
})

/** Records of further options. */
const NESTED: ReadonlySet<string> = new Set(['options', 'generationconfig', 'extrabody'])

/** Options that are known to change nothing of it. */
const APART: ReadonlySet<string> = new Set([
  'topp',
  'topk',
  'minp',
  'seed',
  'stop',
  'stopsequences',
  'frequencypenalty',
  'presencepenalty',
  'repetitionpenalty',
  'repeatpenalty',
  'logitbias',
  'logprobs',
  'toplogprobs',
  'numctx',
  'user',
  'metadata',
  'reasoningeffort',
  'responseformat',
  'responsemimetype',
  'responseschema',
  'safetysettings',
  'keepalive',
  'format',
  'servicetier',
  'paralleltoolcalls',
  'forcenativetoolsearch',
])

const foldName = (name: string): string => name.replaceAll('_', '').toLowerCase()

const isRecord = (value: unknown): value is Options => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first option at which `found` says something, by its path. */
function search<Found>(options: Options, found: (name: string) => Found | null, path = ''): readonly [string, Found] | null {
  for (const [name, value] of Object.entries(options)) {
    const known = foldName(name)
    const within = NESTED.has(known) && isRecord(value)
    const here = within ? null : found(known)
    if (here !== null) return [`${path}${name}`, here]
    const below = within ? search(value, found, `${path}${name}.`) : null
    if (below !== null) return below
  }
  return null
}

/** What is wrong with such options of a provider; null when they replace nothing that was judged. */
export function describeModelOptionsProblem(provider: string, options: Options): string | null {
  const judged = search(options, (name) => JUDGED[name] ?? null)
  if (judged === null) return null
  const [path, instead] = judged
  return `the provider option ${provider}.${path} would replace what the call says; give the option ${instead} of the call instead`
}

/** An option that may change a judged value; null without one. */
export function findUnknownModelOption(options: Options): string | null {
  return search(options, (name) => (APART.has(name) ? null : name))?.[0] ?? null
}

/** A request with such options: records are joined, and what the call says stays. */
export function withModelOptions(body: Options, options: Options): Options {
  const joined: { [name: string]: unknown } = { ...options, ...body }
  for (const [name, value] of Object.entries(options)) {
    const own = body[name]
    if (isRecord(own) && isRecord(value)) joined[name] = withModelOptions(own, value)
    else if (own !== undefined && JUDGED[foldName(name)] === undefined) joined[name] = value
  }
  return joined
}
