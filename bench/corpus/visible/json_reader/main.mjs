// A JSON reader and writer in the language itself: characters, recursion, dicts and lists.

const isSpace = (c) => c === ' ' || c === '\n' || c === '\t' || c === '\r'

class Reader {
  constructor(text) {
    this.text = text
    this.at = 0
  }

  parse() {
    const value = this.value()
    this.skip()
    if (this.at !== this.text.length) throw new Error(`unexpected ${this.text[this.at]} at ${this.at}`)
    return value
  }

  skip() {
    while (this.at < this.text.length && isSpace(this.text[this.at])) this.at++
  }

  value() {
    this.skip()
    switch (this.text[this.at]) {
      case '{':
        return this.object()
      case '[':
        return this.array()
      case '"':
        return this.string()
      case 't':
        this.at += 4
        return true
      case 'f':
        this.at += 5
        return false
      case 'n':
        this.at += 4
        return null
      default:
        return this.number()
    }
  }

  object() {
    const result = {}
    this.at++
    this.skip()
    while (this.text[this.at] !== '}') {
      const key = this.string()
      this.skip()
      if (this.text[this.at] !== ':') throw new Error(`expected : at ${this.at}`)
      this.at++
      result[key] = this.value()
      this.skip()
      if (this.text[this.at] === ',') {
        this.at++
        this.skip()
      }
    }
    this.at++
    return result
  }

  array() {
    const items = []
    this.at++
    this.skip()
    while (this.text[this.at] !== ']') {
      items.push(this.value())
      this.skip()
      if (this.text[this.at] === ',') this.at++
    }
    this.at++
    return items
  }

  string() {
    let out = ''
    this.at++
    while (this.text[this.at] !== '"') {
      if (this.text[this.at] === '\\') {
        this.at++
        out += this.text[this.at] === 'n' ? '\n' : this.text[this.at]
      } else {
        out += this.text[this.at]
      }
      this.at++
    }
    this.at++
    return out
  }

  number() {
    const start = this.at
    if (this.text[this.at] === '-') this.at++
    while ((this.text[this.at] >= '0' && this.text[this.at] <= '9') || this.text[this.at] === '.') this.at++
    if (start === this.at) throw new Error(`no value at ${start}`)
    return Number(this.text.slice(start, this.at))
  }
}

function quote(text) {
  let out = '"'
  for (const c of text) {
    if (c === '"' || c === '\\') out += '\\'
    out += c
  }
  return `${out}"`
}

function write(value) {
  if (value === null) return 'null'
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (typeof value !== 'object') return String(value)
  const keys = Object.keys(value).sort()
  return `{${keys.map((key) => `${quote(key)}:${write(value[key])}`).join(',')}}`
}

function makeDocument(size) {
  const items = []
  for (let i = 0; i < size; i++)
    items.push(
      `{"id": ${i}, "name": "item \\"${i}\\"", "tags": ["a${i % 7}", "b", null], "price": ${i * 3}.25, "on": ${i % 2 === 0}}`,
    )
  return `{ "count" : ${size},\n "items": [${items.join(', ')}], "meta": {"empty": [], "none": {}, "neg": -12} }`
}

export function run(n) {
  const document = new Reader(makeDocument(n)).parse()
  const again = write(document)
  const twice = write(new Reader(again).parse())
  let sum = 0
  for (const item of document.items) sum += item.id + item.name.length + Math.floor(item.price * 4)
  return `json_reader ${again.length} ${sum} ${again === twice}`
}
