// `bridle lint PATH…`: style and likely mistakes. Findings go to stderr as excerpts or to stdout as JSON; a
// file without findings is listed on stdout. Exit 1 when something does not parse or a rule reports an error; 0 after `--fix`.

import { realpathSync } from 'node:fs'
import { overwriteFile } from '@bridle/stdlib-tools/node'
import { Analysis, compileFindings, lintSettings, type Parsed, parseTarget, type Target } from '../checking/analyze.js'
import { ModuleFinder } from '../checking/imports.js'
import { repairTarget } from '../checking/repair.js'
import { makeConfigCache } from '../config.js'
import { EXIT_FAILURE, UsageError } from '../errors.js'
import { type Finding, findingToJson, isError, showFindings } from '../findings.js'
import { makeCommandRuntime } from '../host.js'
import { readTarget, listScripts } from '../targets.js'
import { tell, tellJson } from '../printable.js'

export interface LintFlags {
  readonly fix?: boolean
  readonly json?: boolean
  readonly requireFileHeader?: boolean
}

export function lintCommand(paths: readonly string[], flags: LintFlags): number {
  const files = readTargets(paths).map((target) => parseTarget(target))
  const configOf = makeConfigCache()
  const finder = new ModuleFinder()
  const analysis = new Analysis(finder, files)
  const lint = (parsed: Parsed): readonly Finding[] => {
    if (parsed.program === null) return parsed.diagnostics.map((diagnostic) => ({ diagnostic, file: parsed.file }))
    const settings = lintSettings(configOf(parsed.target.path))
    return analysis.lint(parsed, {
      ...settings,
      requireFileHeader: flags.requireFileHeader ?? settings.requireFileHeader ?? false,
    })
  }
  // Repairs of the type checker are applied too, though lint does not report its findings.
  const listTypeFixes = (parsed: Parsed): readonly Finding[] =>
    compileFindings(makeCommandRuntime({ script: parsed.target.key, terminal: false, args: [] }), parsed, false)
  const all: Finding[] = []
  for (const parsed of files) {
    const found = flags.fix === true ? applyAndWriteFixes(parsed, lint, flags.json === true, listTypeFixes) : lint(parsed)
    all.push(...found)
    if (flags.json === true) continue
    if (found.length === 0) tell(`${parsed.target.path}: no issues found\n`)
    showFindings(found)
  }
  if (flags.json === true) tellJson(all.map(findingToJson))
  const broken = files.some(({ program }) => program === null)
  return broken || (flags.fix !== true && all.some(isError)) ? EXIT_FAILURE : 0
}

/** Applies the repairs, writes the file, and returns the remaining findings. */
export function applyAndWriteFixes(
  parsed: Parsed,
  analyse: (parsed: Parsed) => readonly Finding[],
  quiet: boolean,
  further: (parsed: Parsed) => readonly Finding[] = () => [],
): readonly Finding[] {
  const { path } = parsed.target
  const repaired = repairTarget(parsed, analyse, further)
  if (repaired.count === 0) return repaired.left
  overwriteFile(path, repaired.parsed.target.text)
  if (!quiet) tell(`${path}: applied ${repaired.count} fix(es)\n`)
  return repaired.left
}

export function readTargets(paths: readonly string[]): readonly Target[] {
  const files = listScripts(paths)
  if (files.length === 0) throw new UsageError('no .harn files found under the given target(s)')
  return files.map((path) => ({ path, key: realpathSync(path), text: readTarget(path) }))
}
