// `dirname`, `basename`, `extname`: a path is read as components, so repeated and trailing slashes and inner `.` do not
// count. The fuller lexical path functions are in path.ts.

interface Components {
  readonly absolute: boolean
  readonly parts: readonly string[]
}

function splitComponents(path: string): Components {
  const absolute = path.startsWith('/')
  // A leading `.` of a relative path is a component of its own.
  const parts = path.split('/').filter((part, at) => part !== '' && (part !== '.' || (at === 0 && !absolute)))
  return { absolute, parts }
}

export function dirName(path: string): string {
  const { absolute, parts } = splitComponents(path)
  if (parts.length <= 1) return parts.length === 1 && absolute ? '/' : ''
  // The parent keeps its original spelling, except for the slashes and `.` before the last component.
  const last = path.lastIndexOf(parts.at(-1)!, withoutTail(path).length)
  const before = path.slice(0, last)
  return withoutTail(before)
}

/** Without the slashes at the end, and the `.` between them. */
function withoutTail(path: string): string {
  for (let end = path.length; ;) {
    if (path[end - 1] === '/') end--
    else if (path[end - 1] === '.' && path[end - 2] === '/') end -= 2
    else return path.slice(0, end)
  }
}

export function baseName(path: string): string {
  const last = splitComponents(path).parts.at(-1) ?? ''
  return last === '.' || last === '..' ? '' : last
}

export function extName(path: string): string {
  const name = baseName(path)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot)
}
