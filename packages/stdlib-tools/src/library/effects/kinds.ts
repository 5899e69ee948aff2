// What each kind of effect carries: the union `Effect` of the machine is made of these. Library modules that are written in Harn and snapshots
// of other versions ask without types, so providers still look at what they are given.

import type { Plain } from '@bridle/vm/families'
import type {
  CompressRun,
  FsQuery,
  FsRead,
  FsWrite,
  HttpRequest,
  HttpStream,
  ProcessExec,
  ProcessInfo,
  ProcessSet,
  TerminalRead,
  TerminalWrite,
  TraceEmit,
} from './records.js'
import type { HostCallArgs, HostToolArgs, ToolCallArgs } from './tool-records.js'

/** Data by these names, of which any may be missing. */
type Named<Name extends string> = { readonly [Each in Name]?: Plain }

type Nothing = Record<never, never>

/** Beside the arguments of a record: what dispatch adds, by what it judged. */
type Judged = {
  readonly identity?: string
}

/** Names of secrets that the host puts into headers. */
type WithSecrets = {
  readonly secrets?: Plain
}

type WebSocketArgs =
  | ({
      readonly op: 'ws_connect'
      readonly url: string
      readonly headers: { readonly [name: string]: string }
      readonly timeoutMs: number
      readonly maxBytes: number
    } & WithSecrets)
  | {
      readonly op: 'ws_send'
      readonly key: string | null
      readonly type: string
      readonly data: string | Uint8Array
      readonly code: Plain
      readonly reason: Plain
    }
  | { readonly op: 'ws_receive'; readonly key: string; readonly after: number; readonly timeoutMs: number }
  | { readonly op: 'ws_close' | 'ws_unlisten'; readonly key: string }
  | { readonly op: 'ws_listen'; readonly host: string; readonly port: number }
  | {
      readonly op: 'ws_route'
      readonly key: string
      readonly path: string
      readonly bearer: string | null
      readonly maxBytes: number
      readonly idleMs: number
    }
  | { readonly op: 'ws_accept'; readonly key: string; readonly timeoutMs: number }

declare module '@bridle/vm/families' {
  interface EffectArgs {
    'tool.call': ToolCallArgs & Named<'stream' | 'meta' | 'secrets'>
    'host.call': HostCallArgs & Judged
    'host.tool': HostToolArgs & Judged
    'mcp.connect': Named<'op' | 'client' | 'name' | 'spec'>
    'mcp.request': Named<'client' | 'name' | 'server' | 'spec' | 'method' | 'params'> & Judged
    'mcp.serve': Named<'op' | 'call' | 'ok' | 'result' | 'message' | 'tools' | 'resources' | 'templates' | 'prompts'>
    'mcp.client': Named<'op' | 'task' | 'method' | 'params'>
    'clock.now': Nothing
    'clock.monotonic': Nothing
    'clock.zone': Nothing
    'fs.read': FsRead['args']
    'fs.query': FsQuery['args']
    'fs.write': FsWrite['args']
    'process.exec': ProcessExec['args'] & Named<'judged'>
    'process.info': ProcessInfo['args']
    'process.set': ProcessSet['args']
    'http.request': HttpRequest['args'] & WithSecrets
    'net.stream': (HttpStream['args'] & WithSecrets) | WebSocketArgs
    'terminal.read': TerminalRead['args']
    'terminal.write': TerminalWrite['args']
    'store.op': Named<'op' | 'namespace' | 'key' | 'value'>
    'llm.call': Named<
      | 'op'
      | 'auth_envs'
      | 'auth_header'
      | 'auth_style'
      | 'base_url'
      | 'base_url_env'
      | 'cache'
      | 'chat_endpoint'
      | 'config'
      | 'extra_headers'
      | 'input'
      | 'key_origins'
      | 'known_providers'
      | 'max_tokens'
      | 'messages'
      | 'model'
      | 'output'
      | 'provider'
      | 'settings'
      | 'system'
      | 'temperature'
      | 'thinking'
      | 'tool_choice'
      | 'tools'
      | 'warm'
    >
    'approval.ask': { readonly kind: string; readonly payload: Plain; readonly secrets?: readonly string[] }
    'trace.emit': TraceEmit['args']
    'compress.run': CompressRun['args']
    'data.parse': Named<'format' | 'op' | 'text'>
  }
}
