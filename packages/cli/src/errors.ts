// How commands fail: a usage error becomes one line on stderr and exit code 2, a failure one line and exit code 1; with `--json` one
// document on stdout instead. Everything else that is thrown is a bug and is shown with its stack.

/** Data for programs, in addition to the message. */
export interface RefusalFacts {
  readonly code?: string
  /** The file concerned. */
  readonly file?: string
  readonly hint?: string
}

/** The arguments of the command are invalid, or a file that they name does not exist. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code: string
  readonly facts: RefusalFacts

  constructor(message: string, facts: RefusalFacts = {}) {
    super(message)
    this.code = facts.code ?? 'usage'
    this.facts = facts
  }
}

/** The command was valid but failed; the message says why. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly code: string
  readonly facts: RefusalFacts

  constructor(message: string, facts: RefusalFacts = {}) {
    super(message)
    this.code = facts.code ?? 'failed'
    this.facts = facts
  }
}

/** For a file named on the command line. */
export function makeUnreadableError(file: string, cause: unknown): UsageError {
  return new UsageError(`cannot read ${file}: ${readReason(cause)}`, { code: 'unreadable_file', file })
}

/**
 * The message for an operating system error that no caller handles specifically, such as a full disk or missing permissions. null if it
 * is not an operating system error.
 */
export function toSystemFailure(cause: unknown): CommandError | null {
  const { code, syscall, path } = (cause ?? {}) as NodeJS.ErrnoException
  if (typeof code !== 'string' || typeof syscall !== 'string') return null
  return new CommandError(
    path === undefined ? readReason(cause) : `${path}: ${readReason(cause)}`,
    path === undefined ? {} : { file: path },
  )
}

/** The operating system's message, without the call and the path that Node adds. */
export function readReason(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return 'no such file'
    case 'EISDIR':
      return 'it is a folder'
    case 'EACCES':
      return 'permission denied'
    default:
      // Node appends the system call and the path, which may be that of a temporary file.
      return message === undefined ? String(cause) : (/^E[A-Z0-9]+: (.*), [a-z]+( '|$)/.exec(message)?.[1] ?? message)
  }
}

export const EXIT_FAILURE = 1
export const EXIT_USAGE = 2
/** As `timeout(1)` returns. */
export const EXIT_TIMEOUT = 124
/** 128 + SIGINT. */
export const EXIT_INTERRUPTED = 130
/** 128 + SIGTERM. */
export const EXIT_TERMINATED = 143

/** Parser for options that are whole numbers; `unit` names what is counted, for the message. */
export function makeWholeNumberParser(unit: string, minimum: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < minimum) {
      throw new UsageError(`${JSON.stringify(text)} is not a number of ${unit}, ${minimum} or more`)
    }
    return value
  }
}
