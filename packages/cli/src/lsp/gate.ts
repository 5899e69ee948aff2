// Validates each message of the editor before the server sees it, by the rules of JSON-RPC and the Language Server Protocol. An
// invalid message is answered with their error codes. Handlers rely on the parameters that they name.

import { z } from 'zod'

/** Error codes of JSON-RPC 2.0, and of the protocol. */
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const INVALID_PARAMS = -32_602
const NOT_INITIALIZED = -32_002

type Id = string | number

interface Message {
  readonly [key: string]: unknown
}

const count = z
  .int()
  .min(0)
  .max(2 ** 31 - 1)
const uri = z.looseObject({ uri: z.string() })
const version = z.int()
const position = z.looseObject({ line: count, character: count })
const range = z.looseObject({ start: position, end: position })
const inDocument = z.looseObject({ textDocument: uri })
const atPosition = z.looseObject({ textDocument: uri, position })
const inRange = z.looseObject({ textDocument: uri, range })
const indentation = z.looseObject({ tabSize: z.int().min(1).max(100), insertSpaces: z.boolean() })
const calls = z.looseObject({ uri: z.string(), name: z.string(), selectionRange: range })

const PARAMS: ReadonlyMap<string, z.ZodType> = new Map<string, z.ZodType>([
  [
    'initialize',
    z.looseObject({
      capabilities: z.looseObject({}),
      rootUri: z.string().nullish(),
      workspaceFolders: z.array(uri).nullish(),
    }),
  ],
  ['$/cancelRequest', z.looseObject({ id: z.union([z.string(), z.int()]) })],
  ['$/setTrace', z.looseObject({ value: z.enum(['off', 'messages', 'verbose']) })],
  [
    'textDocument/didOpen',
    z.looseObject({ textDocument: z.looseObject({ uri: z.string(), languageId: z.string(), version, text: z.string() }) }),
  ],
  [
    'textDocument/didChange',
    z.looseObject({
      textDocument: z.looseObject({ uri: z.string(), version }),
      contentChanges: z.array(z.looseObject({ text: z.string(), range: range.optional() })),
    }),
  ],
  ['textDocument/didClose', inDocument],
  ['textDocument/hover', atPosition],
  ['textDocument/completion', atPosition],
  ['textDocument/definition', atPosition],
  ['textDocument/references', atPosition.extend({ context: z.looseObject({ includeDeclaration: z.boolean() }) })],
  ['textDocument/rename', atPosition.extend({ newName: z.string() })],
  ['textDocument/prepareRename', atPosition],
  ['textDocument/signatureHelp', atPosition],
  ['textDocument/typeDefinition', atPosition],
  ['textDocument/implementation', atPosition],
  ['textDocument/documentHighlight', atPosition],
  ['textDocument/documentSymbol', inDocument],
  ['textDocument/foldingRange', inDocument],
  ['textDocument/selectionRange', inDocument.extend({ positions: z.array(position) })],
  ['textDocument/documentLink', inDocument],
  ['textDocument/codeLens', inDocument],
  ['textDocument/inlayHint', inRange],
  ['textDocument/semanticTokens/full', inDocument],
  ['textDocument/semanticTokens/full/delta', inDocument.extend({ previousResultId: z.string() })],
  ['textDocument/semanticTokens/range', inRange],
  ['textDocument/formatting', inDocument],
  ['textDocument/rangeFormatting', inRange],
  ['textDocument/onTypeFormatting', atPosition.extend({ ch: z.string(), options: indentation })],
  ['textDocument/diagnostic', inDocument],
  ['textDocument/prepareCallHierarchy', atPosition],
  ['callHierarchy/incomingCalls', z.looseObject({ item: calls })],
  ['callHierarchy/outgoingCalls', z.looseObject({ item: calls })],
  ['workspace/symbol', z.looseObject({ query: z.string() })],
  ['workspace/diagnostic', z.looseObject({ previousResultIds: z.array(z.looseObject({ uri: z.string(), value: z.string() })) })],
  ['workspace/didChangeWatchedFiles', z.looseObject({ changes: z.array(z.looseObject({ uri: z.string(), type: z.int() })) })],
  [
    'workspace/didChangeWorkspaceFolders',
    z.looseObject({ event: z.looseObject({ added: z.array(uri), removed: z.array(uri) }) }),
  ],
  ['textDocument/codeAction', inRange.extend({ context: z.looseObject({ only: z.array(z.string()).nullish() }).nullish() })],
])

export interface GateOptions {
  readonly answer: (message: object) => void
  /** Reports to the person: a notification cannot be answered. */
  readonly log: (text: string) => void
}

export class MessageGate {
  private readonly options: GateOptions
  private readonly open = new Set<Id>()
  private state: 'new' | 'ready' | 'shut down' = 'new'

  constructor(options: GateOptions) {
    this.options = options
  }

  get isShutDown(): boolean {
    return this.state === 'shut down'
  }

  /** The server has answered a request. */
  settle(id: unknown): void {
    this.open.delete(id as Id)
  }

  /** The bytes were not a message. */
  refuseDamaged(why: string): null {
    return this.refuse(null, PARSE_ERROR, why)
  }

  /** null if the server must not see the message. */
  judge(text: string): Message | null {
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      return this.refuseDamaged('the message is not JSON')
    }
    if (!isRecord(message)) return this.refuse(null, INVALID_REQUEST, 'a message is a JSON object; the protocol has no batches')
    return message['method'] === undefined ? this.judgeResponse(message) : this.judgeCall(message)
  }

  private judgeResponse(message: Message): Message | null {
    const isResponse = 'result' in message || isRecord(message['error'])
    if (isId(message['id']) && isResponse) return message
    return this.refuse(null, INVALID_REQUEST, 'the message is neither a request, nor a notification, nor a response')
  }

  private judgeCall(message: Message): Message | null {
    const { jsonrpc, method, params, id } = message
    const isRequest = 'id' in message
    if (isRequest && !isId(id)) return this.refuse(null, INVALID_REQUEST, 'the id of a request is a string or a whole number')
    const to = isRequest ? (id as Id) : undefined
    if (typeof method !== 'string') return this.refuse(to, INVALID_REQUEST, 'the method is not a string')
    if (jsonrpc !== '2.0') return this.refuse(to, INVALID_REQUEST, '"jsonrpc" is not "2.0"')
    const misplaced = this.findMisplacement(method, isRequest)
    if (misplaced !== null) return this.refuse(to, misplaced.code, misplaced.why)
    const problem = findProblem(method, params)
    if (problem !== null) return this.refuse(to, INVALID_PARAMS, problem)
    if (to !== undefined) {
      if (this.open.has(to)) return this.refuse(to, INVALID_REQUEST, 'an earlier request with this id has no answer yet')
      this.open.add(to)
    }
    if (method === 'initialize') this.state = 'ready'
    if (method === 'shutdown') this.state = 'shut down'
    if (params !== null) return message
    // Some editors write absent members as null.
    const { params: _, ...rest } = message
    return rest
  }

  private findMisplacement(method: string, isRequest: boolean): { readonly code: number; readonly why: string } | null {
    if (method === 'exit') return null
    if (this.state === 'new' && method !== 'initialize') return { code: NOT_INITIALIZED, why: `${method} came before initialize` }
    if (this.state !== 'new' && method === 'initialize') return { code: INVALID_REQUEST, why: 'initialize came twice' }
    if (this.isShutDown && isRequest) return { code: INVALID_REQUEST, why: `${method} came after shutdown` }
    return null
  }

  /** Without an id there is nothing to answer; null is for an unreadable request. */
  private refuse(id: Id | null | undefined, code: number, message: string): null {
    if (id === undefined) this.options.log(`left out: ${message}`)
    else this.options.answer({ jsonrpc: '2.0', id, error: { code, message } })
    return null
  }
}

/** Why a method cannot accept these parameters; null when it can. */
function findProblem(method: string, params: unknown): string | null {
  const schema = PARAMS.get(method)
  if (schema === undefined) {
    const isAbsent = params === undefined || params === null
    return isAbsent || typeof params === 'object' ? null : `the parameters of ${method} are neither an object nor a list`
  }
  const parsed = schema.safeParse(params)
  if (parsed.success) return null
  const [issue] = parsed.error.issues
  const place = ['params', ...(issue?.path ?? [])].map(String).join('.')
  return `${method}: ${place}: ${issue?.message ?? 'invalid'}`
}

function isId(id: unknown): id is Id {
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))
}

function isRecord(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
