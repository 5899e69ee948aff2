import math


class Vector:
    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z


class Body:
    def __init__(self, name, position, velocity, mass):
        self.name = name
        self.position = position
        self.velocity = velocity
        self.mass = mass


def make_system(count):
    bodies = [Body("sun", Vector(0.0, 0.0, 0.0), Vector(0.0, 0.0, 0.0), 1000.0)]
    for i in range(1, count + 1):
        distance = 10.0 + 5.0 * i
        speed = math.sqrt(1000.0 / distance)
        side = 1.0 if i % 2 == 0 else -1.0
        bodies.append(Body(f"planet {i}", Vector(distance * side, 0.0, 0.1 * i), Vector(0.0, speed * side, 0.0), 0.5 * i))
    return bodies


def advance(bodies, dt):
    for i, a in enumerate(bodies):
        for j in range(i + 1, len(bodies)):
            b = bodies[j]
            dx = a.position.x - b.position.x
            dy = a.position.y - b.position.y
            dz = a.position.z - b.position.z
            distance2 = dx * dx + dy * dy + dz * dz
            pull = dt / (distance2 * math.sqrt(distance2))
            by_other = b.mass * pull
            by_self = a.mass * pull
            a.velocity.x -= dx * by_other
            a.velocity.y -= dy * by_other
            a.velocity.z -= dz * by_other
            b.velocity.x += dx * by_self
            b.velocity.y += dy * by_self
            b.velocity.z += dz * by_self
    for body in bodies:
        body.position.x += dt * body.velocity.x
        body.position.y += dt * body.velocity.y
        body.position.z += dt * body.velocity.z


def total_energy(bodies):
    energy = 0.0
    for i, body in enumerate(bodies):
        v = body.velocity
        energy += 0.5 * body.mass * (v.x * v.x + v.y * v.y + v.z * v.z)
        for j in range(i + 1, len(bodies)):
            other = bodies[j]
            dx = body.position.x - other.position.x
            dy = body.position.y - other.position.y
            dz = body.position.z - other.position.z
            energy -= body.mass * other.mass / math.sqrt(dx * dx + dy * dy + dz * dz)
    return energy


def work(n):
    bodies = make_system(7)
    before = total_energy(bodies)
    for _ in range(n):
        advance(bodies, 0.002)
    x = mass = 0.0
    for body in bodies:
        x += body.position.x * body.mass
        mass += body.mass
    return f"planets {math.floor(before * 10000)} {math.floor(total_energy(bodies) * 10000)} {math.floor(x / mass * 10000)}"
