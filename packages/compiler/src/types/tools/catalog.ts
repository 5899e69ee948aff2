// Findings about calls of the host's tools (A): the script does not match the declaration of the tool. There are none if
// the compiler was not given the tools.

import { type CatalogRow, entry } from '@bridle/parser'

function error<A>(definition: Omit<CatalogRow<A>, 'severity'>): CatalogRow<A> {
  return entry<A>({ severity: 'error', ...definition })
}

function warning<A>(definition: Omit<CatalogRow<A>, 'severity'>): CatalogRow<A> {
  return entry<A>({ severity: 'warning', ...definition })
}

/** `max_id` for a tool with the argument `id`: a limit must have the full name of its argument. */
function nearArgument(key: string, known: readonly string[]): string | undefined {
  const bare = key.replace(/^max_/, '')
  return bare !== key && known.includes(bare)
    ? `\`${key}\` limits an argument called \`${key}\`; \`${bare}\` can only be fixed: \`${bare}\` with a value or a list of values`
    : undefined
}

function proposal(suggestion: string | null): string | undefined {
  return suggestion === null ? undefined : `did you mean \`${suggestion}\`?`
}

/** `article, size, …`: a message is one line. */
function list(words: readonly string[]): string {
  return words.length > 12 ? `${words.slice(0, 12).join(', ')}, …` : words.join(', ')
}

export const TOOL_CATALOG = {
  A001: error<{ name: string; suggestion: string | null }>({
    title: 'unknown tool of the host',
    message: (a) => `the host has no tool \`${a.name}\``,
    hint: (a) => proposal(a.suggestion) ?? '`bridle tools types` lists the tools with their parameters',
    doc: 'A call names a tool that the host does not define. The run would raise `not_registered` there.',
  }),
  A002: error<{ tool: string; key: string; within: string; suggestion: string | null; known: readonly string[] }>({
    title: 'unknown argument of a tool',
    message: (a) => `tool \`${a.tool}\` has no argument \`${a.within}${a.key}\``,
    hint: (a) => proposal(a.suggestion) ?? (a.known.length === 0 ? 'it takes no arguments' : `it has: ${list(a.known)}`),
    doc: 'The dict of arguments has a key that the schema of the tool does not name. Nothing reads it, or the tool refuses the call.',
  }),
  A003: error<{ tool: string; key: string; type: string }>({
    title: 'missing argument of a tool',
    message: (a) => `tool \`${a.tool}\` needs the argument \`${a.key}: ${a.type}\``,
    hint: (a) => `add it: \`{${a.key.slice(a.key.lastIndexOf('.') + 1)}: …}\``,
    doc: 'The schema of the tool requires an argument that the call does not have.',
  }),
  A004: error<{ tool: string; at: string; expected: string; actual: string }>({
    title: 'argument of a tool of the wrong type',
    message: (a) => `argument \`${a.at}\` of tool \`${a.tool}\` must be ${a.expected}, got ${a.actual}`,
    hint: (a) => (a.expected === 'string' ? 'convert it with `to_string(…)`' : undefined),
    doc: 'The value of an argument has another type than the schema of the tool says.',
  }),
  A005: error<{ tool: string; at: string; actual: string; allowed: readonly string[]; suggestion: string | null }>({
    title: 'value that a tool does not know',
    message: (a) => `argument \`${a.at}\` of tool \`${a.tool}\` cannot be ${a.actual}`,
    hint: (a) => proposal(a.suggestion) ?? `it is one of ${list(a.allowed)}`,
    doc: 'The schema of the tool lists the values of an argument, and this is none of them.',
  }),
  A006: error<{ tool: string; at: string; rule: string }>({
    title: 'value outside of the limits of a tool',
    message: (a) => `argument \`${a.at}\` of tool \`${a.tool}\` must ${a.rule}`,
    doc: 'The schema of the tool limits the size of a number, or the length of a string or list.',
  }),
  A007: error<{ tool: string; example: string; actual: string }>({
    title: 'arguments of a tool are one dict',
    message: (a) => `tool \`${a.tool}\` takes its arguments as one dict, got ${a.actual}`,
    hint: (a) => `write \`${a.example}\``,
    doc: 'A tool of the host is a function of one dict. Its keys are the arguments.',
  }),
  A008: warning<{ tool: string; key: string; known: readonly string[] }>({
    title: 'grant that limits nothing',
    message: (a) => `the grant of \`${a.key}\` limits nothing: tool \`${a.tool}\` has no argument of that name`,
    hint: (a) =>
      nearArgument(a.key, a.known) ?? (a.known.length === 0 ? 'it takes no arguments' : `its arguments: ${list(a.known)}`),
    doc: 'A constraint of a grant is compared with the argument of the same name: `max_size` limits the argument `max_size`, `region` fixes the argument `region`. The tool has no such argument, so that every call passes.',
  }),
  A009: warning<{ tool: string; key: string; known: readonly string[] }>({
    title: 'grant that refuses every call',
    message: (a) => `the grant of \`${a.key}\` refuses every call: tool \`${a.tool}\` has no argument \`url\``,
    hint: (a) => (a.known.length === 0 ? 'it takes no arguments' : `its arguments: ${list(a.known)}`),
    doc: 'A grant of `domain` compares the argument `url` of a call with its patterns, and refuses a call without one. The tool has no such argument.',
  }),
} as const
