import { expect, test } from 'vitest'
import { tokenize } from './tokenize.js'

test('tokens and comments in order', () => {
  const text = '/// doc\nlet x = r"a" + 5s // end\nif y |> "${z}" { }'
  expect(tokenize(text).map(({ kind, span }) => `${kind} ${JSON.stringify(text.slice(span.start, span.end))}`)).toEqual([
    'doc "/// doc"',
    'newline "\\n"',
    'keyword "let"',
    'identifier "x"',
    'operator "="',
    'string "r\\"a\\""',
    'operator "+"',
    'number "5s"',
    'comment "// end"',
    'newline "\\n"',
    'keyword "if"',
    'identifier "y"',
    'operator "|>"',
    'string "\\"${z}\\""',
    'operator "{"',
    'operator "}"',
  ])
})

test('a source with an error gives the tokens before it', () => {
  expect(tokenize('a "b').map(({ kind }) => kind)).toEqual(['identifier'])
})
