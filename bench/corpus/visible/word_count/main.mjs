// Counts words and pairs of words of a text that is made up, and prints the most frequent.

const STEMS = ['the', 'agent', 'tool', 'a', 'call', 'report', 'of', 'file', 'and', 'error', 'to', 'server']
const ENDINGS = ['', 's', '', 'ing', '', 'ed', '']
const MARKS = ['', '', '', ',', '', '.', '', '!', '']

function makeText(count) {
  let seed = 31
  const lines = []
  let line = []
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    const stem = STEMS[((seed % 1000) * (seed % 7)) % STEMS.length]
    const word = stem + ENDINGS[seed % 7] + MARKS[seed % 9]
    line.push(seed % 5 === 0 ? word.toUpperCase() : word)
    if (line.length === 12) {
      lines.push(line.join(' '))
      line = []
    }
  }
  lines.push(line.join(' '))
  return lines.join('\n')
}

function clean(word) {
  while (word.endsWith('.') || word.endsWith(',') || word.endsWith('!')) word = word.slice(0, -1)
  return word
}

function wordsOf(text) {
  const words = []
  for (const line of text.split('\n')) {
    for (const raw of line.split(' ')) {
      const word = clean(raw.toLowerCase())
      if (word !== '') words.push(word)
    }
  }
  return words
}

function countWords(text) {
  const counts = new Map()
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function countPairs(text) {
  const counts = new Map()
  let before = null
  for (const word of wordsOf(text)) {
    if (before !== null) {
      const key = `${before}-${word}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    before = word
  }
  return counts
}

function top(counts, limit) {
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([key, count]) => `${key}=${count}`)
    .join(' ')
}

export function run(n) {
  const text = makeText(n)
  const words = countWords(text)
  const pairs = countPairs(text)
  const long = [...words.keys()].filter((word) => word.length > 6)
  return `word_count ${words.size} ${pairs.size} ${long.length} ${top(words, 4)} ${top(pairs, 2)}`
}
