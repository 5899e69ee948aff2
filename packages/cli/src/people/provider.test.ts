// Requests to people as a command answers them: prepared answers first, then the terminal; an unanswered request fails.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Provider } from '@bridle/stdlib-tools'
import { createRuntime } from '@bridle/stdlib-tools'
import { afterAll, describe, expect, test } from 'vitest'
import { currentUser, readAnswers } from './answers.js'
import type { PeopleFlags } from './answers.js'
import { peopleProvider } from './provider.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-people-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function answersFile(rows: unknown): string {
  const path = join(folder, 'answers.json')
  writeFileSync(path, typeof rows === 'string' ? rows : JSON.stringify(rows))
  return path
}

/** `typed`: the lines typed at the terminal; null without a terminal. */
async function run(
  script: string,
  flags: PeopleFlags,
  typed: readonly string[] | null = null,
): Promise<{ output: string; screen: string; left: number }> {
  const lines = typed === null ? null : [...typed]
  let screen = ''
  const people: Provider = peopleProvider({
    ...flags,
    readLine: lines === null ? null : async () => lines.shift() ?? null,
    show: (text) => (screen += text),
  })
  const runtime = createRuntime({ providers: [people], grants: ['approval'] })
  const result = await runtime.start(runtime.compile(script)).result
  return {
    output: result.status === 'done' ? result.output : `${result.status}: ${JSON.stringify(result)}`,
    screen,
    left: lines?.length ?? 0,
  }
}

describe('given answers', () => {
  test.each([
    ['a question', 'println(ask_user("Name?"))', [{ match: 'Name*', answer: 'Ada' }], 'Ada\n'],
    ['a question with a type', 'println(ask_user("N?", {schema: {type: "int"}}) + 1)', [{ answer: 4 }], '5\n'],
    ['an approval', 'println(request_approval("deploy").approved)', [{ kind: 'approval', approve: true }], 'true\n'],
    [
      'a quorum',
      'println(request_approval("deploy", {quorum: 2, reviewers: ["a", "b"]}).reviewers)',
      [
        { approve: true, reviewer: 'a' },
        { approve: true, reviewer: 'b' },
      ],
      '[a, b]\n',
    ],
    ['a denial', 'println(is_err(try { request_approval("x") }))', [{ approve: false, reason: 'no' }], 'true\n'],
    ['an escalation', 'println(escalate_to("lead", "stuck").status)', [{ approve: true }], 'accepted\n'],
  ])('%s', async (_name, script, rows, output) => {
    expect(await run(script, { answers: answersFile(rows) })).toMatchObject({ output })
  })

  test('a row answers once, unless it has always', async () => {
    const script = 'println(ask_user("a?"))\nprintln(is_err(try { ask_user("b?") }))'
    expect((await run(script, { answers: answersFile([{ answer: 1 }]) })).output).toBe('1\ntrue\n')
    expect((await run(script.replace('is_err', 'is_ok'), { answers: answersFile([{ answer: 1, always: true }]) })).output).toBe(
      '1\ntrue\n',
    )
  })

  test('--approve approves by name, --deny-all denies the rest, and neither answers a question', async () => {
    const script = `for name in ["deploy-a", "drop"] { println(try { request_approval(name).reviewers } catch (e) { e.message }) }
println(try { ask_user("?") } catch (e) { e.name })`
    const { output } = await run(script, { approve: ['deploy-*'], denyAll: true })
    expect(output).toBe(`[${currentUser()}]\ndenied by --deny-all\nHumanUnavailableError\n`)
  })

  test('a reviewer who may not approve, or has approved, is not asked again: the request fails at once', async () => {
    const script = (more: string): string => `println(try { request_approval("x", ${more}) } catch (e) { e.name })`
    expect((await run(script('{reviewers: ["somebody else"]}'), { approve: ['*'] })).output).toBe('HumanUnavailableError\n')
    expect((await run(script('{quorum: 2}'), { approve: ['*'] })).output).toBe('HumanUnavailableError\n')
  })

  test.each([
    ['{', /is not JSON/],
    ['{}', /expected array/],
    [[{ match: 'x' }], /at 0: a row has either "answer", for questions, or "approve"/],
    [[{ answr: 1 }], /answr/],
    [[{ kind: 'query', answer: 1 }], /at 0\.kind/],
  ])('a file %j is refused', (rows, message) => {
    const path = answersFile(rows)
    expect(() => readAnswers(path)).toThrow(message)
  })

  test('a missing file is a usage error', () => {
    expect(() => readAnswers(join(folder, 'none.json'))).toThrow(/cannot read/)
  })
})

describe('at the terminal', () => {
  test('a question shows its prompt and its default, and is repeated after an answer of another type', async () => {
    const script = 'println(ask_user("How many?", {schema: {type: "int"}}))\nprintln(ask_user("Colour?", {default: "red"}))'
    const { output, screen } = await run(script, {}, ['five', '5', ''])
    expect(output).toBe('5\nred\n')
    expect(screen).toContain('The script asks: How many?\n> an answer of type int is wanted\n> ')
    expect(screen).toContain('default: red')
  })

  test.each([
    ['bool', 'yes', 'true'],
    ['float', '1.5', '1.5'],
    ['list', '[1, 2]', '[1, 2]'],
    ['dict', '{"a": 1}', '{a: 1}'],
    ['string', '12', '12'],
  ])('an answer of type %s', async (type, line, printed) => {
    expect((await run(`println(ask_user("?", {schema: {type: "${type}"}}))`, {}, [line])).output).toBe(`${printed}\n`)
  })

  test('an approval shows the exact arguments; long ones are truncated until requested', async () => {
    const script = 'request_approval("write", {args: {path: "a.txt", content: "x" * 3000 + "END"}})'
    const { screen } = await run(script, {}, ['v', 'y'])
    expect(screen).toContain('"path": "a.txt"')
    expect(screen).toContain('[and 1003 more characters]')
    expect(screen).toContain('xEND"')
  })

  test('a script cannot write lines that look like those of the command', async () => {
    const script = 'request_approval("tidy up\\n  detail: harmless", {detail: "a\\napprove? yes"})'
    const { screen } = await run(script, {}, ['y'])
    expect(screen.split('\n').map((line) => line.slice(0, 12))).toEqual(['The script w', '  detail: "a', 'approve? [y]'])
  })

  test('a denial carries its reason, and an empty line is a denial', async () => {
    const script = 'println(try { request_approval("x") } catch (e) { e.message })'
    expect((await run(script, {}, ['maybe', 'n', 'too early'])).output).toBe('too early\n')
    expect((await run(script, {}, ['', ''])).output).toBe('approval was denied\n')
  })

  test('if several people must approve, each gives a name', async () => {
    const script = 'println(request_approval("x", {quorum: 2, reviewers: ["ada", "bob", "eve"]}).reviewers)'
    const { output, screen } = await run(script, {}, ['y', 'mallory', 'ada', 'y', 'ada', 'bob'])
    expect(output).toBe('[ada, bob]\n')
    expect(screen).toContain('mallory may not approve this')
    expect(screen).toContain('(bob, eve)')
  })

  test('at the end of input a request fails at once', async () => {
    expect((await run('println(try { ask_user("?") } catch (e) { e.name })', {}, [])).output).toBe('HumanUnavailableError\n')
  })

  test('simultaneous requests are shown one after the other', async () => {
    const script = 'println(parallel each ["a", "b", "c"] { name -> ask_user(name) })'
    const { output, screen } = await run(script, {}, ['1', '2', '3'])
    expect(output).toBe('[1, 2, 3]\n')
    expect(screen).toBe('The script asks: a\n> The script asks: b\n> The script asks: c\n> ')
  })

  test('prepared answers come first', async () => {
    const { output, left } = await run(
      'println(ask_user("a?"))\nprintln(ask_user("b?"))',
      { answers: answersFile([{ match: 'b?', answer: 'given' }]) },
      ['typed'],
    )
    expect(output).toBe('typed\ngiven\n')
    expect(left).toBe(0)
  })
})

test('a tool call shows what it runs, and only a yes grants it', async () => {
  const payload = {
    approvalRequest: { id: 'a1', action: 'write_note', args: { text: 'hi' } },
    tool: { identity: 'harn:write_note' },
    declaredPaths: ['notes.txt'],
    binding: 'b',
  }
  let screen = ''
  const lines = ['y', 'n', 'not now']
  const people = peopleProvider({ readLine: async () => lines.shift() ?? null, show: (text) => (screen += text) })
  const ask = (): unknown =>
    people.perform(
      { kind: 'approval.ask', args: { kind: 'permission', payload } },
      { id: 1, runId: 'r', idempotencyKey: 'k', signal: new AbortController().signal, now: 0, exit: () => undefined },
    )
  expect(await ask()).toMatchObject({ ok: true, value: { granted: true } })
  expect(screen).toContain('The script wants to call: write_note\n  runs: harn:write_note\n')
  expect(screen).toContain('"text": "hi"')
  expect(screen).toContain('notes.txt')
  expect(await ask()).toMatchObject({ ok: true, value: { granted: false, reason: 'not now' } })
  expect(await ask()).toMatchObject({ ok: false, error: { category: 'tool_rejected' } })
})
