// A script for the person who approves a call of it: numbered, with marks at the lines that name the tool.

import { SourceFile, parse, walk } from '@bridle/parser'

const MOST_LINES = 200

/** Lines that say the tool's name are marked with an arrow; all are there when there are not too many. */
export function renderCalls(script: string, tool: string): string {
  const source = new SourceFile('script.harn', script)
  const own = tool.slice(tool.lastIndexOf('.') + 1)
  const marked = new Set<number>()
  const { program } = parse(source)
  for (const item of program?.items ?? []) {
    if (item.kind === 'ImportDecl') continue
    walk(item, {
      enter(node) {
        const isCall = node.kind === 'Call' && node.callee.text === own
        const isNamed = (node.kind === 'Identifier' && node.name === own) || (node.kind === 'String' && node.value === tool)
        if (isCall || isNamed) marked.add(source.position(node.span.start).line)
      },
    })
  }
  const lines = script.split('\n')
  const first = Math.min(...marked, lines.length)
  const start = lines.length <= MOST_LINES ? 0 : Math.max(0, Math.min(first - MOST_LINES / 2, lines.length - MOST_LINES))
  return lines
    .slice(start, start + MOST_LINES)
    .map((line, at) => `${marked.has(start + at + 1) ? '→' : ' '} ${String(start + at + 1).padStart(3)} | ${line}`)
    .join('\n')
}
