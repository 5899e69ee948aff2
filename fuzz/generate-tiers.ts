// Random programs for comparing tiers: a few functions, called in loops with arguments of several kinds, so that code is compiled
// with guesses, deoptimised and compiled again. Each program draws some families of statements and leaves the others out ("swarm
// testing": what is rare next to everything else is common in some programs), and stays short, because a short program finds the same
// bugs sooner.

import { KINDS, Scribe } from './tiers-values.js'
import { FAMILIES } from './tiers-statements.js'
import type { Random } from './random.js'
import type { Family } from './tiers-statements.js'
import type { Callable, Kind } from './tiers-values.js'

export function generateTiers(random: Random): string {
  return new TiersGenerator(random).program()
}

class TiersGenerator {
  private readonly random: Random
  private readonly g: Scribe
  private readonly families: readonly Family[]
  /** Remaining statements. */
  private budget: number

  constructor(random: Random) {
    this.random = random
    this.g = new Scribe(random)
    this.families = this.drawFamilies()
    this.budget = random.oneIn(8) ? random.between(20, 40) : random.between(5, 16)
  }

  program(): string {
    const { random, g } = this
    for (let at = random.between(1, 3); at > 0; at--) this.fn()
    const top = g.lines.splice(0)
    if (random.oneIn(3)) {
      const kind = random.pick(KINDS)
      g.declare(kind, g.expr(kind, 1))
      this.main()
    } else g.body('pipeline main()', null, () => this.main())
    return `${[...g.declarations(), ...top, ...g.lines].join('\n')}\n`
  }

  private drawFamilies(): readonly Family[] {
    const { random } = this
    const always = FAMILIES.filter(({ always: isIn }) => isIn === true)
    const others = FAMILIES.filter(({ always: isIn }) => isIn !== true)
    const drawn = Array.from({ length: random.between(2, 7) }, () => random.pick(others))
    return [...always, ...drawn]
  }

  private fn(): void {
    const { random, g } = this
    const name = `f${g.callables.length}`
    const params = Array.from({ length: random.between(1, 3) }, () => g.kind())
    const result = random.pick(KINDS)
    const optional = params.length > 1 && random.oneIn(5) ? 1 : 0
    const shown = params.map((kind, at) => {
      const typed =
        random.oneIn(7) && (kind === 'int' || kind === 'float' || kind === 'list') ? `: ${kind === 'float' ? 'float' : kind}` : ''
      return `p${at}${typed}${optional > 0 && at === params.length - 1 ? ` = ${g.literal(kind)}` : ''}`
    })
    const recursive: Callable | null = random.oneIn(5) && params[0] === 'int' ? { name, params, result, optional } : null
    const { variables } = g
    g.variables = []
    const head = `fn ${name}(${shown.join(', ')})`
    g.body(head, result, () => {
      params.forEach((kind, at) => g.bind(`p${at}`, kind))
      if (recursive !== null) g.write(`if p0 < 1 || p0 > 40 { return ${g.expr(result, 1)} }`)
      this.statements(random.between(0, 3), 2)
      if (recursive === null) g.write(`return ${g.expr(result, 2)}`)
      else {
        const again = `${name}(${['p0 - 1', ...params.slice(1).map((_, at) => `p${at + 1}`)].join(', ')})`
        if (random.oneIn(2)) g.write(`return ${again}`)
        else {
          g.write(`let r = ${again}`)
          g.bind('r', result)
          g.write(`return ${g.expr(result, 2)}`)
        }
      }
    })
    g.variables = variables
    g.callables.push({ name, params, result, optional })
  }

  private main(): void {
    const { random, g } = this
    for (const callable of g.callables) this.drive(callable)
    if (random.oneIn(2)) this.statements(random.between(1, 3), 2)
    for (const { name } of g.variables.slice(-4)) g.write(`println("\${${name}}")`)
  }

  /** Calls a function repeatedly, each time with another first argument. */
  private drive(callable: Callable): void {
    const { random, g } = this
    const [first] = callable.params
    const writeOperand = (kind: Kind): string => g.operand(kind, 1)
    const args = Array.from({ length: random.between(2, 5) }, () =>
      random.oneIn(9) ? writeOperand(random.pick(KINDS)) : writeOperand(first!),
    )
    g.block(`for each in [${args.join(', ')}]`, () => {
      g.write(`let a = ${g.hideType('each')}`)
      const rest = callable.params.slice(1, callable.params.length - (random.oneIn(3) ? callable.optional : 0))
      const call = `${callable.name}(${['a', ...rest.map((kind) => (random.oneIn(3) ? writeOperand(kind) : g.expr(kind, 0)))].join(', ')})`
      g.write(random.oneIn(6) ? `println(${call})` : `println(try { ${call} } catch (e) { "! \${e}" })`)
    })
  }

  // ---- statements

  private statements(count: number, depth: number): void {
    for (let left = count; left > 0; left--) this.statement(depth)
  }

  private statement(depth: number): void {
    const { random, g } = this
    if (this.budget-- <= 0) return g.write(`println("\${${g.any()}}")`)
    const rows = this.families.flatMap(({ rows: all }) => all.filter(({ deep }) => deep !== true || depth > 0))
    if (g.inLoop && random.oneIn(6)) {
      g.write(`if ${g.condition(1)} { ${random.pick(['break', 'continue'])} }`)
      return
    }
    if (g.result !== null && random.oneIn(12)) {
      g.write(`if ${g.condition(1)} { return ${g.expr(g.result, 1)} }`)
      return
    }
    if (g.yields && random.oneIn(2)) {
      g.write(`yield ${g.expr(random.pick(['int', 'float', 'string']), 1)}`)
      return
    }
    random.pick(rows).write(g, (most) => this.statements(random.between(1, most ?? 3), depth - 1))
  }
}
