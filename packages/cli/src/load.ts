// Reads a script and compiles it: from a file, standard input or the command line. Compile errors are shown here, as
// excerpts on stderr.

import type { Script } from './script.js'
import { readFileSync, realpathSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { CompileError } from '@bridle/stdlib-tools'
import type { Module, Runtime } from '@bridle/stdlib-tools'
import { LinkError } from '@bridle/vm'
import { CommandError, UsageError, makeUnreadableError } from './errors.js'
import { makeUncompiledDocument } from './failure-document.js'
import type { SourceLookup } from './fault-report.js'
import { tellJson } from './printable.js'
import { showDiagnostics } from './show-diagnostics.js'

export async function readScript(file: string | undefined, code: string | undefined): Promise<Script> {
  if (code !== undefined && file !== undefined) throw new UsageError('give either a file or -e CODE')
  if (code !== undefined) return { key: '<code>', shown: '<code>', text: code }
  if (file === undefined) throw new UsageError('name a script: a file, - for standard input, or -e CODE')
  if (file === '-') return { key: '<stdin>', shown: '<stdin>', text: await readAll(process.stdin) }
  try {
    return { key: realpathSync(file), shown: file, text: readFileSync(file, 'utf8') }
  } catch (cause) {
    throw makeUnreadableError(file, cause)
  }
}

/** null when it does not compile; its errors are then on stderr, or on stdout as the document of `--json`. Warnings are always shown. */
export function compileScript(
  runtime: Runtime,
  script: Script,
  { json = false }: { readonly json?: boolean | undefined } = {},
): Module | null {
  try {
    const module = runtime.compile(script.text, { file: script.key })
    if (module.warnings.length === 0) return module
    const file = module.files.get(script.key)
    if (file !== undefined) showDiagnostics(module.warnings, file, script)
    return module
  } catch (cause) {
    if (cause instanceof LinkError) throw new CommandError(cause.message)
    if (!(cause instanceof CompileError)) throw cause
    if (json) tellJson(makeUncompiledDocument(cause.diagnostics, cause.file, script.shown))
    else showDiagnostics(cause.diagnostics, cause.file, script)
    return null
  }
}

/** Source lines for error reports, and the displayed names of files. */
export function makeSourceLookup(module: Module, script: Pick<Script, 'key' | 'shown'>): SourceLookup {
  return {
    show: (file) => (file === script.key ? script.shown : file.startsWith('<') ? file : shortenPath(file)),
    text: (file) => [module.sources.entry, ...module.sources.modules].find(({ key }) => key === file)?.text ?? null,
  }
}

/** Relative to the working folder if the file is below it. */
function shortenPath(file: string): string {
  const path = relative(process.cwd(), resolve(file))
  return path.startsWith('..') ? file : path
}

export async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  return Buffer.concat(chunks).toString('utf8')
}
