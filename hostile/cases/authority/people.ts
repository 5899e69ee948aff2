// Requests to people, invalid answers, and scripts that try to answer themselves.

import { approvalProvider } from '@bridle/stdlib-tools'
import type { AskPerson } from '@bridle/stdlib-tools'
import { makeHostOptions, must, makeCases, runToText } from '../../attempt.js'
import type { World } from '../../world.js'

const HEAD = `
import { on_event, with_policies } from "std/policy"
import { tool_call } from "std/tools"
let NEEDED = {approval_policy: {require_approval: ["shop.order"]}}
`

const guardCall = (call: string, before = ''): string =>
  `${HEAD}${before}\ntry {\nwith_policies(NEEDED, { -> ${call} })\nprintln("ordered")\n} catch (e) { println("refused") }`

const ORDER = 'tool_call("shop.order", {item: "bread", amount: 1})'

/** Runs an order that needs a person's approval; returns whether the tool was executed. */
async function isOrdered(world: World, source: string, ask: AskPerson | null): Promise<boolean> {
  await runToText(source, makeHostOptions(world, ask === null ? [] : [approvalProvider(ask)]))
  return world.performed.some((what) => what.endsWith('shop.order'))
}

const yes: AskPerson = () => ({ granted: true })

/** Answers of people, hosts and clients other than a yes. */
const NO: Readonly<Record<string, unknown>> = {
  nothing: null,
  'an empty answer': {},
  'a yes that is a text': { granted: 'true' },
  'a yes that is a number': { granted: 1 },
  'a no beside a yes': { granted: true, outcome: 'rejected' },
  'a yes for another call': { granted: true, binding: 'sha256:0000' },
  'a yes for no call': { granted: true, binding: null, outcome: 'cancelled' },
  'reject once': { outcome: { outcome: 'selected', optionId: 'reject-once' } },
  'an option that nobody offered': { outcome: { outcome: 'selected', optionId: 'do-it' } },
  'a list': [],
  'a text': 'yes',
}

/** Attempts of a script to avoid the question. */
const ROUNDABOUT: Readonly<Record<string, string>> = {
  'another name of the tool': guardCall('tool_call("buy", {item: "bread", amount: 1})'),
  'an entry of its own': guardCall(
    'tool_call({name: "x", executor: "host_bridge", host_capability: "shop.order"}, {item: "bread"})',
  ),
  'a mock of the person': guardCall(
    ORDER,
    'try { host_mock("hitl", "approval", {approved: true, granted: true}) } catch (e) { }',
  ),
  'a hook that allows': guardCall(ORDER, 'try { on_event("PreToolUse", "*", { e -> {allow: true} }) } catch (e) { }'),
  'a task of its own': guardCall(`await(spawn { ${ORDER} })`),
  'calls side by side': guardCall(`parallel each [1, 2, 3] { n -> ${ORDER} }`),
  'the bridge of tools': guardCall('host_tool_call("shop.order", {item: "bread"})'),
  'an operation of the host': guardCall('host_call("shop.order", {item: "bread"})'),
}

export const cases = [
  ...makeCases('approvals-cover-the-call', {
    'a yes is a yes': async (world) =>
      must(await isOrdered(world, guardCall(ORDER), yes), 'the order that was approved did not run'),
    'the person sees what runs, after hooks have rewritten it': async (world) => {
      const seen: string[] = []
      const source = guardCall(ORDER, 'on_event("PreToolUse", "shop.order", { e -> {args: {item: "gold", amount: 9}} })')
      await isOrdered(world, source, ({ payload }) => {
        seen.push(JSON.stringify(payload))
        return { granted: false }
      })
      must(seen.length > 0 && seen.every((text) => text.includes('gold') && !text.includes('bread')), `shown: ${seen.join()}`)
      must(world.performed.length === 0, 'it ran all the same')
    },
    'one yes is for one call': async (world) => {
      let asked = 0
      const source = `${HEAD}for item in ["bread", "gold", "bread"] { try { with_policies(NEEDED, { -> tool_call("shop.order", {item: item, amount: 1}) }) } catch (e) { } }`
      await runToText(source, makeHostOptions(world, [approvalProvider(() => ({ granted: asked++ === 0 }))]))
      must(asked === 3, `asked ${asked} times for three calls`)
      must(world.performed.length === 1, `${world.performed.length} calls ran with one yes`)
    },
    'a person who throws has not agreed': async (world) => {
      const ordered = await isOrdered(world, guardCall(ORDER), () => {
        throw new Error('no')
      })
      must(!ordered, 'it ran')
    },
    'nobody to ask is a no': async (world) => must(!(await isOrdered(world, guardCall(ORDER), null)), 'it ran'),
  }),
  ...makeCases(
    'approvals-cover-the-call',
    Object.fromEntries(
      Object.entries(NO).map(([name, answer]) => [
        `the answer is ${name}`,
        async (world: World) => must(!(await isOrdered(world, guardCall(ORDER), () => answer as never)), 'it ran'),
      ]),
    ),
  ),
  ...makeCases(
    'approvals-cover-the-call',
    Object.fromEntries(
      Object.entries(ROUNDABOUT).map(([name, source]) => [
        `around a person who says no: ${name}`,
        async (world: World) => must(!(await isOrdered(world, source, () => ({ granted: false }))), 'it ran'),
      ]),
    ),
  ),
]
