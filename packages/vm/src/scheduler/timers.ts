// Due events: deadlines, waits with a limit, and the grace period of cancelled tasks. Pure: the machine decides when to call this, and acts.

import type { Deadline, Task } from './task.js'

export interface DueEvent {
  readonly due: number
  readonly task: Task
  /** An event of a waiting task is void once another one has made it runnable. */
  readonly wasWaiting: boolean
  readonly kind: 'deadline' | 'cancelled' | 'timeout'
  readonly deadline: Deadline | null
}

/** Everything due by `now`, by due time, then by how long the task has waited. */
export function listDueEvents(waiting: Iterable<Task>, ready: Iterable<Task>, now: number): DueEvent[] {
  const events: DueEvent[] = []
  const collect = (task: Task, wasWaiting: boolean): void => {
    const deadline = task.deadlines.find((each) => each.dueMs <= now && !each.fired)
    if (deadline !== undefined) events.push({ due: deadline.dueMs, task, wasWaiting, kind: 'deadline', deadline })
    if (!wasWaiting) return
    if (task.cancelDue !== null && task.cancelDue <= now)
      events.push({ due: task.cancelDue, task, wasWaiting, kind: 'cancelled', deadline: null })
    if (task.waitDue !== null && task.waitDue <= now)
      events.push({ due: task.waitDue, task, wasWaiting, kind: 'timeout', deadline: null })
  }
  for (const task of waiting) collect(task, true)
  for (const task of ready) collect(task, false)
  return events.sort((a, b) => a.due - b.due || a.task.waitOrder - b.task.waitOrder)
}

/** When a waiting task has something to do without an outcome; null when never. */
export function findTaskDue(task: Task): number | null {
  let due = task.waitDue
  if (task.cancelDue !== null && (due === null || task.cancelDue < due)) due = task.cancelDue
  for (const deadline of task.deadlines) if (!deadline.fired && (due === null || deadline.dueMs < due)) due = deadline.dueMs
  return due
}
