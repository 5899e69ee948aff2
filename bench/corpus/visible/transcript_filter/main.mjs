// Transcripts of sessions are shortened to a budget: old tool results are masked, secrets removed, turns joined.

const WORDS = ['the', 'file', 'was', 'read', 'and', 'token=abc', 'changed', 'by', 'key=s3cret', 'a', 'tool']
const ROLES = ['user', 'assistant', 'tool', 'assistant', 'assistant']

function sentence(seed, count) {
  const words = []
  let at = seed
  for (let i = 0; i < count; i++) {
    words.push(WORDS[at % WORDS.length])
    at = (at * 7 + 3) % 1009
  }
  return words.join(' ')
}

function makeTranscript(number, count) {
  const messages = [{ role: 'system', text: `You are number ${number}.`, at: 0 }]
  for (let i = 1; i <= count; i++) {
    const seed = number * 31 + i * 17
    messages.push({ role: ROLES[seed % 5], text: sentence(seed, (seed % 23) + 4), at: i })
  }
  return messages
}

const estimateTokens = (message) => Math.trunc(message.text.length / 4) + 3
const totalTokens = (messages) => messages.reduce((sum, message) => sum + estimateTokens(message), 0)

function joinTurns(messages) {
  const out = []
  for (const message of messages) {
    const last = out.at(-1)
    if (last !== undefined && last.role === message.role && message.role !== 'tool') last.text += `\n${message.text}`
    else out.push({ ...message })
  }
  return out
}

function redactText(text) {
  return text
    .split('\n')
    .map((line) =>
      line
        .split(' ')
        .map((word) => (word.includes('=') ? `${word.split('=')[0]}=***` : word))
        .join(' '),
    )
    .join('\n')
}

const redact = (messages) => messages.map((message) => ({ ...message, text: redactText(message.text) }))

function fit(messages, budget) {
  const out = messages.map((message) => ({ ...message }))
  let total = totalTokens(out)
  for (const message of out) {
    if (total <= budget) return out
    if (message.role === 'tool') {
      const size = estimateTokens(message)
      message.text = `[masked ${size} tokens]`
      total += estimateTokens(message) - size
    }
  }
  while (total > budget && out.length > 2) {
    total -= estimateTokens(out[1])
    out.splice(1, 1)
  }
  return out
}

export function run(n) {
  let before = 0
  let after = 0
  let masked = 0
  let kept = 0
  for (let i = 0; i < n; i++) {
    const messages = makeTranscript(i, 12 + (i % 9))
    before += totalTokens(messages)
    const short = fit(redact(joinTurns(messages)), 120)
    after += totalTokens(short)
    masked += short.filter((message) => message.text.startsWith('[masked')).length
    kept += short.length
  }
  return `transcript_filter ${before} ${after} ${masked} ${kept}`
}
