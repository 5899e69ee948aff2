// Modules as an editor has them: the text of an open document takes precedence over its file, and a document that was never
// saved is found where it would be saved.

import { dirname, resolve } from 'node:path'
import type { ResolveModule } from '@bridle/stdlib-tools'

/** The text of the open document with this key; null when none is open. */
export type FindOpenText = (key: string) => string | null

export function overlayModules(files: ResolveModule, findText: FindOpenText): ResolveModule {
  return (path, from) => {
    const found = files(path, from)
    if (found === null) return null
    if (found.kind === 'source') {
      const text = findText(found.key)
      return text === null ? found : { kind: 'source', key: found.key, text }
    }
    const direct = resolve(from.startsWith('<') ? process.cwd() : dirname(from), path)
    for (const key of [direct, `${direct}.harn`]) {
      const text = findText(key)
      if (text !== null) return { kind: 'source', key, text }
    }
    return found
  }
}
