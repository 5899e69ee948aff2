import { describe, expect, test } from 'vitest'
import { createRuntime } from '../runtime.js'
import { ApprovalDesk, approvalProvider } from './approval.js'
import type { ApprovalRequest, AskPerson } from './approval.js'
import type { Provider } from '../providers/provider.js'

async function outputOf(source: string, provider: Provider | null): Promise<string> {
  const runtime = createRuntime({ providers: provider === null ? [] : [provider], grants: ['approval'] })
  const result = await runtime.start(runtime.compile(source)).result
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
}

const asking = (ask: AskPerson): Provider => approvalProvider(ask)

const GUARDED_CALL = `
import { with_policies } from "std/policy"
import { tool_call } from "std/tools"

tool_bind(tool_define(tool_registry(), "write", "", {parameters: {path: "string"}, handler: { a -> "wrote \${a.path}" }}))
let options = {
  policy: {tool_annotations: {write: {kind: "edit", arg_schema: {path_params: ["path"]}}}, tool_arg_constraints: [{tool: "write", arg_key: "path", arg_patterns: ["out/*"]}]},
  approval_policy: {require_approval: ["write"]},
}
try {
  println(with_policies(options, { -> tool_call("write", {path: "out/a"}) }))
} catch (e) {
  println("\${e.code}: \${e.message}")
}
`

describe('tool calls that need approval', () => {
  test('the host sees what is asked for', async () => {
    const seen: ApprovalRequest[] = []
    const output = await outputOf(
      GUARDED_CALL,
      asking((request) => {
        seen.push(request)
        return { granted: true }
      }),
    )
    expect(output).toBe('wrote out/a\n')
    expect(seen.map(({ id, kind }) => ({ id, kind }))).toEqual([{ id: 'approval_call_1', kind: 'permission' }])
    expect(seen[0]!.payload).toMatchObject({
      toolCall: { toolCallId: 'call_1', toolName: 'write', rawInput: { path: 'out/a' } },
      mutation: 'workspace_write',
      declaredPaths: ['out/a'],
      approvalRequest: { action: 'write', capabilities_requested: ['tool.write'], approvers_required: 1 },
    })
  })

  test.each<[string, unknown, string]>([
    ['selected', { outcome: { outcome: 'selected' } }, 'wrote out/a'],
    ['allowed', { outcome: 'allow' }, 'wrote out/a'],
    ['other arguments', { granted: true, args: { path: 'out/b' } }, 'wrote out/b'],
    [
      'arguments that the policy refuses',
      { granted: true, args: { path: '/etc/x' } },
      "policy_violation: tool 'write' path '/etc/x' does not match allowed patterns: [\"out/*\"]. Only the path argument is checked against this allow-list — other argument values are not.",
    ],
    ['arguments that do not fit the tool', { granted: true, args: { path: 'out/*', more: 1 } }, 'wrote out/*'],
    ['refused', { granted: false }, 'approval_denied: host did not grant approval'],
    ['refused with a reason', { outcome: 'rejected', reason: 'not now' }, 'approval_denied: not now'],
    ['nothing', null, 'approval_denied: approval request failed or host does not implement session/request_permission'],
  ])('%s', async (_name, answer, expected) => {
    expect(
      await outputOf(
        GUARDED_CALL,
        asking(() => answer),
      ),
    ).toBe(`${expected}\n`)
  })

  test('arguments that a person changed are held to the grants of the call, and do not reach the tool', async () => {
    const source = `
import { with_grants } from "std/grants"
import { with_policies } from "std/policy"
import { tool_call } from "std/tools"

tool_bind(tool_define(tool_registry(), "write", "", {parameters: {path: "string"}, handler: { a -> "wrote \${a.path}" }}))
fn attempt() { return try { tool_call("write", {path: "out/a"}) } catch (e) { "\${e.code} \${e.attempt}" } }
println(with_policies({approval_policy: {require_approval: ["write"]}}, { -> with_grants({write: {path: "out"}}, attempt) }))
`
    const changedTo = (path: string): Promise<string> =>
      outputOf(
        source,
        asking(() => ({ granted: true, args: { path } })),
      )
    expect(await changedTo('out/b')).toBe('wrote out/b\n')
    expect(await changedTo('secret')).toBe('policy_violation 0\n')
  })

  test('a host that throws, and no host at all', async () => {
    const failing = asking(() => {
      throw new Error('desk is closed')
    })
    expect(await outputOf(GUARDED_CALL, failing)).toContain('approval_denied: approval request failed')
    expect(await outputOf(GUARDED_CALL, null)).toBe('approval_denied: approval required but no host bridge is available\n')
  })
})

describe('people in the loop', () => {
  test('a question is answered by the host', async () => {
    const provider = asking((request) => ({ answer: `${String((request.payload['payload'] as { prompt: string }).prompt)}!` }))
    expect(await outputOf('println(ask_user("who"))\nprintln(hitl_pending())', provider)).toBe('who!\n[]\n')
  })

  test('a quorum asks again until it is complete', async () => {
    const reviewers = ['ann', 'bob', 'cid']
    const provider = asking(() => ({ approved: true, reviewer: reviewers.shift() ?? null }))
    expect(await outputOf('println(request_approval("deploy", {quorum: 2}).reviewers)', provider)).toBe('[ann, bob]\n')
    expect(reviewers).toEqual(['cid'])
  })

  test('a host that repeats itself is not asked for ever', async () => {
    let asked = 0
    const provider = asking(() => {
      asked++
      return { approved: true, reviewer: 'ann' }
    })
    expect(
      await outputOf(
        'try { request_approval("deploy", {quorum: 2, deadline: 300ms}) } catch (e) { println(e.message) }',
        provider,
      ),
    ).toBe('approval timed out\n')
    expect(asked).toBe(2)
  })

  test('all reviewers at once', async () => {
    const provider = asking(() => [
      { approved: true, reviewer: 'bob' },
      { approved: true, reviewer: 'ann' },
    ])
    expect(await outputOf('println(dual_control(2, 2, { -> "done" }))', provider)).toBe('done\n')
  })

  test('a deadline ends the waiting, and the host is told', async () => {
    let told = false
    const provider = asking(
      (_request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            told = true
            resolve(null)
          })
        }),
    )
    expect(await outputOf('println(ask_user("q", {timeout: 5ms, default: "none"}))', provider)).toBe('none\n')
    expect(told).toBe(true)
  })
})

describe('a desk', () => {
  test('keeps requests until somebody responds', async () => {
    const desk = new ApprovalDesk()
    const seen: string[] = []
    const stop = desk.onRequest((request) => {
      seen.push(request.kind)
      queueMicrotask(() => {
        expect(desk.pending().map(({ id }) => id)).toEqual([request.id])
        expect(desk.respond('another', { answer: 1 })).toBe(false)
        expect(desk.respond(request.id, { answer: 7 })).toBe(true)
        expect(desk.respond(request.id, { answer: 8 })).toBe(false)
      })
    })
    expect(await outputOf('println(ask_user("q", {default: 0}) + 1)', desk.provider())).toBe('8\n')
    expect(seen).toEqual(['question'])
    stop()
    expect(desk.pending()).toEqual([])
  })
})
