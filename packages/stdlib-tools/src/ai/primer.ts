// What a model has to know to write a script: the language in few words, and the tools as typed lines. Its samples are checked, and its
// size is counted with tokenizers of models (primer.test.ts).

import { harnTypes } from '../tools/host-tools/print-types.js'
import { declareTool } from '../tools/host-tools/declarations.js'
import type { ToolDeclaration } from '@bridle/compiler'
import type { Tool } from '../tools/host-tools/define.js'
import { estimateTokens } from './token-estimate.js'

export interface PrimerOptions {
  /** The tools that a script may call, in the order of their importance: those that the budget has no room for are the last ones. */
  readonly tools?: Iterable<Tool | ToolDeclaration>
  /** Tokens that the lines of the tools may take, by a cautious estimate; the language itself takes about 1,100 more. 2,000 when absent. */
  readonly budget?: number
}

export const DEFAULT_BUDGET = 2_000

/** Text in Markdown, for the system prompt of a model or the description of a tool. Throws RangeError for a budget that is not a number of tokens. */
export function primer({ tools = [], budget = DEFAULT_BUDGET }: PrimerOptions = {}): string {
  if (!Number.isFinite(budget) || budget < 0) throw new RangeError(`budget must be a number of tokens, got ${budget}`)
  const declarations = Array.from(tools, (tool) => ('kind' in tool ? declareTool(tool) : tool))
  return declarations.length === 0 ? LANGUAGE : `${LANGUAGE}\n${describeTools(declarations, budget)}`
}

/** The lines of the tools that find room, and those that find none. */
export function splitByBudget(
  declarations: readonly ToolDeclaration[],
  budget: number,
): { readonly lines: readonly string[]; readonly hidden: readonly ToolDeclaration[] } {
  const lines: string[] = []
  let left = budget
  for (const declaration of declarations) {
    const line = harnTypes([declaration], { short: true })
    left -= estimateTokens(line)
    if (left < 0) break
    lines.push(line)
  }
  return { lines, hidden: declarations.slice(lines.length) }
}

function describeTools(declarations: readonly ToolDeclaration[], budget: number): string {
  const { lines, hidden } = splitByBudget(declarations, budget)
  const rest = hidden.length === 0 ? '' : `\n${describeHidden(hidden.map(({ name }) => name))}\n`
  return `${TOOLS}\n\`\`\`\n${lines.join('')}\`\`\`\n${rest}`
}

const MOST_HIDDEN = 40

/** Names alone, and not all of very many: a call of one that is misspelt is a finding with a suggestion. */
function describeHidden(names: readonly string[]): string {
  const shown = names.slice(0, MOST_HIDDEN).join(', ')
  const more = names.length > MOST_HIDDEN ? ` and ${names.length - MOST_HIDDEN} more` : ''
  return `Not shown here: ${shown}${more}.`
}

const TOOLS = `## Tools

A tool named \`area.name\` is a function of the module \`host/area\`, one without a dot of \`host/tools\`: import it, then call it with one dict.
\`?\` marks what may be left out. A failed call throws.
`

const LANGUAGE = `# Scripts in Harn

Write one script that does the whole task. It reaches the world only through tools. It is checked before it runs: unknown names, arguments
and types are errors.

\`\`\`harn
import { find, price } from "host/shop"

fn total(articles: list<string>) -> int {
  var sum = 0
  for article in articles {
    sum = sum + price({article: article}).cents
  }
  return sum
}

pipeline main() {
  let found = find({query: "tea"})
  println("found \${len(found)} articles")
  return {articles: found, cents: total(found)}
}
\`\`\`

The value that \`pipeline main\` returns is the result. Print only what helps to understand it.

Unlike JavaScript and Python:
- \`let\` is constant, \`var\` changes. No \`const\`, no semicolons, \`//\` comments.
- A function returns only by \`return\`. Anonymous functions: \`{ x -> x * 2 }\`, \`{ a, b -> a + b }\`, \`{ -> 1 }\`; there is no \`=>\`.
- Strings have double quotes and interpolate \`\${…}\`; \`"""\` for several lines. \`nil\`, not null or undefined.
- Lists and dicts are values. Methods return a changed copy: \`xs = xs.push(4)\`, \`d = d + {b: 2}\`; \`xs[0] = 1\` and \`d.a = 1\` change a \`var\`.
- Ranges: \`1 to 3\` is 1, 2, 3; \`0 to 3 exclusive\` is 0, 1, 2. Loops: \`for x in xs { }\`, \`while c { }\`, \`break\`, \`continue\`. No \`i++\`.
- Conditions have no parentheses: \`if a && !b { } else if c { } else { }\`. \`c ? x : y\`, \`a ?? b\`, \`d?.key\`. A missing key is nil.
- \`7 / 2\` is 3; \`7.0 / 2\` is 3.5. \`==\` compares contents.
- \`println\` takes one value.

\`\`\`harn
let people = [{name: "Ada", age: 36}, {name: "Bob", age: 17}]
let adults = people.filter({ p -> p.age >= 18 }).map({ p -> p.name })

println(adults.join(", "))
println(people.sort_by({ p -> p.age })[0].name)

for entry in {a: 1, b: 2} {
  println("\${entry.key} is \${entry.value}")
}

let kind = match len(adults) {
  0 -> { "none" }
  n if n > 3 -> { "many" }
  _ -> { "few" }
}

try {
  throw {code: "empty", message: kind}
} catch e {
  println(e.code)
}

let parsed = try {
  json_parse("{\\"a\\": 1}")
}

println(is_ok(parsed) ? unwrap(parsed).a : unwrap_err(parsed))

let doubled = parallel each [1, 2, 3] with { max_concurrent: 2 } { n ->
  n * 2
}

println(doubled)
\`\`\`

Often used: \`len(x)\`, \`to_string\`, \`to_int\`, \`to_float\`, \`type_of\`, \`json_parse\`, \`json_stringify\`, \`min\`, \`max\`, \`round\`, \`timestamp()\`.
Strings: \`.split\`, \`.trim()\`, \`.contains\`, \`.replace\`, \`.starts_with\`, \`.uppercase()\`, \`.lowercase()\`, \`.substring(from, to)\`, \`.lines()\`.
Lists: \`.map\`, \`.filter\`, \`.reduce(start, f)\`, \`.find\`, \`.any\`, \`.all\`, \`.sum()\`, \`.sort()\`, \`.sort_by\`, \`.group_by\`, \`.unique()\`, \`.slice\`, \`.flat_map\`,
\`.contains\`, \`.index_of\`, \`.join\`, \`.zip\`, \`.reverse()\`. Dicts: \`.keys()\`, \`.values()\`, \`.entries()\`, \`.has(key)\`, \`.remove(key)\`, \`.merge\`.
`
