// Semicolons at the ends of lines. They separate nothing, so removing them does not change the program.

import { lexFile, TOKEN } from '@bridle/parser'
import type { MistakeContext } from './context.js'

export function findSemicolons(context: MistakeContext): void {
  const { file } = context
  if (!file.text.includes(';')) return
  const { units, starts, ends } = lexFile(file)
  for (let at = 0; at < units.length; at += 1) {
    if (units.charCodeAt(at) !== TOKEN[';']) continue
    const isLast = at + 1 === units.length || units.charCodeAt(at + 1) === TOKEN['\n']
    if (!isLast) continue
    const span = { start: starts[at]!, end: ends[at]! } // `at` is a token
    context.report('M023', span, {}, { title: 'remove it', edits: [{ span, text: '' }] })
  }
}
