// `bridle run`: one script from start to end in this process. Its output goes out as it comes; how it ended decides the exit code
// (reference 01 §5).

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Journal, TraceOptions } from '@bridle/stdlib-tools'
import { Redactor, plainFromHost } from '@bridle/stdlib-tools'
import { fileJournal, fileTrace } from '@bridle/stdlib-tools/node'
import { fromPlain, modelFixtures } from '@bridle/vm'
import type { Limits, Plain } from '@bridle/vm'
import { CommandError, EXIT_FAILURE, UsageError } from '../errors.js'
import { authorityOf } from '../authority.js'
import { commandRuntime } from '../host.js'
import { LOCK_FILE, lockedPins } from '../lock.js'
import { compileScript, readScript, reasonOf } from '../load.js'
import { perform } from '../perform.js'
import type { RunFlags } from '../main.js'

export interface RunCommandOptions extends RunFlags {
  readonly scriptArguments: readonly string[]
}

export async function runCommand(file: string | undefined, options: RunCommandOptions): Promise<number> {
  const input = readInput(options.input)
  const script = await readScript(file, options.eval)
  const runtime = commandRuntime({
    script: script.key,
    terminal: true,
    args: options.scriptArguments,
    limits: limitsOf(options),
    authority: authorityOf(options),
    runtime: {
      extensions: extensionsOf(options.extension),
      ...(options.llmMock === undefined ? {} : { modelFixtures: readFixtures(options.llmMock) }),
      ...(options.locked === true ? { pins: await lockedPins(options.lockFile ?? LOCK_FILE, script.key) } : {}),
    },
  })
  const module = compileScript(runtime, script)
  if (module === null) return EXIT_FAILURE
  return perform({
    module,
    script,
    launch: (start) =>
      runtime.start(module, {
        ...start,
        input,
        globals: { argv: fromPlain([...options.scriptArguments]) },
        ...tracingOf(options.trace),
        ...(options.record === undefined ? {} : { journal: openJournal(options.record) }),
      }),
    json: options.json === true,
    dryRun: options.dryRun === true,
    timeoutMs: options.timeout ?? null,
    snapshotFile: options.snapshot ?? null,
  })
}

/** Extensions by name. Throws UsageError. */
export function extensionsOf(names: readonly string[] | undefined): readonly 'grants'[] {
  return (names ?? []).map((name) => {
    if (name !== 'grants') throw new UsageError(`--extension ${name}: the only extension is grants`)
    return name
  })
}

/** A trace in a file; a path that is a folder, or ends like one, gets a file named by the run. */
function tracingOf(path: string | undefined): { readonly tracing?: TraceOptions; readonly runId?: string } {
  if (path === undefined) return {}
  const secrets = Object.entries(process.env).flatMap(([name, value]) =>
    new Redactor().isSecretName(name) && value !== undefined ? [value] : [],
  )
  const isFolder = path.endsWith('/') || (existsSync(path) && statSync(path).isDirectory())
  const runId = uuidv7()
  const file = isFolder ? join(path, `${runId}.jsonl`) : path
  try {
    if (isFolder) process.stderr.write(`trace: ${runId}\n`)
    return { runId, tracing: { sinks: [fileTrace(file)], redact: { secrets } } }
  } catch (cause) {
    throw new CommandError(`cannot write ${file}: ${reasonOf(cause)}`)
  }
}

/** Sorts by time of making (RFC 9562). */
function uuidv7(): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

export function readInput(text: string | undefined): Plain {
  if (text === undefined) return null
  let json = text
  if (text.startsWith('@')) {
    try {
      json = readFileSync(text.slice(1), 'utf8')
    } catch (cause) {
      throw new CommandError(`cannot read ${text.slice(1)}: ${reasonOf(cause)}`)
    }
  }
  try {
    return plainFromHost(JSON.parse(json))
  } catch (cause) {
    throw new UsageError(`--input is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

export function limitsOf(options: Pick<RunFlags, 'fuel' | 'maxHeap'>): Partial<Limits> {
  return {
    ...(options.fuel === undefined ? {} : { fuel: options.fuel }),
    ...(options.maxHeap === undefined ? {} : { heap: options.maxHeap }),
  }
}

function openJournal(path: string): Journal {
  try {
    return fileJournal(path)
  } catch (cause) {
    throw new CommandError(`cannot write ${path}: ${reasonOf(cause)}`)
  }
}

/** The answers of models in a file; what is wrong with them is said before the run. */
function readFixtures(path: string): string {
  let lines: string
  try {
    lines = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CommandError(`cannot read ${path}: ${reasonOf(cause)}`)
  }
  try {
    modelFixtures(lines)
  } catch (cause) {
    throw new CommandError(`${path}: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  return lines
}
