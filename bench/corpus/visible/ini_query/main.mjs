// A settings file is read line by line; small queries over it are parsed and answered.

function typed(text) {
  if (text === 'yes' || text === 'no') return text === 'yes'
  if (text.startsWith('"')) return text.slice(1, -1)
  return /^-?\d+$/.test(text) ? Number(text) : text
}

function readSettings(text) {
  const sections = new Map()
  let current = 'global'
  let number = 0
  for (const line of text.split('\n')) {
    number++
    const bare = line.trim()
    if (bare === '' || bare.startsWith(';')) continue
    if (bare.startsWith('[') && bare.endsWith(']')) {
      current = bare.slice(1, -1)
      if (!sections.has(current)) sections.set(current, new Map())
      continue
    }
    const at = bare.indexOf('=')
    if (at < 0) throw new Error(`${number}: no = in ${bare}`)
    sections.get(current).set(bare.slice(0, at).trim(), typed(bare.slice(at + 1).trim()))
  }
  return sections
}

function makeTest(words) {
  const [field, operator, wanted] = words
  if (words.length === 1) return (section) => section.get(field) === true
  switch (operator) {
    case 'contains':
      return (section) => String(section.get(field) ?? '').includes(wanted)
    case '<':
      return (section) => (section.get(field) ?? 0) < Number(wanted)
    case '>':
      return (section) => (section.get(field) ?? 0) > Number(wanted)
    default:
      throw new Error(`no test ${operator}`)
  }
}

function answer(settings, query) {
  const words = query.split(' ')
  const test = makeTest(words.slice(2))
  const found = []
  for (const section of settings.values()) if (section.has(words[0]) && test(section)) found.push(section.get(words[0]))
  return found
}

export function run(n) {
  const lines = ['; a comment', '[global]', 'level = 3', 'name = "main host"']
  for (let i = 0; i < n; i++)
    lines.push(
      '',
      `[server.${i}]`,
      `port = ${8000 + i}`,
      `host = h${i % 10}.example`,
      `weight = ${i % 4}`,
      `active = ${i % 3 === 0 ? 'yes' : 'no'}`,
    )
  const settings = readSettings(lines.join('\n'))
  const queries = ['port where active', 'weight where host contains h3', 'port where weight > 1', 'weight where port < 8020']
  const results = queries.map((query) => {
    const values = answer(settings, query)
    return `${values.length}/${values.reduce((sum, value) => sum + (Number.isInteger(value) ? value : 0), 0)}`
  })
  return `ini_query ${settings.size} ${results.join(' ')}`
}
