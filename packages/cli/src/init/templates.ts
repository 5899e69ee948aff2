// The projects of `bridle init`: small, runnable, with a test. init.test.ts tries each.

export const KINDS = ['script', 'agent', 'embed', 'gateway'] as const
export type Kind = (typeof KINDS)[number]

export interface Template {
  /** Description for `--help` and for a call without a kind. */
  readonly summary: string
  /** By path in the project. */
  readonly files: { readonly [path: string]: string }
  /** The next commands to type, in the project. */
  readonly next: readonly string[]
}

/** For a project named `name` and version `version` of the packages. */
export function makeTemplate(kind: Kind, name: string, version: string): Template {
  return TEMPLATES[kind](name, version)
}

const IGNORED = 'node_modules/\n.harn/\n'

const TEMPLATES: { readonly [kind in Kind]: (name: string, version: string) => Template } = {
  script: (name, version) => ({
    summary: 'a script with a test',
    files: {
      'package.json': makeManifest(name, {
        scripts: { start: 'bridle run main.harn', test: 'bridle test tests', check: 'bridle check --strict .' },
        devDependencies: { '@bridle/cli': version },
      }),
      '.gitignore': IGNORED,
      'README.md': makeReadme(name, 'A script in the Harn language.', ['npm start', 'npm test', 'npm run check']),
      'main.harn': SCRIPT,
      'lib/tally.harn': SCRIPT_LIBRARY,
      'tests/tally.harn': SCRIPT_TEST,
    },
    next: ['npm install', 'npm start', 'npm test'],
  }),

  agent: (name, version) => ({
    summary: 'an agent with tools, tested with a model that answers from the test',
    files: {
      'package.json': makeManifest(name, {
        scripts: { start: 'bridle run main.harn --', test: 'bridle test tests', check: 'bridle check --strict .' },
        devDependencies: { '@bridle/cli': version },
      }),
      '.gitignore': IGNORED,
      'README.md': makeReadme(
        name,
        'An agent in the Harn language. It needs the key of a model provider: set ANTHROPIC_API_KEY or OPENAI_API_KEY. The tests need none.',
        ['npm start -- "How much are three teas?"', 'npm test', 'npm run check'],
      ),
      'main.harn': AGENT,
      'lib/shop.harn': AGENT_LIBRARY,
      'tests/shop.harn': AGENT_TEST,
    },
    next: ['npm install', 'npm test', 'npm start'],
  }),

  embed: (name, version) => ({
    summary: 'a Node program that runs a script with its tools',
    files: {
      'package.json': makeManifest(name, {
        type: 'module',
        scripts: { start: 'node main.js', test: 'node --test' },
        dependencies: { '@bridle/stdlib-tools': version, zod: '^4.0.0' },
      }),
      '.gitignore': IGNORED,
      'README.md': makeReadme(
        name,
        'A Node program that runs scripts in the Harn language. A script can call its tools and nothing else.',
        ['npm start', 'npm test'],
      ),
      'shop.js': EMBED_LIBRARY,
      'main.js': EMBED,
      'shop.test.js': EMBED_TEST,
    },
    next: ['npm install', 'npm start', 'npm test'],
  }),

  gateway: (name, version) => ({
    summary: 'one MCP server in front of others, for clients whose model writes scripts',
    files: {
      'package.json': makeManifest(name, {
        scripts: { start: 'bridle gateway gateway.toml', test: 'bridle test tests', check: 'bridle check --strict .' },
        devDependencies: { '@bridle/cli': version },
      }),
      '.gitignore': IGNORED,
      'README.md':
        makeReadme(
          name,
          'One MCP server in front of those of gateway.toml. Models search their tools, and call them from scripts. Orders wait for a person.',
          ['npm test', 'npm run check'],
        ) + GATEWAY_README,
      'gateway.toml': GATEWAY,
      'shop.harn': GATEWAY_SERVER,
      'tests/gateway.harn': GATEWAY_TEST,
    },
    next: ['npm install', 'npm test'],
  }),
}

function makeManifest(name: string, facts: { readonly [key: string]: unknown }): string {
  return `${JSON.stringify({ name, private: true, version: '0.0.0', ...facts }, null, 2)}\n`
}

function makeReadme(name: string, about: string, commands: readonly string[]): string {
  return `# ${name}\n\n${about}\n\n\`\`\`\nnpm install\n${commands.join('\n')}\n\`\`\`\n`
}

// ------------------------------------------------------------------------------------------------------------ script

const SCRIPT = `import { tally } from "lib/tally"

let words = ["tool", "agent", "tool", "script", "tool"]

for entry in tally(words) {
  println("\${entry.key}: \${entry.value}")
}
`

const SCRIPT_LIBRARY = `/** How often each word occurs. */
pub fn tally(words: list<string>) -> dict<string, int> {
  var counts = {}
  for word in words {
    let before = counts[word] ?? 0
    counts[word] = before + 1
  }
  return counts
}
`

const SCRIPT_TEST = `import { tally } from "../lib/tally"

pipeline test_words_are_counted() {
  assert_eq(tally(["a", "b", "a"]), {a: 2, b: 1})
}

pipeline test_no_words_have_no_counts() {
  assert_eq(tally([]), {})
}
`

// ------------------------------------------------------------------------------------------------------------- agent

const AGENT = `import { answer } from "lib/shop"

let question = argv[0] ?? "How much are three teas?"

println(answer(question))
`

const AGENT_LIBRARY = `let prices = {tea: 350, coffee: 420}

fn shop_tools() {
  let registry = tool_registry()
  return tool_define(
    registry,
    "price",
    "Price of an article in cents",
    {
      parameters: {article: {type: "string", description: "Such as tea or coffee"}},
      handler: { args -> prices[args.article] ?? "there is no such article" },
    },
  )
}

/** Answers a question of a customer. The model calls the tools as often as it needs them. */
pub fn answer(question: string) -> string {
  let result = agent_loop(
    question,
    "You work in a shop. Look prices up with the tools, never guess them.",
    {tools: shop_tools(), max_iterations: 8},
  )
  return result.text
}
`

const AGENT_TEST = `import { answer } from "../lib/shop"

pipeline test_the_price_is_looked_up() {
  llm_mock({tool_calls: [{name: "price", arguments: {article: "tea"}}]})
  llm_mock({text: "Three teas are 10.50."})
  assert_eq(answer("How much are three teas?"), "Three teas are 10.50.")
}
`

// ------------------------------------------------------------------------------------------------------------- embed

const EMBED_LIBRARY = `import { createRuntime, defineTool } from '@bridle/stdlib-tools'
import { z } from 'zod'

const PRICES = new Map([
  ['tea', 350],
  ['coffee', 420],
])

const price = defineTool({
  name: 'shop.price',
  description: 'Price of an article in cents',
  input: z.object({ article: z.string() }),
  output: z.int(),
  sideEffect: 'read_only',
  execute: ({ article }) => {
    const found = PRICES.get(article)
    if (found === undefined) throw new Error('there is no ' + article)
    return found
  },
})

// The script has these tools, and no other power. Fuel and heap bound what it takes.
export const runtime = createRuntime({ tools: [price], limits: { fuel: 1_000_000, heapBytes: 16_000_000 } })

/** Runs a script and gives what it returns; throws for one that is wrong, fails or takes too long. */
export function run(script) {
  return runtime.run(script, { signal: AbortSignal.timeout(5_000) })
}
`

const EMBED = `import { run } from './shop.js'

const script = \`
  import { price } from "host/shop"

  pipeline main() {
    return ["tea", "coffee"].map({ article -> price({article: article}) }).sum()
  }
\`
console.log(await run(script))
`

const EMBED_TEST = `import assert from 'node:assert'
import { test } from 'node:test'
import { run } from './shop.js'

test('a script calls a tool', async () => {
  assert.equal(await run('import { price } from "host/shop"\\npipeline main() { return price({article: "tea"}) * 2 }'), 700)
})

test('a script has no other power', async () => {
  await assert.rejects(run('pipeline main() { return read_file("/etc/passwd") }'))
})
`

// ----------------------------------------------------------------------------------------------------------- gateway

const GATEWAY_README = `
A client, such as a desktop application, starts it by

\`\`\`json
{ "mcpServers": { "gateway": { "command": "npm", "args": ["--silent", "--prefix", "/path/of/this/folder", "start"] } } }
\`\`\`
`

const GATEWAY = `# One table for each server: a command, or the url of one that speaks streamable HTTP.
[servers.shop]
command = "bridle"
args = ["serve", "mcp", "shop.harn"]

# A person is asked before these are called.
[approve]
tools = ["shop.order"]
`

const GATEWAY_SERVER = `let prices = {tea: 350, coffee: 420}

/** Price of an article in cents: tea or coffee. */
pub fn price(article: string) -> {cents: int} {
  let cents = prices[article]
  require cents != nil, "there is no \${article}"
  return {cents: cents}
}

/** Orders an article and says what it costs. */
pub fn order(article: string, count: int = 1) -> string {
  return "\${count} × \${article}: \${price(article).cents * count}"
}
`

const GATEWAY_TEST = `/** What the gateway answers when a model sends this script. */
fn run_script(script: string) {
  let gateway = mcp_connect("bridle", ["gateway", "gateway.toml"])
  let answer = mcp_call(gateway, "run_script", {script: script})
  mcp_disconnect(gateway)
  return json_parse(answer)
}

pipeline test_one_script_calls_tools_as_often_as_it_needs() {
  let answer = run_script(
    """
    import { price } from "host/shop"

    return ["tea", "coffee"].map({ article -> price({article: article}).cents }).sum()
    """,
  )
  assert_eq(answer.status, "done")
  assert_eq(answer.value, 770)
}

pipeline test_an_order_waits_for_a_person() {
  let answer = run_script(
    """
    import { order } from "host/shop"

    return order({article: "tea", count: 2})
    """,
  )
  assert_eq(answer.status, "pending")
  assert_eq(answer.requests[0].call.args, {article: "tea", count: 2})
}
`
