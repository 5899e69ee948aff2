// Shared by all commands of the orchestrator: the project, the state folder with the log and the runs, and a way to run its program.

import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isToolError } from '@bridle/stdlib-tools'
import type { DurableStore, Module, ProviderSource, Runtime, ScriptError } from '@bridle/stdlib-tools'
import { eventLogProvider, openEventLog } from '@bridle/stdlib-tools/node'
import type { EventLog, NewRecord } from '@bridle/stdlib-tools/node'
import { makeAuthority, withLock } from '../authority.js'
import type { AuthorityFlags } from '../authority.js'
import { CommandError } from '../errors.js'
import { makeCommandRuntime } from '../host.js'
import { complain } from '../printable.js'
import { FlowGates } from './gates.js'
import { loadProject, makeEmptyProject } from './project.js'
import type { Project } from './project.js'

export interface DeskFlags extends AuthorityFlags {
  readonly config?: string
  readonly stateDir?: string
}

/** A trigger with the version that the log gave it. */
export type Binding = Project['triggers'][number] & {
  readonly version: number
  readonly fingerprint: string
  readonly state: 'active' | 'draining' | 'terminated'
}

export interface BindingVersion {
  readonly binding: Binding
  readonly bindings: readonly Binding[]
  readonly module: Module
}

/** A version of a trigger that is draining. */
export interface DrainingVersion {
  readonly id: string
  readonly version: number
  readonly key: string
  readonly fingerprint: string
}

interface Transition {
  readonly id: string
  readonly version: number
  readonly binding_key: string
  readonly to_state: string
  readonly definition_fingerprint: string
}

function nameVersion(id: string, version: number): string {
  return `${id}@v${version}`
}

export interface ReloadSummary {
  readonly added: readonly string[]
  readonly modified: readonly string[]
  readonly removed: readonly string[]
  readonly unchanged: readonly string[]
}

/** Exit code of a process that a test ends in the middle of a dispatch. */
const EXIT_TEST_CRASH = 86

export class Desk {
  readonly stateDir: string
  readonly log: EventLog
  readonly store: DurableStore
  readonly gates: FlowGates
  private readonly flags: DeskFlags
  project: Project
  bindings: readonly Binding[] = []
  /** Every version that this process had, with the program it belongs to. */
  private readonly versions = new Map<string, BindingVersion>()
  runtime: Runtime
  module: Module

  private constructor(
    flags: DeskFlags,
    stateDir: string,
    { log, store }: { readonly log: EventLog; readonly store: DurableStore },
    { project, runtime, module }: LoadedProgram,
  ) {
    this.flags = flags
    this.stateDir = stateDir
    this.log = log
    this.store = store
    this.project = project
    this.runtime = runtime
    this.module = module
    this.gates = new FlowGates(log)
  }

  /** Throws CommandError. `openLog` opens the state in another way; for tests. */
  static async open(flags: DeskFlags, openLog: typeof openStateLog = openStateLog): Promise<Desk> {
    return Desk.openWith(flags, await loadProgram(flags), openLog)
  }

  private static async openWith(
    flags: DeskFlags,
    loaded: LoadedProgram,
    openLog: typeof openStateLog = openStateLog,
  ): Promise<Desk> {
    const named = flags.stateDir ?? process.env['HARN_ORCHESTRATOR_STATE_DIR'] ?? process.env['HARN_STATE_DIR']
    const stateDir = resolve(named ?? '.harn/orchestrator')
    mkdirSync(stateDir, { recursive: true })
    process.env['HARN_STATE_DIR'] = stateDir
    try {
      return new Desk(flags, stateDir, await openLog(stateDir), loaded)
    } catch (cause) {
      if (isToolError(cause)) throw new CommandError(cause.message, { code: cause.code })
      throw cause
    }
  }

  /** Reads the manifest again; nothing changes when that fails. Throws CommandError. */
  async reload(): Promise<ReloadSummary> {
    const loaded = await loadProgram(this.flags)
    const before = { project: this.project, runtime: this.runtime, module: this.module }
    Object.assign(this, loaded)
    try {
      return await this.install()
    } catch (cause) {
      Object.assign(this, before)
      throw cause
    }
  }

  /** Opens only the log, without a manifest. Throws CommandError. */
  static async openLog(flags: DeskFlags): Promise<Desk> {
    return Desk.openWith(flags, await compileProject(flags, makeEmptyProject()))
  }

  /** For a command beside the server: known versions are not recorded again. */
  async installLocally(): Promise<void> {
    await this.install(true)
  }

  /** Assigns versions to the triggers of the manifest, and records changes. */
  async install(isQuiet = false): Promise<ReloadSummary> {
    const { triggers, summary } = (await this.ask({
      action: 'install',
      is_quiet: isQuiet,
      triggers: this.project.triggers,
      bindings: this.bindings,
    })) as { readonly triggers: readonly Binding[]; readonly summary: ReloadSummary }
    this.bindings = triggers
    for (const binding of triggers)
      this.versions.set(nameVersion(binding.id, binding.version), { binding, bindings: triggers, module: this.module })
    return summary
  }

  /** The handler for events that were accepted for a version: of that version, or of the current one if that is gone. */
  findVersion(id: string, version: number): BindingVersion | null {
    const known = this.versions.get(nameVersion(id, version))
    if (known !== undefined) return known
    const now = this.find(id)
    if (now === null) return null
    const binding = { ...now, version }
    const bindings = this.bindings.map((each) => (each.id === id ? binding : each))
    return { binding, bindings, module: this.module }
  }

  find(id: string): Binding | null {
    return this.bindings.find((binding) => binding.id === id) ?? null
  }

  /** Versions that take no new events and have not ended, according to the log. */
  listDraining(): readonly DrainingVersion[] {
    const found = new Map<string, DrainingVersion>()
    for (const { payload } of this.log.read({ topic: 'triggers.lifecycle', kind: 'state_transition' })) {
      const {
        binding_key: key,
        to_state: state,
        definition_fingerprint: fingerprint,
        ...facts
      } = payload as unknown as Transition
      if (state === 'draining') found.set(key, { ...facts, key, fingerprint })
      else found.delete(key)
    }
    return [...found.values()]
  }

  /** Whether a dispatch of a version has not ended: it runs, or waits for its turn, a time or a person. */
  async hasOpenDispatch(key: string): Promise<boolean> {
    const prefix = `${key}/`
    for (const state of ['ready', 'running', 'parked', 'stuck'] as const) {
      const [row] = await this.store.list({ state, after: prefix, most: 1 })
      if (row?.runId.startsWith(prefix) === true) return true
    }
    return false
  }

  /** One run of the program of the project. Throws CommandError with the error of the run. */
  async ask(request: { readonly action: string; readonly [key: string]: unknown }): Promise<unknown> {
    const run = this.runtime.start(this.module, {
      input: { bindings: this.bindings, limits: this.project.settings.budget, ...request },
      providers: this.providers,
      integers: 'number',
      onEvent: (event) => {
        if (event.type === 'output') process.stderr.write(event.text)
      },
    })
    const result = await run.result
    if (result.status === 'done') return result.value
    throw new CommandError(
      result.status === 'failed'
        ? readFault(result.error)
        : result.status === 'limit'
          ? result.message
          : `the run ended by ${result.status}`,
    )
  }

  /** What runs need in addition to the powers of the command. */
  get providers(): readonly ProviderSource[] {
    return [eventLogProvider({ log: this.log, gates: this.gates, onAppend: crashOnDemand })]
  }

  append(topic: string, kind: string, payload: unknown, headers: { readonly [name: string]: string } = {}): void {
    this.log.later((transaction) => void transaction.append(makeRecord(topic, kind, payload, headers)))
  }

  /** When this returns, appended records are visible to others. */
  flush(): void {
    this.log.write(() => {})
  }

  async close(): Promise<void> {
    this.log.close()
    await this.store.close()
  }
}

/** Without the kind and the position, which concern the program and not the project. */
function readFault({ fault, value }: ScriptError): string {
  if (fault.kind !== 'thrown') return fault.message.replace(/ \(line \d+\)$/, '')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function makeRecord(
  topic: string,
  kind: string,
  payload: unknown,
  headers: { readonly [name: string]: string } = {},
): NewRecord {
  return { topic, kind, payload: payload as NewRecord['payload'], headers, atMs: Date.now() }
}

/** `HARN_TEST_DISPATCHER_FAIL_BEFORE_OUTBOX` is for tests of recovery: the process dies before the first record of an attempt. */
function crashOnDemand({ kind }: NewRecord): void {
  if (kind === 'DispatchStarted' && process.env['HARN_TEST_DISPATCHER_FAIL_BEFORE_OUTBOX'] !== undefined)
    process.exit(EXIT_TEST_CRASH)
}

interface LoadedProgram {
  readonly project: Project
  readonly runtime: Runtime
  readonly module: Module
}

async function loadProgram(flags: DeskFlags): Promise<LoadedProgram> {
  return compileProject(flags, await loadProject(flags.config ?? process.env['HARN_ORCHESTRATOR_MANIFEST'] ?? 'harn.toml'))
}

async function compileProject(flags: DeskFlags, project: Project): Promise<LoadedProgram> {
  const { file, text, std } = project.program
  const runtime = makeCommandRuntime({
    script: file,
    terminal: false,
    people: { outside: true },
    args: [],
    authority: await withLock(makeAuthority(flags), flags, file),
    runtime: { eventLog: 'host', std },
  })
  try {
    return { project, runtime, module: runtime.compile(text, { file }) }
  } catch (cause) {
    throw new CommandError(cause instanceof Error ? cause.message : String(cause))
  }
}

export async function openStateLog(stateDir: string): Promise<{ readonly log: EventLog; readonly store: DurableStore }> {
  const named = process.env['HARN_EVENT_LOG_BACKEND'] ?? ''
  const backend = named === '' ? 'sqlite' : named
  if (backend !== 'sqlite' && backend !== 'file' && backend !== 'memory')
    throw new CommandError(`unsupported HARN_EVENT_LOG_BACKEND '${backend}', expected sqlite, file or memory`)
  const sqlitePath = process.env['HARN_EVENT_LOG_SQLITE_PATH'] ?? ''
  const filesFolder = process.env['HARN_EVENT_LOG_DIR'] ?? ''
  return openEventLog({
    backend,
    folder: stateDir,
    ...(sqlitePath === '' ? {} : { sqlitePath: resolve(stateDir, sqlitePath) }),
    ...(filesFolder === '' ? {} : { filesFolder: resolve(stateDir, filesFolder) }),
  })
}

export function warnAll(warnings: readonly string[]): void {
  for (const warning of warnings) complain(`[harn] warning: ${warning}\n`)
}

export function joinState(desk: Pick<Desk, 'stateDir'>, ...parts: readonly string[]): string {
  return join(desk.stateDir, ...parts)
}
