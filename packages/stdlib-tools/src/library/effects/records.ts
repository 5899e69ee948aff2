// What each effect carries and what comes back, as types: the contract between the builtins that ask and the providers that
// answer. `args` is `Effect.args` (plain data); `result` is `EffectOutcome.value` of an outcome with `ok: true`.
//
// Two ways to say no:
//   - The operation was tried and the world refused (no such file, connection reset). That is a *result*: a `Refused` record.
//     The builtin turns it into the text its scripts expect, or into `Err`, or ignores it.
//   - The operation was not tried (no provider, no grant, outside the sandbox, cancelled). That is `ok: false` with an
//     EffectError; it reaches the script as it is, without passing through the builtin.
//
// Relative paths arrive as scripts wrote them. The provider resolves them against the execution root (components `.` and
// `..` are kept as the operating system would read them) and reports absolute paths back. Times are milliseconds unless a
// name says otherwise.

import type { Plain } from '@bridle/vm/families'

/** The world refused. `detail` is what follows the colon in messages, in the reference's wording: `No such file or directory (os error 2)`. */
export interface Refused {
  readonly refused: true
  /** Symbolic name, `ENOENT` style; `EILSEQ` for a text file that is not UTF-8 (`stream did not contain valid UTF-8`). */
  readonly code: string
  readonly detail: string
  /** Resolved absolute path, for file operations. */
  readonly path?: string
}

// ---------------------------------------------------------------------------------------------------------------- clock

/** clock.now: {} → wall clock, milliseconds since 1970, may have a fraction. */
export interface ClockNow {
  readonly args: Record<string, never>
  readonly result: number
}

/** clock.monotonic: {} → milliseconds since the run began, never falling; survives a restore. */
export interface ClockMonotonic {
  readonly args: Record<string, never>
  readonly result: number
}

/** random.bytes: {count} → that many bytes. */
export interface RandomBytes {
  readonly args: { readonly count: number }
  readonly result: Uint8Array
}

// ---------------------------------------------------------------------------------------------------------------- files

/** fs.read. With `utf8` the data is a string and a leading byte order mark is kept. */
export interface FsRead {
  readonly args: { readonly path: string; readonly encoding: 'utf8' | 'bytes' }
  readonly result: { readonly path: string; readonly data: string | Uint8Array } | Refused
}

/** fs.query, by `op`. */
export type FsQuery =
  /** True for files and directories; symbolic links are followed; never refused. */
  | { readonly args: { readonly op: 'exists'; readonly path: string }; readonly result: boolean }
  /** With `ownLink` facts of a symbolic link itself, which is neither a file nor a directory. */
  | {
      readonly args: { readonly op: 'stat'; readonly path: string; readonly ownLink?: boolean }
      readonly result: FsStat | Refused
    }
  /** Entry names, any order, without `.` and `..`. */
  | {
      readonly args: { readonly op: 'list'; readonly path: string }
      readonly result: { readonly path: string; readonly names: readonly string[] } | Refused
    }
  /**
   * The root (depth 0) and everything below it, parents before children. A root that does not exist gives no entries;
   * directories that cannot be read are skipped. `maxDepth: null` is no limit. With `followSymlinks` a cycle is entered once.
   */
  | {
      readonly args: {
        readonly op: 'walk'
        readonly path: string
        readonly maxDepth: number | null
        readonly followSymlinks: boolean
      }
      readonly result: { readonly path: string; readonly entries: readonly FsEntry[] }
    }
  /** The absolute form of `path` by text alone; `.` and `..` resolved. */
  | { readonly args: { readonly op: 'resolve'; readonly path: string }; readonly result: string }
  /** The nearest directory from `path` upwards that holds an entry `name`, or nil. */
  | { readonly args: { readonly op: 'find_up'; readonly path: string; readonly name: string }; readonly result: string | null }

export interface FsStat {
  readonly path: string
  readonly size: number
  readonly isFile: boolean
  readonly isDir: boolean
  readonly readonly: boolean
  /** Milliseconds since 1970, may have a fraction. */
  readonly modifiedMs: number
}

export interface FsEntry {
  /** Absolute, `/` separators. */
  readonly path: string
  readonly isDir: boolean
  readonly isFile: boolean
  readonly depth: number
}

/** fs.write, by `op`. All answer the resolved path. */
export type FsWrite =
  /**
   * Replaces or creates; the parent must exist. With `whole` nobody may ever see a part of it, whoever writes or dies meanwhile.
   * With `expected`, the SHA-256 of the content that the caller read (lower-case hex, null when there was no file), nothing is written
   * over another content: that is `Refused` with the code `ECHANGED`. A provider that does not know it overwrites.
   */
  | {
      readonly args: {
        readonly op: 'write'
        readonly path: string
        readonly data: string | Uint8Array
        readonly whole?: boolean
        readonly expected?: string | null
      }
      readonly result: FsDone
    }
  /** With `ownLine` a line break comes first when the file ends within a line. */
  | {
      readonly args: {
        readonly op: 'append'
        readonly path: string
        readonly data: string | Uint8Array
        readonly ownLine?: boolean
      }
      readonly result: FsDone
    }
  /** With parents; an existing directory is fine. */
  | { readonly args: { readonly op: 'mkdir'; readonly path: string }; readonly result: FsDone }
  /** A directory goes with its content; `isDir` says which it was (also when refused, where known). */
  | {
      readonly args: { readonly op: 'delete'; readonly path: string }
      readonly result: { readonly path: string; readonly isDir: boolean } | (Refused & { readonly isDir: boolean })
    }
  /** `copy` copies one file; `move` renames, and across devices copies and deletes. A refusal's `path` is the source's, `to` the target's. */
  | {
      readonly args: { readonly op: 'copy' | 'move'; readonly path: string; readonly to: string }
      readonly result: { readonly path: string; readonly to: string } | (Refused & { readonly to: string })
    }

export type FsDone = { readonly path: string } | Refused

// -------------------------------------------------------------------------------------------------------------- process

/**
 * process.exec: runs a program to its end. `shell` set: program and args are unused, and the text goes to the default shell
 * as `<shell> -c text`; the default shell is the first that exists of HARN_DEFAULT_SHELL, SHELL, the login shell, those of
 * /etc/shells, /bin/zsh, /bin/bash, /bin/sh. `cwd: null` is the execution root; a relative one is under it. `env: null`
 * inherits, else these are added. `stdin: null` is closed. `timeoutMs: null` is no limit; a program that runs out of time
 * is killed with its children and has `timedOut`.
 */
export interface ProcessExec {
  readonly args: {
    readonly program: string | null
    readonly args: readonly string[]
    readonly shell: string | null
    readonly cwd: string | null
    readonly env: { readonly [name: string]: string } | null
    /** True: the program gets `env` only, nothing is inherited. */
    readonly clearEnv?: boolean
    readonly stdin: string | Uint8Array | null
    readonly timeoutMs: number | null
  }
  /** Output is decoded as UTF-8, bad bytes become U+FFFD. `status` is -1 when a signal ended it. */
  readonly result:
    | {
        readonly stdout: string
        readonly stderr: string
        readonly status: number
        readonly timedOut: boolean
        readonly pid?: number
      }
    | Refused
}

/** process.info, by `op`. */
export type ProcessInfo =
  | { readonly args: { readonly op: 'env'; readonly name: string }; readonly result: string | null }
  /** Whether a variable is there and not empty; secrets of the host count. */
  | { readonly args: { readonly op: 'env_set'; readonly name: string }; readonly result: boolean }
  /** All variables but those whose names look like secrets. */
  | { readonly args: { readonly op: 'env_all' }; readonly result: { readonly [name: string]: string } }
  /** `cwd`: the execution root. `platform`: darwin, linux, windows. `arch`: x86_64, aarch64 … `temp`: system temporary directory. */
  | {
      readonly args: { readonly op: 'cwd' | 'platform' | 'arch' | 'hostname' | 'username' | 'home' | 'temp' | 'exe' }
      readonly result: string
    }
  | { readonly args: { readonly op: 'pid' }; readonly result: number }
  /** Shells by absolute path, each name once, with where each was found, and the one that commands run in (see ProcessExec). */
  | {
      readonly args: { readonly op: 'shells' }
      readonly result: {
        readonly shells: readonly { readonly path: string; readonly source: string; readonly available: boolean }[]
        readonly default: string | null
        readonly platform: string
      }
    }
  /** The whole of a skill that the host keeps, by id or name; null when there is none, `{ambiguous: true}` when several have the name. */
  | { readonly args: { readonly op: 'skill'; readonly name: string }; readonly result: Plain }
  /** Arguments of the script. */
  | { readonly args: { readonly op: 'args' }; readonly result: readonly string[] }

/** process.set, by `op`. `exit` is never answered: the run ends with that status (0…255). */
export type ProcessSet =
  | { readonly args: { readonly op: 'exit'; readonly code: number }; readonly result: never }
  | { readonly args: { readonly op: 'setenv'; readonly name: string; readonly value: string | null }; readonly result: null }
  | { readonly args: { readonly op: 'chdir'; readonly path: string }; readonly result: FsDone }

// ------------------------------------------------------------------------------------------------------------- terminal

/** terminal.read, by `op`. */
export type TerminalRead =
  /** The next line of standard input without its line end, nil at the end. */
  | { readonly args: { readonly op: 'line' }; readonly result: string | null }
  /** Everything that is left. */
  | { readonly args: { readonly op: 'all' }; readonly result: string }
  /** Like `line`, without echo. */
  | { readonly args: { readonly op: 'password' }; readonly result: string | null }
  | { readonly args: { readonly op: 'tty'; readonly stream: 'stdin' | 'stdout' | 'stderr' }; readonly result: boolean }

/** terminal.write: text for standard error, written as it is. */
export interface TerminalWrite {
  readonly args: { readonly text: string }
  readonly result: null
}

// ----------------------------------------------------------------------------------------------------------------- http

export type HttpOptions = {
  /** Total, connection and idle limits; null means the provider's default (30 s total). */
  readonly timeoutMs: number | null
  readonly connectTimeoutMs: number | null
  readonly readTimeoutMs: number | null
  /** Proxy URL with its user and password, and hosts that go around it. */
  readonly proxy: {
    readonly url: string
    readonly noProxy: string | null
    readonly user: string | null
    readonly password: string | null
  } | null
  /** caBundlePath, clientCertPath, clientKeyPath, clientIdentityPath: paths; pinnedSha256: list of base64 or hex digests. */
  readonly tls: {
    readonly caBundlePath: string | null
    readonly clientCertPath: string | null
    readonly clientKeyPath: string | null
    readonly clientIdentityPath: string | null
    readonly pinnedSha256: readonly string[]
  } | null
  /** Whether gzip, deflate and brotli bodies are unpacked. */
  readonly decompress: boolean
}

/**
 * http.request: one exchange. Redirects are not followed and cookies not kept: the builtin does both, so that every hop
 * passes policy. Header names come back lower-cased; a repeated header is joined with `, `. A failure to connect, a timeout
 * and a broken body are `Refused` with a detail for `http: request failed: …`. With `saveTo` the body goes to that file
 * (relative to the execution root) and `body` is empty; `bytesWritten` counts it.
 */
export interface HttpRequest {
  readonly args: HttpOptions & {
    readonly method: string
    readonly url: string
    readonly headers: { readonly [name: string]: string }
    readonly body: string | Uint8Array | null
    readonly saveTo: string | null
  }
  readonly result:
    | {
        readonly status: number
        readonly headers: { readonly [name: string]: string }
        readonly body: Uint8Array
        readonly bytesWritten: number
      }
    | Refused
}

/** net.stream, by `op`, for response bodies that are read in pieces. `id` is chosen by the builtin. */
export type HttpStream =
  | {
      readonly args: HttpRequest['args'] & { readonly op: 'http_open'; readonly id: string }
      readonly result: { readonly status: number; readonly headers: { readonly [name: string]: string } } | Refused
    }
  /** At most `maxBytes`; nil at the end. After `timeoutMs` a dict says so. */
  | {
      readonly args: { readonly op: 'http_read'; readonly id: string; readonly maxBytes: number; readonly timeoutMs?: number }
      readonly result: Uint8Array | null | Refused
    }
  | { readonly args: { readonly op: 'http_close'; readonly id: string }; readonly result: null }

// ----------------------------------------------------------------------------------------------------- libraries, traces

/**
 * compress.run: what the machine does not carry itself. `level` is the encoder's quality (brotli 0…11).
 * A damaged input is `Refused`.
 */
export interface CompressRun {
  readonly args: { readonly op: 'brotli_encode' | 'brotli_decode'; readonly data: Uint8Array; readonly level: number }
  readonly result: Uint8Array | Refused
}

/** trace.emit: a finished span for the sink; the answer is ignored. */
export interface TraceEmit {
  readonly args: { readonly name: string; readonly attributes: { readonly [key: string]: Plain } }
  readonly result: null
}
