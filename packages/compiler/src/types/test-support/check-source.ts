// Parses and checks source for tests. Findings are formatted as `E message` and `W message`, in order of emission.

import { type Diagnostic, parse, SourceFile } from '@bridle/parser'
import { type CheckOptions, checkProgram } from '../check.js'

export function diagnose(text: string, options: Partial<CheckOptions> = {}): readonly Diagnostic[] {
  const file = new SourceFile('test.harn', text)
  const { program, diagnostics } = parse(file)
  if (program === null) throw new Error(`test source does not parse: ${diagnostics[0]?.message}\n${text}`)
  return checkProgram(program, { file, imports: () => null, ...options })
}

export function check(text: string, options: Partial<CheckOptions> = {}): readonly string[] {
  return diagnose(text, options).map((finding) => `${finding.severity === 'error' ? 'E' : 'W'} ${finding.message}`)
}

/** As `check`, for statements inside a pipeline. */
export function checkBody(text: string, options: Partial<CheckOptions> = {}): readonly string[] {
  return check(`pipeline default(task) {\n${text}\n}`, options)
}
