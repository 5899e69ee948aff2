// The part of the browser test that runs inside the browser: a script from start to end, and one that started in Node and continues here. The
// result is written into the page as JSON, where the test reads it.

import { createRuntime, defineTool } from '@bridle/stdlib-tools'
import { canGenerateCode } from '@bridle/vm'

/** The platform's own, which the types of this workspace do not know. */
const page = globalThis as unknown as {
  readonly document: { readonly body: { textContent: string } }
  readonly fetch: (path: string) => Promise<{ arrayBuffer(): Promise<ArrayBuffer>; text(): Promise<string> }>
}

const shout = defineTool({
  name: 'shout',
  execute: (input) => `${String((input as { readonly text: string }).text).toUpperCase()}!`,
})

async function run(): Promise<unknown> {
  const runtime = createRuntime({ tools: [shout] })
  const [script, bytes] = await Promise.all([page.fetch('/script'), page.fetch('/snapshot')])
  const whole = await runtime.start(runtime.compile(await script.text())).result
  const resumed = await runtime.resume(new Uint8Array(await bytes.arrayBuffer())).result
  return { code: canGenerateCode(), whole: whole.output, resumed: { status: resumed.status, output: resumed.output } }
}

run().then(
  (report) => (page.document.body.textContent = JSON.stringify(report)),
  (cause: unknown) => (page.document.body.textContent = JSON.stringify({ error: String((cause as Error).stack ?? cause) })),
)
