// Options of `bridle orchestrator`, `bridle trust`, `bridle trigger` and `bridle mcp serve`.

import { Option } from 'commander'
import type { Command } from 'commander'
import { makeWholeNumberParser } from '../errors.js'
import type { LocalFlags, DlqFlags, RecoverFlags, ReloadFlags, ResumeFlags } from './commands.js'
import type { McpServeFlags } from './mcp-serve.js'
import type { DrainFlags } from './queue-commands.js'
import type { ServeOrchestratorFlags } from './serve.js'
import type { BulkFlags, TriggerReplayFlags } from './trigger-commands.js'
import type { TrustQueryFlags } from './trust-commands.js'

interface Aliases {
  readonly manifest?: string
  readonly listen?: string
}

/** Aliases of `--config` and `--bind`. */
function settle<T extends object>({ manifest, listen, ...flags }: T & Aliases): T {
  return {
    ...flags,
    ...(manifest === undefined ? {} : { config: manifest }),
    ...(listen === undefined ? {} : { bind: listen }),
  } as unknown as T
}

export interface CommandParts {
  /** Flags of commands that run code of scripts. */
  readonly withAuthority: (command: Command) => Command
  readonly done: (code: number) => void
}

export function addOrchestratorCommands(program: Command, { withAuthority, done }: CommandParts): void {
  const orchestrator = program
    .command('orchestrator')
    .description('triggers of a manifest: take deliveries and dispatch them, and look at what became of them')
  const inState = (command: Command): Command =>
    withAuthority(command)
      .option('--config <path>', 'the manifest, or its folder; harn.toml by default')
      .addOption(new Option('--manifest <path>', 'the same').hideHelp())
      .option('--state-dir <dir>', 'where the log and the runs are; .harn/orchestrator by default')
  const add = (signature: string, description: string): Command =>
    inState(orchestrator.command(signature).description(description))
  const addLocal = (signature: string, description: string): Command => add(signature, description).option('--json', 'print JSON')

  add('serve', 'take deliveries over HTTP, fire schedules, dispatch them')
    .option('--bind <address>', 'host and port; 127.0.0.1:8080 by default, port 0 is any')
    .addOption(new Option('--listen <address>', 'the same').hideHelp())
    .option('--cert <file>', 'certificate for HTTPS')
    .option('--key <file>', 'and its key')
    .option('--shutdown-timeout <time>', 'how long a graceful stop may take; 30s by default')
    .addOption(
      new Option('--drain-max-items <n>', 'so many of each topic when it stops').argParser(makeWholeNumberParser('items', 1)),
    )
    .option('--drain-deadline <time>', 'and so long for each')
    .addOption(new Option('--pump-max-outstanding <n>', 'dispatches at once').argParser(makeWholeNumberParser('dispatches', 1)))
    .option('--watch', 'read the manifest again when it changes')
    .option('--mcp', 'serve the tools of `bridle mcp serve` as well')
    .option('--mcp-path <path>', 'where')
    .addOption(new Option('--mcp-sse-path <path>', 'not used: the protocol has one path').hideHelp())
    .addOption(new Option('--mcp-messages-path <path>', 'not used: the protocol has one path').hideHelp())
    .addOption(
      new Option('--resume <policy>', 'what becomes of dispatches that a crash cut off before they began').choices([
        'auto',
        'manual',
      ]),
    )
    .addOption(new Option('--log-format <name>', 'how').choices(['text', 'pretty', 'json']).default('text'))
    .addOption(new Option('--role <role>', 'whom it serves').choices(['single-tenant', 'multi-tenant']).default('single-tenant'))
    .action(async (options: ServeOrchestratorFlags) => {
      const { serveOrchestratorCommand } = await import('./serve.js')
      done(await serveOrchestratorCommand(settle(options)))
    })
  addLocal('fire <trigger>', 'dispatch a synthetic event').action(async (id: string, options: LocalFlags) => {
    const { fireCommand } = await import('./commands.js')
    done(await fireCommand(id, settle(options)))
  })
  addLocal('replay <event>', 'dispatch a recorded event again').action(async (id: string, options: LocalFlags) => {
    const { replayCommand } = await import('./commands.js')
    done(await replayCommand(id, settle(options)))
  })
  addLocal('dlq', 'dead letters: list, replay, discard')
    .option('--list', 'name them')
    .option('--replay <entry>', 'dispatch one again')
    .option('--discard <entry>', 'give one up')
    .action(async (options: DlqFlags) => {
      const { dlqCommand } = await import('./commands.js')
      done(await dlqCommand(settle(options)))
    })
  addLocal('inspect', 'triggers, connectors and recent dispatches').action(async (options: LocalFlags) => {
    const { inspectCommand } = await import('./commands.js')
    done(await inspectCommand(settle(options)))
  })
  addLocal('recover', 'dispatch envelopes that a crash left behind')
    .requiredOption('--envelope-age <age>', 'at least so old: 0s, 5m')
    .option('--dry-run', 'only list them')
    .option('--yes', 'dispatch them')
    .action(async (options: RecoverFlags) => {
      const { recoverCommand } = await import('./commands.js')
      done(await recoverCommand(settle(options)))
    })
  addLocal('resume <request>', 'answer an escalation that a dispatch waits for')
    .option('--reviewer <name>', 'who answers', 'manual')
    .option('--reason <text>', 'why')
    .action(async (id: string, options: ResumeFlags) => {
      const { resumeCommand } = await import('./commands.js')
      done(await resumeCommand(id, settle(options)))
    })
  addLocal('reload', 'have a running orchestrator read its manifest again')
    .option('--admin-url <url>', 'where it listens; as its snapshot says by default')
    .addOption(new Option('--timeout <seconds>', 'how long to wait').argParser(makeWholeNumberParser('seconds', 1)))
    .action(async (options: ReloadFlags) => {
      const { reloadCommand } = await import('./commands.js')
      done(await reloadCommand(settle(options)))
    })
  addLocal('stats', 'what was dispatched in a time')
    .option('--window <age>', 'how far back', '24h')
    .addOption(new Option('--top <n>', 'so many triggers').argParser(makeWholeNumberParser('triggers', 1)))
    .option('--tenant <id>', 'of one tenant')
    .action(async (options: LocalFlags & { window: string; top?: number; tenant?: string }) => {
      const { statsCommand } = await import('./stats.js')
      done(await statsCommand(settle(options)))
    })

  const queue = inState(orchestrator.command('queue').description('what waits and what is under way; worker queues'))
    .option('--json', 'print JSON')
    .action(async (options: LocalFlags) => {
      const { queueListCommand } = await import('./queue-commands.js')
      done(await queueListCommand(settle(options)))
    })
  const onQueue = (signature: string, description: string): Command =>
    queue.command(signature).description(description).option('--json', 'print JSON')
  /** Options of the manifest and the state precede the subcommand. */
  const withParent = <T extends object>(command: Command): T => settle(command.optsWithGlobals<T>())
  onQueue('ls', 'the same as `queue`').action(async (_options: object, command: Command) => {
    const { queueListCommand } = await import('./queue-commands.js')
    done(await queueListCommand(withParent<LocalFlags>(command)))
  })
  onQueue('drain <queue>', 'work on the jobs of a queue until none is ready')
    .option('--consumer-id <id>', 'who works')
    .option('--claim-ttl <time>', 'how long a claim holds', '5m')
    .action(async (name: string, _options: object, command: Command) => {
      const { queueDrainCommand } = await import('./queue-commands.js')
      done(await queueDrainCommand(name, withParent<DrainFlags>(command)))
    })
  onQueue('purge <queue>', 'drop the jobs of a queue that are ready')
    .option('--confirm', 'yes')
    .action(async (name: string, _options: object, command: Command) => {
      const { queuePurgeCommand } = await import('./queue-commands.js')
      done(await queuePurgeCommand(name, withParent<LocalFlags & { confirm?: boolean }>(command)))
    })
  addTrustCommands(program, { withAuthority, done })
}

function addTrustCommands(program: Command, { withAuthority, done }: CommandParts): void {
  const trust = program.command('trust').alias('trust-graph').description('the trust graph of the log that HARN_STATE_DIR names')
  const add = (signature: string, description: string): Command =>
    trust.command(signature).description(description).option('--json', 'print JSON')
  add('query', 'list records')
    .option('--agent <name>', 'of one agent')
    .option('--action <name>', 'of one action')
    .option('--since <time>', 'from this time on')
    .option('--until <time>', 'to this time')
    .option('--tier <tier>', 'of one tier')
    .option('--outcome <outcome>', 'of one outcome')
    .addOption(new Option('--limit <n>', 'the last so many').argParser(makeWholeNumberParser('records', 0)))
    .option('--grouped-by-trace', 'by trace')
    .option('--summary', 'the score of each agent')
    .action(async (options: TrustQueryFlags) => {
      const { trustQueryCommand } = await import('./trust-commands.js')
      done(await trustQueryCommand(options))
    })
  add('verify-chain', 'whether the records form one chain; exit code 1 when they do not').action(async (options: LocalFlags) => {
    const { trustVerifyCommand } = await import('./trust-commands.js')
    done(await trustVerifyCommand(options))
  })
  for (const move of ['promote', 'demote'] as const)
    add(`${move} <agent>`, `${move} an agent to a tier`)
      .requiredOption('--to <tier>', 'shadow, suggest, act-with-approval or act-auto')
      .option('--reason <text>', 'why')
      .action(async (agent: string, options: { to: string; reason?: string; json?: boolean }) => {
        const { trustMoveCommand } = await import('./trust-commands.js')
        done(await trustMoveCommand(move, agent, options))
      })

  const trigger = program.command('trigger').description('events of the log that HARN_STATE_DIR names: replay, cancel')
  const addBulk = (command: Command): Command =>
    command
      .option('--where <expression>', 'all events for which it is true: over event, attempt, trigger_id and binding_key')
      .option('--dry-run', 'with --where: only name them')
      .option('--progress', 'with --where: say of each when it is done')
      .addOption(
        new Option('--rate-limit <n>', 'with --where: at most so many a second').argParser(makeWholeNumberParser('events', 1)),
      )
      .option('--json', 'print JSON, as without it')
  addBulk(
    withAuthority(trigger.command('replay [event]').description('dispatch recorded events again, and say what is not as it was')),
  )
    .option('--config <path>', 'the manifest, or its folder')
    .option('--diff', 'compare with what was recorded')
    .option('--as-of <time>', 'with the bindings of that time')
    .action(async (id: string | undefined, options: TriggerReplayFlags) => {
      const { triggerReplayCommand } = await import('./trigger-commands.js')
      done(await triggerReplayCommand(id, options))
    })
  addBulk(trigger.command('cancel [event]').description('ask for the end of the dispatches of events')).action(
    async (id: string | undefined, options: BulkFlags) => {
      const { triggerCancelCommand } = await import('./trigger-commands.js')
      done(await triggerCancelCommand(id, options))
    },
  )
}

/** Beside `mcp login` and its like. */
export function addMcpServe(mcp: Command, { withAuthority, done }: CommandParts): void {
  withAuthority(mcp.command('serve').description('serve the orchestrator of a manifest as an MCP server'))
    .option('--config <path>', 'the manifest, or its folder; harn.toml by default')
    .addOption(new Option('--manifest <path>', 'the same').hideHelp())
    .option('--state-dir <dir>', 'where the log is; .harn/orchestrator by default')
    .addOption(new Option('--transport <name>', 'how clients connect').choices(['stdio', 'http']).default('stdio'))
    .option('--bind <address>', 'host and port for HTTP', '127.0.0.1:8765')
    .option('--path <path>', 'path for HTTP', '/mcp')
    .addOption(new Option('--sse-path <path>', 'not used: the protocol has one path').hideHelp())
    .addOption(new Option('--messages-path <path>', 'not used: the protocol has one path').hideHelp())
    .action(async (options: McpServeFlags) => {
      const { mcpServeCommand } = await import('./mcp-serve.js')
      done(await mcpServeCommand(settle(options)))
    })
}
