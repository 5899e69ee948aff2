// The `process.*` operations of host_call that work without an embedding program: running a command by argument
// list or through a shell, and the shells themselves. One resumable step function, used inside the frame `host.call`.

import { HarnDict, HarnList, debugQuoted, display, family, isTruthy, toMillis } from '@bridle/vm/families'
import type { Context, Control, Effect, Result, Value } from '@bridle/vm/families'
import { formatIsoNow } from '../../library/time/dates.js'
import { readText } from '../definitions/registry.js'

export interface ProcessState {
  stage: 'start' | 'shells' | 'running'
  readonly operation: string
  readonly params: HarnDict
  /** What runs; null until it is known. */
  plan: { readonly program: string; readonly args: readonly string[] } | null
  startedAt: number
}

/** `chosen` is the shell id set by process.set_default_shell; `commands` numbers the runs. */
const hostProcess = family<{ chosen: string | null; commands: number }>('host_process', () => ({ chosen: null, commands: 0 }))

interface Shell {
  readonly id: string
  readonly path: string
  readonly isDefault: boolean
  readonly isAvailable: boolean
  /** Where it was found: env, login, etc_shells or fallback; `host` when the caller gave its path. */
  readonly source: string
  readonly platform: string
}

const OPERATIONS: ReadonlySet<string> = new Set([
  'exec',
  'list_shells',
  'get_default_shell',
  'set_default_shell',
  'shell_invocation',
])

export function stepProcessFallback(ctx: Context, state: ProcessState): Result {
  switch (state.stage) {
    case 'start':
      return start(ctx, state)
    case 'shells':
      return withShells(ctx, state, readShells(ctx.result))
    case 'running':
      return finishProcess(ctx, state)
  }
}

function start(ctx: Context, state: ProcessState): Result {
  const { operation, params } = state
  if (!OPERATIONS.has(operation)) return ctx.throw(`host_call: unsupported operation process.${operation}`)
  if (operation === 'exec') {
    const mode = readText(params, 'mode') ?? 'shell'
    if (mode === 'argv') return startArgv(ctx, state)
    if (mode !== 'shell') return ctx.runtime(`host_call process.exec unsupported mode ${debugQuoted(mode)}`)
    if ((params.get('command') ?? null) === null) return ctx.throw("host_call: missing required parameter 'command'")
    const refused = refuseShell(ctx, params, 'host_call process.exec')
    if (refused !== null) return refused
  }
  if (operation === 'shell_invocation') {
    const refused = refuseShell(ctx, params, 'process.shell_invocation')
    if (refused !== null) return refused
  }
  if (operation === 'set_default_shell' && readDefaultId(params) === null)
    return ctx.runtime('process.set_default_shell missing shell_id')
  state.stage = 'shells'
  return ctx.request({ kind: 'process.info', args: { op: 'shells' } })
}

/** The fault for params that name no shell; null when they name one. */
function refuseShell(ctx: Context, params: HarnDict, label: string): Control | null {
  if (readWantedShell(params) !== null) return null
  return ctx.runtime(
    params.get('shell') instanceof HarnDict
      ? `${label}: shell object requires \`path\` or \`id\``
      : `${label}: shell mode requires \`shell\` or \`shell_id\``,
  )
}

const readDefaultId = (params: HarnDict): string | null => readText(params, 'shell_id') ?? readText(params, 'id')

function startArgv(ctx: Context, state: ProcessState): Result {
  const argv = state.params.get('argv') ?? null
  const words = argv instanceof HarnList ? argv.view().filter((word) => typeof word === 'string') : []
  if (!(argv instanceof HarnList) || words.length < argv.length) return ctx.runtime('host_call process.exec missing argv')
  const [program, ...args] = words
  if (program === undefined) return ctx.runtime('host_call process.exec argv must not be empty')
  if (program.trim() === '') return ctx.runtime('host_call process.exec argv[0] must not be empty')
  return launch(ctx, state, { program, args })
}

function readShells(answer: Value): Shell[] {
  if (!(answer instanceof HarnDict)) return []
  const rows = answer.get('shells')
  const preferred = answer.get('default')
  const platform = display(answer.get('platform') ?? 'unknown')
  const shells: Shell[] = []
  for (const row of rows instanceof HarnList ? rows.view() : []) {
    const path = row instanceof HarnDict ? (row.get('path') ?? null) : null
    if (!(row instanceof HarnDict) || typeof path !== 'string') continue
    const id = path.slice(path.lastIndexOf('/') + 1)
    if (shells.some((shell) => shell.id === id)) continue
    const source = display(row.get('source') ?? 'fallback')
    shells.push({ id, path, isDefault: path === preferred, isAvailable: row.get('available') !== false, source, platform })
  }
  return shells
}

type Wanted = { readonly id: string } | { readonly path: string; readonly id: string | null }

/** The shell that params ask for: `shell: {path, id?}` or `{id}`, else `shell_id`; null when they name none. */
function readWantedShell(params: HarnDict): Wanted | null {
  const shell = params.get('shell') ?? null
  if (shell instanceof HarnDict) {
    const id = readText(shell, 'id')
    const path = readText(shell, 'path')
    return path !== null ? { path, id } : id !== null ? { id } : null
  }
  const id = readText(params, 'shell_id')
  return id === null ? null : { id }
}

/** The shell asked for; a path is taken as it is, an id must be known. */
function findShell(shells: readonly Shell[], wanted: Wanted): Shell | null {
  if (!('path' in wanted)) return shells.find((shell) => shell.id === wanted.id) ?? null
  const { path } = wanted
  const id = wanted.id ?? path.slice(path.lastIndexOf('/') + 1)
  return { id, path, isDefault: false, isAvailable: true, source: 'host', platform: shells[0]?.platform ?? 'unknown' }
}

function findDefaultShell(ctx: Context, shells: readonly Shell[]): Shell | null {
  const { chosen } = ctx.state(hostProcess)
  const preferred = chosen === null ? null : findShell(shells, { id: chosen })
  return preferred ?? shells.find((shell) => shell.isDefault) ?? shells.find((shell) => shell.isAvailable) ?? null
}

function describeShell(shell: Shell): HarnDict {
  return HarnDict.of({
    id: shell.id,
    label: shell.id,
    path: shell.path,
    platform: shell.platform,
    available: shell.isAvailable,
    supports_login: true,
    supports_interactive: true,
    default_args: new HarnList(['-c']),
    login_args: new HarnList(['-l', '-c']),
    source: shell.source,
  })
}

function withShells(ctx: Context, state: ProcessState, shells: readonly Shell[]): Result {
  const { operation, params } = state
  const usual = findDefaultShell(ctx, shells)
  if (operation === 'list_shells') {
    return HarnDict.of({
      shells: new HarnList(shells.map(describeShell)),
      default_shell_id: usual?.id ?? null,
    })
  }
  const id = operation === 'set_default_shell' ? readDefaultId(params) : null
  const wanted = id !== null ? { id } : operation === 'get_default_shell' ? null : readWantedShell(params)
  const shell = wanted === null ? usual : findShell(shells, wanted)
  if (shell === null) {
    const name = debugQuoted(wanted?.id ?? 'default')
    return ctx.runtime(
      operation === 'set_default_shell'
        ? `process.set_default_shell: unknown or unavailable shell id ${name}`
        : `${operation === 'exec' ? 'host_call ' : ''}process.${operation}: unknown shell id ${name}`,
    )
  }
  switch (operation) {
    case 'set_default_shell':
      ctx.state(hostProcess).chosen = shell.id
      return describeShell(shell)
    case 'get_default_shell':
      return describeShell(shell)
    case 'shell_invocation': {
      const args = makeShellArguments(params)
      const command = params.get('command') ?? null
      const invocation = HarnDict.of({
        program: shell.path,
        command_arg_index: args.length,
        shell: describeShell(shell),
        args: new HarnList([...args, command === null ? '{command}' : display(command)]),
      })
      return invocation
    }
    default:
      return launch(ctx, state, { program: shell.path, args: [...makeShellArguments(params), display(params.get('command')!)] })
  }
}

function makeShellArguments(params: HarnDict): string[] {
  const args: string[] = []
  if (isTruthy(params.get('interactive') ?? null)) args.push('-i')
  if (isTruthy(params.get('login') ?? null)) args.push('-l')
  return [...args, '-c']
}

function launch(ctx: Context, state: ProcessState, plan: { program: string; args: readonly string[] }): Result {
  const { params } = state
  const env = params.get('env') ?? null
  const variables: Record<string, string> | null =
    env instanceof HarnDict ? (Object.create(null) as Record<string, string>) : null
  if (env instanceof HarnDict) for (const [key, value] of env.entries()) variables![key] = display(value)
  const stdin = params.get('stdin') ?? null
  const effect: Effect = {
    kind: 'process.exec',
    args: {
      program: plan.program,
      args: plan.args,
      shell: null,
      cwd: readText(params, 'cwd'),
      env: variables,
      clearEnv: variables !== null && readText(params, 'env_mode') !== 'merge',
      stdin: stdin === null ? null : display(stdin),
      timeoutMs: toMillis(params.get('timeout_ms') ?? params.get('timeout')),
    },
  }
  state.plan = plan
  state.stage = 'running'
  state.startedAt = ctx.now
  return ctx.request(effect)
}

function finishProcess(ctx: Context, state: ProcessState): Result {
  const answer = ctx.result instanceof HarnDict ? ctx.result : new HarnDict()
  if (answer.get('refused') === true)
    return ctx.runtime(`host_call process.exec: ${display(answer.get('detail') ?? 'not started')}`)
  const timedOut = answer.get('timedOut') === true
  const exitCode = timedOut ? -1 : (answer.get('status') ?? -1)
  const stdout = display(answer.get('stdout') ?? '')
  const stderr = display(answer.get('stderr') ?? '')
  const pid = answer.get('pid') ?? null
  const counters = ctx.state(hostProcess)
  counters.commands++
  return HarnDict.of({
    command_id: `cmd_${counters.commands}`,
    status: timedOut ? 'timed_out' : 'completed',
    pid,
    process_group_id: pid,
    handle_id: null,
    started_at: formatIsoNow(state.startedAt),
    ended_at: formatIsoNow(ctx.now),
    duration_ms: Math.max(0, Math.round(ctx.now - state.startedAt)),
    exit_code: exitCode,
    signal: null,
    timed_out: timedOut,
    stdout,
    stderr,
    combined: stdout + stderr,
    exit_status: exitCode,
    legacy_status: exitCode,
    success: exitCode === 0,
  })
}
