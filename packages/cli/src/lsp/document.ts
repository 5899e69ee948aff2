// One open file as requests need it: its tree, its symbols, the types of its names and its findings. Made
// again for each version of the text; parts are computed on demand.

import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { checkProgram } from '@bridle/compiler'
import type { ToolTypes } from '@bridle/compiler'
import { Reparser } from '@bridle/parser'
import type { Program, Span, Stmt } from '@bridle/parser'
import type { Runtime } from '@bridle/stdlib-tools'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { Analysis, parseTarget } from '../checking/analyze.js'
import type { Parsed } from '../checking/analyze.js'
import { ModuleFinder, listImportedModules } from '../checking/imports.js'
import type { ModuleCache } from '../checking/imports.js'
import { NO_CONFIG, loadConfig } from '../config.js'
import type { Config } from '../config.js'
import { CommandError } from '../errors.js'
import type { CheckingRuntimes } from '../checking/runtimes.js'
import type { Finding } from '../findings.js'
import { collectSymbols } from './symbols.js'
import type { FileSymbols } from './symbols.js'

/** The file's path; for documents without a file on this machine, their URI. */
export function toPath(uri: string): string {
  if (!uri.startsWith('file:')) return uri
  try {
    const path = fileURLToPath(uri)
    return path.includes('\0') ? uri : path
  } catch {
    return uri
  }
}

/** The path itself if nothing exists there. */
export function findRealPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

export class OpenDocument {
  readonly text: TextDocument
  /** Why the settings of `harn.toml` are ignored; null when they are not. */
  settingsProblem: string | null = null
  private keyMade: string | null = null
  private parsedMade: Parsed | null = null
  private settingsMade: Config | null = null
  readonly finder: ModuleFinder
  /** Shared by all versions of the file: parts that an edit leaves unchanged are not parsed again. Only the newest version may be asked for positions. */
  readonly versions: Reparser
  private readonly runtimes: CheckingRuntimes
  private symbolsMade: FileSymbols | null = null
  /** Types of names by position, as far as requested: of the items of the top level, and of what is between them. */
  private readonly typesMade = new Map<Stmt | null, Map<string, string>>()
  private found: readonly Finding[] | null = null

  /** `earlier`: another version of the file; `modules`: those that documents of one editor share. */
  constructor(
    text: TextDocument,
    runtimes: CheckingRuntimes,
    earlier: OpenDocument | null = null,
    modules: ModuleCache | null = null,
  ) {
    this.text = text
    this.versions = earlier?.versions ?? new Reparser()
    this.runtimes = runtimes
    this.finder = new ModuleFinder({ moduleSource: (name) => this.runtime.host.moduleSource(name) }, modules)
  }

  /** Its module key. */
  get key(): string {
    return (this.keyMade ??= findRealPath(toPath(this.text.uri)))
  }

  /** Whether it imports anything that may change while it is open. */
  get importsFiles(): boolean {
    return this.parsed.program?.items.some((item) => item.kind === 'ImportDecl' && !/^(?:std|host)\//.test(item.path)) ?? false
  }

  /** Whether it imports the module with this key, directly or indirectly. */
  imports(key: string): boolean {
    const { program, target } = this.parsed
    return program !== null && listImportedModules({ key: target.key, program }, this.finder).some((each) => each.key === key)
  }

  get runtime(): Runtime {
    return this.runtimes.getRuntime(this.usable)
  }

  /** The tool declarations that the settings name. */
  get tools(): ToolTypes {
    return this.runtimes.getTypes(this.usable)
  }

  /** The settings, without an unreadable declaration file. */
  private get usable(): Config {
    const { settings } = this
    try {
      this.runtimes.getRuntime(settings)
      return settings
    } catch (cause) {
      if (!(cause instanceof CommandError)) throw cause
      this.settingsProblem = cause.message
      return NO_CONFIG
    }
  }

  /** The path that a name is imported from; null when it is not imported. */
  findImportPath(name: string): string | null {
    const symbol = this.symbols?.topLevel.find((each) => each.name === name)
    if (symbol !== undefined) return symbol.importPath
    for (const path of this.symbols?.wildcards ?? []) {
      if (path.startsWith('host/') && this.tools.ofModule(path.slice(5), name) !== null) return path
    }
    return null
  }

  get parsed(): Parsed {
    const path = toPath(this.text.uri)
    this.parsedMade ??= parseTarget({ path, key: path, text: this.text.getText() }, this.versions)
    return this.parsedMade
  }

  /** Whether it was parsed successfully. Unknown for a version that was never used. */
  get isKnownToParse(): boolean {
    return this.parsedMade !== null && this.parsedMade.program !== null
  }

  get settings(): Config {
    this.settingsMade ??= this.readSettings()
    return this.settingsMade
  }

  /** An invalid manifest is reported in each file below it, and ignored otherwise. */
  private readSettings(): Config {
    try {
      return loadConfig(toPath(this.text.uri))
    } catch (cause) {
      this.settingsProblem = cause instanceof Error ? cause.message : String(cause)
      return NO_CONFIG
    }
  }

  /** null if the text does not parse. */
  get symbols(): FileSymbols | null {
    const { program } = this.parsed
    if (program === null) return null
    this.symbolsMade ??= collectSymbols(program)
    return this.symbolsMade
  }

  get listFindings(): readonly Finding[] {
    return (this.found ??= this.findIn(this.parsed))
  }

  /** The findings of another text in place of this one. */
  findIn(parsed: Parsed): readonly Finding[] {
    const config = this.settings
    const analysis = new Analysis(this.finder, [parsed])
    return analysis.check(this.runtime, parsed, {
      config,
      style: true,
      strictTypes: config.check.strict_types,
      preflight: config.check.preflight_severity,
      bundleRoot: null,
      hostCapabilities: null,
      invariants: true,
    })
  }

  /** The type of the name at an offset, as source; null when nothing is known. */
  findTypeAt(span: Span): string | null {
    const { program } = this.parsed
    if (program === null) return null
    const item = program.items.find((each) => each.span.start <= span.start && span.end <= each.span.end) ?? null
    let types = this.typesMade.get(item)
    if (types === undefined) this.typesMade.set(item, (types = this.inferTypes(program, item)))
    return types.get(makeKey(span)) ?? null
  }

  /** Types of the names in one item: all items have a hundred times as many. */
  private inferTypes(program: Program, item: Stmt | null): Map<string, string> {
    const { file, target } = this.parsed
    const types = new Map<string, string>()
    checkProgram(program, {
      file,
      imports: this.finder.makeImportLookup(target.key),
      tools: this.tools,
      ...(item === null ? {} : { only: item }),
      observe: (span, type) => types.set(makeKey(span), type),
    })
    return types
  }
}

const makeKey = ({ start, end }: Span): string => `${start}:${end}`
