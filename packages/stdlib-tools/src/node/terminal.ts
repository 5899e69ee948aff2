// The terminal (records TerminalRead, TerminalWrite). Standard input is read as a stream that is paused between questions, so
// that a program that asked once can still end.

import type { EffectOutcome } from '@bridle/vm'
import { answered, provider, runtimeError } from '../tools/executors/provider.js'
import type { EffectCall, Provider } from '../tools/executors/provider.js'

export function terminalProvider(
  streams: { readonly stdin?: NodeJS.ReadStream; readonly stderr?: NodeJS.WriteStream } = {},
): Provider {
  // Node opens the standard streams when they are first asked for, which takes longer than a small script.
  const getStdin = (): NodeJS.ReadStream => streams.stdin ?? process.stdin
  const getStderr = (): NodeJS.WriteStream => streams.stderr ?? process.stderr
  let opened: LineReader | null = null
  const getReader = (): LineReader => (opened ??= new LineReader(getStdin()))
  return provider({
    kinds: ['terminal.read', 'terminal.write'],
    perform(effect, call) {
      if (effect.kind === 'terminal.write') {
        getStderr().write(effect.args.text)
        return answered(null)
      }
      switch (effect.args.op) {
        case 'line':
          return getReader().readLine(call)
        case 'all':
          return getReader().readAll(call)
        case 'password':
          return getReader().readPassword(call)
        case 'tty': {
          const { stream } = effect.args
          return answered((stream === 'stdout' ? process.stdout : stream === 'stderr' ? getStderr() : getStdin()).isTTY === true)
        }
      }
    },
    close: () => opened?.close(),
  })
}

class LineReader {
  private readonly stdin: NodeJS.ReadStream
  private buffer = ''
  private ended = false
  private decoder = new TextDecoder()
  private wake: (() => void) | null = null
  private listening = false

  constructor(stdin: NodeJS.ReadStream) {
    this.stdin = stdin
  }

  async readLine(call: EffectCall): Promise<EffectOutcome> {
    const complete = await this.read(call, () => this.buffer.includes('\n'))
    if (!complete) return runtimeError('terminal: the run was cancelled')
    const end = this.buffer.indexOf('\n')
    if (end < 0 && this.buffer === '') return answered(null)
    const line = end < 0 ? this.buffer : this.buffer.slice(0, end)
    this.buffer = end < 0 ? '' : this.buffer.slice(end + 1)
    return answered(line.endsWith('\r') ? line.slice(0, -1) : line)
  }

  async readAll(call: EffectCall): Promise<EffectOutcome> {
    const complete = await this.read(call, () => false)
    if (!complete) return runtimeError('terminal: the run was cancelled')
    const text = this.buffer
    this.buffer = ''
    return answered(text)
  }

  async readPassword(call: EffectCall): Promise<EffectOutcome> {
    if (this.stdin.isTTY !== true) return this.readLine(call)
    // Raw mode turns the echo off, and line editing with it: what matters of that is done here.
    this.stdin.setRawMode(true)
    try {
      let typed = ''
      for (;;) {
        if (!(await this.read(call, () => this.buffer !== ''))) return runtimeError('terminal: the run was cancelled')
        if (this.buffer === '') return answered(typed === '' ? null : typed)
        const char = this.buffer[0]!
        this.buffer = this.buffer.slice(1)
        if (char === '\r' || char === '\n') return answered(typed)
        if (char === '\u0003') {
          process.kill(process.pid, 'SIGINT')
          return answered(null)
        }
        if (char === '\u0004' && typed === '') return answered(null)
        typed = char === '\u007f' || char === '\b' ? typed.slice(0, -1) : typed + char
      }
    } finally {
      this.stdin.setRawMode(false)
    }
  }

  close(): void {
    this.stdin.off('data', this.onData)
    this.stdin.off('end', this.onEnd)
    this.stdin.off('error', this.onEnd)
    this.stdin.pause()
  }

  private readonly onData = (chunk: Uint8Array | string): void => {
    this.buffer += typeof chunk === 'string' ? chunk : this.decoder.decode(chunk, { stream: true })
    this.wake?.()
  }

  private readonly onEnd = (): void => {
    this.ended = true
    this.buffer += this.decoder.decode()
    this.wake?.()
  }

  /** Until `enough` says so or the input ends; false when the run was cancelled. */
  private async read(call: EffectCall, enough: () => boolean): Promise<boolean> {
    if (!this.listening) {
      this.listening = true
      this.stdin.on('data', this.onData)
      this.stdin.on('end', this.onEnd)
      this.stdin.on('error', this.onEnd)
    }
    this.stdin.resume()
    const onAbort = (): void => this.wake?.()
    call.signal.addEventListener('abort', onAbort)
    try {
      while (!enough() && !this.ended && !call.signal.aborted) {
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
      }
      return !call.signal.aborted
    } finally {
      this.wake = null
      call.signal.removeEventListener('abort', onAbort)
      this.stdin.pause()
    }
  }
}
