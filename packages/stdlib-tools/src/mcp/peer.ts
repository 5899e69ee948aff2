// A connection's view of its server, for all revisions.

export interface PeerRequest {
  readonly method: string
  readonly params: { readonly [key: string]: unknown }
  /** Token of progress notifications; null without a listener. */
  readonly token: number | null
  readonly signal: AbortSignal
}

export interface Peer {
  readonly facts: () => {
    readonly server: unknown
    readonly capabilities: unknown
    readonly instructions: unknown
    /** The revision in use. */
    readonly protocol: string | null
  }
  /** The result; an error of the protocol has a `code`. */
  readonly request: (request: PeerRequest) => Promise<{ readonly [key: string]: unknown }>
  /** Whether the server keeps something for us that it can forget. */
  readonly hasSession: boolean
  readonly close: () => Promise<void>
}
