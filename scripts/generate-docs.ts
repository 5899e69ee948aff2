// Writes the reference pages of docs/language/ that are tables of the code: builtins.md from the definitions that run, opcodes.md
// from the opcode table, diagnostics.md from the catalogues. Deterministic; with `--check` it only compares.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MISSING_BUILTINS } from '@bridle/compiler'
import { OPCODES } from '@bridle/compiler/bytecode'
import { ERROR_CODES } from '../packages/cli/src/error-codes.js'
import { FINDING_CODES } from '../packages/cli/src/finding-codes.js'
import { allFamilies, RESULT_FIELDS } from '@bridle/stdlib-tools'
import { readShape } from '@bridle/vm'
import { root } from './workspace.mjs'
import type { BuiltinDef } from '@bridle/vm'
import type { OpcodeRow } from '@bridle/compiler/bytecode'

const pages: Readonly<Record<string, string>> = {
  'builtins.md': builtinsPage(),
  'opcodes.md': opcodesPage(),
  'diagnostics.md': diagnosticsPage(),
}

for (const [name, text] of Object.entries(pages)) {
  const path = join(root, 'docs', 'language', name)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (read(path) !== text) {
    console.error(`docs/language/${name} is stale: run node --import tsx scripts/generate-docs.ts`)
    process.exitCode = 1
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

// ---- builtins

function builtinsPage(): string {
  const families = [...allFamilies()]
    .map((family) => ({
      name: family.name,
      defs: family.builtins.filter(isPublic).sort(byHeading),
      constants: Object.keys(family.constants ?? {}).sort(),
    }))
    .filter((family) => family.defs.length + family.constants.length > 0)
    .sort((x, y) => compareText(x.name, y.name))
  const count = families.reduce((sum, family) => sum + family.defs.length, 0)
  const parts = [
    `${intro('Builtins', 'the builtin definitions')}
What scripts can call without importing anything: ${count} functions and methods, by family. A method is written with the type of
its receiver before the dot. \`?\` marks a parameter that may be left out, \`...\` one that takes all further arguments. **Asks for**
names what a call may want of the world; a host grants or denies it. Builtins without an entry there are pure.
\`bridle builtins NAME\` prints one row.
`,
  ]
  for (const { name, defs, constants } of families) {
    parts.push(`## ${name}\n`)
    if (constants.length > 0) parts.push(`Constants: ${constants.map(code).join(', ')}.\n`)
    if (defs.length === 0) continue
    const rows = defs.map((def) => row(code(heading(def)), def.doc, asksFor(def)))
    parts.push(`${table(['builtin', 'what it does', 'asks for'], rows)}\n`)
    parts.push(...optionTables(defs), ...resultLists(defs))
  }
  if (MISSING_BUILTINS.size > 0)
    parts.push(`## Not there yet

Builtins of the language that Bridle does not have: ${[...MISSING_BUILTINS].sort(compareText).map(code).join(', ')}. \`bridle check\` reports
their calls, and so do editors. \`bridle run\` does not: a call that is made raises \`Undefined builtin\`.
`)
  return parts.join('\n')
}

/** A table for each option shape, under the names of the builtins that take it. */
function optionTables(defs: readonly BuiltinDef[]): string[] {
  const users = new Map<string, string[]>()
  for (const { name, shapes } of defs) {
    for (const shape of new Set(Object.values(shapes ?? {}))) users.set(shape, [...(users.get(shape) ?? []), name])
  }
  return [...users].map(([shape, names]) => {
    const rows = readShape(shape).map(({ name, type, unit, default: otherwise, doc }) =>
      row(code(name), code(type), unit ?? '', otherwise === null ? '' : code(otherwise), doc),
    )
    return `### Options of ${names.map(code).join(', ')}\n\n${table(['option', 'type', 'unit', 'default', 'what it does'], rows)}\n`
  })
}

/** Results of builtins whose signature says only `dict` or `list`. */
function resultLists(defs: readonly BuiltinDef[]): string[] {
  const users = new Map<string, string[]>()
  for (const { name, receiver } of defs) {
    const result = receiver === null && Object.hasOwn(RESULT_FIELDS, name) ? RESULT_FIELDS[name] : undefined
    if (result !== undefined) users.set(result, [...(users.get(result) ?? []), name])
  }
  return users.size === 0
    ? []
    : [`### Results\n\n${[...users].map(([result, names]) => `- ${names.map(code).join(', ')}: ${code(result)}\n`).join('')}`]
}

/** Names with two underscores are for compiled code; scripts do not use them. */
function isPublic(def: BuiltinDef): boolean {
  return !def.name.startsWith('__')
}

function heading(def: BuiltinDef): string {
  return def.receiver === null ? def.signature : `${def.receiver}.${def.signature}`
}

function asksFor({ effects }: BuiltinDef): string {
  return effects === 'pure' ? '' : typeof effects === 'string' ? effects : [...new Set(effects)].join(', ')
}

function byHeading(x: BuiltinDef, y: BuiltinDef): number {
  return compareText(`${x.receiver ?? ''}.${x.name}`, `${y.receiver ?? ''}.${y.name}`)
}

// ---- opcodes

function opcodesPage(): string {
  const rows = (Object.entries(OPCODES) as [string, OpcodeRow][]).map(
    ([name, { code: number, operands, text, flow, suspends }]) =>
      row(
        String(number),
        code(name),
        operands.map((kind, at) => `${'abc'[at]}: ${kind}`).join(', '),
        code(text),
        [flow, suspends === true ? 'may stop here' : ''].filter(Boolean).join(', '),
      ),
  )
  return `${intro('Opcodes', 'packages/compiler/src/bytecode/opcodes.ts')}
The instructions of a chunk. Code is a list of ints: an opcode, then its operands, which the description calls a, b and c. The
effect on the operand stack is written \`before -> after ; what else happens\`. \`K\` are the chunk's constants, \`N\` its names,
\`B\` its builtins, \`L\` the slots of the function, \`C\` its captures, \`M\` the slots of the module. An instruction marked
*may stop here* can hand the thread back to the host, and a snapshot can be taken at it. \`bridle disasm FILE\` shows the code of a script.

${table(['code', 'name', 'operands', 'effect', 'control'], rows)}
`
}

// ---- diagnostics

function diagnosticsPage(): string {
  const findings = Object.entries(FINDING_CODES)
    .sort(([x], [y]) => compareText(x, y))
    .map(([name, { severity, title, doc, rule }]) =>
      row(code(name), severity, rule === undefined ? title : `${code(rule)}: ${title}`, doc),
    )
  const errors = Object.entries(ERROR_CODES)
    .sort(([x], [y]) => compareText(x, y))
    .map(([name, { category, doc }]) => row(code(name), category, doc))
  return `${intro('Diagnostics', 'the catalogues of parser, checker and tools')}
\`bridle explain CODE\` prints one of these.

## Findings before a run

P: the text is not a program. N: names and declarations. T: types. E: effects and grants. C: compiling. An error of these stops the
program before it starts; a warning is printed and the program runs. L: lint, which \`bridle lint\` and \`bridle check\` report and a
run does not. H: preflight, what a script refers to outside of itself, and I: invariants of handlers; \`bridle check\` reports both.
A lint rule is switched off by its name, in \`harn.toml\`: \`[lint] disabled = ["unused-variable"]\`.

${table(['code', 'severity', 'what', 'meaning'], findings)}

## Errors of tools and hosts

A failed tool call gives a script a dict whose \`code\` is one of these; \`category\` is what \`error_category(e)\` answers.

${table(['code', 'category', 'meaning'], errors)}
`
}

// ---- text

function intro(title: string, source: string): string {
  return `# ${title}\n\n<!-- Generated by scripts/generate-docs.ts from ${source}. Do not edit. -->\n`
}

function table(head: readonly string[], rows: readonly string[]): string {
  return [row(...head), row(...head.map(() => '---')), ...rows].join('\n')
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('\n', ' ')).join(' | ')} |`
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``
}

function compareText(x: string, y: string): number {
  return x < y ? -1 : x > y ? 1 : 0
}
