// An orchestrator of a folder as a separate process, for tests that use it over HTTP and through its commands.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openEventLog } from '@bridle/stdlib-tools/node'
import { runInProcess } from './in-process.js'

const command = join(import.meta.dirname, '..', 'dist', 'bridle.js')

type Environment = { readonly [name: string]: string }

export interface Reply {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

export interface RunningOrchestrator {
  readonly child: ChildProcess
  readonly url: string
  /** Its output so far. */
  readonly log: () => string
  readonly ended: Promise<number | null>
  readonly post: (path: string, body: string | object, headers?: Environment) => Promise<Reply>
  /** Ends it, waits, and returns the exit code. */
  readonly stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<number | null>
}

export interface CommandResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface TopicRecord {
  readonly kind: string
  readonly payload: { readonly [name: string]: unknown }
}

/** A folder with a manifest, a library of handlers, and the state of its orchestrator. */
export class OrchestratorBox {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-orchestrator-')))
  private readonly running = new Set<ChildProcess>()
  private readonly env: Environment
  private opened: ReturnType<typeof openEventLog> | null = null

  constructor(files: { readonly [name: string]: string }, env: Environment = {}) {
    this.env = env
    for (const [name, text] of Object.entries(files)) this.write(name, text)
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }

  makeFolder(name: string): void {
    mkdirSync(join(this.folder, name), { recursive: true })
  }

  read(name: string): string {
    const path = join(this.folder, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }

  /** The values of a file with one JSON value per line. */
  readLines<T = { readonly [name: string]: unknown }>(name: string): readonly T[] {
    return this.read(name)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T)
  }

  /** Resolves when it listens. */
  async serve(words: readonly string[] = [], env: Environment = {}): Promise<RunningOrchestrator> {
    const child = spawn(
      process.execPath,
      [command, 'orchestrator', 'serve', '--state-dir', 'state', '--bind', '127.0.0.1:0', ...words],
      { cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...this.env, ...env } },
    )
    this.running.add(child)
    let log = ''
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    void ended.then(() => this.running.delete(child))
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr.on('data', (data: Buffer) => {
        log += String(data)
        const found = /HTTP listener ready on (\S+)/.exec(log)
        if (found !== null) resolve(found[1]!)
      })
      void ended.then((code) => reject(new Error(`ended with ${code}: ${log}`)))
    })
    return {
      child,
      url,
      log: () => log,
      ended,
      post: async (path, body, headers = {}) => {
        const text = typeof body === 'string' ? body : JSON.stringify(body)
        const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: text })
        return { status: response.status, text: await response.text(), headers: response.headers }
      },
      stop: async (signal = 'SIGTERM') => {
        child.kill(signal)
        return ended
      },
    }
  }

  /** A command of the same folder and state, in the process of the test. */
  async run(words: readonly string[], env: Environment = {}): Promise<CommandResult> {
    const given = { ...this.env, ...env, HARN_STATE_DIR: join(this.folder, 'state') }
    const before = Object.keys(given).map((name) => [name, process.env[name]] as const)
    Object.assign(process.env, given)
    try {
      const { code, stdout, stderr } = await runInProcess(this.folder, words)
      return { code, out: stdout, err: stderr }
    } finally {
      for (const [name, value] of before)
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
    }
  }

  /** A command that succeeds and prints JSON. */
  async runJson<T = { readonly [name: string]: unknown }>(words: readonly string[], env: Environment = {}): Promise<T> {
    const { code, out, err } = await this.run(words, env)
    if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${err}`)
    return JSON.parse(out) as T
  }

  /** The records of a topic of the log. */
  async listRecords(topic: string): Promise<readonly TopicRecord[]> {
    this.opened ??= openEventLog({ backend: 'sqlite', folder: join(this.folder, 'state') })
    const { log } = await this.opened
    // Whoever asks until something is there leaves time for it to happen.
    await delay(10)
    return log.read({ topic }) as unknown as readonly TopicRecord[]
  }

  async remove(): Promise<void> {
    for (const child of this.running) child.kill('SIGKILL')
    const opened = await this.opened
    opened?.log.close()
    await opened?.store.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const LONGEST_WAIT_MS = 30_000

/** Resolves when the condition holds. Fails after a time, naming the condition. */
export async function until(isThere: () => boolean): Promise<void> {
  const end = Date.now() + LONGEST_WAIT_MS
  while (!isThere()) {
    if (Date.now() > end) throw new Error(`this did not happen: ${String(isThere)}`)
    await delay(10)
  }
}
