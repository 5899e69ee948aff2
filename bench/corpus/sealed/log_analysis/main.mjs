// Lines of a log are parsed, grouped by service and minute, and turned into alerts.

function makeLog(count) {
  const lines = []
  let seed = 17
  let time = 0
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    time += seed % 7
    const level = ['INFO', 'INFO', 'WARN', 'INFO', 'ERROR'][seed % 5]
    const service = ['api', 'db', 'mail'][seed % 3]
    const clock = `${String(Math.trunc(time / 60)).padStart(2, '0')}:${String(time % 60).padStart(2, '0')}`
    lines.push(i % 41 === 40 ? '-- rotated --' : `${clock} ${level} [${service}] took ${seed % 900}ms id=${i} user=u${seed % 13}`)
  }
  return lines.join('\n')
}

function parseLine(line) {
  const words = line.split(' ')
  if (words.length < 5 || !words[2].startsWith('[')) return null
  const clock = words[0].split(':')
  const fields = {}
  for (const word of words.slice(5)) {
    const at = word.indexOf('=')
    if (at > 0) fields[word.slice(0, at)] = word.slice(at + 1)
  }
  return {
    minute: Number(clock[0]),
    second: Number(clock[1]),
    level: words[1],
    service: words[2].replace('[', '').replace(']', ''),
    took: Number(words[4].replace('ms', '')),
    fields,
  }
}

function summarize(records) {
  const rows = new Map()
  for (const record of records) {
    const key = `${record.service} ${String(record.minute).padStart(4, '0')}`
    let row = rows.get(key)
    if (row === undefined) {
      row = { key, service: record.service, minute: record.minute, count: 0, errors: 0, total: 0, worst: 0 }
      rows.set(key, row)
    }
    row.count++
    row.total += record.took
    row.worst = Math.max(row.worst, record.took)
    if (record.level === 'ERROR') row.errors++
  }
  return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}

function alerts(rows) {
  const found = []
  let before = null
  for (const row of rows) {
    if (row.errors * 3 > row.count) found.push(`${row.service}@${row.minute}: ${row.errors} of ${row.count}`)
    if (before !== null && before.service === row.service && row.total > before.total * 2)
      found.push(`${row.service}@${row.minute}: ${before.total} to ${row.total}`)
    before = row
  }
  return found
}

function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.trunc((sorted.length * part) / 100)]
}

export function run(n) {
  const records = []
  let broken = 0
  for (const line of makeLog(n).split('\n')) {
    const record = parseLine(line)
    if (record === null) broken++
    else records.push(record)
  }
  const rows = summarize(records)
  const found = alerts(rows)
  const slow = percentile(
    records.map((record) => record.took),
    95,
  )
  const users = new Map()
  for (const { fields } of records) users.set(fields.user, (users.get(fields.user) ?? 0) + 1)
  return `log_analysis ${records.length} ${broken} ${rows.length} ${found.length} ${slow} ${users.size} ${found.at(-1)}`
}
