// Stock, orders and deliveries of a warehouse, day by day; shelves, orders and suppliers are structs.

const ARTICLES = ['bolt', 'nut', 'gear', 'belt', 'lamp', 'fuse', 'wire']

class Orders {
  constructor() {
    this.seed = 99
  }

  random(limit) {
    this.seed = (this.seed * 16807) % 2147483647
    return this.seed % limit
  }

  make(day) {
    const orders = []
    const count = 3 + this.random(5)
    for (let k = 0; k < count; k++) {
      const lines = []
      const size = 1 + this.random(3)
      for (let line = 0; line < size; line++) {
        const article = ARTICLES[this.random(7)]
        lines.push({ article, count: 1 + this.random(9) })
      }
      orders.push({ id: day * 10 + k, day, lines })
    }
    return orders
  }
}

class Stock {
  constructor(articles) {
    this.shelves = new Map(articles.map((article, index) => [article, { article, count: 20, price: 3 + index * 2, moved: 0 }]))
    this.deliveries = []
  }

  receive(day) {
    for (const delivery of this.deliveries) if (delivery.day === day) this.shelves.get(delivery.article).count += delivery.count
    this.deliveries = this.deliveries.filter((delivery) => delivery.day > day)
  }

  canServe(order) {
    return order.lines.every((line) => this.shelves.get(line.article).count >= line.count)
  }

  serve(order) {
    for (const line of order.lines) {
      const shelf = this.shelves.get(line.article)
      shelf.count -= line.count
      shelf.moved += line.count
    }
  }

  sorted() {
    return [...this.shelves.values()].sort((a, b) => (a.article < b.article ? -1 : 1))
  }

  reorder(day) {
    for (const { article, count, price } of this.shelves.values()) {
      const coming = this.deliveries
        .filter((delivery) => delivery.article === article)
        .reduce((sum, delivery) => sum + delivery.count, 0)
      if (count + coming < 15) this.deliveries.push({ article, count: 25, day: day + 1 + (price % 4) })
    }
  }
}

export function run(n) {
  const orders = new Orders()
  const stock = new Stock(ARTICLES)
  let open = []
  let shipped = 0
  let late = 0
  for (let day = 0; day < n; day++) {
    stock.receive(day)
    open.push(...orders.make(day))
    const left = []
    for (const order of open) {
      if (stock.canServe(order)) {
        stock.serve(order)
        shipped++
        if (day - order.day > 2) late++
      } else if (day - order.day < 9) {
        left.push(order)
      }
    }
    open = left
    stock.reorder(day)
  }
  const shelves = stock.sorted()
  const worth = shelves.reduce((sum, shelf) => sum + shelf.count * shelf.price, 0)
  const text = shelves.map((shelf) => `${shelf.article}=${shelf.count}/${shelf.moved}`).join(',')
  return `warehouse ${shipped} ${late} ${open.length} ${worth} ${text}`
}
