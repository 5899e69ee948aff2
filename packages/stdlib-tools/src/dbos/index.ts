// `@bridle/stdlib-tools/dbos`: durable runs on DBOS, in the Postgres database that an application has already. Needs `@dbos-inc/dbos-sdk`, which is an
// optional peer.

export { openDbosStore } from './dbos-store.js'
export type { DbosStoreOptions } from './dbos-store.js'
export { dbosRuns } from './runs.js'
export type { DbosRun, DbosRuns, DbosRunsOptions } from './runs.js'
