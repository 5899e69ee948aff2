// An agent loop tries a failed call again (`tool_retries`). That is one call, for every executor: it counts once against
// `maxCalls`, and grants that lower retries lower these.

import { describe, expect, test } from 'vitest'
import { createRuntime } from '../../host/runtime.js'
import type { ToolGrant } from '../../tools/policy/host-grants.js'
import type { RuntimeOptions } from '../../host/runtime-options.js'
import { answered } from '../../tools/executors/provider.js'
import type { Provider } from '../../tools/executors/provider.js'
import { defineTool } from '../../tools/host-tools/define.js'

interface Kind {
  readonly name: string
  /** Under which grants know it. */
  readonly key: string
  readonly called: string
  readonly options: string
}

const KINDS: readonly Kind[] = [
  {
    name: 'a handler of the script',
    key: 'flaky',
    called: 'flaky',
    options:
      'tools: {_type: "tool_registry", tools: [{name: "flaky", parameters: {}, handler: { a -> host_call("log.note", {})\nthrow "down" }}]}',
  },
  {
    name: 'a tool of the host',
    key: 'shop.flaky',
    called: 'look',
    options:
      'tools: {_type: "tool_registry", tools: [{name: "look", executor: "host_bridge", host_capability: "shop.flaky", parameters: {}}]}',
  },
  {
    name: 'a tool of a server',
    key: 'mcp.shop.flaky',
    called: 'shop__flaky',
    options: 'mcp_servers: [{name: "shop", server: "shop"}]',
  },
]

async function countAttempts(kind: Kind, grant: ToolGrant, { retries = 2, calls = 1 } = {}): Promise<number> {
  let made = 0
  const server: Provider = {
    kinds: ['mcp.connect', 'mcp.request', 'process.info'],
    perform: ({ kind: asked, args }) => {
      if (asked === 'process.info') return answered(args['op'] === 'cwd' ? '/' : null)
      if (asked === 'mcp.connect') return answered({})
      if (args['method'] === 'tools/list') return answered({ tools: [{ name: 'flaky', inputSchema: { type: 'object' } }] })
      made++
      return answered({ isError: true, content: [{ type: 'text', text: 'down' }] })
    },
  }
  const options: RuntimeOptions = {
    tools: [
      defineTool({
        name: 'shop.flaky',
        execute: () => {
          made++
          throw new Error('down')
        },
      }),
    ],
    capabilities: { log: { note: () => (made++, null) } },
    providers: [server],
    grants: ['mcp', 'process.info'],
    enforceManifest: false,
    toolGrants: { [kind.key]: grant },
  }
  const asked = Array.from(
    { length: calls },
    (_, at) => `llm_mock({text: "", tool_calls: [{name: "${kind.called}", arguments: {n: ${at}}}]})`,
  )
  const script = `llm_mock_clear()\n${asked.join('\n')}\nllm_mock({text: "##DONE##"})
agent_loop("go", nil, {provider: "mock", tool_format: "native", max_iterations: 9, tool_retries: ${retries}, tool_backoff_ms: 0, ${kind.options}})`
  const runtime = createRuntime(options)
  await runtime.start(runtime.compile(script)).result
  return made
}

for (const kind of KINDS) {
  describe(kind.name, () => {
    test('is one call, however often it is tried', async () => {
      expect(await countAttempts(kind, { maxCalls: 1 })).toBe(3)
    })

    test('and the next call is another', async () => {
      expect(await countAttempts(kind, { maxCalls: 1 }, { calls: 2 })).toBe(3)
      expect(await countAttempts(kind, { maxCalls: 2 }, { calls: 3 })).toBe(6)
    })

    test('is tried again as often as its grants allow', async () => {
      expect(await countAttempts(kind, { maxRetries: 1 }, { retries: 4 })).toBe(2)
      expect(await countAttempts(kind, { maxRetries: 0 }, { retries: 4 })).toBe(1)
    })
  })
}
