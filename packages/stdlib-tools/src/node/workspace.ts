// What the providers of one run share: its folder, its sandbox and its environment. A script that changes its folder or its
// environment changes them here, never those of the host's process.

import { isAbsolute, join, normalize, resolve } from 'node:path'
import type { EffectOutcome } from '@bridle/vm'
import { categorizedError } from '../tools/executors/provider.js'
import { SandboxViolation } from './sandbox.js'
import type { FileAccess, FileSandbox } from './sandbox.js'

export class Workspace {
  /** Absolute. Relative paths of scripts begin here. */
  cwd: string
  readonly sandbox: FileSandbox | null
  readonly env: Map<string, string>
  /** The environment as the host gave it. */
  readonly given: ReadonlyMap<string, string>

  constructor(options: {
    readonly root: string
    readonly sandbox?: FileSandbox | undefined
    readonly env?: { readonly [name: string]: string | undefined }
  }) {
    this.cwd = resolve(options.root)
    this.sandbox = options.sandbox ?? null
    this.env = new Map()
    for (const [name, value] of Object.entries(options.env ?? {})) if (value !== undefined) this.env.set(name, value)
    this.given = new Map(this.env)
  }

  /** The path as it is shown: made absolute by text only, `.` and `..` as the operating system will read them. */
  shown(path: string): string {
    return isAbsolute(path) ? path : `${this.cwd === '/' ? '' : this.cwd}/${path}`
  }

  normalized(path: string): string {
    return normalize(isAbsolute(path) ? path : join(this.cwd, path)).replace(/(.)\/$/, '$1')
  }

  /** The path to use; throws SandboxViolation when the sandbox does not allow it. */
  usable(path: string, access: FileAccess, keepLast = false): string {
    return this.sandbox === null ? this.shown(path) : this.sandbox.resolve(path, access, this.cwd, keepLast)
  }

  environment(): NodeJS.ProcessEnv {
    return Object.fromEntries(this.env)
  }
}

/** Runs a provider's work; a violation becomes an error that says that nothing was done. */
export function guardWork(work: () => EffectOutcome): EffectOutcome {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof SandboxViolation) return makeViolation(cause)
    throw cause
  }
}

export function makeViolation(cause: SandboxViolation): EffectOutcome {
  return categorizedError('tool_rejected', cause.message, cause.type === 'limit' ? 'resource_limit' : 'security_violation')
}
