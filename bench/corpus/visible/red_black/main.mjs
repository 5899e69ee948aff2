// A red-black tree whose nodes are enum values; insertion builds the changed path anew.

class Node {
  constructor(isRed, left, key, right) {
    this.isRed = isRed
    this.left = left
    this.key = key
    this.right = right
  }
}

const red = (tree) => tree !== null && tree.isRed

function contains(tree, key) {
  while (tree !== null) {
    if (key === tree.key) return true
    tree = key < tree.key ? tree.left : tree.right
  }
  return false
}

function split(a, x, b, y, c, z, d) {
  return new Node(true, new Node(false, a, x, b), y, new Node(false, c, z, d))
}

function balance(isRed, left, key, right) {
  if (!isRed && red(left)) {
    const { left: a, key: x, right: b } = left
    if (red(a)) return split(a.left, a.key, a.right, x, b, key, right)
    if (red(b)) return split(a, x, b.left, b.key, b.right, key, right)
  }
  if (!isRed && red(right)) {
    const { left: c, key: y, right: d } = right
    if (red(c)) return split(left, key, c.left, c.key, c.right, y, d)
    if (red(d)) return split(left, key, c, y, d.left, d.key, d.right)
  }
  return new Node(isRed, left, key, right)
}

function add(tree, key) {
  if (tree === null) return new Node(true, null, key, null)
  if (key < tree.key) return balance(tree.isRed, add(tree.left, key), tree.key, tree.right)
  if (key > tree.key) return balance(tree.isRed, tree.left, tree.key, add(tree.right, key))
  return tree
}

function insert(tree, key) {
  const { left, key: here, right } = add(tree, key)
  return new Node(false, left, here, right)
}

function keys(tree) {
  const out = []
  const stack = []
  let current = tree
  while (current !== null || stack.length > 0) {
    while (current !== null) {
      stack.push(current)
      current = current.left
    }
    current = stack.pop()
    out.push(current.key)
    current = current.right
  }
  return out
}

const height = (tree) => (tree === null ? 0 : 1 + Math.max(height(tree.left), height(tree.right)))

export function run(n) {
  let tree = null
  let seed = 5
  for (let i = 0; i < n; i++) {
    seed = (seed * 16807) % 2147483647
    tree = insert(tree, seed % (n * 3))
  }
  let hits = 0
  for (let key = 0; key < n * 3; key++) if (contains(tree, key)) hits++
  const sorted = keys(tree)
  let sum = 0
  for (let i = 1; i < sorted.length; i++) {
    if (sorted[i - 1] >= sorted[i]) throw new Error(`not in order at ${i}`)
    sum = (sum * 31 + sorted[i]) % 1000003
  }
  return `red_black ${sorted.length} ${hits} ${height(tree)} ${sum}`
}
