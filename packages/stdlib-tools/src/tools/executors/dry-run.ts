// Executor `dry_run`: writes the call down and answers with a record that says so. Nothing happens.

import type { Plain } from '@bridle/vm'
import { makeResult } from './executor.js'
import type { Executor, ToolCall } from './executor.js'

const DRY_RUN_MESSAGE = 'dry run: the call was recorded and not made'

/** The record that stands for a result; scripts know it by `_type` and `status`. */
export function makeDryRunResult(call: {
  readonly id: string
  readonly name: string
  readonly args: Plain
  readonly sideEffect: string
  readonly description?: string
}): Plain {
  return {
    _type: 'synthesized_tool_result',
    status: 'dry_run',
    tool_id: call.id,
    name: call.name,
    description: call.description ?? '',
    args: call.args,
    capabilities: [],
    side_effect_level: call.sideEffect,
    message: DRY_RUN_MESSAGE,
  }
}

export function makeDryRunExecutor(record: (call: ToolCall) => void = () => {}): Executor {
  return {
    name: 'dry_run',
    call(call) {
      record(call)
      return makeResult(makeDryRunResult({ id: call.callId, name: call.tool, args: call.args, sideEffect: 'network' }))
    },
    isReadOnly: () => true,
  }
}
