// Families of agents: models, sessions, tools, policies, workers, and what serves them.
// Loaded when a script names one of them (later-families.ts).

import { mailboxFamily, withCharges } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm/families'
import { agentLoopFamily } from '../../agents/loop/loop.js'
import { agentStateFamily } from '../../agents/loop/state.js'
import { artifactsFamily } from '../../agents/transcripts/artifacts.js'
import { circuitFamily } from '../../tools/dispatch/circuit.js'
import { commandPolicyFamily } from '../../tools/policy/command-policy.js'
import { compactionFamily } from '../../agents/transcripts/compaction.js'
import { evalPacksFamily } from '../../agents/transcripts/eval-packs.js'
import { eventLogFamily } from '../../library/logging/event-log.js'
import { flowFamily } from '../../library/flow/flow.js'
import { frictionFamily } from '../../agents/transcripts/friction.js'
import { grantsFamily } from '../../tools/policy/grants.js'
import { handoffFamily } from '../../agents/transcripts/handoff.js'
import { hitlFamily } from '../../agents/people/hitl.js'
import { hooksFamily } from '../../tools/dispatch/hooks.js'
import { hostCallFamily } from '../../tools/dispatch/host-call.js'
import { hostMocksFamily } from '../../tools/dispatch/host-mocks.js'
import { httpServerFamily } from '../../library/http/server.js'
import { llmFamily } from '../../agents/models/llm.js'
import { memoryFamily } from '../../library/files/memory.js'
import { metadataFamily } from '../../library/files/metadata.js'
import { microCompactFamily } from '../../tools/dispatch/micro-compact.js'
import { enrichmentFamily } from '../../agents/models/enrichment.js'
import { reviewFamily } from '../../agents/models/review.js'
import { visionFamily } from '../../library/processes/vision.js'
import { monitorsFamily } from '../../agents/people/monitors.js'
import { planFamily } from '../../tools/definitions/plan.js'
import { policyFamily } from '../../tools/policy/policy.js'
import { policyGateFamily } from '../../tools/policy/gate.js'
import { postgresFamily } from '../../library/databases/postgres.js'
import { projectFamily } from '../../library/project/project.js'
import { secretsFamily } from '../../library/logging/secret-scan.js'
import { sessionsFamily } from '../../agents/sessions/sessions.js'
import { skillsFamily } from '../../agents/skills/skills.js'
import { sseFamily } from '../../library/http/sse.js'
import { storeFamily } from '../../library/files/store.js'
import { subAgentsFamily } from '../../agents/workers/sub-agents.js'
import { supervisorFamily } from '../../agents/workers/supervisor.js'
import { toolDispatchFamily } from '../../tools/dispatch/dispatch.js'
import { toolStreamsFamily } from '../../tools/dispatch/streams.js'
import { toolDriftFamily } from '../../tools/dispatch/drift.js'
import { toolSynthesisFamily } from '../../tools/definitions/synthesis.js'
import { toolsFamily } from '../../tools/definitions/tools.js'
import { tracingFamily } from '../../library/logging/tracing.js'
import { transcriptsFamily } from '../../agents/transcripts/transcripts.js'
import { triggersFamily } from '../../agents/triggers/triggers.js'
import { waitpointsFamily } from '../../agents/people/waitpoints.js'
import { websocketFamily } from '../../library/http/websocket.js'
import { daemonsFamily } from '../../agents/workers/daemons.js'
import { workersFamily } from '../../agents/workers/workers.js'
import { workflowMessagesFamily } from '../../agents/workflows/mailbox.js'
import { durableFamily } from '../../agents/workflows/durable.js'
import { workflowsFamily } from '../../agents/workflows/workflows.js'
import { withOptionShapes } from './option-shapes.js'

export function makeAgentFamilies(): readonly BuiltinFamily[] {
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
    enrichmentFamily,
    reviewFamily,
    visionFamily,
    secretsFamily,
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
    triggersFamily,
    waitpointsFamily,
    websocketFamily,
    workersFamily,
    daemonsFamily,
    workflowMessagesFamily,
    durableFamily,
    workflowsFamily,
  ]).map(withOptionShapes)
}
