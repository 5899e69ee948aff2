// A job of a worker queue, and its state.

export interface Job {
  readonly queue: string
  readonly trigger_id: string
  readonly binding_key: string
  readonly binding_version: number
  readonly event: { readonly id: string; readonly tenant_id?: string | null; readonly [name: string]: unknown }
  readonly replay_of_event_id: string | null
  readonly priority: string
}

export interface Claim {
  readonly id: string
  readonly consumer: string
  expiresAt: number
  isReleased: boolean
}

export interface JobState {
  readonly id: number
  readonly job: Job
  readonly enqueuedAt: number
  readonly claims: Claim[]
  isAcked: boolean
  isPurged: boolean
}
