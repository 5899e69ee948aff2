// Tools that a script declares and calls by name: an unknown name that is nearly one of them is a typo. Hosts and
// registries of the run have tools that the source does not show, so any other name may be correct.

import type { ExprOf } from '@bridle/parser'
import { listOwnTools } from '../tools/file-tools.js'
import { BATCH, BY_NAME, hasRegistry } from '../tools/names.js'
import { suggestName } from './suggest.js'
import type { StrictWorld } from './world.js'

/** Literals that are not a dict of arguments. */
const NO_DICT: ReadonlyMap<string, string> = new Map([
  ['String', 'string'],
  ['Interpolation', 'string'],
  ['Int', 'int'],
  ['Float', 'float'],
  ['Bool', 'bool'],
  ['List', 'list'],
  ['Closure', 'closure'],
])

export class OwnTools {
  private readonly world: StrictWorld
  private readonly callers: ReadonlySet<string>
  private names: ReadonlySet<string> | null = null

  constructor(world: StrictWorld) {
    this.world = world
    this.callers = new Set(
      world.program.items.flatMap((item) => {
        if (item.kind !== 'ImportDecl' || item.path !== 'std/tools') return []
        return item.names?.map(({ text }) => text) ?? [...BY_NAME.keys()]
      }),
    )
  }

  check(call: ExprOf<'Call'>): void {
    const name = call.callee.text
    const [first, second] = call.args
    if (!this.callers.has(name) || !BY_NAME.has(name) || name === BATCH) return
    if (second?.spread === false && NO_DICT.has(second.value.kind)) {
      const { kind, span } = second.value
      this.world.report('T083', span, { name, param: 'args', expected: 'a dict', actual: NO_DICT.get(kind)! })
    }
    if (first === undefined || first.spread || first.value.kind !== 'String' || hasRegistry(call)) return
    this.names ??= listOwnTools(this.world.program)
    const { value, span, quote } = first.value
    if (this.names.has(value) || this.world.root.tools?.types.find(value) != null) return
    const candidates = [...this.names].map((each) => ({ name: each, distance: 0 as const }))
    const suggestion = suggestName(value, candidates, this.world.budget)
    if (suggestion === null) return
    const fix =
      quote === 'double' ? { title: `write "${suggestion}"`, edits: [{ span, text: JSON.stringify(suggestion) }] } : undefined
    this.world.report('T098', span, { name: value, suggestion }, fix)
  }
}
