// Findings of `check --strict` in a script of the suite, for the tests of mistakes.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Analysis, type Parsed, parseTarget } from '../src/checking/analyze.js'
import { ModuleFinder } from '../src/checking/imports.js'
import { loadConfig } from '../src/config.js'
import type { Finding } from '../src/findings.js'
import { makeCommandRuntime } from '../src/host.js'

/** Scripts with one mistake each, and their repaired versions. */
export const FOLDER = resolve(import.meta.dirname, '../../../conformance/mistakes')

const runtime = makeCommandRuntime({ script: join(FOLDER, 'x.harn'), terminal: false, args: [] })

export function read(name: string, folder = FOLDER): Parsed {
  const path = join(folder, name)
  return parseTarget({ path, key: path, text: readFileSync(path, 'utf8') })
}

export function check(name: string, folder = FOLDER): readonly Finding[] {
  return checkParsed(read(name, folder))
}

export function checkParsed(parsed: Parsed): readonly Finding[] {
  const config = loadConfig(parsed.target.path)
  return new Analysis(new ModuleFinder(), [parsed]).check(runtime, parsed, {
    config,
    strictTypes: 'unnamed',
    preflight: config.check.preflight_severity,
    bundleRoot: null,
    hostCapabilities: null,
    invariants: false,
  })
}

export function formatFinding({ diagnostic, file }: Finding): string {
  return `${diagnostic.severity} at line ${file.position(diagnostic.span.start).line}, ${diagnostic.code}`
}
