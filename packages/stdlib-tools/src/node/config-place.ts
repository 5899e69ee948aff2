// Where a key of a configuration stands in its file, for messages: TOML is read by a library that keeps no places.

export interface ConfigText {
  readonly file: string
  readonly text: string
  /** What stands before the keys of the configuration in this file: `tools` in a `harn.toml`. */
  readonly prefix: readonly string[]
}

/** `FILE:LINE: ` of the key, or of what comes closest to it; the file alone without such a key. Empty without a file. */
export function locateKey(
  sources: readonly ConfigText[],
  path: readonly string[],
): { readonly shown: string; readonly line: number | null } {
  for (const { file, text, prefix } of sources) {
    const line = findLine(text, [...prefix, ...path])
    if (line !== null) return { shown: `${file}:${line}: `, line }
  }
  const [first] = sources
  return { shown: first === undefined ? '' : `${first.file}: `, line: null }
}

/** The line, from 1, of the longest beginning of the path that the text has; null when it has not even the first key. */
function findLine(text: string, path: readonly string[]): number | null {
  let table: readonly string[] = []
  let best: { readonly line: number; readonly depth: number } | null = null
  for (const [at, raw] of text.split('\n').entries()) {
    const header = /^\s*\[{1,2}([^\]]+)\]{1,2}/.exec(raw)
    const key = header === null ? /^\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=/.exec(raw) : null
    if (header !== null) table = splitKeys(header[1]!)
    const here = header !== null ? table : key !== null ? [...table, ...splitKeys(key[1]!)] : null
    if (here === null) continue
    // Keys with dots are one key in quotes or several without: the joined texts are compared.
    const [joined, wanted] = [here.join('.'), path.join('.')]
    const isOn = wanted === joined || wanted.startsWith(`${joined}.`)
    if (isOn && joined.length > (best?.depth ?? 0)) best = { line: at + 1, depth: joined.length }
  }
  return best?.line ?? null
}

function splitKeys(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|[\w-]+/g)].map((part) => part[1] ?? part[2] ?? part[0])
}
