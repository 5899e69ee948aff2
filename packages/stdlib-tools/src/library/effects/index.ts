// The door of the effects: which kinds there are, what they carry and what they make use of.

export * from './effects.js'
export { isServerAddress } from './uses.js'
export type { FurtherPower, Use, UsesOf } from './uses.js'
export { describeModelOptionsProblem, findUnknownModelOption, withModelOptions } from './model-options.js'
export type * from './records.js'
export type * from './reports.js'
export type * from './tool-records.js'
