// The world of the disrupted runs: tools that record their calls in a ledger that no crash undoes, and one script that waits in every way.

import { writeSync } from 'node:fs'
import { createRuntime, defineTool, pending } from '@bridle/stdlib-tools'
import type { Runtime, Tool } from '@bridle/stdlib-tools'

/** The pipe of the ledger, in worker processes. */
export const LEDGER_FD = 3

/** A call of a tool: a line of the ledger. */
export interface LedgerLine {
  readonly tool: 'step' | 'charge' | 'ask'
  readonly runId: string
  /** Equal for all attempts of one call. */
  readonly key: string
  /** Its arguments. */
  readonly n: number
}

export const STEPS = [0, 1, 2, 3, 5, 6, 7, 8] as const
export const RECEIPT = 350
export const SECOND = 20
export const NESTED = 7
export const ANSWER = 'yes'
export const APPROVAL = 'approval'

export const SCRIPT = `
import { step, charge, approve, outer } from "host/w"
var log = []
for i in range(0, 4) { log = log.push(step({n: i}).n) }
let receipt = try { charge({n: ${RECEIPT}}).n } catch (e) { e.code }
sleep(200ms)
let answer = approve({n: 0})
let both = parallel settle [5, 6, 7] { n -> step({n: n}).n }
let second = try { charge({n: ${SECOND}}).n } catch (e) { e.code }
let nested = try { outer({n: ${NESTED}}).n } catch (e) { e.code }
sleep(1500ms)
step({n: 8})
return {receipt: receipt, answer: answer, second: second, nested: nested, log: log, settled: both.succeeded}`

const readNumber = (given: unknown): number => (given as { readonly n: number }).n

function listTools(note: (line: LedgerLine) => void, workMs: number): readonly Tool[] {
  const work = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.random() * workMs))
  const make = (tool: 'step' | 'charge', recovery: 'idempotent' | 'once'): Tool =>
    defineTool({
      name: `w.${tool}`,
      recovery,
      async execute(given: unknown, { runId, idempotencyKey: key }) {
        const n = readNumber(given)
        note({ tool, runId, key, n })
        await work()
        return { n }
      },
    })
  return [
    make('step', 'idempotent'),
    make('charge', 'once'),
    defineTool({
      name: 'w.approve',
      recovery: 'idempotent',
      execute(_: unknown, { runId, idempotencyKey: key }) {
        note({ tool: 'ask', runId, key, n: 0 })
        return pending(APPROVAL)
      },
    }),
    defineTool({
      name: 'w.outer',
      recovery: 'idempotent',
      execute: (given: unknown, { tools }) => tools.call('w.charge', { n: readNumber(given) }),
    }),
  ]
}

export function openRuntime({ workMs = 0 }: { readonly workMs?: number } = {}): Runtime {
  const note = (line: LedgerLine): void => void writeSync(LEDGER_FD, `${JSON.stringify(line)}\n`)
  return createRuntime({ tools: listTools(note, workMs) })
}
