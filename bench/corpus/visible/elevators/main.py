class Elevator:
    def __init__(self, id):
        self.id = id
        self.floor = 0
        self.direction = 0
        self.riders = []
        self.travelled = 0
        self.served = 0

    def is_idle(self):
        return self.direction == 0

    def distance_to(self, floor):
        return abs(self.floor - floor)

    def send_to(self, floor):
        self.direction = 1 if floor > self.floor else -1 if floor < self.floor else 0

    def board(self, passenger):
        self.riders.append(passenger)
        self.direction = 1 if passenger["to"] > self.floor else -1

    def unload(self):
        staying = [rider for rider in self.riders if rider["to"] != self.floor]
        self.served += len(self.riders) - len(staying)
        self.riders = staying
        if not staying:
            self.direction = 0

    def step(self, top):
        if self.direction != 0:
            self.floor += self.direction
            self.travelled += 1
        if self.floor <= 0 and self.direction < 0 or self.floor >= top and self.direction > 0:
            self.direction = -self.direction


class Building:
    def __init__(self, elevators, floors):
        self.floors = floors
        self.elevators = [Elevator(id) for id in range(elevators)]
        self.waiting = []
        self.waited = 0
        self.seed = 7

    def random(self, limit):
        self.seed = self.seed * 16807 % 2147483647
        return self.seed % limit

    def tick(self, time):
        for _ in range(self.random(3)):
            start = self.random(self.floors)
            to = self.random(self.floors)
            if start != to:
                self.waiting.append({"from": start, "to": to, "since": time})
        for elevator in self.elevators:
            elevator.unload()
            still = []
            for passenger in self.waiting:
                if passenger["from"] == elevator.floor and len(elevator.riders) < 6:
                    elevator.board(passenger)
                    self.waited += time - passenger["since"]
                else:
                    still.append(passenger)
            self.waiting = still
        self.dispatch()
        for elevator in self.elevators:
            elevator.step(self.floors - 1)

    def dispatch(self):
        for passenger in self.waiting:
            best = None
            for candidate in self.elevators:
                if candidate.is_idle() and (
                    best is None or candidate.distance_to(passenger["from"]) < best.distance_to(passenger["from"])
                ):
                    best = candidate
            if best is None:
                break
            best.send_to(passenger["from"])

    def summary(self):
        served = sum(each.served for each in self.elevators)
        travelled = sum(each.travelled for each in self.elevators)
        return f"{served} {travelled} {self.waited} {len(self.waiting)}"


def work(n):
    building = Building(4, 20)
    for tick in range(n):
        building.tick(tick)
    return f"elevators {building.summary()}"
