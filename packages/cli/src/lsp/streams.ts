// The two directions of the connection to the editor, with the gate between: input of the protocol's library is validated first, and
// its responses are reported to the gate.

import { AbstractMessageReader, StreamMessageWriter } from 'vscode-languageserver/node'
import type { DataCallback, Disposable, Message } from 'vscode-languageserver/node'
import { FrameCutter } from './frames.js'
import { MessageGate } from './gate.js'

export interface EditorStreams {
  readonly reader: AbstractMessageReader
  readonly writer: StreamMessageWriter
  readonly gate: MessageGate
}

export function openEditorStreams(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): EditorStreams {
  const send = (message: object): void => {
    // A client that does not read misses it; the end of the connection is detected elsewhere.
    writer.write(message as Message).catch(() => {})
  }
  const log = (text: string): void => send({ jsonrpc: '2.0', method: 'window/logMessage', params: { type: 1, message: text } })
  const gate = new MessageGate({ answer: send, log })
  const writer = new GatedWriter(output, gate)
  return { reader: new GatedReader(input, gate), writer, gate }
}

class GatedReader extends AbstractMessageReader {
  private readonly input: NodeJS.ReadableStream
  private readonly gate: MessageGate

  constructor(input: NodeJS.ReadableStream, gate: MessageGate) {
    super()
    this.input = input
    this.gate = gate
  }

  listen(callback: DataCallback): Disposable {
    const cutter = new FrameCutter({
      onMessage: (text) => {
        const message = this.gate.judge(text)
        if (message !== null) callback(message as unknown as Message)
      },
      onDamage: (why) => this.gate.refuseDamaged(why),
    })
    const take = (chunk: Buffer | string): void => cutter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    const fail = (cause: Error): void => this.fireError(cause)
    const close = (): void => this.fireClose()
    this.input.on('data', take).on('error', fail).on('close', close)
    return { dispose: () => void this.input.off('data', take).off('error', fail).off('close', close) }
  }
}

class GatedWriter extends StreamMessageWriter {
  private readonly gate: MessageGate

  constructor(output: NodeJS.WritableStream, gate: MessageGate) {
    super(output)
    this.gate = gate
  }

  override write(message: Message): Promise<void> {
    const { id, method } = message as { readonly id?: unknown; readonly method?: unknown }
    if (method === undefined) this.gate.settle(id)
    return super.write(message)
  }
}
