// `@bridle/stdlib-tools/bridge`: runs whose host is another process, over JSON-RPC on a pair of streams.

export { ACP_GLOBALS, AcpServer } from './acp.js'
export type { AcpOptions } from './acp.js'
export type { AcpSessionRecord, AcpSessionStore, AcpTurn } from './acp-sessions.js'
export { readCapabilities, remoteApproval, remoteHost } from './host-bridge.js'
export type { HostBridge, RemoteHostOptions } from './host-bridge.js'
export { BridgeError, JsonRpcPeer, RequestError, methodNotFound } from './jsonrpc.js'
export type { BridgeFault, Params, PeerOptions } from './jsonrpc.js'
export { StreamTransport } from './stream-transport.js'
export type { MessageTransport } from './stream-transport.js'
