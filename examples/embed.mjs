// A Node program that embeds Bridle: it gives a script two tools, watches the run, freezes it while it waits for a person, and
// resumes from the bytes as another process would. `node examples/embed.mjs`.
//
// In a program of your own the import is `@bridle/stdlib-tools`.

import { createRuntime, defineTool, pending } from '../packages/stdlib-tools/dist/index.js'

const stock = new Map([
  ['tea', 3],
  ['coffee', 0],
])

const tools = [
  defineTool({
    name: 'shop.stock',
    description: 'How many pieces of an article are there',
    input: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
    sideEffect: 'read_only',
    execute: (input) => stock.get(/** @type {{ article: string }} */ (input).article) ?? 0,
  }),
  defineTool({
    name: 'shop.reorder',
    description: 'Orders more of an article; somebody has to agree',
    input: {
      type: 'object',
      properties: { article: { type: 'string' }, pieces: { type: 'integer' } },
      required: ['article', 'pieces'],
    },
    // The answer comes from elsewhere: by runtime.completeTool, today or next week.
    execute: (_input, { idempotencyKey }) => pending(idempotencyKey),
  }),
]

const script = `
import { stock, reorder } from "host/shop"

let low = ["tea", "coffee"].filter({ article -> stock({article: article}) < 2 })
println("low on " + low.join(", "))
for article in low {
  println(article + ": " + reorder({article: article, pieces: 10}))
}
return len(low)
`

const runtime = createRuntime({ tools })
const run = runtime.start(runtime.compile(script, { file: 'restock.harn' }), { runId: 'restock-1' })
const bytes = await run.snapshot()
run.cancel('its process ends here')
console.log(`frozen while it waits: ${run.output.trim()}`)

// Another process, with the same tools and nothing but the bytes.
const later = createRuntime({ tools })
const again = later.resume(bytes)
// The run's third call; its key is the same in every process.
later.completeTool('restock-1:call_3', { ok: 'ordered' })
const result = await again.result
console.log(result.output.trim())
console.log(result.status === 'done' ? `done: ${JSON.stringify(result.value)}` : `ended: ${result.status}`)
process.exitCode = result.status === 'done' ? 0 : 1
