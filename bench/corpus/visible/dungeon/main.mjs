// Events of a game as enums: commands are parsed, applied to a state of structs, and undone.

function makeScript(count) {
  let seed = 57
  const lines = []
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    const direction = ['north', 'south', 'east', 'west'][seed % 4]
    const others = ['take coin', 'drop coin', `hit goblin ${seed % 13}`, 'rest', 'dance']
    lines.push(others[seed % 7] ?? `go ${direction}`)
  }
  return lines
}

const DIRECTIONS = { north: [0, -1], south: [0, 1], east: [1, 0], west: [-1, 0] }

function parseCommand(line) {
  const words = line.split(' ')
  switch (words[0]) {
    case 'go': {
      const step = DIRECTIONS[words[1]]
      return step === undefined ? null : { kind: 'go', dx: step[0], dy: step[1] }
    }
    case 'take':
      return { kind: 'take', thing: words[1] }
    case 'drop':
      return { kind: 'drop', thing: words[1] }
    case 'hit':
      return { kind: 'hit', target: words[1], strength: Number(words[2]) }
    case 'rest':
      return { kind: 'rest' }
    default:
      return null
  }
}

function newWorld(size) {
  const floor = []
  const goblins = new Map()
  for (let y = 0; y < size; y++) {
    const row = []
    for (let x = 0; x < size; x++) {
      row.push((x * 7 + y * 3) % 4)
      if ((x + y * 2) % 5 === 0) goblins.set(`${x},${y}`, 20)
    }
    floor.push(row)
  }
  return { size, x: 0, y: 0, health: 50, coins: 0, floor, goblins, turns: 0 }
}

/** Worlds are kept in a history: what changes is copied. */
function changeFloor(world, change) {
  return world.floor.map((row, y) => (y === world.y ? row.map((n, x) => (x === world.x ? n + change : n)) : row))
}

function apply(before, command) {
  const world = { ...before, turns: before.turns + 1 }
  const here = `${world.x},${world.y}`
  switch (command.kind) {
    case 'go':
      world.x = (world.x + command.dx + world.size) % world.size
      world.y = (world.y + command.dy + world.size) % world.size
      break
    case 'take':
      if (world.floor[world.y][world.x] > 0) {
        world.floor = changeFloor(world, -1)
        world.coins++
      }
      break
    case 'drop':
      if (world.coins > 0) {
        world.coins--
        world.floor = changeFloor(world, 1)
      }
      break
    case 'hit':
      if (world.goblins.has(here)) {
        const left = world.goblins.get(here) - command.strength
        world.goblins = new Map(world.goblins)
        if (left <= 0) {
          world.goblins.delete(here)
        } else {
          world.goblins.set(here, left)
          world.health -= 3
        }
      }
      break
    case 'rest':
      world.health = Math.min(50, world.health + 1)
      break
  }
  if (world.goblins.has(`${world.x},${world.y}`)) world.health--
  return world
}

export function run(n) {
  let world = newWorld(6)
  let history = [world]
  let failures = 0
  for (const line of makeScript(n)) {
    const command = parseCommand(line)
    if (command === null) {
      failures++
    } else {
      history.push(world)
      world = apply(world, command)
    }
    if (world.health <= 0) {
      world = history[Math.max(0, history.length - 10)]
      history = history.slice(0, Math.max(1, history.length - 10))
    }
  }
  const coins = world.floor.flat().reduce((a, b) => a + b, 0)
  const text = `${world.x},${world.y} ${world.health} ${world.coins} ${coins} ${world.goblins.size} ${world.turns}`
  return `dungeon ${text} ${history.length} ${failures}`
}
