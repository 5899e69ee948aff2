// `@bridle/stdlib-tools/restate`: durable runs on a Restate server, on as many machines as it has workers. Needs `@restatedev/restate-sdk`, which is
// an optional peer.

export { restateRuns } from './objects.js'
export type { RestateRunsOptions, SubmittedRun } from './objects.js'
export { RestateStore } from './restate-store.js'
export type { RestateStoreOptions } from './restate-store.js'
