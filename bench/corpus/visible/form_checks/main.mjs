// Records are checked by rules that throw; errors are caught, classified and collected.

const compare = (a, b) => (a < b ? -1 : 1)

class RuleError extends Error {
  constructor(field, code) {
    super(`${field}/${code}`)
  }
}

function makeRecords(count) {
  let seed = 3
  const records = []
  for (let id = 0; id < count; id++) {
    seed = (seed * 16807) % 2147483647
    const age = seed % 6 === 0 ? 'old' : String(seed % 130)
    const email = seed % 5 === 0 ? 'nobody' : `u${id}@example${seed % 3}.org`
    const record = { id, name: ` User ${id} `, age, email }
    if (seed % 11 === 0) delete record.name
    records.push(record)
  }
  return records
}

function cleanRecord(record) {
  const result = {}
  for (const [key, value] of Object.entries(record)) result[key] = typeof value === 'string' ? value.trim().toLowerCase() : value
  return result
}

function checkName(record) {
  if (record.name === undefined) throw new RuleError('name', 'missing')
  if (record.name.length < 6) throw new RuleError('name', 'short')
  return record
}

function checkAge(record) {
  const age = Number(record.age)
  if (Number.isNaN(age)) throw new Error('age is not a number')
  if (age >= 120) throw new Error('nobody is that old')
  if (age < 18) throw new RuleError('age', 'minor')
  return { ...record, age }
}

function knownDomain(name) {
  if (name.startsWith('example2')) throw new Error('unknown')
  return name
}

function checkEmail(record) {
  const parts = record.email.split('@')
  if (parts.length !== 2) throw new RuleError('email', 'form')
  try {
    return { ...record, domain: knownDomain(parts[1]) }
  } catch (e) {
    throw new RuleError('email', e.message)
  }
}

const RULES = [checkName, checkAge, checkEmail]

export function run(n) {
  const good = []
  const problems = new Map()
  let finished = 0
  for (const record of makeRecords(n)) {
    try {
      good.push(RULES.reduce((current, rule) => rule(current), cleanRecord(record)))
    } catch (e) {
      const ids = problems.get(e.message)
      if (ids === undefined) problems.set(e.message, [record.id])
      else ids.push(record.id)
    } finally {
      finished++
    }
  }
  const sum = (values) => values.reduce((a, b) => a + b, 0)
  const parts = [...problems.keys()].sort(compare).map((key) => `${key}:${problems.get(key).length}:${sum(problems.get(key))}`)
  return `form_checks ${finished} ${good.length} ${sum(good.map((record) => record.age))} ${parts.join(' ')}`
}
