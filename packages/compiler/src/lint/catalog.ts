// THE table of lint rules, one row for each rule: its code, its name in settings, and its message. Messages and most hints
// are the language's wording. All are warnings except `break-outside-loop`, which cannot be compiled.

import type { CatalogRow, RowArgs } from '@bridle/parser'

export interface LintRow<Args> extends CatalogRow<Args> {
  /** The name in settings and reports. */
  readonly rule: string
  /** An earlier name that still disables it. */
  readonly alias?: string
  /** Off by default. */
  readonly optIn?: boolean
  /** A style rule: the program is correct, so only `bridle lint` reports it. */
  readonly style?: boolean
}

function row<A>(definition: Omit<LintRow<A>, 'severity'> & { readonly severity?: 'error' }): LintRow<A> {
  return { severity: 'warning', ...definition }
}

type None = Record<string, never>

const underscore = (a: { readonly name: string }): string => `prefix with underscore: \`_${a.name}\``

export const LINT_CATALOG = {
  // ---- the text -----------------------------------------------------------------------------------------------------
  L001: row<{ found: string; rewrite: string }>({
    style: true,
    rule: 'legacy-doc-comment',
    title: 'documentation in line comments',
    message: (a) => `${a.found} doc comment(s) above this item should use \`/** */\` form`,
    hint: (a) => `rewrite the ${a.rewrite} as a canonical \`/** ... */\` block`,
    doc: 'Line comments directly above a declaration are its documentation, which is written as one `/** … */` block.',
  }),
  L002: row<None>({
    style: true,
    rule: 'blank-line-between-items',
    title: 'items without an empty line between',
    message: () => 'top-level items should be separated by a blank line',
    hint: () => 'insert an empty line above it, and above the comments that belong to it',
    doc: 'Neighbouring top-level items have an empty line between them; imports may stand together.',
  }),
  L003: row<None>({
    style: true,
    rule: 'trailing-comma',
    title: 'no comma after the last item',
    message: () => 'multiline comma-separated list is missing a trailing comma',
    hint: () => 'add a trailing comma after the last item',
    doc: 'In a list over several lines every item ends with a comma, so that adding one changes one line.',
  }),
  L004: row<None>({
    style: true,
    rule: 'import-order',
    title: 'imports out of order',
    message: () => 'imports are not in canonical order (stdlib first, then alphabetical by path)',
    hint: () => '`bridle fmt` sorts them',
    doc: 'Leading imports are sorted: `std/` first, then by path; names within an import by the alphabet.',
  }),
  L005: row<None>({
    style: true,
    rule: 'require-file-header',
    optIn: true,
    title: 'file without a header',
    message: () => 'file is missing a `/** */` header doc block',
    hint: () => 'begin the file with a `/** … */` block that says what it is for',
    doc: 'Only on request (`[lint] require_file_header`): every file begins with a documentation block.',
  }),

  // ---- declarations -------------------------------------------------------------------------------------------------
  L010: row<{ what: string; name: string; style: 'snake_case' | 'PascalCase'; example: string }>({
    style: true,
    rule: 'naming-convention',
    title: 'name in another style',
    message: (a) => `${a.what} \`${a.name}\` should use ${a.style}`,
    hint: (a) => `rename \`${a.name}\` to ${a.style} (for example \`${a.example}\`)`,
    doc: 'Functions and tools are named in snake_case; structs, enums, interfaces and types in PascalCase.',
  }),
  L011: row<{ name: string }>({
    style: true,
    rule: 'pipeline-return-type',
    title: 'public pipeline without a return type',
    message: (a) =>
      `public pipeline \`${a.name}\` has no declared return type; explicit return types will be required in a future release`,
    hint: (a) => `declare a return type: \`pub pipeline ${a.name}(...) -> TypeExpr { ... }\``,
    doc: 'What others call says what it returns. Entry points and tests are exempt.',
  }),
  L012: row<{ name: string }>({
    style: true,
    rule: 'missing-harndoc',
    title: 'public function without documentation',
    message: (a) => `public function \`${a.name}\` is missing a \`/** */\` doc comment`,
    hint: (a) => `add a \`/** ... */\` HarnDoc block directly above \`pub fn ${a.name}\``,
    doc: 'A public function has a `/** … */` block on the line above it.',
  }),
  L013: row<{ name: string; score: number; threshold: number }>({
    style: true,
    rule: 'cyclomatic-complexity',
    title: 'too many branches',
    message: (a) => `function \`${a.name}\` has cyclomatic complexity ${a.score} (> ${a.threshold})`,
    hint: () => 'move parts into functions of their own, or say `@complexity(allow)` where it has to be so',
    doc: 'The number of branches, loops and logical operators of a function, plus one, is above the limit (25, or `[lint] complexity_threshold`).',
  }),

  // ---- statements ---------------------------------------------------------------------------------------------------
  L020: row<{ name: string; redeclared: boolean }>({
    style: true,
    rule: 'shadow-variable',
    title: 'name bound again',
    message: (a) =>
      a.redeclared
        ? `cannot redeclare immutable variable \`${a.name}\` in the same scope`
        : `variable \`${a.name}\` shadows a variable in an outer scope`,
    hint: (a) =>
      a.redeclared
        ? `choose another name, or bind \`${a.name}\` with \`var\` and assign`
        : `consider renaming to avoid shadowing \`${a.name}\``,
    doc: 'A `let` binds a name that its scope already has, which fails at run time; or a binding hides one of an outer scope.',
  }),
  L021: row<None>({
    rule: 'dead-code-after-return',
    alias: 'unreachable-code',
    title: 'code that cannot be reached',
    message: () => 'unreachable code after a terminating statement',
    hint: () => 'remove the unreachable code',
    doc: 'A statement follows a `return`, `throw`, `break` or `continue`, or an `if` whose branches all end in one.',
  }),
  L022: row<{ name: string }>({
    style: true,
    rule: 'let-then-return',
    title: 'binding that is returned at once',
    message: (a) => `binding \`${a.name}\` is immediately returned`,
    hint: (a) => `return the expression assigned to \`${a.name}\` directly`,
    doc: 'The name of a value that is returned in the next statement says nothing.',
  }),
  L023: row<None>({
    rule: 'unhandled-approval-result',
    title: 'approval that nobody looks at',
    message: () => 'approval result from `request_approval` is discarded',
    hint: () => 'bind the result and act on it, or bind it to `_`',
    doc: 'Somebody is asked for approval, and the answer makes no difference.',
  }),
  L024: row<{ statement: string; name: string }>({
    style: true,
    rule: 'empty-block',
    title: 'empty block',
    message: (a) => `${a.statement} has an empty body`,
    hint: (a) => `remove the empty ${a.name} or give it a body`,
    doc: 'The body of an `if`, `for`, `while` or `try` has no statements.',
  }),
  L025: row<None>({
    style: true,
    rule: 'unnecessary-else-return',
    title: 'else after a return',
    message: () => 'both if and else branches return — else is unnecessary',
    hint: () => 'remove the else and place its body after the if',
    doc: 'Both branches end in a `return`, so the second needs no `else`.',
  }),
  L026: row<{ keyword: string }>({
    rule: 'break-outside-loop',
    severity: 'error',
    title: 'break or continue outside of a loop',
    message: (a) => `\`${a.keyword}\` used outside of a loop`,
    hint: (a) => `\`${a.keyword}\` can only be used inside for or while loops`,
    doc: 'There is no loop around it in the same function or closure; such a program does not compile.',
  }),

  // ---- expressions --------------------------------------------------------------------------------------------------
  L030: row<{ method: string }>({
    style: true,
    rule: 'redundant-clone',
    title: 'clone that is passed on',
    message: (a) => `cloned value is immediately ${a.method}`,
    hint: () => 'pass the value itself',
    doc: 'Values are passed by value, so a clone made for an argument is never seen by anybody else.',
  }),
  L031: row<{ name: string; kind: string; article: string }>({
    style: true,
    rule: 'unnecessary-cast',
    title: 'conversion that changes nothing',
    message: (a) => `\`${a.name}\` is a no-op here — its argument is already ${a.article} ${a.kind}`,
    hint: (a) => `remove the redundant \`${a.name}(...)\` wrapper`,
    doc: 'The argument is a literal of the type, or the result of the same conversion.',
  }),
  L032: row<{ text: string; fixed: boolean }>({
    rule: 'pointless-comparison',
    title: 'comparison with a known result',
    message: (a) => a.text,
    hint: (a) =>
      a.fixed ? 'compare with something else, or write the result' : 'remove the condition, or the branch that is never taken',
    doc: 'A value is compared with itself, or a condition is a literal.',
  }),
  L033: row<{ text: string; negated: boolean }>({
    style: true,
    rule: 'comparison-to-bool',
    title: 'comparison with true or false',
    message: (a) => a.text,
    hint: (a) => (a.negated ? 'use `!expr` instead' : 'remove the comparison, use the expression directly'),
    doc: 'A bool is compared with a bool literal.',
  }),
  L034: row<{ operator: string }>({
    rule: 'invalid-binary-op-literal',
    title: 'arithmetic with a bool or nil',
    message: (a) => `operator '${a.operator}' used with boolean or nil literal — this will cause a runtime error`,
    hint: () => 'convert the value with to_string(), or put it into the string with `${…}`',
    doc: 'No arithmetic operator takes a bool or nil.',
  }),
  L035: row<{ name: string }>({
    style: true,
    rule: 'redundant-nil-ternary',
    title: 'ternary in place of ??',
    message: (a) => `ternary nil check over \`${a.name}\` can be replaced with \`${a.name} ?? <fallback>\``,
    hint: (a) => `use \`${a.name} ?? <fallback>\` instead`,
    doc: '`x == nil ? f : x` says the same as `x ?? f`.',
  }),
  L036: row<{ kind: string }>({
    rule: 'eager-collection-conversion',
    title: 'iterator where a collection is wanted',
    message: (a) => `expression is an iterator; expected ${a.kind}. Add .to_${a.kind}() to materialize.`,
    hint: (a) => `append \`.to_${a.kind}()\` to materialize the iterator`,
    doc: 'A value is declared to be a list, set or dict, and is an iterator, which is empty after its first use.',
  }),
  L037: row<None>({
    rule: 'duplicate-match-arm',
    title: 'arm that an earlier one hides',
    message: () => 'duplicate match arm pattern',
    hint: () => 'remove the duplicate arm',
    doc: 'An earlier arm has the same pattern and the same guard, so this one is never taken.',
  }),

  // ---- the outside --------------------------------------------------------------------------------------------------
  L040: row<{ name: string }>({
    style: true,
    rule: 'assert-outside-test',
    title: 'assertion outside of tests',
    message: (a) => `\`${a.name}\` is intended for test pipelines, not production control flow`,
    hint: () => 'use `require` for invariants in non-test code',
    doc: 'Assertions belong to pipelines named `test` or `test_…`, or marked `@test`.',
  }),
  L041: row<None>({
    style: true,
    rule: 'require-in-test',
    title: 'require in a test',
    message: () => '`require` in a test pipeline should usually be an assertion',
    hint: () => 'write `assert(...)` or `assert_eq(...)`',
    doc: 'An assertion tells the test report what was compared.',
  }),
  L042: row<None>({
    rule: 'prompt-injection-risk',
    title: 'data in a system prompt',
    message: () => 'interpolated data in the `llm_call` system prompt can smuggle untrusted instructions',
    hint: () => 'keep the system prompt constant and pass data in the user prompt or the options',
    doc: 'The second argument of `llm_call` is an interpolated string: whoever controls the data controls the instructions.',
  }),
  L043: row<{ handler: string; name: string; reason: string }>({
    rule: 'connector-effect-policy',
    title: 'forbidden call in a connector',
    message: (a) => `connector export \`${a.handler}\` calls disallowed builtin \`${a.name}\`: ${a.reason}`,
    hint: (a) => `move \`${a.name}\` out of \`${a.handler}\``,
    doc: 'The functions that a connector exports (`normalize_inbound`, `poll_tick`, `call`, `activate`) may not use what the message names.',
  }),
  L044: row<{ name: string }>({
    rule: 'long-running-without-cleanup',
    title: 'background work without an end',
    message: (a) => `\`${a.name}\` starts long-running work without a defer/finally cleanup path`,
    hint: () => 'cancel it with `cancel_handle(...)` in a `defer` or `finally` block of the same function',
    doc: 'Work in the background goes on when the function fails, unless a `defer` or `finally` cancels it.',
  }),
  L045: row<None>({
    rule: 'pr-open-without-secret-scan',
    title: 'pull request without a scan for secrets',
    message: () => 'PR-open flow calls `git::push_pr` without a preceding `secret_scan(...)` in the same handler',
    hint: () => 'call `secret_scan(...)` first and open the pull request only when it finds nothing',
    doc: 'What is published has to be scanned for secrets first, on every path that leads there.',
  }),
  L046: row<{ access: 'property' | 'subscript'; name: string }>({
    style: true,
    rule: 'untyped-dict-access',
    title: 'use of an unchecked result',
    message: (a) => `${a.access} access on raw \`${a.name}()\` result without schema validation`,
    hint: () => 'assign to a variable and validate with schema_expect() or a type annotation first',
    doc: 'What comes from outside has no known shape until it was validated.',
  }),

  // ---- names of the whole file --------------------------------------------------------------------------------------
  L050: row<{ name: string }>({
    style: true,
    rule: 'unused-variable',
    title: 'unused variable',
    message: (a) => `variable \`${a.name}\` is declared but never used`,
    hint: underscore,
    doc: 'No expression of the file mentions the name.',
  }),
  L051: row<{ name: string }>({
    style: true,
    rule: 'unused-pattern-binding',
    title: 'unused name of a pattern',
    message: (a) => `pattern binding \`${a.name}\` is never used`,
    hint: underscore,
    doc: 'A destructuring binds a name that no expression of the file mentions.',
  }),
  L052: row<{ name: string }>({
    style: true,
    rule: 'unused-parameter',
    title: 'unused parameter',
    message: (a) => `parameter \`${a.name}\` is declared but never used`,
    hint: underscore,
    doc: 'No expression of the file mentions the name.',
  }),
  L053: row<{ name: string }>({
    style: true,
    rule: 'unused-import',
    title: 'unused import',
    message: (a) => `imported name \`${a.name}\` is never used`,
    hint: (a) => `remove \`${a.name}\` from the import`,
    doc: 'A selective import brings a name that the file never mentions.',
  }),
  L054: row<{ name: string }>({
    style: true,
    rule: 'mutable-never-reassigned',
    title: 'var that is never assigned',
    message: (a) => `variable \`${a.name}\` is declared as \`var\` but never reassigned`,
    hint: () => 'use `let` instead of `var`',
    doc: 'A `var` without an assignment is a `let`.',
  }),
  L055: row<{ name: string }>({
    style: true,
    rule: 'unused-function',
    title: 'unused function',
    message: (a) => `function \`${a.name}\` is declared but never used`,
    hint: (a) => `remove the function or prefix with underscore: \`_${a.name}\``,
    doc: 'A function, tool, skill or eval pack that is not public is never mentioned.',
  }),
  L056: row<{ kind: string; name: string }>({
    style: true,
    rule: 'unused-type',
    title: 'unused type',
    message: (a) => `${a.kind} \`${a.name}\` is declared but never referenced`,
    hint: (a) => `remove the ${a.kind}, or name it in an annotation or a constructor`,
    doc: 'A struct, enum or interface is never named in an annotation, constructor, `where` or `impl`. `E.Variant` does not count.',
  }),
  L057: row<{ name: string; suggestion: string | null }>({
    rule: 'undefined-function',
    title: 'unknown function',
    message: (a) => `function \`${a.name}\` is not defined`,
    hint: (a) => (a.suggestion === null ? `check the spelling or import \`${a.name}\`` : `did you mean \`${a.suggestion}\`?`),
    doc: 'A name is called that nothing in sight declares.',
  }),
}

export type LintCode = keyof typeof LINT_CATALOG
export type LintArgs<C extends LintCode> = RowArgs<(typeof LINT_CATALOG)[C]>

const ROWS: Readonly<Record<string, LintRow<never> | undefined>> = LINT_CATALOG

/** The rule of a code; null for codes of other phases. */
export function lintRule(code: string): string | null {
  return ROWS[code]?.rule ?? null
}

/** Whether a code is a style rule, which checking leaves to lint. */
export function isStyleRule(code: string): boolean {
  return ROWS[code]?.style === true
}

/** Names that disable rules. */
export function lintRuleNames(): readonly string[] {
  return Object.values(LINT_CATALOG).flatMap((one: LintRow<never>) =>
    one.alias === undefined ? [one.rule] : [one.rule, one.alias],
  )
}
