// Module keys of internal modules: used in snapshots, in the units of other internal modules, in frames.

const PREFIX = '<library>/'
const SUFFIX = '.harn'

export function isLibraryKey(key: string): boolean {
  return key.startsWith(PREFIX)
}

/** `agents/people/monitors` → `<library>/agents/people/monitors.harn`. */
export function makeModuleKey(name: string): string {
  return `${PREFIX}${name}${SUFFIX}`
}

export function parseModuleKey(key: string): string {
  return key.slice(PREFIX.length, -SUFFIX.length)
}
