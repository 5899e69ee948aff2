// Runnable tasks in the order in which they run. Removing the first element of an array moves all others, which takes
// seconds for tens of thousands of tasks. Here the index of the first moves, and from time to time the entries before it are removed.

import type { Task } from './task.js'

/** Entries before the first that are not worth removing. */
const FEW = 1024

export class TaskQueue {
  private tasks: Task[] = []
  private head = 0

  /** The running task. */
  get first(): Task | undefined {
    return this.tasks[this.head]
  }

  get length(): number {
    return this.tasks.length - this.head
  }

  push(task: Task): void {
    this.tasks.push(task)
  }

  /** Removes the first task. */
  shift(): void {
    this.head++
    if (this.head === this.tasks.length) this.clear()
    else if (this.head > FEW && 2 * this.head > this.tasks.length) {
      this.tasks = this.tasks.slice(this.head)
      this.head = 0
    }
  }

  /** Removes a task; does nothing when it is not in the queue. */
  remove(task: Task): void {
    const at = this.tasks.indexOf(task, this.head)
    if (at === this.head) this.shift()
    else if (at > 0) this.tasks.splice(at, 1)
  }

  /** All tasks, for a snapshot. */
  begin(tasks: Task[]): void {
    this.tasks = tasks
    this.head = 0
  }

  clear(): void {
    this.tasks = []
    this.head = 0
  }

  list(): Task[] {
    return this.tasks.slice(this.head)
  }
}
