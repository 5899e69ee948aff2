// Folders that cannot be exchanged while something is done in them. Node has no `openat`: a path that was judged is looked up again by
// each call, so an attacker who replaces a folder by a link in between redirects the call. On Linux the way around is the
// folder of open files: a folder is opened, compared with the one that was judged, and reached as `/proc/self/fd/N` from then on.
// On other systems it is compared right before each call.

import { closeSync, constants, existsSync, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { FileAccess, FileSandbox } from './sandbox.js'

/** Linux: an opened path and no more, which asks for no right to read. Node does not name it. */
const O_PATH = 0o10000000

/** Calls `work` with a path to the folder `real`, which the sandbox has judged. Throws SandboxViolation when it is another one by now. */
export function withFolder<T>(sandbox: FileSandbox, real: string, access: FileAccess, work: (folder: string) => T): T {
  const isLinux = process.platform === 'linux'
  const fd = openSync(real, constants.O_DIRECTORY | constants.O_NOFOLLOW | (isLinux ? O_PATH : constants.O_RDONLY))
  try {
    sandbox.recheck(fd, real, access)
    const pinned = `/proc/self/fd/${fd}`
    return work(isLinux && existsSync(pinned) ? pinned : real)
  } finally {
    closeSync(fd)
  }
}

/** The same for what lies, or is to lie, in a folder; a link there is not followed by `lstat`, `unlink`, `rename`, `mkdir`. */
export function runInFolder<T>(sandbox: FileSandbox, real: string, access: FileAccess, work: (path: string) => T): T {
  if (dirname(real) === real) return work(real)
  return withFolder(sandbox, dirname(real), access, (folder) => work(join(folder, basename(real))))
}

/** Removes a folder with all that is in it, and no link's target. */
export function removeFolder(sandbox: FileSandbox, real: string): void {
  withFolder(sandbox, real, 'delete', (folder) => {
    for (const name of readdirSync(folder)) {
      if (lstatSync(join(folder, name)).isDirectory()) removeFolder(sandbox, join(real, name))
      else unlinkSync(join(folder, name))
    }
  })
  runInFolder(sandbox, real, 'delete', rmdirSync)
}
