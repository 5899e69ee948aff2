// One open file as the editor's questions need it: its tree, its symbols, the types of its names and what was found in it. Made
// anew for each version of the text; parts are made when first asked for.

import { fileURLToPath } from 'node:url'
import { checkProgram } from '@bridle/compiler'
import type { Span } from '@bridle/parser'
import type { Runtime } from '@bridle/stdlib-tools'
import type { TextDocument } from 'vscode-languageserver-textdocument'
import { Analysis, parseTarget } from '../checking/analyze.js'
import type { Parsed } from '../checking/analyze.js'
import { ModuleFinder } from '../checking/imports.js'
import { NO_CONFIG, configFor } from '../config.js'
import type { Config } from '../config.js'
import type { Finding } from '../findings.js'
import { symbolsOf } from './symbols.js'
import type { FileSymbols } from './symbols.js'

/** The file's path; texts that are in no file, or in one that no path of this machine names, have their address for one. */
export function pathOf(uri: string): string {
  if (!uri.startsWith('file:')) return uri
  try {
    const path = fileURLToPath(uri)
    return path.includes('\0') ? uri : path
  } catch {
    return uri
  }
}

export class OpenDocument {
  readonly text: TextDocument
  /** Why the settings of `harn.toml` are not heeded; null when they are. */
  settingsProblem: string | null = null
  private parsedMade: Parsed | null = null
  private settingsMade: Config | null = null
  readonly finder = new ModuleFinder()
  private symbolsMade: FileSymbols | null = null
  private typesMade: Map<string, string> | null = null
  private found: readonly Finding[] | null = null

  constructor(text: TextDocument) {
    this.text = text
  }

  get parsed(): Parsed {
    const path = pathOf(this.text.uri)
    this.parsedMade ??= parseTarget({ path, key: path, text: this.text.getText() })
    return this.parsedMade
  }

  /** Whether it was parsed, and does. Of a version that nobody asked about it is not known. */
  get isKnownToParse(): boolean {
    return this.parsedMade !== null && this.parsedMade.program !== null
  }

  get settings(): Config {
    this.settingsMade ??= this.readSettings()
    return this.settingsMade
  }

  /** A manifest that cannot be used is told of in each file below it, and they are looked at as if there were none. */
  private readSettings(): Config {
    try {
      return configFor(pathOf(this.text.uri))
    } catch (cause) {
      this.settingsProblem = cause instanceof Error ? cause.message : String(cause)
      return NO_CONFIG
    }
  }

  /** null while the text does not parse. */
  get symbols(): FileSymbols | null {
    const { program } = this.parsed
    if (program === null) return null
    this.symbolsMade ??= symbolsOf(program)
    return this.symbolsMade
  }

  findings(runtime: Runtime): readonly Finding[] {
    if (this.found !== null) return this.found
    const config = this.settings
    const analysis = new Analysis(this.finder, [this.parsed])
    this.found = analysis.check(runtime, this.parsed, {
      config,
      style: true,
      strictTypes: config.check.strict_types,
      preflight: config.check.preflight_severity,
      bundleRoot: null,
      hostCapabilities: null,
      invariants: true,
    })
    return this.found
  }

  /** The type of a name where it stands, as types are written; null when nothing is known. */
  typeAt(span: Span): string | null {
    this.typesMade ??= this.types()
    return this.typesMade.get(keyOf(span)) ?? null
  }

  private types(): Map<string, string> {
    const { program, file, target } = this.parsed
    const types = new Map<string, string>()
    if (program === null) return types
    checkProgram(program, {
      file,
      imports: this.finder.importsOf(target.key),
      observe: (span, type) => types.set(keyOf(span), type),
    })
    return types
  }
}

const keyOf = ({ start, end }: Span): string => `${start}:${end}`
