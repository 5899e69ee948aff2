// Findings about grants before a run; joined with the checker's table for `explain`. G: grants.

import { entry } from '@bridle/parser'

export interface AliasArgs {
  readonly alias: string
}

export const GRANT_CATALOG = {
  G001: entry<AliasArgs & { readonly suggestion: string | null }>({
    severity: 'error',
    title: 'undefined tool',
    doc: 'A `grant` or `bind effect` names an alias that no `use tool` of the file declares.',
    message: (a) => `UndefinedTool: '${a.alias}' is not declared by any \`use tool\``,
    hint: (a) => (a.suggestion === null ? `declare it: use tool some.tool as ${a.alias}` : `did you mean '${a.suggestion}'?`),
  }),
  G002: entry<AliasArgs>({
    severity: 'error',
    title: 'alias declared twice',
    doc: 'Two `use tool` statements of a file give the same alias. Two aliases of one tool are fine, one alias of two tools is not.',
    message: (a) => `duplicate definition: tool alias '${a.alias}' is declared twice`,
    hint: () => 'give one of them another name',
  }),
  G003: entry<AliasArgs & { readonly key: string; readonly problem: string }>({
    severity: 'error',
    title: 'invalid grant',
    doc: 'The value of a constraint has the wrong type or cannot be understood. Unknown keys are allowed: they pin the argument of that name.',
    message: (a) => `grant_invalid: ${a.key} ${a.problem} (grant of '${a.alias}')`,
  }),
  G004: entry<AliasArgs & { readonly key: string; readonly before: string; readonly now: string }>({
    severity: 'error',
    title: 'conflicting grants',
    doc: 'Two grants of one scope pin the same argument to different values, so that no call could satisfy both.',
    message: (a) => `ConflictingGrant: '${a.alias}' has ${a.key} ${a.before} and ${a.key} ${a.now} in one scope`,
    hint: (a) => `write a list to allow either: ${a.key}: [${a.before}, ${a.now}]`,
  }),
  G005: entry<AliasArgs & { readonly key: string }>({
    severity: 'warning',
    title: 'empty grant',
    doc: 'An inner scope narrows a constraint to values that the outer scope does not allow: every call will be refused.',
    message: (a) => `EmptyGrant: the outer grants of '${a.alias}' leave nothing of this ${a.key}`,
    hint: () => 'an inner scope can only narrow what the outer one allows',
  }),
  G006: entry<AliasArgs & { readonly reason: string }>({
    severity: 'error',
    title: 'call outside its grant',
    doc: 'The literal arguments of the call break a grant of the alias, so that the call would be refused whenever it runs.',
    message: (a) => `policy violation for '${a.alias}': ${a.reason}`,
  }),
  G007: entry<AliasArgs & { readonly pattern: string }>({
    severity: 'warning',
    title: 'wide domain',
    doc: 'The pattern allows every host, or all hosts of a top-level domain.',
    message: (a) => `domain '${a.pattern}' of '${a.alias}' allows more hosts than a grant usually means`,
    hint: () => 'name the hosts, or the domain that they are below',
  }),
  G008: entry<{ readonly what: string; readonly instead?: string }>({
    severity: 'error',
    title: 'misplaced grant statement',
    doc: '`use tool` and `bind effect` stand at the top level of a file. A grant of a tool id (with a dot) stands there or directly in the body of a function, because it ends with the function.',
    message: (a) => `${a.what} is not allowed here`,
    hint: (a) => a.instead ?? 'import { with_grants } from "std/grants" narrows any stretch of code',
  }),
  G009: entry<{ readonly module: string; readonly fn: string; readonly effect: string; readonly cause: string }>({
    severity: 'error',
    title: 'import that can do more',
    doc: 'A function that the file imports can reach an effect which `@grant_import`, or the host, does not leave to its module. The call would be refused whenever it runs.',
    message: (a) => `${a.fn} of "${a.module}" can reach effect '${a.effect}', which its import does not allow (${a.cause})`,
    hint: (a) => `grant it (\`${a.effect}: full\`), or import only functions that do without`,
  }),
  G010: entry<{ readonly module: string; readonly suggestion: string | null }>({
    severity: 'error',
    title: 'grant for a module that is not imported',
    doc: '`@grant_import` names a path that no `import` of the file has. It is compared as it is written.',
    message: (a) => `\`@grant_import\` names "${a.module}", which this file does not import`,
    hint: (a) => (a.suggestion === null ? 'write the path as the import has it' : `did you mean "${a.suggestion}"?`),
  }),
  G011: entry<{ readonly family: string; readonly known: readonly string[]; readonly suggestion: string | null }>({
    severity: 'error',
    title: 'unknown family of tools',
    doc: '`use tool FAMILY as *` names neither a family of standard tools nor one of the host. A family is what stands before the dot of an id: `http` of `http.get`.',
    message: (a) => `not_registered: there are no tools of a family '${a.family}'`,
    hint: (a) =>
      a.suggestion === null
        ? `families: ${a.known.join(', ')}; one tool is imported with \`use tool some.tool as Name\``
        : `did you mean '${a.suggestion}'? Families: ${a.known.join(', ')}`,
  }),
  G012: entry<{ readonly name: string; readonly before: string; readonly now: string }>({
    severity: 'error',
    title: 'two families with one name',
    doc: 'Two families that are imported with `as *` both have a tool of this name, so that it would be unclear which one a call means.',
    message: (a) => `duplicate definition: '${a.name}' is a tool of '${a.before}' and of '${a.now}'`,
    hint: (a) => `import the tools of one of them by name: use tool ${a.now}.${a.name} as …`,
  }),
  G013: entry<{ readonly name: string }>({
    severity: 'error',
    title: 'named arguments of no tool',
    doc: 'Named arguments are for tools that `use tool` names: they are the one dict that a tool takes. Functions take their arguments by position.',
    message: (a) => `named arguments are for tools, and '${a.name}' is none`,
    hint: () => 'pass the values in order, or one dict',
  }),
}

export type GrantCode = keyof typeof GRANT_CATALOG
