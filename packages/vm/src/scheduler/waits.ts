// Which tasks wait, and which of them are parked on which key. Derived from the tasks themselves, so that it is in no snapshot:
// a restored machine adds its waiting tasks again, longest first.

import { FewMap } from '../few-map.js'
import { findTaskDue } from './timers.js'
import type { Task } from './task.js'

export class Waits {
  private readonly tasks = new FewMap<Task, Task>()
  /** Created with the first entry: ten thousand machines that wait for an outcome have none. */
  private parked: Map<string, Set<Task>> | null = null

  get size(): number {
    return this.tasks.size
  }

  /** By `waitKey`, which must not change while the task is in the table. */
  enter(task: Task): void {
    this.tasks.set(task, task)
    if (task.waitKey === null) return
    this.parked ??= new Map()
    const line = this.parked.get(task.waitKey)
    if (line === undefined) this.parked.set(task.waitKey, new Set([task]))
    else line.add(task)
  }

  leave(task: Task): void {
    this.tasks.delete(task)
    if (task.waitKey === null || this.parked === null) return
    const line = this.parked.get(task.waitKey)
    line?.delete(task)
    if (line?.size === 0) this.parked.delete(task.waitKey)
  }

  /** Longest first. */
  [Symbol.iterator](): Iterator<Task> {
    return this.tasks.values()[Symbol.iterator]()
  }

  /** Those parked on `key`, in the order in which they parked. */
  on(key: string): readonly Task[] {
    const line = this.parked?.get(key)
    return line === undefined ? [] : [...line]
  }

  /** The earliest time at which one of them has something to do without an outcome, null without one. */
  get earliest(): number | null {
    let earliest: number | null = null
    for (const task of this.tasks.values()) {
      const due = findTaskDue(task)
      if (due !== null && (earliest === null || due < earliest)) earliest = due
    }
    return earliest
  }
}
