import { expect, test } from 'vitest'
import { SchedulerPolicy } from './scheduler.js'
import type { JobState } from './jobs.js'

function makeJob(
  id: number,
  tenant: string | null,
  { priority = 'normal', at = id }: { priority?: string; at?: number } = {},
): JobState {
  const event = { id: `event-${id}`, tenant_id: tenant }
  return {
    id,
    job: {
      queue: 'q',
      trigger_id: 't',
      binding_key: 't@v1',
      binding_version: 1,
      event,
      replay_of_event_id: null,
      priority,
    },
    enqueuedAt: at,
    claims: [],
    isAcked: false,
    isPurged: false,
  }
}

function drain(policy: SchedulerPolicy, jobs: readonly JobState[], now = 100): readonly number[] {
  const left = [...jobs]
  const order: number[] = []
  for (;;) {
    const next = policy.choose(left, [], now)
    if (next === null) return order
    order.push(next.id)
    left.splice(left.indexOf(next), 1)
  }
}

test('the oldest of the highest priority is first; a normal job that waited long is promoted', () => {
  const jobs = [makeJob(1, null, { priority: 'low' }), makeJob(2, null), makeJob(3, null, { priority: 'high' })]
  expect(drain(new SchedulerPolicy({}), jobs)).toEqual([3, 2, 1])
  expect(drain(new SchedulerPolicy({}), jobs, 20 * 60_000)).toEqual([2, 3, 1])
})

test('fair shares rotate among the tenants, by weight', () => {
  const jobs = [1, 2, 3, 4].map((id) => makeJob(id, 'a')).concat([5, 6].map((id) => makeJob(id, 'b')))
  const env = { HARN_SCHEDULER_STRATEGY: 'drr' }
  expect(drain(new SchedulerPolicy(env), jobs)).toEqual([1, 5, 2, 6, 3, 4])
  expect(drain(new SchedulerPolicy({ ...env, HARN_SCHEDULER_WEIGHTS: 'a:2' }), jobs)).toEqual([1, 2, 5, 3, 4, 6])
})

test('a key with too many jobs in progress waits', () => {
  const policy = new SchedulerPolicy({ HARN_SCHEDULER_STRATEGY: 'drr', HARN_SCHEDULER_MAX_CONCURRENT_PER_KEY: '1' })
  expect(policy.choose([makeJob(1, 'a'), makeJob(2, 'b')], [makeJob(3, 'a')], 100)?.id).toBe(2)
  expect(policy.choose([makeJob(1, 'a')], [makeJob(3, 'a')], 100)).toBe(null)
})
