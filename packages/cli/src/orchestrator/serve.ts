// `bridle orchestrator serve`: the process that accepts deliveries, fires schedules, and dispatches them.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { appendFileSync, mkdirSync, watch } from 'node:fs'
import { CommandError } from '../errors.js'
import { complain } from '../printable.js'
import { Connectors } from './connectors.js'
import { CronClock } from './cron.js'
import { Desk, joinState } from './desk.js'
import type { DeskFlags, DrainingVersion, ReloadSummary } from './desk.js'
import { parseDuration } from './durations.js'
import { Inbox } from './inbox.js'
import { Listener, readCredentials } from './listener.js'
import type { Answer } from './listener.js'
import { McpHttp } from './mcp-serve.js'
import { renderMetrics } from './metrics.js'
import { Dispatcher, LIFECYCLE, OUTBOX, listStranded, nameDispatch } from './pumps.js'
import type { DrainReport, Pump } from './pumps.js'
import { listSecretProviders, readSecretNamespace } from './secrets.js'
import { listActivations, readSnapshot, writeSnapshot } from './snapshot.js'

export interface ServeOrchestratorFlags extends DeskFlags {
  readonly bind?: string
  readonly cert?: string
  readonly key?: string
  readonly shutdownTimeout?: string
  readonly drainMaxItems?: number
  readonly drainDeadline?: string
  readonly pumpMaxOutstanding?: number
  readonly watch?: boolean
  readonly logFormat?: string
  readonly role?: string
  readonly resume?: string
  readonly mcp?: boolean
  readonly mcpPath?: string
}

const RELOAD_QUIET_MS = 200
const MANIFEST_TOPIC = 'orchestrator.manifest'

export async function serveOrchestratorCommand(flags: ServeOrchestratorFlags): Promise<number> {
  const signals = listenForSignals()
  try {
    const desk = await Desk.open(flags)
    try {
      const server = new OrchestratorProcess(desk, flags)
      await server.start()
      signals.onReload = () => void server.reload('signal')
      await signals.stopped
      await server.stop()
    } finally {
      await desk.close()
    }
    return 0
  } finally {
    signals.end()
  }
}

interface Signals {
  readonly stopped: Promise<void>
  onReload: (() => void) | null
  end(): void
}

/** Installed first: a signal during start-up stops the process as soon as it has started. */
function listenForSignals(): Signals {
  let stop = (): void => {}
  const signals: Signals = {
    stopped: new Promise((resolve) => {
      stop = resolve
    }),
    onReload: null,
    end() {
      process.off('SIGTERM', stop)
      process.off('SIGINT', stop)
      process.off('SIGHUP', reload)
    },
  }
  const reload = (): void => signals.onReload?.()
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('SIGHUP', reload)
  return signals
}

class OrchestratorProcess {
  private readonly desk: Desk
  private readonly flags: ServeOrchestratorFlags
  private readonly inbox: Inbox
  private readonly dispatcher: Dispatcher
  private readonly listener: Listener
  private readonly cron: CronClock
  private readonly connectors: Connectors
  private readonly mcp: McpHttp
  private readonly startedAt = new Date().toISOString()
  private readonly limits: {
    readonly shutdownMs: number
    readonly maxItems: number
    readonly deadlineMs: number
    readonly outstanding: number
  }
  private address = ''
  private isReady = false
  private endWatch: (() => void) | null = null
  private reloading: Promise<unknown> = Promise.resolve()
  private draining: readonly DrainingVersion[] = []
  private ending: Promise<void> = Promise.resolve()

  constructor(desk: Desk, flags: ServeOrchestratorFlags) {
    this.desk = desk
    this.flags = flags
    const { drain, pumps } = desk.project.settings
    this.limits = {
      shutdownMs: flags.shutdownTimeout === undefined ? 30_000 : readSeconds(flags.shutdownTimeout),
      maxItems: flags.drainMaxItems ?? drain.max_items,
      deadlineMs: flags.drainDeadline === undefined ? drain.deadline_seconds * 1000 : readSeconds(flags.drainDeadline),
      outstanding: flags.pumpMaxOutstanding ?? pumps.max_outstanding,
    }
    this.inbox = new Inbox(desk.log)
    this.mcp = new McpHttp(desk)
    this.dispatcher = new Dispatcher(desk, {
      maxOutstanding: this.limits.outstanding,
      onEnd: () => void this.endDrained(),
    })
    this.cron = new CronClock(desk, this.inbox, () => this.dispatcher.cron.kick())
    this.listener = new Listener(desk, this.inbox, {
      isReady: () => this.isReady,
      metrics: () => renderMetrics({ listener: this.listener, dispatcher: this.dispatcher, inbox: this.inbox, desk }),
      reload: (source) => this.answerReload(source),
      onAccepted: () => this.dispatcher.kick(),
      extra: (request, response, path) => this.answerFurther(request, response, path),
    })
    this.connectors = new Connectors(desk, this.inbox, () => this.dispatcher.inbox.kick())
  }

  async start(): Promise<void> {
    const { desk, flags, limits } = this
    const { project } = desk
    const isMultiTenant = flags.role === 'multi-tenant'
    if (flags.mcp === true && readCredentials().apiKeys.length === 0)
      throw new CommandError('--mcp requires HARN_ORCHESTRATOR_API_KEYS so the embedded MCP management surface is authenticated')
    this.say(`orchestrator manifest: ${project.path}`)
    if (project.packageName !== null) this.say(`orchestrator package: ${project.packageName}`)
    this.say(
      `orchestrator role: ${isMultiTenant ? 'multi-tenant (per-tenant registries)' : 'single-tenant (one shared trigger/connector registry)'}`,
    )
    this.say(`orchestrator state dir: ${desk.stateDir}`)
    this.say(`event log: ${desk.log.backend} ${desk.log.location}`)
    this.say(`secret providers: ${listSecretProviders().join(' -> ')} (namespace ${readSecretNamespace(project.folder)})`)
    const last = readSnapshot(desk)
    await desk.install()
    this.listener.reload()
    const triggers = desk.bindings.map(({ id, provider, kind, handler }) => `${id} [${provider}:${kind} -> ${handler}]`)
    this.say(`registered triggers (${triggers.length}): ${triggers.length === 0 ? 'none' : triggers.join(', ')}`)
    for (const warning of project.warnings) this.say(`warning: ${warning}`)
    const activations = listActivations(desk)
    const connectors = activations.map(({ provider }) => provider)
    this.say(`registered connectors (${connectors.length}): ${connectors.length === 0 ? 'none' : connectors.join(', ')}`)
    this.say('activated connectors: none')
    await this.settleInterrupted(last?.status === 'stopped')
    await this.dispatcher.settleEnded()
    await this.connectors.start()
    this.dispatcher.start()
    const tls = flags.cert === undefined || flags.key === undefined ? null : { cert: flags.cert, key: flags.key }
    this.address = await this.listener.listen(flags.bind ?? process.env['HARN_ORCHESTRATOR_LISTEN'] ?? '127.0.0.1:8080', tls)
    this.cron.start()
    this.connectors.poll()
    await this.readDraining()
    const counts = activations.map(({ provider, binding_count: count }) => `${provider}(${count})`)
    this.say(`activated connectors: ${counts.length === 0 ? 'none' : counts.join(', ')}`)
    this.isReady = true
    this.keepSnapshot('running')
    desk.append(LIFECYCLE, 'startup', {
      bind: this.address,
      manifest: project.path,
      role: this.role,
      state_dir: desk.stateDir,
      trigger_count: triggers.length,
      connector_count: connectors.length,
      tls_enabled: tls !== null,
      shutdown_timeout_secs: limits.shutdownMs / 1000,
      drain_max_items: limits.maxItems,
      drain_deadline_secs: limits.deadlineMs / 1000,
      pump_max_outstanding: limits.outstanding,
    })
    const stranded = listStranded(desk).filter(
      ({ offset }) => offset <= (desk.log.cursor('trigger.inbox.envelopes', CONSUMER) ?? 0),
    )
    if (stranded.length > 0 && this.resumes !== 'auto') {
      desk.append(LIFECYCLE, 'startup_stranded_envelopes', { count: stranded.length })
      this.say(`warning: ${stranded.length} stranded envelopes; \`orchestrator recover\` lists them`)
    }
    desk.flush()
    // Before anybody is told that the server is ready: what changes after that must be seen.
    if (flags.watch === true) this.watchManifest()
    this.say(`HTTP listener ready on ${this.url}`)
  }

  /** Graceful shutdown: nothing new is accepted, existing events are dispatched within the limits. */
  async stop(): Promise<void> {
    const { desk, limits } = this
    this.say('signal received, starting graceful shutdown...')
    this.isReady = false
    this.endWatch?.()
    const until = Date.now() + limits.shutdownMs
    const left = (): number => Math.max(0, until - Date.now())
    desk.append(LIFECYCLE, 'draining', { ...this.describe('draining'), ...this.describeLimits() })
    await this.listener.close()
    this.cron.stop()
    await this.connectors.stop()
    const { pending, cron, inbox, cancels } = this.dispatcher
    const reports: DrainReport[] = []
    for (const pump of [pending, cron, inbox, cancels] satisfies Pump[])
      reports.push(await pump.drainAll({ maxItems: limits.maxItems, deadlineMs: Math.min(limits.deadlineMs, left()) }))
    for (const report of reports) if (report.reason !== 'drained') this.tellTruncated(report)
    const isSettled = await this.dispatcher.settled(left())
    await this.dispatcher.stop()
    await this.ending
    const [pendingDrained, cronDrained, inboxDrained, cancelsDrained] = reports.map(({ drained }) => drained)
    desk.append(LIFECYCLE, 'stopped', {
      ...this.describe('stopped'),
      pending_events_drained: pendingDrained,
      cron_events_drained: cronDrained,
      inbox_events_drained: inboxDrained,
      waitpoint_events_drained: 0,
      waitpoint_cancel_events_drained: cancelsDrained,
      timed_out: !isSettled,
    })
    this.keepSnapshot('stopped')
    this.say('graceful shutdown complete')
  }

  /** Reads the manifest again; nothing changes when that fails. One reload at a time. */
  reload(source: string): Promise<ReloadSummary | Error> {
    const done = this.reloading.then(async () => {
      try {
        const summary = await this.desk.reload()
        this.listener.reload()
        this.cron.restart()
        await this.connectors.restart()
        this.desk.append(MANIFEST_TOPIC, 'reload_succeeded', { source, summary })
        this.desk.flush()
        this.keepSnapshot('running')
        const { added, modified, removed } = summary
        this.say(`manifest reloaded via ${source} (+${added.length} ~${modified.length} -${removed.length})`)
        await this.readDraining()
        return summary
      } catch (cause) {
        const error = cause instanceof Error ? cause : new Error(String(cause))
        this.desk.append(MANIFEST_TOPIC, 'reload_failed', { source, error: error.message })
        this.desk.flush()
        this.say(`warning: manifest reload failed: ${error.message}`)
        return error
      }
    })
    this.reloading = done
    return done
  }

  private async readDraining(): Promise<void> {
    this.draining = this.desk.listDraining()
    await this.endDrained()
  }

  /** Draining versions end when they have no dispatch left, including waiting ones. One check at a time. */
  private endDrained(): Promise<void> {
    if (this.draining.length === 0) return this.ending
    this.ending = this.ending
      .then(async () => {
        for (const binding of this.draining) {
          if (await this.desk.hasOpenDispatch(binding.key)) continue
          this.draining = this.draining.filter((each) => each !== binding)
          await this.desk.ask({ action: 'end', bindings: [], binding })
        }
      })
      .catch((cause: unknown) => this.say(`warning: a version could not be ended: ${String(cause)}`))
    return this.ending
  }

  private async answerReload(source: string): Promise<Answer> {
    const summary = await this.reload(source)
    return summary instanceof Error
      ? { status: 500, body: { status: 'error', source, error: summary.message } }
      : { status: 200, body: { status: 'ok', source, summary } }
  }

  /** MCP, if it was requested. */
  private async answerFurther(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
    if (this.flags.mcp !== true || path !== (this.flags.mcpPath ?? '/mcp')) return false
    this.listener.authorize(request, new Uint8Array())
    await this.mcp.answer(request, response)
    return true
  }

  private get resumes(): 'auto' | 'manual' {
    const table = this.desk.project.manifest.tables['orchestrator'] as { readonly resume?: unknown } | undefined
    return (this.flags.resume ?? table?.resume) === 'auto' ? 'auto' : 'manual'
  }

  /**
   * Interrupted dispatches continue automatically. If the process died, those that had recorded nothing yet wait for `orchestrator
   * recover`, unless they are to be resumed as well.
   */
  private async settleInterrupted(wasStopped: boolean): Promise<void> {
    if (wasStopped || this.resumes === 'auto') return
    const { desk } = this
    for (const { envelope } of listStranded(desk)) {
      const runId = nameDispatch(envelope)
      const row = await desk.store.get(runId)
      if (
        row !== null &&
        row.state !== 'ended' &&
        desk.log.read({ topic: OUTBOX, eventId: envelope.event.id, last: 1 }).length === 0
      )
        await desk.store.cancel(runId, 'stranded: it was interrupted before it began', Date.now())
    }
  }

  private tellTruncated({ topic, remaining, drained, outstanding, reason }: DrainReport): void {
    const { maxItems, deadlineMs } = this.limits
    this.say(`warning: pump drain truncated for ${topic}: remaining_queued=${remaining} drain_items=${drained} reason=${reason}`)
    this.desk.append(LIFECYCLE, 'drain_truncated', {
      topic,
      remaining_queued: remaining,
      drain_items: drained,
      outstanding_tasks: outstanding,
      max_items: maxItems,
      deadline_secs: deadlineMs / 1000,
      reason,
    })
  }

  private get role(): string {
    return this.flags.role ?? 'single-tenant'
  }

  private get url(): string {
    return `${this.flags.cert === undefined ? 'http' : 'https'}://${this.address}`
  }

  private describe(status: string): object {
    const dlq = this.desk.log.read({ topic: 'trigger.dlq', kind: 'dlq_moved' }).length
    return {
      bind: this.address,
      role: this.role,
      status,
      http_in_flight: this.listener.inFlight,
      dispatcher_in_flight: this.dispatcher.inFlight,
      dispatcher_retry_queue_depth: 0,
      dispatcher_dlq_depth: dlq,
    }
  }

  private describeLimits(): object {
    return {
      shutdown_timeout_secs: this.limits.shutdownMs / 1000,
      drain_max_items: this.limits.maxItems,
      drain_deadline_secs: this.limits.deadlineMs / 1000,
    }
  }

  private keepSnapshot(status: 'running' | 'stopped'): void {
    writeSnapshot(this.desk, {
      status,
      role: this.role,
      bind: this.address,
      listener_url: this.url,
      started_at: this.startedAt,
      stopped_at: status === 'stopped' ? new Date().toISOString() : null,
    })
  }

  private watchManifest(): void {
    let timer: NodeJS.Timeout | null = null
    const watcher = watch(this.desk.project.folder, { recursive: false }, (_event, name) => {
      if (name !== null && !/\.(toml|harn)$/.test(name)) return
      if (timer !== null) clearTimeout(timer)
      timer = setTimeout(() => void this.reload('file_watch'), RELOAD_QUIET_MS)
    })
    this.endWatch = () => {
      if (timer !== null) clearTimeout(timer)
      watcher.close()
    }
  }

  private say(text: string): void {
    const { logFormat = 'text' } = this.flags
    const line = { timestamp: new Date().toISOString(), level: text.startsWith('warning: ') ? 'WARN' : 'INFO', message: text }
    complain(logFormat === 'json' ? `${JSON.stringify(line)}\n` : `[harn] ${text}\n`)
    const folder = joinState(this.desk, 'logs')
    mkdirSync(folder, { recursive: true })
    appendFileSync(joinState(this.desk, 'logs', 'orchestrator.log'), `${JSON.stringify(line)}\n`)
  }
}

const CONSUMER = 'orchestrator-pump.trigger.inbox.envelopes'

/** Seconds, or a duration with its unit. */
function readSeconds(text: string): number {
  return /^\d+$/.test(text) ? Number(text) * 1000 : parseDuration(text)
}
