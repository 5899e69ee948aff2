// The door of this room: what other rooms use. They import the files that are named here; types may come from here (scripts/doors.ts).

export { Grants, makeGrants } from './authority.js'
export type { Grant } from './authority.js'
export { CompileError, EffectCeilingError } from './compile-errors.js'
export { Coverage } from './coverage.js'
export type { BranchCount, CoverageOptions, FileCoverage, FunctionCount, LineCount } from './coverage.js'
export { Driver } from './driver.js'
export { NotSuspendedError } from './machine-driver.js'
export type { DriveEnd, DriveObserver, DriveOptions, DriverState, RunDriver } from './machine-driver.js'
export type { DryRunEntry } from './dry-run.js'

export { decodeAnswer, decodeSettled, encodeAnswer, encodeSettled } from './durable/answers.js'
export { DurableDriver } from './durable/driver.js'
export type { DurablePolicy } from './durable/driver.js'
export { CANCEL_TOKEN, EngineFailed, RunParked, RunReleased } from './durable/host.js'
export type { AskedCall, AwaitedToken, CallMode, DurableHost, ParkableWait, Settled } from './durable/host.js'
export { migrateRun } from './durable/migrate.js'
export type { Migration } from './durable/migrate.js'
export { WorkerFenced } from './durable/store.js'
export type {
  Change,
  DurableStore,
  MigratedProgram,
  NewProgram,
  NewRun,
  RunQuery,
  RunRow,
  RunState,
  Signal,
  StoreWorker,
  LinkedChange,
  RunEventRow,
  StoreCounter,
  StoreSummary,
  TenantSummary,
  WorkerSummary,
  StoredRun,
  TakeQuery,
  Taken,
  TakenRun,
  WorkerFacts,
} from './durable/store.js'
export { answerUnknown } from './durable/pieces.js'
export { summarizeResult } from './durable/ended.js'
export { DurableWorker, judgeCall } from './durable/worker.js'
export type { SubmitOptions } from './durable/submit-options.js'
export type { DurableWorkerOptions, WorkerMetric } from './durable/worker.js'
export { QuotaExceeded, checkQuota, fillBucket } from './durable/quotas.js'
export type { ProcessEvent, ProcessStart, Processes } from './durable/processes.js'
export { StoreHost } from './durable/store-host.js'
export type { StoreHandle, StoreHostOptions } from './durable/store-host.js'
export type { TenantQuota, ToolLimit } from './durable/quotas.js'
export type { EndedRun } from './durable/ended.js'

export type { RunEvent } from './events.js'

export { allFamilies } from './families/all.js'
export { findOptionShapes } from './families/option-shapes.js'
export { RESULT_FIELDS } from './families/result-fields.js'

export { hashHex, hashTexts } from './hash.js'
export { CodecError, decodePlain, encodePlain } from './journal-codec.js'
export { JOURNAL_FORMAT } from './journal-format.js'
export { TraceHash } from './journal-trace.js'
export { JournalFormatError, MemoryJournal, decodeEntry, decodeJournal, encodeEntry, findLastAuthority } from './journal.js'
export type { Journal, JournalEntry } from './journal.js'
export type { AnswerEffect, ArrivedAnswer, DrivenMachine } from './machine.js'
export { Module } from './module.js'
export type { AnyProgram, ProgramSchemas, ProgramTypes } from './module.js'
export { memoryModules, stdModule } from './modules.js'
export type { ModuleSource, ProgramSources, ResolveModule } from './modules.js'
export type { ProgramCache } from './program-cache.js'

export { clockProvider, randomProvider, seededRandom, systemRandom, traceProvider } from './providers/basics.js'
export type { RandomSource } from './providers/basics.js'
export {
  MEMORY_WORLD_BYTES,
  MemoryFs,
  MemoryStore,
  MemoryTerminal,
  MemoryTree,
  makeMemoryNode,
  memoryProcess,
  scriptedHttp,
  storeOperation,
} from './providers/memory.js'
export type { FileNode, FileTree } from './providers/memory.js'
export { classifyStatus, makeFailure } from './providers/model-failures.js'
export { ModelStreams } from './providers/model-streams.js'
export type { DeltaSource } from './providers/model-streams.js'
export { isFailureText } from './providers/wires/content.js'
export { StreamError } from './providers/wires/wire.js'
export type { Delta } from './providers/wires/wire.js'
export { readPlace } from './providers/places.js'
export { llmProvider } from './providers/models.js'
export type { LlmProviderOptions, LlmService } from './providers/models.js'

export { listCalls, makeCall, replay } from './replay.js'
export type { Divergence, ListedCall, RecordedCall, ReplayEnd, ReplayOptions } from './replay.js'
export type { Confinement, RunAuthority } from './run-authority.js'
export { Run, ScriptError } from './run.js'
export type { RunParts, RunResult, SnapshotOptions, Wait } from './run.js'

export { storeConformance } from './runs/conformance.js'
export type { OpenRunStore, StoreCase } from './runs/conformance.js'
export type { Recovered } from './runs/keeper.js'
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
export { sqlRunStore } from './runs/sql-store.js'
export type { SqlDatabase, SqlStatement } from './runs/sql-store.js'
export { compareById, makeLeaseLost, mayClaim, memoryRunStore } from './runs/store.js'
export type { Claim, Lease, RunFacts, RunStore } from './runs/store.js'
export type { RunKeeping, UnknownCall, UnknownDecision } from './runs/worker.js'

export type {
  CompileSettings,
  MachineMakers,
  RecoverOptions,
  ReplayResult,
  ReplaySettings,
  ResumeAuthority,
  ResumeOptions,
  RuntimeConfig,
  RuntimeOptions,
  StartOptions,
} from './runtime-options.js'
export { RunStopped, Runtime, createRuntime, valueOf } from './runtime.js'
export { SecretError, SecretKeeper, readOrigin } from './secrets.js'
export type { Secret, Secrets } from './secrets.js'
export { describeSnapshot } from './snapshot.js'
export type { SnapshotFacts } from './snapshot.js'

export {
  MemoryTrace,
  Redactor,
  TRACE_FORMAT,
  buildGraph,
  diffTraces,
  hashEvent,
  looksLikeKey,
  verifyTrace,
} from './trace/index.js'
export type {
  CallFacts,
  FieldDifference,
  GraphEdge,
  GraphNode,
  ModelCallFacts,
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
