// The host of examples/inventory.harn: gives the script a folder, an MCP filesystem server that reads it, and one tool that
// writes the report. `npm start` runs it on this repository; `node examples/inventory.mjs FOLDER` on any other folder.
//
// In a program of your own the imports are `@bridle/stdlib-tools`, `@bridle/stdlib-tools/node` and `@bridle/stdlib-tools/mcp`.

import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CompileError, createRuntime, defineTool, ScriptError } from '../packages/stdlib-tools/dist/index.js'
import { mcpProvider } from '../packages/stdlib-tools/dist/mcp/index.js'
import { hashHex } from '../packages/stdlib-tools/dist/node/index.js'

const repository = dirname(dirname(fileURLToPath(import.meta.url)))
const reports = join(repository, '.bridle')
const script = join(repository, 'examples', 'inventory.harn')

const writeReport = defineTool({
  name: 'write_report',
  description: 'Writes the inventory report',
  input: {
    type: 'object',
    properties: { path: { type: 'string' }, text: { type: 'string' } },
    required: ['path', 'text'],
    additionalProperties: false,
  },
  sideEffect: 'workspace_write',
  execute(input) {
    const { path, text } = /** @type {{ path: string, text: string }} */ (input) // checked against the schema above
    const target = resolve(reports, path)
    if (!target.startsWith(reports + sep)) throw new Error(`reports belong below ${reports}`)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
    return { path: target, bytes: Buffer.byteLength(text) }
  },
})

// The script can do two things: talk to MCP servers (which it starts as processes) and call the tool above. No files, no network.
const runtime = createRuntime({
  tools: [writeReport],
  providers: [mcpProvider({ timeoutMs: 60_000 })],
  grants: ['mcp', 'process.exec'],
  hashHex,
})

process.exitCode = await main()

async function main() {
  const folder = process.argv[2] ?? repository
  if (!existsSync(folder)) {
    process.stderr.write(`error: there is no folder ${folder}\n`)
    return 2
  }
  const root = realpathSync(folder)
  try {
    const module = runtime.compile(readFileSync(script, 'utf8'), { file: script })
    const stop = new AbortController()
    process.once('SIGINT', () => stop.abort(new Error('interrupted')))
    const run = runtime.start(module, {
      input: { root, report: 'inventory.md', server: filesystemServer(root) },
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === 'output') process.stdout.write(event.text)
      },
    })
    const result = await run.result
    switch (result.status) {
      case 'done':
        return 0
      case 'failed':
        throw result.error
      case 'cancelled':
        return 130
      default:
        throw new Error(`the run ended as "${result.status}"`)
    }
  } catch (cause) {
    if (cause instanceof CompileError) process.stderr.write(cause.render())
    else if (cause instanceof ScriptError) process.stderr.write(`error: ${cause.message}\n`)
    else throw cause
    return 1
  }
}

/** The server from `node_modules`, started by the Node that runs us; it may read `root` and nothing else. @param {string} root */
function filesystemServer(root) {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json')
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
  return { command: process.execPath, args: [join(dirname(manifest), bin['mcp-server-filesystem']), root] }
}
