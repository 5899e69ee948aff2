import { expect, test } from 'vitest'
import { builtin } from './builtin.js'
import { createRegistry } from './registry.js'
import type { BuiltinFamily, LaterFamilies } from './registry.js'

const makeFamily = (name: string, ...names: string[]): BuiltinFamily => ({
  name,
  builtins: names.map((each) => builtin(`${each}()`, { doc: '' }, () => null)),
  constants: { [`${name}_constant`]: name },
  frames: [{ kind: `${name}.frame`, runBoundary: true, output: 'keep', step: () => null }],
})

function makeRegistryWith(core: readonly BuiltinFamily[] = [makeFamily('core', 'a')]) {
  const loaded: string[] = []
  const makeLater = (name: string, ...names: string[]): LaterFamilies => ({
    builtins: names.join(' '),
    constants: `${name}_constant`,
    load: () => {
      loaded.push(name)
      return [makeFamily(name, ...names)]
    },
  })
  return { loaded, registry: createRegistry(core, [makeLater('files', 'read', 'write'), makeLater('models', 'ask')]) }
}

test('a group is loaded by the first of its names that is looked up, once', () => {
  const { loaded, registry } = makeRegistryWith()
  expect(registry.builtins.get('a')?.name).toBe('a')
  expect(registry.builtins.get('unknown')).toBeUndefined()
  expect(loaded).toEqual([])
  expect(registry.builtins.get('write')?.name).toBe('write')
  expect(registry.builtins.get('read')?.name).toBe('read')
  expect(registry.constants.get('files_constant')).toBe('files')
  expect(loaded).toEqual(['files'])
  expect(registry.constants.get('models_constant')).toBe('models')
  expect(loaded).toEqual(['files', 'models'])
})

test('asking whether a name is known, or listing names, loads nothing', () => {
  const { loaded, registry } = makeRegistryWith()
  expect(registry.builtins.has('ask')).toBe(true)
  expect(registry.builtins.has('unknown')).toBe(false)
  expect([...registry.builtins.keys()].sort()).toEqual(['a', 'ask', 'read', 'write'])
  expect([...registry.constants.keys()].sort()).toEqual(['core_constant', 'files_constant', 'models_constant'])
  expect(loaded).toEqual([])
})

test('iterating over a table, or finding a frame by kind, loads all groups', () => {
  expect([...makeRegistryWith().registry.builtins].map(([name]) => name).sort()).toEqual(['a', 'ask', 'read', 'write'])
  const { loaded, registry } = makeRegistryWith()
  expect(registry.frames.get('core.frame')?.kind).toBe('core.frame')
  expect(loaded).toEqual([])
  expect(registry.frames.get('models.frame')?.kind).toBe('models.frame')
  expect(registry.frames.get('unknown.frame')).toBeUndefined()
})

test('a name that is defined twice is refused, at once or with its group', () => {
  expect(() => createRegistry([makeFamily('x', 'a'), makeFamily('y', 'a')])).toThrow('defined twice')
  const { registry } = makeRegistryWith([makeFamily('core', 'read')])
  expect(() => registry.builtins.get('ask')).toThrow('builtin read is defined twice')
})

test('a primitive cannot have the name of a builtin, whichever comes first', () => {
  const family: BuiltinFamily = { name: 'inner', builtins: [], primitives: [builtin('a()', { doc: '' }, () => null)] }
  expect(() => createRegistry([makeFamily('core', 'a'), family])).toThrow('a is defined as a builtin and as a primitive')
  expect(() => createRegistry([family, makeFamily('core', 'a')])).toThrow('a is defined as a builtin and as a primitive')
  const later: LaterFamilies = { builtins: '', constants: '', load: () => [family] }
  const { library } = createRegistry([makeFamily('core', 'a')], [later])
  expect(() => library.inner('unknown')).toThrow('a is defined as a builtin and as a primitive')
})
