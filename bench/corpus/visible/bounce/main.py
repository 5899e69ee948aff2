import math

SIZE = 100.0


class Ball:
    def __init__(self, x, y, vx, vy, radius):
        self.x = x
        self.y = y
        self.vx = vx
        self.vy = vy
        self.radius = radius
        self.bounces = 0


def make_balls(count):
    seed = 42

    def random():
        nonlocal seed
        seed = seed * 16807 % 2147483647
        return seed / 2147483647

    balls = []
    for i in range(count):
        x = random() * 90 + 5
        y = random() * 90 + 5
        vx = random() * 20 - 10
        vy = random() * 20 - 10
        balls.append(Ball(x, y, vx, vy, 1.0 + i % 3))
    return balls


def move(balls, time):
    for ball in balls:
        ball.x += ball.vx * time
        ball.y += ball.vy * time
        r = ball.radius
        if ball.x < r:
            ball.x = r
            ball.vx = -ball.vx
            ball.bounces += 1
        elif ball.x > SIZE - r:
            ball.x = SIZE - r
            ball.vx = -ball.vx
            ball.bounces += 1
        if ball.y < r:
            ball.y = r
            ball.vy = -ball.vy
            ball.bounces += 1
        elif ball.y > SIZE - r:
            ball.y = SIZE - r
            ball.vy = -ball.vy
            ball.bounces += 1


def collide(balls):
    hits = 0
    for i, a in enumerate(balls):
        for j in range(i + 1, len(balls)):
            b = balls[j]
            dx = b.x - a.x
            dy = b.y - a.y
            reach = a.radius + b.radius
            if dx * dx + dy * dy < reach * reach:
                if dx * (b.vx - a.vx) + dy * (b.vy - a.vy) < 0:
                    a.vx, b.vx = b.vx, a.vx
                    a.vy, b.vy = b.vy, a.vy
                    hits += 1
    return hits


def work(n):
    balls = make_balls(24)
    hits = 0
    for _ in range(n):
        move(balls, 0.05)
        hits += collide(balls)
    energy = 0.0
    for ball in balls:
        energy += ball.radius * (ball.vx * ball.vx + ball.vy * ball.vy) / 2 + ball.bounces
    return f"bounce {hits} {math.floor(energy * 1000)}"
