// Programs and facts of the process (records ProcessExec, ProcessInfo, ProcessSet). A program gets its own process group
// and goes with everything it started when its time is over or the run ends. Scripts see and change the workspace's folder and
// environment, never those of this process.

import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { arch, homedir, hostname, tmpdir, userInfo } from 'node:os'
import { isSecretVariable } from '../library/processes/process.js'
import type { EffectOf, EffectOutcome, Plain } from '@bridle/vm'
import { clampTimer } from '../library/time/host-clock.js'
import { readOsErrorCode, describeOsError } from '../tools/executors/os-errors.js'
import { answered, categorizedError, describeCause, provider, refused, runtimeError } from '../tools/executors/provider.js'
import type { EffectCall, Provider } from '../tools/executors/provider.js'
import { SandboxViolation } from './sandbox.js'
import { guardWork, makeViolation } from './workspace.js'
import type { Workspace } from './workspace.js'
import { killGroup, spawnFailure } from '../mcp/process-group.js'
import { isExecutable, findProgramFile } from '../mcp/program-file.js'

export interface ProcessOptions {
  /** Arguments of the script. */
  readonly args?: readonly string[]
  /** The whole of a skill by id or name: null when there is none, `{ambiguous: true}` when several have the name. */
  readonly findSkill?: (wanted: string) => Plain
  /** Secrets that the host lends by name: scripts can see that they exist. */
  readonly secretNames?: readonly string[]
  /** Bytes of standard output and of standard error that are kept; the rest is dropped with a note. 64 MiB by default. */
  readonly maxOutputBytes?: number
  /**
   * Says no to a program: false, or the reason. Asked with the program's name and arguments (or the shell text), and with the file that the
   * host's own PATH has under that name, which is what runs. Variables that the script has set change what a program loads, so with such a
   * list they are refused unless `allowEnv` names them.
   */
  readonly allow?: (request: {
    readonly program: string | null
    readonly path: string | null
    readonly args: readonly string[]
    readonly shell: string | null
  }) => boolean | string
  /** Variables that scripts may set for the programs that `allow` lets run. */
  readonly allowEnv?: readonly string[]
}

export function processProvider(workspace: Workspace, options: ProcessOptions = {}): Provider {
  return provider({
    kinds: ['process.exec', 'process.info', 'process.set'],
    perform(effect, call) {
      switch (effect.kind) {
        case 'process.exec':
          return execute(workspace, options, effect, call)
        case 'process.info':
          return answerInfo(workspace, options, effect)
        default:
          return set(workspace, effect, call)
      }
    },
  })
}

function execute(
  workspace: Workspace,
  options: ProcessOptions,
  effect: EffectOf<'process.exec'>,
  call: EffectCall,
): EffectOutcome | Promise<EffectOutcome> {
  const { args } = effect
  const shell = typeof args.shell === 'string' ? args.shell : null
  const program = typeof args.program === 'string' ? args.program : null
  const words = Array.isArray(args.args) ? args.args.map(String) : []
  let cwd: string
  try {
    cwd = typeof args.cwd === 'string' ? workspace.usable(args.cwd, 'exec') : workspace.cwd
  } catch (cause) {
    if (cause instanceof SandboxViolation) return makeViolation(cause)
    throw cause
  }
  // What was judged is what runs: the file is found once, by the PATH of the host, and started by its place.
  const isJudged = options.allow !== undefined || args.judged === true
  const path = isJudged && program !== null ? findProgramFile(program, workspace.given.get('PATH') ?? '', cwd) : null
  const own = record(args.env ?? null) as { readonly [name: string]: string }
  const allowed = options.allow?.({ program, path, args: words, shell }) ?? true
  const changed =
    options.allow === undefined
      ? []
      : listChangedVariables(workspace, own).filter((name) => options.allowEnv?.includes(name) !== true)
  const reason =
    changed.length > 0 ? `the script has set ${changed.join(', ')}, which allowEnv of the host does not name` : allowed
  if (reason !== true)
    return categorizedError(
      'tool_rejected',
      `process '${shell ?? program}' is not allowed${typeof reason === 'string' ? `: ${reason}` : ''}`,
    )
  if (isJudged && program !== null && path === null) {
    const missing = Object.assign(new Error(`spawn ${program} ENOENT`), { code: 'ENOENT' })
    return refused(readOsErrorCode(missing), describeOsError(missing))
  }
  const inherited = args.clearEnv === true ? {} : workspace.environment()
  const env = { ...inherited, ...own }
  const command = shell === null ? (path ?? program ?? '') : (listShells(workspace.environment())[0] ?? '/bin/sh')
  const argv = shell === null ? words : ['-c', shell]
  const stdin = args.stdin
  return run({
    command,
    argv0: shell === null ? program : null,
    argv,
    cwd,
    env,
    stdin: typeof stdin === 'string' || stdin instanceof Uint8Array ? stdin : null,
    timeoutMs: typeof args.timeoutMs === 'number' ? args.timeoutMs : null,
    maxOutputBytes: options.maxOutputBytes ?? 64 << 20,
    signal: call.signal,
  })
}

interface Execution {
  readonly command: string
  /** The name by which a program knows itself. */
  readonly argv0: string | null
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly stdin: string | Uint8Array | null
  readonly timeoutMs: number | null
  readonly maxOutputBytes: number
  readonly signal: AbortSignal
}

function run(options: Execution): Promise<EffectOutcome> {
  return new Promise((resolve) => {
    if (options.signal.aborted) {
      resolve(runtimeError('process: the run was cancelled'))
      return
    }
    let child: ReturnType<typeof spawn>
    try {
      child = spawn(options.command, [...options.argv], {
        cwd: options.cwd,
        env: options.env,
        ...(options.argv0 === null ? {} : { argv0: options.argv0 }),
        stdio: [options.stdin === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      })
    } catch (cause) {
      resolve(refused(readOsErrorCode(cause), describeOsError(cause)))
      return
    }
    const stdout = new Collector(options.maxOutputBytes)
    const stderr = new Collector(options.maxOutputBytes)
    child.stdout!.on('data', (chunk: Buffer) => stdout.add(chunk))
    child.stderr!.on('data', (chunk: Buffer) => stderr.add(chunk))
    child.stdin?.on('error', () => {})
    child.stdin?.end(options.stdin ?? '')
    let timedOut = false
    let timer: NodeJS.Timeout | undefined
    const onAbort = (): void => killGroup(child, 'SIGKILL')
    if (options.timeoutMs !== null) {
      timer = setTimeout(() => {
        timedOut = true
        killGroup(child, 'SIGKILL')
      }, clampTimer(options.timeoutMs))
    }
    options.signal.addEventListener('abort', onAbort, { once: true })
    const finish = (outcome: EffectOutcome): void => {
      clearTimeout(timer)
      options.signal.removeEventListener('abort', onAbort)
      resolve(outcome)
    }
    child.once('error', (cause) => {
      const failure = spawnFailure(cause, options.command, options.env)
      finish(refused(readOsErrorCode(failure), describeOsError(failure)))
    })
    // `close` comes when its output is closed too, so nothing it printed is lost.
    child.once('close', (code) => {
      if (options.signal.aborted) finish(runtimeError('process: the run was cancelled'))
      else
        finish(
          answered({
            stdout: stdout.text(),
            stderr: stderr.text(),
            status: timedOut ? -1 : (code ?? -1),
            timedOut,
            pid: child.pid ?? 0,
          }),
        )
    })
  })
}

/** Variables that are not as the host gave them. */
function listChangedVariables(workspace: Workspace, own: { readonly [name: string]: string }): readonly string[] {
  const now = new Map([...workspace.env, ...Object.entries(own)])
  const names = new Set([...now.keys(), ...workspace.given.keys()])
  return [...names].filter((name) => now.get(name) !== workspace.given.get(name)).sort()
}

/** Output up to a limit; what is beyond it is counted, not kept. */
class Collector {
  private readonly chunks: Buffer[] = []
  private readonly most: number
  private kept = 0
  private dropped = 0

  constructor(most: number) {
    this.most = most
  }

  add(chunk: Buffer): void {
    const room = this.most - this.kept
    const part = chunk.length <= room ? chunk : chunk.subarray(0, Math.max(0, room))
    this.kept += part.length
    this.dropped += chunk.length - part.length
    if (part.length > 0) this.chunks.push(part)
  }

  text(): string {
    const text = Buffer.concat(this.chunks).toString('utf8')
    return this.dropped === 0 ? text : `${text}\n[${this.dropped} bytes dropped]`
  }
}

type FoundShell = { readonly path: string; readonly source: string; readonly available: boolean }

/** Paths of the shells that exist, best first. */
export function listShells(env: NodeJS.ProcessEnv): string[] {
  return listKnownShells(env)
    .filter((shell) => shell.available)
    .map((shell) => shell.path)
}

/** In the order of the record's comment; the usual ones also when they do not exist. */
function listKnownShells(env: NodeJS.ProcessEnv): FoundShell[] {
  if (process.platform === 'win32') return [{ path: env['COMSPEC'] ?? 'cmd.exe', source: 'env', available: true }]
  const candidates: readonly (readonly [source: string, paths: readonly (string | undefined)[]])[] = [
    ['env', [env['HARN_DEFAULT_SHELL'], env['SHELL']]],
    ['login', [findLoginShell()]],
    ['etc_shells', readListedShells()],
    ['fallback', ['/bin/zsh', '/bin/bash', '/bin/sh']],
  ]
  const found = new Map<string, FoundShell>()
  for (const [source, paths] of candidates) {
    for (const path of paths) {
      if (path === undefined || !path.startsWith('/') || found.has(path)) continue
      const available = isExecutable(path)
      if (available || source === 'fallback') found.set(path, { path, source, available })
    }
  }
  return [...found.values()]
}

/** Shells of accounts without login. */
const NO_SHELLS: ReadonlySet<string> = new Set(['nologin', 'false', 'true'])

function findLoginShell(): string | undefined {
  try {
    const { shell } = userInfo()
    return shell === null || NO_SHELLS.has(shell.slice(shell.lastIndexOf('/') + 1)) ? undefined : shell
  } catch {
    return undefined
  }
}

function readListedShells(): string[] {
  try {
    return readFileSync('/etc/shells', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('/'))
  } catch {
    return []
  }
}

const PLATFORMS: { readonly [name: string]: string } = { win32: 'windows' }
const ARCHITECTURES: { readonly [name: string]: string } = { x64: 'x86_64', arm64: 'aarch64', ia32: 'x86' }

function answerInfo(workspace: Workspace, options: ProcessOptions, { args }: EffectOf<'process.info'>): EffectOutcome {
  switch (args.op) {
    case 'env':
      return answered(workspace.env.get(args.name) ?? null)
    case 'env_all':
      return answered(Object.fromEntries([...workspace.env].filter(([name]) => !isSecretVariable(name))))
    // Whether a variable has a value: for secrets, which must not enter a journal.
    case 'env_set':
      return answered((workspace.env.get(args.name) ?? '') !== '' || options.secretNames?.includes(args.name) === true)
    case 'cwd':
      return answered(workspace.cwd)
    case 'platform':
      return answered(PLATFORMS[process.platform] ?? process.platform)
    case 'arch':
      return answered(ARCHITECTURES[arch()] ?? arch())
    case 'hostname':
      return answered(hostname())
    case 'username':
      return answered(workspace.env.get('USER') ?? workspace.env.get('USERNAME') ?? readUserName())
    case 'home':
      return answered(workspace.env.get('HOME') ?? homedir())
    case 'temp':
      return answered(workspace.env.get('TMPDIR')?.replace(/(.)\/$/, '$1') ?? tmpdir())
    case 'exe':
      return answered(process.execPath)
    case 'shells': {
      const shells = listKnownShells(workspace.environment())
      const readShellName = (shell: FoundShell): string => shell.path.slice(shell.path.lastIndexOf('/') + 1)
      const names = new Map([...shells].reverse().map((shell) => [readShellName(shell), shell.path]))
      return answered({
        shells: shells.filter((shell) => names.get(readShellName(shell)) === shell.path),
        default: shells.find((shell) => shell.available)?.path ?? null,
        platform: process.platform,
      })
    }
    case 'pid':
      return answered(process.pid)
    case 'skill':
      return answered(options.findSkill?.(args.name) ?? null)
    case 'args':
      return answered([...(options.args ?? [])])
  }
}

function readUserName(): string {
  try {
    return userInfo().username
  } catch (cause) {
    return describeCause(cause)
  }
}

function set(workspace: Workspace, { args }: EffectOf<'process.set'>, call: EffectCall): EffectOutcome | Promise<EffectOutcome> {
  switch (args.op) {
    case 'exit':
      call.exit(args.code)
      // Never answered: the run ends, and its signal lets go of this.
      return new Promise((resolve) =>
        call.signal.addEventListener('abort', () => resolve(runtimeError('the run has ended')), { once: true }),
      )
    case 'setenv': {
      const { name, value } = args
      if (value === null) workspace.env.delete(name)
      else workspace.env.set(name, value)
      return answered(null)
    }
    case 'chdir':
      return guardWork(() => {
        const { path } = args
        const target = workspace.usable(path, 'list')
        try {
          if (!statSync(target).isDirectory())
            return refused('ENOTDIR', 'Not a directory (os error 20)', { path: workspace.shown(path) })
        } catch (cause) {
          return refused(readOsErrorCode(cause), describeOsError(cause), { path: workspace.shown(path) })
        }
        workspace.cwd = workspace.normalized(path)
        return answered({ path: workspace.cwd })
      })
  }
}

function record(value: Plain): { readonly [key: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as { readonly [key: string]: Plain }) : {}
}
