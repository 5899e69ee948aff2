// What a run of a worker does through its store: other runs of its program, signals, what it says of itself. Each is a change that is
// committed together with what entered the run (StoreHost.link).

import { SIGNAL_TOKEN } from '../../tools/executors/completion-keys.js'
import type { RunLink } from '../../tools/executors/provider.js'
import { ToolError } from '../../tools/host-tools/errors.js'
import { describeCause } from '../../tools/executors/provider.js'
import { plainFromJson, plainToJson } from '../journal-codec.js'
import type { Module } from '../module.js'
import type { RunAuthority } from '../run-authority.js'
import type { Runtime } from '../runtime.js'
import { encodeAnswer } from './answers.js'
import type { DurableStore, LinkedChange, RunRow } from './store.js'

export interface LinkParts {
  readonly runtime: Runtime
  readonly store: DurableStore
  readonly module: Module
  readonly tenant: string
  /** A run that this one starts has no more. */
  readonly authority: RunAuthority | undefined
  readonly now: () => number
  readonly link: (change: LinkedChange) => void
  readonly numberEvent: () => number
  /** Resolves when what was linked so far is kept. */
  readonly kept: () => Promise<void>
  readonly again: RunLink['again']
}

export function makeRunLink({
  runtime,
  store,
  module,
  tenant,
  authority,
  now,
  link,
  numberEvent,
  kept,
  again,
}: LinkParts): RunLink {
  const find = async (runId: string): Promise<RunRow> => {
    // It may be one that this run has just started.
    await kept()
    const row = await store.get(runId)
    if (row === null || row.tenant !== tenant)
      throw new ToolError('process_not_visible', `the store has no run ${JSON.stringify(runId)} that this one may see`)
    return row
  }
  return {
    start({ run: runId, pipeline, input, on_parent_end: onParentEnd }) {
      const child = loadPipeline(runtime, module, pipeline)
      link({ do: 'start', run: runtime.prepareRun(child, { runId, input, now: now(), as: authority }), onParentEnd })
    },
    signal: (to, name, value) => link({ do: 'signal', to, token: `${SIGNAL_TOKEN}${name}`, line: encodeAnswer({ ok: value }) }),
    cancel: (to, reason) => link({ do: 'cancel', to, reason }),
    publish: (name, value) => link({ do: 'publish', name, line: JSON.stringify(plainToJson(value)) }),
    emit(type, payload) {
      const sequence = numberEvent()
      link({ do: 'emit', sequence, type, line: JSON.stringify(plainToJson(payload)) })
      return sequence
    },
    again,
    async look(runId) {
      const { state, parent = null } = await find(runId)
      return { state, parent }
    },
    async query(runId, name) {
      const said = (await find(runId)).published?.[name]
      return said === undefined ? null : plainFromJson(said)
    },
  }
}

/** The same program, begun with another pipeline. */
function loadPipeline(runtime: Runtime, module: Module, pipeline: string): Module {
  try {
    return runtime.loadProgram({ ...runtime.describeProgram(module).program.sources, pipeline })
  } catch (cause) {
    throw new ToolError('invalid_args', `the pipeline ${JSON.stringify(pipeline)} cannot be run: ${describeCause(cause)}`, {
      cause,
    })
  }
}
