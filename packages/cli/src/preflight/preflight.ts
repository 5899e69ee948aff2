// Preflight: do the references of a script exist? Imports, templates, folders, operations of the host, tools that prompts mention.
// Only literals are checked, in the file and in every module file that it imports; computed references are left to the run.

import { resolve } from 'node:path'
import { callsAny, listContents, suggestNear } from '@bridle/compiler'
import { DEFINABLE_EXECUTORS, executorNamed, factsOfExecutor } from '@bridle/compiler/grants'
import {
  type Argument,
  type Diagnostic,
  type Expr,
  type ExprOf,
  type Program,
  type SourceFile,
  type Span,
  walk,
  type Stmt,
} from '@bridle/parser'
import { parseTemplate, TemplateError } from '@bridle/stdlib-tools'
import { findFolder, listImportedModules, type ModuleFinder } from '../checking/imports.js'
import type { Config, PreflightSeverity } from '../config.js'
import type { Finding } from '../findings.js'
import { listAssetPlaces, suggestElsewhere, isFile, isFolder, readTemplate } from './assets.js'
import { type Capabilities, makeCapabilities, readCapabilities } from './capabilities.js'
import { type PreflightArgs, type PreflightCode, makePreflightDiagnostic } from './catalog.js'
import { checkCollisions, checkReexports } from './collisions.js'
import { listToolMentions } from './prompts.js'

export interface PreflightOptions {
  readonly config: Config
  readonly finder: ModuleFinder
  readonly severity: PreflightSeverity
  readonly bundleRoot: string | null
  /** File of further capabilities. */
  readonly hostCapabilities: string | null
}

export interface PreflightModule {
  readonly key: string
  readonly file: SourceFile
  readonly program: Program
}

export function runPreflight(root: PreflightModule, options: PreflightOptions): readonly Finding[] {
  if (options.severity === 'off') return []
  const run = new Preflight(options, options.severity)
  run.checkModule(root)
  checkCollisions(root, options.finder, run)
  checkReexports(root, options.finder, run)
  run.checkPrompts(root)
  return run.findings
}

/** Builtins that `Preflight.call` has a case for. */
const LOOKED_AT = ['render', 'render_prompt', 'exec_at', 'shell_at', 'spawn_agent', 'host_invoke', 'host_call', 'tool_define']

/** The operation that was most likely meant: of the same capability, or the same operation of a similar capability. */
function suggestOperation(name: string, known: Capabilities): string | null {
  const all = [...known].flatMap(([capability, operations]) => [...operations].map((each) => `${capability}.${each}`))
  return suggestNear(name, all)
}

function writeName({ span }: Literal, suggestion: string | null): Diagnostic['fix'] {
  return suggestion === null ? null : { title: `write "${suggestion}"`, edits: [{ span, text: `"${suggestion}"` }] }
}

/** One part of a call to check. */
type Literal = { readonly text: string; readonly span: Span }

export class Preflight {
  readonly findings: Finding[] = []
  private readonly options: PreflightOptions
  private readonly severity: 'error' | 'warning'
  private readonly seen = new Set<string>()
  private known: Capabilities = new Map()

  constructor(options: PreflightOptions, severity: 'error' | 'warning') {
    this.options = options
    this.severity = severity
  }

  /** `tag` is the name for `[check].preflight_allow`. */
  report<C extends PreflightCode>(
    file: SourceFile,
    code: C,
    span: Span,
    args: PreflightArgs<C>,
    tag: string | null = null,
    fix: Diagnostic['fix'] = null,
  ): void {
    if (tag !== null && this.isAllowed(tag)) return
    this.findings.push({ file, diagnostic: makePreflightDiagnostic(code, span, args, this.severity, fix) })
  }

  private isAllowed(tag: string): boolean {
    const [capability] = tag.split('.')
    return this.options.config.check.preflight_allow.some(
      (entry) => entry === '*' || entry === tag || entry === capability || entry === `${capability}.*`,
    )
  }

  /** A module and its imports, each once. */
  checkModule(module: PreflightModule): void {
    if (this.seen.size === 0) this.known = this.collectCapabilities(module)
    if (this.seen.has(module.key)) return
    this.seen.add(module.key)
    for (const item of module.program.items) {
      if (item.kind !== 'ImportDecl' || item.path.startsWith('std/') || item.path.startsWith('host/')) continue
      const found = this.options.finder.find(item.path, module.key)
      if (found === null) this.report(module.file, 'H001', item.span, { path: item.path })
      else if (found.program !== null) this.checkModule({ key: found.key, file: found.file, program: found.program })
    }
    if (!callsAny(listContents(module.program), LOOKED_AT)) return
    walk(module.program, {
      enter: (node) => {
        if (node.kind === 'Call') this.call(node, module)
      },
    })
  }

  // ---- calls ------------------------------------------------------------------------------------------------------

  private call(call: ExprOf<'Call'>, module: PreflightModule): void {
    const { text: name } = call.callee
    const first = readLiteral(call.args[0])
    switch (name) {
      case 'render':
      case 'render_prompt':
        if (first !== null) this.checkTemplate(name, first, module)
        return
      case 'exec_at':
      case 'shell_at':
        if (first !== null) this.checkFolder('execution directory', first.text, first.span, module)
        return
      case 'spawn_agent':
        return this.checkWorker(call, module)
      case 'host_invoke':
        return this.report(module.file, 'H006', call.span, {})
      case 'host_call':
        return this.checkHostCall(call, first, module)
      case 'tool_define':
        return this.checkTool(call, module)
      default:
        return
    }
  }

  private checkTemplate(builtin: string, target: Literal, { file, key }: PreflightModule): void {
    const places = this.findPlaces(target, file, key)
    if (places === null) return
    const found = places.find(isFile)
    const { text: path, span } = target
    if (found === undefined) {
      const elsewhere = suggestElsewhere(path, findFolder(key), this.options.config)
      return this.report(file, 'H002', span, { builtin, path, candidates: places, elsewhere })
    }
    const read = readTemplate(found)
    if ('problem' in read) return this.report(file, 'H003', span, { path, error: read.problem })
    try {
      parseTemplate(read.text)
    } catch (cause) {
      if (!(cause instanceof TemplateError)) throw cause
      const { line, column } = cause.place
      this.report(file, 'H003', span, { path, error: `has a syntax error: at ${line}:${column}: ${cause.message}` })
    }
  }

  private findPlaces({ text, span }: Literal, file: SourceFile, key: string): readonly string[] | null {
    const places = listAssetPlaces(text, findFolder(key), this.options.config, this.options.bundleRoot)
    if (places.kind === 'places') return places.candidates
    this.report(file, 'H004', span, { problem: places.problem })
    return null
  }

  private checkFolder(what: string, folder: string, span: Span, { file, key }: PreflightModule): void {
    const path = resolve(findFolder(key), folder)
    if (!isFolder(path)) this.report(file, 'H005', span, { what, folder, path })
  }

  private checkWorker(call: ExprOf<'Call'>, module: PreflightModule): void {
    const execution = findField(call.args[0]?.value, 'execution')
    if (execution === null) return
    const cwd = readLiteralField(execution, 'cwd')
    if (cwd !== null) this.checkFolder('worker execution cwd', cwd.text, execution.span, module)
    const worktree = findField(execution, 'worktree')
    const repo = worktree === null ? null : readLiteralField(worktree, 'repo')
    if (worktree !== null && repo !== null) this.checkFolder('worker worktree repo', repo.text, worktree.span, module)
  }

  private checkHostCall(call: ExprOf<'Call'>, first: Literal | null, { file, key }: PreflightModule): void {
    // Without a name there is nothing to check; the run reports the missing argument.
    if (call.args.length === 0) return
    const dot = first?.text.indexOf('.') ?? -1
    if (first === null || dot < 0) return this.report(file, 'H008', call.args[0]?.span ?? call.span, {})
    const [capability, operation] = [first.text.slice(0, dot), first.text.slice(dot + 1)]
    if (this.known.get(capability)?.has(operation) !== true) {
      const suggestion = suggestOperation(first.text, this.known)
      return this.report(file, 'H007', call.span, { capability, operation, suggestion }, first.text, writeName(first, suggestion))
    }
    const params = call.args[1]
    const target = first.text === 'template.render' && params !== undefined ? readLiteralField(params.value, 'path') : null
    if (target === null || params === undefined) return
    const places = this.findPlaces({ text: target.text, span: params.span }, file, key)
    if (places !== null && !places.some(isFile)) {
      this.report(file, 'H009', params.span, { path: target.text, candidates: places })
    }
  }

  private checkTool(call: ExprOf<'Call'>, { file }: PreflightModule): void {
    const config = call.args[3]?.value
    const executor = readLiteralField(config, 'executor')
    if (executor === null) return
    const name = readLiteral(call.args[1])?.text ?? '<dynamic>'
    const known = executorNamed(executor.text)
    if (known === null || !DEFINABLE_EXECUTORS.includes(known))
      return this.report(file, 'H010', executor.span, { name, executor: executor.text })
    if (factsOfExecutor(known).identity !== 'host') return
    if (findField(config, 'host_capability') === null) return this.report(file, 'H011', call.span, { name })
    const bound = readLiteralField(config, 'host_capability')
    if (bound === null) return
    const dot = bound.text.indexOf('.')
    if (dot < 0) return this.report(file, 'H012', bound.span, { name, capability: bound.text })
    const [capability, operation] = [bound.text.slice(0, dot), bound.text.slice(dot + 1)]
    if (this.known.get(capability)?.has(operation) !== true) {
      this.report(file, 'H013', bound.span, { name, capability, operation }, bound.text)
    }
  }

  private collectCapabilities(root: PreflightModule): Capabilities {
    const { config, hostCapabilities } = this.options
    return makeCapabilities(
      Object.entries(config.check.host_capabilities),
      hostCapabilities === null ? [] : readCapabilities(hostCapabilities),
      listMockedOperations(root, this.options.finder),
    )
  }

  // ---- prompts ----------------------------------------------------------------------------------------------------

  /** Tools that literal prompts of the root file mention, when the file defines any. */
  checkPrompts({ file, key, program }: PreflightModule): void {
    if (!listContents(program).calls.has('tool_define')) return
    const tools = new Map<string, { readonly deferred: boolean }>()
    const prompts: Literal[] = []
    let canSearch = false
    walk(program, {
      enter: (node) => {
        if (node.kind !== 'Call') return
        const first = readLiteral(node.args[0])
        switch (node.callee.text) {
          case 'tool_define': {
            const name = readLiteral(node.args[1])
            const deferred = findField(node.args[3]?.value, 'defer_loading')
            if (name !== null) tools.set(name.text, { deferred: deferred?.kind === 'Bool' && deferred.value })
            break
          }
          case 'render_prompt':
            if (first !== null) prompts.push(first)
            break
          case 'agent_loop':
          case 'llm_call': {
            const search = findField(node.args[2]?.value, 'tool_search')
            if (search !== null && search.kind !== 'Nil' && !(search.kind === 'Bool' && !search.value)) canSearch = true
            break
          }
          default:
            break
        }
      },
    })
    if (tools.size === 0) return
    const place = { start: 0, end: 1 }
    for (const { text: path } of prompts) {
      const places = listAssetPlaces(path, findFolder(key), this.options.config, this.options.bundleRoot)
      const found = places.kind === 'places' ? places.candidates.find(isFile) : undefined
      const read = found === undefined ? null : readTemplate(found)
      if (read === null || 'problem' in read) continue
      for (const tool of listToolMentions(read.text)) {
        const known = tools.get(tool)
        if (known === undefined) this.report(file, 'H016', place, { path, tool })
        else if (known.deferred && !canSearch) this.report(file, 'H017', place, { path, tool })
      }
    }
  }
}

function readLiteral(arg: Argument | undefined): Literal | null {
  return arg !== undefined && !arg.spread && arg.value.kind === 'String' ? { text: arg.value.value, span: arg.value.span } : null
}

/** Value of a field of a dict literal; null when there is none. */
function findField(expr: Expr | undefined, name: string): Expr | null {
  if (expr?.kind !== 'Dict') return null
  for (const entry of expr.entries) if (entry.kind === 'named' && entry.key.text === name) return entry.value
  return null
}

function readLiteralField(expr: Expr | undefined, name: string): Literal | null {
  const value = findField(expr, name)
  return value?.kind === 'String' ? { text: value.value, span: value.span } : null
}

/** `host_mock` and the functions of std/testing that pass their first two arguments to it. */
const MOCKS: ReadonlySet<string> = new Set(['host_mock', 'mock_host_result', 'mock_host_error', 'mock_host_response'])

/** Operations that `host_mock("capability", "operation", …)` adds, here and in imported modules. */
function listMockedOperations(root: PreflightModule, finder: ModuleFinder): readonly (readonly [string, readonly string[]])[] {
  const found: (readonly [string, readonly string[]])[] = []
  for (const { program } of [root, ...listImportedModules(root, finder)]) {
    if (program === null || !callsAny(listContents(program), MOCKS)) continue
    for (const item of program.items) found.push(...listMockedIn(item))
  }
  return found
}

const mocked = new WeakMap<Stmt, readonly (readonly [string, readonly string[]])[]>()

/** Cached by tree: the next version of an edited file shares most trees with the last one. */
function listMockedIn(item: Stmt): readonly (readonly [string, readonly string[]])[] {
  const known = mocked.get(item)
  if (known !== undefined) return known
  const found: (readonly [string, readonly string[]])[] = []
  walk(item, {
    enter: (node) => {
      if (node.kind !== 'Call' || !MOCKS.has(node.callee.text)) return
      const [capability, operation] = [readLiteral(node.args[0]), readLiteral(node.args[1])]
      if (capability !== null && operation !== null) found.push([capability.text, [operation.text]])
    },
  })
  mocked.set(item, found)
  return found
}
