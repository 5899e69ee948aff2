// Executor `harn`: a tool whose body is a script. Inside a run the machine calls handlers itself, as part of the run; this
// executor is for calls that come from the host's side (a registry used without a run, a served tool): it starts a run of its
// own for the call, so the call has limits, a journal and a cancellation like any other.

import type { Plain } from '@bridle/vm'
import { plainFromHostInPieces } from '../host-tools/edge.js'
import { makeFailed, makeResult } from './executor.js'
import type { Executor } from './executor.js'
import { describeCause } from './provider.js'

/** Runs a tool's script with its arguments; rejects with the error that ended it. */
export type RunScriptTool = (args: { readonly [key: string]: Plain }, signal: AbortSignal) => Promise<unknown>

export interface ScriptTool {
  readonly run: RunScriptTool
  readonly readOnly?: boolean
}

export function makeHarnExecutor(tools: { readonly [name: string]: ScriptTool }): Executor {
  const find = (name: string): ScriptTool | null => (Object.hasOwn(tools, name) ? tools[name]! : null)
  return {
    name: 'harn',
    async call(call, { signal }) {
      const tool = find(call.tool)
      if (tool === null) return makeFailed('not_registered', `Tool '${call.tool}' has no handler`)
      try {
        return makeResult(await plainFromHostInPieces(await tool.run(call.args, signal)))
      } catch (cause) {
        if (signal.aborted) return makeFailed('cancelled', `Tool '${call.tool}' was cancelled`)
        return makeFailed('execution_failed', describeCause(cause))
      }
    },
    isReadOnly: (call) => find(call.tool)?.readOnly ?? false,
  }
}
