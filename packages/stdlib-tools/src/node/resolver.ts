// Modules from files: beside the importing file, with `.harn` added when the path has no extension, then
// from the packages of the project. Keys are real paths, so one file is one module however it is named. With a sandbox a path outside of
// it is refused before the disk is accessed: neither the content nor the existence of a file is revealed.

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, extname, join, resolve, sep } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import type { Resolution } from '@bridle/compiler'
import type { ResolveModule } from '../host/modules.js'
import { describeOsError } from '../tools/executors/os-errors.js'
import { isWithin } from './sandbox.js'
import type { FileSandbox } from './sandbox.js'
import { SandboxViolation } from './sandbox.js'

export function fileModules(options: { readonly root: string; readonly sandbox?: FileSandbox | undefined }): ResolveModule {
  const root = resolve(options.root)
  return (path, fromKey) => {
    const folder = fromKey.startsWith('<') ? root : dirname(resolve(root, fromKey))
    const direct = resolve(folder, path)
    if (options.sandbox !== undefined) return resolveConfined(direct, path, folder, options.sandbox)
    const file = isFile(direct)
      ? direct
      : extname(path) === '' && isFile(`${direct}.harn`)
        ? `${direct}.harn`
        : findPackageFile(path, folder)
    return load(() => realpathSync(file ?? (existsSync(direct) || extname(path) !== '' ? direct : `${direct}.harn`)), path)
  }
}

function load(find: () => string, path: string): Resolution {
  try {
    const real = find()
    return { kind: 'source', key: real, text: readSource(real) }
  } catch (cause) {
    const reason = cause instanceof SandboxViolation ? cause.message : describeOsError(cause)
    return { kind: 'error', message: `Import error: cannot read '${path}': ${reason}` }
  }
}

/** No text of more bytes has as few characters as a script may have (PARSE_LIMITS of the parser). */
const MOST_BYTES = 16 << 20

/** Editors read imports too: a pipe or a device would block them or fill their memory. */
function readSource(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  try {
    const facts = fstatSync(fd)
    // Reading a folder fails with the words of the system.
    if (!facts.isFile() && !facts.isDirectory()) throw new Error('it is a device or a pipe, and no file')
    if (facts.size > MOST_BYTES) throw new Error(`it has ${facts.size} bytes, and no script has more than ${MOST_BYTES}`)
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}

/** Packages are installed by the project's owner: they may be above the folders of the run. */
function resolveConfined(direct: string, path: string, folder: string, sandbox: FileSandbox): Resolution {
  const candidates = extname(path) === '' ? [direct, `${direct}.harn`] : [direct]
  for (const candidate of candidates) {
    const real = judgePath(candidate, sandbox)
    if (real instanceof SandboxViolation) {
      const found = findPackageFile(path, folder)
      return load(() => {
        if (found === null) throw real
        return realpathSync(found)
      }, path)
    }
    if (isFile(real)) return load(() => real, path)
  }
  const found = findPackageFile(path, folder)
  return load(() => realpathSync(found ?? (existsSync(direct) ? direct : candidates.at(-1)!)), path)
}

function judgePath(path: string, sandbox: FileSandbox): string | SandboxViolation {
  try {
    return sandbox.resolve(path, 'read', dirname(path))
  } catch (cause) {
    if (cause instanceof SandboxViolation) return cause
    throw cause
  }
}

/** Looks upwards for `.harn/packages`, and no further than a folder that holds `.git`. */
function findPackageFile(path: string, from: string): string | null {
  if (path.includes('\\') || path.startsWith('/') || path.split('/').includes('..')) return null
  for (let at = from; ; at = dirname(at)) {
    const packages = join(at, '.harn', 'packages')
    if (existsSync(packages)) {
      const found = findInPackages(packages, path)
      if (found !== null) return found
    }
    if (existsSync(join(at, '.git')) || dirname(at) === at) return null
  }
}

function findInPackages(packages: string, path: string): string | null {
  const [name = '', ...rest] = path.split('/')
  const home = join(packages, name)
  const candidates = [join(packages, path), join(packages, `${path}.harn`), join(packages, path, 'lib.harn')]
  const exported = rest.length === 0 ? null : findExportedFile(home, rest.join('/'))
  if (exported !== null) candidates.push(exported)
  for (const candidate of candidates) {
    if (!isFile(candidate)) continue
    // A link must not lead out of the package that it lies in.
    const limit = statSafe(home)?.isDirectory() === true ? home : packages
    if (isWithin(realpathSync(candidate), realpathSync(limit))) return candidate
  }
  return null
}

function findExportedFile(home: string, name: string): string | null {
  let manifest: unknown
  try {
    manifest = parseToml(readSource(join(home, 'harn.toml')))
  } catch {
    return null
  }
  const { exports } = manifest as { readonly exports?: { readonly [name: string]: unknown } }
  const target = exports !== undefined && Object.hasOwn(exports, name) ? exports[name] : undefined
  if (typeof target !== 'string' || target.includes('\\') || target.startsWith('/') || target.split('/').includes('..'))
    return null
  return join(home, ...target.split('/').filter((part) => part !== '')).replaceAll('/', sep)
}

function isFile(path: string): boolean {
  return statSafe(path)?.isFile() === true
}

function statSafe(path: string): ReturnType<typeof statSync> | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}
