// The door of this room for other rooms, beside `index.ts`, which is an entry of the package (scripts/doors.ts).

export { answerFromForm, makeForm } from './elicitation.js'
export { lazyMcpProvider } from './lazy.js'
export { killGroup, spawnFailure } from './process-group.js'
export { findProgramFile, isExecutable } from './program-file.js'
export { LOOPBACK, readHostName } from './http-rules.js'
export { listen } from './server-http.js'
export { matchTemplate } from './server-offers.js'
export { INVALID_PARAMS, NOT_FOUND, isObject, toJson } from './server-protocol.js'
export { makeServerTool, readListedTools } from './tools.js'
