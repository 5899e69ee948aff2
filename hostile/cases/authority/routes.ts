// One forbidden tool, by every route that leads to it, under every kind of refusal.

import { rows } from '../../rows.js'
import type { RuntimeCase } from '../../format.js'

const ARGS = '{item: "gold", amount: 1000}'

const ROUTES: Readonly<Record<string, string>> = {
  'its name': `tool_call("shop.order", ${ARGS})`,
  'its alias': `tool_call("buy", ${ARGS})`,
  'a name of its own making': `tool_call({name: "shop.order"}, ${ARGS})`,
  'an entry with its executor': `tool_call({name: "x", executor: "host_bridge", host_capability: "shop.order"}, ${ARGS})`,
  'an entry named like an allowed tool': `tool_call({name: "notes.read", executor: "host_bridge", host_capability: "shop.order"}, ${ARGS})`,
  'an entry without effects': `tool_call({name: "x", effects: [], executor: "host_bridge", host_capability: "shop.order"}, ${ARGS})`,
  'an entry with aliases of its own': `tool_call({name: "notes.read", aliases: ["shop.order"], executor: "host_bridge", host_capability: "shop.order"}, ${ARGS})`,
  'the bridge of tools': `host_tool_call("shop.order", ${ARGS})`,
  'the bridge and an alias': `host_tool_call("buy", ${ARGS})`,
  'an operation of the host': `host_call("shop.order", ${ARGS})`,
  'an import of the host': 'order(item: "gold", amount: 1000)',
  'a variable that holds the import': 'let f = order\nf(item: "gold", amount: 1000)',
  'a task': `let t = spawn { tool_call("shop.order", ${ARGS}) }\nawait(t)`,
  'tasks side by side': `parallel each [1, 2, 3] { n -> try { tool_call("shop.order", ${ARGS}) } }`,
  'a callback': `[1].map({ n -> tool_call("shop.order", ${ARGS}) })`,
  'a finally': `try { 1 } finally { tool_call("shop.order", ${ARGS}) }`,
  'a retry': `retry 3 { tool_call("shop.order", ${ARGS}) }`,
  'a deferred call': `fn f() { defer { tool_call("shop.order", ${ARGS}) }\nreturn 1 }\nf()`,
  'a handler of an entry': `tool_call({name: "notes.read", handler: { a -> host_tool_call("shop.order", ${ARGS}) }}, {id: "1"})`,
  'what a note says': `let note = tool_call("notes.read", {id: "1"})\ntool_call(note, ${ARGS})`,
}

const REFUSALS: Readonly<Record<string, RuntimeCase>> = {
  'a list of grants without it': { toolGrants: { 'notes.read': {} }, defaultDeny: true },
  'no calls': { toolGrants: { 'shop.order': { maxCalls: 0 } } },
  'an argument that differs': { toolGrants: { 'shop.order': { item: 'bread' } } },
  'grants of the start': { start: { toolGrants: { 'notes.read': {} }, defaultDeny: true } },
}

const HEAD = 'import "std/tools"\nimport { order } from "host/shop"\n'

export const cases = rows(
  'one-identity',
  Object.entries(REFUSALS).flatMap(([refusal, runtime]) =>
    Object.entries(ROUTES).map(([route, call]) => ({
      name: `${route}, against ${refusal}`,
      source: `${HEAD}try {\n${call}\n} catch (e) {\n  println("refused")\n}\n`,
      runtime: { enforceManifest: false, ...runtime },
      // Reading the note is permitted if it was granted.
      ...(/"notes\.read", \{id/.test(call) ? { performs: ['tool:notes.read'] } : {}),
    })),
  ),
)
