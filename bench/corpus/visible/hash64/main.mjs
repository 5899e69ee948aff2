// 64-bit hashing that wraps around: a hash table with open addressing and a random generator.

const ALPHABET = ' -0123456789abcdefghijklmnopqrstuvwxyz'
const wrap = (n) => BigInt.asIntN(64, n)

function finish(h) {
  const upper = h / 4294967296n
  return wrap((h + upper) * -4417276706812531889n + upper)
}

function hashText(text) {
  let h = -3750763034362895579n
  for (const c of text) h = wrap((h + BigInt(ALPHABET.indexOf(c))) * 1099511628211n)
  return finish(h)
}

const mix = (a, b) => wrap(wrap(a * 31n + b) * -7046029254386353131n + 1n)

class Table {
  constructor(size) {
    this.names = Array(size).fill(null)
    this.values = Array(size).fill(0)
    this.size = size
    this.probes = 0
  }

  slot(key) {
    let at = Number(hashText(key) % BigInt(this.size))
    if (at < 0) at += this.size
    while (this.names[at] !== null && this.names[at] !== key) at = (at + 1) % this.size
    return at
  }

  add(key, amount) {
    const at = this.slot(key)
    if (this.names[at] === null) this.names[at] = key
    else this.probes++
    this.values[at] += amount
  }

  get(key) {
    return this.values[this.slot(key)]
  }

  keys() {
    return this.names.filter((name) => name !== null)
  }
}

export function run(n) {
  const table = new Table(n * 2)
  let state = 88172645463325252n
  for (let i = 0; i < n; i++) {
    state = wrap(state * 6364136223846793005n + 1442695040888963407n)
    table.add(`key ${state % 500n}`, i)
  }
  let sum = 14695981039346656n
  for (const key of table.keys()) sum = mix(sum, wrap(hashText(key) + BigInt(table.get(key))))
  return `hash64 ${table.keys().length} ${table.probes} ${finish(sum)}`
}
