// Every builtin that takes a dict of options says which keys it has.

import { expect, test } from 'vitest'
import { listParamNames, readShape } from '@bridle/vm/families'
import { allFamilies } from './all.js'

const defs = allFamilies().flatMap(({ builtins }) => builtins.filter(({ receiver }) => receiver === null))

const OPTIONS: ReadonlySet<string> = new Set(['options', 'opts', 'config'])

/** Names of parameters that take a dict of options. */
function listOptions(signature: string): readonly string[] {
  return listParamNames(signature).filter((name) => {
    const type = new RegExp(`[(,]\\s*${name}\\??:\\s*([^,)]*)`).exec(signature)?.[1] ?? ''
    return OPTIONS.has(name) && type.includes('dict') && !type.includes('{')
  })
}

test('parameters for options have a shape', () => {
  const missing = defs
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap(({ name, signature, shapes }) => {
      return listOptions(signature).flatMap((param) => (shapes?.[param] === undefined ? [`${name}.${param}`] : []))
    })
  expect(missing).toEqual([])
})

test('shapes are of parameters that there are, and can be read', () => {
  const wrong: string[] = []
  for (const { name, signature, shapes } of defs) {
    for (const [param, shape] of Object.entries(shapes ?? {})) {
      const rows = readShape(shape)
      if (!listParamNames(signature).includes(param)) wrong.push(`${name} has no ${param}`)
      if (rows.length === 0 || new Set(rows.map((row) => row.name)).size < rows.length)
        wrong.push(`${name}.${param} is empty or double`)
    }
  }
  expect(wrong).toEqual([])
})
