// `@bridle/stdlib-tools`: embed Bridle. Safe for browsers: what needs Node is in `/node` and `/mcp`.

export { CompileError, EffectCeilingError } from './host/compile-errors.js'
export { Coverage } from './host/coverage.js'
export type { BranchCount, CoverageOptions, FileCoverage, FunctionCount, LineCount } from './host/coverage.js'
export { Module } from './host/module.js'
export { RunStopped, Runtime, createRuntime, valueOf } from './host/runtime.js'
export type {
  CompileSettings,
  MachineMakers,
  ResumeAuthority,
  ResumeOptions,
  ReplayResult,
  ReplaySettings,
  RuntimeConfig,
  RuntimeOptions,
  StartOptions,
} from './host/runtime-options.js'
export type { AnyProgram, ProgramSchemas, ProgramTypes } from './host/module.js'
export { Run, ScriptError } from './host/run.js'
export type { RunResult, SnapshotOptions, Wait } from './host/run.js'
export type { RunEvent } from './host/events.js'
export { Grants, makeGrants } from './host/authority.js'
export { GrantError } from './tools/policy/grant-error.js'
export type { Confinement, RunAuthority } from './host/run-authority.js'
export type { Grant } from './host/authority.js'
export type { DryRunEntry } from './host/dry-run.js'

export { DefinitionError, Finished, Pending, defineTool, finish, pending, pureFunction } from './tools/host-tools/define.js'
export type {
  Capabilities,
  CapabilityOperation,
  CallToPrepare,
  HostFunctions,
  PendingLimits,
  PrepareContext,
  PreparedCall,
  PureDefinition,
  PureFunction,
  RetryDefinition,
  SecurityLevel,
  Tool,
  ToolCalls,
  ToolClient,
  ToolContext,
  ToolFormAnswer,
  ToolQuestionOptions,
  ToolDefinition,
  ToolExample,
  ArgsOf,
  Executed,
  ResultOf,
  TypedTool,
} from './tools/host-tools/define.js'
export { composeTools, partialTool } from './tools/host-tools/combine.js'
export type { PartialOptions } from './tools/host-tools/combine.js'
export { ToolRegistry, createRegistry } from './tools/host-tools/registry.js'
export type {
  BatchCall,
  BatchOptions,
  CallOptions,
  Chunk,
  ToolInfo,
  ToolMetrics,
  ToolQuery,
  ToolStream,
  TryResult,
} from './tools/host-tools/registry.js'
export { respond, unwrapStandard } from './tools/host-tools/response.js'
export type { ResponseFormat, StandardResponse, ValidationResponse } from './tools/host-tools/response.js'
export { MAX_NESTING } from './tools/host-tools/invoke.js'
export { ToolError, isToolError } from './tools/host-tools/errors.js'
export type { AnyToolError, ToolErrorData } from './tools/host-tools/errors.js'
export type { ToolErrorCode } from './library/tool-errors.js'
export { NotDataError, plainFromHost } from './tools/host-tools/edge.js'
export { Host } from './tools/host-tools/host.js'
export type { HostParts } from './tools/host-tools/host.js'
export { declareTool, declareTools, readToolDeclarations, toolsOfDeclarations } from './tools/host-tools/declarations.js'
export { harnType } from './tools/host-tools/harn-types.js'
export { harnTypes, tsTypes } from './tools/host-tools/print-types.js'
export type { HarnTypesOptions } from './tools/host-tools/print-types.js'
export type { ToolDeclaration } from '@bridle/compiler'
export { errorFromResponse } from './tools/host-tools/http-errors.js'
export type { FailedResponse } from './tools/host-tools/http-errors.js'
export { backoffDelay, retryPresets } from './tools/host-tools/retry.js'
export { StubTools, stubTools } from './tools/host-tools/stub.js'
export type { StubAnswer, StubbedCall } from './tools/host-tools/stub.js'
export { SchemaError, compileSchema, toJsonSchema } from './tools/host-tools/schema.js'
export type { AnySchema, CompiledSchema, InputOf, JsonSchema, OutputOf, StandardSchema } from './tools/host-tools/schema.js'

export { APPROVAL_KINDS, AnswerError, ApprovalDesk, approvalProvider, defineConstraint, grantScope } from './tools/policy/host.js'
export type {
  Answer,
  ApprovalCall,
  ApprovalKind,
  ApprovalRequest,
  ApprovalRule,
  Approve,
  ApproveOptions,
  AskPerson,
  Decision,
  Constraint,
  ConstraintDefinition,
  ImportGrant,
  ImportGrants,
  ToolGrant,
  ToolGrants,
} from './tools/policy/host.js'
export { allowsPath, matchDomain, satisfiesVersion } from '@bridle/compiler/grants'
export type { ConstrainedCall } from '@bridle/compiler/grants'

export { callTool, createExecutors, toolProvider } from './tools/executors/index.js'
export { checkKeyRing, mintKey, readKey } from './tools/executors/completion-keys.js'
export type { KeyRing, KeyTarget, Resolution, Resolved } from './tools/executors/completion-keys.js'
export { memoryAttachments } from './tools/host-tools/attachments.js'
export type { AttachmentRef, AttachmentStore, ToolAttachments } from './tools/host-tools/attachments.js'
export type { ToolEvent, ToolEvents, ToolProcesses } from './tools/host-tools/durable-links.js'
export { Done } from './tools/host-tools/intents.js'
export type { Intent } from './tools/host-tools/intents.js'
export type { DurableSteps, StepFacts, StepOptions, StepRecovery, StepWork } from './tools/host-tools/durable.js'
export type { EventWait } from './tools/host-tools/durable-links.js'
export { PendingResults } from './tools/executors/pending.js'
export type {
  CallScope,
  Executor,
  ExecutorName,
  ExecutorTable,
  McpToolCaller,
  ScriptTool,
  ToolCall,
  ToolOutcome,
  ToolProviderParts,
} from './tools/executors/index.js'

export type { HostBridge } from './tools/executors/remote-host.js'
export {
  MemoryTrace,
  Redactor,
  TRACE_FORMAT,
  buildGraph,
  diffTraces,
  hashEvent,
  looksLikeKey,
  verifyTrace,
} from './host/trace/index.js'
export type {
  FieldDifference,
  GraphEdge,
  GraphNode,
  RedactOptions,
  TraceDifference,
  TraceEvent,
  TraceGraph,
  TraceJson,
  TraceKind,
  TraceOptions,
  TraceSink,
  TraceVerdict,
} from './host/trace/index.js'

export type { RecoverOptions } from './host/runtime-options.js'
export type { Recovered } from './host/runs/keeper.js'
export type { RunKeeping, UnknownCall, UnknownDecision } from './host/runs/worker.js'
export { memoryRunStore } from './host/runs/store.js'
export type { Claim, Lease, RunFacts, RunStore } from './host/runs/store.js'
export { sqlRunStore } from './host/runs/sql-store.js'
export type { SqlDatabase, SqlStatement } from './host/runs/sql-store.js'
export { simulate, simulationCases } from './host/runs/simulate.js'
export type {
  JudgedRun,
  SimulateOptions,
  SimulatedFault,
  SimulatedRun,
  SimulatedWorld,
  Simulation,
  SimulationFailure,
} from './host/runs/simulate.js'
export { DurableWorker, judgeCall } from './host/durable/worker.js'
export { summarizeResult } from './host/durable/ended.js'
export { answerUnknown } from './host/durable/pieces.js'
export type { SubmitOptions } from './host/durable/submit-options.js'
export type { DurableWorkerOptions, WorkerMetric } from './host/durable/worker.js'
export { QuotaExceeded } from './host/durable/quotas.js'
export type { ProcessEvent, ProcessStart, Processes } from './host/durable/processes.js'
export { StoreHost } from './host/durable/store-host.js'
export type { StoreHandle, StoreHostOptions } from './host/durable/store-host.js'
export type { TenantQuota, ToolLimit } from './host/durable/quotas.js'
export type { EndedRun } from './host/durable/ended.js'
export { migrateRun } from './host/durable/migrate.js'
export type { Migration } from './host/durable/migrate.js'
export { DurableDriver } from './host/durable/driver.js'
export type { DurablePolicy } from './host/durable/driver.js'
export { CANCEL_TOKEN, RunParked, RunReleased } from './host/durable/host.js'
export type { AskedCall, AwaitedToken, CallMode, DurableHost, ParkableWait, Settled } from './host/durable/host.js'
export { decodeAnswer, decodeSettled, encodeAnswer, encodeSettled } from './host/durable/answers.js'
export { WorkerFenced } from './host/durable/store.js'
export type {
  Change,
  DurableStore,
  MigratedProgram,
  NewProgram,
  NewRun,
  RunQuery,
  RunRow,
  RunState as DurableRunState,
  Signal,
  StoreWorker,
  LinkedChange,
  RunEventRow,
  StoreSummary,
  TenantSummary,
  WorkerSummary,
  StoredRun,
  TakeQuery,
  Taken,
  TakenRun,
  WorkerFacts,
} from './host/durable/store.js'
export { storeConformance } from './host/runs/conformance.js'
export type { OpenRunStore, StoreCase } from './host/runs/conformance.js'
export { Driver } from './host/driver.js'
export { NotSuspendedError } from './host/machine-driver.js'
export type { DriveEnd, DriveObserver, DriveOptions, DriverState, RunDriver } from './host/machine-driver.js'
export type { AnswerEffect, DrivenMachine, ArrivedAnswer } from './host/machine.js'
export type { ProgramCache } from './host/program-cache.js'
export { JOURNAL_FORMAT } from './host/journal-format.js'
export { JournalFormatError, MemoryJournal, decodeEntry, decodeJournal, encodeEntry, findLastAuthority } from './host/journal.js'
export type { Journal, JournalEntry } from './host/journal.js'
export { CodecError, decodePlain, encodePlain } from './host/journal-codec.js'
export { TraceHash } from './host/journal-trace.js'
export { makeCall, listCalls, replay } from './host/replay.js'
export type { Divergence, ListedCall, RecordedCall, ReplayEnd, ReplayOptions } from './host/replay.js'
export { describeSnapshot } from './host/snapshot.js'
export type { SnapshotFacts } from './host/snapshot.js'
export { SnapshotError } from '@bridle/vm'
export type { Refusal } from '@bridle/vm'

export { VirtualClock, delay, systemClock } from './library/time/host-clock.js'
export type { Clock } from './library/time/host-clock.js'
export { clockProvider, randomProvider, seededRandom, systemRandom, traceProvider } from './host/providers/basics.js'
export type { RandomSource } from './host/providers/basics.js'
export { llmProvider } from './host/providers/models.js'
export { SecretError, SecretKeeper } from './host/secrets.js'
export type { Secret, Secrets } from './host/secrets.js'
export type { LlmProviderOptions, LlmService } from './host/providers/models.js'
export {
  MEMORY_WORLD_BYTES,
  MemoryFs,
  MemoryStore,
  MemoryTerminal,
  MemoryTree,
  memoryProcess,
  scriptedHttp,
} from './host/providers/memory.js'
export type { FileNode, FileTree } from './host/providers/memory.js'
export { answered, categorizedError, refused, runtimeError, thrownError } from './tools/executors/provider.js'
export type { EffectCall, PerformEffect, Provider, ProviderSource, RunInfo } from './tools/executors/provider.js'
export { memoryModules } from './host/modules.js'
export type { ModuleSource, ProgramSources, ResolveModule } from './host/modules.js'
export { hashHex, hashTexts } from './host/hash.js'
export { allFamilies } from './host/families/all.js'
export { findOptionShapes } from './host/families/option-shapes.js'
export { RESULT_FIELDS } from './host/families/result-fields.js'
export { mcpGlobal } from './tools/servers/mcp.js'
export { stdModule } from './host/modules.js'
export { VERSION } from './version.js'
export { driftGuard } from './tools/host-tools/drift.js'
export type { DriftGuardOptions } from './tools/host-tools/drift.js'
export type { DriftReaction } from './tools/host-slots.js'
export type { DriftWatch } from './tools/host-slots.js'
export type { Budget, BudgetMeter, Budgets } from './tools/policy/host-budgets.js'
export { defineProvider, toolsOf } from './tools/host-tools/provider.js'
export type {
  ProviderCall,
  ProviderCapability,
  ToolContract,
  ToolManifest,
  ToolProvider,
  ToolProviderDefinition,
} from './tools/host-tools/provider.js'

// What `@bridle/cli` needs as well: differences of texts, standard tools, error codes, pins, shapes, model fixtures.
export { modelFixtures } from './agents/models/mock.js'
export { listCronTicks } from './agents/triggers/cron.js'
export { SIGNATURE_VARIANTS, readDeliveryKey, verifySignature } from './agents/triggers/signatures.js'
export type { SignatureVariant, SignedRequest, Verification, VerificationOptions } from './agents/triggers/signatures.js'
export { diffLines } from './library/formats/line-diff.js'
export { isSecretVariable } from './library/processes/process.js'
export { TemplateError, parseTemplate } from './library/templates/syntax.js'
export {
  pinText,
  describePinnedChange,
  serverToolHashes,
  toolDescriptionHash,
  toolHintsHash,
  toolSchemaHash,
} from './tools/definitions/pins.js'
export { mcpKey } from './tools/dispatch/identity.js'
export type { DefinedTool } from './tools/host-slots.js'
export { STANDARD_TOOLS } from './tools/definitions/standard-tools.js'
export { comparePinned, readOutputShape } from './tools/dispatch/drift.js'
export { TOOL_ERROR_CODES } from './library/tool-errors.js'

export { EFFECTS, listUses, withArguments } from './library/effects/index.js'
export type { SideEffect } from './library/effects/index.js'
