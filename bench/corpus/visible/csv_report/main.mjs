// Reads a CSV table with quoted cells, groups it and writes a table of fixed width.

const compare = (a, b) => (a < b ? -1 : 1)

function makeCsv(count) {
  const lines = ['id,region,"product, name",amount,price']
  let seed = 101
  for (let i = 0; i < count; i++) {
    seed = (seed * 16807) % 2147483647
    const region = ['north', 'south', 'east', 'west'][seed % 4]
    const product = seed % 3 === 0 ? `"nut, hex ""M${seed % 5}"""` : `bolt ${seed % 8}`
    lines.push(`${i},${region},${product},${seed % 50},${seed % 90}.${seed % 10}`)
  }
  return `${lines.join('\n')}\n`
}

function parseCsv(text) {
  const rows = []
  let row = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const c = text[at]
    if (isQuoted) {
      if (c !== '"') {
        cell += c
      } else if (text[at + 1] === '"') {
        cell += '"'
        at++
      } else {
        isQuoted = false
      }
    } else if (c === '"') {
      isQuoted = true
    } else if (c === ',') {
      row.push(cell)
      cell = ''
    } else if (c === '\n') {
      row.push(cell)
      rows.push(row)
      row = []
      cell = ''
    } else {
      cell += c
    }
  }
  return rows
}

function toRecords([names, ...rows]) {
  return rows.map((row) => {
    const record = {}
    names.forEach((name, i) => {
      record[name] = row[i]
    })
    return record
  })
}

function summarize(records) {
  const groups = new Map()
  for (const record of records) {
    const group = groups.get(record.region)
    if (group === undefined) groups.set(record.region, [record])
    else group.push(record)
  }
  const rows = [...groups.keys()].sort(compare).map((region) => {
    let amount = 0
    let revenue = 0
    let best = null
    for (const record of groups.get(region)) {
      const count = Number(record.amount)
      const worth = count * Math.round(Number(record.price) * 10)
      amount += count
      revenue += worth
      if (best === null || worth > best.worth) best = { worth, id: record.id }
    }
    return { region, rows: groups.get(region).length, amount, revenue, best: best.id }
  })
  return rows.sort((a, b) => b.revenue - a.revenue)
}

function renderTable(rows) {
  const out = [`${'region'.padEnd(8)}${'rows'.padStart(6)}${'amount'.padStart(8)}${'revenue'.padStart(12)}`]
  for (const row of rows) {
    const cells = [String(row.rows).padStart(6), String(row.amount).padStart(8), String(row.revenue).padStart(12)]
    out.push(row.region.padEnd(8) + cells.join(''))
  }
  return out.join('\n')
}

export function run(n) {
  const records = toRecords(parseCsv(makeCsv(n)))
  const rows = summarize(records)
  const table = renderTable(rows)
  const products = new Set(records.map((record) => record['product, name']))
  return `csv_report ${records.length} ${table.length} ${products.size} ${rows[0].region} ${rows[0].revenue} ${rows[1].best}`
}
