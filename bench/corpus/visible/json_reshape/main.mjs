// Answers of an interface are read from JSON, joined, grouped and written in another shape.

const compare = (a, b) => (a < b ? -1 : 1)

function makeAnswer(count) {
  const issues = []
  const users = []
  for (let i = 0; i < count; i++) {
    const labels = Array.from({ length: i % 4 }, (_, k) => ({ name: `label-${(i + k) % 6}`, color: `#${k}${k}${k}` }))
    issues.push({
      number: i,
      title: `Issue ${i}: ${i % 3 === 0 ? 'crash' : 'question'}`,
      user: { login: `user${i % 17}` },
      labels,
      state: i % 4 === 0 ? 'closed' : 'open',
      comments: (i * 7) % 12,
      body: i % 5 === 0 ? null : `Some text about ${i}`,
    })
  }
  for (let u = 0; u < 15; u++) users.push({ login: `user${u}`, name: `Name ${u}`, team: ['core', 'docs', 'web'][u % 3] })
  return JSON.stringify({ issues, users, next: null })
}

function groupIssues(issues, users) {
  const groups = new Map()
  for (const issue of issues) {
    const user = users.get(issue.user.login)
    const team = user?.team ?? 'none'
    const entry = {
      number: issue.number,
      author: user?.name ?? issue.user.login,
      labels: issue.labels.map((label) => label.name),
      isOpen: issue.state === 'open',
      comments: issue.comments,
      length: (issue.body ?? '').length,
    }
    const group = groups.get(team)
    if (group === undefined) groups.set(team, [entry])
    else group.push(entry)
  }
  return groups
}

const sum = (values) => values.reduce((a, b) => a + b, 0)

function busiest(entries) {
  const byAuthor = new Map()
  for (const entry of entries) byAuthor.set(entry.author, (byAuthor.get(entry.author) ?? 0) + entry.comments)
  let best = { author: '', comments: -1 }
  for (const author of [...byAuthor.keys()].sort(compare))
    if (byAuthor.get(author) > best.comments) best = { author, comments: byAuthor.get(author) }
  return best
}

function toReport(groups) {
  const teams = []
  const labels = new Map()
  let total = 0
  for (const name of [...groups.keys()].sort(compare)) {
    const entries = groups.get(name)
    const open = entries.filter((entry) => entry.isOpen)
    total += sum(entries.map((entry) => entry.comments))
    for (const entry of entries) for (const label of entry.labels) labels.set(label, (labels.get(label) ?? 0) + 1)
    teams.push({
      busiest: busiest(entries),
      length: sum(entries.map((entry) => entry.length)),
      name,
      numbers: open
        .toSorted((a, b) => b.comments - a.comments)
        .slice(0, 5)
        .map((entry) => entry.number),
      open: open.length,
    })
  }
  return { labels: labels.size, teams: teams.sort((a, b) => b.open - a.open), total }
}

export function run(n) {
  const answer = JSON.parse(makeAnswer(n))
  const users = new Map(answer.users.map((user) => [user.login, user]))
  const text = JSON.stringify(toReport(groupIssues(answer.issues, users)))
  const again = JSON.parse(text)
  return `json_reshape ${text.length} ${again.teams.length} ${again.teams[0].name} ${again.total} ${again.labels}`
}
