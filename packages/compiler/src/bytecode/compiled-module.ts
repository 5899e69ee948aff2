// Modules compiled when Bridle was built: what importers need of them, without their source. The loader uses such
// a module if all its inputs are unchanged. Otherwise, and when its syntax tree is needed, the source
// is parsed like that of any other module.

import { ChunkFormatError } from './serialize.js'
import { readModule, writeModule } from './module-text.js'
import type { ModuleChunk } from './chunk.js'
import type { FnSignature, TypeDeclaration } from '../types/declarations.js'
import type { ImportedInterface } from '../types/module-interface.js'
import type { MethodTable } from '../types/scope.js'

export interface CompiledModule {
  readonly chunk: ModuleChunk
  readonly interface: ImportedInterface
  /** Names that a wildcard import binds, in order. */
  readonly wildcard: readonly string[]
  readonly imports: readonly CompiledImport[]
}

/** An import of a compiled module: the code contains its slots, so the module must be the same as at build time. */
export interface CompiledImport {
  readonly path: string
  readonly key: string
  readonly fingerprint: string
}

/** How a module is stored: strings that are parsed on demand. */
export interface StoredModule {
  /** As writeModule writes it. */
  readonly code: string
  /** JSON of the names that importers see, and of the imports. */
  readonly names: string
  /** JSON of the signatures of functions, for editors. */
  readonly functions: string
  /** JSON of types and their methods. */
  readonly types: string
}

interface StoredNames {
  readonly exports: readonly string[]
  readonly declared: readonly string[]
  readonly wildcard: readonly string[]
  readonly imports: readonly CompiledImport[]
}

interface StoredTypes {
  readonly types: readonly (readonly [string, TypeDeclaration])[]
  readonly methods: readonly (readonly [string, readonly (readonly [string, FnSignature])[] | null])[]
}

export function storeModule(
  module: Omit<CompiledModule, 'chunk'> & { readonly chunk: ModuleChunk },
  fingerprint: string,
): StoredModule {
  const { exports, declared, functions, types, methods } = module.interface
  const names: StoredNames = {
    exports: [...exports],
    // They include the exports.
    declared: [...declared].filter((name) => !exports.has(name)),
    wildcard: module.wildcard,
    imports: module.imports,
  }
  const stored: StoredTypes = {
    types: [...types],
    methods: [...methods].map(([name, table]) => [name, table === null ? null : [...table]] as const),
  }
  return {
    code: writeModule(module.chunk, fingerprint),
    names: JSON.stringify(names),
    functions: JSON.stringify([...functions]),
    types: types.size + methods.size === 0 ? '' : JSON.stringify(stored),
  }
}

/** Null for a module of another build: the caller then uses its source. */
export function readStoredModule(stored: StoredModule): CompiledModule | null {
  try {
    const chunk = readModule(stored.code)
    const { wildcard, imports, exports, declared } = JSON.parse(stored.names) as StoredNames
    return { chunk, wildcard, imports, interface: new StoredInterface(exports, declared, stored) }
  } catch (cause) {
    if (cause instanceof ChunkFormatError) return null
    throw cause
  }
}

class StoredInterface implements ImportedInterface {
  readonly exports: ReadonlySet<string>
  readonly declared: ReadonlySet<string>
  private readonly stored: StoredModule
  private readFunctions: ReadonlyMap<string, FnSignature> | null = null
  private readTypes: Pick<ImportedInterface, 'types' | 'methods'> | null = null

  constructor(exports: readonly string[], declared: readonly string[], stored: StoredModule) {
    this.exports = new Set(exports)
    this.declared = new Set([...exports, ...declared])
    this.stored = stored
  }

  get functions(): ReadonlyMap<string, FnSignature> {
    return (this.readFunctions ??= new Map(JSON.parse(this.stored.functions) as (readonly [string, FnSignature])[]))
  }

  get types(): ReadonlyMap<string, TypeDeclaration> {
    return this.parsed.types
  }

  get methods(): ReadonlyMap<string, MethodTable> {
    return this.parsed.methods
  }

  private get parsed(): Pick<ImportedInterface, 'types' | 'methods'> {
    if (this.readTypes !== null) return this.readTypes
    const { types, methods } =
      this.stored.types === '' ? { types: [], methods: [] } : (JSON.parse(this.stored.types) as StoredTypes)
    return (this.readTypes = {
      types: new Map(types),
      methods: new Map(methods.map(([name, table]) => [name, table === null ? null : new Map(table)])),
    })
  }
}

/** The chunk of an instance under ceilings, or of one whose imports are other instances: `keys` maps the chunk's keys to them. */
export function makeInstance(
  { chunk }: CompiledModule,
  { key, ceilings, keys }: Pick<LoadedInstance, 'key' | 'ceilings'> & { readonly keys: ReadonlyMap<string, string> },
): ModuleChunk {
  const units = chunk.units.map((unit) => keys.get(unit) ?? unit)
  if (key === chunk.key && ceilings.length === 0 && units.every((unit, at) => unit === chunk.units[at])) return chunk
  const { fingerprint: _, ...code } = chunk
  return {
    ...code,
    key,
    units,
    ...(key === chunk.key ? {} : { file: chunk.key }),
    ...(ceilings.length === 0 ? {} : { ceilings }),
  }
}

interface LoadedInstance {
  readonly key: string
  readonly ceilings: NonNullable<ModuleChunk['ceilings']>
}
