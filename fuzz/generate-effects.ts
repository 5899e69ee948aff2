// Random programs that pass functions through parameters, dicts, lists, results, pipes, methods, nested functions and
// tasks to builtins with effects. Every effect of such a program must be in its manifest.

import type { Random } from './random.js'

/** Calls with an effect; they may fail, which the programs catch. */
const EFFECTS = [
  'uuid()',
  'now_ms()',
  'env("A")',
  'read_file("a")',
  'write_file("a", "b")',
  'file_exists("a")',
  'exec("ls")',
  'http_get("http://example.com/")',
  'host_tool_call("search", {})',
  'host_call("workspace.list", {})',
  'read_line()',
  'random()',
  'store_get("k")',
  'list_dir(".")',
  'eprintln("x")',
]
const AS_VALUES = ['uuid', 'now_ms', 'env', 'read_file', 'file_exists', 'eprintln', 'to_string', 'len']

export function generateEffects(random: Random): string {
  return new EffectsGenerator(random).program()
}

class EffectsGenerator {
  private readonly random: Random
  private readonly lines: string[] = []
  private readonly functions: string[] = []
  private names = 0

  constructor(random: Random) {
    this.random = random
  }

  program(): string {
    const { random } = this
    for (let at = random.between(2, 5); at > 0; at--) this.functions.push(`f${at}`)
    this.lines.push('struct Box { f: closure }', 'impl Box {', `  fn open(self, g) { ${this.body(['self', 'g'], 2)} }`, '}')
    for (const name of this.functions)
      this.lines.push(`fn ${name}(a, g) {`, `  if a > 3 { return nil }`, this.body(['a', 'g'], 3), '}')
    this.lines.push(`let top = ${this.closure([], 2)}`)
    if (random.oneIn(2)) this.lines.push('pipeline default(task) {', this.body(['top'], 3), '}')
    else this.lines.push(this.body(['top'], 3))
    return `${this.lines.join('\n')}\n`
  }

  private body(names: readonly string[], depth: number): string {
    const seen = [...names]
    const lines: string[] = []
    for (let count = this.random.between(1, 3); count > 0; count--) lines.push(this.statement(seen, depth))
    return lines.join('\n')
  }

  private statement(seen: string[], depth: number): string {
    const { random } = this
    const name = `v${this.names++}`
    const caught = (text: string): string => `try { ${text} } catch (e) { println("!") }`
    switch (random.below(depth > 0 ? 12 : 3)) {
      case 0:
      case 1:
        return caught(random.pick(EFFECTS))
      case 2:
        return caught(`${random.pick(seen)}(${this.value(seen, 0)})`)
      case 3: {
        const line = `let ${name} = ${this.value(seen, depth - 1)}`
        seen.push(name)
        return line
      }
      case 4:
        return caught(
          `let ${name} = {run: ${this.value(seen, depth - 1)}, map: ${this.value(seen, 0)}}\n${name}.${random.pick(['run', 'map'])}(${deeper(seen)})`,
        )
      case 5:
        return caught(
          `[1, 2].${random.pick(['map', 'filter', 'each', 'find', 'any', 'sort_by', 'flat_map'])}(${this.value(seen, depth - 1)})`,
        )
      case 6:
        return caught(`${random.pick(this.functions)}(${deeper(seen)}, ${this.value(seen, depth - 1)})`)
      case 7:
        return caught(`1 |> ${random.oneIn(2) ? this.closure(seen, depth - 1) : random.pick(seen)}`)
      case 8: {
        const line = `fn ${name}(x) {\n${this.body([...seen, 'x'], depth - 1)}\n}`
        seen.push(name)
        return line
      }
      case 9:
        return caught(`let ${name} = spawn { ${this.statement([...seen], depth - 1)} }\nawait(${name})`)
      case 10:
        if (seen[0] === 'self') return caught(random.pick(EFFECTS))
        return caught(`Box {f: ${this.value(seen, depth - 1)}}.${random.pick(['open', 'f'])}(${this.value(seen, 0)})`)
      default:
        return caught(`parallel each [1] { x -> ${this.statement([...seen, 'x'], depth - 1)} }`)
    }
  }

  /** Something that may be called. */
  private value(seen: readonly string[], depth: number): string {
    const { random } = this
    switch (random.below(depth > 0 ? 7 : 3)) {
      case 0:
        return random.pick(seen)
      case 1:
        return random.pick(AS_VALUES)
      case 2:
        return random.pick(this.functions)
      case 3:
        return `(true ? ${this.value(seen, depth - 1)} : ${this.value(seen, depth - 1)})`
      case 4:
        return `[${this.value(seen, depth - 1)}][0]`
      case 5:
        return `{k: ${this.value(seen, depth - 1)}}.k`
      default:
        return this.closure(seen, depth)
    }
  }

  private closure(seen: readonly string[], depth: number): string {
    if (depth <= 0) return `{ x -> ${this.random.pick(EFFECTS)} }`
    if (this.random.oneIn(3)) return `{ x -> ${this.closure([...seen, 'x'], depth - 1)} }`
    return `{ x ->\n${this.body([...seen, 'x'], depth - 1)}\n}`
  }
}

/** One level deeper, so that recursive calls end. */
function deeper(seen: readonly string[]): string {
  return seen.includes('a') ? 'a + 1' : '1'
}
