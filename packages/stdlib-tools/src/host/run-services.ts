// What answers the effects of one run: its providers behind the powers, the manifest and the dry run that it is held to. Apart from
// run.ts because a run that asks for nothing needs none of it.

import type { Effect } from '@bridle/vm'
import { authorized, makeProviderTable, refusal, makeGrants } from './authority.js'
import type { Clock } from '../library/time/host-clock.js'
import { hashHex as nobleHash } from './hash.js'
import { makePinnedTools } from '../tools/definitions/pins.js'
import { withDryRun } from './dry-run.js'
import type { DryRunEntry } from './dry-run.js'
import type { RunEvent } from './events.js'
import { createExecutors, toolProvider } from '../tools/executors/index.js'
import type { McpToolCaller, ToolProviderParts } from '../tools/executors/index.js'
import { makeHostProvider } from './host-provider.js'
import { withIdentityGuard } from './identity-guard.js'
import { withManifestGuard } from './manifest-guard.js'
import { durableProvider } from './durable/provider.js'
import { clockProvider, randomProvider, traceProvider } from './providers/basics.js'
import { answered, categorizedError, thrownError } from '../tools/executors/provider.js'
import type { PerformEffect, Provider } from '../tools/executors/provider.js'
import { listEffectSecrets } from './marked-secrets.js'
import type { RunParts } from './run.js'
import { withPropagation } from './trace/propagate.js'
import type { TraceRecorder } from './trace/recorder.js'

export interface Services {
  /** Kinds of effect that have a provider. */
  readonly kinds: ReadonlySet<string>
  readonly perform: PerformEffect
  /** Whether no provider of the host answers calls of tools in its place. */
  readonly answersTools: boolean
  /** Closes every provider; failures are ignored. */
  readonly close: () => Promise<void>
}

/** What the run keeps and its services write to. */
export interface RunSide {
  readonly recorder: TraceRecorder | null
  readonly entries: DryRunEntry[]
  readonly clock: Clock
  readonly startedAt: number
  readonly emit: (event: RunEvent) => void
}

export function openServices(parts: RunParts, side: RunSide): Services {
  const providers = makeProviders(parts, side)
  const table = makeProviderTable(providers)
  for (const { secretValues } of providers) side.recorder?.keepSecret(secretValues ?? [])
  return {
    kinds: new Set(table.keys()),
    answersTools: table.get('tool.call') === providers.find(({ kinds }) => kinds.includes('tool.call')),
    perform: makePerformer(parts, providers, side),
    close: async () => {
      await Promise.allSettled(providers.map(async (provider) => provider.close?.()))
    },
  }
}

/** Throws what `checkProviders` throws; the run does not begin, so its providers are closed. */
export function refuseUnprovided(services: Services, { checkProviders }: Pick<RunParts, 'checkProviders'>): void {
  try {
    checkProviders?.(services.kinds)
  } catch (cause) {
    void services.close()
    throw cause
  }
}

function makeProviders(parts: RunParts, { clock, startedAt, emit }: RunSide): readonly Provider[] {
  const { pins } = parts.authority
  const info = {
    runId: parts.runId,
    now: () => clock.now(),
    startedAt,
    pins: pins === null ? null : makePinnedTools(parts.hashHex ?? nobleHash, pins),
  }
  const sources = typeof parts.providers === 'function' ? parts.providers() : parts.providers
  const given = sources.map((source) => (typeof source === 'function' ? source(info) : source))
  const mcp = given.find(isMcpCaller) ?? null
  const tools: ToolProviderParts = {
    executors: createExecutors({ host: parts.host, bridge: parts.bridge ?? null, mcp, scripts: parts.scripts }),
    pending: parts.pendingResults,
    progress: (callId, tool, data) => emit({ type: 'progress', callId, tool, data }),
    maxResultBytes: parts.host.maxResultBytes,
    timeoutOf: (name) => parts.host.tool(name)?.timeoutMs ?? null,
  }
  const stderr: Provider = {
    kinds: ['terminal.write'],
    perform: (effect) => {
      emit({ type: 'stderr', text: String(effect.args.text ?? '') })
      return answered(null)
    },
  }
  // A run that no client waits for; hosts that serve scripts put their own in its place.
  const unserved: Provider = {
    kinds: ['mcp.client'],
    isReadOnly: () => true,
    perform: () => thrownError('MCP client: this run does not work for a client'),
  }
  const clocks = clockProvider()
  const basics = [
    durableProvider({
      signal: (runId, name, value) => parts.pendingResults.signal(runId, name, { kind: 'result', value }),
    }),
    typeof clocks === 'function' ? clocks(info) : clocks,
    randomProvider(parts.random),
    traceProvider(parts.trace),
    stderr,
    unserved,
  ]
  return [
    ...basics,
    toolProvider(tools),
    makeHostProvider(parts.host, tools, { input: parts.input, dryRun: parts.dryRun }, parts.bridge ?? null),
    ...given,
  ]
}

function makePerformer(
  { authority, guard, dryRun, host, bridge, ceiling }: RunParts,
  providers: readonly Provider[],
  { recorder, entries, emit }: RunSide,
): PerformEffect {
  const table = makeProviderTable(providers)
  const grants = makeGrants(authority)
  const powers = { grants, asksAboutCalls: ceiling.some(({ approve }) => approve !== undefined) }
  const allowed = authorized(table, powers)
  const serves = (name: string): boolean => host.serves(name)
  const judged = withIdentityGuard(
    {
      names: host.names,
      serves,
      hasBridge: bridge !== undefined,
      ceiling,
    },
    allowed,
  )
  const held = guard === null ? judged : withManifestGuard(guard, judged)
  const perform =
    recorder === null
      ? held
      : withRecorder(recorder, (effect) => listEffectSecrets(host, effect), withPropagation(recorder, held))
  if (!dryRun) return perform
  return withDryRun(
    perform,
    // What would be refused is refused in a dry run too, and is not on its list.
    (effect, call) =>
      refusal(table, powers, effect) !== null ? true : (table.get(effect.kind)?.isReadOnly?.(effect, call) ?? null),
    (entry) => {
      entries.push(entry)
      emit({ type: 'dry_run', entry })
    },
  )
}

/** With a required trace, an effect is traced before it is performed. */
function withRecorder(
  recorder: TraceRecorder,
  secretsOf: (effect: Effect) => readonly string[],
  perform: PerformEffect,
): PerformEffect {
  if (!recorder.isRequired) return perform
  return (effect, call) =>
    recorder.intend(effect, call.id, secretsOf(effect))
      ? perform(effect, call)
      : categorizedError('tool_rejected', `${effect.kind} is not made: the trace of this run is required and cannot be written`)
}

function isMcpCaller(provider: Provider): provider is Provider & McpToolCaller {
  return 'callTool' in provider && 'isReadOnlyTool' in provider
}
