// Public face of the compiler: source → checked, compiled program.

export { compileProgram } from './compile.js'
export type { CompileOptions, CompileResult } from './compile.js'
export { loadModules } from './modules.js'
export type { LoadedImport, LoadedModule, ModuleGraph, Resolution, Resolve } from './modules.js'
export type { Signatures } from './signatures.js'
export * from './bytecode/index.js'
export { checkProgram } from './types/check.js'
export type { CheckOptions } from './types/check.js'
export { interfaceOf } from './types/module-interface.js'
export type { ImportedInterface } from './types/module-interface.js'
export { jsonSchemaOfType } from './types/schema-of-type.js'
export { CHECK_CATALOG } from './types/catalog.js'
