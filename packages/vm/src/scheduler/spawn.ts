// Start and end of tasks: how one is started, what its outcome is, how it is ended from outside.

import { FewMap } from '../few-map.js'
import { HarnClosure } from '../values/callable.js'
import { makeChildrenKey, makeTaskKey } from '../builtins/builtin.js'
import { popNative } from '../interpreter/activations.js'
import { makeAdapterClosure } from '../interpreter/adapter.js'
import { placeArguments } from '../interpreter/frames.js'
import { findNarrowedCaller } from '../interpreter/place.js'
import { IMPORT_SCOPES } from '../builtins/import-scopes.js'
import { HarnBuiltin } from '../values/callable.js'
import { HarnList } from '../values/list.js'
import { Coroutine, NativeActivation, Task } from './task.js'
import { endTaskSpan, forgetEffect, wake } from './transitions.js'
import type { SpawnOptions, TaskFacts, TaskOutcome } from '../builtins/builtin.js'
import type { Deadline } from './task.js'
import type { Machine } from '../interpreter/machine.js'
import type { Value } from '../values/value.js'

/** Starts a task that runs when the current one next waits. It inherits context values and running deadlines. */
/** Heap units: a task has registers, a record and an entry in the order of tasks. */
const UNITS_A_TASK = 32
const HEAP_A_TASK = 512

export function spawnTask(
  machine: Machine,
  callee: HarnClosure | HarnBuiltin,
  args: readonly Value[],
  options: SpawnOptions,
): number {
  const parent = machine.running
  const id = machine.nextTask++
  machine.charge(UNITS_A_TASK, HEAP_A_TASK)
  if (machine.tasks.size >= machine.limits.tasks)
    machine.hitLimit('tasks', `too many tasks: the limit is ${machine.limits.tasks}`)
  const closure = callee instanceof HarnClosure ? callee : makeAdapterClosure(machine, callee.name, args, [])
  const coroutine = new Coroutine(null)
  coroutine.begin(closure, callee instanceof HarnClosure ? args : [], placeArguments)
  const task = new Task(id, parent, coroutine, {
    taskId: options.taskId ?? `${parent.taskId}:spawn:${++parent.spawned}`,
    name: options.name ?? 'spawn',
    group: options.group ?? null,
  })
  task.values = new FewMap(parent.values)
  task.fields = new FewMap(parent.fields)
  if (machine.program.isNarrowed && (callee instanceof HarnBuiltin || callee.code.module.isLibrary)) {
    const starter = findNarrowedCaller(parent)
    const outer = task.fields.get(IMPORT_SCOPES)
    if (starter !== null)
      task.fields.set(IMPORT_SCOPES, new HarnList([...(outer instanceof HarnList ? outer.view() : []), starter.key]))
  }
  task.groups = parent.groups
  task.deadlines = parent.deadlines.map((deadline): Deadline => ({
    dueMs: deadline.dueMs,
    coroutine,
    fp: -1,
    fired: deadline.fired,
  }))
  machine.options.spans?.({
    at: 'begin',
    work: 'task',
    id: `task_${id}`,
    name: task.name,
    task: id,
    parentTask: parent.id,
    ms: machine.now,
    facts: { task_id: task.taskId },
  })
  machine.tasks.set(id, task)
  machine.queue.push(task)
  return id
}

export function makeTaskFacts(machine: Machine, task: Task): TaskFacts {
  return new Facts(machine, task)
}

/** Computed on request: the facts are read for every guarded builtin and tool call, usually only one of them. */
class Facts implements TaskFacts {
  private readonly machine: Machine
  private readonly task: Task

  constructor(machine: Machine, task: Task) {
    this.machine = machine
    this.task = task
  }

  get taskId(): string {
    return this.task.taskId
  }

  get parentId(): string | null {
    return this.task.parentTaskId
  }

  get rootId(): string {
    return this.task.rootTaskId
  }

  get name(): string {
    return this.task.name
  }

  get group(): string | null {
    return this.task.group
  }

  get cancelled(): boolean {
    return this.task.cancelRequested
  }

  get spawned(): number {
    return this.task.spawned
  }

  get unawaited(): readonly number[] {
    const own = `${this.task.taskId}:spawn:`
    return [...this.machine.tasks.values()]
      .filter((each) => each.parent === this.task.id && each.taskId.startsWith(own))
      .map((each) => Number(each.taskId.slice(own.length)))
  }

  get values(): TaskFacts['values'] {
    return this.task.values
  }

  get fields(): TaskFacts['fields'] {
    return this.task.fields
  }
}

export function isAlive(task: Task): boolean {
  return task.status === 'ready' || task.status === 'waiting'
}

export function readTaskOutcome(machine: Machine, id: number): TaskOutcome {
  const task = machine.tasks.get(id)
  if (task === undefined || task.status === 'cancelled') return { kind: 'aborted' }
  switch (task.status) {
    case 'done':
      return { kind: 'done', value: task.result, output: task.output.join('') }
    case 'failed':
      return { kind: 'failed', fault: task.fault!, output: task.output.join('') }
    default:
      return { kind: 'running' }
  }
}

/** Ends a task at once; native frames leave as they would on a fault, tasks that it started end with it. */
export function abortTask(machine: Machine, id: number): void {
  const task = machine.tasks.get(id)
  if (task === undefined || !isAlive(task)) return
  for (const child of machine.tasks.values()) if (child.parent === id) abortTask(machine, child.id)
  const before = machine.running
  machine.running = task
  for (let co: Coroutine | null = task.current; co !== null; co = co.resumer) {
    task.current = co
    while (co.fp >= 0) {
      if (co.frames[co.fp] instanceof NativeActivation) popNative(machine, task)
      else {
        co.fp--
        co.base = co.fp < 0 ? 0 : co.bases[co.fp]!
      }
    }
  }
  machine.running = before
  task.current = new Coroutine(null)
  machine.waits.leave(task)
  task.status = 'cancelled'
  endTaskSpan(machine, task, 'cancelled')
  task.deadlines = []
  forgetEffect(machine, task)
  task.waitKey = null
  task.waitDue = null
  task.delivery = null
  if (task !== before || machine.queue.first !== task) machine.queue.remove(task)
  wake(machine, makeTaskKey(id))
  wake(machine, makeChildrenKey(task.parent))
}
