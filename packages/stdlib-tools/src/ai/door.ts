// The door of this room for the gateway, beside `index.ts`, which is an entry of the package (scripts/doors.ts).

export { decodePending, memoryPendingStore } from './pending-runs.js'
export type { PendingRun, PendingStore } from './pending-runs.js'
export { primer } from './primer.js'
export type { ScriptInput, ScriptOutcome } from './script-runner.js'
export { scriptTool } from './script-tool.js'
export type { ScriptTool } from './script-tool.js'
export { renderPlain } from './shown.js'
