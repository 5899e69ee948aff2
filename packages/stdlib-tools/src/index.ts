// `@bridle/stdlib-tools`: embed Bridle. Safe for browsers: what needs Node is in `/node` and `/mcp`.

export { CompileError, EffectCeilingError, Module, RunStopped, Runtime, createRuntime, valueOf } from './runtime.js'
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
} from './runtime.js'
export { Run, ScriptError } from './run.js'
export type { RunResult, SnapshotOptions, Wait } from './run.js'
export type { RunEvent } from './events.js'
export { Grants, GrantError } from './authority.js'
export { grantsOf } from './run-authority.js'
export type { Confinement, RunAuthority } from './run-authority.js'
export type { Grant } from './authority.js'
export type { DryRunEntry } from './dry-run.js'

export { DefinitionError, Finished, Pending, defineTool, finish, pending, pureFunction } from './tools/define.js'
export type {
  Capabilities,
  CapabilityOperation,
  CallToPrepare,
  HostFunctions,
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
  ToolDefinition,
  ToolExample,
} from './tools/define.js'
export { composeTools, partialTool } from './tools/combine.js'
export type { PartialOptions } from './tools/combine.js'
export { ToolRegistry, createRegistry } from './tools/registry.js'
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
} from './tools/registry.js'
export { respond, unwrapStandard } from './tools/response.js'
export type { ResponseFormat, StandardResponse, ValidationResponse } from './tools/response.js'
export { MAX_NESTING } from './tools/invoke.js'
export { ToolError, isToolError } from './tools/errors.js'
export type { AnyToolError, ToolErrorData } from './tools/errors.js'
export type { ToolErrorCode } from '@bridle/vm'
export { NotDataError, plainFromHost } from './tools/edge.js'
export { Host } from './tools/host.js'
export type { HostParts } from './tools/host.js'
export { harnType } from './tools/harn-types.js'
export { errorFromResponse } from './tools/http-errors.js'
export type { FailedResponse } from './tools/http-errors.js'
export { backoffDelay, retryPresets } from './tools/retry.js'
export { StubTools, stubTools } from './tools/stub.js'
export type { StubAnswer, StubbedCall } from './tools/stub.js'
export { SchemaError, compileSchema, toJsonSchema } from './tools/schema.js'
export type { AnySchema, CompiledSchema, JsonSchema, OutputOf, StandardSchema } from './tools/schema.js'

export { ApprovalDesk, approvalProvider, defineConstraint, grantScope } from './policy/index.js'
export type {
  ApprovalKind,
  ApprovalRequest,
  AskPerson,
  Constraint,
  ConstraintDefinition,
  ImportGrant,
  ImportGrants,
  ToolGrant,
  ToolGrants,
} from './policy/index.js'
export { allowsPath, matchDomain, satisfiesVersion } from '@bridle/compiler/grants'
export type { ConstrainedCall } from '@bridle/compiler/grants'

export { callTool, createExecutors, toolProvider } from './executors/index.js'
export { PendingResults } from './executors/pending.js'
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
} from './executors/index.js'

export type { HostBridge } from './bridge/host-bridge.js'
export {
  MemoryTrace,
  Redactor,
  TRACE_FORMAT,
  buildGraph,
  diffTraces,
  hashOfEvent,
  looksLikeKey,
  verifyTrace,
} from './trace/index.js'
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
} from './trace/index.js'

export type { RecoverOptions } from './runtime.js'
export type { Recovered } from './runs/keeper.js'
export type { RunKeeping, UnknownCall, UnknownDecision } from './runs/worker.js'
export { memoryRunStore } from './runs/store.js'
export type { Claim, Lease, RunFacts, RunStore } from './runs/store.js'
export { sqlRunStore } from './runs/sql-store.js'
export type { SqlDatabase, SqlStatement } from './runs/sql-store.js'
export { simulate, simulationCases } from './runs/simulate.js'
export type {
  JudgedRun,
  SimulateOptions,
  SimulatedFault,
  SimulatedRun,
  SimulatedWorld,
  Simulation,
  SimulationFailure,
} from './runs/simulate.js'
export { storeConformance } from './runs/conformance.js'
export type { OpenRunStore, StoreCase } from './runs/conformance.js'
export { Driver, NotSuspendedError } from './driver.js'
export type { AnswerEffect, DriveEnd, DriveObserver, DriveOptions, DrivenMachine, ArrivedAnswer } from './driver.js'
export type { ProgramCache } from './kept-programs.js'
export { JOURNAL_FORMAT } from './journal-format.js'
export { JournalFormatError, MemoryJournal, decodeEntry, decodeJournal, encodeEntry, lastAuthority } from './journal.js'
export type { Journal, JournalEntry } from './journal.js'
export { CodecError, decodePlain, encodePlain } from './journal-codec.js'
export { TraceHash } from './journal-trace.js'
export { callOf, listCalls, replay } from './replay.js'
export type { Divergence, ListedCall, RecordedCall, ReplayEnd, ReplayOptions } from './replay.js'
export { describeSnapshot } from './snapshot.js'
export type { SnapshotFacts } from './snapshot.js'
export { SnapshotError } from '@bridle/vm'
export type { Refusal } from '@bridle/vm'

export { VirtualClock, delay, systemClock } from './clock.js'
export type { Clock } from './clock.js'
export { clockProvider, randomProvider, seededRandom, systemRandom, traceProvider } from './providers/basics.js'
export type { RandomSource } from './providers/basics.js'
export { llmProvider } from './providers/llm.js'
export { SecretError, SecretKeeper } from './secrets.js'
export type { Secret, Secrets } from './secrets.js'
export type { LlmProviderOptions, LlmService } from './providers/llm.js'
export {
  MEMORY_WORLD_BYTES,
  MemoryFs,
  MemoryStore,
  MemoryTerminal,
  MemoryTree,
  memoryProcess,
  scriptedHttp,
} from './providers/memory.js'
export type { FileNode, FileTree } from './providers/memory.js'
export { answered, categorizedError, refused, runtimeError, thrownError } from './providers/provider.js'
export type { EffectCall, PerformEffect, Provider, ProviderSource, RunInfo } from './providers/provider.js'
export { memoryModules } from './modules.js'
export type { ModuleSource, ProgramSources, ResolveModule } from './modules.js'
export { hashHex, hashTexts } from './hash.js'
export { allFamilies } from './builtins/families.js'
export { mcpGlobal } from './builtins/mcp.js'
export { STD_MODULES } from './std.generated.js'
export { VERSION } from './version.js'
export { driftGuard } from './tools/drift.js'
export type { DriftGuardOptions } from './tools/drift.js'
export type { DriftReaction, DriftWatch } from '@bridle/vm'
export type { Budget, BudgetMeter, Budgets } from './policy/budgets.js'
export { defineProvider, toolsOf } from './tools/provider.js'
export type {
  ProviderCall,
  ProviderCapability,
  ToolContract,
  ToolManifest,
  ToolProvider,
  ToolProviderDefinition,
} from './tools/provider.js'
