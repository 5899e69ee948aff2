// A whole file → module chunk: which top-level statements run, in which order, and what imports bind.

import type { PipelineDecl, Program, Stmt } from '@bridle/parser'
import type { ModuleChunk } from '../bytecode/chunk.js'
import { emitDeferEpilogue } from './errors.js'
import { emitReturnTop } from './expressions.js'
import { FunctionEmitter } from './function.js'
import { ModuleEmitter } from './module.js'
import { ownBody } from './names.js'
import { emitBody, emitStmt } from './statements.js'
import type { EmitOptions, ResolvedImport } from './module.js'

type Import = Extract<Stmt, { kind: 'ImportDecl' }>

/** Declarations that a pipeline's file or an imported module defines besides its variables. */
const DEFINING: ReadonlySet<Stmt['kind']> = new Set(['FnDecl', 'ToolDecl', 'SkillDecl', 'EvalPackDecl', 'StructDecl', 'ImplDecl'])

export function emitProgram(program: Program, options: EmitOptions): ModuleChunk {
  const module = new ModuleEmitter(program, options)
  const imports = program.items.filter((item): item is Import => item.kind === 'ImportDecl')
  const lets = program.items.filter((item) => item.kind === 'Let')
  const definitions = program.items.filter((item) => DEFINING.has(item.kind))
  const pipeline = options.isMain ? entryPipeline(program, options.pipeline) : null
  module.pipelineMode = pipeline !== null || !options.isMain
  const body = pipeline !== null ? pipelineBody(program, pipeline) : []
  const statements =
    pipeline !== null
      ? [...lets, ...definitions, ...body]
      : options.isMain
        ? program.items.filter((item) => item.kind !== 'ImportDecl')
        : [
            ...lets,
            ...definitions.filter((item) => item.kind === 'FnDecl' || item.kind === 'StructDecl' || item.kind === 'ImplDecl'),
          ]
  const own = ownBody(statements)
  const hasDefer = options.isMain && own.hasDefer
  const main = new FunctionEmitter(module, null, {
    name: pipeline === null ? '<main>' : 'pipeline',
    kind: 'main',
    params: [],
    firstDefault: 0,
    rest: -1,
    selfName: null,
    assignments: own.assignments,
    takenParts: new Set(),
    keepSlots: hasDefer,
    tailCalls: false,
  })
  // The main function is number 0; its finished chunk replaces this entry.
  module.functions.push(null as never)
  for (const item of imports) emitImport(main, item, options.imports.get(item.path))
  const run = (): void => {
    if (!options.isMain) emitModuleBody(main, statements)
    else emitBody(main, statements, pipeline !== null && body.length > 0)
    if (!(pipeline !== null && body.length > 0)) main.emit('NIL')
    emitReturnTop(main)
  }
  if (hasDefer) emitDeferEpilogue(main, run)
  else run()
  module.functions[0] = main.finish()
  return module.finish()
}

function entryPipeline(program: Program, wanted: string | undefined): PipelineDecl | null {
  const pipelines = program.items.filter((item): item is PipelineDecl => item.kind === 'PipelineDecl')
  if (wanted !== undefined) return pipelines.find((item) => item.name.text === wanted) ?? null
  return pipelines.find((item) => item.name.text === 'default') ?? pipelines[0] ?? null
}

/** Bodies from the farthest ancestor to the pipeline itself; unknown and repeated parents end the chain. */
function pipelineBody(program: Program, pipeline: PipelineDecl): Stmt[] {
  const chain: PipelineDecl[] = []
  for (let at: PipelineDecl | undefined = pipeline; at !== undefined && !chain.includes(at);) {
    chain.unshift(at)
    const parent: string | null = at.parent?.text ?? null
    at = program.items.find((item): item is PipelineDecl => item.kind === 'PipelineDecl' && item.name.text === parent)
  }
  return chain.flatMap((item) => item.body.body)
}

/** An imported module: variables first, then its functions, which can call each other in any order. */
function emitModuleBody(main: FunctionEmitter, statements: readonly Stmt[]): void {
  const functions = statements.filter((item) => item.kind === 'FnDecl')
  for (const item of functions) main.predeclareModuleSlot(item.name.text)
  for (const item of statements) emitStmt(main, item)
  for (const item of functions) {
    const slot = main.module.moduleSlots.indexOf(item.name.text)
    if (slot >= 0) main.module.exports[item.name.text] = slot
  }
}

function emitImport(main: FunctionEmitter, item: Import, resolved: ResolvedImport | undefined): void {
  if (resolved === undefined) return main.raise('runtime', `Import error: cannot read '${item.path}': not loaded`, item.pathSpan)
  if (resolved.kind === 'error') return main.raise('runtime', resolved.message, item.pathSpan)
  if (resolved.kind === 'cycle') return
  const unit = main.module.unit(resolved.key)
  main.at(item.span)
  main.emit('RUN_MODULE', unit)
  main.emit('POP')
  for (const name of item.names?.map((known) => known.text) ?? resolved.wildcard) {
    const slot = Object.hasOwn(resolved.functions, name) ? resolved.functions[name] : undefined
    const span = item.names?.find((known) => known.text === name)?.span ?? item.pathSpan
    if (slot === undefined) {
      // A type name is used in annotations and as a schema; nothing is bound.
      if (resolved.types.has(name)) continue
      return main.raise(
        'runtime',
        item.isPublic
          ? `Re-export error: '${name}' is not exported by '${item.path}'`
          : `Import error: '${name}' is not defined in ${resolved.file}`,
        span,
      )
    }
    if (main.isDeclaredHere(name)) {
      return main.raise(
        'runtime',
        `Import collision: '${name}' is already defined when importing ${resolved.file}. Use selective imports to disambiguate: import { ${name} } from "..."`,
        span,
      )
    }
    main.emit('LOAD_EXPORT', unit, slot)
    const variable = main.declare(name, false, { span, isFunction: true })
    main.bindTop(variable)
    if (item.isPublic && variable?.place.kind === 'module') main.module.exports[name] = variable.place.index
  }
}
