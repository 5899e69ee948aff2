// Shared by the checks of uses: types of expressions, their run-time kinds, suggestions, and whether a value fits a declared type.

import {
  type Expr,
  type ExprOf,
  type ImplDecl,
  type Param,
  type Program,
  type Stmt,
  type TypeExpr,
  findMemberHabit,
  listMemberHabits,
} from '@bridle/parser'
import { resolveHead } from '../../aliases.js'
import { fits } from '../../relate.js'
import { type Known, type Type, isNamed, readType } from '../../type.js'
import { nodesWithin } from '../../walk.js'
import { widen } from '../describe.js'
import type { Types } from '../infer.js'
import { type Kinds, isDisjoint, listKinds } from '../kinds.js'
import { OwnTools } from '../own-tools.js'
import { type Candidate, suggestName } from '../suggest.js'
import type { StrictWorld } from '../world.js'

/** Shared by the checks of one file. */
export class Uses {
  readonly world: StrictWorld
  readonly types: Types
  /** Methods that the file declares, by the name of their type. */
  readonly impls = new Map<string, Map<string, ImplDecl['methods'][number]>>()
  readonly ownTools: OwnTools
  private knownKeys: ReadonlySet<string> | null = null
  private readonly kindsOfTypes = new Map<Type, Kinds | null>()
  private readonly readTypes = new Map<TypeExpr, Type>()

  constructor(world: StrictWorld, types: Types) {
    this.world = world
    this.types = types
    this.ownTools = new OwnTools(world)
    for (const item of world.program.items) if (item.kind === 'ImplDecl') this.addImpl(item)
  }

  private addImpl(decl: ImplDecl): void {
    let table = this.impls.get(decl.name.text)
    if (table === undefined) this.impls.set(decl.name.text, (table = new Map()))
    for (const method of decl.methods) table.set(method.name.text, method)
  }

  /** Keys that occur in dict literals or assignments of the file. */
  get keys(): ReadonlySet<string> {
    this.knownKeys ??= listKeys(this.world.program)
    return this.knownKeys
  }

  kinds(type: Known): Kinds | null {
    if (type === null) return null
    let kinds = this.kindsOfTypes.get(type)
    if (kinds === undefined) this.kindsOfTypes.set(type, (kinds = listKinds(type, this.world.root)))
    return kinds
  }

  read(type: TypeExpr): Type {
    let found = this.readTypes.get(type)
    if (found === undefined) this.readTypes.set(type, (found = readType(type)))
    return found
  }

  suggest(name: string, candidates: Iterable<string>): string | null {
    const list: Candidate[] = []
    for (const each of candidates) list.push({ name: each, distance: 0 })
    return suggestName(name, list, this.world.budget)
  }

  /** Equivalents of other languages come before similar spellings. */
  suggestMember(name: string, known: ReadonlySet<string>): string | null {
    const habit = findMemberHabit(name)
    // If this kind has no equivalent, a similar spelling is not meant: `splice` is not `slice`.
    if (habit !== null) return habit.words.find((word) => known.has(word)) ?? null
    const meant = this.suggest(name, known)
    if (meant !== null) return meant
    // `lenght` is a typo of another language's name.
    const foreign = this.suggest(name, listMemberHabits())
    return foreign === null ? null : (findMemberHabit(foreign)?.words.find((word) => known.has(word)) ?? null)
  }

  /** No kind fits, or nil does not fit and was not tested for. */
  isMismatch(declared: Type, given: Type, arg: Expr): boolean {
    if (this.isOtherText(declared, arg) || this.lacksFields(declared, given) || this.isOtherFunction(declared, arg)) return true
    if (fits(declared, given, this.world.root)) return false
    const wanted = this.kinds(declared)
    const actual = this.kinds(given)
    if (wanted === null || actual === null) return false
    if (isDisjoint(widen(wanted), actual)) return true
    if (given.kind !== 'union' || !actual.has('nil') || wanted.has('nil') || arg.kind !== 'Identifier') return false
    const decl = this.types.target(arg)
    const rest: Type = { kind: 'union', members: given.members.filter((member) => !isNamed(member, 'nil')) }
    return decl !== undefined && decl.kind === 'let' && !decl.isTested && fits(declared, rest, this.world.root)
  }

  /** A string outside the listed ones. */
  isOtherText(declared: Type, arg: Expr): boolean {
    if (arg.kind !== 'String') return false
    const head = resolveHead(declared, this.world.root)
    const members = (head.kind === 'union' ? head.members : [head]).map((member) => resolveHead(member, this.world.root))
    return members.every((member) => (member.kind === 'string-literal' ? member.value !== arg.value : isNamed(member, 'nil')))
  }

  /** A dict literal in which a key is missing, or has a value of another type. */
  lacksFields(declared: Type, given: Type): boolean {
    const wanted = resolveHead(declared, this.world.root)
    if (wanted.kind !== 'shape' || given.kind !== 'shape' || !this.types.isClosed(given)) return false
    return wanted.fields.some(({ name, type, optional }) => {
      const own = given.fields.find((field) => field.name === name)
      const kinds = this.kinds(type)
      if (own === undefined) return !optional && kinds !== null && !kinds.has('nil')
      const actual = this.kinds(own.type)
      return kinds !== null && actual !== null && isDisjoint(widen(kinds), actual)
    })
  }

  /** A closure with more parameters than it is called with. */
  isOtherFunction(declared: Type, arg: Expr): boolean {
    const wanted = resolveHead(declared, this.world.root)
    if (wanted.kind !== 'fn') return false
    const params = this.paramsOf(arg)?.filter((param) => param.defaultValue === null && !param.rest)
    return params !== undefined && params.length > wanted.params.length
  }

  paramsOf(value: Expr): readonly Param[] | null {
    if (value.kind === 'Closure') return value.params
    const decl = value.kind === 'Identifier' ? this.types.target(value) : undefined
    if (decl?.stmt?.kind === 'FnDecl') return decl.stmt.params
    return decl?.kind === 'let' && decl.value?.kind === 'Closure' ? decl.value.params : null
  }
}

function listKeys(program: Program): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const node of nodesWithin(program, () => true)) {
    if (node.kind === 'Dict') {
      for (const entry of (node as ExprOf<'Dict'>).entries) if (entry.kind === 'named') keys.add(entry.key.text)
    } else if (node.kind === 'Assign') {
      const { target } = node as Extract<Stmt, { kind: 'Assign' }>
      if (target.kind === 'Member') keys.add(target.property.text)
      if (target.kind === 'Index' && target.index.kind === 'String') keys.add(target.index.value)
    }
  }
  return keys
}
