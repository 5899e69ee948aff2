// Orders go lazily through filters, maps and windows; closures carry the settings.

const REGIONS = ['north', 'east', 'south']

function* orders(count) {
  let seed = 23
  for (let id = 0; id < count; id++) {
    seed = (seed * 16807) % 2147483647
    yield { id, region: REGIONS[seed % 3], cents: seed % 5000 }
  }
}

function* filter(source, test) {
  for (const item of source) if (test(item)) yield item
}

function* map(source, change) {
  for (const item of source) yield change(item)
}

function* skip(source, count) {
  let left = count
  for (const item of source) {
    if (left > 0) left--
    else yield item
  }
}

function* takeWhile(source, test) {
  for (const item of source) {
    if (!test(item)) return
    yield item
  }
}

function* take(source, count) {
  let left = count
  if (left === 0) return
  for (const item of source) {
    yield item
    if (--left === 0) return
  }
}

function* zip(a, b) {
  for (const first of a) {
    const { value, done } = b.next()
    if (done) return
    yield [first, value]
  }
}

function* chunks(source, size) {
  let chunk = []
  for (const item of source) {
    chunk.push(item)
    if (chunk.length === size) {
      yield chunk
      chunk = []
    }
  }
  if (chunk.length > 0) yield chunk
}

function* runningMean(source, size) {
  const window = []
  for (const order of source) {
    window.push(order.cents)
    if (window.length > size) window.shift()
    if (window.length === size) yield Math.trunc(window.reduce((a, b) => a + b, 0) / size)
  }
}

const isLarge = (limit) => (order) => order.cents >= limit
const discount = (percent) => {
  const keep = 100 - percent
  return (order) => ({ ...order, cents: Math.trunc((order.cents * keep) / 100) })
}
const total = (items) => items.reduce((sum, item) => sum + item.cents, 0)

export function run(n) {
  const large = [...map(filter(orders(n), isLarge(2000)), discount(10))]
  const middle = takeWhile(skip(orders(n), Math.trunc(n / 4)), (order) => order.id < Math.trunc((n * 3) / 4))
  const some = [
    ...take(
      filter(middle, (order) => order.region === 'east'),
      100,
    ),
  ]
  const half = Math.trunc(n / 2)
  let rises = 0
  for (const [first, second] of zip(orders(half), skip(orders(half), 1))) if (second.cents > first.cents) rises++
  let sum = 0
  for (const mean of runningMean(orders(n), 5)) sum = (sum * 31 + mean) % 1000003
  let spread = 0
  for (const chunk of chunks(
    map(orders(n), (order) => order.cents),
    50,
  ))
    spread += Math.max(...chunk) - Math.min(...chunk)
  return `lazy_orders ${large.length} ${total(large)} ${total(some)} ${rises} ${sum} ${spread}`
}
