// A balanced tree kept in a list of structs: nodes are indices, rotations rewrite fields in place.

class Node {
  constructor(key, value) {
    this.key = key
    this.value = value
    this.left = null
    this.right = null
    this.height = 1
  }
}

const heightOf = (node) => (node === null ? 0 : node.height)
const balanceOf = (node) => heightOf(node.left) - heightOf(node.right)

class Tree {
  constructor() {
    this.root = null
    this.size = 0
    this.rotations = 0
  }

  find(key) {
    let node = this.root
    while (node !== null && node.key !== key) node = key < node.key ? node.left : node.right
    return node?.value
  }

  measure(node) {
    node.height = 1 + Math.max(heightOf(node.left), heightOf(node.right))
  }

  rotateRight(node) {
    const top = node.left
    node.left = top.right
    top.right = node
    this.rotations++
    this.measure(node)
    this.measure(top)
    return top
  }

  rotateLeft(node) {
    const top = node.right
    node.right = top.left
    top.left = node
    this.rotations++
    this.measure(node)
    this.measure(top)
    return top
  }

  rebalance(node) {
    this.measure(node)
    const balance = balanceOf(node)
    if (balance > 1) {
      if (balanceOf(node.left) < 0) node.left = this.rotateLeft(node.left)
      return this.rotateRight(node)
    }
    if (balance < -1) {
      if (balanceOf(node.right) > 0) node.right = this.rotateRight(node.right)
      return this.rotateLeft(node)
    }
    return node
  }

  add(node, key, value) {
    if (node === null) {
      this.size++
      return new Node(key, value)
    }
    if (key === node.key) {
      node.value += value
      return node
    }
    if (key < node.key) node.left = this.add(node.left, key, value)
    else node.right = this.add(node.right, key, value)
    return this.rebalance(node)
  }

  insert(key, value) {
    this.root = this.add(this.root, key, value)
  }
}

export function run(n) {
  const tree = new Tree()
  let seed = 321
  for (let i = 0; i < n; i++) {
    seed = (seed * 16807) % 2147483647
    tree.insert(seed % 2000, seed % 97)
  }
  let found = 0
  let sum = 0
  for (let key = 0; key < 2000; key++) {
    const value = tree.find(key)
    if (value === undefined) continue
    found++
    sum = (sum * 31 + key + value) % 1000003
  }
  return `heap_of_nodes ${tree.size} ${found} ${sum} ${heightOf(tree.root)} ${tree.rotations}`
}
