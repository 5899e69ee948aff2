// The Mandelbrot set as rows of characters, and how often each character occurs.

const SHADES = ' .,:;-=+*%@&'

function escapeTime(cr, ci, limit) {
  let zr = 0
  let zi = 0
  for (let n = 0; n < limit; n++) {
    const zr2 = zr * zr
    const zi2 = zi * zi
    if (zr2 + zi2 > 4) return n
    zi = 2 * zr * zi + ci
    zr = zr2 - zi2 + cr
  }
  return limit
}

function makePalette(limit) {
  const palette = []
  for (let i = 0; i < limit; i++) palette.push(SHADES[i % SHADES.length])
  palette.push('#')
  return palette
}

function render(view, columns, rows, palette) {
  const lines = []
  for (let row = 0; row < rows; row++) {
    let line = ''
    const ci = view.top + (view.height * row) / rows
    for (let column = 0; column < columns; column++) {
      const cr = view.left + (view.width * column) / columns
      line += palette[escapeTime(cr, ci, 60)]
    }
    lines.push(line)
  }
  return lines
}

function histogram(lines) {
  const counts = new Map()
  for (const line of lines) for (const c of line) counts.set(c, (counts.get(c) ?? 0) + 1)
  return counts
}

function checksum(lines, palette) {
  let sum = 1
  for (const line of lines) for (const c of line) sum = (sum * 37 + palette.indexOf(c)) % 1000003
  return sum
}

export function run(n) {
  const palette = makePalette(60)
  const whole = render({ left: -2, top: -1, width: 3, height: 2 }, n * 2, n, palette)
  const valley = render({ left: -0.8, top: 0.05, width: 0.1, height: 0.1 }, n, Math.trunc(n / 2), palette)
  const counts = histogram([...whole, ...valley])
  return `mandelbrot ${counts.size} ${counts.get('#')} ${checksum(whole, palette)} ${checksum(valley, palette)}`
}
