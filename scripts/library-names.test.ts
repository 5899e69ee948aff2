import { SourceFile, parse } from '@bridle/parser'
import { expect, test } from 'vitest'
import { findUnknownPrimitives } from './library-names.js'

function find(text: string): readonly string[] {
  const { program } = parse(new SourceFile('module.harn', text))
  if (program === null) throw new Error('the module does not parse')
  return findUnknownPrimitives(program, (name) => name === '__known').map(({ name }) => name)
}

test.each<[text: string, found: readonly string[]]>([
  ['pub fn f(x) { return __known(x) }', []],
  ['pub fn f(x) { return __typo(x) }', ['__typo']],
  ['pub fn f(x) { return "a ${__typo(x)} b ${__known(x)}" }', ['__typo']],
  ['pub fn f(x) { return "a ${x.map({ y -> "${__typo}" })}" }', ['__typo']],
  ['pub fn f(x) { return x |> __typo }', ['__typo']],
  ['pub fn f(x = __typo()) { return x }', ['__typo']],
  ['pub fn f(x) { return {__key: x}.__key }', []],
])('primitives that nobody declares in %s', (text, found) => {
  expect(find(text)).toEqual(found)
})
