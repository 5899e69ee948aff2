// Joins builtin families into the table that a machine links against. Duplicates are refused. Signatures for the checker and
// the docs are derived from the same definitions.

import { withCharge } from './charging.js'
import { withRun } from './builtin.js'
import { withKnownOptions } from './unpack.js'
import type { BuiltinDef, FrameDef } from './builtin.js'
import type { Value } from '../values/value.js'

/** What one family file exports. */
export interface BuiltinFamily {
  readonly name: string
  readonly builtins: readonly BuiltinDef[]
  readonly frames?: readonly FrameDef[]
  /** `arguments`: charged by their size before the builtin runs (charging.ts). `own`, the default: each builtin charges for its own work. */
  readonly charges?: 'own' | 'arguments'
  /** Global constants, such as `pi`. Plain immutable values only. */
  readonly constants?: Readonly<Record<string, Value>>
  /** Builtins that internal modules may call, and scripts cannot name. */
  readonly primitives?: readonly BuiltinDef[]
  /** Internal modules by name, as the compiler's `writeModule` writes them; null for an unknown name. */
  readonly modules?: ModuleTexts
  /** Option shapes of builtins whose definitions have none; asked when a builtin is first looked up. */
  readonly findShapes?: (def: BuiltinDef) => BuiltinDef['shapes']
}

export type ModuleTexts = (name: string) => string | null

/** What internal modules are linked against (interpreter/library.ts). */
export interface LibrarySource {
  /**
   * A primitive, or else the builtin of that name without the host's wrapper and restrictions, which apply only to
   * calls by scripts. Its effects are judged like any effect of the caller.
   */
  readonly inner: (name: string) => BuiltinDef | undefined
  readonly moduleText: ModuleTexts
}

export interface Registry {
  readonly library: LibrarySource
  readonly builtins: ReadonlyMap<string, BuiltinDef>
  /** By `type_of` name of the receiver, then method name. */
  readonly methods: ReadonlyMap<string, ReadonlyMap<string, BuiltinDef>>
  readonly frames: ReadonlyMap<string, FrameDef>
  readonly constants: ReadonlyMap<string, Value>
}

/** Builtins that stay permitted when there is an allow list. */
const CORE: ReadonlySet<string> = new Set(
  (
    'println print log type_of to_string to_int to_float len assert assert_eq assert_ne json_parse json_stringify runtime_context ' +
    'runtime_context_values runtime_context_get runtime_context_set runtime_context_clear task_current'
  ).split(' '),
)

export type BuiltinLists = { readonly allow: readonly string[] } | { readonly deny: readonly string[] }

/**
 * Kinds of effects that give no power by themselves: a tool is judged under its own name, and `mcp.serve` and `mcp.client` talk only to
 * peers that the host has connected.
 */
const HARMLESS: ReadonlySet<string> = new Set(['tool.call', 'mcp.serve', 'mcp.client'])

/** Kinds with a dot leave the machine; the others are internal, such as `task` and `callback`. */
const reachesWorld = ({ effects }: BuiltinDef): boolean =>
  effects !== 'pure' && effects.some((kind) => kind.includes('.') && !HARMLESS.has(kind))

const NOBODY: readonly string[] = []

/**
 * The registry with some builtins refused: those of `deny`, or all except those of `allow` and the core. Names that begin with `__`
 * implement the language itself and stay if they cannot reach the world. Those that reach the world are permitted if they are listed, or if one
 * of the builtins is that `samePower` maps them to: builtins for scripts that have the same power.
 */
export function restrictRegistry(
  registry: Registry,
  lists: BuiltinLists,
  samePower: ReadonlyMap<string, readonly string[]> = new Map(),
): Registry {
  const isListed = (name: string): boolean => ('deny' in lists ? lists.deny : lists.allow).includes(name)
  const permits = (name: string, def: BuiltinDef): boolean => {
    const equals = samePower.get(name) ?? NOBODY
    if ('deny' in lists) return !isListed(name) && (equals.length === 0 || !equals.every(isListed))
    if (isListed(name) || CORE.has(name)) return true
    return name.startsWith('__') && (!reachesWorld(def) || equals.some(isListed))
  }
  const builtins = new Map(
    [...registry.builtins].map(([name, def]) => [
      name,
      permits(name, def) ? def : withRun(def, (ctx) => ctx.categorized('tool_rejected', `Tool '${name}' is not permitted.`)),
    ]),
  )
  return { ...registry, builtins }
}

/** Families that are loaded when one of their names is first looked up. They have no methods. */
export interface LaterFamilies {
  /** Names of their builtins and of their constants, each list separated by spaces. */
  readonly builtins: string
  readonly constants: string
  readonly load: () => readonly BuiltinFamily[]
}

/** The host's wrapper around every builtin, such as a check of its policies. */
export type WrapBuiltin = (def: BuiltinDef) => BuiltinDef

/** Throws an Error for names that are defined twice, and for lazily loaded families that do not match their declaration. */
export function createRegistry(
  families: readonly BuiltinFamily[],
  later: readonly LaterFamilies[] = [],
  wrap: WrapBuiltin = (def) => def,
): Registry {
  const tables = new Tables(wrap)
  for (const family of families) tables.add(family)
  if (later.length === 0) return tables
  const waiting = new Waiting(tables, later)
  return {
    builtins: new LaterTable(tables.builtins, waiting, 'builtins'),
    methods: tables.methods,
    frames: new LaterTable(tables.frames, waiting, null),
    constants: new LaterTable(tables.constants, waiting, 'constants'),
    library: makeLibrarySource(tables, waiting),
  }
}

/**
 * Builtins by name, prepared on first lookup: a run uses few of those that its families define, and each is copied for its
 * charge, its options and the host's wrapper.
 */
class BuiltinTable implements ReadonlyMap<string, BuiltinDef> {
  private readonly defined = new Map<string, BuiltinDef>()
  private readonly families = new Map<string, BuiltinFamily>()
  private readonly charged = new Map<string, BuiltinDef>()
  private readonly ready = new Map<string, BuiltinDef>()
  private readonly wrap: WrapBuiltin

  constructor(wrap: WrapBuiltin) {
    this.wrap = wrap
  }

  add(def: BuiltinDef, family: BuiltinFamily): void {
    this.defined.set(def.name, def)
    this.families.set(def.name, family)
  }

  /** For calls by scripts. */
  get(name: string): BuiltinDef | undefined {
    const ready = this.ready.get(name)
    if (ready !== undefined) return ready
    const bare = this.getBare(name)
    if (bare === undefined) return undefined
    const shapes = bare.shapes ?? this.families.get(name)?.findShapes?.(bare) ?? null
    // Arguments are charged before a call is refused for its options.
    const def = this.wrap(shapes === null ? bare : withKnownOptions(shapes === bare.shapes ? bare : { ...bare, shapes }))
    this.ready.set(name, def)
    return def
  }

  /** For calls by the library, which reads its options itself and passes those of its callers on. */
  getBare(name: string): BuiltinDef | undefined {
    const def = this.defined.get(name)
    if (def === undefined || this.families.get(name)?.charges !== 'arguments') return def
    let charged = this.charged.get(name)
    if (charged === undefined) this.charged.set(name, (charged = withCharge(def)))
    return charged
  }

  has(name: string): boolean {
    return this.defined.has(name)
  }

  get size(): number {
    return this.defined.size
  }

  keys(): MapIterator<string> {
    return this.defined.keys()
  }

  values(): MapIterator<BuiltinDef> {
    return this.all.values()
  }

  entries(): MapIterator<[string, BuiltinDef]> {
    return this.all.entries()
  }

  [Symbol.iterator](): MapIterator<[string, BuiltinDef]> {
    return this.all.entries()
  }

  forEach(callback: (value: BuiltinDef, key: string, map: ReadonlyMap<string, BuiltinDef>) => void): void {
    for (const [name, def] of this.all) callback(def, name, this)
  }

  /** In the order of their definitions. */
  private get all(): Map<string, BuiltinDef> {
    return new Map(Array.from(this.defined.keys(), (name) => [name, this.get(name)!]))
  }
}

class Tables implements Registry {
  private readonly primitives = new Map<string, BuiltinDef>()
  private readonly sources = new Set<ModuleTexts>()
  readonly library: LibrarySource = {
    inner: (name) => this.primitives.get(name) ?? this.builtins.getBare(name),
    moduleText: (name) => {
      for (const source of this.sources) {
        const text = source(name)
        if (text !== null) return text
      }
      return null
    },
  }

  readonly builtins: BuiltinTable
  readonly methods = new Map<string, Map<string, BuiltinDef>>()
  readonly frames = new Map<string, FrameDef>()
  readonly constants = new Map<string, Value>()
  private readonly wrap: WrapBuiltin

  constructor(wrap: WrapBuiltin) {
    this.wrap = wrap
    this.builtins = new BuiltinTable(wrap)
  }

  add(family: BuiltinFamily): void {
    for (const def of family.builtins) {
      if (def.receiver !== null) {
        const table = this.getMethods(def.receiver)
        if (table.has(def.name)) throw new Error(`builtin ${def.receiver}.${def.name} is defined twice`)
        table.set(def.name, this.wrap(family.charges === 'arguments' ? withCharge(def) : def))
        continue
      }
      if (this.builtins.has(def.name)) throw new Error(`builtin ${def.name} is defined twice`)
      if (this.primitives.has(def.name)) throw new Error(describeSharedName(def.name))
      this.builtins.add(def, family)
    }
    for (const def of family.primitives ?? []) {
      if (this.primitives.has(def.name)) throw new Error(`primitive ${def.name} is defined twice`)
      if (this.builtins.has(def.name)) throw new Error(describeSharedName(def.name))
      this.primitives.set(def.name, family.charges === 'arguments' ? withCharge(def) : def)
    }
    if (family.modules !== undefined) this.sources.add(family.modules)
    for (const def of family.frames ?? []) {
      if (this.frames.has(def.kind)) throw new Error(`native frame ${def.kind} is defined twice`)
      this.frames.set(def.kind, def)
    }
    for (const [name, value] of Object.entries(family.constants ?? {})) this.constants.set(name, value)
  }

  private getMethods(receiver: string): Map<string, BuiltinDef> {
    let table = this.methods.get(receiver)
    if (table === undefined) this.methods.set(receiver, (table = new Map()))
    return table
  }
}

/** Otherwise internal modules would call one and scripts the other. */
function describeSharedName(name: string): string {
  return `${name} is defined as a builtin and as a primitive: name the primitive otherwise`
}

/** A missing name is looked up in the lists of names, then in every group: names of primitives and modules are in no list. */
function makeLibrarySource(tables: Tables, waiting: Waiting): LibrarySource {
  const find = <T>(name: string, look: (name: string) => T | null | undefined): T | null => {
    const found = look(name)
    if (found !== undefined && found !== null) return found
    const group = waiting.getNames('builtins').get(name)
    if (group !== undefined) waiting.load(group)
    else waiting.loadAll()
    return look(name) ?? null
  }
  return {
    inner: (name) => find(name, tables.library.inner) ?? undefined,
    moduleText: (name) => find(name, tables.library.moduleText),
  }
}

/** The groups that are not loaded yet. */
class Waiting {
  private readonly tables: Tables
  private readonly later: readonly LaterFamilies[]
  /** Group of each name, built when a name is first missing. */
  private groups: { readonly builtins: Map<string, number>; readonly constants: Map<string, number> } | null = null
  private readonly loaded = new Set<number>()

  constructor(tables: Tables, later: readonly LaterFamilies[]) {
    this.tables = tables
    this.later = later
  }

  getNames(of: 'builtins' | 'constants'): ReadonlyMap<string, number> {
    return (this.groups ??= { builtins: this.collectNames('builtins'), constants: this.collectNames('constants') })[of]
  }

  loadAll(): void {
    for (let group = 0; group < this.later.length; group++) this.load(group)
  }

  load(group: number): void {
    if (this.loaded.has(group)) return
    // Checked before any group is loaded: a name that is already known is defined twice.
    this.getNames('builtins')
    this.loaded.add(group)
    for (const family of this.later[group]!.load()) this.tables.add(family)
  }

  private collectNames(what: 'builtins' | 'constants'): Map<string, number> {
    const groups = new Map<string, number>()
    for (const [group, { [what]: names }] of this.later.entries()) {
      for (const name of names.split(' ')) {
        if (name === '') continue
        if (groups.has(name) || this.tables[what].has(name)) throw new Error(`builtin ${name} is defined twice`)
        groups.set(name, group)
      }
    }
    return groups
  }
}

/** A lazily filled table: by a lookup of one name, or by iteration. Asking for names alone loads nothing. */
class LaterTable<T> implements ReadonlyMap<string, T> {
  private readonly known: ReadonlyMap<string, T>
  private readonly waiting: Waiting
  /** Null if the names do not say which group has them. */
  private readonly named: 'builtins' | 'constants' | null

  constructor(known: ReadonlyMap<string, T>, waiting: Waiting, named: 'builtins' | 'constants' | null) {
    this.known = known
    this.waiting = waiting
    this.named = named
  }

  get(name: string): T | undefined {
    const found = this.known.get(name)
    if (found !== undefined || this.known.has(name)) return found
    if (this.named === null) this.waiting.loadAll()
    else {
      const group = this.waiting.getNames(this.named).get(name)
      if (group === undefined) return undefined
      this.waiting.load(group)
    }
    return this.known.get(name)
  }

  has(name: string): boolean {
    if (this.known.has(name)) return true
    return this.named === null ? this.all.has(name) : this.waiting.getNames(this.named).has(name)
  }

  get size(): number {
    return this.all.size
  }

  keys(): MapIterator<string> {
    if (this.named === null) return this.all.keys()
    return new Set([...this.known.keys(), ...this.waiting.getNames(this.named).keys()]).values() as MapIterator<string>
  }

  values(): MapIterator<T> {
    return this.all.values()
  }

  entries(): MapIterator<[string, T]> {
    return this.all.entries()
  }

  [Symbol.iterator](): MapIterator<[string, T]> {
    return this.all.entries()
  }

  forEach(callback: (value: T, key: string, map: ReadonlyMap<string, T>) => void): void {
    for (const [name, value] of this.all) callback(value, name, this)
  }

  private get all(): ReadonlyMap<string, T> {
    this.waiting.loadAll()
    return this.known
  }
}
