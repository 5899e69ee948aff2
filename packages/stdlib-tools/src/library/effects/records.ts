// What comes back from each effect, as types: what providers answer and builtins read. What an effect carries is in its row of the table
// (effects.ts). A result is `EffectOutcome.value` of an outcome with `ok: true`.
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
import type { HostCallResult, HostToolResult } from './tool-records.js'

/** The world refused. `detail` is what follows the colon in messages, in the reference's wording: `No such file or directory (os error 2)`. */
export interface Refused {
  readonly refused: true
  /** Symbolic name, `ENOENT` style; `EILSEQ` for a text file that is not UTF-8 (`stream did not contain valid UTF-8`). */
  readonly code: string
  readonly detail: string
  /** Resolved absolute path, for file operations. */
  readonly path?: string
}

/** A value, or why there is none. */
export type DurableAnswer = { readonly value: Plain } | { readonly code: string; readonly message: string }

/** By kind, and by operation where it depends on that. */
export interface EffectResults {
  /** Milliseconds since 1970, may have a fraction. */
  readonly 'clock.now': number
  /** Milliseconds since the run began, never falling; survives a restore. */
  readonly 'clock.monotonic': number
  readonly 'random.bytes': Uint8Array
  /** With `utf8` the data is a string and a leading byte order mark is kept. */
  readonly 'fs.read': { readonly path: string; readonly data: string | Uint8Array } | Refused
  readonly 'fs.query': {
    /** True for files and directories; symbolic links are followed; never refused. */
    readonly exists: boolean
    readonly stat: FsStat | Refused
    /** Entry names, any order, without `.` and `..`. */
    readonly list: { readonly path: string; readonly names: readonly string[] } | Refused
    /** Parents before children. A root that does not exist gives no entries; directories that cannot be read are skipped. */
    readonly walk: { readonly path: string; readonly entries: readonly FsEntry[] }
    readonly resolve: string
    readonly find_up: string | null
  }
  /** All answer the resolved path. */
  readonly 'fs.write': {
    readonly write: FsDone
    readonly append: FsDone
    readonly mkdir: FsDone
    /** `isDir` says which it was (also when refused, where known). */
    readonly delete: { readonly path: string; readonly isDir: boolean } | (Refused & { readonly isDir: boolean })
    /** The path of a refusal is the source's, `to` the target's. */
    readonly copy: FsTransferred
    readonly move: FsTransferred
  }
  /** Output is decoded as UTF-8, bad bytes become U+FFFD. `status` is -1 when a signal ended it. */
  readonly 'process.exec':
    | {
        readonly stdout: string
        readonly stderr: string
        readonly status: number
        readonly timedOut: boolean
        readonly pid?: number
      }
    | Refused
  readonly 'process.info': {
    readonly env: string | null
    readonly env_set: boolean
    readonly env_all: { readonly [name: string]: string }
    readonly cwd: string
    /** darwin, linux, windows. */
    readonly platform: string
    /** x86_64, aarch64 … */
    readonly arch: string
    readonly hostname: string
    readonly username: string
    readonly home: string
    readonly temp: string
    readonly exe: string
    readonly pid: number
    /** Each name once, with where each was found. */
    readonly shells: {
      readonly shells: readonly { readonly path: string; readonly source: string; readonly available: boolean }[]
      readonly default: string | null
      readonly platform: string
    }
    /** Null when there is none, `{ambiguous: true}` when several have the name. */
    readonly skill: Plain
    readonly args: readonly string[]
  }
  readonly 'process.set': { readonly exit: never; readonly setenv: null; readonly chdir: FsDone }
  readonly 'terminal.read': {
    readonly line: string | null
    readonly all: string
    readonly password: string | null
    readonly tty: boolean
  }
  readonly 'terminal.write': null
  /**
   * One exchange. Redirects are not followed and cookies not kept: the builtin does both, so that every hop passes policy. Header names
   * come back lower-cased; a repeated header is joined with `, `. A failure to connect, a timeout and a broken body are `Refused` with a
   * detail for `http: request failed: …`. With `saveTo` `body` is empty; `bytesWritten` counts it.
   */
  readonly 'http.request':
    | {
        readonly status: number
        readonly headers: { readonly [name: string]: string }
        readonly body: Uint8Array
        readonly bytesWritten: number
      }
    | Refused
  readonly 'net.stream': {
    readonly http_open: { readonly status: number; readonly headers: { readonly [name: string]: string } } | Refused
    /** Nil at the end. */
    readonly http_read: Uint8Array | { readonly timeout: true } | null | Refused
    readonly http_close: null
  }
  /** A damaged input is `Refused`. */
  readonly 'durable.op': DurableAnswer
  readonly 'runs.op': DurableAnswer
  readonly 'compress.run': Uint8Array | Refused
  /** The answer is ignored. */
  readonly 'trace.emit': null
  readonly 'host.call': HostCallResult
  readonly 'host.tool': HostToolResult
}

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

export type FsDone = { readonly path: string } | Refused

export type FsTransferred = { readonly path: string; readonly to: string } | (Refused & { readonly to: string })
