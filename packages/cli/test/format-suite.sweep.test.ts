// The formatter on every script: the result is the same program, it keeps all comments, and formatting it again changes
// nothing. Since the trees are equal, so is the behaviour; only line numbers in messages may move.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, isSameProgram, lex, parse, SourceFile } from '@bridle/parser'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folders = ['conformance', 'packages/stdlib-tools/src/std', 'bench/scripts', 'examples']

function listScripts(folder: string): string[] {
  try {
    return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.harn'))
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return []
  }
}

/** Letters of the comments, whose marks and breaks the formatter may change. */
function listCommentLetters(text: string): string {
  const letters = lex(text).comments.flatMap(({ start, end }) => [...text.slice(start, end).replace(/[/*\s-]/g, '')])
  return letters.sort().join('')
}

test.each(folders)('%s', (folder) => {
  for (const path of listScripts(folder)) {
    const text = readFileSync(path, 'utf8')
    const { program } = parse(new SourceFile(path, text))
    if (program === null) continue
    const result = format(new SourceFile(path, text))
    if (result.kind === 'failed') throw new Error(`${path} parses and cannot be formatted`)
    const again = parse(new SourceFile(path, result.text))
    expect(again.diagnostics, path).toEqual([])
    expect(again.program !== null && isSameProgram(program, again.program), `${path}\n${result.text}`).toBe(true)
    expect(format(new SourceFile(path, result.text)), path).toEqual(result)
    expect(listCommentLetters(result.text), path).toBe(listCommentLetters(text))
  }
})
