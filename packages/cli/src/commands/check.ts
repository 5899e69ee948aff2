// `bridle check PATH…`: parses and checks scripts without running them. Findings go to stderr as excerpts (or to stdout as JSON),
// a clean file is named on stdout. Exit 1 when any file has an error.

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CompileError } from '@bridle/stdlib-tools'
import type { Runtime } from '@bridle/stdlib-tools'
import { renderDiagnostic } from '@bridle/parser'
import type { Diagnostic, SourceFile } from '@bridle/parser'
import { EXIT_FAILURE, UsageError } from '../errors.js'
import { commandRuntime } from '../host.js'
import { readScript } from '../load.js'

export async function checkCommand(paths: readonly string[], options: { readonly json?: boolean }): Promise<number> {
  const files = [...new Set(paths.flatMap(scriptsAt))].sort()
  if (files.length === 0) throw new UsageError('no .harn files found under the given paths')
  const runtime = commandRuntime({ script: resolve(files[0]!), terminal: false, args: [] })
  const findings: Finding[] = []
  for (const path of files) findings.push(await checkFile(runtime, path))
  if (options.json === true) process.stdout.write(`${JSON.stringify(findings.flatMap(toJson), null, 2)}\n`)
  else for (const finding of findings) show(finding)
  return findings.some((finding) => finding.diagnostics.some((each) => each.severity === 'error')) ? EXIT_FAILURE : 0
}

interface Finding {
  readonly path: string
  readonly file: SourceFile | null
  readonly diagnostics: readonly Diagnostic[]
}

async function checkFile(runtime: Runtime, path: string): Promise<Finding> {
  const script = await readScript(path, undefined)
  try {
    const module = runtime.compile(script.text, { file: script.key })
    return { path, file: module.files.get(script.key) ?? null, diagnostics: module.warnings }
  } catch (cause) {
    if (!(cause instanceof CompileError)) throw cause
    return { path, file: cause.file, diagnostics: cause.diagnostics }
  }
}

function show({ path, file, diagnostics }: Finding): void {
  if (diagnostics.length === 0) process.stdout.write(`${path}: ok\n`)
  if (file === null) return
  const color = process.stderr.isTTY === true && process.env['NO_COLOR'] === undefined
  for (const diagnostic of diagnostics)
    process.stderr.write(renderDiagnostic(diagnostic, file, { color }).replaceAll(file.name, path))
}

function toJson({ path, file, diagnostics }: Finding): readonly unknown[] {
  return diagnostics.map(({ code, severity, message, span, hint }) => ({
    path,
    code,
    severity,
    message,
    ...file?.position(span.start),
    hint,
  }))
}

function scriptsAt(path: string): string[] {
  if (!existsSync(path)) throw new UsageError(`${path} does not exist`)
  if (statSync(path).isFile()) return [path]
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const below = join(path, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name === '.git' ? [] : scriptsAt(below)
    return entry.isFile() && entry.name.endsWith('.harn') ? [below] : []
  })
}
