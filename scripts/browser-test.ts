// `npm run test:browser`: Bridle in headless Chromium, under a policy that forbids code from strings (only the base tier runs) and without
// one (hot code is compiled). A script runs there from start to end, and a run that started here, in Node, continues there from its
// snapshot. Without a Chromium (set CHROMIUM to its path, or have one in PATH) the test prints a notice and is skipped.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, defineTool } from '@bridle/stdlib-tools'
import { bundlePage } from './page-bundle.js'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

/** Time for the page to load and finish; Chromium starts slowly on small machines. */
const PATIENCE_MS = 60_000

/** Long enough in its loop to be compiled where that is possible. */
const WHOLE = `fn fib(n) {
  if n < 2 { return n }
  return fib(n - 1) + fib(n - 2)
}
println(fib(16))
println(sha256("ä"))
println({b: [1, 2.5], a: set([3])})
`

const HALF = `import { shout } from "host/tools"
let names = channel("names", 2)
for name in ["ada", "grace"] { send(names, name) }
let ask = { name -> name + "?" }
println("here: " + ask(receive(names)))
let answer = shout({text: "waited"})
println("there: " + answer)
println("there: " + ask(receive(names)))
`

const RESUMED = 'here: ada?\nthere: WAITED!\nthere: grace?\n'

const POLICIES: Readonly<Record<string, string>> = {
  strict: "default-src 'none'; script-src 'self'; connect-src 'self'",
  open: "default-src 'none'; script-src 'self' 'unsafe-eval'; connect-src 'self'",
}

process.exitCode = await main()

async function main(): Promise<number> {
  const chromium = findChromium()
  if (chromium === null) {
    process.stdout.write('browser test: no Chromium found (CHROMIUM names one); skipped\n')
    return 0
  }
  const [page, snapshot] = await Promise.all([bundlePage(), halfway()])
  const wanted = JSON.stringify({ whole: await wholeRun(), resumed: { status: 'done', output: RESUMED } })
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    if (path === '/page.js') return response.setHeader('content-type', 'text/javascript').end(page)
    if (path === '/script') return response.end(WHOLE)
    if (path === '/snapshot') return response.end(snapshot)
    const policy = POLICIES[path.slice(1)]
    if (policy === undefined) return response.writeHead(404).end()
    response.setHeader('content-security-policy', policy).setHeader('content-type', 'text/html')
    return response.end('<!doctype html><meta charset="utf-8"><body></body><script type="module" src="/page.js"></script>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  let failed = 0
  for (const name of Object.keys(POLICIES)) {
    const text = await visit(chromium, `http://127.0.0.1:${port}/${name}`)
    const { code, ...report } = JSON.parse(text === '' ? '{}' : text) as { readonly code?: boolean }
    const good = code === (name === 'open') && JSON.stringify(report) === wanted
    if (!good) failed++
    process.stdout.write(
      `browser test: ${name} policy, code from text ${code === true ? 'allowed' : 'forbidden'}: ${good ? 'ok' : `FAILED\n  ${text}`}\n`,
    )
  }
  server.close()
  return failed === 0 ? 0 : 1
}

function findChromium(): string | null {
  const named = process.env['CHROMIUM']
  for (const name of named === undefined ? NAMES : [named]) {
    if (spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) return name
  }
  return null
}

/** A run that waits for its tool, as bytes. */
async function halfway(): Promise<Uint8Array> {
  const shout = defineTool({
    name: 'shout',
    execute: (_input, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('given up')))),
  })
  const runtime = createRuntime({ tools: [shout] })
  let arrived: () => void = () => {}
  const waits = new Promise<void>((resolve) => (arrived = resolve))
  const run = runtime.start(runtime.compile(HALF), { onWaiting: () => arrived() })
  const ended = await Promise.race([waits, run.result])
  if (ended !== undefined) throw new Error(`the script ended before it waited: ${JSON.stringify(ended)}`)
  const bytes = await run.snapshot()
  run.cancel()
  await run.result
  return bytes
}

async function wholeRun(): Promise<string> {
  const runtime = createRuntime()
  return (await runtime.start(runtime.compile(WHOLE)).result).output
}

/** The text of the page once there is some. */
async function visit(chromium: string, url: string): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), 'bridle-browser-'))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${profile}`]
  const child = spawn(chromium, [...flags, '--virtual-time-budget=20000', '--dump-dom', url], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  let html = ''
  child.stdout.on('data', (chunk) => (html += String(chunk)))
  await new Promise<void>((resolve) => child.on('close', () => resolve()))
  clearTimeout(timer)
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  const text = /<body>([\s\S]*?)<\/body>/.exec(html)?.[1] ?? ''
  return text.replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&').trim()
}
