// `@bridle/stdlib-tools/bridge`: runs whose host is another process, over JSON-RPC on a pair of streams.

export { ACP_GLOBALS, AcpServer } from './acp.js'
export type { AcpOptions } from './acp.js'
export type { AcpMcpServer, AcpMcpServers } from './acp-servers.js'
export type { AcpSessionRecord, AcpSessionStore, AcpTurn } from './acp-sessions.js'
export { readCapabilities, remoteApproval, remoteHost } from '../tools/executors/remote-host.js'
export type { HostBridge, RemoteHostOptions } from '../tools/executors/remote-host.js'
export { BridgeError, JsonRpcPeer, RequestError, methodNotFound } from '../tools/executors/jsonrpc.js'
export type { BridgeFault, Params, PeerOptions } from '../tools/executors/jsonrpc.js'
export { StreamTransport } from '../tools/executors/stream-transport.js'
export type { MessageTransport } from '../tools/executors/stream-transport.js'
