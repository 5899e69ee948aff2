// Static analysis of a script: syntax, types, lint, preflight, invariants, in this order. The same
// analysis serves `check`, `lint` and editors; it holds what the files of one command share.

import { checkInvariants, findMistakes, type LintOptions, lintProgram, type StrictTypes } from '@bridle/compiler'
import { type Diagnostic, findBrokenInterpolations, parse, type Program, SourceFile } from '@bridle/parser'
import type { Runtime } from '@bridle/stdlib-tools'
import type { Config, PreflightSeverity } from '../config.js'
import type { Finding } from '../findings.js'
import { runPreflight } from '../preflight/preflight.js'
import { listImportedModules, type ModuleFinder, listSelectiveImports } from './imports.js'

export interface Target {
  /** The name that is displayed. */
  readonly path: string
  /** The module key: the real path. */
  readonly key: string
  readonly text: string
}

export interface Parsed {
  readonly target: Target
  readonly file: SourceFile
  /** null when it does not parse; then `diagnostics` say why. */
  readonly program: Program | null
  readonly diagnostics: readonly Diagnostic[]
}

/** `versions`: parses the versions of one file (`Reparser`). */
export function parseTarget(target: Target, versions: { readonly parse: typeof parse } | null = null): Parsed {
  const file = new SourceFile(target.path, target.text)
  return { target, file, ...(versions === null ? parse(file) : versions.parse(file)) }
}

export interface LintSettings {
  readonly disabled: readonly string[]
  readonly skipsStyle?: boolean
  /** Without findings that a rule infers from a name alone. */
  readonly isSure?: boolean
  readonly requireFileHeader?: boolean
  readonly complexityThreshold?: number | undefined
}

export class Analysis {
  private readonly finder: ModuleFinder
  private readonly importedNames: ReadonlyMap<string, ReadonlySet<string>>

  constructor(finder: ModuleFinder, files: readonly Parsed[]) {
    this.finder = finder
    this.importedNames = listSelectiveImports(
      files.map(({ target, program }) => ({ key: target.key, program })),
      finder,
    )
  }

  lint({ target, file, program }: Parsed, settings: LintSettings): readonly Finding[] {
    if (program === null) return []
    const options: LintOptions = {
      file,
      disabled: settings.disabled,
      skipsStyle: settings.skipsStyle ?? false,
      isSure: settings.isSure ?? false,
      imports: this.finder.makeImportLookup(target.key),
      importedElsewhere: this.importedNames.get(target.key) ?? new Set(),
      requireFileHeader: settings.requireFileHeader ?? false,
      ...(settings.complexityThreshold === undefined ? {} : { complexityThreshold: settings.complexityThreshold }),
    }
    return lintProgram(program, options).map((diagnostic) => ({ diagnostic, file }))
  }

  /** Everything that `check` reports about a file. */
  check(runtime: Runtime, parsed: Parsed, settings: CheckSettings): readonly Finding[] {
    const { target, file, program } = parsed
    const compiled = compileFindings(runtime, parsed, settings.strictTypes)
    if (program === null) return compiled
    const broken = listImportedModules({ key: target.key, program }, this.finder).flatMap((module) =>
      module.diagnostics.map((diagnostic) => ({ diagnostic, file: module.file })),
    )
    const hasStyle = settings.isLenient === true || settings.style === true
    const { disable_rules: disabled } = settings.config.check
    const lint = this.lint(parsed, { disabled, skipsStyle: !hasStyle, isSure: settings.isLenient !== true })
    // What lint reports as an error is a compile error, with a rule and a position.
    const isSaidBetter = lint.some(({ diagnostic }) => diagnostic.severity === 'error')
    const own = isSaidBetter ? compiled.filter(({ diagnostic }) => diagnostic.code !== 'C001') : compiled
    const { config, preflight: severity, bundleRoot, hostCapabilities } = settings
    const options = { config, finder: this.finder, severity, bundleRoot, hostCapabilities }
    const promises = settings.invariants ? checkInvariants(program, file).map(({ diagnostic }) => ({ diagnostic, file })) : []
    const all = [...own, ...lint, ...broken, ...runPreflight({ key: target.key, file, program }, options), ...promises]
    return settings.isLenient === true ? all : withMistakes(all, this.mistakes(parsed))
  }

  /** Likely mistakes, found from the source alone. */
  private mistakes({ target, file, program }: Parsed): readonly Finding[] {
    if (program === null) return []
    const found = [
      ...findBrokenInterpolations(file),
      ...findMistakes(program, { file, imports: this.finder.makeImportLookup(target.key) }),
    ]
    return found.map((diagnostic) => ({ diagnostic, file }))
  }
}

/**
 * If the mistakes pass knows what a name was meant to be, it reports better than the checker at the same position. For a member of a
 * value whose type is known, the checker does.
 */
function withMistakes(found: readonly Finding[], all: readonly Finding[]): readonly Finding[] {
  const typed = new Set(found.filter(({ diagnostic }) => MEMBER_CODES.has(diagnostic.code)).map(makePositionKey))
  const mistakes = all.filter((finding) => finding.diagnostic.code !== 'M021' || !typed.has(makePositionKey(finding)))
  const named = new Set(mistakes.filter(({ diagnostic }) => diagnostic.severity === 'error').map(makePositionKey))
  const unknown = new Set(found.filter(({ diagnostic }) => diagnostic.code === 'N001').map(makePositionKey))
  const reached = new Set(found.filter(({ diagnostic }) => diagnostic.code === 'N020').map(makePositionKey))
  const kept = found.filter((finding) => {
    const { code } = finding.diagnostic
    if (code === 'L021') return !reached.has(makePositionKey(finding))
    if (code === 'L057') return !unknown.has(makePositionKey(finding))
    return !/^[NTL]/.test(code) || !named.has(makePositionKey(finding))
  })
  const last = kept.findLastIndex(({ file }) => file === mistakes[0]?.file)
  return [...kept.slice(0, last + 1), ...mistakes, ...kept.slice(last + 1)]
}

const MEMBER_CODES: ReadonlySet<string> = new Set(['T080', 'T081'])

function makePositionKey({ diagnostic, file }: Finding): string {
  return `${file.name} ${diagnostic.span.start}`
}

export interface CheckSettings {
  readonly config: Config
  /** Reports what the language's own checker reports and every lint rule, but nothing that only strict checks find. */
  readonly isLenient?: boolean
  /** Includes the lint rules about style, which are otherwise left to `bridle lint`: an editor shows both. */
  readonly style?: boolean
  readonly strictTypes: StrictTypes
  readonly preflight: PreflightSeverity
  readonly bundleRoot: string | null
  readonly hostCapabilities: string | null
  /** Whether handlers are checked against `@invariant(...)`. */
  readonly invariants: boolean
}

/** Rules that are off when a file is linted, and when it is checked. */
export function lintSettings({ check, lint }: Config): LintSettings {
  return {
    disabled: [...check.disable_rules, ...lint.disabled],
    requireFileHeader: lint.require_file_header,
    complexityThreshold: lint.complexity_threshold,
  }
}

/** Syntax, types and everything else that prevents compiling. */
export function compileFindings(runtime: Runtime, { target, file, program }: Parsed, strict: StrictTypes): readonly Finding[] {
  const diagnostics = runtime.diagnose(target.text, {
    file: target.key,
    strict,
    refuseMissing: true,
    strictness: 'full',
    checkTools: 'complete',
    ...(program === null ? {} : { parsed: program }),
  })
  return diagnostics.map((diagnostic) => ({ diagnostic, file }))
}
