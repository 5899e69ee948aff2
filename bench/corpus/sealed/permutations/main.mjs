// Permutations, subsets and partitions, as lists of lists, in several ways.

function heapPermutations(items) {
  const list = [...items]
  const counters = items.map(() => 0)
  const out = [[...list]]
  let i = 0
  while (i < list.length) {
    if (counters[i] < i) {
      const other = i % 2 === 0 ? 0 : counters[i]
      ;[list[other], list[i]] = [list[i], list[other]]
      out.push([...list])
      counters[i]++
      i = 0
    } else {
      counters[i] = 0
      i++
    }
  }
  return out
}

function nextPermutation(items) {
  let i = items.length - 2
  while (i >= 0 && items[i] >= items[i + 1]) i--
  if (i < 0) return null
  let j = items.length - 1
  while (items[j] <= items[i]) j--
  const list = [...items]
  ;[list[i], list[j]] = [list[j], list[i]]
  return [...list.slice(0, i + 1), ...list.slice(i + 1).reverse()]
}

function subsets(items) {
  if (items.length === 0) return [[]]
  const rest = subsets(items.slice(1))
  return [...rest, ...rest.map((set) => [items[0], ...set])]
}

function partitions(total, most) {
  if (total === 0) return [[]]
  const out = []
  for (let first = Math.min(total, most); first > 0; first--)
    for (const rest of partitions(total - first, first)) out.push([first, ...rest])
  return out
}

function checksum(lists) {
  let sum = 7
  for (const list of lists) for (const item of list) sum = (sum * 31 + item) % 1000003
  return sum
}

export function run(n) {
  const items = [0, 1, 2, 3, 4]
  let sum = 0
  let count = 0
  for (let round = 0; round < n; round++) {
    const all = heapPermutations(items.map((item) => item + round))
    count += all.length
    sum = (sum + checksum(all)) % 1000003
    for (let current = items; current !== null; current = nextPermutation(current))
      sum = (sum * 3 + current[0] * 10 + current[4]) % 1000003
    const sets = subsets([3, 1, 4, 1, 5, round])
    const parts = partitions(11, 11)
    count += sets.length + parts.length
    sum = (sum + checksum(sets) + checksum(parts)) % 1000003
  }
  return `permutations ${count} ${sum}`
}
