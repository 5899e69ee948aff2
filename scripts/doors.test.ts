// Tidy's check of imports between rooms: names that are in the door pass, whichever file they are imported from.

import { expect, test } from 'vitest'
import { findDoorComplaints } from './doors.js'

const LOW = {
  'src/low/index.ts': "export { open } from './open.js'\nexport type { Shape } from './shapes/shape.js'\n",
  'src/low/open.ts': 'export const open = 1\nexport function hidden(): void {}\n',
  'src/low/shapes/shape.ts': 'export interface Shape {}\nexport interface Inner {}\n',
  'src/low/shapes/index.ts': "export type * from './shape.js'\nimport { open } from '../open.js'\nexport { open as opened }\n",
}
const USES_ALL = { 'src/high/all.ts': "import { open } from '../low/open.js'\nimport type { Shape } from '../low/index.js'\n" }

function complain(high: string | Record<string, string>, published: readonly string[] = []): string[] {
  const more = typeof high === 'string' ? { 'src/high/a.ts': high } : high
  return findDoorComplaints({
    sources: new Map(Object.entries({ ...LOW, ...USES_ALL, ...more })),
    roomOf: (path) => /^src\/(low|high)\//.exec(path)?.[1] ?? null,
    doors: new Map([['low', ['src/low/index.ts']]]),
    published: new Set(published),
  })
}

test.each([
  ['a name of the file that has it', "import { open } from '../low/open.js'"],
  ['a type, through a list inside of the room', "import type { Shape } from '../low/shapes/index.js'"],
  ['a type, from the door', "import type { Shape } from '../low/index.js'"],
  ['another name of the same thing', "import { opened as mine } from '../low/shapes/index.js'"],
  ['a name when it is needed', "const { open: it } = await import('../low/open.js')"],
  ['a module when it is needed', "void import('../low/open.js').then((low) => low.open)"],
  ['other packages, and the own room', "import { readFileSync } from 'node:fs'\nimport { hidden } from './b.js'"],
])('%s may be imported', (_, text) => {
  expect(complain(text)).toEqual([])
})

test.each([
  [
    'a name that is not in the door',
    "import {\n  hidden,\n  open,\n} from '../low/open.js'",
    ':1 uses hidden of src/low/open.ts',
  ],
  ['a type that is not in the door', "\nimport type { Inner } from '../low/shapes/shape.js'", ':2 uses Inner of'],
  ['a name that is passed on', "export { hidden as shown } from '../low/open.js'", ':1 uses hidden of src/low/open.ts'],
  ['a name when it is needed', "const { hidden } = await import('../low/open.js')", ':1 uses hidden of src/low/open.ts'],
  ['a module of which nothing is in the door', "await import('../low/none.js')", ':1 loads src/low/none.ts'],
  ['a value from the door itself', "import { open } from '../low/index.js'", ':1 imports values from src/low/index.ts'],
])('%s is refused: %j', (_, text, said) => {
  expect(complain({ 'src/high/a.ts': text, 'src/low/none.ts': 'export const none = 1\n' })).toEqual([
    expect.stringContaining(`src/high/a.ts${said}`),
  ])
})

test('a name that no other room uses leaves the door, unless users of the package read it', () => {
  const unused = { 'src/high/all.ts': "import { open } from '../low/open.js'\n" }
  expect(complain(unused)).toEqual(['src/low/index.ts has Shape, which no other room uses: take it out'])
  expect(complain(unused, ['src/low/index.ts'])).toEqual([])
})
