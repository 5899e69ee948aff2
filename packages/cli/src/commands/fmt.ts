// `bridle fmt PATH…`: writes scripts in the one layout. A file is replaced only when the result is the same program; what does
// not parse is left alone. Exit 1 when something does not parse, and with `--check` when something would change.

import { type FormatOptions, format, isSameProgram, parse, SourceFile } from '@bridle/parser'
import { overwriteFile } from '@bridle/stdlib-tools/node'
import { loadConfig } from '../config.js'
import { EXIT_FAILURE, UsageError } from '../errors.js'
import { readAll } from '../load.js'
import { complain, tell } from '../printable.js'
import { readTarget, listScripts } from '../targets.js'

export interface FmtFlags {
  readonly check?: boolean
  readonly stdin?: boolean
  readonly lineWidth?: number
  readonly separatorWidth?: number
}

export async function fmtCommand(paths: readonly string[], flags: FmtFlags): Promise<number> {
  if (flags.stdin === true) return await formatStdin(paths, flags)
  const [first] = paths
  if (first === undefined) throw new UsageError('name scripts or folders to format, or give --stdin')
  const files = listScripts(paths)
  if (files.length === 0) {
    complain('No .harn files found\n')
    return EXIT_FAILURE
  }
  const options = readOptions(first, flags)
  let failed = false
  for (const path of files) {
    const text = readTarget(path)
    const result = formatText(path, text, options)
    if (result.kind === 'failed') {
      complain(`${path}: ${result.message}\n`)
      failed = true
    } else if (result.text !== text) {
      if (flags.check === true) complain(`${path}: would be reformatted\n`)
      else {
        overwriteFile(path, result.text)
        tell(`formatted ${path}\n`)
      }
      failed ||= flags.check === true
    }
  }
  return failed ? EXIT_FAILURE : 0
}

async function formatStdin(paths: readonly string[], flags: FmtFlags): Promise<number> {
  if (paths.length > 0) throw new UsageError('--stdin takes no paths')
  const text = await readAll(process.stdin)
  const result = formatText('<stdin>', text, readOptions('.', flags))
  if (result.kind === 'failed') {
    complain(`<stdin>: ${result.message}\n`)
    return EXIT_FAILURE
  }
  if (flags.check !== true) process.stdout.write(result.text)
  else if (result.text !== text) {
    complain('<stdin>: would be reformatted\n')
    return EXIT_FAILURE
  }
  return 0
}

/** Flags win over the manifest, which is the one of the first path. */
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
