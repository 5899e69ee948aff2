// `@bridle/stdlib-tools/restate`: durable runs on a Restate server, on as many machines as it has workers. Needs `@restatedev/restate-sdk`, which is
// an optional peer.

export { restateRuns } from './objects.js'
export type { RestateRunsOptions, SubmittedRun } from './objects.js'
export { RestateStore, parseRestateUrl } from './restate-store.js'
export type { RestateStoreOptions } from './restate-store.js'
export { startRestateWorker } from './restate-worker.js'
export type { RestateWorker, RestateWorkerOptions } from './restate-worker.js'
