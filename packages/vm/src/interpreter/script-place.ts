// A place in a file of a script, as people are told of it.

export interface ScriptPlace {
  readonly file: string
  /** Counts from 1; 0 when unknown. */
  readonly line: number
  readonly column: number
}
