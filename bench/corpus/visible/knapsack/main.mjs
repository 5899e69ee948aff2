// What to pack: a table over weights, and a search with bounds over items sorted by worth.

function makeItems(count) {
  let seed = 11
  const items = []
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    const weight = (seed % 23) + 3
    seed = (seed * 16807) % 2147483647
    items.push({ name: `item${i}`, weight, value: (seed % 40) + weight })
  }
  return items
}

function bestByTable(items, capacity) {
  const rows = [Array(capacity + 1).fill(0)]
  items.forEach((item, i) => {
    const previous = rows[i]
    const next = [...previous]
    for (let w = item.weight; w <= capacity; w++) {
      const taken = previous[w - item.weight] + item.value
      if (taken > next[w]) next[w] = taken
    }
    rows.push(next)
  })
  const packed = []
  let left = capacity
  for (let i = items.length; i > 0; i--) {
    if (rows[i][left] !== rows[i - 1][left]) {
      packed.push(items[i - 1].name)
      left -= items[i - 1].weight
    }
  }
  return { value: rows[items.length][capacity], packed }
}

function bound(items, start, capacity) {
  let room = capacity
  let sum = 0
  let at = start
  while (at < items.length && items[at].weight <= room) {
    room -= items[at].weight
    sum += items[at].value
    at++
  }
  return at < items.length ? sum + Math.trunc((items[at].value * room) / items[at].weight) : sum
}

function visit(items, at, room, value, state) {
  state.visited++
  if (value > state.value) state.value = value
  if (at === items.length || value + bound(items, at, room) <= state.value) return
  const item = items[at]
  if (item.weight <= room) visit(items, at + 1, room - item.weight, value + item.value, state)
  visit(items, at + 1, room, value, state)
}

export function run(n) {
  const items = makeItems(n)
  const capacity = n * 8
  const table = bestByTable(items, capacity)
  const sorted = items.slice(0, Math.min(n, 24)).sort((a, b) => b.value / b.weight - a.value / a.weight)
  const search = { value: 0, visited: 0 }
  visit(sorted, 0, Math.trunc(capacity / 3), 0, search)
  return `knapsack ${table.value} ${table.packed.length} ${table.packed[0]} ${search.value} ${search.visited}`
}
