// Primitives of std/durable: state of the run by key, requests to the store of the run, and errors with codes.

import { HarnDict, HarnList, builtin, display, harnBuiltin, isCallable, typeName } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Value } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'
import { findCodeRow } from '../../library/tool-errors.js'

function define(signature: string, doc: string, name: string, effects: readonly string[]): BuiltinDef {
  return harnBuiltin(signature, { doc, effects: [...effects] }, { module: 'agents/workflows/durable', function: name })
}

function makeError(code: string, message: string): HarnDict {
  return HarnDict.of({ name: 'ToolError', code, category: findCodeRow(code).category, message })
}

/** What belongs to one run in one process. */
const BOUND: ReadonlySet<string> = new Set([
  'closure',
  'function',
  'task_handle',
  'channel',
  'generator',
  'iter',
  'stream',
  'atomic',
])

function isData(value: Value): boolean {
  if (isCallable(value) || BOUND.has(typeName(value))) return false
  if (value instanceof HarnList) return value.view().every(isData)
  if (value instanceof HarnDict) return [...value.entries()].every(([, each]) => isData(each))
  return true
}

export const durableFamily: BuiltinFamily = {
  name: 'durable',
  modules: findHarnModule,
  builtins: [
    define('__durable_op(args: dict) -> dict', 'Asks whoever keeps the run for something of the run.', 'durable_op', [
      'durable.op',
    ]),
    define('__runs_op(args: dict) -> dict', 'Asks whoever keeps the run for something of other runs.', 'runs_op', ['runs.op']),
    define('__durable_get(key: string) -> any', 'State of the run by key.', 'read', []),
    define('__durable_set(key: string, value: any) -> nil', 'State of the run by key; nil takes it out.', 'write', []),
    define('__durable_millis(value: any) -> any', 'Milliseconds of a duration or number; nil for others.', 'millis', []),
    builtin(
      '__durable_error(code: string, message: string) -> dict',
      { doc: 'An error of a durable run, as it is thrown.', effects: [] },
      (_, code, message) => makeError(display(code ?? null), display(message ?? null)),
    ),
    builtin('__durable_is_data(value: any) -> bool', { doc: 'Whether the value can be kept.', effects: [] }, (_, value) =>
      isData(value ?? null),
    ),
  ],
}
