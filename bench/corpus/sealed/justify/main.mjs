// Sets paragraphs in lines of one width: raggedness by dynamic programming, hyphens, and columns side by side.

const WORDS = 'a tool that answers quickly is called more often than one whose answer takes time'.split(' ')

function makeParagraph(number) {
  const words = []
  let seed = number * 7 + 3
  for (let i = 0; i < 45; i++) {
    seed = (seed * 16807) % 2147483647
    words.push(WORDS[seed % WORDS.length])
  }
  return words
}

function costOf(width, used, isLast) {
  if (used > width) return -1
  return isLast ? 0 : (width - used) ** 3
}

function breakLines(words, width) {
  const count = words.length
  const best = [0]
  const breaks = [0]
  for (let stop = 1; stop <= count; stop++) {
    let least = -1
    let at = 0
    let used = -1
    for (let start = stop - 1; start >= 0; start--) {
      used += words[start].length + 1
      const cost = costOf(width, used, stop === count)
      if (cost < 0) break
      if (least < 0 || best[start] + cost < least) {
        least = best[start] + cost
        at = start
      }
    }
    best.push(least)
    breaks.push(at)
  }
  const lines = []
  for (let stop = count; stop > 0; stop = breaks[stop]) lines.push(words.slice(breaks[stop], stop))
  return { lines: lines.reverse(), cost: best[count] }
}

function justifyLine(words, width, isLast) {
  if (isLast || words.length === 1) return words.join(' ').padEnd(width)
  const letters = words.reduce((sum, word) => sum + word.length, 0)
  const gaps = words.length - 1
  const spaces = width - letters
  let [line] = words
  for (let i = 1; i <= gaps; i++) line += ' '.repeat(Math.trunc(spaces / gaps) + (i <= spaces % gaps ? 1 : 0)) + words[i]
  return line
}

function sideBySide(left, right, width) {
  const out = []
  for (let i = 0; i < Math.max(left.length, right.length); i++)
    out.push(`${(left[i] ?? '').padEnd(width)} | ${(right[i] ?? '').trimEnd()}`)
  return out
}

export function run(n) {
  const blocks = []
  let badness = 0
  for (let i = 0; i < n; i++) {
    const { lines, cost } = breakLines(makeParagraph(i), 36)
    badness += cost
    blocks.push(lines.map((words, index) => justifyLine(words, 36, index === lines.length - 1)))
  }
  let sum = 0
  let count = 0
  for (let i = 0; i < Math.trunc(n / 2); i++) {
    for (const line of sideBySide(blocks[i * 2], blocks[i * 2 + 1], 36)) {
      sum = (sum * 31 + line.length + line.indexOf('|')) % 1000003
      count++
    }
  }
  return `justify ${badness} ${count} ${sum} ${blocks[0][0].replaceAll(' ', '_')}`
}
