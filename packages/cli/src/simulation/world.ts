// The world of a simulated run: files are read from the disk and changed only in memory, no program is started
// and no network is reached. Refusals say how to mock the effect; the mocks of the language work as usual.

import { withArguments } from '@bridle/stdlib-tools'
import { parse, relative } from 'node:path'
import type { Provider, ProviderSource } from '@bridle/stdlib-tools'
import { MemoryTerminal } from '@bridle/stdlib-tools'
import { Workspace, compressProvider, overlayFs, processProvider } from '@bridle/stdlib-tools/node'
import type { DiscoveredSkills } from '@bridle/stdlib-tools/node'
import type { Effect, EffectKind } from '@bridle/vm'
import type { Authority } from '../authority.js'

/** The world of one simulated run: its files outlive its process, its process state does not. */
export function makeSimulatedWorld({
  authority,
  args,
  findSkill,
}: {
  readonly authority: Authority
  readonly args: readonly string[]
  readonly findSkill: DiscoveredSkills['find'] | null
}): readonly ProviderSource[] {
  const { root, providers } = authority
  const top = providers.sandbox === 'none' ? parse(root).root : root
  const disk = overlayFs(top, { cwd: relative(top, root) || '.' })
  const workspaces = new WeakMap<object, Workspace>()
  const getWorkspace = (run: object): Workspace => {
    const workspace = workspaces.get(run) ?? new Workspace({ root, env: providers.env ?? {} })
    workspaces.set(run, workspace)
    return workspace
  }
  return [
    (run) => ({
      kinds: disk.kinds,
      perform: (effect, call) => disk.perform(resolvePaths(getWorkspace(run), effect), call),
    }),
    (run) =>
      processProvider(getWorkspace(run), {
        args,
        allow: () => 'a simulated run starts no programs',
        ...(findSkill === null ? {} : { findSkill }),
      }),
    compressProvider(),
    new MemoryTerminal(),
    nobody,
  ]
}

/** Relative paths start in the current folder of the run. */
function resolvePaths(workspace: Workspace, effect: Effect): Effect {
  const { path, to } = effect.args
  return withArguments(effect, {
    ...(typeof path === 'string' ? { path: workspace.shown(path) } : {}),
    ...(typeof to === 'string' ? { to: workspace.shown(to) } : {}),
  })
}

const UNREACHABLE = {
  'http.request': 'reaches no network; answer the request with http_mock',
  'net.stream': 'reaches no network; answer the stream with a mock',
  'llm.call': 'asks no model; answer the call with llm_mock or --llm-mock FILE',
  'mcp.connect': 'connects to no MCP server',
  'mcp.request': 'connects to no MCP server',
} as const satisfies { readonly [kind in EffectKind]?: string }

const nobody: Provider = {
  kinds: Object.keys(UNREACHABLE) as (keyof typeof UNREACHABLE)[],
  perform: (effect) => ({
    ok: false,
    error: {
      kind: 'categorized',
      category: 'tool_rejected',
      message: `${effect.kind}: a simulated run ${UNREACHABLE[effect.kind as keyof typeof UNREACHABLE]}`, // kinds are the keys
    },
  }),
}
