// Decides whether one run of a conformance script matches its `.expected` or `.error` file.
// Pure: an outcome and the wanted text in, a verdict out.

import { RE2JS } from 're2js'

/** What a program did. `output` includes one `warning: …` line per warning of the checker, in front. */
export type Outcome =
  | { readonly kind: 'finished'; readonly output: string }
  | { readonly kind: 'failed'; readonly output: string; readonly error: string }

/** null when the run passes, otherwise an explanation of the difference. */
export type Verdict = string | null

export function judge(kind: 'positive' | 'negative', wanted: string, outcome: Outcome): Verdict {
  return kind === 'positive' ? judgePositive(wanted, outcome) : judgeNegative(wanted, outcome)
}

function judgePositive(wanted: string, outcome: Outcome): Verdict {
  const [expected, actual] = [normalise(wanted), normalise(outcome.output)]
  if (outcome.kind === 'failed') {
    const before = actual === '' ? '' : `\noutput before it:\n${indent(actual)}`
    return `the program failed: ${outcome.error}${before}`
  }
  return expected === actual ? null : `output differs\n${describeDifference(expected, actual)}`
}

function judgeNegative(wanted: string, outcome: Outcome): Verdict {
  const spec = trimEnd(wanted)
  if (outcome.kind === 'finished')
    return `expected an error matching ${spec}, but the program finished\n${indent(normalise(outcome.output))}`
  const lines = splitLines(spec).map((line) => line.trim())
  // A blank line among others is layout; a blank file accepts every error.
  const patterns = lines.length === 1 ? lines : lines.filter((line) => line !== '')
  let broken = ''
  for (const pattern of patterns) {
    const matched = matches(pattern, outcome.error)
    if (matched === true) return null
    if (matched !== false) broken = `\n${matched}`
  }
  return `the error does not match\nexpected: ${patterns.join('\n      or: ')}\n  actual: ${outcome.error}${broken}`
}

/** A string says why the pattern is invalid. */
function matches(pattern: string, message: string): boolean | string {
  if (!pattern.startsWith('re:')) return message.includes(pattern)
  const source = pattern.slice(3).trim()
  try {
    return RE2JS.compile(source).matcher(message).find()
  } catch (cause) {
    return `the pattern ${source} is not a regular expression: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}

/** Right-trimmed, with `\n` line ends and without the times of timer lines. */
export function normalise(text: string): string {
  return splitLines(trimEnd(text)).map(normaliseLine).join('\n')
}

function normaliseLine(line: string): string {
  if (!line.startsWith('[timer] ') || !line.endsWith('ms')) return line
  const colon = line.lastIndexOf(': ')
  return colon < 0 ? line : `${line.slice(0, colon)}: <ms>`
}

function splitLines(text: string): string[] {
  return text.split(/\r?\n/)
}

function trimEnd(text: string): string {
  return text.trimEnd()
}

/** The first line that differs, with the lines around it, wanted text first. */
function describeDifference(expected: string, actual: string): string {
  const [wanted, got] = [expected.split('\n'), actual.split('\n')]
  let at = 0
  while (at < wanted.length && at < got.length && wanted[at] === got[at]) at++
  const formatLines = (lines: readonly string[]) => {
    const part = lines.slice(Math.max(0, at - 2), at + 6).map((line, index) => {
      const number = Math.max(0, at - 2) + index
      return `${number === at ? '>' : ' '} ${String(number + 1).padStart(4)} | ${line}`
    })
    if (lines.length > at + 6) part.push(`  … ${lines.length - at - 6} more lines`)
    if (lines.length <= at) part.push(`> ${String(at + 1).padStart(4)} (the text ends here)`)
    return part.join('\n')
  }
  return `expected:\n${formatLines(wanted)}\nactual:\n${formatLines(got)}`
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}
