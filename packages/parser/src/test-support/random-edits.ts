// Versions of a text during realistic editing: words typed, lines and blocks added, removed, copied and undone. Deterministic
// by seed. An edit that breaks the program is often undone next.

const WORDS = [
  ...[
    'x',
    'value',
    ' + 1',
    '()',
    '.count',
    '"text"',
    'nil',
    'fn',
    ' ',
    '\n',
    '{',
    '}',
    '(',
    ')',
    '"',
    '// note\n',
    '/* open',
    '${',
  ],
  ...[
    'let added = 1\n',
    'let more = value + 1\n',
    'fn added_fn(a: int) -> int {\n  return a + 1\n}\n',
    'println(added)\n',
    '|> f()\n',
  ],
  ...[
    '/** Doc. */\n',
    'struct Added { a: int }\n',
    'enum Kind { One, Two }\n',
    'import { f } from "std/text"\n',
    '"""',
    ';',
    '@',
  ],
]

/** `isWhole`: whether a version is one to return to. */
export function* randomEdits(
  start: string,
  { seed, count, isWhole }: { readonly seed: number; readonly count: number; readonly isWhole: (text: string) => boolean },
): Generator<string> {
  let state = (seed + 1) * 2_654_435_761
  const next = (limit: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % Math.max(1, limit)
  }
  let text = start
  let whole = start
  yield text
  for (let made = 0; made < count; made++) {
    if (isWhole(text)) whole = text
    else if (next(3) > 0) {
      yield (text = whole)
      continue
    }
    const lines = text.split('\n')
    const line = next(lines.length)
    const offset = lines.slice(0, line).join('\n').length + (line === 0 ? 0 : 1)
    const word = WORDS[next(WORDS.length)]!
    switch (next(6)) {
      case 0: {
        const at = next(text.length)
        text = text.slice(0, at) + word + text.slice(at)
        break
      }
      case 1: {
        const at = next(text.length)
        text = text.slice(0, at) + text.slice(at + next(12))
        break
      }
      case 2:
        text = text.slice(0, offset) + word + text.slice(offset)
        break
      case 3:
        text = lines.toSpliced(line, 1 + next(3)).join('\n')
        break
      case 4:
        text = lines.toSpliced(next(lines.length), 0, ...lines.slice(line, line + next(12))).join('\n')
        break
      default:
        text = text.replace(/\b\d+\b/, String(next(1000)))
    }
    yield text
  }
}
