// What a run of a worker does through its store: other runs of its program, signals, what it says of itself. Each is a change that is
// committed together with what entered the run (StoreHost.link).

import { SourceFile, parse } from '@bridle/parser'
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

/** Number of events read at once. */
const MOST_EVENTS = 1000

export interface LinkParts {
  readonly runId: string
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
  runId: ownId,
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
  const prepareStart: RunLink['prepareStart'] = ({ run: runId, pipeline, input, on_parent_end: onParentEnd }) => {
    const run = runtime.prepareRun(loadPipeline(runtime, module, pipeline), { runId, input, now: now(), as: authority })
    return () => link({ do: 'start', run, onParentEnd })
  }
  return {
    start: (asked) => prepareStart(asked)(),
    prepareStart,
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
    async events(after) {
      await kept()
      const found = (await store.events?.(ownId, { after, most: MOST_EVENTS })) ?? []
      return found.map(({ sequence, type, line }) => ({ sequence, type, payload: plainFromJson(JSON.parse(line)) }))
    },
  }
}

function listPipelines(source: string): readonly string[] {
  const { program } = parse(new SourceFile('script.harn', source))
  return (program?.items ?? []).flatMap((item) => (item.kind === 'PipelineDecl' ? [item.name.text] : []))
}

/** The same program, begun with another pipeline. */
export function loadPipeline(runtime: Runtime, module: Module, pipeline: string): Module {
  const { sources } = runtime.describeProgram(module).program
  if (!listPipelines(sources.entry.text).includes(pipeline))
    throw new ToolError('invalid_args', `the program has no pipeline ${JSON.stringify(pipeline)}`)
  try {
    return runtime.loadProgram({ ...sources, pipeline })
  } catch (cause) {
    throw new ToolError('invalid_args', `the pipeline ${JSON.stringify(pipeline)} cannot be run: ${describeCause(cause)}`, {
      cause,
    })
  }
}
