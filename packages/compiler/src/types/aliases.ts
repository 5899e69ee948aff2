// Follows type aliases. Only the head is resolved; parts are resolved on demand, which keeps recursive
// aliases finite. A union given to a generic alias distributes: `Box<"a" | "b">` is `Box<"a"> | Box<"b">`.

import type { AliasInfo, Scope } from './scope.js'
import { substitute, type Type, makeUnion } from './type.js'

/** More instances than this of one distributed alias are not built; the name stays. */
const MAX_INSTANCES = 512

/** The type behind an alias at the head; a name that leads back to itself is kept. */
export function resolveHead(type: Type, scope: Scope): Type {
  const seen = new Set<string>()
  let at = type
  while (at.kind === 'named' || at.kind === 'applied') {
    if (seen.has(at.name) || scope.isTypeParam(at.name)) return at
    const alias = scope.alias(at.name)
    if (alias === undefined) return at
    const next = instantiate(at, alias, scope)
    if (next === null) return at
    seen.add(at.name)
    at = next
  }
  return at
}

/** The members of a union with each member's head resolved; null when the type is not a union. */
export function resolveMembers(type: Type, scope: Scope): readonly Type[] | null {
  const head = resolveHead(type, scope)
  return head.kind === 'union' ? head.members.map((member) => resolveHead(member, scope)) : null
}

function instantiate(type: Extract<Type, { kind: 'named' | 'applied' }>, alias: AliasInfo, scope: Scope): Type | null {
  if (type.kind === 'named') return alias.params.length === 0 ? alias.body : null
  if (alias.params.length !== type.args.length || alias.params.length === 0) return null
  const choices = type.args.map((arg) => {
    const head = resolveHead(arg, scope)
    return head.kind === 'union' ? head.members : [arg]
  })
  const count = choices.reduce((product, members) => product * members.length, 1)
  if (count > MAX_INSTANCES) return null
  let combinations: Type[][] = [[]]
  for (const members of choices) combinations = combinations.flatMap((row) => members.map((member) => [...row, member]))
  return makeUnion(
    combinations.map((args) => {
      return substitute(alias.body, new Map(alias.params.map((param, at) => [param, args[at] ?? type])))
    }),
  )
}
