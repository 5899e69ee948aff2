// THE table of findings about effect rows and grants, in the row form of the parser's catalogue. The names
// in the titles are those of Lumen.

import { entry } from '@bridle/parser'

export const EFFECT_CATALOG = {
  E001: entry<{ fn: string; effect: string; cause: string }>({
    severity: 'error',
    title: 'UndeclaredEffect',
    message: (a) => `'${a.fn}' has effect '${a.effect}', which its row does not list (${a.cause})`,
    hint: (a) => `add \`${a.effect}\` to \`@effects(...)\`, or remove the call`,
    doc: 'A function with an `@effects(...)` row does something that the row does not list. A row is a contract; a function without one is never reported.',
  }),
  E002: entry<{ fn: string; callee: string; effect: string }>({
    severity: 'error',
    title: 'EffectContractViolation',
    message: (a) => `'${a.fn}' calls ${a.callee}, whose effect '${a.effect}' is not in the row of '${a.fn}'`,
    hint: (a) => `add \`${a.effect}\` to \`@effects(...)\`, or remove the call`,
    doc: 'A function with an `@effects(...)` row calls a tool, or a function with a row of its own, that promises an effect which the caller does not.',
  }),
  E003: entry<{ fn: string; effect: string }>({
    severity: 'error',
    title: 'MissingEffectGrant',
    message: (a) => `'${a.fn}' has effect '${a.effect}', and no grant in scope allows it`,
    hint: (a) => `add a \`@grant("...", effect: ${a.effect})\`, or remove the effect`,
    doc:
      'Grants in scope of this function are limited to certain effects, and it has an effect that none of them covers. A grant without ' +
      'an effect clause covers what its own tool does. A function none of whose grants has an effect clause is never reported.',
  }),
  E004: entry<{ name: string }>({
    severity: 'error',
    title: 'UndefinedTool',
    message: (a) => `\`@bind_effect\` names tool '${a.name}', which is not declared`,
    hint: () => 'define the tool with `tool_define`, or correct the name',
    doc: 'An effect is bound to a tool that the program neither defines nor calls.',
  }),
  E005: entry<{ fn: string; operation: string; effect: string }>({
    severity: 'warning',
    title: 'NondeterministicOperation',
    message: (a) => `'${a.fn}' is declared deterministic, but has effect '${a.effect}' (${a.operation})`,
    doc: 'A function under `@deterministic` depends on something that a second run may find changed. Reported by strict effect checks.',
  }),
  E006: entry<{ fn: string; cause: string }>({
    severity: 'error',
    title: 'unknown effect',
    message: (a) => `the row of '${a.fn}' cannot be checked: ${a.cause}`,
    hint: () => 'call a function by its name, take it as a parameter, or remove the row',
    doc: 'A function with an `@effects(...)` row calls a value of which nothing is known, such as one read from a dict.',
  }),
  E007: entry<{ fn: string; effect: string }>({
    severity: 'info',
    title: 'effect that cannot occur',
    message: (a) => `'${a.fn}' lists effect '${a.effect}', which cannot occur`,
    hint: (a) => `remove \`${a.effect}\` from \`@effects(...)\``,
    doc: 'Nothing that the function reaches has the listed effect. Reported by strict effect checks.',
  }),
  E008: entry<{ effect: string; cause: string }>({
    severity: 'error',
    title: 'effect above the ceiling',
    message: (a) => `the program can reach effect '${a.effect}', which the host does not allow (${a.cause})`,
    doc: 'The host gave a ceiling of effects, and the program can do more. It is refused before anything runs.',
  }),
}

export type EffectCode = keyof typeof EFFECT_CATALOG
