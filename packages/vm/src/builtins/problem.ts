// What a builtin throws to itself, from the depth of a parser to the place where it says what was wrong. No Error: nobody looks at its
// trace, and JavaScript takes tens of microseconds to write one down, the first time in a large program tens of milliseconds.

export class Problem {
  readonly message: string

  constructor(message = '') {
    this.message = message
  }
}
