// Markup is read into a tree of dicts, queried by path, changed and written again.

const ENTITIES = [
  ['&amp;', '&'],
  ['&gt;', '>'],
  ['&lt;', '<'],
  ['&quot;', '"'],
]

function makeMarkup(count) {
  let out = '<?doc version="1"?><library name="main">'
  for (let i = 0; i < count; i++) {
    out += `<book id="b${i}" lang="${i % 2 === 0 ? 'en' : 'pt'}"><title>Book ${i} &amp; more</title>`
    for (let a = 0; a < i % 3; a++) out += `<author>Author ${(i + a) % 9}</author>`
    out += `<price currency='EUR'>${i * 3 + 5}</price><stock/></book><!-- ${i} -->`
  }
  return `${out}</library>`
}

function decode(text) {
  if (!text.includes('&')) return text
  return ENTITIES.reduce((out, [entity, c]) => out.replaceAll(entity, c), text)
}

function parseTag(text) {
  const [name, ...words] = text.split(' ')
  const attributes = {}
  for (const word of words) {
    const parts = word.split('=')
    if (parts.length === 2) attributes[parts[0]] = decode(parts[1].slice(1, -1))
  }
  return { name, attributes, children: [] }
}

function parseMarkup(text) {
  const stack = [{ name: '', attributes: {}, children: [] }]
  const find = (part, from) => {
    const found = text.indexOf(part, from)
    return found < 0 ? text.length : found
  }
  let at = 0
  while (at < text.length) {
    const open = find('<', at)
    if (open > at) stack.at(-1).children.push(decode(text.slice(at, open)))
    if (open >= text.length) break
    if (text.startsWith('<!--', open)) {
      at = find('-->', open) + 3
      continue
    }
    const close = find('>', open)
    const inside = text.slice(open + 1, close)
    at = close + 1
    if (inside.startsWith('?')) continue
    if (inside.startsWith('/')) {
      const node = stack.pop()
      if (node.name !== inside.slice(1)) throw new Error(`${node.name} is closed by ${inside}`)
      stack.at(-1).children.push(node)
    } else if (inside.endsWith('/')) {
      stack.at(-1).children.push(parseTag(inside.slice(0, -1)))
    } else {
      stack.push(parseTag(inside))
    }
  }
  return stack[0].children[0]
}

function findAll(node, name) {
  if (typeof node === 'string') return []
  const below = node.children.flatMap((child) => findAll(child, name))
  return node.name === name ? [node, ...below] : below
}

const textOf = (node) => (typeof node === 'string' ? node : node.children.map(textOf).join(''))

function mapTree(node, change) {
  if (typeof node === 'string') return node
  return change({ ...node, children: node.children.map((child) => mapTree(child, change)) })
}

const encode = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function write(node) {
  if (typeof node === 'string') return encode(node)
  const names = Object.keys(node.attributes).sort((a, b) => (a < b ? -1 : 1))
  const attributes = names.map((name) => ` ${name}="${encode(node.attributes[name])}"`).join('')
  if (node.children.length === 0) return `<${node.name}${attributes}/>`
  return `<${node.name}${attributes}>${node.children.map(write).join('')}</${node.name}>`
}

export function run(n) {
  const tree = parseMarkup(makeMarkup(n))
  const books = findAll(tree, 'book')
  const authors = new Set(findAll(tree, 'author').map(textOf))
  const prices = findAll(tree, 'price').map((node) => Number(textOf(node)))
  const changed = mapTree(tree, (node) =>
    node.name === 'price' ? { ...node, attributes: { ...node.attributes, checked: 'yes' } } : node,
  )
  const text = write(changed)
  const again = parseMarkup(text)
  const total = prices.reduce((a, b) => a + b, 0)
  return `markup_reader ${books.length} ${authors.size} ${total} ${text.length} ${write(again) === text}`
}
