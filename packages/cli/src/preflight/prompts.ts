// Tools that a prompt mentions: `<tool_call>NAME` and `name(`, outside code fences and comments in it.

const NOT_TOOLS: ReadonlySet<string> = new Set(
  'if for while switch return function fn JSON print println contains len render render_prompt'.split(' '),
)

/** Sorted, each once. */
export function listToolMentions(text: string): readonly string[] {
  const found = new Set<string>()
  let isFenced = false
  let isIgnored = false
  let skipNext = false
  for (const line of text.split('\n')) {
    const skip = skipNext
    skipNext = false
    if (line.trimStart().startsWith('```')) isFenced = !isFenced
    if (line.includes('harn-tool-surface: ignore-start')) isIgnored = true
    else if (line.includes('harn-tool-surface: ignore-end')) isIgnored = false
    else if (line.includes('ignore-next-line')) skipNext = true
    else if (!skip && !isFenced && !isIgnored && !/harn-tool-surface: ignore-line|tool-surface-ignore/.test(line)) {
      for (const name of mentionsIn(line)) found.add(name)
    }
  }
  return [...found].sort()
}

function mentionsIn(line: string): readonly string[] {
  const names: string[] = []
  for (const match of line.matchAll(/<tool_call>\s*([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*\(/g)) {
    const name = match[1] ?? match[2]!
    if (!NOT_TOOLS.has(name)) names.push(name)
  }
  return names
}
