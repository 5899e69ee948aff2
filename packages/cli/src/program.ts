// All commands of `bridle` and their options: parses the arguments, loads the command and returns its exit code. Commands
// are imported on use, because start-up time is part of every run.

import type { RunFlags, ConformanceFlags } from './run-flags.js'
import type { SizeFlags } from './further-limits.js'
import { Argument, Command, CommanderError, Option } from 'commander'
import { EXIT_USAGE, UsageError, makeWholeNumberParser } from './errors.js'
import { VERSION } from './version.js'
import type { AuthorityFlags } from './authority.js'
import type { AcpFlags } from './commands/serve-acp.js'
import type { ReplayFlags } from './commands/replay.js'
import type { ResumeFlags } from './commands/resume.js'
import type { SnapshotFlags } from './commands/snapshot.js'
import type { CheckFlags } from './commands/check.js'
import type { EvalFlags } from './commands/eval.js'
import type { FmtFlags } from './commands/fmt.js'
import type { LintFlags } from './commands/lint.js'
import type { McpFlags, McpLoginFlags, McpLogoutFlags } from './commands/mcp.js'
import type { PrimerFlags } from './commands/primer.js'
import type { GatewayFlags } from './commands/gateway.js'
import type { ServeFlags } from './commands/serve.js'
import type { SimulateFlags } from './commands/simulate.js'
import type { QuotaFlags } from './durable/quota.js'
import type { TestFlags } from './commands/test.js'
import type { ListFlags, MigrateFlags, StoreFlags, WorkerFlags } from './durable/commands.js'
import type { A2aFlags } from './orchestrator/a2a-serve.js'
import { addMcpServe, addOrchestratorCommands } from './orchestrator/command-line.js'
import type { ToolsFlags } from './commands/tools.js'
import type { TraceFlags } from './commands/trace.js'
import { MODES } from './conformance/mode-names.js'

const REPLAY_HELP = `
Without FILE the script is the one that was recorded: as it is now, or as it was then when its file is gone.
Calls are numbered from 1 in the order in which the run makes them; --list shows them.
Exit code: that of the recorded run, 1 when the replay goes another way, 0 when it was stopped by --until.
`

const EXIT_HELP = `
Exit codes of all commands: 0 done; 1 tried and failed, or a script that does not compile; 2 called in a way that makes no sense, or with
a file that cannot be read; 75 a durable run waits for people or timers; 124 out of time; 130 and 143 interrupted and terminated. \`run\` gives the int that the pipeline returns.
With --json a command prints one JSON document, also when it fails.
`

const RESUME_HELP = `
FILE is a snapshot, or the journal of a run whose process ended before it did (\`bridle run --record\`), which is continued.
What was under way is asked for again; what was printed before is not printed again. Of a journal, a call that may have happened and
may not be made twice fails with unknown_outcome, unless --unknown retry is given.
The run may do what it was allowed when it was written down, and no more than the flags say; --widen leaves the first out.
Exit code: that of the run; 1 when FILE is refused.
`

const EVAL_HELP = `
PATH is a run record, a folder of them, a suite (JSON with cases), or a pack (harn.eval.toml, TOML, or JSON with version and cases); a
folder with a harn.eval.toml is that pack. A run record is held against the fixture that it carries.
Exit code: 0 when all pass; 1 when a case fails that blocks, or a file cannot be used.
`

const SNAPSHOT_HELP = `
Without --at and --on-interrupt it stops where the run first waits: for a call that takes time, or a timer. What is under way
there is given up and asked for again by \`bridle resume\`. Given a snapshot, it goes on from that one.
Exit code: 0 when the snapshot was written, 130 when that was on an interrupt; otherwise that of the run, which ended before.
`

/** Arguments after `--` belong to the script; commander sees only those before. */
function splitArguments(words: readonly string[]): { readonly own: string[]; readonly script: string[] } {
  const at = words.indexOf('--')
  return at < 0 ? { own: [...words], script: [] } : { own: words.slice(0, at), script: words.slice(at + 1) }
}

/** For completion and help; the command itself reports an invalid value, with a suggestion. */
function makeNamedArgument(name: string, values: readonly string[]): Argument {
  return new Argument(name).choices(values).argParser((value: string) => value)
}

/** A repeatable option rather than a variadic one: FILE may follow. */
function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

/**
 * For every command that runs code of scripts. All but the last take away from the user's powers (authority.ts).
 * `locks`: the command calls tools, which a lock file may pin. `traces`: it has effects, which a trace may record.
 */
function addAuthorityFlags(
  command: Command,
  { locks = true, traces = locks }: { readonly locks?: boolean; readonly traces?: boolean } = {},
): Command {
  command
    .option('--allow <names>', 'call no builtins but these, separated by commas, and the core', collect)
    .option('--deny <names>', 'call none of these builtins', collect)
    .option(
      '--grant <spec>',
      'have only the granted powers: fs, http.get, http.get:domain=*.example.com,timeout_ms=5000',
      collect,
    )
    .option('--root <dir>', 'touch files below this folder only', collect)
    .option('--sandbox', 'have no powers but those of --grant')
    .option('--env <name>', 'with --root or --sandbox: see this variable of the environment too', collect)
    .option(
      '--secret <name>',
      'lend this variable as a secret: scripts use it by name; NAME@ORIGIN says where it may be sent',
      collect,
    )
    .option('--skill-dir <dir>', 'look for skills here first: a folder of NAME/SKILL.md, or one skill', collect)
  if (traces)
    command
      .option('--trace <file>', 'write the trace of the run; in a folder, a file named by the run')
      .option('--trace-required', 'do nothing that the trace cannot keep: the run ends when it cannot be written')
  if (!locks) return command
  return command
    .option('--locked', 'call no tool that is not as the lock file has it')
    .option('--lock-file <file>', 'where that is', 'tools.lock.json')
    .option('--verify-key <file>', 'with --locked: take a lock file only if this Ed25519 public key signed it')
}

/** For commands that continue a run of another command, under the authority stored with it. */
function widenFlag(command: Command): Command {
  return command.option('--widen', 'have what the flags say, also where the run was begun with less; what is widened is told')
}

/** Limits of a run. */
function addLimitFlags(command: Command): Command {
  return sizeFlags(command).addOption(
    new Option('--timeout <ms>', 'milliseconds before the run is stopped').argParser(makeWholeNumberParser('milliseconds', 1)),
  )
}

/** Limits of each run, for commands that make many, or have their own time limit. */
function sizeFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--fuel <n>', 'units of work before a run is stopped').argParser(makeWholeNumberParser('units of work', 1)),
    )
    .addOption(new Option('--max-heap <bytes>', 'memory that values may take').argParser(makeWholeNumberParser('bytes', 1)))
    .option('--limit <name=n>', 'a limit of compiling or of MCP servers: compile.tokens=100000, mcp.maxTools=50', collect)
}

/** Limits of a run, and answers to its requests to people: the person at the terminal is asked for the rest. */
function peopleAndLimitFlags(command: Command): Command {
  return addLimitFlags(command)
    .option('--answers <file>', 'answer questions and approvals from this JSON list: [{"match": "Name?", "answer": "Ada"}]')
    .option('--approve <pattern>', 'approve what is called so: deploy*, write_file', collect)
    .option('--deny-all', 'deny what nothing else approves')
}

/** Repeats the command, without --watch, when something changes in the folders of `paths`. */
async function watchScripts({ own, script }: Words, paths: readonly string[]): Promise<number> {
  const { watchCommand } = await import('./watch.js')
  const command = own.filter((word) => word !== '--watch')
  return await watchCommand({ words: script.length === 0 ? command : [...command, '--', ...script], paths })
}

const SIMULATE_HELP = `
Each seed is run once undisturbed, then once for each fault and entry of its journal: crash, the process dies in front of the entry and
another one takes the run over; store, the entry cannot be written, and the run is recovered later. Time, chance and the order of answers
follow from the seed. Files are read from the disk and changed in memory only; no program, network, model or MCP server is
reached: mock them. A run must end as the undisturbed one of its seed did, and without an error of its own, such as a failed assert.
Exit code: 0 when nothing was found, 1 when something was; 130 on an interrupt, with what was found before.
`

const RUN_STATES = ['ready', 'running', 'parked', 'ended', 'stuck']

const SIGNAL_HELP = `
TOKEN is what the run waits for, as \`bridle runs show\` lists it; the number behind # may be left out. A question of the script takes any
JSON; an approval takes true or false. The first answer counts. A name that the run does not wait for is a signal of it, and waits for
\`await_signal\` of std/durable; signals come in order.
Exit code: 0 when the answer is kept; 1 when it was answered before, or the run has ended or is not known.
`

const WORKER_HELP = `
Any number of workers, on one machine, work on one store. What a killed worker had begun goes on elsewhere when its lease is over.
Runs have the powers that they were submitted with and those of the worker's flags, both.
With --on restate the worker is an endpoint that a Restate server calls, on as many machines as you like; it needs @restatedev/restate-sdk.
Exit code: 0 when it was told to stop, or found nothing more to do with --until-idle.
`

const RUNS_HELP = `
Exit codes: 0 done; 1 there is no such run, or nothing to change; 2 called in a way that makes no sense.
`

/** For durable runs: any process can answer what they wait for, and work on them. */
function addDurableCommands(program: Command, done: (code: number) => void): void {
  const withStore = (command: Command): Command =>
    command
      .requiredOption('--store <file>', 'where the runs are kept: a file, or restate+http://HOST:PORT')
      .option('--json', 'print JSON')
  withStore(program.command('signal <run> <token> [answer]').description('answer what a durable run waits for: JSON, or @file'))
    .option('--error <message>', 'the call fails with this instead')
    .addHelpText('after', SIGNAL_HELP)
    .action(async (run: string, token: string, answer: string | undefined, options: StoreFlags) => {
      const { signalCommand } = await import('./durable/commands.js')
      done(await signalCommand(run, token, answer, options))
    })
  addAuthorityFlags(program.command('worker').description('work on the durable runs of a store until it is told to stop'), {
    traces: false,
  })
    .option('--store <file>', 'where the runs are kept: a file, or restate+http://HOST:PORT')
    .addOption(
      new Option('--on <engine>', 'work on the Restate server of this machine, or the one that --store names').choices([
        'restate',
      ]),
    )
    .addOption(
      new Option('--port <n>', 'of the endpoint that Restate calls; 9080 by default').argParser(
        makeWholeNumberParser('a port', 1),
      ),
    )
    .option('--json', 'print JSON')
    .option('--until-idle', 'end when every run has ended or waits')
    .option('--jsonl', 'print each event as JSON, one a line, as it happens; --json prints one document at the end')
    .addOption(
      new Option('--capacity <n>', 'runs in memory at once; 1,000 by default').argParser(makeWholeNumberParser('runs', 1)),
    )
    .addOption(new Option('--per-tenant <n>', 'and of one tenant').argParser(makeWholeNumberParser('runs', 1)))
    .addOption(
      new Option('--lease <ms>', 'how long nobody takes its runs over when it is silent; 10,000 by default').argParser(
        makeWholeNumberParser('milliseconds', 100),
      ),
    )
    .option('--answers <file>', 'answer questions and approvals from this JSON list')
    .option('--approve <pattern>', 'approve what is called so: deploy*, write_file', collect)
    .option('--deny-all', 'deny what nothing else approves')
    .addHelpText('after', WORKER_HELP)
    .action(async (options: WorkerFlags) => {
      const { workerCommand } = await import('./durable/commands.js')
      done(await workerCommand(options))
    })
  const runs = program
    .command('runs')
    .description('durable runs of a store: list, show, query, events, stats, quota, cancel, retry, fork, migrate, export')
  const onRuns = (signature: string, description: string): Command =>
    withStore(runs.command(signature).description(description)).addHelpText('after', RUNS_HELP)
  onRuns('list', 'name them, with what they wait for')
    .addOption(new Option('--state <state>', 'only these').choices(RUN_STATES))
    .option('--tenant <name>', 'only of this tenant')
    .option('--program <name>', 'only of this script, or this hash')
    .option('--waits-for <token>', 'only those that wait for it')
    .option('--since <time>', 'only those begun at this time or later')
    .option('--after <id>', 'only those behind this one: the next page')
    .addOption(new Option('--limit <n>', 'so many; 100 by default').argParser(makeWholeNumberParser('runs', 1)))
    .action(async (options: ListFlags) => {
      const { listCommand } = await import('./durable/commands.js')
      done(await listCommand(options))
    })
  onRuns('show <run>', 'all that is known of one').action(async (run: string, options: StoreFlags) => {
    const { showCommand } = await import('./durable/commands.js')
    done(await showCommand(run, options))
  })
  onRuns('query <run> [name]', 'what one says of itself (publish of std/durable), without waking it').action(
    async (run: string, name: string | undefined, options: StoreFlags) => {
      const { queryCommand } = await import('./durable/commands.js')
      done(await queryCommand(run, name, options))
    },
  )
  onRuns('events <run>', 'events that one has emitted (emit_process_event of std/durable)')
    .addOption(new Option('--after <n>', 'only those behind this number').argParser(makeWholeNumberParser('events', 0)))
    .addOption(new Option('--limit <n>', 'so many; 1,000 by default').argParser(makeWholeNumberParser('events', 1)))
    .action(async (run: string, options: StoreFlags) => {
      const { eventsCommand } = await import('./durable/commands.js')
      done(await eventsCommand(run, options))
    })
  onRuns('stats', 'how many there are, of whom, and who works on them').action(async (options: StoreFlags) => {
    const { statsCommand } = await import('./durable/commands.js')
    done(await statsCommand(options))
  })
  const quota = onRuns('quota [tenant]', 'what a tenant may use, or every tenant without a quota of its own')
  for (const [flag, what] of [
    ['running', 'runs in the memory of workers'],
    ['parked', 'runs that have not ended; further ones are refused'],
    ['bytes', 'bytes of snapshots'],
    ['submissions', 'new runs a second'],
    ['effects', 'calls a second, of each worker'],
    ['weight', 'part of the room beside others'],
  ] as const)
    quota.addOption(new Option(`--${flag} <n>`, what).argParser(makeWholeNumberParser(flag, flag === 'weight' ? 1 : 0)))
  quota.option('--none', 'take the quota away').action(async (tenant: string | undefined, options: QuotaFlags) => {
    const { quotaCommand } = await import('./durable/quota.js')
    done(await quotaCommand(tenant, options))
  })
  onRuns('cancel <run>', 'end a run; what it waits for is given up')
    .option('--reason <text>', 'why')
    .action(async (run: string, options: StoreFlags) => {
      const { cancelCommand } = await import('./durable/commands.js')
      done(await cancelCommand(run, options))
    })
  onRuns('retry <run>', 'go on with one that was stuck').action(async (run: string, options: StoreFlags) => {
    const { retryCommand } = await import('./durable/commands.js')
    done(await retryCommand(run, options))
  })
  onRuns('fork <run> <id>', 'a run of its own from where one was kept last').action(
    async (run: string, id: string, options: StoreFlags) => {
      const { forkCommand } = await import('./durable/commands.js')
      done(await forkCommand(run, id, options))
    },
  )
  addAuthorityFlags(onRuns('migrate <run>', 'go on with one as another program, where that does the same so far'), {
    traces: false,
  })
    .requiredOption('--to <script>', 'a script, or the hash of a program of the store')
    .action(async (run: string, options: MigrateFlags) => {
      const { migrateCommand } = await import('./durable/commands.js')
      done(await migrateCommand(run, options))
    })
  onRuns('export <run>', 'write its journal, for `bridle replay`')
    .option('-o, --out <file>', 'where to; standard output when absent')
    .action(async (run: string, options: StoreFlags) => {
      const { exportCommand } = await import('./durable/commands.js')
      done(await exportCommand(run, options))
    })
}

interface Words {
  readonly own: readonly string[]
  readonly script: readonly string[]
}

function buildProgram(words: Words, build: string | undefined, done: (code: number) => void): Command {
  const scriptArguments = words.script
  const program = new Command('bridle')
    .description('Runs agent scripts in the Harn language. Independent of the Harn project.')
    .usage('COMMAND [options]')
    .addHelpText('after', EXIT_HELP)
  const add = (signature: string, description: string): Command => program.command(signature).description(description)

  peopleAndLimitFlags(
    addAuthorityFlags(add('run [file]', 'run a script: a file, - for standard input, or -e CODE'))
      .usage('[options] FILE|-|-e CODE [-- ARGS]')
      .option('-e, --eval <code>', 'run this text instead of a file')
      .option('--input <json>', 'input of the run as JSON, or @file; read by runtime_pipeline_input()')
      .option('--json', 'print one JSON document about the run instead of its output')
      .option('--dry-run', 'perform only what reads; list what would have been done')
      .option('--copies', 'say on standard error at the end where lists, dicts and structs were copied to be changed'),
  )
    .option('--llm-mock <file>', 'answer model calls from these JSON lines; none leaves the run')
    .option('--record <file>', 'write the journal of the run, for `bridle replay`')
    .option('--snapshot <file>', 'write the run down when it is interrupted, for `bridle resume`')
    .option('--extension <name>', 'an extension of the language that files need not ask for: grants', collect)
    .option(
      '--store <file>',
      'keep the run here, so that it outlives this process; it ends with 75 when it waits for people or timers',
    )
    .option('--id <id>', 'with --store: what the run is called; a known one goes on')
    .option('--tenant <name>', 'with --store: for whom it runs; tenants take turns')
    .option('--watch', 'run it again whenever a script of its folder changes')
    .addHelpText('after', '\nWords after -- are the list `argv` of the script.\n')
    .action(async (file: string | undefined, options: RunFlags & { readonly watch?: boolean }) => {
      if (options.watch === true) {
        if (file === undefined || file === '-') throw new UsageError('--watch needs the file of a script')
        return done(await watchScripts(words, [file]))
      }
      const { runCommand } = await import('./commands/run.js')
      done(await runCommand(file, { ...options, scriptArguments, build }))
    })

  addDurableCommands(program, done)

  widenFlag(
    addAuthorityFlags(add('replay <recording> [file]', 'run a recorded run again from its journal; nothing is performed'), {
      traces: false,
    }),
  )
    .option('-e, --eval <code>', 'the recorded text, when it was given by -e')
    .option('--recorded', 'the script as it was when it was recorded, not as it is now')
    .addOption(
      new Option('--until <n>', 'answer so many calls and stop in front of the next').argParser(
        makeWholeNumberParser('calls', 0),
      ),
    )
    .option('--edit <n=json>', 'answer call N with this instead of what was recorded; may be given several times', collect)
    .option('-o, --out <file>', 'with --until: write a snapshot of that place, for `bridle resume`')
    .option('--limit <name=n>', 'a limit of compiling: compile.tokens=100000', collect)
    .option('--list', 'list the recorded calls with their answers and run nothing')
    .option('--json', 'print one JSON document instead of the output')
    .addHelpText('after', REPLAY_HELP)
    .action(async (recording: string, file: string | undefined, options: ReplayFlags) => {
      const { replayCommand } = await import('./commands/replay.js')
      done(await replayCommand(recording, file, options))
    })

  peopleAndLimitFlags(
    widenFlag(addAuthorityFlags(add('snapshot [file]', 'run to a place where the run waits, and write it down there')))
      .usage('[options] -o SNAPSHOT FILE|-|-e CODE|SNAPSHOT [-- ARGS]')
      .requiredOption('-o, --out <file>', 'where to write the snapshot')
      .addOption(
        new Option('--at <n>', 'stop in front of call N of the run; nothing behind it is performed').argParser(
          makeWholeNumberParser('calls', 1),
        ),
      )
      .option('--on-interrupt', 'run on until the interrupt key, and write the run down then')
      .option('-e, --eval <code>', 'run this text instead of a file')
      .option('--input <json>', 'input of the run as JSON, or @file')
      .option('--json', 'print one JSON document instead of the output'),
  )
    .addHelpText('after', SNAPSHOT_HELP)
    .action(async (file: string | undefined, options: Omit<SnapshotFlags, 'scriptArguments'>) => {
      const { snapshotCommand } = await import('./commands/snapshot.js')
      done(await snapshotCommand(file, { ...options, scriptArguments }))
    })

  peopleAndLimitFlags(
    widenFlag(
      addAuthorityFlags(add('resume <file>', 'go on with a run from its snapshot, or from the journal that a crash left')),
    )
      .addOption(
        new Option('--unknown <what>', 'becomes of calls of a journal that may have happened and may not be made twice').choices([
          'fail',
          'retry',
        ]),
      )
      .option('--json', 'print one JSON document about the run instead of its output'),
  )
    .option('--snapshot <file>', 'write the run down when it is interrupted')
    .addHelpText('after', RESUME_HELP)
    .action(async (file: string, options: ResumeFlags) => {
      const { resumeCommand } = await import('./commands/resume.js')
      done(await resumeCommand(file, options))
    })

  add('check [path...]', 'check scripts without running them: syntax, types, lint, what they refer to; and manifests (harn.toml)')
    .option('--json', 'print the findings as JSON')
    .option('--fix', 'repair what can be repaired mechanically')
    .option('--strict', 'strict types, and warnings fail')
    .option('--strict-types', 'warn where values from outside are used before their shape is known')
    .option('--workspace', 'check what `[workspace].pipelines` of harn.toml names')
    .option('--host-capabilities <file>', 'further operations of the host, as JSON or TOML')
    .option('--tools <file>', 'declarations of the tools of the host, as `bridle tools types --json` prints them')
    .option('--bundle-root <folder>', 'second folder in which templates are looked for')
    .addOption(
      new Option('--preflight <severity>', 'of what a script refers to and is missing').choices(['error', 'warning', 'off']),
    )
    .option('--invariants', 'check what `@invariant(...)` promises')
    .option('--effects', 'print what each function and the whole script can reach: effects, tools, grants')
    .action(async (paths: string[], options: CheckFlags & { effects?: boolean }) => {
      if (options.effects === true) {
        const { effectsCommand } = await import('./commands/effects.js')
        return done(await effectsCommand(paths, options))
      }
      const { checkAllCommand } = await import('./commands/check.js')
      done(await checkAllCommand(paths, options))
    })

  add('lint <path...>', 'find what a careful author would write differently')
    .option('--fix', 'repair what can be repaired mechanically')
    .option('--json', 'print the findings as JSON')
    .option('--require-file-header', 'ask for a `/** … */` block at the beginning of each file')
    .action(async (paths: string[], options: LintFlags) => {
      const { lintCommand } = await import('./commands/lint.js')
      done(lintCommand(paths, options))
    })

  add('fmt [path...]', 'write scripts in the one layout')
    .option('--check', 'change nothing; fail when something would be changed')
    .option('--stdin', 'format standard input to standard output')
    .option('--json', 'print what became of each file as JSON')
    .addOption(new Option('--line-width <n>', 'bytes of a line; 100 by default').argParser(makeWholeNumberParser('bytes', 1)))
    .addOption(
      new Option('--separator-width <n>', 'bytes of a `// ----` bar; 80 by default').argParser(makeWholeNumberParser('bytes', 1)),
    )
    .action(async (paths: string[], options: FmtFlags) => {
      const { fmtCommand } = await import('./commands/fmt.js')
      done(await fmtCommand(paths, options))
    })

  sizeFlags(addAuthorityFlags(add('repl', 'a prompt: type statements, see what they do'))).action(
    async (options: AuthorityFlags & SizeFlags) => {
      const { replCommand } = await import('./commands/repl.js')
      done(await replCommand(options))
    },
  )

  add('disasm <file>', 'print the bytecode of a script')
    .option('--json', 'print it as JSON, one text for each module')
    .action(async (file: string, options: { json?: boolean }) => {
      const { disasmCommand } = await import('./commands/disasm.js')
      done(await disasmCommand(file, options))
    })

  add('gateway <config>', 'one MCP server in front of those of a configuration: search tools, describe them, run scripts')
    .addOption(new Option('--transport <name>', 'how clients connect').choices(['stdio', 'http']).default('stdio'))
    .option('--bind <address>', 'host and port for HTTP', '127.0.0.1:8766')
    .option('--path <path>', 'path for HTTP', '/mcp')
    .option('--api-key <key>', 'a key of which HTTP clients must send one; give it once for each key', collect)
    .option('--store <dir>', 'keep runs that wait for a person in this folder, so that they outlive the gateway')
    .option(
      '--lock-file <file>',
      'accept the tools of each server as they are when it is met first; a person accepts later changes',
    )
    .option('--page', 'a page on this machine on which a person answers, for clients without forms')
    .option('--trace <dir>', 'keep the trace of each run in this folder')
    .option('--allow-origin <url>', 'web pages of this origin may ask over HTTP; give it once for each', collect)
    .option('--max-sessions <n>', 'clients at a time over HTTP (default: 32)', makeWholeNumberParser('clients', 1))
    .action(async (config: string, options: GatewayFlags) => {
      const { gatewayCommand } = await import('./commands/gateway.js')
      done(await gatewayCommand(config, options))
    })

  const serve = program.command('serve').description('serve a script to other programs')
  sizeFlags(
    addAuthorityFlags(
      serve.command('mcp <file>').description('serve a script as an MCP server: its `pub fn`s, or what it registers'),
    ),
  )
    .addOption(new Option('--transport <name>', 'how clients connect').choices(['stdio', 'http']).default('stdio'))
    .option('--bind <address>', 'host and port for HTTP', '127.0.0.1:8765')
    .option('--path <path>', 'path for HTTP', '/mcp')
    .option('--api-key <key>', 'a key of which HTTP clients must send one; give it once for each key', collect)
    .option('--card <json>', 'server card: a path, or JSON')
    .addOption(
      new Option('--poll-after <ms>', 'close response streams over HTTP that last longer; clients fetch the rest').argParser(
        makeWholeNumberParser('milliseconds', 1),
      ),
    )
    .action(async (file: string, options: ServeFlags) => {
      const { serveMcpCommand } = await import('./commands/serve.js')
      done(await serveMcpCommand(file, options))
    })
  sizeFlags(
    addAuthorityFlags(
      serve
        .command('acp [file]')
        .description('serve a script as an agent over standard input and output; without FILE each prompt is a script'),
    ),
  )
    .option('--sessions <dir>', 'keep sessions in this folder, so that a client can load them later')
    .addOption(
      new Option(
        '--deltas <which>',
        'what clients are told of answers of models while they come: none; thoughts (reasoning), the default; all (text, too)',
      ).choices(['none', 'thoughts', 'all']),
    )
    .action(async (file: string | undefined, options: AcpFlags) => {
      const { serveAcpCommand } = await import('./commands/serve-acp.js')
      done(await serveAcpCommand(file, options))
    })

  sizeFlags(
    addAuthorityFlags(
      serve.command('a2a <file>').description('serve a script as an agent of the A2A protocol: its `pub fn`s, or its pipelines'),
    ),
  )
    .addOption(new Option('--port <n>', 'port').argParser(makeWholeNumberParser('port', 0)).default(8080))
    .option('--host <address>', 'address to listen on', '0.0.0.0')
    .action(async (file: string, options: A2aFlags) => {
      const { serveA2aCommand } = await import('./orchestrator/a2a-serve.js')
      done(await serveA2aCommand(file, options))
    })

  add('conformance <path...>', 'run the scripts of a conformance suite against their .expected and .error files')
    .option('--filter <pattern>', 'only tests whose path matches: text, a|b, glob, or re:REGEX')
    .addOption(new Option('--jobs <n>', 'tests run at the same time').argParser(makeWholeNumberParser('jobs', 1)))
    .addOption(
      new Option('--mode <mode>', 'how each script is run')
        .choices([...MODES, 'all', 'durable', 'sample', 'rest'])
        .default('base'),
    )
    .addOption(
      new Option('--timeout <ms>', 'limit of one test').argParser(makeWholeNumberParser('milliseconds', 1)).default(30_000),
    )
    .option('--json', 'print the report as JSON')
    .action(async (paths: string[], options: ConformanceFlags) => {
      const { conformanceCommand } = await import('./commands/conformance.js')
      done(await conformanceCommand(paths, options))
    })

  sizeFlags(addAuthorityFlags(add('test [path...]', 'run test pipelines: those named test_… or marked @test')))
    .option('--filter <pattern>', 'only tests whose name, or FILE::NAME, matches: text, a|b, glob, or re:REGEX')
    .addOption(
      new Option('--timeout <ms>', 'limit of one test').argParser(makeWholeNumberParser('milliseconds', 1)).default(30_000),
    )
    .option('--fail-fast', 'stop after the first failure')
    .option('-v, --verbose', 'show what passing tests print, too')
    .option('--json', 'print the report as JSON')
    .option('--junit <file>', 'write the results as JUnit XML, too')
    .option('--coverage', 'say which lines, functions and branches of imported files the tests reach')
    .option('--lcov <file>', 'write that in the form of lcov, which editors and CI services read')
    .option('--watch', 'test again whenever a script changes')
    .action(async (paths: string[], options: TestFlags) => {
      if (options.watch === true) return done(await watchScripts(words, paths))
      const { testCommand } = await import('./commands/test.js')
      done(await testCommand(paths, options))
    })

  sizeFlags(
    addAuthorityFlags(
      add('simulate [file]', 'run a script again and again with crashes and full disks, and see whether it survives them')
        .usage('[options] FILE|-|-e CODE [-- ARGS]')
        .addOption(new Option('--seeds <n>', 'seeds from 0 on; 16 by default').argParser(makeWholeNumberParser('seeds', 1)))
        .option('--seed <n>', 'this seed; give it once for each', collect)
        .option('--faults <kinds>', 'crash, store, separated by commas, or none', 'crash,store')
        .option('--points <n,...>', 'fail at these entries of the journal, counted from 1')
        .addOption(
          new Option('--points-per-seed <n>', 'fail at no more entries than this, chosen by the seed; 24 by default').argParser(
            makeWholeNumberParser('entries', 1),
          ),
        )
        .addOption(
          new Option('--unknown <what>', 'becomes of calls without an answer that may not be made twice')
            .choices(['fail', 'retry'])
            .default('fail'),
        )
        .option('--any-end', 'runs may end otherwise than the undisturbed one')
        .option('-e, --eval <code>', 'run this text instead of a file')
        .option('--input <json>', 'input of the run as JSON, or @file')
        .option('--llm-mock <file>', 'answer model calls from these JSON lines')
        .addOption(
          new Option('--timeout <ms>', 'milliseconds before the simulation is stopped').argParser(
            makeWholeNumberParser('milliseconds', 1),
          ),
        )
        .addOption(
          new Option('--jobs <n>', 'threads that share the seeds; 1 by default').argParser(makeWholeNumberParser('jobs', 1)),
        )
        .option('--record <file>', 'write the journal of the first failing run, for `bridle replay`')
        .option('--json', 'print one JSON document'),
      { traces: false },
    ),
  )
    .addHelpText('after', SIMULATE_HELP)
    .action(async (file: string | undefined, options: SimulateFlags) => {
      const { simulateCommand } = await import('./commands/simulate.js')
      done(await simulateCommand(file, { ...options, words }))
    })

  add('init', 'write a small project that runs and has a test: script, agent, embed or gateway')
    .addArgument(makeNamedArgument('[kind]', ['script', 'agent', 'embed', 'gateway']))
    .addArgument(new Argument('[folder]', 'where to; this folder when absent'))
    .option('--agent', 'write what coding assistants read, too (AGENTS.md); without a kind nothing else')
    .option('--json', 'print what was written as JSON')
    .action(async (kind: string | undefined, folder: string | undefined, options: { json?: boolean; agent?: boolean }) => {
      const { initCommand } = await import('./commands/init.js')
      done(await initCommand(kind, folder, options))
    })

  add('primer', 'print what a model has to know to write a script: the language in 1,200 tokens, and the tools')
    .option('--tools <file>', 'declarations of the tools of the host, as `bridle tools types --json` prints them')
    .addOption(
      new Option('--budget <n>', 'tokens that the lines of the tools may take; 2000 by default').argParser(
        makeWholeNumberParser('tokens', 0),
      ),
    )
    .option('--json', 'print the text and an estimate of its tokens as JSON')
    .action(async (options: PrimerFlags) => {
      const { primerCommand } = await import('./commands/primer.js')
      done(primerCommand(options))
    })

  add('completions', 'print completions of this command for a shell: bash, zsh or fish')
    .addArgument(makeNamedArgument('<shell>', ['bash', 'zsh', 'fish']))
    .option('--json', 'print them as JSON')
    .action(async (shell: string, { json }: { json?: boolean }) => {
      const { SHELLS, makeCompletions } = await import('./completions.js')
      const known = SHELLS.find((each) => each === shell)
      if (known === undefined) throw new UsageError(`completions ${shell}: the shells are ${SHELLS.join(', ')}`)
      const { tell, tellJson } = await import('./printable.js')
      const { listCodes } = await import('./commands/explain.js')
      const text = makeCompletions(program, known, { explain: listCodes() })
      if (json === true) tellJson({ shell, text })
      else tell(text)
      done(0)
    })

  add('builtins [name]', 'list the builtin functions, or show one')
    .option('--json', 'print them as JSON')
    .option('--missing', 'those of the language that are not there yet')
    .action(async (name: string | undefined, options: { json?: boolean; missing?: boolean }) => {
      const { builtinsCommand } = await import('./commands/builtins.js')
      done(await builtinsCommand(name, options))
    })

  add('lsp', 'language server for editors, over standard input and output')
    .option('--stdio', 'the only way there is; editors name it')
    .option('--tools <file>', 'declarations of the tools of the host, as `bridle tools types --json` prints them')
    .action(async ({ tools }: { tools?: string }) => {
      const { lspCommand } = await import('./commands/lsp.js')
      done(await lspCommand(tools))
    })

  add('explain [code] [file]', 'explain a code of a finding or an error, or list them')
    .usage('[CODE] | --invariant NAME FUNCTION FILE')
    .option('--invariant <name>', 'show how a function of a file comes to break what it promises')
    .option('--json', 'print JSON')
    .action(async (code: string | undefined, file: string | undefined, options: { invariant?: string; json?: boolean }) => {
      const { explainCommand, explainInvariant } = await import('./commands/explain.js')
      if (options.invariant === undefined) {
        if (file !== undefined) throw new UsageError('a file is for --invariant only')
        return done(await explainCommand(code, options))
      }
      if (code === undefined || file === undefined) throw new UsageError('--invariant NAME needs a FUNCTION and a FILE')
      done(await explainInvariant(options.invariant, code, file, options))
    })

  const tools = program
    .command('tools')
    .description('the tools that a script can call: its own, standard ones, those of its MCP servers')
  const onTools = (signature: string, description: string): Command =>
    tools.command(signature).description(description).option('--no-servers', 'leave MCP servers alone')
  addAuthorityFlags(onTools('list [file]', 'name the tools, each with its description'), { locks: false })
    .option('--json', 'print JSON')
    .action(async (file: string | undefined, options: ToolsFlags) => {
      const { toolsListCommand } = await import('./commands/tools.js')
      done(await toolsListCommand(file, options))
    })
  addAuthorityFlags(onTools('types [file]', 'print their declarations, for people, models and `bridle check --tools`'), {
    locks: false,
  })
    .option('--tools <file>', 'of the tools that a file declares, and no others')
    .option('--short', 'one line a tool')
    .option('--ts', 'in TypeScript')
    .option('--json', 'as data, which `bridle check --tools` reads')
    .action(async (file: string | undefined, options: ToolsFlags) => {
      const { toolsTypesCommand } = await import('./commands/tools.js')
      done(await toolsTypesCommand(file, options))
    })
  addAuthorityFlags(onTools('describe <name> [file]', 'show one with its schemas'), { locks: false })
    .option('--json', 'print JSON')
    .action(async (name: string, file: string | undefined, options: ToolsFlags) => {
      const { toolsDescribeCommand } = await import('./commands/tools.js')
      done(await toolsDescribeCommand(name, file, options))
    })
  sizeFlags(
    addAuthorityFlags(
      onTools(
        'call <name> [file] [arguments]',
        'run the script and call one of its tools: the result goes to standard output, what the script prints to standard error',
      ),
    ),
  )
    .option('--args <json>', 'the arguments, a JSON object, in another place')
    .option('--json', 'print the result as JSON, or {"error": {code, message}}')
    .action(async (name: string, file: string | undefined, args: string | undefined, options: ToolsFlags) => {
      const { toolsCallCommand } = await import('./commands/tools.js')
      done(await toolsCallCommand(name, [file, args], options))
    })
  addAuthorityFlags(onTools('lock [file]', 'write the hashes of their schemas and descriptions, for `bridle run --locked`'), {
    locks: false,
  })
    .option('--lock-file <file>', 'where to', 'tools.lock.json')
    .option('--sign-key <file>', 'sign it with this Ed25519 private key: PEM, or base64')
    .option('--json', 'print where it was written, and how many tools it has, as JSON')
    .action(async (file: string | undefined, options: ToolsFlags) => {
      const { toolsLockCommand } = await import('./commands/tools.js')
      done(await toolsLockCommand(file, options))
    })
  addAuthorityFlags(
    onTools('diff [file]', 'say what is not as the lock file has it; exit 1 when a pinned tool changed or is gone'),
    { locks: false },
  )
    .option('--lock-file <file>', 'where that is', 'tools.lock.json')
    .option('--verify-key <file>', 'take the lock file only if this Ed25519 public key signed it')
    .option('--json', 'print JSON')
    .action(async (file: string | undefined, options: ToolsFlags) => {
      const { toolsDiffCommand } = await import('./commands/tools.js')
      done(await toolsDiffCommand(file, options))
    })

  const mcp = program.command('mcp').description('access to MCP servers that want a person to agree')
  const onMcp = (signature: string, description: string): Command =>
    mcp.command(signature).description(description).option('--json', 'print JSON')
  onMcp('login <server>', 'let a person agree, and keep the tokens for runs: a URL, or a server of harn.toml')
    .option('--client-id <id>', 'what this program is known by; it registers itself by default')
    .option('--client-secret-env <name>', 'variable that has the secret of the client')
    .option('--scope <scope>', 'what to ask for, with blanks between; what the server asks for by default')
    .addOption(
      new Option('--port <n>', 'port of this computer that the browser comes back to').argParser(
        makeWholeNumberParser('port', 1),
      ),
    )
    .option('--no-browser', 'only print the address, open nothing')
    .option('--paste', 'read the address that the browser ends up at from standard input, for a browser elsewhere')
    .addOption(new Option('--timeout <s>', 'how long to wait, 300 by default').argParser(makeWholeNumberParser('seconds', 1)))
    .action(async (server: string, options: McpLoginFlags) => {
      const { mcpLoginCommand } = await import('./commands/mcp.js')
      done(await mcpLoginCommand(server, options))
    })
  onMcp('logout [server]', 'forget the tokens of a server, and have them revoked where its authorization server does that')
    .option('--all', 'of all servers')
    .option('--local', 'only forget; tell no authorization server')
    .action(async (server: string | undefined, options: McpLogoutFlags) => {
      const { mcpLogoutCommand } = await import('./commands/mcp.js')
      done(await mcpLogoutCommand(server, options))
    })
  onMcp('list', 'name the servers that there are tokens for').action(async (options: McpFlags) => {
    const { mcpListCommand } = await import('./commands/mcp.js')
    done(mcpListCommand(options))
  })

  program
    .command('cache')
    .description('what the command keeps to be faster the next time: compiled scripts, code of its own')
    .command('clear')
    .description('remove it; it is made again')
    .option('--json', 'print what was removed as JSON')
    .action(async (options: { json?: boolean }) => {
      const { cacheClearCommand } = await import('./commands/cache.js')
      done(cacheClearCommand(options))
    })

  add('eval <path>', 'hold run records, suites and packs of evaluations against what is expected of them')
    .option('--compare <file>', 'a run record that each run must be like')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', EVAL_HELP)
    .action(async (path: string, options: EvalFlags) => {
      const { evalCommand } = await import('./commands/eval.js')
      done(await evalCommand(path, options))
    })

  const parts = { withAuthority: (command: Command) => addAuthorityFlags(command, { traces: false }), done }
  addOrchestratorCommands(program, parts)
  addMcpServe(mcp, parts)

  const trace = program.command('trace').description('traces that `bridle run --trace` has written')
  const onTrace = (signature: string, description: string): Command =>
    trace
      .command(signature)
      .description(description)
      .option('--dir <folder>', 'where runs are looked for by id', '.bridle/traces')
  onTrace('list', 'name the runs of the folder')
    .option('--json', 'print JSON')
    .action(async (options: TraceFlags) => {
      const { traceListCommand } = await import('./commands/trace.js')
      done(await traceListCommand(options))
    })
  onTrace('show <run>', 'print the events of a run: a file, or an id')
    .addOption(new Option('--format <name>', 'how').choices(['pretty', 'replay', 'json']).default('pretty'))
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .option('--tool <name>', 'only calls of this tool or alias')
    .option('--verify', 'verify the chain as well')
    .action(async (run: string, options: TraceFlags) => {
      const { traceShowCommand } = await import('./commands/trace.js')
      done(await traceShowCommand(run, options))
    })
  onTrace('verify <run>', 'say whether an event was changed, dropped or moved')
    .option('--json', 'print JSON')
    .action(async (run: string, options: TraceFlags) => {
      const { traceVerifyCommand } = await import('./commands/trace.js')
      done(await traceVerifyCommand(run, options))
    })
  onTrace('diff <before> <after>', 'say where two runs part')
    .option('--json', 'print JSON')
    .action(async (before: string, after: string, options: TraceFlags) => {
      const { traceDiffCommand } = await import('./commands/trace.js')
      done(await traceDiffCommand(before, after, options))
    })
  onTrace('dag <run>', 'draw the graph of calls')
    .addOption(new Option('--format <name>', 'how').choices(['mermaid', 'dot', 'json', 'text']).default('mermaid'))
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .action(async (run: string, options: TraceFlags) => {
      const { traceDagCommand } = await import('./commands/trace.js')
      done(await traceDagCommand(run, options))
    })

  const listAll = (command: Command): Command[] => [command, ...command.commands.flatMap(listAll)]
  for (const command of listAll(program)) {
    command.version(VERSION, '--version', 'print the version').helpOption('-h, --help', 'show this help').exitOverride()
    command.configureOutput({ outputError: () => {} }).allowExcessArguments(false)
  }
  return program
}

/** All commands with their options, for listings. */
export function describeProgram(): Command {
  return buildProgram({ own: [], script: [] }, undefined, () => {})
}

/** `serve FILE` without a protocol means an agent, as in the reference. */
function nameServed(words: readonly string[]): readonly string[] {
  const [first, second] = words
  const isNamed = second === undefined || ['mcp', 'acp', 'a2a', 'help', '-h', '--help', '--version'].includes(second)
  return first === 'serve' && !isNamed ? [first, 'a2a', ...words.slice(1)] : words
}

/** Returns the exit code. Throws UsageError and CommandError. */
export async function runProgram(words: readonly string[], build?: string): Promise<number> {
  const { own, script } = splitArguments(nameServed(words))
  let code = 0
  const program = buildProgram({ own, script }, build, (result) => {
    code = result
  })
  try {
    await program.parseAsync(own, { from: 'user' })
    return code
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause
    // Requested help and version end with 0; commander has printed them.
    if (cause.exitCode === 0) return 0
    // Help that was not requested: for a command that is only a group of others.
    if (cause.code === 'commander.help') return EXIT_USAGE
    throw new UsageError(cause.message.replace(/^error: /, ''))
  }
}
