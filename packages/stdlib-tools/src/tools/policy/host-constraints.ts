// Constraints of grants that a host makes: `defineConstraint('maxRows', …)` gives `grant Query max_rows 100` in scripts, `@grant(…,
// max_rows: 100)` and `toolGrants: { 'db.query': { maxRows: 100 } }` the meaning that the host wants. It is asked where constraints
// of the language are: for literal calls when compiling, for every call before it is made, and again when a hook rewrote the arguments.
//
// The functions are part of the program: they must say the same for the same data, at every replay and after every restore.

import { keyKind } from '@bridle/compiler/grants'
import type { ConstrainedCall, ConstraintRule, ConstraintRules, GrantValue } from '@bridle/compiler/grants'
import { GrantError } from './grant-error.js'
import { compileSchema } from '../host-tools/schema.js'
import type { AnySchema, OutputOf } from '../host-tools/schema.js'
import { describeCause } from '../executors/provider.js'

export interface ConstraintDefinition<S extends AnySchema = AnySchema> {
  /** What the value of the constraint looks like; a grant with another one is refused when it is written, not when it is used. */
  readonly schema: S
  /**
   * Whether the call may be made: true or nothing when it may, false or a reason when not. `args` are the arguments as data, with defaults
   * and pinned values. What it throws refuses the call, too.
   */
  readonly check: (
    value: OutputOf<S>,
    args: { readonly [name: string]: unknown },
    call: ConstrainedCall,
  ) => boolean | string | null | undefined | void
  /** What two grants of one scope mean together; with `equal`, the default, two different ones are an error. */
  readonly merge?: ConstraintRule['merge']
}

/** For `constraints` of createRuntime. */
export interface Constraint {
  /** As scripts write it. */
  readonly key: string
  readonly rule: ConstraintRule
}

const toSnake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Raises GrantError for a name that is none, or that the language has a meaning for. */
export function defineConstraint<S extends AnySchema>(name: string, definition: ConstraintDefinition<S>): Constraint {
  const key = toSnake(name)
  if (!/^[a-z][a-z0-9_]*$/.test(key))
    throw new GrantError(`constraint "${name}": a name begins with a small letter; letters, digits and underscores follow`)
  const kind = keyKind(key)
  if ((kind !== 'pin' && kind !== 'limit') || key === 'timeout_ms' || key === 'temperature')
    throw new GrantError(`constraint "${name}": ${key} has a meaning of its own`)
  const schema = compileSchema(definition.schema)
  const read = (value: GrantValue): ReturnType<Exclude<typeof schema.check, undefined>> => schema.check(value)
  return {
    key,
    rule: {
      merge: definition.merge ?? 'equal',
      problem(value) {
        const checked = read(value)
        if (checked instanceof Promise) throw new GrantError(`constraint "${name}": its schema must answer at once`)
        return checked.ok ? null : `constraint is invalid: ${checked.reason}`
      },
      refuses(value, args, call) {
        const checked = read(value) as { readonly value: OutputOf<S> }
        let answer: ReturnType<typeof definition.check>
        try {
          answer = definition.check(checked.value, args, call)
        } catch (cause) {
          return `${key} could not be checked: ${describeCause(cause)}`
        }
        if (answer === false) return `${key} ${JSON.stringify(value)} does not allow the call`
        return typeof answer === 'string' ? answer : null
      },
    },
  }
}

/** By key. Raises GrantError when two have the same. */
export function makeConstraintRules(constraints: readonly Constraint[]): ConstraintRules | undefined {
  if (constraints.length === 0) return undefined
  const rules = new Map<string, ConstraintRule>()
  for (const { key, rule } of constraints) {
    if (rules.has(key)) throw new GrantError(`constraint "${key}" is defined twice`)
    rules.set(key, rule)
  }
  return rules
}

/** A key of a grant as scripts write it: `timeoutMs`, `max…` and constraints of the host; names of arguments stay as the tool has them. */
export function toGrantKey(key: string, rules: ConstraintRules | undefined): string {
  return key === 'timeoutMs' || /^max[A-Z]/.test(key) || rules?.has(toSnake(key)) === true ? toSnake(key) : key
}
