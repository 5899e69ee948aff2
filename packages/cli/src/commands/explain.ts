// `bridle explain CODE`: what a code means. Codes of findings (P001, T014 …) come from the catalogues of the phases, codes
// of run time and host (`timeout`, `policy_violation` …) are those that scripts see as `error.code`. Without a code, all are listed.

import { canonicalInvariant, checkInvariants, listInvariants, listHandlers } from '@bridle/compiler'
import { parse, SourceFile } from '@bridle/parser'
import { ERROR_CODES } from '../error-codes.js'
import { CommandError, EXIT_FAILURE } from '../errors.js'
import { FINDING_CODES, resolveFindingCode } from '../finding-codes.js'
import { readScript } from '../load.js'
import { renderFinding, tell } from '../printable.js'

/** `--invariant NAME FUNCTION FILE`: how a handler comes to break what it promises. */
export async function explainInvariant(invariant: string, handler: string, path: string): Promise<number> {
  const { text } = await readScript(path, undefined)
  const file = new SourceFile(path, text)
  const { program, diagnostics } = parse(file)
  if (program === null) {
    for (const diagnostic of diagnostics) process.stderr.write(renderFinding(diagnostic, file))
    return EXIT_FAILURE
  }
  const found = listHandlers(program).find((each) => each.name.text === handler)
  if (found === undefined) throw new CommandError(`handler \`${handler}\` was not found`)
  const name = canonicalInvariant(invariant)
  if (name === null || !listInvariants(found).includes(name)) {
    throw new CommandError(`handler \`${handler}\` does not declare \`@invariant("${invariant}")\``)
  }
  const violations = checkInvariants(program, file).filter((each) => each.handler === handler && each.invariant === name)
  if (violations.length === 0) tell(`No \`${name}\` violations found for \`${handler}\` in ${path}.\n`)
  for (const { diagnostic, steps } of violations) {
    tell(`${name}: ${diagnostic.message} (${handler})\n`)
    for (const [at, { label, span }] of steps.entries()) {
      const { line, column } = file.position(span.start)
      tell(`  ${at + 1}. ${path}:${line}:${column} ${label}\n`)
    }
    if (diagnostic.hint !== null) tell(`  help: ${diagnostic.hint}\n`)
  }
  return 0
}

export async function explainCommand(code: string | undefined): Promise<number> {
  if (code === undefined) {
    const findings = Object.entries(FINDING_CODES).map(([name, { title, rule }]) => {
      return `${name.padEnd(28)}${rule === undefined ? title : `${rule}: ${title}`}`
    })
    const errors = Object.entries(ERROR_CODES).map(([name, { doc }]) => `${name.padEnd(28)}${doc}`)
    tell(`${[...findings, '', ...errors].join('\n')}\n`)
    return 0
  }
  const found = resolveFindingCode(code)
  if (found !== null) {
    const { severity, title, doc, rule } = FINDING_CODES[found]! // resolveFindingCode names a row
    const about = rule === undefined ? severity : `${severity}, lint rule ${rule}`
    tell(`${found} (${about}): ${title}\n\n${doc}\n`)
    return 0
  }
  const error = lookUp(ERROR_CODES, code.toLowerCase())
  if (error === null) throw new CommandError(`there is no code ${code}; \`bridle explain\` lists them`)
  tell(`${code.toLowerCase()} (category ${error.category})\n\n${error.doc}\n`)
  return 0
}

function lookUp<Row>(table: Readonly<Record<string, Row>>, key: string): Row | null {
  return Object.hasOwn(table, key) ? table[key]! : null // own key
}
