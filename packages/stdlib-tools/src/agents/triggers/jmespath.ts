// Syntax check of JMESPath expressions, without evaluation. Manifests carry such expressions for
// events; a wrong one is an error of the manifest, not of the first event.

/** Maximum nesting; deeper expressions are refused before they overflow the stack. */
const MAX_DEPTH = 64
const MAX_LENGTH = 4096

interface Token {
  readonly kind: 'name' | 'quoted' | 'raw' | 'literal' | 'number' | 'mark' | 'end'
  readonly text: string
  readonly at: number
}

class SyntaxProblem extends Error {}

const MARKS = [
  '[?',
  '[]',
  '||',
  '&&',
  '==',
  '!=',
  '<=',
  '>=',
  '<',
  '>',
  '!',
  '|',
  '&',
  '.',
  ',',
  ':',
  '*',
  '@',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
]
const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<=', '>=', '<', '>'])

/** What is wrong with the text; null for an expression. */
export function findJmespathProblem(text: string): string | null {
  if (text.trim() === '') return 'the expression is empty'
  if (text.length > MAX_LENGTH) return `the expression has more than ${MAX_LENGTH} characters`
  try {
    const parser = new Parser(tokenize(text))
    parser.readExpression()
    parser.expect('end')
    return null
  } catch (cause) {
    if (cause instanceof SyntaxProblem) return cause.message
    throw cause
  }
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const start = at
    const first = text[at]!
    if (' \t\r\n'.includes(first)) {
      at++
      continue
    }
    const kind = first === '"' ? 'quoted' : first === "'" ? 'raw' : first === '`' ? 'literal' : null
    if (kind !== null) {
      at = findQuoteEnd(text, at)
      const inner = text.slice(start + 1, at - 1)
      if (kind === 'literal') checkLiteral(inner.replaceAll('\\`', '`'), start)
      if (kind === 'quoted') checkLiteral(`"${inner}"`, start)
      tokens.push({ kind, text: inner, at: start })
      continue
    }
    if (isNameStart(first)) {
      while (at < text.length && (isNameStart(text[at]!) || isDigit(text[at]!))) at++
      tokens.push({ kind: 'name', text: text.slice(start, at), at: start })
      continue
    }
    if (isDigit(first) || (first === '-' && isDigit(text[at + 1] ?? ''))) {
      at++
      while (isDigit(text[at] ?? '')) at++
      tokens.push({ kind: 'number', text: text.slice(start, at), at: start })
      continue
    }
    const mark = MARKS.find((each) => text.startsWith(each, at))
    if (mark === undefined) throw new SyntaxProblem(`unexpected ${JSON.stringify(first)} at character ${at + 1}`)
    at += mark.length
    tokens.push({ kind: 'mark', text: mark, at: start })
  }
  tokens.push({ kind: 'end', text: '', at: text.length })
  return tokens
}

function isNameStart(character: string): boolean {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character === '_'
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9'
}

/** Behind the closing mark; a backslash takes the next character along. */
function findQuoteEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === text[start]) return at + 1
  }
  throw new SyntaxProblem(`the ${text[start]} at character ${start + 1} is not closed`)
}

function checkLiteral(text: string, at: number): void {
  try {
    JSON.parse(text)
  } catch {
    throw new SyntaxProblem(`the literal at character ${at + 1} is no JSON`)
  }
}

class Parser {
  private readonly tokens: readonly Token[]
  private at = 0
  private depth = 0

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens
  }

  /** Pipes bind weakest, then `||`, `&&`, comparisons, `!`. */
  readExpression(): void {
    if (++this.depth > MAX_DEPTH) throw new SyntaxProblem(`the expression is nested deeper than ${MAX_DEPTH}`)
    do this.readAlternatives()
    while (this.take('|'))
    this.depth--
  }

  expect(wanted: string): void {
    const token = this.peek()
    if (wanted === 'end' ? token.kind === 'end' : this.take(wanted)) return
    throw new SyntaxProblem(
      token.kind === 'end'
        ? `the expression ends where ${wanted} is expected`
        : `unexpected ${JSON.stringify(token.text)} at character ${token.at + 1}`,
    )
  }

  private readAlternatives(): void {
    do {
      do this.readComparison()
      while (this.take('&&'))
    } while (this.take('||'))
  }

  private readComparison(): void {
    this.readNegated()
    if (this.peek().kind !== 'mark' || !COMPARISONS.has(this.peek().text)) return
    this.at++
    this.readNegated()
  }

  private readNegated(): void {
    while (this.take('!'));
    this.readPrimary()
    while (this.readSuffix());
  }

  private readPrimary(): void {
    const token = this.peek()
    if (token.kind === 'name') {
      this.at++
      if (this.take('(')) this.readArguments()
      return
    }
    if (token.kind === 'quoted' || token.kind === 'raw' || token.kind === 'literal') {
      this.at++
      return
    }
    if (this.take('@') || this.take('*') || this.take('[]')) return
    if (this.take('(')) {
      this.readExpression()
      this.expect(')')
      return
    }
    if (this.peek().text === '[' && this.isIndex()) {
      this.readIndex()
      return
    }
    if (this.take('[')) {
      this.readList(']')
      return
    }
    if (this.take('{')) {
      this.readHash()
      return
    }
    if (this.take('[?')) {
      this.readExpression()
      this.expect(']')
      return
    }
    this.expect('an expression')
  }

  private readSuffix(): boolean {
    if (this.take('.')) {
      this.readMember()
      return true
    }
    if (this.take('[]')) return true
    if (this.take('[?')) {
      this.readExpression()
      this.expect(']')
      return true
    }
    if (this.peek().text !== '[' || this.peek().kind !== 'mark') return false
    this.readIndex()
    return true
  }

  private readMember(): void {
    const token = this.peek()
    if (token.kind === 'name') {
      this.at++
      if (this.take('(')) this.readArguments()
    } else if (token.kind === 'quoted') this.at++
    else if (this.take('*')) return
    else if (this.take('[')) this.readList(']')
    else if (this.take('{')) this.readHash()
    else this.expect('a name')
  }

  /** Whether the bracket in front holds a number, a slice or `*`, rather than a list of expressions. */
  private isIndex(): boolean {
    const next = this.tokens[this.at + 1]!
    return next.kind === 'number' || next.text === ':' || (next.text === '*' && this.tokens[this.at + 2]?.text === ']')
  }

  private readIndex(): void {
    this.expect('[')
    if (!this.take('*')) {
      let colons = 0
      let numbers = this.takeNumber() ? 1 : 0
      while (colons < 2 && this.take(':')) {
        colons++
        if (this.takeNumber()) numbers++
      }
      if (colons === 0 && numbers === 0) this.expect('a number')
    }
    this.expect(']')
  }

  private readList(end: string): void {
    do this.readExpression()
    while (this.take(','))
    this.expect(end)
  }

  private readHash(): void {
    do {
      const { kind } = this.peek()
      if (kind !== 'name' && kind !== 'quoted') this.expect('a name')
      this.at++
      this.expect(':')
      this.readExpression()
    } while (this.take(','))
    this.expect('}')
  }

  private readArguments(): void {
    if (this.take(')')) return
    do {
      this.take('&')
      this.readExpression()
    } while (this.take(','))
    this.expect(')')
  }

  private peek(): Token {
    return this.tokens[this.at]!
  }

  private take(mark: string): boolean {
    const token = this.peek()
    if (token.kind !== 'mark' || token.text !== mark) return false
    this.at++
    return true
  }

  private takeNumber(): boolean {
    if (this.peek().kind !== 'number') return false
    this.at++
    return true
  }
}
