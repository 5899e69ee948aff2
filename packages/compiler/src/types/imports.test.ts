// The effect of imports on the checks of names, and the exports of a module.

import { parse, SourceFile } from '@bridle/parser'
import { expect, test } from 'vitest'
import { functionInterface, type ImportedInterface, readInterface, type Imports } from './module-interface.js'
import { check } from './test-support/check-source.js'

function readModule(text: string, imports?: Imports): ImportedInterface {
  const { program } = parse(new SourceFile('m.harn', text))
  if (program === null) throw new Error('test module does not parse')
  return readInterface(program, imports)
}

const library = readModule(`pub fn shown(a: int) { }
fn hidden() { }
pub struct Point { x: int, y: int }
struct Secret { n: int }
pub enum Job { Run, Stop }
enum Inner { A, B }
type Id = int
interface Named { fn label(self) -> string }
impl Point { fn label(self) -> string { return "p" } }
let counter = 1
`)
const imports: Imports = (path) => (path === 'lib' ? library : null)

test.each<[string, string[]]>([
  ['import "lib"\nshown("a")\nshown()', []],
  ['import "lib"\nhidden()', ['E call target `hidden` is not defined or imported']],
  ['import { hidden } from "lib"\nhidden()', []],
  ['import { counter } from "lib"\ncounter()', []],
  ['import { shown } from "lib"\nshow()', ['E call target `show` is not defined or imported — did you mean `shown`?']],
  // Another name would be something else: the import shows which it was.
  ['import { shownn } from "lib"\nshownn()', ['E call target `shownn` is not defined or imported']],
  ['import { nope } from "lib"\nnope()', ['E call target `nope` is not defined or imported']],
  ['import "lib"\nlet p = Point {x: 1}', ["W Missing field 'y' in struct 'Point' construction"]],
  ['import "lib"\nlet id: Id = "a"', ["E 'id' declared as Id, but assigned string"]],
  [
    'import "lib"\nfn f(j: Job) { match j { Job.Run -> { 1 } } }',
    ['E Non-exhaustive match on enum Job: missing variants "Stop"'],
  ],
  ['import { Inner } from "lib"\nfn f(j: Inner) { match j { Inner.A -> { 1 } } }', []],
  ['import { Secret } from "lib"\nlet s = Secret {n: 1}', []],
  ['import "lib"\nfn f(n: Named) { }\nf(Point {x: 1, y: 2})', []],
  ['import "gone"\nanything()\nlet t = Thing {a: 1}\nlet n: int = "a"', ["E 'n' declared as int, but assigned string"]],
])('%s', (source, expected) => {
  expect(check(source, { imports })).toEqual(expected)
})

test('exports follow pub, and everything declared may be imported by name', () => {
  expect([...library.exports].sort()).toEqual(['Id', 'Job', 'Named', 'Point', 'shown'])
  expect([...library.declared].sort()).toEqual(expect.arrayContaining(['Secret', 'a', 'counter', 'hidden', 'self', 'shown']))
  expect([...readModule('fn a() { }\nfn b(c) { }').exports]).toEqual(['a', 'b'])
})

test('public imports are re-exported', () => {
  const facade = readModule('pub import { shown, Point } from "lib"\nfn own() { }', imports)
  expect([...facade.exports]).toEqual(['shown', 'Point', 'own'])
  expect(facade.types.has('Point')).toBe(true)
  expect(check('import "facade"\nlet p = Point {x: 1, y: 2, z: 3}\nown()', { imports: () => facade })).toEqual([
    "W Unknown field 'z' in struct 'Point'",
  ])
})

test('host functions are plain names', () => {
  expect(check('import { open } from "host/files"\nopen(1)', { imports: () => functionInterface(['open']) })).toEqual([])
  expect(check('launch(1)', { extraGlobals: ['launch'] })).toEqual([])
})
