// The records of the workflow engine: graphs, runs, fixtures, reports, manifests. One table a record.

import type { Shape } from './read-shape.js'

const CAPABILITY_POLICY: Shape = {
  name: 'CapabilityPolicy',
  fields: {
    tools: 'strings',
    capabilities: 'string lists by name',
    workspace_roots: 'strings',
    side_effect_level: 'string?',
    recursion_limit: 'usize?',
    tool_arg_constraints: {
      records: { name: 'ToolArgConstraint', fields: { tool: 'string', arg_patterns: 'strings', arg_key: 'string?' } },
    },
    tool_annotations: 'map',
  },
}

const APPROVAL_POLICY: Shape = {
  name: 'ToolApprovalPolicy',
  fields: {
    auto_approve: 'strings',
    auto_deny: 'strings',
    require_approval: 'strings',
    write_path_allowlist: 'strings',
  },
}

const CONTEXT_POLICY: Shape = {
  name: 'ContextPolicy',
  fields: {
    max_artifacts: 'usize?',
    max_tokens: 'usize?',
    reserve_tokens: 'usize?',
    include_kinds: 'strings',
    exclude_kinds: 'strings',
    prioritize_kinds: 'strings',
    pinned_ids: 'strings',
    include_stages: 'strings',
    prefer_recent: 'boolean',
    prefer_fresh: 'boolean',
    render: 'string?',
  },
}

const MODEL_POLICY: Shape = {
  name: 'ModelPolicy',
  fields: {
    provider: 'string?',
    model: 'string?',
    model_tier: 'string?',
    temperature: 'f64?',
    max_tokens: 'i64?',
    max_iterations: 'usize?',
    max_nudges: 'usize?',
    nudge: 'string?',
    tool_examples: 'string?',
    stop_after_successful_tools: 'sequence=nil',
    require_successful_tools: 'sequence=nil',
    turn_policy: {
      record: {
        name: 'TurnPolicy',
        fields: { require_action_or_yield: 'boolean', allow_done_sentinel: 'boolean=true', max_prose_chars: 'usize?' },
      },
      optional: true,
    },
    tool_format: 'string?',
    native_tool_fallback: 'string?',
  },
}

const AUTO_COMPACT: Shape = {
  name: 'AutoCompactPolicy',
  fields: {
    enabled: 'boolean',
    token_threshold: 'usize?',
    tool_output_max_chars: 'usize?',
    compact_strategy: 'string?',
    hard_limit_tokens: 'usize?',
    hard_limit_strategy: 'string?',
  },
}

const CONTRACT: Shape = {
  name: 'StageContract',
  fields: {
    input_kinds: 'strings',
    output_kinds: 'strings',
    min_inputs: 'usize?',
    max_inputs: 'usize?',
    require_transcript: 'boolean',
    schema: 'any',
  },
}

const NODE: Shape = {
  name: 'WorkflowNode',
  fields: {
    id: 'string?',
    kind: 'string',
    mode: 'string?',
    prompt: 'string?',
    system: 'string?',
    task_label: 'string?',
    done_sentinel: 'string?',
    tools: 'any',
    model_policy: { record: MODEL_POLICY },
    auto_compact: { record: AUTO_COMPACT },
    output_visibility: 'string?',
    context_policy: { record: CONTEXT_POLICY },
    retry_policy: {
      record: {
        name: 'RetryPolicy',
        fields: {
          max_attempts: 'usize=1',
          verify: 'boolean',
          repair: 'boolean',
          backoff_ms: 'usize?',
          backoff_multiplier: 'f64?',
        },
      },
    },
    capability_policy: { record: CAPABILITY_POLICY },
    approval_policy: { record: APPROVAL_POLICY },
    input_contract: { record: CONTRACT },
    output_contract: { record: CONTRACT },
    branch_semantics: {
      record: {
        name: 'BranchSemantics',
        fields: {
          success: 'string?',
          failure: 'string?',
          verify_pass: 'string?',
          verify_fail: 'string?',
          condition_true: 'string?',
          condition_false: 'string?',
          loop_continue: 'string?',
          loop_exit: 'string?',
          escalation: 'string?',
        },
      },
    },
    map_policy: {
      record: {
        name: 'MapPolicy',
        fields: {
          items: 'sequence',
          item_artifact_kind: 'string?',
          output_kind: 'string?',
          max_items: 'usize?',
          max_concurrent: 'usize?',
        },
      },
    },
    join_policy: {
      record: {
        name: 'JoinPolicy',
        fields: { strategy: 'string', require_all_inputs: 'boolean', min_completed: 'usize?' },
      },
    },
    reduce_policy: {
      record: { name: 'ReducePolicy', fields: { strategy: 'string', separator: 'string?', output_kind: 'string?' } },
    },
    escalation_policy: {
      record: { name: 'EscalationPolicy', fields: { level: 'string?', queue: 'string?', reason: 'string?' } },
    },
    verify: 'any',
    exit_when_verified: 'boolean',
    metadata: 'map',
  },
}

const EDGE: Shape = {
  name: 'WorkflowEdge',
  fields: { from: 'string', to: 'string', branch: 'string?', label: 'string?' },
}

const GRAPH: Shape = {
  name: 'WorkflowGraph',
  fields: {
    id: 'string',
    name: 'string?',
    version: 'usize',
    entry: 'string',
    nodes: { byName: NODE },
    edges: { records: EDGE },
    capability_policy: { record: CAPABILITY_POLICY },
    approval_policy: { record: APPROVAL_POLICY },
    metadata: 'map',
    audit_log: {
      records: {
        name: 'WorkflowAuditEntry',
        fields: { id: 'string', op: 'string', node_id: 'string?', timestamp: 'string', reason: 'string?', metadata: 'map' },
      },
    },
  },
}

// --------------------------------------------------------------------------------------------------------------- run records

const EXECUTION: Shape = {
  name: 'RunExecutionRecord',
  fields: {
    cwd: 'string?',
    source_dir: 'string?',
    env: 'texts by name',
    adapter: 'string?',
    repo_path: 'string?',
    worktree_path: 'string?',
    branch: 'string?',
    base_ref: 'string?',
    cleanup: 'string?',
  },
}

const WORKER_EXECUTION: Shape = {
  name: 'WorkerExecutionProfile',
  fields: {
    cwd: 'string?',
    env: 'texts by name',
    worktree: {
      record: {
        name: 'WorkerWorktreeProfile',
        fields: { repo: 'string', path: 'string?', branch: 'string?', base_ref: 'string?', cleanup: 'string?' },
      },
      optional: true,
    },
  },
}

const MUTATION: Shape = {
  name: 'MutationSessionRecord',
  fields: {
    session_id: 'string',
    parent_session_id: 'string?',
    run_id: 'string?',
    worker_id: 'string?',
    execution_kind: 'string?',
    mutation_scope: 'string',
    approval_policy: { record: APPROVAL_POLICY, optional: true },
  },
}

const USAGE: Shape = {
  name: 'LlmUsageRecord',
  fields: {
    input_tokens: 'i64',
    output_tokens: 'i64',
    total_duration_ms: 'i64',
    call_count: 'i64',
    total_cost: 'f64',
    models: 'strings',
  },
}

const ARTIFACT: Shape = {
  name: 'ArtifactRecord',
  fields: {
    _type: 'string',
    id: 'string',
    kind: 'string',
    title: 'string?',
    text: 'string?',
    data: 'any',
    source: 'string?',
    created_at: 'string',
    freshness: 'string?',
    priority: 'i64?',
    lineage: 'strings',
    relevance: 'f64?',
    estimated_tokens: 'usize?',
    stage: 'string?',
    metadata: 'map',
  },
}

const STAGE: Shape = {
  name: 'RunStageRecord',
  fields: {
    id: 'string',
    node_id: 'string',
    kind: 'string',
    status: 'string',
    outcome: 'string',
    branch: 'string?',
    started_at: 'string',
    finished_at: 'string?',
    visible_text: 'string?',
    private_reasoning: 'string?',
    transcript: 'any',
    verification: 'any',
    usage: { record: USAGE, optional: true },
    artifacts: { records: ARTIFACT },
    consumed_artifact_ids: 'strings',
    produced_artifact_ids: 'strings',
    attempts: {
      records: {
        name: 'RunStageAttemptRecord',
        fields: {
          attempt: 'usize=1',
          status: 'string',
          outcome: 'string',
          branch: 'string?',
          error: 'string?',
          verification: 'any',
          started_at: 'string',
          finished_at: 'string?',
        },
      },
    },
    metadata: 'map',
  },
}

const FIXTURE: Shape = {
  name: 'ReplayFixture',
  fields: {
    _type: 'string',
    id: 'string',
    source_run_id: 'string',
    workflow_id: 'string',
    workflow_name: 'string?',
    created_at: 'string',
    eval_kind: 'string?',
    clarifying_question: {
      record: {
        name: 'ClarifyingQuestionEvalSpec',
        fields: {
          expected_question: 'string?',
          accepted_questions: 'strings',
          required_terms: 'strings',
          forbidden_terms: 'strings',
          min_questions: 'usize',
          max_questions: 'usize?',
        },
      },
      optional: true,
    },
    expected_status: 'string',
    stage_assertions: {
      records: {
        name: 'ReplayStageAssertion',
        fields: {
          node_id: 'string',
          expected_status: 'string',
          expected_outcome: 'string',
          expected_branch: 'string?',
          required_artifact_kinds: 'strings',
          visible_text_contains: 'string?',
        },
      },
    },
  },
}

const RUN: Shape = {
  name: 'RunRecord',
  fields: {
    _type: 'string',
    id: 'string',
    workflow_id: 'string',
    workflow_name: 'string?',
    task: 'string',
    status: 'string',
    started_at: 'string',
    finished_at: 'string?',
    parent_run_id: 'string?',
    root_run_id: 'string?',
    stages: { records: STAGE },
    transitions: {
      records: {
        name: 'RunTransitionRecord',
        fields: {
          id: 'string',
          from_stage_id: 'string?',
          from_node_id: 'string?',
          to_node_id: 'string',
          branch: 'string?',
          timestamp: 'string',
          consumed_artifact_ids: 'strings',
          produced_artifact_ids: 'strings',
        },
      },
    },
    checkpoints: {
      records: {
        name: 'RunCheckpointRecord',
        fields: {
          id: 'string',
          ready_nodes: 'strings',
          completed_nodes: 'strings',
          last_stage_id: 'string?',
          persisted_at: 'string',
          reason: 'string',
        },
      },
    },
    pending_nodes: 'strings',
    completed_nodes: 'strings',
    child_runs: {
      records: {
        name: 'RunChildRecord',
        fields: {
          worker_id: 'string',
          worker_name: 'string',
          parent_stage_id: 'string?',
          session_id: 'string?',
          parent_session_id: 'string?',
          mutation_scope: 'string?',
          approval_policy: { record: APPROVAL_POLICY, optional: true },
          task: 'string',
          request: 'any',
          provenance: 'any',
          status: 'string',
          started_at: 'string',
          finished_at: 'string?',
          run_id: 'string?',
          run_path: 'string?',
          snapshot_path: 'string?',
          execution: { record: EXECUTION, optional: true },
        },
      },
    },
    artifacts: { records: ARTIFACT },
    handoffs: 'sequence',
    policy: { record: CAPABILITY_POLICY },
    execution: { record: EXECUTION, optional: true },
    transcript: 'any',
    usage: { record: USAGE, optional: true },
    replay_fixture: { record: FIXTURE, optional: true },
    observability: 'any',
    trace_spans: {
      records: {
        name: 'RunTraceSpanRecord',
        fields: {
          span_id: 'usize',
          parent_id: 'usize?',
          kind: 'string',
          name: 'string',
          start_ms: 'usize',
          duration_ms: 'usize',
          metadata: 'map',
        },
      },
    },
    tool_recordings: {
      records: {
        name: 'ToolCallRecord',
        fields: {
          tool_name: 'string',
          tool_use_id: 'string',
          args_hash: 'string',
          result: 'string',
          is_rejected: 'boolean',
          duration_ms: 'usize',
          iteration: 'usize',
          timestamp: 'string',
        },
      },
    },
    hitl_questions: {
      records: {
        name: 'RunHitlQuestionRecord',
        fields: { request_id: 'string', prompt: 'string', agent: 'string', trace_id: 'string?', asked_at: 'string' },
      },
    },
    metadata: 'map',
    persisted_path: 'string?',
  },
}

// --------------------------------------------------------------------------------------------------------------- evaluations

const SUITE: Shape = {
  name: 'EvalSuiteManifest',
  fields: {
    _type: 'string',
    id: 'string',
    name: 'string?',
    base_dir: 'string?',
    cases: {
      records: {
        name: 'EvalSuiteCase',
        fields: { label: 'string?', run_path: 'string', fixture_path: 'string?', compare_to: 'string?' },
      },
    },
  },
}

const THRESHOLDS: Shape = {
  name: 'EvalPackThresholds',
  fields: {
    severity: 'string?',
    min_score: 'f64?',
    min_confidence: 'f64?',
    max_cost_usd: 'f64?',
    max_latency_ms: 'i64?',
    max_tokens: 'i64?',
    max_stage_count: 'usize?',
  },
  aliases: {
    min_score: ['min-score'],
    min_confidence: ['min-confidence'],
    max_cost_usd: ['max-cost-usd'],
    max_latency_ms: ['max-latency-ms'],
    max_tokens: ['max-tokens'],
    max_stage_count: ['max-stage-count'],
  },
}

const JUDGE: Shape = {
  name: 'EvalPackJudgeConfig',
  fields: {
    model: 'string?',
    prompt_version: 'string?',
    tie_break: 'string?',
    confidence_min: 'f64?',
    temperature: 'f64?',
    rubric: 'string?',
    metadata: 'map',
  },
  aliases: { prompt_version: ['prompt-version'], tie_break: ['tie-break'], confidence_min: ['confidence-min'] },
}

const PACK: Shape = {
  name: 'EvalPackManifest',
  fields: {
    version: 'usize',
    id: 'string',
    name: 'string?',
    description: 'string?',
    base_dir: 'string?',
    baseline: 'string?',
    package: {
      record: {
        name: 'EvalPackPackage',
        fields: { name: 'string?', version: 'string?', source: 'string?', templates: 'strings' },
      },
      optional: true,
    },
    defaults: {
      record: {
        name: 'EvalPackDefaults',
        fields: {
          severity: 'string?',
          fixture_root: 'string?',
          thresholds: { record: THRESHOLDS },
          judge: { record: JUDGE, optional: true },
        },
        aliases: { fixture_root: ['fixture-root'] },
      },
    },
    fixtures: {
      records: {
        name: 'EvalPackFixtureRef',
        fields: {
          id: 'string',
          kind: 'string',
          path: 'string?',
          trace_id: 'string?',
          provider: 'string?',
          event_kind: 'string?',
          inline: 'any',
          metadata: 'map',
        },
        aliases: { trace_id: ['trace-id'], event_kind: ['event-kind'] },
      },
    },
    rubrics: {
      records: {
        name: 'EvalPackRubric',
        fields: {
          id: 'string',
          kind: 'string',
          description: 'string?',
          prompt: 'string?',
          assertions: {
            records: {
              name: 'EvalPackAssertion',
              fields: {
                kind: 'string',
                stage: 'string?',
                path: 'string?',
                op: 'string?',
                expected: 'any',
                contains: 'string?',
                metadata: 'map',
              },
            },
          },
          judge: { record: JUDGE, optional: true },
          calibration: {
            records: {
              name: 'EvalPackGoldenExample',
              fields: { input: 'any', output: 'any', score: 'f64?', explanation: 'string?' },
            },
          },
          thresholds: { record: THRESHOLDS },
          metadata: 'map',
        },
      },
    },
    judge: { record: JUDGE, optional: true },
    cases: {
      records: {
        name: 'EvalPackCase',
        fields: {
          id: 'string?',
          name: 'string?',
          description: 'string?',
          run: 'string?',
          run_path: 'string?',
          friction_events: 'string?',
          fixture: 'string?',
          fixture_path: 'string?',
          compare_to: 'string?',
          rubrics: 'strings',
          severity: 'string?',
          thresholds: { record: THRESHOLDS },
          metadata: 'map',
        },
        aliases: {
          run_path: ['run-path'],
          friction_events: ['friction-events'],
          fixture_path: ['fixture-path'],
          compare_to: ['compare-to'],
        },
      },
    },
    metadata: 'map',
  },
  aliases: { base_dir: ['base-dir'] },
}

/** By the names that internal modules use. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  graph: GRAPH,
  node: NODE,
  edge: EDGE,
  model_policy: MODEL_POLICY,
  context_policy: CONTEXT_POLICY,
  auto_compact: AUTO_COMPACT,
  capability_policy: CAPABILITY_POLICY,
  approval_policy: APPROVAL_POLICY,
  execution: EXECUTION,
  worker_execution: WORKER_EXECUTION,
  mutation: MUTATION,
  run: RUN,
  fixture: FIXTURE,
  suite: SUITE,
  pack: PACK,
}
