// The usual set of providers over one workspace.

import { llmProvider } from '../providers/llm.js'
import type { LlmProviderOptions } from '../providers/llm.js'
import type { ProviderSource } from '../providers/provider.js'
import { fsProvider } from './fs.js'
import { guardedFetch } from './guarded-fetch.js'
import { httpProvider } from './http.js'
import type { HttpOptions } from './http.js'
import { compressProvider } from './libraries.js'
import { environmentRules } from './network-policy.js'
import { processProvider } from './process.js'
import type { ProcessOptions } from './process.js'
import { FileSandbox } from './sandbox.js'
import type { SandboxOptions } from './sandbox.js'
import { fileStore } from './store.js'
import { terminalProvider } from './terminal.js'
import { Workspace } from './workspace.js'

export interface NodeProviderOptions {
  /** Execution root: where relative paths begin. The process's folder by default. */
  readonly root?: string
  /**
   * What may be touched: `'root'` (default) confines files to the root, options say it in detail, `'none'` confines nothing.
   * Programs that scripts start are not confined by this; granting `process` is trusting them.
   */
  readonly sandbox?: 'root' | 'none' | SandboxOptions
  /** Environment that scripts see; empty by default. HARN_EGRESS_ALLOW, _DENY and _DEFAULT in it narrow what the run may reach. */
  readonly env?: { readonly [name: string]: string | undefined }
  readonly process?: ProcessOptions
  readonly http?: HttpOptions
  /** Model services; keys are looked up in `env`. */
  readonly llm?: LlmProviderOptions
  /** File of the key-value store; no store without it. */
  readonly storeFile?: string
  /** Standard input and error of this process for the script; false by default. */
  readonly terminal?: boolean
}

/** One set for each run: runs share the disk, not their folder, environment or connections. */
export function nodeProviders(options: NodeProviderOptions = {}): readonly ProviderSource[] {
  const root = options.root ?? process.cwd()
  const files: SandboxOptions | null =
    options.sandbox === 'none'
      ? null
      : options.sandbox === undefined || options.sandbox === 'root'
        ? { roots: [root] }
        : options.sandbox
  // Providers of one run are made one after the other; the workspace they share is found by the run.
  const workspaces = new WeakMap<object, Workspace>()
  const workspaceOf = (run: object): Workspace => {
    let workspace = workspaces.get(run)
    if (workspace === undefined) {
      workspace = new Workspace({ root, sandbox: files === null ? undefined : new FileSandbox(files), env: options.env ?? {} })
      workspaces.set(run, workspace)
    }
    return workspace
  }
  const rules = environmentRules(options.env ?? {})
  const http = rules === null ? options.http : { ...options.http, policy: { ...options.http?.policy, alsoWithin: rules } }
  // A model's address may be a private one; keys and prompts are not to leave for a host that the rules refuse.
  const models = rules === null ? {} : { fetch: guardedFetch({ denyPrivate: false, alsoWithin: rules }) }
  const sources: ProviderSource[] = [
    (run) => fsProvider(workspaceOf(run)),
    (run) => processProvider(workspaceOf(run), options.process),
    (run) => httpProvider(workspaceOf(run), http),
    compressProvider(),
    llmProvider({ env: options.env ?? {}, ...models, ...options.llm }),
  ]
  if (options.storeFile !== undefined) sources.push(fileStore(options.storeFile))
  if (options.terminal === true) sources.push(() => terminalProvider())
  return sources
}
