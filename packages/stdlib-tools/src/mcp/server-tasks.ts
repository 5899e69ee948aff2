// Calls that are tasks (`io.modelcontextprotocol/tasks`, SEP-2663): the request ends with the name of the task, the work continues, and the
// client asks for it. A tool says that it works in this way; whether a client can take part, each of its requests says.

import { randomUUID } from 'node:crypto'
import { describeCause } from '../tools/executors/provider.js'
import { TASKS } from './modern-wire.js'
import { INTERNAL, INVALID_PARAMS, RpcError, isObject } from './server-protocol.js'
import type { Json, JsonObject } from './server-protocol.js'
import { readCapabilities } from './server-rounds.js'
import type { CallInRounds, Caller } from './server-rounds.js'

/** How often a client should ask. */
const POLL_MS = 500

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** Whether a client takes part in tasks, as this request says. */
export function takesTasks(params: JsonObject): boolean {
  const { extensions } = readCapabilities(params)
  return isObject(extensions) && isObject(extensions[TASKS])
}

/** What a client must declare. */
export const NEEDED: JsonObject = { requiredCapabilities: { extensions: { [TASKS]: {} } } }

class Task {
  readonly id = randomUUID()
  readonly client: string | null
  private readonly call: CallInRounds
  private readonly ttlMs: number
  private readonly createdAt = new Date().toISOString()
  private updatedAt = this.createdAt
  private status: Status = 'working'
  private outcome: JsonObject = {}
  private wake: () => void = () => {}

  constructor(call: CallInRounds, ttlMs: number) {
    this.call = call
    this.client = call.client
    this.ttlMs = ttlMs
  }

  async work(caller: Caller): Promise<void> {
    try {
      for (;;) {
        const result = await this.call.go(caller)
        if (result !== null) return this.turn('completed', { result: { resultType: 'complete', ...result } })
        this.turn('input_required')
        await new Promise<void>((resolve) => (this.wake = resolve))
      }
    } catch (cause) {
      const { code, message, data } =
        cause instanceof RpcError ? cause : { code: INTERNAL, message: describeCause(cause), data: undefined }
      this.turn('failed', { error: { code, message, ...(data === undefined ? {} : { data }) } })
    }
  }

  /** As it goes to the client that made it, and with what it has come to. */
  describe(): { readonly facts: JsonObject; readonly outcome: JsonObject } {
    const { id, status, createdAt, updatedAt, ttlMs } = this
    const facts = { taskId: id, status, createdAt, lastUpdatedAt: updatedAt, ttlMs, pollIntervalMs: POLL_MS }
    return { facts, outcome: status === 'input_required' ? { inputRequests: this.call.listQuestions() } : this.outcome }
  }

  /** Throws RpcError if an answer is invalid. */
  update(answers: Json | undefined): void {
    if (this.hasEnded) return
    this.call.takeAnswers(answers ?? {})
    if (this.status !== 'input_required' || Object.keys(this.call.listQuestions()).length > 0) return
    this.turn('working')
    this.wake()
  }

  cancel(): void {
    this.turn('cancelled')
    this.call.abort('the client cancelled the task')
    this.wake()
  }

  private get hasEnded(): boolean {
    return this.status === 'completed' || this.status === 'failed' || this.status === 'cancelled'
  }

  private turn(status: Status, outcome: JsonObject = {}): void {
    if (this.hasEnded) return
    this.status = status
    this.outcome = outcome
    this.updatedAt = new Date().toISOString()
  }
}

interface Kept {
  readonly task: Task
  readonly until: ReturnType<typeof setTimeout>
}

export class ServerTasks {
  private readonly tasks = new Map<string, Kept>()
  private readonly most: number
  private readonly ttlMs: number

  constructor(most: number, ttlMs: number) {
    this.most = most
    this.ttlMs = ttlMs
  }

  /** The result of the request that begins the task. */
  begin(call: CallInRounds, caller: Caller, onEnd: () => void): JsonObject {
    if (this.tasks.size >= this.most) {
      call.abort('there are too many tasks')
      throw new RpcError(INTERNAL, 'there are too many tasks')
    }
    const task = new Task(call, this.ttlMs)
    this.tasks.set(task.id, { task, until: setTimeout(() => this.drop(task.id), this.ttlMs).unref() })
    void task.work(caller).finally(onEnd)
    return { resultType: 'task', ...task.describe().facts }
  }

  /** Throws RpcError for a task that this client does not have. */
  answer(method: string, params: JsonObject, client: string | null): JsonObject {
    const { taskId } = params
    const task = typeof taskId === 'string' ? this.tasks.get(taskId)?.task : undefined
    if (task === undefined || task.client !== client) throw new RpcError(INVALID_PARAMS, `Unknown task: ${String(taskId ?? '')}`)
    switch (method) {
      case 'tasks/update':
        task.update(params['inputResponses'])
        return {}
      case 'tasks/cancel':
        task.cancel()
        return {}
      default: {
        const { facts, outcome } = task.describe()
        return { ...facts, ...outcome }
      }
    }
  }

  close(): void {
    for (const id of [...this.tasks.keys()]) this.drop(id)
  }

  private drop(id: string): void {
    const kept = this.tasks.get(id)
    this.tasks.delete(id)
    if (kept === undefined) return
    clearTimeout(kept.until)
    kept.task.cancel()
  }
}
