// A trie of words in nested dicts: insertion, completion, deletion and wildcards.

const PARTS = ['re', 'co', 'in', 'de', 'un', 'form', 'port', 'act', 'ter', 'ing', 'ed', 'er']

class Node {
  constructor() {
    this.count = 0
    this.children = new Map()
  }

  sorted() {
    return [...this.children].sort(([a], [b]) => (a < b ? -1 : 1))
  }
}

function insert(trie, word) {
  let node = trie
  for (const c of word) {
    let child = node.children.get(c)
    if (child === undefined) {
      child = new Node()
      node.children.set(c, child)
    }
    node = child
  }
  node.count++
}

function remove(node, word, at = 0) {
  if (at === word.length) {
    node.count = 0
    return
  }
  const child = node.children.get(word[at])
  if (child === undefined) return
  remove(child, word, at + 1)
  if (child.count === 0 && child.children.size === 0) node.children.delete(word[at])
}

function countWords(node) {
  let count = node.count > 0 ? 1 : 0
  for (const child of node.children.values()) count += countWords(child)
  return count
}

function collect(node, prefix, out) {
  if (node.count > 0) out.push(prefix)
  for (const [c, child] of node.sorted()) collect(child, prefix + c, out)
  return out
}

function complete(trie, prefix) {
  let node = trie
  for (const c of prefix) {
    node = node.children.get(c)
    if (node === undefined) return []
  }
  return collect(node, prefix, [])
}

function matchWild(node, pattern, at = 0) {
  if (at === pattern.length) return node.count > 0 ? 1 : 0
  if (pattern[at] !== '?') {
    const child = node.children.get(pattern[at])
    return child === undefined ? 0 : matchWild(child, pattern, at + 1)
  }
  let found = 0
  for (const child of node.children.values()) found += matchWild(child, pattern, at + 1)
  return found
}

export function run(n) {
  const words = []
  let seed = 2024
  for (let i = 0; i < n; i++) {
    let word = ''
    for (let part = 0; part < 3; part++) {
      seed = (seed * 16807) % 2147483647
      word += PARTS[seed % PARTS.length]
    }
    words.push(word)
  }
  const trie = new Node()
  for (const word of words) insert(trie, word)
  const size = countWords(trie)
  let lengths = 0
  for (const part of PARTS) for (const word of complete(trie, part)) lengths += word.length
  const wild = matchWild(trie, 're?o????') + matchWild(trie, '??????er')
  for (const word of words.slice(0, Math.trunc(n / 2))) remove(trie, word)
  return `trie ${size} ${lengths} ${wild} ${countWords(trie)} ${complete(trie, 'in').slice(0, 2).join(',')}`
}
