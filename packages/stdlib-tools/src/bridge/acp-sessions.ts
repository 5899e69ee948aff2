// Sessions of an agent that outlive its process: their ids and conversations. A client that comes back loads a
// session by its id and receives the conversation again (`session/load`).

/** One prompt and what came of it. */
export interface AcpTurn {
  readonly prompt: string
  /** All that the script printed. */
  readonly said: string
  /** null: the process ended during the turn. */
  readonly stopReason: 'completed' | 'cancelled' | 'failed' | null
}

export interface AcpSessionRecord {
  readonly id: string
  readonly cwd: string
  /** The session that it was forked from. */
  readonly parent: string | null
  /** How many of its parent's turns it began with; null: all of them. */
  readonly branchedAt: number | null
  readonly title: string | null
  readonly turns: readonly AcpTurn[]
  /** When it was last written, in the form of ISO 8601; absent in records of older versions. */
  readonly updatedAt?: string | null | undefined
}

/** Where records are kept. Implementations replace a record whole: a crash leaves the old or the new one. */
export interface AcpSessionStore {
  readonly save: (record: AcpSessionRecord) => void
  /** null when there is none, or none that can be read. */
  readonly load: (id: string) => AcpSessionRecord | null
  readonly list: () => readonly AcpSessionRecord[]
  /** A session that is not there is no failure. A store without it offers clients no `session/delete`. */
  readonly delete?: (id: string) => void
}

/** The updates that tell a conversation again, in order. */
export function makeReplay(record: AcpSessionRecord): readonly { readonly [key: string]: unknown }[] {
  return record.turns.flatMap(({ prompt, said }) => [
    { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: prompt } },
    ...(said === '' ? [] : [{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: said } }]),
  ])
}
