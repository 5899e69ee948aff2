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
import { configFor } from '../config.js'
import type { Finding } from '../findings.js'
import { symbolsOf } from './symbols.js'
import type { FileSymbols } from './symbols.js'

/** The file's path; texts that are in no file have their address for one. */
export function pathOf(uri: string): string {
  return uri.startsWith('file:') ? fileURLToPath(uri) : uri
}

export class OpenDocument {
  readonly text: TextDocument
  readonly parsed: Parsed
  readonly finder = new ModuleFinder()
  private symbolsMade: FileSymbols | null = null
  private typesMade: Map<string, string> | null = null
  private found: readonly Finding[] | null = null

  constructor(text: TextDocument) {
    this.text = text
    const path = pathOf(text.uri)
    this.parsed = parseTarget({ path, key: path, text: text.getText() })
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
    const { target } = this.parsed
    const config = configFor(target.path)
    const analysis = new Analysis(this.finder, [this.parsed])
    this.found = analysis.check(runtime, this.parsed, {
      config,
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
