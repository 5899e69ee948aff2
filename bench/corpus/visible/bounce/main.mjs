// Balls bounce between walls and push each other: structs in a list, updated in place.

class Ball {
  constructor(x, y, vx, vy, radius) {
    this.x = x
    this.y = y
    this.vx = vx
    this.vy = vy
    this.radius = radius
    this.bounces = 0
  }
}

const SIZE = 100

function makeBalls(count) {
  let seed = 42
  const random = () => {
    seed = (seed * 16807) % 2147483647
    return seed / 2147483647
  }
  const balls = []
  for (let i = 0; i < count; i++) {
    const x = random() * 90 + 5
    const y = random() * 90 + 5
    const vx = random() * 20 - 10
    const vy = random() * 20 - 10
    balls.push(new Ball(x, y, vx, vy, 1 + (i % 3)))
  }
  return balls
}

function move(balls, time) {
  for (const ball of balls) {
    ball.x += ball.vx * time
    ball.y += ball.vy * time
    const r = ball.radius
    if (ball.x < r) {
      ball.x = r
      ball.vx = -ball.vx
      ball.bounces++
    } else if (ball.x > SIZE - r) {
      ball.x = SIZE - r
      ball.vx = -ball.vx
      ball.bounces++
    }
    if (ball.y < r) {
      ball.y = r
      ball.vy = -ball.vy
      ball.bounces++
    } else if (ball.y > SIZE - r) {
      ball.y = SIZE - r
      ball.vy = -ball.vy
      ball.bounces++
    }
  }
}

function collide(balls) {
  let hits = 0
  for (let i = 0; i < balls.length; i++) {
    for (let j = i + 1; j < balls.length; j++) {
      const a = balls[i]
      const b = balls[j]
      const dx = b.x - a.x
      const dy = b.y - a.y
      const reach = a.radius + b.radius
      if (dx * dx + dy * dy < reach * reach) {
        const closing = dx * (b.vx - a.vx) + dy * (b.vy - a.vy)
        if (closing < 0) {
          ;[a.vx, b.vx] = [b.vx, a.vx]
          ;[a.vy, b.vy] = [b.vy, a.vy]
          hits++
        }
      }
    }
  }
  return hits
}

export function run(n) {
  const balls = makeBalls(24)
  let hits = 0
  for (let step = 0; step < n; step++) {
    move(balls, 0.05)
    hits += collide(balls)
  }
  let energy = 0
  for (const ball of balls) energy += (ball.radius * (ball.vx * ball.vx + ball.vy * ball.vy)) / 2 + ball.bounces
  return `bounce ${hits} ${Math.floor(energy * 1000)}`
}
