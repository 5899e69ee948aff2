// Runnable tasks in the order in which they run. Taking the first out of an array moves all others when they are many, which tens of
// thousands of them would pay for with seconds; here the place of the first moves, and now and then those in front of it go.

import type { Task } from './task.js'

/** Places in front of the first that are not worth closing up. */
const FEW = 1024

export class TaskQueue {
  private tasks: Task[] = []
  private head = 0

  /** The one that runs. */
  get first(): Task | undefined {
    return this.tasks[this.head]
  }

  get length(): number {
    return this.tasks.length - this.head
  }

  push(task: Task): void {
    this.tasks.push(task)
  }

  /** Takes the first out. */
  shift(): void {
    this.head++
    if (this.head === this.tasks.length) this.clear()
    else if (this.head > FEW && 2 * this.head > this.tasks.length) {
      this.tasks = this.tasks.slice(this.head)
      this.head = 0
    }
  }

  /** Takes a task out; nothing happens when it is not in here. */
  remove(task: Task): void {
    const at = this.tasks.indexOf(task, this.head)
    if (at === this.head) this.shift()
    else if (at > 0) this.tasks.splice(at, 1)
  }

  /** All of them, of a snapshot. */
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
