// Options of calls of models, as checks, docs and editors show them; options.ts reads them.

export const MODEL_OPTIONS = `
  provider: string -- The provider; without it the model's, or the default.
  model: string -- The model or an alias of one.
  model_tier: string -- \`small\`, \`mid\` or \`frontier\`, instead of a model.
  messages: list<dict> -- The conversation, instead of the prompt.
  max_tokens: int (tokens) = 16384 -- Length of the answer at most.
  temperature: float -- How much chance there is in the answer.
  top_p: float -- Share of the likeliest words that are considered.
  top_k: int -- Number of the likeliest words that are considered.
  stop: list<string> -- Texts at which the answer ends.
  seed: int -- Makes answers repeatable, where the provider can.
  frequency_penalty: float -- Makes repeated words less likely.
  presence_penalty: float -- Makes words less likely that have occurred.
  timeout: int | duration (s) -- Time for the whole answer.
  idle_timeout: int | duration (s) -- Time between two pieces of the answer.
  stream: bool -- Whether the answer is read in pieces.
  on_delta: closure -- Is told each piece of the answer as it arrives.
  cache: bool -- Whether the provider may cache the prompt.
  response_format: "json" | "json_object" | "text" -- The form of the answer.
  json_schema: dict -- A JSON Schema that the answer follows.
  schema: dict -- The same.
  output_schema: Schema<T> -- A schema that \`data\` of the result is checked against.
  output_format: string | {kind: string, schema: dict, strict: bool} -- Form of the answer: text, json_object or json_schema.
  output_validation: "off" | "warn" | "error" = "off" -- What becomes of data that does not fit the schema.
  schema_retries: int = 1 -- Further attempts for data that fit.
  schema_retry_nudge: bool | string = true -- Whether the model is told what did not fit, or what it is told.
  llm_retries: int = 0 -- Further attempts after errors that may pass.
  llm_backoff_ms: int (ms) = 250 -- The first pause between them; it doubles.
  tools: dict | list -- A registry of tools, or a list of their entries.
  tool_choice: string | dict -- Whether and which tool the model must call.
  tool_format: "native" | "text" | "json" -- How tools are offered.
  tool_search: bool | string | dict -- Lets the model search for tools instead of seeing all.
  thinking: bool | string | dict -- Reasoning before the answer: a level, or \`{mode, budget_tokens, level}\`.
  reasoning_effort: "low" | "medium" | "high" -- As thinking with that effort.
  vision: bool -- Refuses models that see no images.
  audio: bool -- Refuses models that hear nothing.
  pdf: bool -- Refuses models that read no PDF.
  prefill: string -- How the answer begins.
  anthropic_beta_features: list<string> -- Names of features to switch on.
  interleaved_thinking: bool -- Whether reasoning may go on between calls of tools.
  fallback_chain: list -- Models to go on with when one fails.
  route_policy: string | dict = "manual" -- How a model is chosen: \`always(id)\`, \`cheapest_over_quality(t)\`, \`fastest_over_quality(t)\`.
  budget: dict -- What the call may cost: \`{max_cost_usd, max_input_tokens, max_output_tokens, total_budget_usd}\`.
  structural_experiment: string | dict | closure -- A change of the prompt that is tried out.
  session_id: string -- The session whose conversation is gone on with.
  max_cost_usd: float (USD) -- What the call may cost, as in \`budget\`.
  total_budget_usd: float (USD) -- What the session may cost, as in \`budget\`.
  max_input_tokens: int (tokens) -- Length of the prompt at most, as in \`budget\`.
  max_output_tokens: int (tokens) -- Length of the answer at most, as in \`budget\`.
  *: dict -- Options of one provider, by its name.
`

/** Of `llm_stream`. */
export const STREAM_OPTIONS = `
  deltas: bool = false -- Gives all kinds of pieces, each as a dict, and the end of the answer.
${MODEL_OPTIONS}`

/** Of calls that ask for data of a schema. */
export const STRUCTURED_OPTIONS = `
  retries: int = 3 -- Further attempts for data that fit; as \`schema_retries\`.
  repair: bool | dict -- Lets a model, with these options, mend an answer that does not fit.
${MODEL_OPTIONS}`

/** Of \`with_rate_limit\`. */
export const RATE_OPTIONS = `
  max_retries: int = 5 -- Further attempts after errors that may pass.
  backoff_ms: int (ms) = 1000 -- The first pause between them; it doubles.
`
