// Tokens, a parser by binding power, and an evaluator over enum nodes.

const isDigit = (c) => c >= '0' && c <= '9'
const isLetter = (c) => (c >= 'a' && c <= 'z') || c === '_'

function tokenize(text) {
  const tokens = []
  let at = 0
  while (at < text.length) {
    const c = text[at]
    if (c === ' ') {
      at++
    } else if (isDigit(c)) {
      let number = 0
      while (at < text.length && isDigit(text[at])) number = number * 10 + Number(text[at++])
      tokens.push({ kind: 'number', text: String(number), value: number })
    } else if (isLetter(c)) {
      const start = at
      while (at < text.length && isLetter(text[at])) at++
      tokens.push({ kind: 'name', text: text.slice(start, at), value: null })
    } else {
      tokens.push({ kind: 'symbol', text: c, value: null })
      at++
    }
  }
  tokens.push({ kind: 'end', text: '', value: null })
  return tokens
}

const POWER = new Map([
  ['+', 10],
  ['-', 10],
  ['*', 20],
  ['/', 20],
])

class Parser {
  constructor(tokens) {
    this.tokens = tokens
    this.at = 0
  }

  parse() {
    const node = this.binary(0)
    if (this.tokens[this.at].kind !== 'end') throw new Error(`unexpected ${this.tokens[this.at].text}`)
    return node
  }

  binary(least) {
    let left = this.prefix()
    for (;;) {
      const operator = this.tokens[this.at].text
      const power = POWER.get(operator) ?? 0
      if (power <= least) return left
      this.at++
      left = { kind: 'binary', operator, left, right: this.binary(power) }
    }
  }

  prefix() {
    const token = this.tokens[this.at++]
    if (token.kind === 'number') return { kind: 'number', value: token.value }
    if (token.kind === 'name') return { kind: 'name', name: token.text }
    if (token.text === '-') return { kind: 'negate', operand: this.binary(30) }
    if (token.text === '(') {
      const inner = this.binary(0)
      if (this.tokens[this.at].text !== ')') throw new Error(`expected ) but found ${this.tokens[this.at].text}`)
      this.at++
      return inner
    }
    throw new Error(`unexpected ${token.text}`)
  }
}

function apply(operator, a, b) {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      return Math.trunc(a / b)
    default:
      throw new Error(`no operator ${operator}`)
  }
}

function evaluate(node, names) {
  switch (node.kind) {
    case 'number':
      return node.value
    case 'name':
      return names[node.name]
    case 'negate':
      return 0 - evaluate(node.operand, names)
    default:
      return apply(node.operator, evaluate(node.left, names), evaluate(node.right, names))
  }
}

function simplify(node) {
  if (node.kind === 'negate') {
    const inner = simplify(node.operand)
    return inner.kind === 'number' ? { kind: 'number', value: 0 - inner.value } : { kind: 'negate', operand: inner }
  }
  if (node.kind !== 'binary') return node
  const { operator } = node
  const a = simplify(node.left)
  const b = simplify(node.right)
  const x = a.kind === 'number' ? a.value : null
  const y = b.kind === 'number' ? b.value : null
  if (x !== null && y !== null) return { kind: 'number', value: apply(operator, x, y) }
  if (operator === '*' && (x === 0 || y === 0)) return { kind: 'number', value: 0 }
  if ((operator === '*' && x === 1) || (operator === '+' && x === 0)) return b
  if ((operator === '*' && y === 1) || (operator === '+' && y === 0)) return a
  return { kind: 'binary', operator, left: a, right: b }
}

function countNodes(node) {
  if (node.kind === 'negate') return 1 + countNodes(node.operand)
  return node.kind === 'binary' ? 1 + countNodes(node.left) + countNodes(node.right) : 1
}

export function run(n) {
  let total = 0
  let nodes = 0
  let before = 0
  for (let i = 1; i <= n; i++) {
    const text = `(${i} + x * ${(i % 9) + 1}) * (y - ${i}) + 0 * x + ${i * 17} / (2 + ${i % 5}) - -3 * (1 * y)`
    const tree = new Parser(tokenize(text)).parse()
    const small = simplify(tree)
    before += countNodes(tree)
    nodes += countNodes(small)
    for (let x = 0; x <= 5; x++) {
      const names = { x, y: i - x }
      total = (total * 31 + evaluate(small, names)) % 1000003
      if (evaluate(tree, names) !== evaluate(small, names)) throw new Error(`simplify changed ${text}`)
    }
  }
  return `calculator ${total} ${before} ${nodes}`
}
