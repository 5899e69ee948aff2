// `@bridle/compiler/grants`: the rules of grants as pure functions over plain data, for the checker, the machine and hosts alike.
// Nothing here needs the parser.

export { domainProblem, isWideDomain, matchDomain } from './domain.js'
export { allowsPath, resolvePath } from './paths.js'
export { parseUrl } from './url.js'
export { compileWildcards, matchStars } from './wildcards.js'
export type { WildcardRules } from './wildcards.js'
export {
  DEFINABLE_EXECUTORS,
  EXECUTORS,
  executorNamed,
  executorOf,
  executorOfPlace,
  factsOfExecutor,
  findExecutorFacts,
  findIdentity,
  findSynthesis,
  impliedExecutor,
  isMarkedOutside,
  isOutside,
  isTakenByLoops,
  listAlternatives,
  quoteExecutors,
  SYNTHESIZING_EXECUTORS,
  TARGET_KEYS,
  targetOf,
} from './executors.js'
export type { CallTarget, ExecutorDemand, ExecutorName, OutsideExecutor, TargetKey } from './executors.js'
export { STANDARD_TOOL_BUILTINS } from './standard.js'
export type { StandardToolId } from './standard.js'
export { normalizeCeiling, isCeiling, isEffectName, leavesEffect } from './ceilings.js'
export type { ImportCeiling } from './ceilings.js'
export { listLevelEffects, foldKind, normalEffect } from '../effects/kinds.js'
export { satisfiesVersion } from './version.js'
export { addConstraint, checkGrant, constraintProblem, findEmptiedKey, keyKind, listPinnedArguments } from './constraints.js'
export type {
  ConstrainedCall,
  ConstraintRule,
  ConstraintRules,
  GrantArguments,
  GrantConflict,
  GrantRecord,
  GrantScalar,
  GrantValue,
  GrantViolation,
  GrantedTool,
} from './constraints.js'
