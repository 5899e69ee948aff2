// How long an editor waits after a keystroke: for findings, hover and completion, in files of 2,000 and 3,000 lines built from
// library modules. `node --import tsx packages/cli/scripts/editing.ts`. Prints the processor time of this process in milliseconds, and
// the time of the same findings from scratch, alternating, because other work on the machine slows both.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { CheckingRuntimes } from '../src/checking/runtimes.js'
import { listCompletions, makeHover, toDiagnostics } from '../src/lsp/answers.js'
import { OpenDocument } from '../src/lsp/document.js'

const MODULES = [
  'math',
  'project',
  'graphql',
  'text',
  'schema',
  'testing',
  'catalogue_pure',
  'tools',
  'llmspell',
  'prompt_library',
]
/** Warm-up edits, and measured edits. */
const WARM = 40
const EDITS = 80

const library = new URL('../../stdlib-tools/src/std/', import.meta.url)

function makeText(lines: number): string {
  const all = MODULES.map((name) => readFileSync(new URL(`${name}.harn`, library), 'utf8')).join('\n')
  return all
    .split('\n')
    .slice(0, lines)
    .join('\n')
    .replace(/\n[^\n}]*(?:\n[^}\n][^\n]*)*$/, '\n')
}

function measure(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function summarize(times: readonly number[]): string {
  const sorted = times.slice(times.length / 3).toSorted((a, b) => a - b)
  const at = (part: number): string => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1)
  return `median ${at(0.5)}  p95 ${at(0.95)}`
}

function measureEditing(lines: number): void {
  const runtimes = new CheckingRuntimes()
  let text = TextDocument.create('untitled:edited', 'harn', 0, makeText(lines))
  const { registry } = runtimes.getRuntime(new OpenDocument(text, runtimes).settings)
  const findings: number[] = []
  const scratch: number[] = []
  const hover: number[] = []
  const completion: number[] = []
  let last: OpenDocument | null = null
  for (let edit = 1; edit <= WARM + EDITS; edit++) {
    const line = findLine(text, (edit * 37) % 100)
    const at = { line, character: 0 }
    text = TextDocument.update(text, [{ range: { start: at, end: at }, text: `  let added_${edit} = ${edit}\n` }], edit)
    const offset = text.offsetAt({ line, character: 8 })
    const next: OpenDocument = new OpenDocument(text, runtimes, last)
    // The first request parses the version: one edit is followed by a question, the next by the findings.
    if (edit % 2 === 0) {
      hover.push(measure(() => makeHover(next, registry, offset)))
      completion.push(measure(() => listCompletions(next, next, registry, offset)))
      toDiagnostics(next)
    } else findings.push(measure(() => toDiagnostics(next)))
    scratch.push(measure(() => toDiagnostics(new OpenDocument(text, runtimes))))
    last = next
  }
  const rows = { findings, 'findings from scratch': scratch, hover, completion }
  for (const [name, times] of Object.entries(rows)) console.log(`${text.lineCount} lines  ${name.padEnd(22)} ${summarize(times)}`)
}

/** A line within a function, about this many hundredths into the file. */
function findLine(text: TextDocument, part: number): number {
  const lines = text.getText().split('\n')
  let line = Math.floor((lines.length * part) / 100)
  while (line > 0 && !/^ {2}(?:let|return|var|for|if) /.test(lines[line]!)) line--
  return line
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const lines of [2000, 3000]) measureEditing(lines)
