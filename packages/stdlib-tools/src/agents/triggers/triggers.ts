// Triggers: events that are dispatched to handlers, and the trust graph of what came of it. registry.harn, dispatch.harn, predicates.harn and
// trust.harn are what the builtins do.

import { HarnClosure, HarnEnum, builtin, harnBuiltin } from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily } from '@bridle/vm/families'
import { AGENT_EFFECTS } from '../loop/loop.js'
import { findCronProblem, isTimeZone } from './cron.js'
import { findJmespathProblem } from './jmespath.js'
import { findHarnModule } from '../../library/harn/modules.js'

/** The name of an anonymous closure. */
const NAMELESS = '<closure>'

const primitives: readonly BuiltinDef[] = [
  builtin('__function_name(f: any) -> string', { doc: 'The name that a function was declared by.' }, (_ctx, f) => {
    const name = f instanceof HarnClosure ? f.code.chunk.name : ''
    return name === '' ? NAMELESS : name
  }),
  builtin(
    '__is_result(value: any) -> bool',
    { doc: 'Whether a value is a Result.' },
    (_ctx, value) => value instanceof HarnEnum && value.enumName === 'Result',
  ),
  builtin(
    '__jmespath_problem(text: string) -> string | nil',
    { doc: 'What is wrong with an expression of JMESPath.' },
    (_ctx, text) => findJmespathProblem(text as string),
  ),
  builtin(
    '__cron_problem(schedule: string) -> string | nil',
    { doc: 'What is wrong with a schedule of cron.' },
    (_ctx, schedule) => findCronProblem(schedule as string),
  ),
  builtin('__is_time_zone(name: string) -> bool', { doc: 'Whether it is the name of a time zone.' }, (_ctx, name) =>
    isTimeZone(name as string),
  ),
]

const LOG = ['clock.now', 'random.bytes'] as const

function define(signature: string, doc: string, module: string, effects: readonly string[] = LOG): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  return harnBuiltin(signature, { doc, effects }, { module: `agents/triggers/${module}`, function: name, output: 'keep' })
}

const DISPATCH = 'dispatch'
const TRUST = 'trust'

export const triggersFamily: BuiltinFamily = {
  name: 'triggers',
  modules: findHarnModule,
  primitives,
  builtins: [
    define('trigger_register(config: dict) -> dict', 'Registers a trigger; its binding.', 'registry'),
    define(
      'connector_call(provider: string, method: string, params?: dict)',
      'Calls a method of a service: github, linear, notion or slack. Throws what went wrong, as text.',
      'connectors',
      ['http.request', 'process.info', 'clock.now', 'clock.sleep'],
    ),
    define('secret_get(secret_id: string)', 'A secret, for code of a connector.', 'connectors', []),
    define('metrics_inc(name: string, amount?: int | float)', 'Counts something, for code of a connector.', 'connectors', []),
    define(
      'trigger_manifest_native(tables: dict, facts: dict) -> dict',
      'The triggers that the tables of a manifest declare, and what is wrong with them.',
      'manifest',
      [],
    ),
    define(
      'trigger_orchestrate_native(request: dict, functions?: dict) -> any',
      'What an orchestrator asks: dispatches with the bindings of a manifest, and the work of its commands.',
      'orchestrate',
      AGENT_EFFECTS,
    ),
    define('trigger_list() -> list', 'The bindings of the run.', 'registry', []),
    define(
      'trigger_fire(handle: dict | string, event: dict) -> dict',
      'Dispatches an event to a trigger and waits for the end.',
      DISPATCH,
      AGENT_EFFECTS,
    ),
    define('trigger_replay(event_id: string) -> dict', 'Dispatches a recorded event once more.', DISPATCH, AGENT_EFFECTS),
    define('trigger_inspect_dlq() -> list', 'The dead letters that are pending.', DISPATCH, []),
    define('trigger_inspect_lifecycle(kind?: string) -> list', 'What happened to triggers.', DISPATCH, []),
    define('trigger_inspect_action_graph(trace_id?: string) -> list', 'The graph of actions, update by update.', DISPATCH, []),
    define('handler_context() -> dict | nil', 'The dispatch that the code runs in.', DISPATCH, []),
    harnBuiltin(
      'list_providers_native() -> list',
      { doc: 'The providers of trigger events.', effects: [] },
      { module: 'agents/triggers/providers', function: 'list_providers' },
    ),
    define(
      'trigger_test_harness(fixture: string | dict) -> dict',
      'Runs a scenario of triggers with a clock of its own.',
      'harness',
    ),
    define(
      'trust_record(agent: string, action: string, approver: string | nil, outcome: string, tier: string) -> dict',
      'Adds a record to the trust graph.',
      TRUST,
    ),
    define('trust_graph_record(decision: dict) -> string', 'Adds a decision to the trust graph; the id of its record.', TRUST),
    define('trust_query(filters?: dict) -> list', 'Records of the trust graph.', TRUST, []),
    define('trust_graph_query(agent: string, action?: string) -> dict', 'The score of an agent.', TRUST, []),
    define(
      'trust_graph_policy_for(agent: string) -> dict',
      'The capability policy that the score of an agent allows.',
      TRUST,
      [],
    ),
    define('trust_graph_verify_chain() -> dict', 'Whether the records of the trust graph form one chain.', TRUST, []),
  ],
}
