// A script that the command was given.

export interface Script {
  /** What modules and traces call it: a real path, or a name in angle brackets. */
  readonly key: string
  /** What the caller called it. */
  readonly shown: string
  readonly text: string
}
