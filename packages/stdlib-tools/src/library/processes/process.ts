// Process and environment builtins. Programs are started by the provider, never through a shell unless
// the script asks for one.

import { builtinTaking, HarnDict, builtin, display, isInt } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, Effect, Result, Value } from '@bridle/vm/families'
import { Again, makeAsker, readAnswerField, findRefusal } from '../files/ask.js'
import type { Finisher } from '../files/ask.js'
import { normalizePath } from '../files/lexical-path.js'
import type { EffectArgs } from '@bridle/vm/families'

function askInfo(args: EffectArgs['process.info']): Effect {
  return { kind: 'process.info', args }
}

function findManifest(from: string): Effect {
  return { kind: 'fs.query', args: { op: 'find_up', path: from, name: 'harn.toml' } }
}

/** Relative places are under the base directory of the project. */
function placeBelow(base: string, override: Value, fallback: string): string {
  const path = override === null || display(override) === '' ? fallback : display(override)
  return path.startsWith('/') ? path : normalizePath(`${base}/${path}`)
}

const finishers: Readonly<Record<string, Finisher>> = {
  ran: (ctx, answer, [failure]) => {
    const refused = findRefusal(answer)
    if (refused !== null) return ctx.throw(`${display(failure!)}: ${refused.detail}`)
    const status = readAnswerField(answer, 'status')
    return HarnDict.of({
      stdout: readAnswerField(answer, 'stdout'),
      stderr: readAnswerField(answer, 'stderr'),
      status,
      success: status === 0,
    })
  },
  or_default: (_ctx, answer, [fallback]) => answer ?? fallback!,
  as_is: (_ctx, answer) => answer,
  is_set: (_ctx, answer) => answer !== null,
  // project_root: cwd, then the nearest manifest.
  project_from: (_ctx, answer) => new Again(findManifest(display(answer)), 'as_is', []),
  // runtime_paths: cwd → project → three overrides, each laid aside in turn.
  paths_project: (_ctx, answer, [assets]) => new Again(findManifest(display(answer)), 'paths_state', [answer, assets!]),
  paths_state: (_ctx, answer, [root, assets]) =>
    new Again({ ...askInfo({ op: 'env', name: 'HARN_STATE_DIR' }), own: true }, 'paths_run', [root!, assets!, answer ?? assets!]),
  paths_run: (_ctx, answer, input) =>
    new Again({ ...askInfo({ op: 'env', name: 'HARN_RUN_DIR' }), own: true }, 'paths_worktree', [...input, answer]),
  paths_worktree: (_ctx, answer, input) =>
    new Again({ ...askInfo({ op: 'env', name: 'HARN_WORKTREE_DIR' }), own: true }, 'paths_done', [...input, answer]),
  paths_done: (_ctx, answer, [root, assets, base, state, run]) => {
    const project = display(base!)
    return HarnDict.of({
      execution_root: root!,
      asset_root: assets!,
      state_root: placeBelow(project, state!, '.harn'),
      run_root: placeBelow(project, run!, '.harn-runs'),
      worktree_root: placeBelow(project, answer, '.harn/worktrees'),
    })
  },
}

const processes = makeAsker('process.ask', finishers)

interface Command {
  readonly program: string | null
  readonly args: readonly string[]
  readonly shell: string | null
  readonly cwd: string | null
}

function run(ctx: Context, command: Command, failure: string): Result {
  const effect: Effect = { kind: 'process.exec', args: { ...command, env: null, stdin: null, timeoutMs: null } }
  return processes.ask(ctx, effect, 'ran', failure)
}

/**
 * Names of variables that look like secrets. The standard tools `env.*` do not see them; `env` does, because
 * scripts read their keys by it.
 */
const SECRET_VARIABLE = /PASSWORD|SECRET|KEY|TOKEN|CREDENTIAL|AUTH|_PRIVATE_|^(AWS|AZURE|GCP|SSH|API)_/i

/** Whether a variable's name says that its value is to be kept from models. */
export function isSecretVariable(name: string): boolean {
  return SECRET_VARIABLE.test(name)
}

/** A variable for the tools `env.*`: one that looks like a secret is not there. */
function defineVisible(signature: string, doc: string, then: string): BuiltinDef {
  return builtin(signature, { doc, effects: ['process.info'] }, (ctx, given) => {
    const variable = display(given ?? '')
    if (isSecretVariable(variable)) return then === 'is_set' ? false : null
    return processes.ask(ctx, askInfo({ op: 'env', name: variable }), then)
  })
}

/** A fact of the process as it is. */
function defineFact(
  name: string,
  op: Exclude<EffectArgs['process.info']['op'], 'env' | 'env_set' | 'skill'>,
  type: string,
  doc: string,
): BuiltinDef {
  return builtin(`${name}() -> ${type}`, { doc, effects: ['process.info'] }, (ctx) => ctx.perform(askInfo({ op })))
}

function exitCode(code: Value): number {
  return isInt(code) ? Number(BigInt.asUintN(8, BigInt(code))) : 0
}

export const processFamily: BuiltinFamily = {
  name: 'process',
  frames: [processes.frame],
  builtins: [
    builtin('env(name: string) -> string | nil', { doc: 'An environment variable.', effects: ['process.info'] }, (ctx, name) =>
      ctx.perform(askInfo({ op: 'env', name: display(name ?? '') })),
    ),
    builtin(
      'env_or(name: string, default: any) -> any',
      { doc: 'An environment variable, or a default.', effects: ['process.info'] },
      (ctx, name, fallback) =>
        processes.ask(ctx, askInfo({ op: 'env', name: display(name ?? '') }), 'or_default', fallback ?? null),
    ),
    builtinTaking(
      'exec(cmd: string, ...args: string) -> dict',
      { doc: 'Runs a program without a shell.', effects: ['process.exec'] },
      { text: { cmd: '{f}: command is required' } },
      (ctx, program, ...args) =>
        run(ctx, { program: display(program!), args: args.map((arg) => display(arg)), shell: null, cwd: null }, 'exec failed'),
    ),
    builtinTaking(
      'exec_at(dir: string, cmd: string, ...args: string) -> dict',
      { doc: 'Runs a program in a directory.', effects: ['process.exec'] },
      { text: { dir: null, cmd: '{f}: directory and command are required' } },
      (ctx, dir, program, ...args) =>
        run(
          ctx,
          { program: display(program!), args: args.map((arg) => display(arg)), shell: null, cwd: display(dir!) },
          'exec failed',
        ),
    ),
    builtinTaking(
      'shell(cmd: string) -> dict',
      { doc: 'Runs a script with the default shell.', effects: ['process.exec'] },
      { text: { cmd: '{f}: command string is required' } },
      (ctx, shell) => run(ctx, { program: null, args: [], shell, cwd: null }, 'shell failed'),
    ),
    builtinTaking(
      'shell_at(dir: string, cmd: string) -> dict',
      { doc: 'Runs a script with the default shell in a directory.', effects: ['process.exec'] },
      { text: { dir: null, cmd: '{f}: directory and command string are required' } },
      (ctx, cwd, shell) => run(ctx, { program: null, args: [], shell, cwd }, 'shell failed'),
    ),
    builtin('exit(code?: int) -> nil', { doc: 'Ends the process at once.', effects: ['process.set'] }, (ctx, code) =>
      ctx.perform({ kind: 'process.set', args: { op: 'exit', code: exitCode(code ?? 0) } }),
    ),
    defineVisible('__env_get(name: string) -> string | nil', 'An environment variable that is no secret.', 'as_is'),
    defineVisible('__env_has(name: string) -> bool', 'Whether an environment variable that is no secret is set.', 'is_set'),
    defineFact('__env_list', 'env_all', 'dict', 'The environment variables that are no secrets.'),
    defineFact('__env_args', 'args', 'list', 'The arguments of the script.'),
    builtin(
      '__env_set(name: string, value: string) -> bool',
      { doc: 'Sets an environment variable of the run and of the programs that it starts.', effects: ['process.set'] },
      (ctx, name, value) => {
        const variable = display(name ?? '')
        if (variable === '' || /[=\0]/.test(variable)) return ctx.throw(`'${variable}' cannot be the name of a variable`)
        return processes.ask(
          ctx,
          { kind: 'process.set', args: { op: 'setenv', name: variable, value: display(value!) } },
          'as_is',
        )
      },
    ),
    defineFact('username', 'username', 'string', 'Name of the user.'),
    defineFact('hostname', 'hostname', 'string', 'Name of the machine.'),
    defineFact('platform', 'platform', 'string', '`darwin`, `linux` or `windows`.'),
    defineFact('arch', 'arch', 'string', 'Processor architecture, such as `x86_64`.'),
    defineFact('home_dir', 'home', 'string', 'Home directory of the user.'),
    defineFact('pid', 'pid', 'int', 'Number of this process.'),
    defineFact('cwd', 'cwd', 'string', 'The execution root.'),
    defineFact('execution_root', 'cwd', 'string', 'The directory that relative file paths start from.'),
    builtin(
      'source_dir() -> string',
      { doc: 'Directory of the source file that runs.', effects: [] },
      (ctx) => ctx.source.directory,
    ),
    builtin(
      'asset_root() -> string',
      { doc: 'Directory that templates are found in: that of the source file.', effects: [] },
      (ctx) => ctx.source.directory,
    ),
    builtin(
      'project_root() -> string | nil as string',
      { doc: 'The nearest directory from the execution root upwards with a `harn.toml`.', effects: ['process.info', 'fs.query'] },
      (ctx) => processes.ask(ctx, askInfo({ op: 'cwd' }), 'project_from'),
    ),
    builtin(
      'runtime_paths() -> dict',
      { doc: 'The directories that the runtime uses.', effects: ['process.info', 'fs.query'] },
      (ctx) => processes.ask(ctx, askInfo({ op: 'cwd' }), 'paths_project', ctx.source.directory),
    ),
  ],
}
