// Options of the builtins that compact messages.

/** Of `transcript_auto_compact`. */
export const COMPACTION_OPTIONS = `
  keep_last: int = 12 -- messages that stay as they are
  token_threshold: int (tokens) -- from which on is compacted
  compact_threshold: int (tokens) -- the same
  tool_output_max_chars: int (characters) -- longer results of tools are shortened
  compact_strategy: string -- "truncate", "observation_mask", "llm" or "custom"
  compact_callback: closure -- compacts, with the strategy "custom"
  hard_limit_tokens: int (tokens) -- limit that is kept whatever it costs
  hard_limit_strategy: string -- the strategy for that
  custom_compactor: closure -- as compact_callback
  mask_callback: closure -- gives the text in place of a masked result
  compress_callback: closure -- shortens a result of a tool
`

/** Of `agent_session_compact`, which has one name for each option. */
export const SESSION_COMPACTION_OPTIONS = COMPACTION_OPTIONS.replace(/^ {2}compact_(?:threshold|callback).*\n/gm, '')
