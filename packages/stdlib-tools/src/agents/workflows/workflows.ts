// Workflows: graphs of stages, their validation and editing. graph.harn and edit.harn are what the builtins do; shapes.ts says what records
// have.

import {
  beginSpan,
  chargeArguments,
  display,
  endSpan,
  failRuntime,
  harnBuiltin,
  HarnDict,
  HarnList,
  tracingState,
} from '@bridle/vm/families'
import type { BuiltinDef, BuiltinFamily, Context, SpanKind, Value } from '@bridle/vm/families'
import { AGENT_EFFECTS } from '../loop/loop.js'
import { definePrimitive } from '../../library/harn/primitive.js'
import { findHarnModule } from '../../library/harn/modules.js'
import { readShape } from './read-shape.js'
import { SHAPES } from './shapes.js'

function readNamed(ctx: Context, name: Value, payload: Value, label: Value, short: boolean): Value {
  chargeArguments(ctx, [payload])
  const shape = SHAPES[display(name)]
  return shape === undefined
    ? failRuntime(`no record is called ${display(name)}`)
    : readShape(payload, shape, display(label), short)
}

const primitives: readonly BuiltinDef[] = [
  definePrimitive(
    '__record(shape: string, payload: any, label: string) -> dict',
    'The payload as a record of this shape; a misfit is raised with its path.',
    (ctx, shape, payload, label) => readNamed(ctx, shape!, payload!, label!, false),
  ),
  definePrimitive(
    '__begin_span(kind: string, name: string) -> int?',
    'Opens a span of the machine; nil while tracing is off.',
    (ctx, kind, name) => beginSpan(ctx.state(tracingState), kind as SpanKind, name as string, ctx.now),
  ),
  definePrimitive('__end_span(span: int?) -> nil', 'Ends a span of the machine.', (ctx, span) => {
    endSpan(ctx.state(tracingState), span === null ? null : Number(span), ctx.now)
    return null
  }),
  definePrimitive('__task_field(name: string) -> any', 'A field of the running task and of those that start it.', (ctx, name) => {
    return ctx.machine.task().fields.get(name as string) ?? null
  }),
  definePrimitive(
    '__set_task_field(name: string, value: any) -> any',
    'Sets a field of the running task; tasks under it get it along. The value before.',
    (ctx, name, value) => {
      const { fields } = ctx.machine.task()
      const before = fields.get(name as string) ?? null
      // All readers share this object, so it must not be changed in place.
      if (value instanceof HarnList || value instanceof HarnDict) value.owned = false
      fields.set(name as string, value ?? null)
      return before
    },
  ),
  definePrimitive(
    '__record_part(shape: string, payload: any, label: string) -> dict',
    'The same; a misfit is raised as `LABEL: WHY`.',
    (ctx, shape, payload, label) => readNamed(ctx, shape!, payload!, label!, true),
  ),
]

const FILES = ['clock.now', 'random.bytes', 'fs.read', 'fs.write', 'fs.query', 'process.info'] as const
const MAKES = ['clock.now', 'random.bytes'] as const

function define(signature: string, doc: string, module: string, effects: readonly string[] = MAKES): BuiltinDef {
  const name = /^\w+/.exec(signature)![0]
  return harnBuiltin(
    signature,
    { doc, effects: [...effects] },
    { module: `agents/workflows/${module}`, function: name, output: 'drop' },
  )
}

const GRAPH = 'graph'
const EDIT = 'edit'
const RECORDS = 'records'
const EVALUATIONS = 'evaluations'

export const workflowsFamily: BuiltinFamily = {
  name: 'workflows',
  modules: findHarnModule,
  primitives,
  builtins: [
    define(
      'workflow_graph(config?: dict) -> dict',
      'A graph of stages with what the configuration leaves open filled in.',
      GRAPH,
    ),
    define('workflow_validate(graph: dict, ceiling?: dict) -> dict', 'What is wrong with a graph.', GRAPH),
    define('workflow_inspect(graph: dict, ceiling?: dict) -> dict', 'A graph as data, with its report and its size.', GRAPH),
    define('workflow_policy_report(graph: dict, ceiling?: dict) -> dict', 'The policies of a graph and of its nodes.', GRAPH),
    define('workflow_clone(graph: dict) -> dict', 'A copy of a graph as its next version.', EDIT),
    define('workflow_insert_node(graph: dict, node: dict, edge?: dict) -> dict', 'A graph with one more node.', EDIT),
    define(
      'workflow_replace_node(graph: dict, node_id: string, node: dict) -> dict',
      'A graph with another node of this id.',
      EDIT,
    ),
    define(
      'workflow_rewire(graph: dict, from: string, to: string, branch?: string) -> dict',
      'A graph in which a branch of a node leads elsewhere.',
      EDIT,
    ),
    define(
      'workflow_set_model_policy(graph: dict, node_id: string, policy: dict) -> dict',
      'Replaces the model policy of a node.',
      EDIT,
    ),
    define(
      'workflow_set_context_policy(graph: dict, node_id: string, policy: dict) -> dict',
      'Replaces the context policy of a node.',
      EDIT,
    ),
    define(
      'workflow_set_auto_compact(graph: dict, node_id: string, policy: dict) -> dict',
      'Replaces the compaction policy of a node.',
      EDIT,
    ),
    define(
      'workflow_set_output_visibility(graph: dict, node_id: string, visibility?: string) -> dict',
      'Sets which part of the transcript of a node others see.',
      EDIT,
    ),
    define(
      'workflow_commit(graph: dict, reason?: string) -> dict',
      'A graph that is valid, with the reason in its audit log.',
      EDIT,
    ),
    define('workflow_diff(left: dict, right: dict) -> dict', 'Whether two graphs differ.', EDIT),
    harnBuiltin(
      'workflow_execute(task: string, graph: dict, artifacts?: list, options?: dict) -> dict',
      {
        doc: 'Runs a workflow: {status, run, artifacts, transcript, path}.',
        effects: [...AGENT_EFFECTS, 'fs.write', 'process.exec'],
      },
      { module: 'agents/workflows/engine', function: 'workflow_execute', output: 'keep' },
    ),
    define('run_record(payload: dict) -> dict', 'A run in its one shape, with what follows from it.', RECORDS, FILES),
    define('run_record_save(run: dict, path?: string) -> dict', 'Writes a run to a file: {path, run}.', RECORDS, FILES),
    define('run_record_load(path: string) -> dict', 'The run of a file.', RECORDS, FILES),
    define('load_run_tree(path: string) -> dict', 'The run of a file with the runs under it.', RECORDS, FILES),
    define('run_record_fixture(run: dict) -> dict', 'What a run is expected to look like when it is made again.', EVALUATIONS),
    define('run_record_eval(run: dict, fixture?: dict) -> dict', 'Whether a run is as a fixture has it.', EVALUATIONS),
    define('run_record_eval_suite(cases: list) -> dict', 'Whether several runs are as their fixtures have them.', EVALUATIONS),
    define('run_record_diff(left: dict, right: dict) -> dict', 'What differs between two runs.', EVALUATIONS, FILES),
    define('eval_suite_run(manifest: dict) -> dict', 'Runs an evaluation suite over saved runs.', EVALUATIONS, FILES),
    define('eval_pack_run(manifest: dict) -> dict', 'Runs an evaluation pack over saved runs.', EVALUATIONS, FILES),
  ],
}
