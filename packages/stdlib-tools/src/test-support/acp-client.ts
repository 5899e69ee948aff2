// A client of the official SDK of the Agent Client Protocol, for tests: handlers by method, and the requests that tests make.

import { client, ndJsonStream } from '@agentclientprotocol/sdk'
import type {
  AgentRequestMethod,
  AgentRequestParamsByMethod,
  AgentRequestResponsesByMethod,
  ClientConnection,
  ClientRequestHandlersByMethod,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionNotification,
} from '@agentclientprotocol/sdk'
import { Readable, Writable } from 'node:stream'

type Handled =
  | 'fs/read_text_file'
  | 'fs/write_text_file'
  | 'elicitation/create'
  | `terminal/${'create' | 'output' | 'release' | 'wait_for_exit' | 'kill'}`

type ParamsOf<Method extends Handled> = Parameters<ClientRequestHandlersByMethod[Method]>[0]['params']
type AnswerOf<Method extends Handled> = Awaited<ReturnType<ClientRequestHandlersByMethod[Method]>>

export interface AcpTestClient {
  readonly requestPermission: (asked: RequestPermissionRequest) => Promise<RequestPermissionResponse>
  readonly sessionUpdate: (told: SessionNotification) => void
  /** Methods that the protocol does not have. */
  readonly extMethod: (method: string, params: unknown) => Promise<unknown>
  readonly extNotification?: (method: string) => void
  /** Requests of the protocol that this client answers. */
  readonly answers?: { readonly [Method in Handled]?: (params: ParamsOf<Method>) => Promise<AnswerOf<Method>> }
}

export interface AcpTestConnection {
  readonly request: <Method extends AgentRequestMethod>(
    method: Method,
    params: AgentRequestParamsByMethod[Method],
    signal?: AbortSignal,
  ) => Promise<AgentRequestResponsesByMethod[Method]>
  readonly cancel: (sessionId: string) => Promise<void>
  readonly connection: ClientConnection
}

/** Over what the agent reads and what it writes. */
export function connectAcpClient(toAgent: Writable, fromAgent: Readable, given: AcpTestClient): AcpTestConnection {
  const app = client({ name: 'test' })
    .onRequest('session/request_permission', ({ params }) => given.requestPermission(params))
    .onNotification('session/update', ({ params }) => given.sessionUpdate(params))
  for (const [method, answer] of Object.entries(given.answers ?? {}))
    // The table says which parameters belong to which method.
    app.onRequest(method as Handled, (({ params }: { readonly params: never }) => answer(params)) as never)
  app
    .onRequest('*', ({ method, params }) => given.extMethod(method, params))
    // The fallback hears of known notifications, too.
    .onNotification('*', ({ method }) => {
      if (method !== 'session/update') given.extNotification?.(method)
    })
  const connection = app.connect(
    ndJsonStream(Writable.toWeb(toAgent) as WritableStream<Uint8Array>, Readable.toWeb(fromAgent) as ReadableStream<Uint8Array>),
  )
  return {
    request: (method, params, signal) =>
      connection.agent.request(method, params, signal === undefined ? {} : { cancellationSignal: signal }),
    cancel: (sessionId) => connection.agent.notify('session/cancel', { sessionId }),
    connection,
  }
}
