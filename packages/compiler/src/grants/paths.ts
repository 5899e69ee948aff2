// Which paths a path constraint allows, by text alone: paths are resolved against a base folder, `.` and `..` are taken away, and
// roots are compared component by component. Symbolic links are the sandbox's affair, which sees the real file system.

import { matchComponents } from './wildcards.js'

const ENCODED_TRAVERSAL = /%(?:25)*(?:2e|2f|5c|00)/i

/**
 * The components of a path without `.` and `..`, with a mark in front when it is relative and there is no base. Null when it
 * climbs above its root, or above where it starts, or is malformed.
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
 * `root` allows itself and what is below it; `*` stands for any text within one component, `**` for any number of components.
 * Without a base nobody knows where a relative path leads: it is compared with relative roots only.
 */
export function allowsPath(root: string, path: string, base: string | null): boolean {
  const wanted = resolvePath(path, base)
  const pattern = resolvePath(root, base)
  return wanted !== null && pattern !== null && (pattern[0] === '.') === (wanted[0] === '.') && matchComponents(pattern, wanted)
}
