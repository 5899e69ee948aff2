// `bridle serve acp [FILE]`: a script as an agent that an editor or another program drives over standard input and output.
// Every prompt runs the script, with the text in the global `prompt`; without a file the prompt is
// the script. Standard output belongs to the protocol.

import { CompileError, mcpGlobal } from '@bridle/stdlib-tools'
import type { Module } from '@bridle/stdlib-tools'
import { ACP_GLOBALS, AcpServer, StreamTransport } from '@bridle/stdlib-tools/bridge'
import type { AcpMcpServers } from '@bridle/stdlib-tools/bridge'
import { fileSessions, guardedFetch, lazyMcpProvider, nodeProviders } from '@bridle/stdlib-tools/node'
import type { Manifest } from '@bridle/stdlib-tools/node'
import { makeServingAuthority, withLock } from '../authority.js'
import type { AuthorityFlags } from '../authority.js'
import { CommandError, EXIT_FAILURE } from '../errors.js'
import { makeCommandRuntime, loadManifest } from '../host.js'
import { pickReachableServers } from '../host-parts.js'
import { compileScript, readScript } from '../load.js'
import { readSizes } from '../further-limits.js'
import type { SizeFlags } from '../further-limits.js'

const PROMPT_KEY = '<prompt>'

export interface AcpFlags extends AuthorityFlags, SizeFlags {
  /** Folder where sessions are stored. */
  readonly sessions?: string
  readonly deltas?: 'none' | 'thoughts' | 'all'
}

export async function serveAcpCommand(file: string | undefined, flags: AcpFlags): Promise<number> {
  const script = file === undefined ? null : await readScript(file, undefined)
  const key = script?.key ?? PROMPT_KEY
  const authority = await withLock(makeServingAuthority(flags), flags, key, 'many')
  const runtime = makeCommandRuntime({
    script: key,
    terminal: false,
    standIns: 'none',
    globals: ACP_GLOBALS,
    authority,
    ...readSizes(flags),
  })
  const manifest = loadManifest(key)
  const module = script === null ? null : compileScript(runtime, script)
  if (script !== null && module === null) return EXIT_FAILURE
  const compilePrompt = (prompt: string): Module => {
    try {
      return runtime.compile(`pipeline main() {\n${prompt}\n}\n`, { file: PROMPT_KEY })
    } catch (cause) {
      throw cause instanceof CompileError ? new Error(cause.render(), { cause }) : cause
    }
  }
  /** Servers of the manifest and those of the client, as far as the flags allow them. */
  const joinServers = (servers: AcpMcpServers): Manifest['mcpServers'] =>
    pickReachableServers({ mcpServers: { ...manifest?.mcpServers, ...servers } }, authority)
  const server = new AcpServer(
    {
      runtime,
      module: (prompt) => module ?? compilePrompt(prompt),
      mcp: (servers) => mcpGlobal(joinServers(servers)),
      callTimeoutMs: callTimeoutMs(),
      ...(flags.deltas === undefined ? {} : { deltas: flags.deltas }),
      ...(flags.sessions === undefined ? {} : { sessions: fileSessions(flags.sessions) }),
      start: ({ cwd, mcpServers }) => ({
        providers: [
          // Paths are relative to the client's folder; confined runs stay confined to the folders of the flags.
          ...nodeProviders(authority.providers.sandbox === 'none' ? { ...authority.providers, root: cwd } : authority.providers),
          // A session without servers of its own has those of the manifest, from the runtime.
          ...(Object.keys(mcpServers).length === 0
            ? []
            : [
                lazyMcpProvider({
                  cwd,
                  env: 'inherit',
                  stderr: 'ignore',
                  servers: joinServers(mcpServers),
                  ...(authority.mcpNetwork === null ? {} : { fetch: guardedFetch(authority.mcpNetwork) }),
                }),
              ]),
        ],
      }),
    },
    new StreamTransport(process.stdin, process.stdout),
  )
  await server.start()
  await Promise.race([server.ended, stopSignal()])
  await server.close()
  // An open standard input would keep the process alive.
  process.stdin.destroy()
  return 0
}

/** HARN_HOST_CALL_TIMEOUT_SECS, 60 s when it is not set. */
function callTimeoutMs(): number {
  const text = process.env['HARN_HOST_CALL_TIMEOUT_SECS']
  if (text === undefined || text === '') return 60_000
  const seconds = Number(text)
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new CommandError(`HARN_HOST_CALL_TIMEOUT_SECS is not a number of seconds: ${text}`)
  return seconds * 1000
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}
