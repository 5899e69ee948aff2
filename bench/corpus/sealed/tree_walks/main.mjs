// Trees as enums, walked by generators, closures and an explicit stack; the walks are compared item by item.

class Branch {
  constructor(left, key, right) {
    this.left = left
    this.key = key
    this.right = right
  }
}

function insert(tree, key) {
  if (tree === null) return new Branch(null, key, null)
  return key < tree.key
    ? new Branch(insert(tree.left, key), tree.key, tree.right)
    : new Branch(tree.left, tree.key, insert(tree.right, key))
}

function build(count, start) {
  let tree = null
  let seed = start
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    tree = insert(tree, seed % 10000)
  }
  return tree
}

function* inOrder(tree) {
  const stack = []
  let current = tree
  while (current !== null || stack.length > 0) {
    while (current !== null) {
      stack.push(current)
      current = current.left
    }
    const node = stack.pop()
    yield node.key
    current = node.right
  }
}

function* leaves(tree) {
  if (tree === null) return
  if (tree.left === null && tree.right === null) {
    yield tree.key
  } else {
    yield* leaves(tree.left)
    yield* leaves(tree.right)
  }
}

function byClosure(tree, start, visit) {
  return tree === null ? start : byClosure(tree.right, visit(byClosure(tree.left, start, visit), tree.key), visit)
}

function rotate(tree) {
  if (tree === null || tree.right === null) return tree
  const { left, key, right } = tree
  return new Branch(new Branch(left, key, right.left), right.key, right.right)
}

function levels(tree) {
  const out = []
  let row = [tree]
  while (row.length > 0) {
    const keys = []
    const next = []
    for (const node of row) {
      if (node === null) continue
      keys.push(node.key)
      next.push(node.left, node.right)
    }
    if (keys.length > 0) out.push(keys)
    row = next
  }
  return out
}

function sameFringe(a, b) {
  const left = leaves(a)
  const right = leaves(b)
  for (;;) {
    const x = left.next()
    const y = right.next()
    if (x.done || y.done) return x.done === y.done
    if (x.value !== y.value) return false
  }
}

export function run(n) {
  const tree = build(n, 29)
  const step = (total, key) => (total * 31 + key) % 1000003
  let sum = 0
  for (const key of inOrder(tree)) sum = step(sum, key)
  const other = byClosure(tree, 0, step)
  const turned = rotate(tree)
  const widths = levels(tree).map((level) => level.length)
  let firsts = 0
  let taken = 0
  for (const key of inOrder(turned)) {
    if (key % 3 !== 0) continue
    firsts += key
    if (++taken === 20) break
  }
  const fringes = `${sameFringe(tree, tree)} ${sameFringe(tree, turned)}`
  return `tree_walks ${sum} ${other} ${fringes} ${Math.max(...widths)} ${widths.length} ${firsts}`
}
