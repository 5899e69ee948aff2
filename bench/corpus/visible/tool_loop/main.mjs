// An agent's loop without a model: a plan calls tools from a registry until a goal is met.

const FILES = new Map([
  ['docs/errors.md', 'Every error has a code and a report.'],
  ['docs/report.md', 'A report about the tool and what it found.'],
  ['log/today.txt', 'error 17, error 4, no report'],
  ['src/main.harn', 'import { tool } from "tool"'],
  ['src/tool.harn', 'fn tool() { return "tool" }'],
])

function search({ query, page }) {
  const hits = []
  for (const [path, text] of FILES) if (text.includes(query) && (path.length + page) % 3 !== 0) hits.push(path)
  return hits
}

function read({ path }) {
  const text = FILES.get(path)
  if (text === undefined) throw new Error(`no file ${path}`)
  return text
}

function count({ values }) {
  return { sum: values.reduce((a, b) => a + b, 0), most: values.length === 0 ? 0 : Math.max(...values) }
}

function makeTools() {
  const tools = new Map()
  const define = (name, description, parameters, handler) => tools.set(name, { name, description, parameters, handler })
  define('search', 'Finds files by their text', { query: 'string', page: 'int' }, search)
  define('read', 'Reads a file', { path: 'string' }, read)
  define('count', 'Sums values up', { values: 'list' }, count)
  define('finish', 'Ends the task', { summary: 'string' }, ({ summary }) => `done: ${summary}`)
  return tools
}

function nextCalls(state) {
  if (state.turns === 1)
    return [
      { name: 'search', args: { query: state.task.words, page: 0 } },
      { name: 'read', args: { path: 'missing.txt' } },
    ]
  if (state.found.length < state.task.wanted && state.turns < 8)
    return [{ name: 'search', args: { query: state.task.words, page: state.turns } }]
  if (state.turns % 2 === 0 && state.turns < 10)
    return [...state.found.slice(0, 3).map((path) => ({ name: 'read', args: { path } })), { name: 'guess', args: {} }]
  const lengths = state.notes.map((note) => note.length)
  return [
    { name: 'count', args: { values: lengths } },
    { name: 'finish', args: { summary: state.notes.at(-1) } },
  ]
}

function runCall(tools, call) {
  const tool = tools.get(call.name)
  if (tool === undefined) return { name: call.name, ok: false, value: `no tool ${call.name}` }
  try {
    return { name: call.name, ok: true, value: tool.handler(call.args) }
  } catch (e) {
    return { name: call.name, ok: false, value: `failed: ${e.message}` }
  }
}

function show(value) {
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (typeof value !== 'object') return String(value)
  const parts = Object.keys(value)
    .sort()
    .map((key) => `${key}: ${show(value[key])}`)
  return `{${parts.join(', ')}}`
}

function runTask(tools, task) {
  const state = { task, found: [], notes: [], turns: 0, calls: 0, failures: 0, isDone: false }
  while (!state.isDone && state.turns < 12) {
    state.turns++
    for (const call of nextCalls(state)) {
      const result = runCall(tools, call)
      state.calls++
      if (!result.ok) state.failures++
      state.notes.push(`${result.name}: ${show(result.value)}`)
      if (result.name === 'search' && result.ok) state.found = [...new Set([...state.found, ...result.value])]
      else if (result.name === 'finish') state.isDone = true
    }
  }
  return state
}

export function run(n) {
  const tools = makeTools()
  let calls = 0
  let failures = 0
  let length = 0
  let found = 0
  for (let i = 0; i < n; i++) {
    const state = runTask(tools, { id: i, words: ['report', 'error', 'tool'][i % 3], wanted: (i % 4) + 2 })
    calls += state.calls
    failures += state.failures
    found += state.found.length
    length += state.notes.join('\n').length
  }
  return `tool_loop ${calls} ${failures} ${found} ${length} ${tools.size}`
}
