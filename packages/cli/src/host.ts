// The host that the command is: the powers of this process as providers, modules from files, and what a run is started with.
// Scripts started here have the authority of whoever started them, as in the reference; a folder is not a sandbox.

import { createRuntime } from '@bridle/stdlib-tools'
import type { Runtime, RuntimeOptions } from '@bridle/stdlib-tools'
import { fileModules, hashHex, nodeProviders } from '@bridle/stdlib-tools/node'
import { lazyMcpProvider } from './lazy-mcp.js'

export interface CommandHostOptions {
  readonly limits?: NonNullable<RuntimeOptions['limits']>
  /** Words for the script, `argv`. */
  readonly args?: readonly string[]
  /** Whether the script reads and writes the terminal of this process. */
  readonly terminal: boolean
}

export function commandRuntime(options: CommandHostOptions): Runtime {
  const root = process.cwd()
  return createRuntime({
    providers: [
      ...nodeProviders({
        root,
        sandbox: 'none',
        env: process.env,
        process: { args: options.args ?? [] },
        http: { policy: { denyPrivate: false } },
        terminal: options.terminal,
      }),
      lazyMcpProvider({ cwd: root, env: 'inherit', stderr: options.terminal ? 'inherit' : 'ignore' }),
    ],
    grants: ['*'],
    resolve: fileModules({ root }),
    hashHex,
    ...(options.args === undefined ? {} : { globals: ['argv'] }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  })
}
