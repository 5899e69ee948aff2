// Number representations, each in the smallest generic setting: an operator with unknown operand types, on cells of one array.
// Int work: sum = (sum + i * 3) % 1000003. Float work: x = x * 0.999 + y. Returns nanoseconds per iteration.

import { warmTime } from '../timing.js'

const TURNS = 300_000

class Float {
  readonly v: number
  constructor(v: number) {
    this.v = v
  }
}
class Tagged {
  readonly tag: 'int' | 'float'
  readonly value: number
  constructor(tag: 'int' | 'float', value: number) {
    this.tag = tag
    this.value = value
  }
}

type Cell = number | bigint | Float | Tagged
type Operator = (x: Cell, y: Cell) => Cell
interface Operators {
  readonly add: Operator
  readonly multiply: Operator
  readonly modulo: Operator
}

function refuse(): never {
  throw new Error('mixed operands')
}

const numberOrBox: Operators = {
  add: (x, y) => {
    if (typeof x === 'number' && typeof y === 'number') {
      const sum = x + y
      return (sum | 0) === sum
        ? sum | 0
        : sum <= Number.MAX_SAFE_INTEGER && sum >= -Number.MAX_SAFE_INTEGER
          ? sum
          : BigInt(x) + BigInt(y)
    }
    return x instanceof Float && y instanceof Float ? new Float(x.v + y.v) : refuse()
  },
  multiply: (x, y) => {
    if (typeof x === 'number' && typeof y === 'number') {
      const product = x * y
      return (product | 0) === product
        ? product | 0
        : product <= Number.MAX_SAFE_INTEGER && product >= -Number.MAX_SAFE_INTEGER
          ? product
          : BigInt(x) * BigInt(y)
    }
    return x instanceof Float && y instanceof Float ? new Float(x.v * y.v) : refuse()
  },
  modulo: (x, y) => (typeof x === 'number' && typeof y === 'number' ? x % y : refuse()),
}

const bigints: Operators = {
  add: (x, y) => (typeof x === 'bigint' && typeof y === 'bigint' ? BigInt.asIntN(64, x + y) : refuse()),
  multiply: (x, y) => (typeof x === 'bigint' && typeof y === 'bigint' ? BigInt.asIntN(64, x * y) : refuse()),
  modulo: (x, y) => (typeof x === 'bigint' && typeof y === 'bigint' ? x % y : refuse()),
}

function makeTagged(x: Cell, y: Cell, value: (a: number, b: number) => number): Tagged {
  if (!(x instanceof Tagged) || !(y instanceof Tagged) || x.tag !== y.tag) return refuse()
  return new Tagged(x.tag, value(x.value, y.value))
}

const tagged: Operators = {
  add: (x, y) => makeTagged(x, y, (a, b) => a + b),
  multiply: (x, y) => makeTagged(x, y, (a, b) => a * b),
  modulo: (x, y) => makeTagged(x, y, (a, b) => a % b),
}

const raw: Operators = {
  add: (x, y) => (x as number) + (y as number),
  multiply: (x, y) => (x as number) * (y as number),
  modulo: (x, y) => (x as number) % (y as number),
}

function nanosecondsATurn(body: string, operators: Operators, lift: (value: number) => Cell): number {
  // Only for a function made from source does V8 collect separate feedback each time.
  // oxlint-disable-next-line typescript/no-implied-eval
  const loop = new Function('add', 'multiply', 'modulo', 'regs', 'turns', body) as (
    add: Operator,
    multiply: Operator,
    modulo: Operator,
    regs: Cell[],
    turns: number,
  ) => void
  const regs = [lift(0), lift(0), lift(1), lift(3), lift(1000003), lift(0.5), lift(0.999)]
  const work = (): void => loop(operators.add, operators.multiply, operators.modulo, regs, TURNS)
  work()
  work()
  return (warmTime(work) * 1e6) / TURNS
}

const INT_WORK = `for (let k = 0; k < turns; k++) {
  regs[0] = modulo(add(regs[0], multiply(regs[1], regs[3])), regs[4])
  regs[1] = add(regs[1], regs[2])
}`
const FLOAT_WORK = 'for (let k = 0; k < turns; k++) regs[0] = add(multiply(regs[0], regs[6]), regs[5])'

export function measureValues(): Record<string, number> {
  const number = (value: number): Cell => value
  const int = (value: number): Cell => BigInt(Math.trunc(value))
  return {
    'int: raw numbers without checks (limit), ns': nanosecondsATurn(INT_WORK, raw, number),
    'int: number, bigint past ±2^53, ns': nanosecondsATurn(INT_WORK, { ...numberOrBox }, number),
    'int: bigint, wrapped at 64 bits, ns': nanosecondsATurn(INT_WORK, bigints, int),
    'int: object with tag and value, ns': nanosecondsATurn(INT_WORK, tagged, (value) => new Tagged('int', value)),
    'float: raw numbers (limit), ns': nanosecondsATurn(FLOAT_WORK, raw, number),
    'float: box, ns': nanosecondsATurn(FLOAT_WORK, { ...numberOrBox }, (value) => new Float(value)),
    'float: object with tag and value, ns': nanosecondsATurn(FLOAT_WORK, tagged, (value) => new Tagged('float', value)),
  }
}
