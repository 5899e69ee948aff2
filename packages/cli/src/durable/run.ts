// `bridle run --store FILE`: the run is stored before it starts, and this process works on it until it ends, or waits only for people and
// timers. Then any process can continue it: `bridle worker`, or the same command again.

import { fromPlain } from '@bridle/vm'
import { DurableWorker, RunReleased } from '@bridle/stdlib-tools'
import type { DurableStore } from '@bridle/stdlib-tools'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { EXIT_FAILURE, UsageError } from '../errors.js'
import { makeJsonError } from '../failure-document.js'
import type { RunCommandOptions } from '../run-flags.js'
import { prepareRun } from '../prepare-run.js'
import { complain, tellJson } from '../printable.js'
import { toStatus } from '../run-report.js'
import { Stop } from '../stop.js'
import { EXIT_WAITING, describeRun, readEnded, requireRun, withStore } from './open.js'
import { isRestate } from './restate.js'

/** Interval of checking on another worker that has the run. */
const POLL_MS = 20
const SERVER_POLL_MS = 200

export async function runDurably(
  file: string | undefined,
  options: RunCommandOptions & { readonly store: string },
): Promise<number> {
  for (const [name, given] of Object.entries({ record: options.record, snapshot: options.snapshot, trace: options.trace }))
    if (given !== undefined) throw new UsageError(`--${name} is not for runs with --store, which keeps what they do`)
  if (options.dryRun === true) throw new UsageError('--dry-run is not for runs with --store: nothing of it would have to be kept')
  const { runtime, module, input } = await prepareRun(file, options, { isAnsweredLater: true })
  if (module === null) return EXIT_FAILURE
  const runId = options.id ?? `run_${randomBytes(8).toString('hex')}`
  return withStore(
    options.store,
    async (store) => {
      const stop = new Stop(options.timeout ?? null)
      const errors: string[] = []
      const worker = new DurableWorker({
        store,
        runtime,
        name: `bridle run, process ${process.pid}`,
        only: runId,
        readStatus: (value) => toStatus(value).code,
        start: () => ({
          onEvent: (event) => {
            if (event.type === 'output' && options.json !== true) process.stdout.write(event.text)
          },
        }),
        onError: (cause) => {
          if (!(cause instanceof RunReleased)) errors.push(String(cause))
        },
      })
      try {
        const { isNew } = await worker.submit(module, {
          runId,
          input,
          globals: { argv: fromPlain([...options.scriptArguments]) },
          archive: true,
          ...(options.tenant === undefined ? {} : { tenant: options.tenant }),
        })
        if (!isNew) await warnAboutOther(store, runId, module.hash, options.store)
        const stopped = new Promise<void>((resolve) => {
          stop.onCancel = () => resolve()
        })
        if (isRestate(options.store)) await awaitWorkers(store, runId, stop)
        else {
          worker.start()
          await Promise.race([worker.idle(), stopped])
          while (!stop.isCancelled && (await requireRun(store, runId)).state === 'running') await delay(POLL_MS)
        }
        await worker.stop()
        if (stop.isCancelled) {
          if (options.json === true)
            tellJson({
              ...describeRun(await requireRun(store, runId)),
              status: 'cancelled',
              exit_code: stop.code,
              error: makeJsonError('interrupted', stop.complaint.replace(/^error: /, '').trimEnd()),
            })
          else complain(`${stop.complaint}bridle: ${runId} is kept; \`bridle worker --store ${options.store}\` goes on with it\n`)
          return stop.code
        }
        return await reportRun(store, runId, options)
      } finally {
        await worker.stop()
        stop.end()
        for (const each of new Set(errors)) complain(`warning: ${each}\n`)
      }
    },
    { isNew: true },
  )
}

/** On a server, its workers do the work; this process only observes. */
async function awaitWorkers(store: DurableStore, runId: string, stop: Stop): Promise<void> {
  for (let isMoving = true; isMoving && !stop.isCancelled;) {
    const { state } = await requireRun(store, runId)
    isMoving = state === 'ready' || state === 'running'
    if (isMoving) await delay(SERVER_POLL_MS)
  }
}

/** A run continues with the program that was submitted, even if the script has changed. */
async function warnAboutOther(store: DurableStore, runId: string, hash: string, file: string): Promise<void> {
  const { program, state } = await requireRun(store, runId)
  if (program.hash === hash || state === 'ended') return
  complain(
    `warning: ${runId} goes on as the script that it was begun with, which is another one than this\n` +
      `hint: \`bridle runs migrate --store ${file} ${runId} --to SCRIPT\` lets it go on as an edited script\n`,
  )
}

async function reportRun(
  store: DurableStore,
  runId: string,
  { json, store: file }: { readonly json?: boolean; readonly store: string },
): Promise<number> {
  const row = await requireRun(store, runId)
  const ended = readEnded(row)
  const code =
    ended === null
      ? row.state === 'parked'
        ? EXIT_WAITING
        : EXIT_FAILURE
      : ended.status === 'done'
        ? (ended.exitCode ?? 0)
        : ended.status === 'exit'
          ? (ended.exitCode ?? 0)
          : EXIT_FAILURE
  if (json === true) {
    const error =
      typeof ended?.error === 'string' ? makeJsonError(ended.status === 'limit' ? 'limit' : 'failed', ended.error) : null
    const status = ended?.status ?? (row.state === 'parked' ? 'waiting' : row.state)
    tellJson({ ...describeRun(row), status, exit_code: code, ...(error === null ? {} : { error, errors: [error] }) })
    return code
  }
  if (ended !== null) {
    if (ended.error !== null) complain(`error: ${ended.error}\n`)
    return code
  }
  switch (row.state) {
    case 'parked': {
      const what = [
        ...row.waitsFor.map((token) => JSON.stringify(token)),
        ...(row.wakeAt === null ? [] : [`a timer, ${new Date(row.wakeAt).toISOString()}`]),
      ]
      complain(`bridle: ${runId} waits for ${what.join(', ')}\n`)
      const [token] = row.waitsFor
      if (token !== undefined)
        complain(
          `hint: answer it with \`bridle signal --store ${file} ${runId} ${quote(token)} JSON\`; then \`bridle worker --store ${file}\`, or the same command again, goes on\n`,
        )
      return code
    }
    case 'stuck':
      complain(
        `error: ${runId} cannot go on: ${row.status}\nhint: mend it, then \`bridle runs retry --store ${file} ${runId}\`\n`,
      )
      return code
    default:
      complain(`error: ${runId} needs tools that this command does not have: ${row.tools.join(', ')}\n`)
      return code
  }
}

/** Quoted as a shell word. */
const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
