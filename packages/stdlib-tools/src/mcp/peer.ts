// What a connection knows of the server at its other end, whatever revision that speaks.

export interface PeerRequest {
  readonly method: string
  readonly params: { readonly [key: string]: unknown }
  /** By which progress is told; null when nobody listens. */
  readonly token: number | null
  readonly signal: AbortSignal
}

export interface Peer {
  readonly facts: () => {
    readonly server: unknown
    readonly capabilities: unknown
    readonly instructions: unknown
    /** The revision that both sides speak. */
    readonly protocol: string | null
  }
  /** The result; an error of the protocol has a `code`. */
  readonly request: (request: PeerRequest) => Promise<{ readonly [key: string]: unknown }>
  /** Whether the server keeps something for us that it can forget. */
  readonly hasSession: boolean
  readonly close: () => Promise<void>
}
