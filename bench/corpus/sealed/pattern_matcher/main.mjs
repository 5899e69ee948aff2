// Regular expressions in the language: a parser to enum nodes and a matcher with continuations.

const PATTERNS = ['a*b+c?', '(ab|cd)*e', 'x.y|.*z', 'h(ello)+ w?orld', '(a|b|ab)*c', '[a-f]+[0-9]*g']
const TEXTS = ['aaabbc', 'abcdabe', 'x-y', 'hellohello world', 'ababababc', 'ffed09g', 'hello orld', 'aaab', 'abab', 'qz']

class Parser {
  constructor(text) {
    this.text = text
    this.at = 0
  }

  parse() {
    const node = this.choice()
    if (this.at !== this.text.length) throw new Error(`unexpected ${this.text[this.at]} at ${this.at}`)
    return node
  }

  choice() {
    const left = this.sequence()
    if (this.text[this.at] !== '|') return left
    this.at++
    return { kind: 'choice', left, right: this.choice() }
  }

  sequence() {
    const items = []
    while (this.at < this.text.length && this.text[this.at] !== '|' && this.text[this.at] !== ')') {
      let node = this.atom()
      const mark = this.text[this.at]
      if (mark === '*' || mark === '+' || mark === '?') {
        node = { kind: 'many', item: node, least: mark === '+' ? 1 : 0, most: mark === '?' ? 1 : 1000000 }
        this.at++
      }
      items.push(node)
    }
    return items.length === 1 ? items[0] : { kind: 'sequence', items }
  }

  atom() {
    const c = this.text[this.at++]
    if (c === '(') {
      const inner = this.choice()
      this.at++
      return inner
    }
    if (c === '[') {
      const ranges = []
      while (this.text[this.at] !== ']') {
        ranges.push([this.text[this.at], this.text[this.at + 2]])
        this.at += 3
      }
      this.at++
      return { kind: 'span', ranges }
    }
    return c === '.' ? { kind: 'any' } : { kind: 'character', c }
  }
}

function walk(node, text, at, next) {
  switch (node.kind) {
    case 'character':
      return at < text.length && text[at] === node.c && next(at + 1)
    case 'any':
      return at < text.length && next(at + 1)
    case 'span':
      return at < text.length && node.ranges.some(([low, high]) => text[at] >= low && text[at] <= high) && next(at + 1)
    case 'sequence':
      return walkItems(node.items, 0, text, at, next)
    case 'choice':
      return walk(node.left, text, at, next) || walk(node.right, text, at, next)
    default:
      return walkMany(node, 0, text, at, next)
  }
}

function walkItems(items, index, text, at, next) {
  if (index === items.length) return next(at)
  return walk(items[index], text, at, (end) => walkItems(items, index + 1, text, end, next))
}

function walkMany(node, count, text, at, next) {
  if (count < node.most && walk(node.item, text, at, (end) => end > at && walkMany(node, count + 1, text, end, next))) return true
  return count >= node.least && next(at)
}

export function run(n) {
  let hits = 0
  let sum = 0
  const nodes = PATTERNS.map((pattern) => new Parser(pattern).parse())
  for (let round = 0; round < n; round++) {
    nodes.forEach((node, p) =>
      TEXTS.forEach((text, t) => {
        const subject = round % 3 === 0 ? text : `${text}c`
        if (!walk(node, subject, 0, (end) => end === subject.length)) return
        hits++
        sum = (sum * 31 + p * 100 + t) % 1000003
      }),
    )
  }
  return `pattern_matcher ${hits} ${sum}`
}
