// Builtins of the language that Bridle does not have yet. Only what is defined nowhere may stand here: the generator of
// builtins.generated.ts refuses others, so the list shrinks with each definition.
//
// A call of one is an error of `bridle check`, of the editor and of lint. It stops no run: scripts that the language accepts may
// name one in a branch that is never taken, and a call that is made raises `Undefined builtin`.

export const MISSING_BUILTINS: ReadonlySet<string> = new Set([
  // Constants, which the language's own checker lets a script call.
  'e',
  'pi',
  'stream',
  // Not built yet.
  'connector_call',
  'continue_as_new',
  'daemon_resume',
  'daemon_snapshot',
  'daemon_spawn',
  'daemon_stop',
  'daemon_trigger',
  'handler_context',
  'list_providers_native',
  'metrics_inc',
  'project_enrich_native',
  'secret_get',
  'self_review',
  'trigger_fire',
  'trigger_inspect_action_graph',
  'trigger_inspect_dlq',
  'trigger_inspect_lifecycle',
  'trigger_list',
  'trigger_register',
  'trigger_replay',
  'trigger_test_harness',
  'trust_graph_policy_for',
  'trust_graph_query',
  'trust_graph_record',
  'trust_graph_verify_chain',
  'trust_query',
  'trust_record',
  'vision_ocr',
  'workflow.continue_as_new',
  'workflow.pause',
  'workflow.publish_query',
  'workflow.query',
  'workflow.receive',
  'workflow.respond_update',
  'workflow.resume',
  'workflow.signal',
  'workflow.status',
  'workflow.update',
  'workflow_execute',
])
