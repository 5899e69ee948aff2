// Scripts that are only analysed: findings, repairs, formatting.

import { readFileSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { applyFixes, format, SourceFile } from '@bridle/parser'
import { lintRule } from '@bridle/compiler'
import { Analysis, type Parsed, parseTarget } from '../checking/analyze.js'
import { ModuleFinder } from '../checking/imports.js'
import { loadConfig } from '../config.js'
import type { Finding } from '../findings.js'
import { makeCommandRuntime } from '../host.js'
import type { ConformanceTest } from './discover.js'
import { judge } from './judge.js'

/** null when everything matches the files beside the script; otherwise the reason. */
export function viewTest(test: ConformanceTest): string | null {
  const text = readFileSync(test.file, 'utf8')
  const parsed = parseTarget({ path: test.file, key: realpathSync(test.file), text })
  const { findings, fixed, formatted } = test.views
  const found = findings === null && fixed === null ? [] : listFindings(parsed)
  return (
    compare('findings', findings, () => found.map((one) => formatFinding(one, dirname(parsed.target.key))).join('\n')) ??
    compare(
      'fixed text',
      fixed,
      () =>
        applyFixes(
          text,
          found.filter(({ file }) => file === parsed.file).map(({ diagnostic }) => diagnostic),
        ).text,
    ) ??
    compare('formatted text', formatted, () => formatText(text)) ??
    compare('formatted text, formatted again', formatted, () => formatText(formatted ?? ''))
  )
}

function compare(what: string, wanted: string | null, made: () => string): string | null {
  if (wanted === null) return null
  const verdict = judge('positive', wanted, { kind: 'finished', output: made() })
  return verdict === null ? null : `${what}: ${verdict}`
}

function listFindings(parsed: Parsed): readonly Finding[] {
  const config = loadConfig(parsed.target.path)
  const runtime = makeCommandRuntime({ terminal: false })
  return new Analysis(new ModuleFinder(), [parsed]).check(runtime, parsed, {
    config,
    isLenient: true,
    strictTypes: config.check.strict_types,
    preflight: config.check.preflight_severity,
    bundleRoot: null,
    hostCapabilities: null,
    invariants: true,
  })
}

/** `3:1 warning[unused-variable] message`: the rule for lint, otherwise the code. The script's folder is `.`. */
function formatFinding({ diagnostic, file }: Finding, folder: string): string {
  const { line, column } = file.position(diagnostic.span.start)
  const name = lintRule(diagnostic.code) ?? diagnostic.code
  const message = diagnostic.message.replaceAll(folder, '.')
  return `${line}:${column} ${diagnostic.severity}[${name}] ${message}`
}

function formatText(text: string): string {
  const result = format(new SourceFile('script', text))
  return result.kind === 'formatted' ? result.text : `does not parse: ${result.diagnostics[0]?.message ?? ''}`
}
