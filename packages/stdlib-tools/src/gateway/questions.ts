// What the servers behind a gateway ask: models (sampling), people (elicitation), folders (roots). It goes to the client of the gateway as far as that
// declared that it answers; what it did not declare is not declared to the servers, so that they see the client as it is.

import type { Plain } from '@bridle/vm'
import { RpcError, isObject, toJson } from '../mcp/server-protocol.js'
import type { JsonObject, RequestScope } from '../mcp/server-protocol.js'
import type { McpServerRequestHandler } from '../mcp/server-requests.js'

const METHODS = [
  ['sampling/createMessage', 'sampling'],
  ['elicitation/create', 'elicitation'],
  ['roots/list', 'roots'],
] as const

const INTERNAL_ERROR = -32603

export class ClientQuestions {
  private readonly hide: (data: JsonObject) => JsonObject
  /** Requests of the client that are being answered: a question to it belongs to one of them. */
  private readonly scopes = new Set<RequestScope>()

  /** `hide` takes secrets out of what a server says: it may know values that the gateway filled in. */
  constructor(hide: (data: JsonObject) => JsonObject) {
    this.hide = hide
  }

  async during<T>(scope: RequestScope, work: () => Promise<T>): Promise<T> {
    this.scopes.add(scope)
    try {
      return await work()
    } finally {
      this.scopes.delete(scope)
    }
  }

  /** For a server that is being connected. */
  makeHandlers(server: string): { readonly [method: string]: McpServerRequestHandler } {
    const capabilities = this.findScope()?.client.capabilities ?? {}
    return Object.fromEntries(
      METHODS.filter(([, feature]) => capabilities[feature] !== undefined).map(([method]) => [
        method,
        (params: Plain) => this.ask(server, method, params),
      ]),
    )
  }

  private async ask(server: string, method: string, params: Plain): Promise<{ readonly [key: string]: unknown }> {
    // The protocol does not say for which call a server asks: the latest one is as good as any.
    const scope = this.findScope()
    if (scope === undefined)
      throw new RpcError(INTERNAL_ERROR, `server ${server} asks ${method} while no request of the client is being answered`)
    const given = toJson(params)
    const asked = this.hide(isObject(given) ? given : {})
    // The person must know who asks: questions of servers are prefixed with the server's name, those of the gateway are not.
    return scope.client.request(
      method,
      method === 'elicitation/create' ? { ...asked, message: `${server}: ${String(asked['message'] ?? '')}` } : asked,
    )
  }

  private findScope(): RequestScope | undefined {
    return [...this.scopes].at(-1)
  }
}
