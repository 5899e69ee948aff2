// Version requirements of tools: an exact string (`v2`, `2024-11-05`), or a range over versions of the form a.b.c: `2`, `1.2`, `^1.2`,
// `~1.2.3`, `>=1.0 <2`, alternatives with `||`.

type Parts = readonly [number, number, number]

export function satisfiesVersion(found: string, required: string): boolean {
  const wanted = required.trim()
  if (wanted === '' || wanted === '*' || wanted === found) return true
  const version = parseParts(found)
  if (version === null || /-/.test(found)) return false
  return wanted.split('||').some((range) => {
    const terms = range.trim().split(/\s+/)
    return terms.every((term) => satisfiesTerm(version.full, term))
  })
}

function parseParts(text: string): { readonly full: Parts; readonly given: number } | null {
  const match = /^v?(\d+)(?:\.(\d+|x))?(?:\.(\d+|x))?(?:[-+].*)?$/.exec(text)
  if (match === null) return null
  const given = match.slice(1).filter((part) => part !== undefined && part !== 'x').length
  const number = (part: string | undefined): number => (part === undefined || part === 'x' ? 0 : Number(part))
  return { full: [number(match[1]), number(match[2]), number(match[3])], given }
}

function compare(a: Parts, b: Parts): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}

function satisfiesTerm(version: Parts, term: string): boolean {
  const match = /^(\^|~|>=|<=|>|<|=)?(.+)$/.exec(term)
  const base = match === null ? null : parseParts(match[2]!)
  if (base === null) return false
  const { full, given } = base
  const order = compare(version, full)
  switch (match![1]) {
    case '^': {
      // The left-most part that is not 0 must stay.
      const fixed = full[0] > 0 || given === 1 ? 1 : full[1] > 0 || given === 2 ? 2 : 3
      return order >= 0 && samePrefix(version, full, fixed)
    }
    case '~':
      return order >= 0 && samePrefix(version, full, Math.min(2, given))
    case '>=':
      return order >= 0
    case '<=':
      return order <= 0 || samePrefix(version, full, given)
    case '>':
      return order > 0 && !samePrefix(version, full, given)
    case '<':
      return order < 0
    default:
      return samePrefix(version, full, given)
  }
}

function samePrefix(a: Parts, b: Parts, length: number): boolean {
  return a.slice(0, length).every((part, at) => part === b[at])
}
