// Names shared by workers and by processes that submit and answer runs.

export const WORKFLOW = 'bridle_run'
export const QUEUE = 'bridle_runs'
/** Topic of all answers for a run. */
export const ANSWERS = 'bridle_answers'
/** Event of a workflow: the tokens that its run waits for. */
export const WAITS_FOR = 'bridle_waits_for'

/** A message of the topic: an answer from outside. */
export interface SentAnswer {
  readonly token: string
  readonly line: string
  /** Milliseconds since 1970. */
  readonly now: number
}
