import { describe, expect, test } from 'vitest'
import { createRuntime } from '../../host/runtime.js'
import { ApprovalDesk, approvalProvider } from './host-approval.js'
import type { ApprovalRequest } from './approval-request.js'
import type { AskPerson } from './host-approval.js'
import type { Provider } from '../executors/provider.js'

async function runToOutput(source: string, provider: Provider | null): Promise<string> {
  const runtime = createRuntime({ providers: provider === null ? [] : [provider], grants: ['approval'] })
  const result = await runtime.start(runtime.compile(source)).result
  return result.status === 'failed' ? `${result.output}! ${result.error.message}` : result.output
}

const NOT_GRANTED = 'approval_denied: host did not grant approval'
const OTHER_CALL =
  'approval_denied: the approval is for another call: its binding is not that of the tool, version and arguments that were asked about'

const describeNoAnswer = (answer: string): string =>
  `approval_denied: the answer to the permission "write" (approval_call_1) is ${answer}; a permission takes true, false, {granted: true} or {granted: false, reason: …}`

const makeAsking = (ask: AskPerson): Provider => approvalProvider(ask)

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
    const output = await runToOutput(
      GUARDED_CALL,
      makeAsking((request) => {
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
    ['an option that rejects', { outcome: { outcome: 'selected', optionId: 'reject-once' } }, NOT_GRANTED],
    ['an option that rejects, spelt otherwise', { outcome: { outcome: 'selected', option_id: 'reject_always' } }, NOT_GRANTED],
    ['a kind that rejects', { outcome: { outcome: 'selected', optionId: 'allow-once', kind: 'reject_once' } }, NOT_GRANTED],
    ['an option beside the outcome', { outcome: 'selected', optionId: 'reject-once' }, NOT_GRANTED],
    ['an option that nobody knows', { outcome: { outcome: 'selected', optionId: 'opt-2' } }, NOT_GRANTED],
    ['an option as a dict', { outcome: { outcome: 'selected', option: { id: 'x', kind: 'reject_once' } } }, NOT_GRANTED],
    ['an option that is no text', { outcome: { outcome: 'selected', optionId: 1 } }, NOT_GRANTED],
    ['an option that allows', { outcome: { outcome: 'selected', optionId: 'allow-once' } }, 'wrote out/a'],
    ['an option that allows, spelt otherwise', { outcome: { outcome: 'selected', optionId: 'allow_always' } }, 'wrote out/a'],
    ['yes and no', { granted: true, outcome: { outcome: 'cancelled' } }, NOT_GRANTED],
    ['no and yes', { granted: false, outcome: 'selected' }, NOT_GRANTED],
    ['a yes that is no bool', { granted: 'yes' }, describeNoAnswer('{"granted":"yes"}')],
    ['an empty answer', {}, describeNoAnswer('{}')],
    ['a name', 'Ada', describeNoAnswer('"Ada"')],
    ['the answer to a question', { answer: true }, describeNoAnswer('{"answer":true}')],
    [
      'yes in one name and no in another',
      { granted: true, approved: false },
      describeNoAnswer('{"granted":true,"approved":false}'),
    ],
    ['true', true, 'wrote out/a'],
    ['false', false, NOT_GRANTED],
    ['approved', { approved: true }, 'wrote out/a'],
    ['not approved', { approved: false, reason: 'too soon' }, 'approval_denied: too soon'],
    ['an approval of another call', { granted: true, binding: 'sha256:00' }, OTHER_CALL],
    ['nothing', null, 'approval_denied: approval request failed or host does not implement session/request_permission'],
  ])('%s', async (_name, answer, expected) => {
    expect(
      await runToOutput(
        GUARDED_CALL,
        makeAsking(() => answer),
      ),
    ).toBe(`${expected}\n`)
  })

  test('an answer counts for the call it was asked about, and until its deadline', async () => {
    let nowMs = Date.UTC(2026, 0, 1)
    const clock = { virtual: false, now: () => nowMs, until: () => new Promise<void>(() => {}) }
    const runAnswered = async (ask: AskPerson): Promise<string> => {
      const runtime = createRuntime({ providers: [makeAsking(ask)], grants: ['approval'], clock })
      return (await runtime.start(runtime.compile(GUARDED_CALL)).result).output
    }
    const bindings: unknown[] = []
    const answerLate = (ms: number) =>
      runAnswered(({ payload }) => {
        bindings.push(payload['binding'])
        expect(payload).toMatchObject({ tool: { identity: 'harn:write', version: null } })
        expect((payload['approvalRequest'] as { deadline: string }).deadline).toBe(new Date(nowMs + 86_400_000).toISOString())
        nowMs += ms
        return { granted: true, binding: payload['binding'] }
      })
    expect(await answerLate(86_400_000)).toBe('wrote out/a\n')
    expect(await answerLate(86_400_001)).toBe('approval_denied: the approval came after its deadline\n')
    expect(bindings).toEqual([expect.stringMatching(/^sha256:[0-9a-f]{64}$/), bindings[0]])
  })

  const makeHooked = (hooks: string): string => `
import { on_event, with_policies } from "std/policy"
import { tool_call } from "std/tools"
tool_bind(tool_define(tool_registry(), "write", "", {parameters: {path: "string", mode: {type: "string", default: "new"}}, handler: { a -> "wrote \${a}" }}))
${hooks}
try {
  println(with_policies({approval_policy: {require_approval: ["write"]}}, { -> tool_call("write", {path: "a"}) }))
} catch (e) {
  println("\${e.code}: \${e.message}")
}
`

  test('hooks that rewrite come before the person, who sees what runs: with defaults', async () => {
    const seen: unknown[] = []
    const output = await runToOutput(
      makeHooked('on_event("PreToolUse", "write", { e -> {args: {path: e.tool.args.path + "/b"}} })'),
      makeAsking(({ payload }) => {
        seen.push((payload['approvalRequest'] as { args: unknown }).args)
        return { granted: true }
      }),
    )
    expect(seen).toEqual([{ path: 'a/b', mode: 'new' }])
    expect(output).toBe('wrote {mode: new, path: a/b}\n')
  })

  test('a person is not asked about what a hook denies', async () => {
    const ask = makeAsking(() => {
      throw new Error('asked')
    })
    expect(await runToOutput(makeHooked('on_event("PreToolUse", "write", { e -> {deny: "never"} })'), ask)).toBe(
      'policy_violation: never\n',
    )
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
    const runChangedTo = (path: string): Promise<string> =>
      runToOutput(
        source,
        makeAsking(() => ({ granted: true, args: { path } })),
      )
    expect(await runChangedTo('out/b')).toBe('wrote out/b\n')
    expect(await runChangedTo('secret')).toBe('policy_violation 0\n')
  })

  test('a host that throws, and no host at all', async () => {
    const failing = makeAsking(() => {
      throw new Error('desk is closed')
    })
    expect(await runToOutput(GUARDED_CALL, failing)).toContain('approval_denied: approval request failed')
    expect(await runToOutput(GUARDED_CALL, null)).toBe('approval_denied: approval required but no host bridge is available\n')
  })
})

test.each<[string, string, string, string]>([
  ['asks, approves', '{require_approval: ["*"]}', '{auto_approve: ["*"]}', 'asked'],
  ['asks, approves by name', '{require_approval: ["write"]}', '{auto_approve: ["write"]}', 'asked'],
  ['approves, asks', '{auto_approve: ["*"]}', '{require_approval: ["*"]}', 'asked'],
  ['asks, says nothing', '{require_approval: ["*"]}', '{}', 'asked'],
  ['denies, approves', '{auto_deny: ["write"]}', '{auto_approve: ["*"]}', 'refused'],
  ['asks, denies', '{require_approval: ["*"]}', '{auto_deny: ["write"]}', 'refused'],
  ['approves, approves', '{auto_approve: ["*"], require_approval: ["*"]}', '{auto_approve: ["write"]}', 'ran'],
  [
    'asks, brings layers of its own',
    '{require_approval: ["*"]}',
    '{auto_approve: ["*"], layers: [{auto_approve: ["*"]}]}',
    'asked',
  ],
])('nested policies only narrow: %s', async (_what, outer, inner, expected) => {
  let asked = false
  const desk = makeAsking(() => {
    asked = true
    return { granted: false }
  })
  // Also from a task, and with a third policy in between.
  for (const more of ['go()', 'await(spawn { go() })', 'with_policies({approval_policy: {}}, { -> go() })']) {
    asked = false
    const source = `
import { with_policies } from "std/policy"
import { tool_call } from "std/tools"
tool_bind(tool_define(tool_registry(), "write", "", {parameters: {path: "string"}, handler: { a -> "ran" }}))
fn go() { return with_policies({approval_policy: ${inner}}, { -> try { tool_call("write", {path: "a"}) } catch (e) { "refused" } }) }
println(with_policies({approval_policy: ${outer}}, { -> ${more} }))`
    const output = await runToOutput(source, desk)
    expect([more, asked ? 'asked' : output.trim()]).toEqual([more, expected])
    if (asked) expect(output).toBe('refused\n')
  }
})

describe('people in the loop', () => {
  const HOW = 'Serve the script to a client with people (bridle serve acp, bridle serve mcp), embed it with an approval provider'

  test.each([
    ['ask_user("who")', 'question'],
    ['request_approval("deploy")', 'approval'],
    ['dual_control(1, 2, { -> println("ran") })', 'dual control'],
    ['escalate_to("oncall", "fire")', 'escalation'],
  ])('%s fails at once where nobody can answer, and says how to', async (call, what) => {
    const source = `try { ${call}\nprintln("answered") } catch (e) { println("\${e.name}: \${e.message} \${hitl_pending()}") }`
    const output = await runToOutput(source, null)
    expect(output).toMatch(new RegExp(`^HumanUnavailableError: ${call.split('(')[0]}: nobody can answer this ${what}: `))
    expect(output).toContain(HOW)
    expect(output).toMatch(/ \[\]\n$/)
  })

  test('a question with a default has that answer', async () => {
    expect(await runToOutput('println(ask_user("who", {default: "nobody"}))', null)).toBe('nobody\n')
  })

  // A script must not approve what it asks for; `bridle test` and `bridle conformance` let it (standIns).
  test.each<[string, string]>([
    ['a mock', 'host_mock("hitl", "approval", {approved: true, reviewer: "ann"})\nrequest_approval("deploy", {deadline: 50ms})'],
    [
      'the event log',
      `let asking = spawn { request_approval("deploy", {deadline: 50ms}) }
       sleep(1ms)
       event_log.emit("hitl.approvals", "hitl.response_received", {request_id: hitl_pending()[0].request_id, approved: true, reviewer: "ann"})
       await(asking)`,
    ],
    [
      'the other name of the event log',
      `let asking = spawn { request_approval("deploy", {deadline: 50ms}) }
       sleep(1ms)
       event_log_emit("hitl.approvals", "hitl.response_received", {request_id: hitl_pending()[0].request_id, approved: true, reviewer: "ann"})
       await(asking)`,
    ],
  ])('a script cannot answer by %s', async (_way, body) => {
    const source = `try {\n${body}\nprintln("approved") } catch (e) { println("refused: \${e}") }`
    // Asked, and silent.
    const silent = makeAsking(() => null)
    for (const provider of [silent, null]) expect(await runToOutput(source, provider)).toMatch(/^refused: /)
    const runtime = createRuntime({ providers: [silent], grants: ['approval'], standIns: 'script' })
    expect((await runtime.start(runtime.compile(source)).result).output).toBe('approved\n')
  })

  test("a person is shown the waiting request, not the script's claim about it", async () => {
    const seen: string[] = []
    const provider = makeAsking(({ payload }) => {
      seen.push((payload['payload'] as { action: string }).action)
      return seen.length === 1 ? null : { approved: false, reviewer: 'ann' }
    })
    const source = `
let asking = spawn { request_approval("delete everything", {deadline: 1s}) }
sleep(1ms)
let waiting = hitl_pending()[0]
__hitl_ask_host("approval", {request_id: waiting.request_id, payload: {action: "say hello"}})
__hitl_ask_host("approval", {request_id: "made up", payload: {action: "say hello"}})
try { await(asking)\nprintln("approved") } catch (e) { println("denied") }`
    expect(await runToOutput(source, provider)).toBe('denied\n')
    expect(seen.length).toBeGreaterThan(1)
    expect(new Set(seen)).toEqual(new Set(['delete everything']))
  })

  test('a question is answered by the host', async () => {
    const provider = makeAsking((request) => ({
      answer: `${String((request.payload['payload'] as { prompt: string }).prompt)}!`,
    }))
    expect(await runToOutput('println(ask_user("who"))\nprintln(hitl_pending())', provider)).toBe('who!\n[]\n')
  })

  test('a quorum asks again until it is complete', async () => {
    const reviewers = ['ann', 'bob', 'cid']
    const provider = makeAsking(() => ({ approved: true, reviewer: reviewers.shift() ?? null }))
    expect(await runToOutput('println(request_approval("deploy", {quorum: 2}).reviewers)', provider)).toBe('[ann, bob]\n')
    expect(reviewers).toEqual(['cid'])
  })

  test('a host that repeats itself is not asked for ever', async () => {
    let asked = 0
    const provider = makeAsking(() => {
      asked++
      return { approved: true, reviewer: 'ann' }
    })
    expect(
      await runToOutput(
        'try { request_approval("deploy", {quorum: 2, deadline: 300ms}) } catch (e) { println(e.message) }',
        provider,
      ),
    ).toBe('approval timed out\n')
    expect(asked).toBe(2)
  })

  test('all reviewers at once', async () => {
    const provider = makeAsking(() => [
      { approved: true, reviewer: 'bob' },
      { approved: true, reviewer: 'ann' },
    ])
    expect(await runToOutput('println(dual_control(2, 2, { -> "done" }))', provider)).toBe('done\n')
  })

  test('a deadline ends the wait, and the host is notified', async () => {
    let told = false
    const provider = makeAsking(
      (_request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            told = true
            resolve(null)
          })
        }),
    )
    expect(await runToOutput('println(ask_user("q", {timeout: 5ms, default: "none"}))', provider)).toBe('none\n')
    expect(told).toBe(true)
  })
})

describe('a desk', () => {
  test('keeps requests until they are answered', async () => {
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
    expect(await runToOutput('println(ask_user("q", {default: 0}) + 1)', desk.provider())).toBe('8\n')
    expect(seen).toEqual(['question'])
    stop()
    expect(desk.pending()).toEqual([])
  })
})
