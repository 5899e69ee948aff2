class Animal:
    def __init__(self, is_fish, age):
        self.is_fish = is_fish
        self.age = age
        self.energy = 0 if is_fish else 6
        self.moved = False

    def breeds(self):
        return self.age >= (4 if self.is_fish else 9)


class Sea:
    def __init__(self, width, height):
        self.seed = 4711
        self.rows = []
        for _ in range(height):
            row = []
            for _ in range(width):
                dice = self.random(20)
                row.append(Animal(True, dice % 4) if dice < 6 else Animal(False, dice % 9) if dice == 6 else None)
            self.rows.append(row)

    def random(self, limit):
        self.seed = self.seed * 16807 % 2147483647
        return self.seed % limit

    def choose(self, places):
        return places[self.random(len(places))] if places else None

    def turn(self):
        rows = self.rows
        for row in rows:
            for animal in row:
                if animal is not None:
                    animal.moved = False
        for y in range(len(rows)):
            for x in range(len(rows[y])):
                animal = rows[y][x]
                if animal is not None and not animal.moved:
                    self.move(animal, y, x)

    def move(self, animal, y, x):
        rows = self.rows
        height, width = len(rows), len(rows[0])
        places = [((y + height - 1) % height, x), ((y + 1) % height, x), (y, (x + width - 1) % width), (y, (x + 1) % width)]
        prey = None
        if not animal.is_fish:
            prey = self.choose([p for p in places if rows[p[0]][p[1]] is not None and rows[p[0]][p[1]].is_fish])
        free = prey or self.choose([p for p in places if rows[p[0]][p[1]] is None])
        animal.age += 1
        animal.energy += 3 if prey else -1
        animal.moved = True
        if not animal.is_fish and animal.energy <= 0:
            rows[y][x] = None
        elif free is not None:
            rows[y][x] = None
            if animal.breeds():
                rows[y][x] = Animal(animal.is_fish, 0)
                rows[y][x].moved = True
                animal.age = 0
            rows[free[0]][free[1]] = animal

    def count(self):
        animals = [animal for row in self.rows for animal in row if animal is not None]
        fish = sum(1 for animal in animals if animal.is_fish)
        return fish, len(animals) - fish


def work(n):
    sea = Sea(24, 18)
    history = []
    for _ in range(n):
        sea.turn()
        history.append(sea.count())
    total = 0
    for fish, sharks in history:
        total = (total * 31 + fish * 5 + sharks) % 1000003
    return f"predators {history[-1][0]} {history[-1][1]} {max(fish for fish, _ in history)} {total}"
