// The machines of runs: what a fresh or a restored one is given of the runtime, of the run and of its authority.

import type { RunBranch } from '../tools/dispatch/branches.js'
import { RUN_BRANCHES } from '../tools/dispatch/branches.js'
import { HostData, Machine, restrictRegistry } from '@bridle/vm'
import type { Limits, Registry } from '@bridle/vm'
import type { ConstraintRules } from '@bridle/compiler/grants'
import { HAS_INBOX } from '../agents/loop/inbox.js'
import { modelFixtures } from '../agents/models/mock.js'
import { PIECE_LISTENER } from '../agents/models/told-pieces.js'
import { REQUEST_DEFAULTS } from '../library/http/request-defaults.js'
import { logLevelState } from '../library/logging/logging.js'
import { PRINTS_REPORTS, REPORT_LISTENER } from '../library/logging/reports.js'
import { EVENT_LOG_PLACE } from '../library/logging/log-place.js'
import { STAND_INS } from '../library/logging/stand-ins.js'
import type { HostCapabilities } from '../library/effects/index.js'
import { HAS_OTHER_HOST_TOOLS, HOST_TOOLS } from '../tools/definitions/entry.js'
import type { HostNames } from '../tools/dispatch/identity.js'
import {
  DRIFT_WATCH,
  HOST_CAPABILITIES,
  HOST_NAMES,
  KEEPS_CALLS,
  RESULT_CACHE,
  TOOL_LISTENER,
  TOOL_PINS,
} from '../tools/host-slots.js'
import type { Capabilities } from '../tools/host-tools/define.js'
import type { Host } from '../tools/host-tools/host.js'
import { SAME_POWER } from '../tools/policy/builtins.js'
import { APPROVAL_SCOPES, CONSTRAINT_RULES, EFFECT_JUDGE, GRANT_CEILING } from '../tools/policy/grant-ceiling.js'
import type { ApprovalScope, GrantCeiling } from '../tools/policy/grant-ceiling.js'
import { hashSha256Hex } from './hash.js'
import type { Module } from './module.js'
import type { RunAuthority } from './run-authority.js'
import type { MachineListeners } from './run.js'
import type { MachineMakers, RuntimeOptions, StartOptions } from './runtime-options.js'

/** Facts about a run for its machine. */
export type MachineSettings = Pick<
  StartOptions,
  'reportsOnly' | 'hasInbox' | 'runId' | 'limits' | 'globals' | 'epilogue' | 'bridge' | 'tier' | 'copies'
> & { readonly authority: RunAuthority; readonly branches?: readonly RunBranch[] }

export type RunPerform = NonNullable<ConstructorParameters<typeof Machine>[1]['perform']>

export interface MachineParts {
  readonly options: RuntimeOptions
  readonly host: Host
  readonly registry: Registry
  readonly rules: ConstraintRules | undefined
  readonly hashHex: (bytes: Uint8Array) => string
}

export class RunMachines {
  /** The operations of this host, for scripts. */
  readonly capabilities: HostCapabilities
  private readonly options: RuntimeOptions
  private readonly host: Host
  private readonly hostNames: HostNames
  private readonly registry: Registry
  private readonly rules: ConstraintRules | undefined
  private readonly hashHex: (bytes: Uint8Array) => string
  private readonly states: (() => ReadonlyMap<string, unknown>) | null

  constructor({ options, host, registry, rules, hashHex }: MachineParts) {
    this.options = options
    this.host = host
    this.hostNames = host.names
    this.registry = registry
    this.rules = rules
    this.hashHex = hashHex
    this.states = makeStates(options)
    this.capabilities = describeCapabilities(options.capabilities ?? {})
  }

  makers(module: Module, options: MachineSettings, answer: RunPerform, listeners: MachineListeners = {}): MachineMakers {
    return {
      fresh: (limits) => new Machine(module.program, this.makeMachineOptions(options, answer, limits, listeners)),
      restored: (bytes, limits) =>
        Machine.restore(bytes, module.program, this.makeMachineOptions(options, answer, limits, listeners)),
    }
  }

  private makeMachineOptions(
    options: MachineSettings,
    perform: RunPerform,
    limits?: Partial<Limits>,
    { trace, spans, report, piece, keepsCalls }: MachineListeners = {},
  ): ConstructorParameters<typeof Machine>[1] {
    return {
      limits: { ...this.options.limits, ...options.limits, ...options.authority.limits, ...limits },
      perform,
      hashHex: this.hashHex,
      sha256Hex: hashSha256Hex,
      ...(options.runId === undefined ? {} : { runId: options.runId }),
      ...(this.states === null ? {} : { states: this.states }),
      ...(trace === undefined ? {} : { trace }),
      ...(spans === undefined ? {} : { spans }),
      judge: EFFECT_JUDGE,
      hostData: this.makeHostData(options, { report, piece, keepsCalls }),
      ...(options.tier === undefined ? {} : { tier: options.tier }),
      ...(options.copies === undefined ? {} : { copies: options.copies }),
      ...(options.epilogue === undefined ? {} : { epilogue: options.epilogue }),
      ...(options.globals === undefined && this.options.globalValues === undefined
        ? {}
        : { globals: new Map(Object.entries({ ...this.options.globalValues, ...options.globals })) }),
    }
  }

  /** Configuration for families of builtins. */
  private makeHostData(
    { authority, branches, bridge, reportsOnly, hasInbox }: MachineSettings,
    { report, piece, keepsCalls }: { readonly [Name in 'report' | 'piece' | 'keepsCalls']: MachineListeners[Name] | undefined },
  ): HostData {
    const { scopes, pins } = authority
    const { resultCache, requestDefaults, drift, onTool, standIns, eventLog } = this.options
    return new HostData()
      .set(GRANT_CEILING, scopes.length === 0 ? undefined : scopes)
      .set(CONSTRAINT_RULES, this.rules)
      .set(APPROVAL_SCOPES, listApprovalScopes(scopes))
      .set(TOOL_PINS, pins === null ? undefined : new Map(Object.entries(pins)))
      .set(TOOL_LISTENER, onTool)
      .set(DRIFT_WATCH, drift)
      .set(RESULT_CACHE, resultCache)
      .set(REQUEST_DEFAULTS, requestDefaults)
      .set(STAND_INS, standIns)
      .set(EVENT_LOG_PLACE, eventLog)
      .set(HAS_INBOX, hasInbox)
      .set(RUN_BRANCHES, branches)
      .set(PRINTS_REPORTS, reportsOnly === true ? false : undefined)
      .set(REPORT_LISTENER, report)
      .set(PIECE_LISTENER, piece)
      .set(KEEPS_CALLS, keepsCalls)
      .set(HOST_TOOLS, this.host.entries)
      .set(HAS_OTHER_HOST_TOOLS, bridge !== undefined)
      .set(HOST_NAMES, this.hostNames)
      .set(HOST_CAPABILITIES, { ...this.capabilities, ...bridge?.capabilities })
  }

  /** With builtins that refuse where the authority denies them and the runtime does not. */
  narrow(module: Module, { builtins }: RunAuthority): Module {
    const own = JSON.stringify(this.options.builtins)
    const further = builtins.filter((list) => JSON.stringify(list) !== own)
    return further.length === 0
      ? module
      : module.linkedTo(further.reduce((registry, list) => restrictRegistry(registry, list, SAME_POWER), this.registry))
  }
}

/** What machines of these options begin with. */
function makeStates({ modelFixtures: fixtures, logLevel }: RuntimeOptions): (() => ReadonlyMap<string, unknown>) | null {
  const models = fixtures === undefined ? null : modelFixtures(fixtures)
  if (logLevel === undefined) return models
  return () => new Map([...(models?.() ?? []), logLevelState(logLevel)])
}

/** Null for a run without questions to people. */
function listApprovalScopes(scopes: GrantCeiling): readonly ApprovalScope[] | null {
  const found = scopes.flatMap(({ approve }) => (approve === undefined ? [] : [approve]))
  return found.length === 0 ? null : found
}

function describeCapabilities(capabilities: Capabilities): HostCapabilities {
  return Object.fromEntries(
    Object.entries(capabilities).map(([name, operations]) => [
      name,
      { description: '', operations: Object.fromEntries(Object.keys(operations).map((operation) => [operation, ''])) },
    ]),
  )
}
