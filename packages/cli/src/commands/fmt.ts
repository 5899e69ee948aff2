// `bridle fmt PATH…`: formats scripts. A file is replaced only when the result is the same program; a file that does
// not parse is left alone. Exit 1 when something does not parse, and with `--check` when something would change.

import { type FormatOptions, format, isSameProgram, parse, SourceFile } from '@bridle/parser'
import { overwriteFile } from '@bridle/stdlib-tools/node'
import { loadConfig } from '../config.js'
import { CommandError, EXIT_FAILURE, UsageError } from '../errors.js'
import { readAll } from '../load.js'
import { complain, tell, tellJson } from '../printable.js'
import { readTarget, listScripts } from '../targets.js'

export interface FmtFlags {
  readonly check?: boolean
  readonly stdin?: boolean
  readonly lineWidth?: number
  readonly separatorWidth?: number
  readonly json?: boolean
}

/** The result for one file. `text` is the formatted standard input. */
interface FormattedFile {
  readonly path: string
  readonly status: 'unchanged' | 'formatted' | 'would_change' | 'failed'
  readonly error: string | null
  readonly text?: string
}

export async function fmtCommand(paths: readonly string[], flags: FmtFlags): Promise<number> {
  if (flags.stdin === true) return await formatStdin(paths, flags)
  const [first] = paths
  if (first === undefined) throw new UsageError('name scripts or folders to format, or give --stdin')
  const files = listScripts(paths)
  if (files.length === 0) {
    if (flags.json === true) throw new CommandError('No .harn files found')
    complain('No .harn files found\n')
    return EXIT_FAILURE
  }
  const options = readOptions(first, flags)
  const done: FormattedFile[] = []
  for (const path of files) {
    const text = readTarget(path)
    const result = formatText(path, text, options)
    const isChanged = result.kind === 'formatted' && result.text !== text
    if (isChanged && flags.check !== true) overwriteFile(path, result.text)
    const one = describe(path, result, isChanged, flags)
    done.push(one)
    if (flags.json !== true) report(one)
  }
  return finish(done, flags)
}

function describe(path: string, result: Formatted, isChanged: boolean, { check }: FmtFlags): FormattedFile {
  if (result.kind === 'failed') return { path, status: 'failed', error: result.message }
  return { path, status: !isChanged ? 'unchanged' : check === true ? 'would_change' : 'formatted', error: null }
}

function report({ path, status, error }: FormattedFile): void {
  if (status === 'failed') complain(`${path}: ${error}\n`)
  else if (status === 'would_change') complain(`${path}: would be reformatted\n`)
  else if (status === 'formatted') tell(`formatted ${path}\n`)
}

function finish(files: readonly FormattedFile[], { json }: FmtFlags): number {
  const isFailed = files.some(({ status }) => status === 'failed' || status === 'would_change')
  const code = isFailed ? EXIT_FAILURE : 0
  if (json === true) tellJson({ status: isFailed ? 'failed' : 'done', exit_code: code, files })
  return code
}

async function formatStdin(paths: readonly string[], flags: FmtFlags): Promise<number> {
  if (paths.length > 0) throw new UsageError('--stdin takes no paths')
  const text = await readAll(process.stdin)
  const result = formatText('<stdin>', text, readOptions('.', flags))
  const one = describe('<stdin>', result, result.kind === 'formatted' && result.text !== text, flags)
  if (flags.json === true) return finish([result.kind === 'formatted' ? { ...one, text: result.text } : one], flags)
  if (one.status === 'formatted' || (one.status === 'unchanged' && flags.check !== true))
    process.stdout.write(result.kind === 'formatted' ? result.text : '')
  else report(one)
  return finish([one], flags)
}

/** Flags override the manifest, which is that of the first path. */
function readOptions(path: string, flags: FmtFlags): FormatOptions {
  const { fmt } = loadConfig(path)
  const lineWidth = flags.lineWidth ?? fmt.line_width
  const separatorWidth = flags.separatorWidth ?? fmt.separator_width
  return { ...(lineWidth === undefined ? {} : { lineWidth }), ...(separatorWidth === undefined ? {} : { separatorWidth }) }
}

type Formatted = { readonly kind: 'formatted'; readonly text: string } | { readonly kind: 'failed'; readonly message: string }

function formatText(name: string, text: string, options: FormatOptions): Formatted {
  const source = new SourceFile(name, text)
  const result = format(source, options)
  if (result.kind === 'failed') return { kind: 'failed', message: result.diagnostics[0]?.message ?? 'does not parse' }
  const before = parse(source).program
  const after = parse(new SourceFile(name, result.text)).program
  if (before !== null && after !== null && isSameProgram(before, after)) return result
  return { kind: 'failed', message: 'formatting would change what the program means, which is a bug; the file is left alone' }
}
