// Bodies attract each other; each step writes the speeds of both partners in the list.

class Vector {
  constructor(x, y, z) {
    this.x = x
    this.y = y
    this.z = z
  }
}

class Body {
  constructor(name, position, velocity, mass) {
    this.name = name
    this.position = position
    this.velocity = velocity
    this.mass = mass
  }
}

function makeSystem(count) {
  const bodies = [new Body('sun', new Vector(0, 0, 0), new Vector(0, 0, 0), 1000)]
  for (let i = 1; i <= count; i++) {
    const distance = 10 + 5 * i
    const speed = Math.sqrt(1000 / distance)
    const side = i % 2 === 0 ? 1 : -1
    bodies.push(new Body(`planet ${i}`, new Vector(distance * side, 0, 0.1 * i), new Vector(0, speed * side, 0), 0.5 * i))
  }
  return bodies
}

function advance(bodies, dt) {
  for (let i = 0; i < bodies.length; i++) {
    const a = bodies[i]
    for (let j = i + 1; j < bodies.length; j++) {
      const b = bodies[j]
      const dx = a.position.x - b.position.x
      const dy = a.position.y - b.position.y
      const dz = a.position.z - b.position.z
      const distance2 = dx * dx + dy * dy + dz * dz
      const pull = dt / (distance2 * Math.sqrt(distance2))
      const byOther = b.mass * pull
      const bySelf = a.mass * pull
      a.velocity.x -= dx * byOther
      a.velocity.y -= dy * byOther
      a.velocity.z -= dz * byOther
      b.velocity.x += dx * bySelf
      b.velocity.y += dy * bySelf
      b.velocity.z += dz * bySelf
    }
  }
  for (const body of bodies) {
    body.position.x += dt * body.velocity.x
    body.position.y += dt * body.velocity.y
    body.position.z += dt * body.velocity.z
  }
}

function totalEnergy(bodies) {
  let energy = 0
  for (let i = 0; i < bodies.length; i++) {
    const body = bodies[i]
    const v = body.velocity
    energy += 0.5 * body.mass * (v.x * v.x + v.y * v.y + v.z * v.z)
    for (let j = i + 1; j < bodies.length; j++) {
      const other = bodies[j]
      const dx = body.position.x - other.position.x
      const dy = body.position.y - other.position.y
      const dz = body.position.z - other.position.z
      energy -= (body.mass * other.mass) / Math.sqrt(dx * dx + dy * dy + dz * dz)
    }
  }
  return energy
}

function centerOfMass(bodies) {
  const center = new Vector(0, 0, 0)
  let mass = 0
  for (const body of bodies) {
    center.x += body.position.x * body.mass
    center.y += body.position.y * body.mass
    center.z += body.position.z * body.mass
    mass += body.mass
  }
  return new Vector(center.x / mass, center.y / mass, center.z / mass)
}

export function run(n) {
  const bodies = makeSystem(7)
  const before = totalEnergy(bodies)
  for (let i = 0; i < n; i++) advance(bodies, 0.002)
  const center = centerOfMass(bodies)
  return `planets ${Math.floor(before * 10000)} ${Math.floor(totalEnergy(bodies) * 10000)} ${Math.floor(center.x * 10000)}`
}
