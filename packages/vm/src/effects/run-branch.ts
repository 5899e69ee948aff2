// A run that is gone on with from a snapshot twice is two runs from there on: builtins/branches.ts says what depends on it.

/** One resume of a snapshot. */
export interface RunBranch {
  /** Unique among the resumes of a run. */
  readonly name: string
  /** The first effect and the first tool call that belong to it. */
  readonly effect: number
  readonly call: number
}
