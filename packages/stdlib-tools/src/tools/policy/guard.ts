// What stands around every builtin that a policy can refuse. Apart from the policies (tool-policy.ts), which few runs install: the command
// loads them with the first call under one.

import { findInnermostScope } from '../../library/task-scopes.js'
import { withRun } from '@bridle/vm/families'
import type { BuiltinDef } from '@bridle/vm/families'
import { findNeeds } from './builtins.js'
import { isLoopClient } from './loop-clients.js'
import { refuseBuiltin } from './tool-policy.js'

/** The definition with the check of the installed policy in front, for builtins that need something. */
export function guardBuiltin(def: BuiltinDef): BuiltinDef {
  if (def.receiver !== null || findNeeds(def.name) === null) return def
  return withRun(
    def,
    (ctx, ...args) =>
      (findInnermostScope(ctx, 'ceilings') === null || isLoopClient(ctx, args[0]) ? null : refuseBuiltin(ctx, def.name)) ??
      def.run(ctx, ...args),
  )
}
