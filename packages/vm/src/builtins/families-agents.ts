// Families of agents: models, sessions, tools, policies, workers, and what serves them.
// Loaded when a script names one of them (later-families.ts).

import { agentLoopFamily } from './agent-loop.js'
import { agentStateFamily } from './agent-state.js'
import { artifactsFamily } from './artifacts.js'
import { circuitFamily } from './circuit.js'
import { commandPolicyFamily } from './command-policy.js'
import { compactionFamily } from './compaction.js'
import { evalPacksFamily } from './eval-packs.js'
import { eventLogFamily } from './event-log.js'
import { flowFamily } from './flow.js'
import { frictionFamily } from './friction.js'
import { grantsFamily } from './grants.js'
import { handoffFamily } from './handoff.js'
import { hitlFamily } from './hitl.js'
import { hooksFamily } from './hooks.js'
import { hostCallFamily } from './host-call.js'
import { hostMocksFamily } from './host-mocks.js'
import { httpServerFamily } from './http-server.js'
import { llmFamily } from './llm.js'
import { mailboxFamily } from './mailbox.js'
import { memoryFamily } from './memory.js'
import { metadataFamily } from './metadata.js'
import { microCompactFamily } from './micro-compact.js'
import { monitorsFamily } from './monitors.js'
import { planFamily } from './plan.js'
import { policyFamily } from './policy.js'
import { policyGateFamily } from './policy-gate.js'
import { postgresFamily } from './postgres.js'
import { projectFamily } from './project.js'
import { sessionsFamily } from './sessions.js'
import { skillsFamily } from './skills.js'
import { sseFamily } from './sse.js'
import { storeFamily } from './store.js'
import { subAgentsFamily } from './sub-agents.js'
import { supervisorFamily } from './supervisor.js'
import { toolDispatchFamily } from './tool-dispatch.js'
import { toolStreamsFamily } from './tool-streams.js'
import { toolDriftFamily } from './tool-drift.js'
import { toolSynthesisFamily } from './tool-synthesis.js'
import { toolsFamily } from './tools.js'
import { tracingFamily } from './tracing.js'
import { transcriptsFamily } from './transcripts.js'
import { waitpointsFamily } from './waitpoints.js'
import { websocketFamily } from './websocket.js'
import { workersFamily } from './workers.js'
import { withCharges } from './family-charges.js'
import type { BuiltinFamily } from './registry.js'

export function agentFamilies(): readonly BuiltinFamily[] {
  return withCharges([
    agentLoopFamily,
    agentStateFamily,
    artifactsFamily,
    circuitFamily,
    commandPolicyFamily,
    compactionFamily,
    evalPacksFamily,
    eventLogFamily,
    flowFamily,
    frictionFamily,
    grantsFamily,
    handoffFamily,
    hitlFamily,
    hooksFamily,
    hostCallFamily,
    hostMocksFamily,
    httpServerFamily,
    llmFamily,
    mailboxFamily,
    memoryFamily,
    metadataFamily,
    microCompactFamily,
    monitorsFamily,
    planFamily,
    policyFamily,
    policyGateFamily,
    postgresFamily,
    projectFamily,
    sessionsFamily,
    skillsFamily,
    sseFamily,
    storeFamily,
    subAgentsFamily,
    supervisorFamily,
    toolDispatchFamily,
    toolStreamsFamily,
    toolDriftFamily,
    toolSynthesisFamily,
    toolsFamily,
    tracingFamily,
    transcriptsFamily,
    waitpointsFamily,
    websocketFamily,
    workersFamily,
  ])
}
