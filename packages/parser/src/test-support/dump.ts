// Compact text of a tree for tests: `Kind(field: value …)` without spans, absent parts and empty lists; names as bare text.

export function dump(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(dump).join(' ')}]`
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value)
  const record = value as Readonly<Record<string, unknown>>
  const { kind } = record
  if (kind === undefined && typeof record['text'] === 'string' && 'span' in record) return record['text']
  const fields = Object.entries(record)
    .filter(
      ([key, part]) =>
        key !== 'kind' && !/span$/i.test(key) && part !== null && part !== false && !(Array.isArray(part) && part.length === 0),
    )
    .map(([key, part]) => `${key}: ${dump(part)}`)
  if (typeof kind !== 'string') return `{${fields.join(' ')}}`
  return fields.length === 0 ? kind : `${kind}(${fields.join(' ')})`
}

/** A copy of a tree without spans, to compare by value. */
export function withoutSpans(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSpans)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => (/span$/i.test(key) ? [] : [[key, withoutSpans(part)]])),
  )
}
