// Operating system errors in the wording that scripts see: the text of the C library and its number, as in
// `No such file or directory (os error 2)`. Numbers are Linux's; those below 35 are the same on macOS.

const TEXTS: ReadonlyMap<string, readonly [text: string, number: number]> = new Map([
  ['EPERM', ['Operation not permitted', 1]],
  ['ENOENT', ['No such file or directory', 2]],
  ['EINTR', ['Interrupted system call', 4]],
  ['EIO', ['Input/output error', 5]],
  ['ENXIO', ['No such device or address', 6]],
  ['E2BIG', ['Argument list too long', 7]],
  ['ENOEXEC', ['Exec format error', 8]],
  ['EBADF', ['Bad file descriptor', 9]],
  ['EAGAIN', ['Resource temporarily unavailable', 11]],
  ['ENOMEM', ['Cannot allocate memory', 12]],
  ['EACCES', ['Permission denied', 13]],
  ['EBUSY', ['Device or resource busy', 16]],
  ['EEXIST', ['File exists', 17]],
  ['EXDEV', ['Invalid cross-device link', 18]],
  ['ENODEV', ['No such device', 19]],
  ['ENOTDIR', ['Not a directory', 20]],
  ['EISDIR', ['Is a directory', 21]],
  ['EINVAL', ['Invalid argument', 22]],
  ['ENFILE', ['Too many open files in system', 23]],
  ['EMFILE', ['Too many open files', 24]],
  ['ETXTBSY', ['Text file busy', 26]],
  ['EFBIG', ['File too large', 27]],
  ['ENOSPC', ['No space left on device', 28]],
  ['EROFS', ['Read-only file system', 30]],
  ['EMLINK', ['Too many links', 31]],
  ['EPIPE', ['Broken pipe', 32]],
  ['ENAMETOOLONG', ['File name too long', 36]],
  ['ENOTEMPTY', ['Directory not empty', 39]],
  ['ELOOP', ['Too many levels of symbolic links', 40]],
  ['EADDRINUSE', ['Address already in use', 98]],
  ['EADDRNOTAVAIL', ['Cannot assign requested address', 99]],
  ['ENETUNREACH', ['Network is unreachable', 101]],
  ['ECONNABORTED', ['Software caused connection abort', 103]],
  ['ECONNRESET', ['Connection reset by peer', 104]],
  ['ETIMEDOUT', ['Connection timed out', 110]],
  ['ECONNREFUSED', ['Connection refused', 111]],
  ['EHOSTUNREACH', ['No route to host', 113]],
])

/** What copying says of a source that is not a file; the operating system has no word for it. */
export const NO_FILE_TO_COPY = 'the source path is neither a regular file nor a symlink to a regular file'

/** What a write says that was to replace what the caller had read (FsWrite, `expected`; code `ECHANGED`). */
export const CHANGED_SINCE_READ = 'the file has changed since it was read'

/** Text for an error with a symbolic `code`; other errors keep their own message. */
export function describeOsError(cause: unknown): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  const known = typeof code === 'string' ? TEXTS.get(code) : undefined
  if (known !== undefined) return `${known[0]} (os error ${known[1]})`
  // Node's own words name the whole path again.
  if (code === 'ERR_INVALID_ARG_VALUE' && cause instanceof Error && cause.message.includes('null bytes'))
    return 'file name contained an unexpected NUL byte'
  return cause instanceof Error ? cause.message : String(cause)
}

/** The symbolic code of an error, `EIO` when it has none. */
export function readOsErrorCode(cause: unknown): string {
  const code = (cause as { readonly code?: unknown } | null)?.code
  return typeof code === 'string' ? code : 'EIO'
}
