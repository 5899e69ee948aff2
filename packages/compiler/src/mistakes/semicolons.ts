// Semicolons at the ends of lines. They separate nothing there; the text means the same without them.

import { lex, TOKEN } from '@bridle/parser'
import type { MistakeContext } from './context.js'

export function findSemicolons(context: MistakeContext): void {
  const { text } = context.file
  if (!text.includes(';')) return
  const { units, starts, ends } = lex(text)
  for (let at = 0; at < units.length; at += 1) {
    if (units.charCodeAt(at) !== TOKEN[';']) continue
    const isLast = at + 1 === units.length || units.charCodeAt(at + 1) === TOKEN['\n']
    if (!isLast) continue
    const span = { start: starts[at]!, end: ends[at]! } // `at` is a token
    context.report('M023', span, {}, { title: 'remove it', edits: [{ span, text: '' }] })
  }
}
