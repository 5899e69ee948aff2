// Runs as processes: started, signalled, awaited, cancelled, and heard, by id.

import { expect, test } from 'vitest'
import { openWorld } from '../test-support/durable-world.js'

const SOURCE = `import { runtime_pipeline_input } from "std/runtime"
import { await_signal, emit_process_event } from "std/durable"
pipeline default(task) {
  emit_process_event("begun", runtime_pipeline_input())
  let told = await_signal("go")
  emit_process_event("told", told)
  return [runtime_pipeline_input(), told]
}
pipeline other(task) { return "other" }`

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    ({ code }: { readonly code: string }) => code,
  )

test('start, signal, await, events', async () => {
  const world = await openWorld()
  const { runtime, worker } = world.open({})
  const { processes } = worker
  const module = runtime.compile(SOURCE)
  const id = await processes.start({ module, input: 1, runId: 'p' })
  expect(id).toBe('p')
  const heard = (async () => {
    const found: unknown[] = []
    for await (const { sequence, type, payload } of processes.events('p')) found.push([sequence, type, payload])
    return found
  })()
  await processes.signal('p', 'go', { by: 'Ada' })
  expect(await processes.await('p')).toMatchObject({ status: 'done', value: [1, { by: 'Ada' }] })
  expect(await heard).toEqual([
    [1, 'begun', 1],
    [2, 'told', { by: 'Ada' }],
  ])
  expect(await codeOf(processes.signal('p', 'go'))).toBe('process_already_terminal')
  expect(await codeOf(processes.cancel('p'))).toBe('process_already_terminal')
  const other = await processes.start({ module, entry: 'other' })
  expect(await processes.await(other)).toMatchObject({ value: 'other' })
  expect(await codeOf(processes.start({ module, entry: 'none' }))).toBe('invalid_args')
  await worker.stop()
})

test('cancel, and unknown runs', async () => {
  const world = await openWorld()
  const { runtime, worker } = world.open({})
  const { processes } = worker
  await processes.start({ module: runtime.compile(SOURCE), runId: 'p' })
  await processes.cancel('p', 'enough')
  expect(await processes.await('p')).toMatchObject({ status: 'cancelled', error: 'enough' })
  const works = [
    () => processes.await('q'),
    () => processes.signal('q', 'go'),
    () => processes.cancel('q'),
    () => processes.status('q'),
  ]
  for (const work of works) expect(await codeOf(work())).toBe('process_not_visible')
  await worker.stop()
})
