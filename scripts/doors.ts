// Doors of rooms: what a room exports to others. A door is a list of exports, not a barrel: others import the files that it names, because
// a module that re-exports a whole room would be loaded by everyone who needs one function of it, and would pull the whole room
// into the core of the command (docs/decisions/0020-doors.md). Types may come from the door itself, since they are erased.
//
// A name is in the door when the door exports the same declaration, whichever file of the room it is imported through.

import { dirname, join } from 'node:path/posix'

export interface DoorRules {
  /** Path → text, of all sources that are shipped. */
  readonly sources: ReadonlyMap<string, string>
  /** Room of a path, null for none. */
  readonly roomOf: (path: string) => string | null
  /** Room → paths of its doors: files that are lists of exports for others. */
  readonly doors: ReadonlyMap<string, readonly string[]>
  /** Doors that users of the package also import: they may have names that no other room uses. */
  readonly published: ReadonlySet<string>
}

interface Import {
  readonly target: string
  readonly line: number
  /** Null for all names of the module. */
  readonly names: readonly string[] | null
  readonly isType: boolean
}

interface Exports {
  /** Exported name → its file and its name there. */
  readonly passed: ReadonlyMap<string, { readonly target: string; readonly name: string }>
  /** Files whose exports are all re-exported. */
  readonly stars: readonly string[]
  readonly declared: ReadonlySet<string>
}

export function findDoorComplaints({ sources, roomOf, doors, published }: DoorRules): string[] {
  const exportsByFile = new Map([...sources].map(([path, text]) => [path, readExports(path, text)]))
  const findOrigin = makeOriginFinder(exportsByFile)
  const open = new Map<string, { readonly door: string; readonly name: string; isUsed: boolean }>()
  for (const door of [...doors.values()].flat()) {
    for (const name of listNames(exportsByFile, door))
      open.set(findOrigin(door, name), { door, name, isUsed: published.has(door) })
  }
  const complaints: string[] = []
  for (const [path, text] of sources) {
    const own = roomOf(path)
    for (const { target, line, names, isType } of readImports(path, text)) {
      const room = roomOf(target)
      if (room === null || room === own || !sources.has(target)) continue
      const roomDoors = doors.get(room) ?? []
      const isDoor = roomDoors.includes(target)
      if (isDoor && !isType && !published.has(target))
        complaints.push(
          `${path}:${line} imports values from ${target}: import the file that it names; only types may come from a door`,
        )
      for (const name of names ?? listNames(exportsByFile, target)) {
        const entry = open.get(findOrigin(target, name))
        if (entry !== undefined) entry.isUsed = true
        else if (names !== null)
          complaints.push(
            `${path}:${line} uses ${name} of ${target}, which is not in the door of ${room} (${roomDoors.join(', ')})`,
          )
      }
      if (names === null && !listNames(exportsByFile, target).some((name) => open.has(findOrigin(target, name))))
        complaints.push(`${path}:${line} loads ${target}, of which nothing is in the door of ${room} (${roomDoors.join(', ')})`)
    }
  }
  for (const { door, name, isUsed } of open.values())
    if (!isUsed) complaints.push(`${door} has ${name}, which no other room uses: take it out`)
  return complaints
}

/** `file name` of the declaration behind an exported name. */
function makeOriginFinder(exportsByFile: ReadonlyMap<string, Exports>): (path: string, name: string) => string {
  const find = (path: string, name: string, seen: ReadonlySet<string>): string | null => {
    const exported = exportsByFile.get(path)
    if (exported === undefined || seen.has(path)) return null
    const passed = exported.passed.get(name)
    if (passed !== undefined)
      return find(passed.target, passed.name, new Set([...seen, path])) ?? `${passed.target} ${passed.name}`
    if (exported.declared.has(name)) return `${path} ${name}`
    for (const target of exported.stars) {
      const found = find(target, name, new Set([...seen, path]))
      if (found !== null) return found
    }
    return null
  }
  return (path, name) => find(path, name, new Set()) ?? `${path} ${name}`
}

function listNames(exportsByFile: ReadonlyMap<string, Exports>, path: string): readonly string[] {
  const exported = exportsByFile.get(path)
  if (exported === undefined) return []
  const { passed, stars, declared } = exported
  return [...passed.keys(), ...declared, ...stars.flatMap((target) => listNames(exportsByFile, target))]
}

// A pattern is enough: lint keeps the form of imports and exports uniform.
const CLAUSE = /\b(import|export)\s+(type\s+)?(\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)\s+from\s+'(\.[^']+)'/g
const LOADED = /(?:const\s+(\{[^}]*\})\s*=\s*await\s+)?\bimport\(\s*'(\.[^']+)'\s*\)/g
const DECLARATION =
  /^export (?:declare |abstract |async |default )*(?:const enum|const|let|function\*?|class|interface|type|enum) (\w+)/gm
/** Declared or imported above, and exported by a list. */
const LIST = /^export (?:type )?(\{[^}]*\})(?!\s*from)/gm

function readImports(path: string, text: string): Import[] {
  const clauses = [...text.matchAll(CLAUSE)].map(({ 2: type, 3: clause = '', 4: specifier = '', index }): Import => {
    const entries = clause.startsWith('{') ? readList(clause) : null
    const isType = type !== undefined || (entries?.every((entry) => entry.isType) ?? false)
    return {
      target: toPath(path, specifier),
      line: countLine(text, index),
      names: entries?.map(({ name }) => name) ?? null,
      isType,
    }
  })
  const loaded = [...text.matchAll(LOADED)].map(({ 1: names, 2: specifier = '', index }): Import => ({
    target: toPath(path, specifier),
    line: countLine(text, index),
    names: names === undefined ? null : readList(names.replaceAll(/(\w+)\s*:\s*\w+/g, '$1')).map(({ name }) => name),
    isType: false,
  }))
  return [...clauses, ...loaded]
}

function readExports(path: string, text: string): Exports {
  const passed = new Map<string, { readonly target: string; readonly name: string }>()
  const imported = new Map<string, { readonly target: string; readonly name: string }>()
  const stars: string[] = []
  for (const [, keyword, , clause = '', specifier = ''] of text.matchAll(CLAUSE)) {
    const target = toPath(path, specifier)
    if (keyword === 'export' && clause === '*') stars.push(target)
    if (!clause.startsWith('{')) continue
    for (const { name, as } of readList(clause)) (keyword === 'export' ? passed : imported).set(as, { target, name })
  }
  const declared = new Set([...text.matchAll(DECLARATION)].map(([, name = '']) => name))
  for (const [, list = ''] of text.matchAll(LIST)) {
    for (const { name, as } of readList(list)) {
      const source = imported.get(name)
      if (source === undefined) declared.add(as)
      else passed.set(as, source)
    }
  }
  return { passed, stars, declared }
}

/** `{ a, type B, c as d }`. */
function readList(clause: string): { readonly name: string; readonly as: string; readonly isType: boolean }[] {
  return clause
    .slice(1, -1)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [name = '', as = name] = entry.replace(/^type /, '').split(/ +as +/)
      return { name, as, isType: entry.startsWith('type ') }
    })
}

function toPath(path: string, specifier: string): string {
  return join(dirname(path), specifier.replace(/\.js$/, '.ts'))
}

function countLine(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}
