// The door of this room for other rooms, beside `index.ts`, which is an entry of the package (scripts/doors.ts).

export { answerFromForm, makeForm } from './elicitation.js'
export { lazyMcpProvider } from './lazy.js'
export { killGroup, spawnFailure } from './process-group.js'
export { findProgramFile, isExecutable } from './program-file.js'
