// Stub tools for tests: they return configured answers and record their calls.
//
//   const stubs = stubTools({ 'http.get': { status: 200, body: 'page', headers: {} }, 'shop.price': ({ id }) => 10 * id })
//   await createRuntime({ tools: stubs }).run(source)
//   stubs.calls                      // [{ tool: 'http.get', args: { url: '…' } }, …]

import { defineTool } from './define.js'
import type { Tool, ToolContext } from './define.js'
import { ToolError } from './errors.js'

/** A result, or what works it out; it may throw a ToolError. */
export type StubAnswer = unknown

export interface StubbedCall {
  readonly tool: string
  readonly args: { readonly [name: string]: unknown }
  readonly callId: string
  readonly attempt: number
}

export class StubTools implements Iterable<Tool> {
  /** Every attempt of every call, in the order in which they came. */
  readonly calls: StubbedCall[] = []
  private readonly answers = new Map<string, StubAnswer>()
  private readonly tools = new Map<string, Tool>()

  constructor(answers: { readonly [tool: string]: StubAnswer }, originals: Iterable<Tool>) {
    for (const tool of originals) this.tools.set(tool.name, { ...tool, prepare: null, execute: this.stub(tool.name) })
    for (const [name, answer] of Object.entries(answers)) {
      this.answers.set(name, answer)
      if (!this.tools.has(name)) this.tools.set(name, defineTool({ name, sideEffect: 'none', execute: this.stub(name) }))
    }
  }

  [Symbol.iterator](): IterableIterator<Tool> {
    return this.tools.values()
  }

  /** Replaces the answer of a tool, or gives one to a tool that had none. Throws a ToolError for a name that is not among the stubs. */
  answer(name: string, answer: StubAnswer): this {
    if (!this.tools.has(name)) throw new ToolError('not_registered', `there is no stub of tool '${name}'`)
    this.answers.set(name, answer)
    return this
  }

  callsOf(name: string): readonly StubbedCall[] {
    return this.calls.filter(({ tool }) => tool === name)
  }

  private stub(name: string): Tool['execute'] {
    return (input, context: ToolContext) => {
      const args = (input ?? {}) as StubbedCall['args']
      this.calls.push({ tool: name, args, callId: context.callId, attempt: context.attempt })
      if (!this.answers.has(name)) throw new ToolError('not_found', `tool not found: ${name} (its stub has no answer)`)
      const answer = this.answers.get(name)
      return typeof answer === 'function' ? (answer as (args: unknown, context: ToolContext) => unknown)(args, context) : answer
    }
  }
}

/**
 * Stubs by tool name. With `originals` (tools, or a registry) they have the schemas and everything else of these, so that arguments and
 * results are checked; one without an answer fails with `not_found`.
 */
export function stubTools(answers: { readonly [tool: string]: StubAnswer }, originals: Iterable<Tool> = []): StubTools {
  return new StubTools(answers, originals)
}
