// `bridle explain CODE`: what a code means. Codes of findings (P001, T014 …) come from the catalogue of diagnostics, codes of run
// time and host (`timeout`, `policy_violation` …) are those that scripts see as `error.code`.

import { CATALOG, explainCode } from '@bridle/parser'
import { CommandError } from '../errors.js'
import { ERROR_CODES } from '../error-codes.js'

export async function explainCommand(code: string): Promise<number> {
  const row = explainCode(code.toUpperCase())
  if (row !== null) {
    process.stdout.write(`${row.code} (${row.severity}): ${row.title}\n\n${row.doc}\n`)
    return 0
  }
  const runTime = ERROR_CODES[code.toLowerCase()]
  if (runTime !== undefined) {
    process.stdout.write(`${code.toLowerCase()} (category ${runTime.category}): ${runTime.doc}\n`)
    return 0
  }
  const known = [...Object.keys(CATALOG), ...Object.keys(ERROR_CODES)]
  throw new CommandError(`there is no code ${code}; known are ${known.join(' ')}`)
}
