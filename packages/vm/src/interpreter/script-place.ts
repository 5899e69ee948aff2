// A source position in a file of a script, for messages.

export interface ScriptPlace {
  readonly file: string
  /** Counts from 1; 0 when unknown. */
  readonly line: number
  readonly column: number
}
