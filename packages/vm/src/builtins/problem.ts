// Thrown inside a builtin, from deep in a parser to the place that reports it. Not an Error: nobody reads its stack trace,
// and capturing one takes tens of microseconds, the first time in a large program tens of milliseconds.

export class Problem {
  readonly message: string

  constructor(message = '') {
    this.message = message
  }
}
