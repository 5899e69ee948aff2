ARTICLES = ["bolt", "nut", "gear", "belt", "lamp", "fuse", "wire"]


class Orders:
    def __init__(self):
        self.seed = 99

    def random(self, limit):
        self.seed = self.seed * 16807 % 2147483647
        return self.seed % limit

    def make(self, day):
        orders = []
        for _ in range(3 + self.random(5)):
            lines = []
            for _ in range(1 + self.random(3)):
                article = ARTICLES[self.random(7)]
                lines.append((article, 1 + self.random(9)))
            orders.append((day, lines))
        return orders


class Shelf:
    def __init__(self, article, price):
        self.article = article
        self.count = 20
        self.price = price
        self.moved = 0


class Stock:
    def __init__(self):
        self.shelves = {article: Shelf(article, 3 + index * 2) for index, article in enumerate(ARTICLES)}
        self.deliveries = []

    def receive(self, day):
        for article, count, due in self.deliveries:
            if due == day:
                self.shelves[article].count += count
        self.deliveries = [delivery for delivery in self.deliveries if delivery[2] > day]

    def can_serve(self, lines):
        return all(self.shelves[article].count >= count for article, count in lines)

    def serve(self, lines):
        for article, count in lines:
            shelf = self.shelves[article]
            shelf.count -= count
            shelf.moved += count

    def reorder(self, day):
        for shelf in self.shelves.values():
            coming = sum(count for article, count, _ in self.deliveries if article == shelf.article)
            if shelf.count + coming < 15:
                self.deliveries.append((shelf.article, 25, day + 1 + shelf.price % 4))


def work(n):
    orders = Orders()
    stock = Stock()
    waiting = []
    shipped = late = 0
    for day in range(n):
        stock.receive(day)
        waiting += orders.make(day)
        left = []
        for order in waiting:
            if stock.can_serve(order[1]):
                stock.serve(order[1])
                shipped += 1
                if day - order[0] > 2:
                    late += 1
            elif day - order[0] < 9:
                left.append(order)
        waiting = left
        stock.reorder(day)
    shelves = [stock.shelves[article] for article in sorted(ARTICLES)]
    worth = sum(shelf.count * shelf.price for shelf in shelves)
    text = ",".join(f"{shelf.article}={shelf.count}/{shelf.moved}" for shelf in shelves)
    return f"warehouse {shipped} {late} {len(waiting)} {worth} {text}"
