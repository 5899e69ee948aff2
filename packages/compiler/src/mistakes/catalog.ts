// Findings of a strict check about programs that run but certainly or most likely do not do what their author meant (M). None of them
// stops a run. A row is an error if the program cannot mean what it says, and a warning if it might.

import { type CatalogRow, entry, type RowArgs } from '@bridle/parser'

type None = Record<string, never>

function warning<A>(definition: Omit<CatalogRow<A>, 'severity'>): CatalogRow<A> {
  return entry<A>({ severity: 'warning', ...definition })
}

function error<A>(definition: Omit<CatalogRow<A>, 'severity'>): CatalogRow<A> {
  return entry<A>({ severity: 'error', ...definition })
}

export const MISTAKE_CATALOG = {
  // ---- unused values ------------------------------------------------------------------------------------------------
  M001: warning<{ what: string; name: string }>({
    title: 'last value of a function is lost',
    message: (a) => `${a.what} \`${a.name}\` gives nil: the value of its last statement is not returned`,
    hint: () => 'write `return` before it',
    doc: 'A function, method or tool gives what `return` says, and nil without one. Only closures give the value of their last statement.',
  }),
  M002: warning<{ text: string }>({
    title: 'result that nobody uses',
    message: (a) => `the result of \`${a.text}\` is not used`,
    hint: () => 'it changes nothing by itself: bind the result to a name, assign it, or remove the statement',
    doc: 'Values do not change: `xs.push(4)` gives a new list and leaves `xs` as it is. Write `xs = xs.push(4)`, or use the result otherwise.',
  }),
  M003: warning<{ what: string }>({
    title: 'statement without effect',
    message: (a) => `this ${a.what} does nothing: its value is not used`,
    hint: () => 'assign it, return it, print it, or remove the statement',
    doc: 'A statement computes a value and does nothing with it. A comparison `a == b` there is most often meant as the assignment `a = b`.',
  }),
  M010: warning<{ name: string }>({
    title: 'tool without return',
    message: (a) => `tool \`${a.name}\` gives the value of its last statement without \`return\`; a function would give nil`,
    hint: () => 'write `return` before it',
    doc: 'Of all that has a name only a tool gives the value of its last statement. With `return` it says so, and stays right when it becomes a function.',
  }),
  M014: error<{ what: string; name: string }>({
    title: 'way to the end without a value',
    message: (a) => `${a.what} \`${a.name}\` says what it gives, and may end without giving it`,
    hint: () => 'return a value on every way, throw, or let the type allow `nil`',
    doc: 'A function states the type of its result, and control can come to its end without a `return`, where the result is nil.',
  }),
  // ---- control flow --------------------------------------------------------------------------------------------------
  M004: warning<{ before: string; advice?: string }>({
    title: 'code that is never reached',
    message: (a) => `unreachable code: ${a.before}`,
    hint: (a) => a.advice ?? 'remove it, or move it up',
    doc: 'What stands before a statement never lets control through: a `match` all of whose arms leave, a `while true` without `break`, a call that always fails.',
  }),
  M005: warning<{ what: string; value: string }>({
    title: 'condition that is always the same',
    message: (a) => `${a.what} is always ${a.value}`,
    hint: () => 'compare it with something, or remove what is never taken',
    doc: 'A condition does not depend on anything. After `x == 1 || 2` write the comparison again: `x == 1 || x == 2`.',
  }),
  M006: warning<{ name: string }>({
    title: 'condition is a function',
    message: (a) => `the condition is the function \`${a.name}\` itself, which is always true`,
    hint: (a) => `call it: \`${a.name}(…)\``,
    doc: 'A function is a value and counts as true. To test what it gives, call it.',
  }),
  M007: warning<{ key: string }>({
    title: 'key given twice',
    message: (a) => `key \`${a.key}\` is given twice: the first value is lost`,
    hint: () => 'remove one of the two, or rename it',
    doc: 'A dict or struct literal names a key twice. The last value counts.',
  }),
  M008: warning<{ operator: string }>({
    title: 'division by zero',
    message: (a) => `\`${a.operator}\` by zero`,
    hint: () => 'integers cannot be divided by zero; floats give infinity or NaN',
    doc: 'The divisor is the literal 0. With integers that is an error at run time.',
  }),
  M009: warning<{ operator: string; value: string }>({
    title: 'value compared with itself',
    message: (a) => `both sides of \`${a.operator}\` are the same: always ${a.value}`,
    hint: () => 'compare with something else',
    doc: 'A value is compared with itself.',
  }),
  // ---- strings -------------------------------------------------------------------------------------------------------
  M011: warning<{ text: string; name: string }>({
    title: 'variable named in a string without interpolation',
    message: (a) => `\`${a.text}\` is plain text: the value of \`${a.name}\` does not appear`,
    hint: (a) => `write \`\${${a.name}}\``,
    doc: 'Only `${…}` puts a value into a string; `$name`, `{name}` and `#{name}` are plain text.',
  }),
  M012: error<{ placeholder: string }>({
    title: 'format string of another language',
    message: (a) => `a string has no operator \`%\` and no method that fills in \`${a.placeholder}\``,
    hint: () => 'put the value into the string: "n = ${n}"; or call `format("n = {}", n)`',
    doc: 'Values are put into strings with `${…}` or with the builtin `format`, which fills `{}`.',
  }),
  M013: warning<{ name: string; placeholder: string }>({
    title: 'placeholder that nothing fills in',
    message: (a) => `\`${a.name}\` does not fill in \`${a.placeholder}\``,
    hint: () => 'put the value into the string: "n = ${n}"; or call `format("n = {}", n)`',
    doc: 'Only `format` fills placeholders, and only `{}`. Output functions print the string as it is.',
  }),
  // ---- habits of other languages ---------------------------------------------------------------------------------------
  M020: error<{ found: string; habit: string; harn: string }>({
    title: 'name of another language',
    message: (a) => `\`${a.found}\` is ${a.habit} and not defined here`,
    hint: (a) => a.harn,
    doc: 'A name of another language that Harn does not define. The help shows what to write instead.',
  }),
  M021: error<{ found: string; habit: string; harn: string }>({
    title: 'member of another language',
    message: (a) => `\`${a.found}\` is ${a.habit}: no value has it here`,
    hint: (a) => a.harn,
    doc: 'A method or property of another language that no value has here. The help shows what to write instead.',
  }),
  M022: error<{ name: string; key: string }>({
    title: 'struct read like a dict',
    message: (a) => `\`${a.name}\` is a struct: \`${a.name}["${a.key}"]\` fails`,
    hint: (a) => `write \`${a.name}.${a.key}\``,
    doc: 'Fields of a struct are read with a dot; `[…]` is for lists, dicts and strings.',
  }),
  M023: warning<None>({
    title: 'semicolon',
    message: () => 'no semicolon is needed at the end of a line',
    hint: () => 'remove it',
    doc: 'A statement ends with its line. A semicolon only separates two on one line.',
  }),
  M024: error<{ name: string }>({
    title: 'method that is not called',
    message: (a) => `\`.${a.name}\` is a method: without parentheses it is nil`,
    hint: (a) => `call it: \`.${a.name}()\``,
    doc: 'A method name behind a dot reads a key or field of that name, which is not there. Parentheses call the method.',
  }),
  M026: error<{ name: string }>({
    title: 'main function that nobody calls',
    message: (a) => `\`${a.name}\` is never called: the script does nothing of it`,
    hint: (a) => `call it at the end of the file: \`${a.name}()\`, or declare it as \`pipeline ${a.name}() { … }\``,
    doc: 'A script runs its statements, or its pipeline. A function `main` is a function like any other and runs when it is called.',
  }),
  M025: error<{ name: string }>({
    title: 'tool called like a function',
    message: (a) => `\`${a.name}\` is a tool and not a function: the call fails`,
    hint: (a) => `call it with \`tool_call(${a.name}, {…})\` of \`std/tools\`, or declare it with \`fn\``,
    doc: 'A `tool` is offered to models and called with a dict of its arguments. Its name stands for a registry that has it, and is no function.',
  }),
  M028: warning<{ operator: string; name: string }>({
    title: 'operator turned around',
    message: (a) => `\`${a.name} =${a.operator}\` assigns a negative value`,
    hint: (a) => `write \`${a.name} ${a.operator}= …\`, or set the sign apart: \`${a.name} = ${a.operator}…\``,
    doc: '`x =- 1` is `x = -1`. What is meant most often is `x -= 1`.',
  }),
  M027: warning<{ name: string }>({
    title: 'tool that no registry has',
    message: (a) => `no registry is bound in which \`${a.name}\` could be found by its name`,
    hint: (a) => `give the tool itself: \`tool_call(${a.name}, {…})\`, or bind a registry with \`tool_bind\``,
    doc: 'A call by name asks the bound registry and the tools of the host. A tool that the file declares is in neither: the call fails with `not_registered`.',
  }),
} as const

export type MistakeCode = keyof typeof MISTAKE_CATALOG
export type MistakeArgs<C extends MistakeCode> = RowArgs<(typeof MISTAKE_CATALOG)[C]>
