import { describe, expect, test } from 'vitest'
import { SourceFile } from './source.js'

/** Lines and columns, computed by counting characters from the beginning. */
function countPosition(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1
  let column = 1
  for (let at = 0; at < offset && at < text.length;) {
    const character = String.fromCodePoint(text.codePointAt(at)!)
    at += character.length
    if (character === '\n') {
      line++
      column = 1
    } else column++
  }
  return { line, column }
}

describe('positions', () => {
  const texts = ['', 'a', '\n', 'ab\ncd\n\nef', '😀', 'a😀b😀\n😀c\r\n\ud800x\udc00y\n😀😀😀', 'é\u2028ü\n\t😀 z']

  test('count characters, anywhere in a source', () => {
    for (const text of texts) {
      const source = new SourceFile('t.harn', text)
      for (let offset = 0; offset <= text.length + 2; offset++)
        expect([text, offset, source.position(offset)]).toEqual([text, offset, countPosition(text, offset)])
    }
  })

  test('an offset before the beginning means the beginning', () => {
    expect(new SourceFile('t.harn', '\nab').position(-1)).toEqual({ line: 1, column: 1 })
  })
})
