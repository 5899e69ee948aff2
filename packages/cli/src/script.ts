// A script given on the command line.

export interface Script {
  /** Its name in modules and traces: a real path, or a name in angle brackets. */
  readonly key: string
  /** The caller's name for it. */
  readonly shown: string
  readonly text: string
}
