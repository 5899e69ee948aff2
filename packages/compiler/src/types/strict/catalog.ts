// Findings of the full strictness only: mistakes with which the language lets a run start. Names first, then types.

import { entry } from '@bridle/parser'

function orElse(suggestion: string | null): string {
  return suggestion === null ? '' : ` — did you mean \`${suggestion}\`?`
}

function proposal(suggestion: string | null): string | undefined {
  return suggestion === null ? undefined : `did you mean \`${suggestion}\`?`
}

export const STRICT_CATALOG = {
  // ---- names --------------------------------------------------------------------------------------------------------
  N040: entry<{ name: string; suggestion: string | null }>({
    severity: 'error',
    title: 'undefined name',
    message: (a) => `\`${a.name}\` is not defined here${orElse(a.suggestion)}`,
    hint: (a) =>
      proposal(a.suggestion) ??
      (a.name === 'self'
        ? 'a method has it as its first parameter: `fn name(self, …)`'
        : `declare it with \`let ${a.name} = …\` or import it`),
    doc: 'An expression names a variable that no scope around it declares. A run would raise `Undefined variable` when it gets there.',
  }),
  N041: entry<{ name: string }>({
    severity: 'error',
    title: 'name used before its declaration',
    message: (a) => `\`${a.name}\` is used before its declaration`,
    hint: () => 'move the declaration above this use',
    doc: 'A variable exists from its declaration on; a run that comes to this place before it raises `Undefined variable`.',
  }),
  N042: entry<{ name: string; suggestion: string | null }>({
    severity: 'error',
    title: 'assignment to an undeclared name',
    message: (a) => `\`${a.name}\` is assigned but never declared${orElse(a.suggestion)}`,
    hint: (a) => proposal(a.suggestion) ?? `declare it with \`var ${a.name} = …\``,
    doc: 'An assignment changes a variable that was declared with `var`. It declares none.',
  }),
  N043: entry<{ name: string; what: string }>({
    severity: 'error',
    title: 'assignment to what cannot be assigned',
    message: (a) => `\`${a.name}\` is ${a.what} and cannot be assigned`,
    hint: (a) => (a.what === 'a `let`' ? `declare it with \`var ${a.name} = …\`` : 'assign a `var` of another name'),
    doc: 'Only variables that were declared with `var` can be assigned. A run raises an error at this place.',
  }),
  N044: entry<{ name: string }>({
    severity: 'error',
    title: 'name declared twice',
    message: (a) => `\`${a.name}\` is declared twice in the same scope`,
    hint: () => 'give the second one another name, or declare it with `var` and assign it',
    doc: 'A scope cannot declare an immutable name twice. A run raises an error at the second declaration.',
  }),
  N045: entry<{ name: string }>({
    severity: 'error',
    title: 'parameter declared twice',
    message: (a) => `parameter \`${a.name}\` is declared twice`,
    hint: () => 'give each parameter a name of its own',
    doc: 'Two parameters of one function have the same name, so that one of the arguments is lost.',
  }),
  N046: entry<{ name: string; suggestion: string | null }>({
    severity: 'error',
    title: 'unknown type',
    message: (a) => `type \`${a.name}\` is not defined${orElse(a.suggestion)}`,
    hint: (a) => proposal(a.suggestion) ?? 'declare the type, import it, or correct its name',
    doc: 'An annotation names a type that is neither built in nor declared or imported.',
  }),
  N047: entry<{ enum: string; variant: string; suggestion: string | null }>({
    severity: 'error',
    title: 'unknown variant',
    message: (a) => `enum \`${a.enum}\` has no variant \`${a.variant}\`${orElse(a.suggestion)}`,
    hint: (a) => proposal(a.suggestion),
    doc: 'A variant is named that the declaration of the enum does not have.',
  }),
  N048: entry<{ path: string; suggestion: string | null }>({
    severity: 'error',
    title: 'unknown module',
    message: (a) => `there is no module \`${a.path}\`${orElse(a.suggestion)}`,
    hint: (a) =>
      proposal(a.suggestion) ??
      (a.path.startsWith('host/')
        ? '`bridle tools types` lists the tools of the host with their modules'
        : 'docs/language/modules.md lists the modules of the standard library'),
    doc: 'An import names a module `std/…` that does not exist, or a module `host/…` that the host, whose tools are known, does not have.',
  }),
  N049: entry<{ name: string; path: string; suggestion: string | null }>({
    severity: 'error',
    title: 'import of an unknown name',
    message: (a) => `module \`${a.path}\` has no \`${a.name}\`${orElse(a.suggestion)}`,
    hint: (a) => proposal(a.suggestion),
    doc: 'An import names something that the module does not declare.',
  }),
  N051: entry<{ name: string; path: string; what: 'struct' | 'enum' }>({
    severity: 'error',
    title: 'import of a struct or enum',
    message: (a) => `${a.what} \`${a.name}\` of \`${a.path}\` cannot be imported: modules give functions and types`,
    hint: () => 'declare it in this file, or import a function that makes one',
    doc: 'A selective import names a struct or enum, which belong to their file. A run raises an error at the import. Aliases and interfaces can be imported.',
  }),
  N050: entry<{ name: string }>({
    severity: 'warning',
    title: 'change that is lost',
    message: (a) => `the change of \`${a.name}\` is lost: a closure has its own copy of the variables around it`,
    hint: () => 'return the new value, or keep shared state in `atomic(…)` or `shared_cell(…)`',
    doc: 'A closure captures variables by value. What it assigns to one of them is gone when the call ends.',
  }),
  N052: entry<{ name: string }>({
    severity: 'error',
    title: 'parameter of a pipeline',
    message: (a) => `\`${a.name}\` has no value: the parameters of a pipeline are names only`,
    hint: () => 'read the input with `runtime_pipeline_input()` of `std/runtime`',
    doc: 'A pipeline names its parameters, and nothing is bound to them. A run raises `Undefined variable` where one is read.',
  }),
  N053: entry<{ name: string }>({
    severity: 'error',
    title: 'function that is not there yet',
    message: (a) => `\`${a.name}\` is not there yet: variables of this file are made before its functions`,
    hint: () => 'write the value itself, or make a function of the variable',
    doc: 'In a module, and in a file with a pipeline, variables of the file are made first and functions behind them. A variable whose value needs a function of the same file fails when the file is imported or run.',
  }),

  // ---- types --------------------------------------------------------------------------------------------------------
  T080: entry<{ type: string; method: string; suggestion: string | null }>({
    severity: 'error',
    title: 'unknown method',
    message: (a) => `${a.type} has no method \`${a.method}\`${orElse(a.suggestion)}`,
    hint: (a) => proposal(a.suggestion),
    doc: 'A method is called that values of the type do not have. The call would give nil.',
  }),
  T081: entry<{ type: string; property: string; suggestion: string | null; known?: readonly string[] }>({
    severity: 'error',
    title: 'unknown property',
    message: (a) => `${a.type} has no property \`${a.property}\`${orElse(a.suggestion)}`,
    hint: (a) => (a.suggestion === null && a.known !== undefined ? `it has: ${a.known.join(', ')}` : proposal(a.suggestion)),
    doc: 'A property is read that values of the type do not have. It would be nil, or an error.',
  }),
  T082: entry<{ name: string; expected: string; actual: number }>({
    severity: 'error',
    title: 'number of arguments',
    message: (a) => `\`${a.name}\` takes ${a.expected}, got ${a.actual}`,
    hint: () => 'missing arguments are nil, extra ones are ignored',
    doc: 'A call passes more or fewer arguments than the function, method or variant takes.',
  }),
  T083: entry<{ name: string; param: string; expected: string; actual: string }>({
    severity: 'error',
    title: 'argument that cannot be right',
    message: (a) => `\`${a.name}\` takes ${a.expected} for \`${a.param}\`, got ${a.actual}`,
    doc: 'An argument has a type that the function or method does nothing useful with.',
  }),
  T084: entry<{ name: string; key: string; suggestion: string | null }>({
    severity: 'error',
    title: 'unknown option',
    message: (a) => `\`${a.name}\` has no option \`${a.key}\`${orElse(a.suggestion)}`,
    hint: (a) => proposal(a.suggestion),
    doc: 'A dict of options has a key that nobody reads.',
  }),
  T085: entry<{ name: string; key: string; expected: string; actual: string }>({
    severity: 'error',
    title: 'option of another type',
    message: (a) => `option \`${a.key}\` of \`${a.name}\` is ${a.expected}, got ${a.actual}`,
    doc: 'An option has a value of a type that it cannot have.',
  }),
  T086: entry<{ left: string; right: string; operator: string }>({
    severity: 'error',
    title: 'comparison that never changes',
    message: (a) =>
      `${a.left} and ${a.right} are never equal: \`${a.operator}\` is always ${a.operator === '==' ? 'false' : 'true'}`,
    hint: () => 'convert one side, such as with `to_int` or `to_string`',
    doc: 'Two values are compared whose types can never be equal.',
  }),
  T087: entry<{ type: string }>({
    severity: 'error',
    title: 'loop over what has no items',
    message: (a) => `cannot loop over ${a.type}`,
    hint: (a) => (a.type === 'int' ? 'write `for i in 0 to n exclusive` to count' : undefined),
    doc: 'A `for` loop runs over a value that has no items.',
  }),
  T088: entry<{ name: string; type: string }>({
    severity: 'error',
    title: 'call of what is no function',
    message: (a) => `\`${a.name}\` is ${a.type} and cannot be called`,
    doc: 'A variable is called whose value is no function.',
  }),
  T089: entry<{ name: string }>({
    severity: 'error',
    title: 'use of a result that is always nil',
    message: (a) => `\`${a.name}\` returns no value, so its result is always nil`,
    hint: () => 'add a `return` to the function, or call it as a statement',
    doc: 'The result of a function without a `return` of a value is used in an expression.',
  }),
  T090: entry<{ item: string | null; type: string }>({
    severity: 'error',
    title: 'search for what is never there',
    message: (a) => `${a.item ?? 'nothing'} is ${a.item === null ? 'ever' : 'never'} in ${a.type}`,
    hint: (a) => (a.item === null ? 'the right side of `in` is a list, set, dict, string or range' : undefined),
    doc: 'A value is asked for something that it cannot hold. The answer is always false.',
  }),
  T091: entry<{ type: string; key: string | null; field: string | null }>({
    severity: 'error',
    title: 'index that cannot be right',
    message: (a) => (a.key === null ? `${a.type} has no items to index` : `an index of ${a.type} is int, got ${a.key}`),
    hint: (a) => (a.field === null ? undefined : `a field is read with a dot: \`.${a.field}\``),
    doc: 'A value is indexed that has no items, or with a key that it cannot have. A run raises an error at this place.',
  }),
  T092: entry<{ name: string; given: number; actual: number; advice?: string }>({
    severity: 'error',
    title: 'callback with parameters that get nothing',
    message: (a) =>
      `\`${a.name}\` calls its function with ${a.given === 1 ? '1 argument' : `${a.given} arguments`}, not ${a.actual}`,
    hint: (a) => a.advice ?? (a.given === 1 ? 'use `.enumerate()` for positions: each item is then `{index, value}`' : undefined),
    doc: 'A function that is called for each item has more parameters than it is called with. The others are always nil.',
  }),
  T093: entry<{ what: string }>({
    severity: 'error',
    title: 'operator that cannot take this',
    message: (a) => a.what,
    doc: 'An operator stands with a value that it always fails with.',
  }),
  T094: entry<{ name: string; suggestion: string }>({
    severity: 'error',
    title: 'unknown name of a type',
    message: (a) => `\`type_of\` never gives "${a.name}"${orElse(a.suggestion)}`,
    hint: (a) => proposal(a.suggestion),
    doc: 'The result of `type_of` is compared with a text that is no name of a type.',
  }),
  T095: entry<{ name: string; operator: string }>({
    severity: 'error',
    title: 'operand that may be nil',
    message: (a) => `\`${a.name}\` may be nil, with which \`${a.operator}\` fails`,
    hint: (a) => `test it before, or write \`(${a.name} ?? …)\``,
    doc: 'The type of a variable allows nil, and nothing asks for that before an operator takes it.',
  }),
  T097: entry<{ what: 'provider' | 'model'; name: string; suggestion: string }>({
    severity: 'warning',
    title: 'name of a provider or model that looks misspelt',
    message: (a) => `no ${a.what} is known as \`${a.name}\`${orElse(a.suggestion)}`,
    hint: (a) => proposal(a.suggestion),
    doc: 'An option names a service or a model that is not known, and nearly one that is. Services that the host or the script registers may have any name.',
  }),
  T098: entry<{ name: string; suggestion: string }>({
    severity: 'warning',
    title: 'name of a tool that looks misspelt',
    message: (a) => `no tool is declared as \`${a.name}\`${orElse(a.suggestion)}`,
    hint: (a) => proposal(a.suggestion),
    doc: 'A call by name names no tool of the script or of the host, and nearly one of the script. A registry of the run may have it.',
  }),
  T099: entry<{ type: string; method: string }>({
    severity: 'error',
    title: 'function of a type',
    message: (a) => `\`${a.type}\` is a struct, and \`${a.method}\` is called on its values only`,
    hint: (a) => `make a value by \`${a.type} {field: value}\`, or write a function beside it`,
    doc: 'A method is called on the name of a struct. Types have no functions of their own: the call gives nil.',
  }),
  T100: entry<{ type: string }>({
    severity: 'error',
    title: 'part of a value that has no parts',
    message: (a) => `nothing is changed: ${a.type} has no part that can be assigned here`,
    hint: (a) =>
      a.type === 'string'
        ? 'make a new string: `"X" + s.substring(1)`, `s.replace("old", "new")`'
        : 'positions of a list are ints, keys belong to dicts, fields are assigned with a dot',
    doc: 'An index is assigned of a value that has no such part. A run goes on and changes nothing.',
  }),
  T101: entry<{ tool: string; name: string; known: readonly string[]; suggestion: string | null }>({
    severity: 'warning',
    title: 'argument that a tool does not declare',
    message: (a) => `the handler reads \`${a.name}\`, which is no parameter of \`${a.tool}\`${orElse(a.suggestion)}`,
    hint: (a) =>
      proposal(a.suggestion) ?? (a.known.length === 0 ? 'the tool has no parameters' : `it has: ${a.known.join(', ')}`),
    doc: 'The handler of a tool reads an argument that the parameters of the tool do not name. A model is never told of it, so that it is nil.',
  }),
  T102: entry<{ program: string }>({
    severity: 'warning',
    title: 'command line in place of a program',
    message: (a) => `there is no program called \`${a.program}\`: arguments are passed one by one`,
    hint: () => 'write `exec("git", "status")`, or `shell("git status")` for a command line',
    doc: '`exec` starts one program without a shell. Its first argument is the name of the program, the further ones are its arguments.',
  }),
  T103: entry<{ type: string; field: string | null }>({
    severity: 'warning',
    title: 'condition that is always true',
    message: (a) => `${a.type} is always true`,
    hint: (a) =>
      a.type === 'Result'
        ? 'ask `is_ok(…)`'
        : a.field === null
          ? 'compare it with something'
          : `ask one of its fields, such as \`.${a.field}\``,
    doc: 'A condition is a result or a record, which counts as true whatever it holds. What is meant is one of its fields, or `is_ok(…)`.',
  }),
  T104: entry<{ type: string; instead: string | null; isLoop: boolean }>({
    severity: 'error',
    title: 'pattern of another form',
    message: (a) => `${a.isLoop ? 'an item of the loop is' : 'the value is'} ${a.type}, which this pattern does not take apart`,
    hint: (a) => (a.instead === null ? '`(a, b)` is for pairs, `[a, b]` for lists, `{key}` for dicts' : `write \`${a.instead}\``),
    doc: 'A pattern of `let` or `for` takes apart a value of another form. `(a, b)` gives nil for both names then; `[a, b]` and `{key}` fail.',
  }),
  T105: entry<{ type: string; isKnown: boolean }>({
    severity: 'error',
    title: 'catch that catches nothing',
    message: (a) =>
      `\`catch (e: ${a.type})\` catches nothing: ${a.isKnown ? `\`${a.type}\` is` : `there is`} no enum${a.isKnown ? '' : ` \`${a.type}\``}`,
    hint: () => 'a type there is the enum whose values are caught; without one everything is',
    doc: 'The type of a `catch` is the name of an enum. Values that are no variant of it, such as strings, dicts and structs, are thrown on.',
  }),
  T096: entry<{ length: number }>({
    severity: 'error',
    title: 'position behind the end',
    message: (a) => `the list has ${a.length} ${a.length === 1 ? 'item' : 'items'}: there is nothing at this position`,
    hint: () => 'positions count from 0',
    doc: 'A list is indexed at a position that it does not have. The result is always nil.',
  }),
} as const
