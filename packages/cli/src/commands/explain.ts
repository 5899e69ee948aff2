// `bridle explain CODE`: explains a code. Codes of findings (P001, T014 …) come from the catalogues of the phases; codes of run time
// and host (`timeout`, `policy_violation` …) are those that scripts see as `error.code`; categories are the results of `error_category`; the
// rest are those of the command's own documents. Without a code, all are listed.

import { canonicalInvariant, checkInvariants, listInvariants, listHandlers } from '@bridle/compiler'
import { diagnosticToJson, parse, SourceFile } from '@bridle/parser'
import { CATEGORY_DOCS, COMMAND_DOCS, ERROR_CODES } from '../error-codes.js'
import { CommandError, EXIT_FAILURE } from '../errors.js'
import { makeUncompiledDocument } from '../failure-document.js'
import { FINDING_CODES, resolveFindingCode } from '../finding-codes.js'
import { readScript } from '../load.js'
import { renderFinding, tell, tellJson } from '../printable.js'

/** `--invariant NAME FUNCTION FILE`: the path on which a handler breaks its invariant. */
export async function explainInvariant(
  invariant: string,
  handler: string,
  path: string,
  { json = false }: { readonly json?: boolean | undefined } = {},
): Promise<number> {
  const { text } = await readScript(path, undefined)
  const file = new SourceFile(path, text)
  const { program, diagnostics } = parse(file)
  if (program === null) {
    if (json) tellJson(makeUncompiledDocument(diagnostics, file, path))
    else for (const diagnostic of diagnostics) process.stderr.write(renderFinding(diagnostic, file))
    return EXIT_FAILURE
  }
  const found = listHandlers(program).find((each) => each.name.text === handler)
  if (found === undefined) throw new CommandError(`handler \`${handler}\` was not found`)
  const name = canonicalInvariant(invariant)
  if (name === null || !listInvariants(found).includes(name)) {
    throw new CommandError(`handler \`${handler}\` does not declare \`@invariant("${invariant}")\``)
  }
  const violations = checkInvariants(program, file).filter((each) => each.handler === handler && each.invariant === name)
  if (json) {
    const shown = violations.map(({ diagnostic, steps }) => ({
      ...diagnosticToJson(diagnostic, file),
      steps: steps.map(({ label, span }) => ({ label, ...file.position(span.start) })),
    }))
    tellJson({ invariant: name, function: handler, file: path, violations: shown })
    return 0
  }
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

interface Explanation {
  readonly code: string
  /** The kind of the code. */
  readonly kind: 'finding' | 'tool_error' | 'category' | 'command'
  /** For a finding. */
  readonly severity?: string
  readonly rule?: string
  readonly title?: string
  /** For a tool error. */
  readonly category?: string
  /** For a category. */
  readonly codes?: readonly string[]
  readonly doc: string
}

/** Everything that a message, a `--json` document or `error.code` can name, in listing order. */
function listExplanations(): readonly Explanation[] {
  const findings = Object.entries(FINDING_CODES).map(([code, { severity, title, doc, rule }]): Explanation => {
    return { code, kind: 'finding', severity, title, doc, ...(rule === undefined ? {} : { rule }) }
  })
  const errors = Object.entries(ERROR_CODES).map(([code, row]): Explanation => ({ code, kind: 'tool_error', ...row }))
  const categories = Object.entries(CATEGORY_DOCS).map(([code, doc]): Explanation => {
    const codes = errors.filter(({ category }) => category === code).map((each) => each.code)
    return { code, kind: 'category', codes, doc }
  })
  const commands = Object.entries(COMMAND_DOCS).map(([code, doc]): Explanation => ({ code, kind: 'command', doc }))
  return [...findings, ...errors, ...categories, ...commands]
}

/** Every code, each once. */
export function listCodes(): readonly string[] {
  return [...new Set(listExplanations().map(({ code }) => code))]
}

export async function explainCommand(
  code: string | undefined,
  { json = false }: { readonly json?: boolean | undefined } = {},
): Promise<number> {
  const all = listExplanations()
  if (code === undefined) {
    if (json) tellJson(all)
    else tell(`${renderList(all)}\n`)
    return 0
  }
  const name = resolveFindingCode(code) ?? code.toLowerCase()
  // A tool error code and a category may have the same name.
  const found = all.filter((each) => each.code === name)
  if (found.length === 0) throw new CommandError(`there is no code ${code}; \`bridle explain\` lists them`)
  if (json) tellJson(found.length === 1 ? found[0] : { ...found[1], ...found[0] })
  else tell(`${found.map(renderExplanation).join('\n\n')}\n`)
  return 0
}

function renderExplanation({ code, kind, severity, rule, title, category, codes = [], doc }: Explanation): string {
  switch (kind) {
    case 'finding':
      return `${code} (${rule === undefined ? severity : `${severity}, lint rule ${rule}`}): ${title}\n\n${doc}`
    case 'tool_error':
      return `${code} (category ${category})\n\n${doc}`
    case 'category':
      return `${code} (category${codes.length === 0 ? '' : `, of the codes ${codes.join(', ')}`})\n\n${doc}`
    case 'command':
      return `${code} (of the command)\n\n${doc}`
  }
}

function renderList(all: readonly Explanation[]): string {
  const kinds = ['finding', 'tool_error', 'category', 'command'] as const
  return kinds
    .map((kind) =>
      all
        .filter((each) => each.kind === kind)
        .map(({ code, title, rule, doc }) => {
          return `${code.padEnd(28)}${title === undefined ? doc : rule === undefined ? title : `${rule}: ${title}`}`
        })
        .join('\n'),
    )
    .join('\n\n')
}
