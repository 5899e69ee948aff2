// The door of this room: what other rooms use. They import the files that are named here; types may come from here (scripts/doors.ts).

export { HAS_INBOX } from './loop/inbox.js'
export { agentLoopFamily } from './loop/loop.js'
export { agentStateFamily } from './loop/state.js'

export { enrichmentFamily } from './models/enrichment.js'
export { llmFamily } from './models/llm.js'
export { modelFixtures } from './models/mock.js'
export { PIECE_LISTENER } from './models/told-pieces.js'
export type { ModelDelta, ModelPiece, PieceListener } from './models/told-pieces.js'
export { reviewFamily } from './models/review.js'

export { hitlFamily } from './people/hitl.js'
export { monitorsFamily } from './people/monitors.js'
export { waitpointsFamily } from './people/waitpoints.js'
export { durableFamily } from './workflows/durable.js'

export { sessionsFamily } from './sessions/sessions.js'

export { skillsFamily } from './skills/skills.js'

export { artifactsFamily } from './transcripts/artifacts.js'
export { compactionFamily } from './transcripts/compaction.js'
export { evalPacksFamily } from './transcripts/eval-packs.js'
export { frictionFamily } from './transcripts/friction.js'
export { handoffFamily } from './transcripts/handoff.js'
export { transcriptsFamily } from './transcripts/transcripts.js'

export { runtimeContextFamily } from './workers/runtime-context.js'
export { subAgentsFamily } from './workers/sub-agents.js'
export { supervisorFamily } from './workers/supervisor.js'
export { daemonsFamily } from './workers/daemons.js'
export { workersFamily } from './workers/workers.js'

export { workflowsFamily } from './workflows/workflows.js'
export { listCronTicks } from './triggers/cron.js'
export { SIGNATURE_VARIANTS, readDeliveryKey, verifySignature } from './triggers/signatures.js'
export type { SignatureVariant, SignedRequest, Verification, VerificationOptions } from './triggers/signatures.js'
export { triggersFamily } from './triggers/triggers.js'
export { workflowMessagesFamily } from './workflows/mailbox.js'
