// Which paths a path constraint allows, without the file system: paths are resolved against a base folder, `.` and `..` are removed, and
// roots are compared component by component. The sandbox, which sees the file system, handles symbolic links.

import { matchComponents } from './wildcards.js'

const ENCODED_TRAVERSAL = /%(?:25)*(?:2e|2f|5c|00)/i

/**
 * The components of a path without `.` and `..`, with a marker in front when it is relative and there is no base. Null when it
 * leads above its root or start, or is malformed.
 */
export function resolvePath(path: string, base: string | null): readonly string[] | null {
  if (path === '' || path.includes('\0') || ENCODED_TRAVERSAL.test(path)) return null
  const isRelative = !path.startsWith('/') && base === null
  const absolute = path.startsWith('/') || base === null ? path : `${base}/${path}`
  const parts: string[] = []
  for (const part of absolute.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return null
  }
  return isRelative ? ['.', ...parts] : parts
}

/**
 * `root` allows itself and what is below it; `*` matches any part of one component, `**` any number of components.
 * Without a base the target of a relative path is unknown: it is compared with relative roots only.
 */
export function allowsPath(root: string, path: string, base: string | null): boolean {
  const wanted = resolvePath(path, base)
  const pattern = resolvePath(root, base)
  return wanted !== null && pattern !== null && (pattern[0] === '.') === (wanted[0] === '.') && matchComponents(pattern, wanted)
}
