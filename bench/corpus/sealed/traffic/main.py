class Car:
    def __init__(self, id, lane, at, limit):
        self.id = id
        self.lane = lane
        self.at = at
        self.speed = 0
        self.limit = limit


class Road:
    def __init__(self, lanes, length, count):
        self.lanes = lanes
        self.length = length
        self.cells = [[-1] * length for _ in range(lanes)]
        self.cars = []
        self.changes = 0
        self.seed = 12345
        for id in range(count):
            lane, at = id % lanes, id * 4 % length
            self.cells[lane][at] = id
            self.cars.append(Car(id, lane, at, 3 + id % 3))

    def random(self, limit):
        self.seed = self.seed * 16807 % 2147483647
        return self.seed % limit

    def gap(self, lane, at, far):
        for distance in range(1, far + 1):
            if self.cells[lane][(at + distance) % self.length] >= 0:
                return distance - 1
        return far

    def change_lane(self, car):
        if self.gap(car.lane, car.at, car.speed + 1) > car.speed:
            return
        for other in (car.lane - 1, car.lane + 1):
            if 0 <= other < self.lanes and self.cells[other][car.at] < 0 and self.gap(other, car.at, car.speed + 2) > car.speed:
                self.cells[car.lane][car.at] = -1
                self.cells[other][car.at] = car.id
                car.lane = other
                self.changes += 1
                return

    def step(self):
        passed = 0
        for car in self.cars:
            self.change_lane(car)
        for car in self.cars:
            speed = min(car.speed + 1, car.limit)
            speed = min(speed, self.gap(car.lane, car.at, speed))
            if speed > 0 and self.random(10) == 0:
                speed -= 1
            at = (car.at + speed) % self.length
            if at < car.at:
                passed += 1
            self.cells[car.lane][car.at] = -1
            self.cells[car.lane][at] = car.id
            car.at = at
            car.speed = speed
        return passed


def work(n):
    road = Road(3, 200, 45)
    passed = sum(road.step() for _ in range(n))
    total = 1
    for car in road.cars:
        total = (total * 31 + car.at * 3 + car.lane) % 1000003
    return f"traffic {passed} {sum(car.speed for car in road.cars)} {road.changes} {total}"
