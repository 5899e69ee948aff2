// Calls that tools of the host make of other tools: they count when they are made, regardless of the outcome of the outer call, are
// traced with their parent, and are made once, also where a run continues from its journal.

import { describe, expect, test } from 'vitest'
import { MemoryJournal, decodeJournal, encodeEntry } from '../../host/journal.js'
import type { JournalEntry } from '../../host/journal.js'
import { createRuntime } from '../../host/runtime.js'
import type { RuntimeOptions } from '../../host/runtime-options.js'
import { MemoryTrace } from '../../host/trace/recorder.js'
import { VirtualClock } from '../../library/time/host-clock.js'
import { defineTool } from '../host-tools/define.js'
import type { Recovery, ToolContext } from '../host-tools/define.js'

const HEAD = `import { tool_call } from "std/tools"
import { with_policies } from "std/policy"
fn attempt(f) { return try { f() } catch (e) { e.code ?? e } }
`

/** A shop whose relays order on behalf of the script. */
class Shop {
  readonly ordered: unknown[] = []
  readonly told: unknown[] = []
  /** What kept a relay's context, and calls later. */
  kept: ToolContext | null = null

  private readonly recovery: Recovery

  constructor(recovery: Recovery = 'once') {
    this.recovery = recovery
  }

  makeOptions(more: RuntimeOptions = {}): RuntimeOptions {
    const order = defineTool({
      name: 'shop.order',
      aliases: ['order'],
      recovery: this.recovery,
      execute: (args) => (this.ordered.push(args), { receipt: this.ordered.length }),
    })
    const relay = defineTool({
      name: 'shop.relay',
      recovery: 'idempotent',
      execute: async (args, { tools }) => ({ relayed: await tools.call('order', args as object as never) }),
    })
    const twice = defineTool({
      name: 'shop.twice',
      recovery: 'idempotent',
      execute: async (_args, { tools }) => [await tools.call('order', { n: 1 }), await tools.call('order', { n: 2 })],
    })
    /** Orders, and never answers. */
    const stuck = defineTool({
      name: 'shop.stuck',
      execute: async (_args, context) => {
        this.kept = context
        await context.tools.call('shop.order', {})
        await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
        return 'never'
      },
    })
    /** Orders with what another call left behind. */
    const late = defineTool({
      name: 'shop.late',
      execute: async () => {
        try {
          await this.kept!.tools.call('shop.order', {})
          this.told.push('made')
        } catch (cause) {
          this.told.push((cause as { readonly code?: string }).code)
        }
        return this.told.at(-1)
      },
    })
    return { tools: [order, relay, twice, stuck, late], clock: new VirtualClock(0), ...more }
  }
}

async function run(shop: Shop, script: string, more: RuntimeOptions = {}): Promise<string> {
  const runtime = createRuntime(shop.makeOptions(more))
  const result = await runtime.start(runtime.compile(HEAD + script)).result
  return result.status === 'done' ? result.output.trim() : `! ${JSON.stringify(result)}`
}

const ONE_ORDER: RuntimeOptions = { toolGrants: { 'shop.order': { maxCalls: 1 } } }
const GIVEN_UP = 'attempt({ -> deadline 5ms { tool_call("shop.stuck", {}) } })'
const DIRECT = 'println(attempt({ -> tool_call("shop.order", {}) }))'

describe('a call counts when it is made', () => {
  test('where a deadline gives up the call around it', async () => {
    const shop = new Shop()
    expect(await run(shop, `${GIVEN_UP}\n${DIRECT}`, ONE_ORDER)).toBe('budget_exhausted')
    expect(shop.ordered).toHaveLength(1)
  })

  test('where the task of the call around it is cancelled', async () => {
    const shop = new Shop()
    const script = `let t = spawn { tool_call("shop.stuck", {}) }\nsleep(5ms)\ncancel(t)\n${DIRECT}`
    expect(await run(shop, script, ONE_ORDER)).toBe('budget_exhausted')
    expect(shop.ordered).toHaveLength(1)
  })

  test('while the call around it is under way', async () => {
    const shop = new Shop()
    const script = `let t = spawn { tool_call("shop.stuck", {}) }\nsleep(5ms)\n${DIRECT}\ncancel(t)`
    expect(await run(shop, script, ONE_ORDER)).toBe('budget_exhausted')
    expect(shop.ordered).toHaveLength(1)
  })

  test('in a snapshot that is taken meanwhile', async () => {
    const shop = new Shop()
    const runtime = createRuntime(shop.makeOptions(ONE_ORDER))
    const script = `${HEAD}let t = spawn { ${GIVEN_UP} }\nsleep(50ms)\n${DIRECT}`
    const run = runtime.start(runtime.compile(script))
    await run.result
    expect(run.output.trim()).toBe('budget_exhausted')
    const held = runtime.start(runtime.compile(`${HEAD}${GIVEN_UP}\nsleep(50ms)\n${DIRECT}`))
    const bytes = await held.snapshot()
    await held.result
    const made = shop.ordered.length
    expect((await runtime.resume(bytes).result).output.trim()).toBe('budget_exhausted')
    expect(shop.ordered.length - made).toBeLessThanOrEqual(1)
  })

  test('with all that a batch makes', async () => {
    const shop = new Shop()
    expect(await run(shop, 'println(attempt({ -> tool_call("shop.twice", {}) }))', ONE_ORDER)).toBe('budget_exhausted')
    expect(shop.ordered).toHaveLength(1)
  })
})

describe('a nested call of an abandoned call is not made', () => {
  for (const [what, script] of [
    ['after a deadline', `${GIVEN_UP}\nprintln(tool_call("shop.late", {}))`],
    [
      'after a cancel',
      'let t = spawn { tool_call("shop.stuck", {}) }\nsleep(5ms)\ncancel(t)\nsleep(5s)\nprintln(tool_call("shop.late", {}))',
    ],
  ] as const) {
    test(what, async () => {
      const shop = new Shop()
      expect(await run(shop, script)).toBe('cancelled')
      expect(shop.ordered).toHaveLength(1)
    })
  }
})

describe('the trace', () => {
  const traceRun = async (script: string, more: RuntimeOptions = {}) => {
    const trace = new MemoryTrace()
    const journal = new MemoryJournal()
    const shop = new Shop()
    const runtime = createRuntime(shop.makeOptions(more))
    const module = runtime.compile(HEAD + script)
    const result = await runtime.start(module, { journal, tracing: { sinks: [trace] } }).result
    const again = new MemoryTrace()
    const made = shop.ordered.length
    const replayed = runtime.replay(module, decodeJournal(journal.entries.map(encodeEntry).join('\n')), {
      tracing: { sinks: [again] },
    })
    expect(shop.ordered.length).toBe(made)
    expect(replayed).toMatchObject({ kind: 'ended', output: result.output })
    expect(again.events.map(({ hash }) => hash)).toEqual(trace.events.map(({ hash }) => hash))
    return trace.events
      .filter(({ kind }) => kind === 'tool_call')
      .map(({ tool_id: tool, details }) => [tool, details!['call_id'], details!['parent'] ?? null, details!['success']])
  }

  test('has a call by a tool with its parent, and a replay makes the same trace', async () => {
    expect(await traceRun('tool_call("shop.relay", {n: 1})')).toEqual([
      ['shop.order', 'call_1/1', 'call_1', true],
      ['shop.relay', 'call_1', null, true],
    ])
  })

  test('has a refused one', async () => {
    expect(await traceRun('attempt({ -> tool_call("shop.twice", {}) })', ONE_ORDER)).toEqual([
      ['shop.order', 'call_1/1', 'call_1', true],
      ['shop.order', 'call_1/2', 'call_1', false],
      ['shop.twice', 'call_1', null, false],
    ])
  })

  test('has one of a call that was given up', async () => {
    expect(await traceRun(GIVEN_UP)).toContainEqual(['shop.order', 'call_1/1', 'call_1', true])
  })

  test('has one that the end of the run leaves behind', async () => {
    const nothing = new Shop()
    const trace = new MemoryTrace()
    const hang = defineTool({
      name: 'shop.hang',
      execute: (_args, { signal }) => new Promise((done) => signal.addEventListener('abort', () => done(0))),
    })
    const relay = defineTool({ name: 'shop.relay_hang', execute: (_args, { tools }) => tools.call('shop.hang') })
    const runtime = createRuntime({ ...nothing.makeOptions(), tools: [hang, relay] })
    const module = runtime.compile(`${HEAD}spawn { tool_call("shop.relay_hang", {}) }\nsleep(5ms)`)
    await runtime.start(module, { tracing: { sinks: [trace] } }).result
    const calls = trace.events.filter(({ tool_id: tool }) => tool === 'shop.hang')
    expect(calls).toMatchObject([{ details: { success: false, error: { code: 'cancelled' } } }])
  })

  test('that is required has it before it is made, and without that it is not made', async () => {
    const shop = new Shop()
    const kinds: string[] = []
    const sink = {
      append: ({ kind, details }: { readonly kind: string; readonly details?: object }) => {
        kinds.push(kind)
        if (kind === 'call_intent' && 'call' in details!) throw new Error('the disk is full')
      },
    }
    const runtime = createRuntime(shop.makeOptions())
    const module = runtime.compile(`${HEAD}tool_call("shop.relay", {})`)
    await expect(runtime.start(module, { tracing: { sinks: [sink], required: true } }).result).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    expect(shop.ordered).toEqual([])
  })
})

describe('a journal', () => {
  const SCRIPT = `${HEAD}println(attempt({ -> tool_call("shop.twice", {}) }))
println(attempt({ -> tool_call("shop.order", {n: 3}) }))
println(attempt({ -> tool_call("shop.order", {n: 4}) }))`
  const THREE: RuntimeOptions = { toolGrants: { 'shop.order': { maxCalls: 3 } } }

  async function recordRun(): Promise<readonly JournalEntry[]> {
    const journal = new MemoryJournal()
    const runtime = createRuntime(new Shop().makeOptions(THREE))
    const result = await runtime.start(runtime.compile(SCRIPT), { journal }).result
    expect(result.output).toBe('[{receipt: 1}, {receipt: 2}]\n{receipt: 3}\nbudget_exhausted\n')
    return journal.entries
  }

  /** Orders that a part of a journal shows as begun, and as ended. */
  const countShown = (entries: readonly JournalEntry[]): { readonly begun: number; readonly ended: number } => ({
    begun: entries.filter((entry) => entry.type === 'nested').length,
    ended: entries.filter((entry) => entry.type === 'nested_end').length,
  })

  test('a run that was cut anywhere continues and repeats no nested call', async () => {
    const entries = await recordRun()
    for (let cut = 2; cut < entries.length; cut++) {
      const before = entries.slice(0, cut)
      const shop = new Shop()
      const journal = new MemoryJournal()
      const runtime = createRuntime(shop.makeOptions(THREE))
      const found = runtime.continueRecording(before, { journal, onUnknownOutcome: () => 'fail' })
      // Every call was answered, and nothing is left to do.
      if (found.kind === 'ended' && countShown(before).ended === 2) continue
      if (found.kind !== 'resumed') throw new Error(`cut at ${cut}: ${found.kind}`)
      const result = await found.run.result
      const { begun, ended } = countShown(before)
      const nested = shop.ordered.filter((args) => (args as { readonly n: number }).n < 3)
      expect({ cut, nested: nested.length }).toEqual({ cut, nested: begun > ended ? 0 : 2 - ended })
      if (begun > ended) expect(result.output).toMatch(/^unknown_outcome\n/)
      // What continues can be replayed as a whole, and nothing is made for it.
      const made = shop.ordered.length
      const whole = decodeJournal(
        [...before, ...journal.entries.filter(({ type }) => type !== 'run')].map(encodeEntry).join('\n'),
      )
      const again = runtime.replay(runtime.moduleOfRecording(whole), whole, { isOpen: true } as never)
      expect({ cut, kind: again.kind, output: again.output }).toEqual({ cut, kind: 'ended', output: result.output })
      expect(shop.ordered.length).toBe(made)
    }
  })

  test('lets a call that does no harm be made again, and does not count it again', async () => {
    const entries = await recordRun()
    const cut = entries.findIndex((entry) => entry.type === 'nested_end')
    const shop = new Shop('idempotent')
    const runtime = createRuntime(shop.makeOptions(THREE))
    const found = runtime.continueRecording(entries.slice(0, cut), { journal: new MemoryJournal() })
    if (found.kind !== 'resumed') throw new Error(found.kind)
    expect((await found.run.result).output).toBe('[{receipt: 1}, {receipt: 2}]\n{receipt: 3}\nbudget_exhausted\n')
  })

  test('of a version that noted such calls with the answer is refused', () => {
    const line = '{"type":"answer","id":1,"outcome":{"ok":true,"value":1,"nested":[]}}'
    expect(() => decodeJournal(`${line}\n${line}`)).toThrow(/record the run again/)
  })

  test('that cannot be written ends the run, and the call is not made', async () => {
    const shop = new Shop()
    const journal = {
      append: (entry: JournalEntry) => {
        if (entry.type === 'nested') throw new Error('the disk is full')
      },
    }
    const runtime = createRuntime(shop.makeOptions())
    await expect(runtime.start(runtime.compile(`${HEAD}tool_call("shop.relay", {})`), { journal }).result).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    expect(shop.ordered).toEqual([])
  })
})
