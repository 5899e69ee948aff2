// THE table of the checker's findings, in the row form of the parser's catalogue, which it is joined with for `explain`.
// Messages are the language's wording, because scripts and suites match on them; codes, hints and explanations are ours. N: names and
// declarations, T: types, A: arguments of the host's tools.

import { entry } from '@bridle/parser'
import type { RowArgs } from '@bridle/parser'
import { GRANT_CATALOG } from '../grants/catalog.js'
import { STRICT_CATALOG } from './strict/catalog.js'
import { TOOL_CATALOG } from './tools/catalog.js'

type None = Record<string, never>

function orElse(suggestion: string | null): string {
  return suggestion === null ? '' : ` — did you mean \`${suggestion}\`?`
}

const OWN_CATALOG = {
  // ---- names --------------------------------------------------------------------------------------------------------
  N001: entry<{ name: string; suggestion: string | null; module?: string | null }>({
    severity: 'error',
    title: 'unknown call target',
    message: (a) => `call target \`${a.name}\` is not defined or imported${orElse(a.suggestion)}`,
    hint: (a) => {
      if (a.suggestion !== null) return `did you mean \`${a.suggestion}\`?`
      return a.module == null ? undefined : `import it: \`import { ${a.name} } from "${a.module}"\``
    },
    doc: 'A name is called that is neither a builtin nor a function, struct, enum, variable, type parameter or import in sight.',
  }),
  N002: entry<{ name: string; suggestion: string | null }>({
    severity: 'error',
    title: 'unknown struct type',
    message: (a) => `unknown struct type \`${a.name}\`${orElse(a.suggestion)}`,
    hint: (a) => {
      if (a.suggestion === null) return `declare \`struct ${a.name} { ... }\` before constructing it`
      return `declare \`struct ${a.suggestion} { ... }\` or fix the type name`
    },
    doc: 'A struct literal names a struct that is not declared or imported.',
  }),
  N003: entry<{ name: string; since: string | null; use: string | null }>({
    severity: 'warning',
    title: 'deprecated function',
    message: (a) => `\`${a.name}\` is deprecated${a.since === null ? '' : ` (since ${a.since})`}`,
    hint: (a) => (a.use === null ? undefined : `use \`${a.use}\` instead`),
    doc: 'The called function carries `@deprecated`.',
  }),
  N010: entry<{ name: string }>({
    severity: 'warning',
    title: 'unknown attribute',
    message: (a) => `unknown attribute \`@${a.name}\``,
    doc: 'An attribute that the language does not know; it has no effect.',
  }),
  N011: entry<{ name: string; target: string }>({
    severity: 'warning',
    title: 'misplaced attribute',
    message: (a) => `\`@${a.name}\` only applies to ${a.target} declarations`,
    doc: 'A known attribute stands on a declaration of another kind, where it has no effect.',
  }),
  N012: entry<None>({
    severity: 'warning',
    title: 'two predicate modes',
    message: () => '`@deterministic` and `@semantic` are mutually exclusive; a Flow predicate is one mode or the other',
    doc: 'A predicate is declared both deterministic and semantic.',
  }),
  N013: entry<None>({
    severity: 'warning',
    title: 'predicate without a mode',
    message: () => 'Flow `@invariant` requires exactly one of `@deterministic` (default) or `@semantic`',
    doc: 'A predicate does not say in which mode it is evaluated.',
  }),
  N014: entry<None>({
    severity: 'warning',
    title: 'predicate without provenance',
    message: () =>
      'Flow `@invariant` is missing `@archivist(...)` provenance ' + '(evidence, confidence, source_date, coverage_examples)',
    doc: 'A predicate does not say where it comes from.',
  }),
  N015: entry<{ name: 'archivist(...)' | 'retroactive' }>({
    severity: 'warning',
    title: 'provenance on no predicate',
    message: (a) => `\`@${a.name}\` only applies to Flow predicates marked with \`@invariant\``,
    doc: 'Provenance stands on a function that is no predicate.',
  }),
  N016: entry<None>({
    severity: 'warning',
    title: 'unnamed provenance argument',
    message: () => '`@archivist(...)` arguments must be named (e.g. `evidence: [...], confidence: 0.9`)',
    doc: 'Provenance arguments have no order.',
  }),
  N017: entry<{ name: string }>({
    severity: 'warning',
    title: 'unknown provenance argument',
    message: (a) =>
      `unknown \`@archivist\` argument \`${a.name}\`; expected one of ` +
      '["evidence", "confidence", "source_date", "coverage_examples"]',
    doc: 'A provenance argument that is not known.',
  }),
  N018: entry<None>({
    severity: 'warning',
    title: 'confidence out of range',
    message: () => '`@archivist(confidence: ...)` must be a float in [0.0, 1.0]',
    doc: 'Confidence is a share.',
  }),
  N019: entry<None>({
    severity: 'warning',
    title: 'provenance without evidence',
    message: () => '`@archivist(...)` should declare `evidence: [...]` so predicates can be audited',
    doc: 'Provenance without evidence.',
  }),
  N020: entry<None>({
    severity: 'warning',
    title: 'unreachable code',
    message: () => 'unreachable code',
    doc: 'A statement follows one that always leaves the block; the rest of the block is not checked.',
  }),
  N021: entry<{ name: string; problem: string }>({
    severity: 'warning',
    title: 'argument of an attribute',
    message: (a) => `\`@${a.name}\` ${a.problem}`,
    doc: 'An argument of `@retries` or `@recovery` says nothing that calls of the tool could follow.',
  }),

  // ---- operators and bindings ---------------------------------------------------------------------------------------
  T001: entry<{ left: string; right: string }>({
    severity: 'error',
    title: 'operands of +',
    message: (a) => `can't add ${a.left} and ${a.right}`,
    hint: (a) => (a.left === 'string' || a.right === 'string' ? 'use string interpolation: "${value}"' : undefined),
    doc: '`+` joins numbers, two strings, two lists or two dicts.',
  }),
  T002: entry<{ operator: string; left: string; right: string }>({
    severity: 'error',
    title: 'operands of a numeric operator',
    message: (a) => `can't use '${a.operator}' on ${a.left} and ${a.right} (needs numeric operands)`,
    doc: 'The operator works on int and float only.',
  }),
  T003: entry<{ left: string; right: string }>({
    severity: 'error',
    title: 'operands of *',
    message: (a) => `can't multiply ${a.left} and ${a.right} (try string * int)`,
    doc: '`*` multiplies numbers and repeats a string.',
  }),
  T004: entry<{ operator: string; left: string; right: string }>({
    severity: 'warning',
    title: 'comparison without an order',
    message: (a) => `Comparison '${a.operator}' may not be meaningful for types ${a.left} and ${a.right}`,
    doc: 'Only numbers and strings have an order.',
  }),
  T005: entry<{ operator: string; left: string; right: string }>({
    severity: 'warning',
    title: 'string compared with a number',
    message: (a) => `Comparing ${a.left} with ${a.right} using '${a.operator}' may give unexpected results`,
    doc: 'A string is compared with a number.',
  }),
  T006: entry<{ name: string }>({
    severity: 'warning',
    title: 'assignment to an immutable variable',
    message: (a) => `Cannot assign to '${a.name}': variable is immutable (declared with 'let')`,
    hint: (a) => `declare it with \`var ${a.name}\``,
    doc: 'The assignment fails at run time.',
  }),
  T007: entry<{ name: string; declared: string; actual: string }>({
    severity: 'error',
    title: 'assigned value of another type',
    message: (a) => `can't assign ${a.actual} to '${a.name}' (declared as ${a.declared})`,
    doc: 'A variable keeps the type of its declaration or of its first value.',
  }),
  T014: entry<{ name: string; declared: string; actual: string; detail: string }>({
    severity: 'error',
    title: 'bound value of another type',
    message: (a) => `'${a.name}' declared as ${a.declared}, but assigned ${a.actual}${a.detail}`,
    hint: (a) => (a.declared === 'string' ? 'convert the value with `to_string`' : undefined),
    doc: 'The value does not fit the annotation of its binding.',
  }),

  // ---- functions ----------------------------------------------------------------------------------------------------
  T020: entry<{ expected: string; actual: string }>({
    severity: 'error',
    title: 'returned value of another type',
    message: (a) => `return type doesn't match: expected ${a.expected}, got ${a.actual}`,
    doc: 'A returned value does not fit the declared return type.',
  }),
  T021: entry<{ name: string; expected: string; actual: number }>({
    severity: 'warning',
    title: 'number of arguments',
    message: (a) => `Function '${a.name}' expects ${a.expected} arguments, got ${a.actual}`,
    hint: () => 'missing arguments are nil, extra ones are ignored',
    doc: 'A call passes fewer or more arguments than the function declares.',
  }),
  T022: entry<{ index: number; param: string; expected: string; actual: string }>({
    severity: 'error',
    title: 'argument of another type',
    message: (a) => `Argument ${a.index} ('${a.param}'): expected ${a.expected}, got ${a.actual}`,
    doc: 'An argument does not fit its parameter.',
  }),
  T023: entry<{ conflict: string }>({
    severity: 'error',
    title: 'conflicting type arguments',
    message: (a) => a.conflict,
    doc: 'Two arguments would give one type parameter different types.',
  }),
  T024: entry<{ name: string; builtin: boolean }>({
    severity: 'error',
    title: 'type arguments where none are declared',
    message: (a) => `${a.builtin ? 'Builtin function' : 'Function'} '${a.name}' does not declare type parameters`,
    doc: 'Type arguments are written on a call of a function without type parameters.',
  }),
  T025: entry<{ name: string; builtin: boolean; expected: number; actual: number }>({
    severity: 'error',
    title: 'number of type arguments',
    message: (a) => {
      return `${a.builtin ? 'Builtin function' : 'Function'} '${a.name}' expects ${a.expected} type arguments, got ${a.actual}`
    },
    doc: 'The number of type arguments differs from the number of type parameters.',
  }),
  T026: entry<{ type: string; param: string; bound: string; reason: string }>({
    severity: 'error',
    title: 'unsatisfied where clause',
    message: (a) =>
      `Type '${a.type}' does not satisfy interface '${a.bound}': ${a.reason} ` +
      `(required by constraint \`where ${a.param}: ${a.bound}\`)`,
    doc: 'A type argument lacks what a `where` clause asks for.',
  }),
  T027: entry<{ method: string; bound: string; param: string }>({
    severity: 'warning',
    title: 'method outside of the bound',
    message: (a) => `Method '${a.method}' not found in interface '${a.bound}' (constraint on '${a.param}')`,
    doc: 'A method is called on a bounded type parameter whose interface does not have it.',
  }),
  T030: entry<None>({
    severity: 'error',
    title: 'yield in a stream function',
    message: () => '`yield` is not a stream emit; use `emit` inside `gen fn`',
    doc: 'A `gen fn` hands out its values with `emit`.',
  }),
  T031: entry<None>({
    severity: 'error',
    title: 'emit outside of a stream function',
    message: () => '`emit` can only be used inside a `gen fn`',
    doc: 'Outside a `gen fn` there is no stream to emit to.',
  }),
  T032: entry<{ expected: string; actual: string }>({
    severity: 'error',
    title: 'emitted value of another type',
    message: (a) => `emit type doesn't match: expected ${a.expected}, got ${a.actual}`,
    doc: 'An emitted value does not fit the declared stream.',
  }),
  T033: entry<{ actual: string }>({
    severity: 'error',
    title: 'stream function with another return type',
    message: (a) => `\`gen fn\` must return Stream<T>, got ${a.actual}`,
    doc: 'The result of calling a `gen fn` is always a stream.',
  }),
  T034: entry<None>({
    severity: 'error',
    title: 'try* outside of functions',
    message: () => 'try* requires an enclosing function (fn, tool, or pipeline) so the rethrow has a target',
    doc: '`try*` outside every function.',
  }),
  T035: entry<{ actual: string }>({
    severity: 'error',
    title: 'limit of parallel that is no int',
    message: (a) => `\`max_concurrent\` on \`parallel\` must be int, got ${a.actual}`,
    doc: 'The limit of parallel tasks is a number of tasks.',
  }),

  // ---- structs, variance --------------------------------------------------------------------------------------------
  T040: entry<{ field: string; struct: string }>({
    severity: 'warning',
    title: 'unknown struct field',
    message: (a) => `Unknown field '${a.field}' in struct '${a.struct}'`,
    doc: 'The field is dropped when the struct is made.',
  }),
  T041: entry<{ field: string; struct: string }>({
    severity: 'warning',
    title: 'missing struct field',
    message: (a) => `Missing field '${a.field}' in struct '${a.struct}' construction`,
    doc: 'The field reads as nil.',
  }),
  T042: entry<{ field: string; struct: string; expected: string; actual: string }>({
    severity: 'error',
    title: 'field value of another type',
    message: (a) => `Field '${a.field}' in struct '${a.struct}' expects ${a.expected}, got ${a.actual}`,
    doc: 'A field value does not fit its declaration.',
  }),
  T043: entry<{ param: string; marker: 'in' | 'out'; position: string; owner: string; name: string }>({
    severity: 'error',
    title: 'variance violated',
    message: (a) => {
      const meaning = a.marker === 'out' ? 'covariant' : 'contravariant'
      return (
        `type parameter '${a.param}' is declared '${a.marker}' (${meaning}) ` +
        `but appears in a ${a.position} position in ${a.owner} '${a.name}'`
      )
    },
    doc: 'A type parameter is used against its variance marker.',
  }),

  // ---- match and unreachable ----------------------------------------------------------------------------------------
  T050: entry<{ subject: string; what: string; missing: string }>({
    severity: 'error',
    title: 'match that is not exhaustive',
    message: (a) => `Non-exhaustive match on ${a.subject}: missing ${a.what}${a.missing}`,
    hint: () => 'add the missing arms or a `_` arm',
    doc: 'Not every value that the matched expression can have is covered.',
  }),
  T051: entry<{ matched: string; literal: string }>({
    severity: 'warning',
    title: 'pattern that cannot match',
    message: (a) => `Match pattern type mismatch: matching ${a.matched} against ${a.literal} literal`,
    doc: 'The arm can never be taken.',
  }),
  T052: entry<None>({
    severity: 'error',
    title: 'or-pattern that is not literal',
    message: () =>
      'Or-pattern alternatives must be literal patterns (string, int, float, bool, nil, or `_`). ' +
      'Identifier bindings and destructuring patterns are not allowed inside `|`.',
    doc: 'Alternatives cannot bind names, since only one of them matches.',
  }),
  T053: entry<{ type: string }>({
    severity: 'error',
    title: 'reachable unreachable',
    message: (a) => `unreachable() argument has type \`${a.type}\` — not all cases are handled`,
    doc: 'The argument of `unreachable` should have been narrowed until nothing was left.',
  }),
  T054: entry<{ site: string; name: string; missing: string }>({
    severity: 'warning',
    title: 'unknown value not narrowed',
    message: (a) =>
      `\`${a.site}\` reached but \`${a.name}: unknown\` was not fully narrowed — ` + `uncovered concrete type(s): ${a.missing}`,
    doc: 'Tests of an `unknown` value exclude some types before this point, but not all.',
  }),

  // ---- strict types -------------------------------------------------------------------------------------------------
  T060: entry<{ access: 'Accessing property' | 'Subscript access'; name: string; source: string }>({
    severity: 'warning',
    title: 'use of an unvalidated value',
    message: (a) => `${a.access} on unvalidated value '${a.name}' from \`${a.source}\``,
    hint: () => 'validate with schema_expect(), schema_is() in an if-condition, or add a shape type annotation',
    doc: 'Strict mode: a value from outside is used before its shape is known.',
  }),
  T061: entry<{ access: 'property' | 'subscript'; source: string }>({
    severity: 'warning',
    title: 'use of an unvalidated result',
    message: (a) => `Direct ${a.access} access on unvalidated \`${a.source}()\` result`,
    hint: () => 'assign to a variable and validate with schema_expect() or a type annotation first',
    doc: 'Strict mode: the result of a call to the outside is used before its shape is known.',
  }),

  // ---- limits -------------------------------------------------------------------------------------------------------
  T070: entry<{ more: number; limit: number }>({
    severity: 'error',
    title: 'too many findings',
    message: (a) => `and ${a.more} more findings: ${a.limit} are kept`,
    hint: () => 'mend those that are listed and check again',
    doc: 'A file has more findings than are kept; the number of the others is told.',
  }),
  T071: entry<{ limit: number }>({
    severity: 'error',
    title: 'checking takes too long',
    message: (a) => `Checking the types of this file takes more than ${a.limit} steps`,
    hint: () => 'split the file, simplify types that refer to types, or have the host raise `limits` of compile',
    doc: 'The types of a file take more work than checking may take, such as aliases that double at each step.',
  }),
}

/** The parts of CHECK_CATALOG; each code is in exactly one of them. */
export const CHECK_CATALOGS = [GRANT_CATALOG, STRICT_CATALOG, TOOL_CATALOG, OWN_CATALOG] as const

export const CHECK_CATALOG = { ...GRANT_CATALOG, ...STRICT_CATALOG, ...TOOL_CATALOG, ...OWN_CATALOG }

export type CheckCode = keyof typeof CHECK_CATALOG
export type ArgsOf<C extends CheckCode> = RowArgs<(typeof CHECK_CATALOG)[C]>
