// How commands refuse: a usage error becomes one line on stderr and exit code 2, a failure one line and exit code 1. Everything
// else that is thrown is a bug and is shown with its stack.

/** The command was called in a way that cannot be carried out. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command was understood and could not be done; the message says why. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

export const EXIT_FAILURE = 1
export const EXIT_USAGE = 2
/** As `timeout(1)` has it. */
export const EXIT_TIMEOUT = 124
/** 128 + SIGINT. */
export const EXIT_INTERRUPTED = 130
/** 128 + SIGTERM. */
export const EXIT_TERMINATED = 143

/** Options that are whole numbers; `unit` names what is counted, for the message. */
export function wholeNumber(unit: string, minimum: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < minimum) {
      throw new UsageError(`${JSON.stringify(text)} is not a number of ${unit}, ${minimum} or more`)
    }
    return value
  }
}
