// `bridle explain CODE`: what a code means. Codes of findings (P001, T014 …) come from the catalogues of the phases, codes
// of run time and host (`timeout`, `policy_violation` …) are those that scripts see as `error.code`. Without a code, all are listed.

import { ERROR_CODES } from '../error-codes.js'
import { CommandError } from '../errors.js'
import { FINDING_CODES, findingCode } from '../finding-codes.js'

export async function explainCommand(code: string | undefined): Promise<number> {
  if (code === undefined) {
    const findings = Object.entries(FINDING_CODES).map(([name, { title, rule }]) => {
      return `${name.padEnd(28)}${rule === undefined ? title : `${rule}: ${title}`}`
    })
    const errors = Object.entries(ERROR_CODES).map(([name, { doc }]) => `${name.padEnd(28)}${doc}`)
    process.stdout.write(`${[...findings, '', ...errors].join('\n')}\n`)
    return 0
  }
  const found = findingCode(code)
  if (found !== null) {
    const { severity, title, doc, rule } = FINDING_CODES[found]! // findingCode names a row
    const about = rule === undefined ? severity : `${severity}, lint rule ${rule}`
    process.stdout.write(`${found} (${about}): ${title}\n\n${doc}\n`)
    return 0
  }
  const error = lookUp(ERROR_CODES, code.toLowerCase())
  if (error === null) throw new CommandError(`there is no code ${code}; \`bridle explain\` lists them`)
  process.stdout.write(`${code.toLowerCase()} (category ${error.category})\n\n${error.doc}\n`)
  return 0
}

function lookUp<Row>(table: Readonly<Record<string, Row>>, key: string): Row | null {
  return Object.hasOwn(table, key) ? table[key]! : null // own key
}
