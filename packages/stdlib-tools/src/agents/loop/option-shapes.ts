// Options of agent loops, as checks, docs and editors show them; options.ts reads them. Those of calls of models come with them.

import { MODEL_OPTIONS } from '../models/option-shapes.js'

/** Keys that a loop means otherwise than a single call. */
const OWN = `
  profile: "tool_using" | "researcher" | "verifier" | "completer" = "tool_using" -- Defaults of the four counts behind it.
  max_iterations: int = 50 -- Turns at most.
  max_nudges: int = 8 -- How often a model that only talks is told to go on.
  llm_retries: int = 2 -- Further attempts after errors of a model that may pass.
  schema_retries: int = 0 -- Further attempts for data that fit a schema.
  llm_backoff_ms: int (ms) = 2000 -- The first pause between attempts; it doubles.
  tool_retries: int = 0 -- Further attempts of a call of a tool.
  tool_backoff_ms: int (ms) = 1000 -- The first pause between those.
  persistent: bool = false -- Goes on until the model says that it is done.
  nudge: string -- What a model is told that only talks.
  done_sentinel: string = "##DONE##" -- By which the model says that it is done.
  break_unless_phase: string -- Ends the loop when the model names another phase.
  tool_format: "text" | "native" | "json" = "text" -- How tools are offered.
  native_tool_fallback: "allow" | "allow_once" | "reject" = "allow" -- What becomes of native calls where tools are offered as text.
  session_id: string -- The session whose conversation is gone on with; nothing is stored without one.
  policy: dict -- Capabilities that the loop may use, narrower than those around it.
  approval_policy: dict -- Which calls of tools a person must approve.
  permissions: dict -- Which tools may be called with which arguments.
  command_policy: dict -- Which commands may run.
  turn_policy: {require_action_or_yield: bool, allow_done_sentinel: bool, max_prose_chars: int} -- What a turn must do.
  token_budget: int (tokens) -- Ends the loop when input and output reach it.
  exit_when_verified: bool = false -- Believes the model that it is done only after a command that succeeded.
  loop_detect_warn: int = 2 -- Equal calls until the model is warned; 0 switches that off.
  loop_detect_block: int = 3 -- Equal calls until one is refused.
  loop_detect_skip: int = 4 -- Equal calls until they are left out.
  tool_examples: string | list -- Examples of calls for the prompt.
  stop_after_successful_tools: list<string> -- Ends the loop when one of these tools has succeeded.
  require_successful_tools: list<string> -- The loop fails when none of these tools has succeeded.
  task_ledger: bool | dict -- Keeps a list of what is to be done.
  root_task: string -- The task of the ledger.
  deliverables: list -- What the task must give.
  post_turn_callback: closure -- Called after each turn; may stop the loop or add a message.
  skills: dict | list -- Skills that the loop may use.
  skill_match: dict -- How skills are chosen: \`{strategy, top_n, sticky}\`.
  working_files: list<string> -- Files whose paths choose skills.
  mcp_servers: list -- MCP servers whose tools the loop may call.
  auto_compact: bool = true -- Whether a long conversation is shortened.
  compaction: string | dict -- How: a strategy, or the keys below without their prefix.
  compact_threshold: int (tokens) = 48000 -- Length at which it is.
  compact_keep_first: int = 0 -- Messages at its begin that stay.
  compact_keep_last: int = 10 -- Messages at its end that stay.
  compact_strategy: string -- \`observation_mask\`, \`truncate\`, \`llm\` or \`custom\`.
  compact_callback: closure -- Shortens where the strategy is \`custom\`.
  tool_output_max_chars: int (characters) = 16000 -- Length of the result of a tool that the model sees at most.
  hard_limit_tokens: int (tokens) -- Length above which the second strategy is used.
  hard_limit_strategy: string -- The second strategy.
  summarize_prompt: string -- The template by which a model summarises.
  mask_callback: closure -- Gives what stands for a message that is left out.
  compress_callback: closure -- Shortens a result of a tool that is too long.
  daemon: bool = false -- Waits for something to do instead of ending.
  wake_interval_ms: int (ms) -- Wakes a daemon so often.
  watch_paths: list<string> -- Files whose changes wake a daemon.
  persist_path: string -- The file that a daemon's state is written to.
  resume_path: string -- The file that a daemon's state is read from.
  consolidate_on_idle: bool = false -- Shortens the conversation when a daemon has nothing to do.
  idle_watchdog_attempts: int -- Wakes without work until a daemon gives up.
`

const names = new Set(splitLines(OWN).map(readName))

function splitLines(shape: string): readonly string[] {
  return shape.split('\n').filter((line) => line.trim() !== '')
}

function readName(line: string): string {
  return line.slice(0, line.indexOf(':')).trim()
}

export const LOOP_OPTIONS = [...splitLines(OWN), ...splitLines(MODEL_OPTIONS).filter((line) => !names.has(readName(line)))].join(
  '\n',
)
