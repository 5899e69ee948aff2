// THE list of builtin families that belong to the language itself. Families that need a provider outside the machine are in
// @bridle/stdlib-tools; a host may add its own.

import { agentLoopFamily } from './agent-loop.js'
import { agentStateFamily } from './agent-state.js'
import { artifactsFamily } from './artifacts.js'
import { atomicsFamily } from './atomics.js'
import { bytesFamily } from './bytes.js'
import { channelsFamily } from './channels.js'
import { circuitFamily } from './circuit.js'
import { codecsFamily } from './codecs.js'
import { commandPolicyFamily } from './command-policy.js'
import { compactionFamily } from './compaction.js'
import { compressFamily } from './compress.js'
import { coreFamily } from './core.js'
import { cryptoFamily } from './crypto.js'
import { dataFormatsFamily } from './data-formats.js'
import { dictsFamily } from './dicts.js'
import { evalPacksFamily } from './eval-packs.js'
import { eventLogFamily } from './event-log.js'
import { flowFamily } from './flow.js'
import { frictionFamily } from './friction.js'
import { fsFamily } from './fs.js'
import { grantsFamily } from './grants.js'
import { handoffFamily } from './handoff.js'
import { hitlFamily } from './hitl.js'
import { hooksFamily } from './hooks.js'
import { hostCallFamily } from './host-call.js'
import { hostMocksFamily } from './host-mocks.js'
import { httpFamily } from './http.js'
import { httpServerFamily } from './http-server.js'
import { iterFamily } from './iter-methods.js'
import { jqFamily } from './jq.js'
import { jsonFamily } from './json.js'
import { listsFamily } from './lists.js'
import { llmFamily } from './llm.js'
import { loggingFamily } from './logging.js'
import { mailboxFamily } from './mailbox.js'
import { mathFamily } from './math.js'
import { memoryFamily } from './memory.js'
import { metadataFamily } from './metadata.js'
import { microCompactFamily } from './micro-compact.js'
import { monitorsFamily } from './monitors.js'
import { pathFamily } from './path.js'
import { planFamily } from './plan.js'
import { policyFamily } from './policy.js'
import { policyGateFamily } from './policy-gate.js'
import { processFamily } from './process.js'
import { projectFamily } from './project.js'
import { randomFamily } from './random.js'
import { rangesFamily } from './ranges.js'
import { regexFamily } from './regex.js'
import { resultsFamily } from './results.js'
import { runtimeContextFamily } from './runtime-context.js'
import { schemaFamily } from './schema.js'
import { sessionsFamily } from './sessions.js'
import { setsFamily } from './sets.js'
import { sharedFamily } from './shared.js'
import { skillsFamily } from './skills.js'
import { sseFamily } from './sse.js'
import { storeFamily } from './store.js'
import { streamsFamily } from './streams.js'
import { stringsFamily } from './strings.js'
import { subAgentsFamily } from './sub-agents.js'
import { supervisorFamily } from './supervisor.js'
import { syncFamily } from './sync.js'
import { tasksFamily } from './tasks.js'
import { templateFamily } from './template.js'
import { terminalFamily } from './terminal.js'
import { timeFamily } from './time.js'
import { toolDispatchFamily } from './tool-dispatch.js'
import { traceLogFamily } from './trace-log.js'
import { toolDriftFamily } from './tool-drift.js'
import { toolStreamsFamily } from './tool-streams.js'
import { toolSynthesisFamily } from './tool-synthesis.js'
import { toolsFamily } from './tools.js'
import { tracingFamily } from './tracing.js'
import { transcriptsFamily } from './transcripts.js'
import { waitpointsFamily } from './waitpoints.js'
import { websocketFamily } from './websocket.js'
import { workersFamily } from './workers.js'
import type { BuiltinFamily } from './registry.js'

const FAMILIES: readonly BuiltinFamily[] = [
  agentLoopFamily,
  agentStateFamily,
  artifactsFamily,
  atomicsFamily,
  bytesFamily,
  channelsFamily,
  circuitFamily,
  codecsFamily,
  commandPolicyFamily,
  compactionFamily,
  compressFamily,
  coreFamily,
  cryptoFamily,
  dataFormatsFamily,
  dictsFamily,
  evalPacksFamily,
  eventLogFamily,
  flowFamily,
  frictionFamily,
  fsFamily,
  grantsFamily,
  handoffFamily,
  hitlFamily,
  hooksFamily,
  hostCallFamily,
  hostMocksFamily,
  httpFamily,
  httpServerFamily,
  iterFamily,
  jqFamily,
  jsonFamily,
  listsFamily,
  llmFamily,
  loggingFamily,
  mailboxFamily,
  mathFamily,
  memoryFamily,
  metadataFamily,
  microCompactFamily,
  monitorsFamily,
  pathFamily,
  planFamily,
  policyFamily,
  policyGateFamily,
  processFamily,
  projectFamily,
  randomFamily,
  rangesFamily,
  regexFamily,
  resultsFamily,
  runtimeContextFamily,
  schemaFamily,
  sessionsFamily,
  setsFamily,
  sharedFamily,
  skillsFamily,
  sseFamily,
  storeFamily,
  streamsFamily,
  stringsFamily,
  subAgentsFamily,
  supervisorFamily,
  syncFamily,
  tasksFamily,
  templateFamily,
  terminalFamily,
  timeFamily,
  toolDispatchFamily,
  toolStreamsFamily,
  toolDriftFamily,
  traceLogFamily,
  toolSynthesisFamily,
  toolsFamily,
  tracingFamily,
  transcriptsFamily,
  waitpointsFamily,
  websocketFamily,
  workersFamily,
]

/**
 * What scripts call in their inner loops: these builtins know what they cost and charge it themselves. All others, which talk to
 * the world or keep records, are charged by the size of their arguments before they see them (charging.ts).
 */
const CHARGE_THEMSELVES: ReadonlySet<string> = new Set([
  'atomics',
  'channels',
  'core',
  'dicts',
  'flow',
  'iter',
  'json',
  'lists',
  'math',
  'random',
  'ranges',
  'results',
  'sets',
  'shared',
  'streams',
  'strings',
  'sync',
  'tasks',
  'tool-dispatch',
])

export const STANDARD_FAMILIES: readonly BuiltinFamily[] = FAMILIES.map((family) =>
  CHARGE_THEMSELVES.has(family.name) ? family : { ...family, charges: 'arguments' },
)
