// `bridle explain CODE`: what a code means. Codes of findings (P001, T014 …) come from the catalogues of parser and checker, codes
// of run time and host (`timeout`, `policy_violation` …) are those that scripts see as `error.code`. Without a code, all are listed.

import { CHECK_CATALOG, EFFECT_CATALOG } from '@bridle/compiler'
import { CATALOG } from '@bridle/parser'
import { ERROR_CODES } from '../error-codes.js'
import { CommandError } from '../errors.js'

interface FindingCode {
  readonly severity: string
  readonly title: string
  readonly doc: string
}

const FINDING_CODES: Readonly<Record<string, FindingCode>> = {
  ...CATALOG,
  ...CHECK_CATALOG,
  ...EFFECT_CATALOG,
  ...EFFECT_CATALOG,
  C001: {
    severity: 'error',
    title: 'cannot be compiled',
    doc: 'The text is well formed and passed the checks, but says something that has no meaning where it stands, such as `break` outside a loop.',
  },
}

export async function explainCommand(code: string | undefined): Promise<number> {
  if (code === undefined) {
    const findings = Object.entries(FINDING_CODES).map(([name, { title }]) => `${name.padEnd(28)}${title}`)
    const errors = Object.entries(ERROR_CODES).map(([name, { doc }]) => `${name.padEnd(28)}${doc}`)
    process.stdout.write(`${[...findings, '', ...errors].join('\n')}\n`)
    return 0
  }
  const finding = lookUp(FINDING_CODES, code.toUpperCase())
  if (finding !== null) {
    process.stdout.write(`${code.toUpperCase()} (${finding.severity}): ${finding.title}\n\n${finding.doc}\n`)
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
