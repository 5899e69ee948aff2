// The door of this room: what other rooms use. They import the files that are named here; types may come from here (scripts/doors.ts).

export { readParameters, withDefaults } from './definitions/arguments.js'
export { HAS_OTHER_HOST_TOOLS, HOST_TOOLS, getEntryFacts, toHostEntry } from './definitions/entry.js'
export { readCallArguments, readParseError } from './definitions/model-arguments.js'
export {
  describePinnedChange,
  makePinnedTools,
  pinText,
  serverToolHashes,
  toolDescriptionHash,
  toolHintsHash,
  toolSchemaHash,
} from './definitions/pins.js'
export type { PinnedTools, ToolHashes } from './definitions/pins.js'
export { planFamily } from './definitions/plan.js'
export {
  boundRegistry,
  getOrNil,
  isRegistry,
  listAt,
  listEntries,
  readName,
  readText,
  withTools,
} from './definitions/registry.js'
export { RUNTIME_TOOLS } from './definitions/runtime-tools.js'
export { STANDARD_TOOLS, findStandardEntry } from './definitions/standard-tools.js'
export { validateSurface } from './definitions/surface.js'
export { toolSynthesisFamily } from './definitions/synthesis.js'
export { toolsFamily } from './definitions/tools.js'
export { isObjectSchema, isRequired } from './definitions/validate.js'

export { RUN_BRANCHES, TOOL_CALLS } from './dispatch/branches.js'
export type { RunBranch } from './dispatch/branches.js'
export { toPlainOrText } from './dispatch/call-state.js'
export { chooseCarrier, resolveCalledInLoop } from './dispatch/carry-out.js'
export { circuitFamily } from './dispatch/circuit.js'
export { toolDispatchFamily } from './dispatch/dispatch.js'
export { comparePinned, readOutputShape, toolDriftFamily } from './dispatch/drift.js'
export { identifyEntry } from './dispatch/gate.js'
export { HOOK_EVENTS, hooksFamily } from './dispatch/hooks.js'
export { hostCallFamily, isOwnOperation } from './dispatch/host-call.js'
export { hostMocksFamily, matchHostMock } from './dispatch/host-mocks.js'
export {
  encodeCalled,
  identifyEffect,
  identifyServer,
  makeBridgedIdentity,
  makeMcpIdentity,
  mcpKey,
} from './dispatch/identity.js'
export type { CalledTool, HostNames, ToolIdentity } from './dispatch/identity.js'
export { microCompactFamily } from './dispatch/micro-compact.js'
export { findNote } from './dispatch/durable-notes.js'
export type { AskedNote } from './dispatch/durable-notes.js'
export { beginNested, endNested, judgeNested, leaveNested } from './dispatch/nested-calls.js'
export { nestedCalls } from './dispatch/nested-state.js'
export { toolStreamsFamily } from './dispatch/streams.js'

export {
  EVENT_TOKEN,
  RUN_TOKEN,
  SIGNAL_TOKEN,
  isAnsweredOnce,
  readUnverified,
  checkKeyRing,
  describeResolution,
  isKeyToken,
  mintKey,
  readEmittedToken,
  readKey,
} from './executors/completion-keys.js'
export type { EmittedToken, KeyRing, KeyTarget, Resolution, Resolved } from './executors/completion-keys.js'
export { makeDryRunResult } from './executors/dry-run.js'
export { hasMarks, markInteger, markIntegers, unmarkIntegers, withDigits, withIntegers } from './executors/exact-json.js'
export { callTool, createExecutors, toolProvider } from './executors/index.js'
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
export { BridgeError, JsonRpcPeer, RequestError, isRecord, methodNotFound } from './executors/jsonrpc.js'
export type { BridgeFault, Params, PeerOptions } from './executors/jsonrpc.js'
export { CHANGED_SINCE_READ, NO_FILE_TO_COPY, describeOsError, readOsErrorCode } from './executors/os-errors.js'
export { LATE, PendingResults, scopeToken } from './executors/pending.js'
export {
  answered,
  categorizedError,
  describeCause,
  joinProviders,
  provider,
  refused,
  runtimeError,
  thrownError,
} from './executors/provider.js'
export type {
  AdmittedCall,
  BegunNote,
  DurableGate,
  EffectCall,
  NestedGate,
  RunLink,
  PerformEffect,
  Provider,
  ProviderSource,
  ProviderSources,
  RunInfo,
  TokenLimit,
} from './executors/provider.js'
export { readCapabilities, remoteApproval, remoteHost } from './executors/remote-host.js'
export type { HostBridge, RemoteHostOptions } from './executors/remote-host.js'
export { checkSize } from './executors/result-size.js'
export { StreamTransport } from './executors/stream-transport.js'
export type { MessageTransport } from './executors/stream-transport.js'

export { DRIFT_WATCH, HOST_CAPABILITIES, HOST_NAMES, KEEPS_CALLS, RESULT_CACHE, TOOL_LISTENER, TOOL_PINS } from './host-slots.js'
export type { DefinedTool, DriftReaction, DriftWatch, ResultCache } from './host-slots.js'

export { composeTools, partialTool } from './host-tools/combine.js'
export type { PartialOptions } from './host-tools/combine.js'
export { declareTool, declareTools, readToolDeclarations, toolsOfDeclarations } from './host-tools/declarations.js'
export { memoryAttachments } from './host-tools/attachments.js'
export type { AttachmentRef, AttachmentStore, ToolAttachments } from './host-tools/attachments.js'
export type { ToolEvent, ToolEvents, ToolProcesses } from './host-tools/durable-links.js'
export { Done } from './host-tools/intents.js'
export type { Intent } from './host-tools/intents.js'
export type { DurableSteps, StepFacts, StepOptions, StepRecovery, StepWork } from './host-tools/durable.js'
export type { EventWait } from './host-tools/durable-links.js'
export {
  DefinitionError,
  Finished,
  Pending,
  defineTool,
  finish,
  isRepeatable,
  pending,
  pureFunction,
} from './host-tools/define.js'
export type {
  ArgsOf,
  CallToPrepare,
  Capabilities,
  CapabilityOperation,
  Executed,
  HostFunctions,
  PendingLimits,
  PrepareContext,
  PreparedCall,
  PureDefinition,
  PureFunction,
  ResultOf,
  RetryDefinition,
  SecurityLevel,
  Tool,
  ToolCalls,
  ToolClient,
  ToolContext,
  ToolDefinition,
  ToolExample,
  ToolFormAnswer,
  ToolQuestionOptions,
  TypedTool,
} from './host-tools/define.js'
export { driftGuard } from './host-tools/drift.js'
export type { DriftGuardOptions } from './host-tools/drift.js'
export { NotDataError, plainFromHost } from './host-tools/edge.js'
export { ToolError, isToolError } from './host-tools/errors.js'
export type { AnyToolError, ToolErrorData } from './host-tools/errors.js'
export { harnType } from './host-tools/harn-types.js'
export { Host } from './host-tools/host.js'
export type { HostParts } from './host-tools/host.js'
export { errorFromResponse } from './host-tools/http-errors.js'
export type { FailedResponse } from './host-tools/http-errors.js'
export { MAX_NESTING, getValue, invoke, limitOutcome } from './host-tools/invoke.js'
export type { FindTool } from './host-tools/invoke.js'
export { harnTypes, tsTypes } from './host-tools/print-types.js'
export type { HarnTypesOptions } from './host-tools/print-types.js'
export { defineProvider, toolsOf } from './host-tools/provider.js'
export type {
  ProviderCall,
  ProviderCapability,
  ToolContract,
  ToolManifest,
  ToolProvider,
  ToolProviderDefinition,
} from './host-tools/provider.js'
export { ToolRegistry, createRegistry } from './host-tools/registry.js'
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
} from './host-tools/registry.js'
export { respond, unwrapStandard } from './host-tools/response.js'
export type { ResponseFormat, StandardResponse, ValidationResponse } from './host-tools/response.js'
export { backoffDelay, retryPresets } from './host-tools/retry.js'
export { SchemaError, compileSchema, toJsonSchema } from './host-tools/schema.js'
export type { AnySchema, CompiledSchema, InputOf, JsonSchema, OutputOf, StandardSchema } from './host-tools/schema.js'
export { StubTools, stubTools } from './host-tools/stub.js'
export type { StubAnswer, StubbedCall } from './host-tools/stub.js'

export { readAnswer } from './policy/answers.js'
export type { Answer } from './policy/answers.js'
export { makeApprovalScope, readApprove } from './policy/approval-options.js'
export type { ApprovalRule, Approve } from './policy/approval-options.js'
export type { ApprovalKind, ApprovalRequest } from './policy/approval-request.js'
export { SAME_POWER } from './policy/builtins.js'
export { CeilingError, intersectPolicies } from './policy/ceiling.js'
export { commandPolicyFamily } from './policy/command-policy.js'
export { policyGateFamily } from './policy/gate.js'
export { APPROVAL_SCOPES, CONSTRAINT_RULES, EFFECT_JUDGE, GRANT_CEILING, isGuarded } from './policy/grant-ceiling.js'
export type { ApprovalScope, GrantCeiling, GrantScope } from './policy/grant-ceiling.js'
export { GrantError } from './policy/grant-error.js'
export {
  findEffectFault,
  findGrantLimit,
  grantsFamily,
  readBudgetCounters,
  refuseByDefault,
  reserveModelCall,
  settleModelCall,
} from './policy/grants.js'
export type { Reservation } from './policy/grants.js'
export { guardBuiltin } from './policy/guard.js'
export { ApprovalDesk, approvalProvider } from './policy/host-approval.js'
export { BudgetMeter, makeBudgetScope } from './policy/host-budgets.js'
export type { Budget, Budgets } from './policy/host-budgets.js'
export { makeConstraintRules } from './policy/host-constraints.js'
export type { Constraint } from './policy/host-constraints.js'
export { grantScope, makeImportCeilings } from './policy/host-grants.js'
export type { ImportGrants, ToolGrants } from './policy/host-grants.js'
export { APPROVAL_KINDS, AnswerError, defineConstraint } from './policy/host.js'
export type {
  ApprovalCall,
  ApproveOptions,
  AskPerson,
  ConstraintDefinition,
  Decision,
  ImportGrant,
  ToolGrant,
} from './policy/host.js'
export { findRunLevel, isAbove, isSecurityLevel } from './policy/level-order.js'
export { disownClient, ownClient } from './policy/loop-clients.js'
export { PermissionsError, readPermissions } from './policy/permissions.js'
export { closeScopes, openScopes, policyFamily } from './policy/policy.js'
export {
  describeBeyondLevel,
  findEffectLevel,
  findIdentityLevel,
  findKindLevel,
  findStandardLevel,
} from './policy/security-level.js'
export { findPolicyMisfit } from './policy/shape.js'
export { findInstalledAnnotations, matchesGlob, rankLevel } from './policy/tool-policy.js'

export { makeHints } from './servers/hints.js'
export { chooseNumber, mcpFamily, mcpGlobal } from './servers/mcp.js'
export { mcpServeFamily } from './servers/serve.js'
export { listUndos } from './dispatch/note-state.js'
export type { UndoCall } from './dispatch/note-state.js'
