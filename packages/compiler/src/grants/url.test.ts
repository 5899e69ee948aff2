import { describe, expect, test } from 'vitest'
import { matchDomain } from './domain.js'
import { parseUrl } from './url.js'

describe('reading URLs', () => {
  test('hosts with Latin-1 letters are parsed the same before and after V8 has optimised the parser', () => {
    const read = (text: string): string | null => parseUrl(text)?.hostname ?? null
    const answers = new Set<string | null>()
    for (let round = 0; round < 20_000; round++) answers.add(read(`http://b\u00fccher.invalid/${round % 7}`))
    expect([...answers]).toEqual(['xn--bcher-kva.invalid'])
  })

  test('a domain pattern decides the same about them at every call', () => {
    const allowed = new Set<boolean>()
    const refused = new Set<boolean>()
    for (let round = 0; round < 20_000; round++) {
      allowed.add(matchDomain('b\u00fccher.invalid', 'https://b\u00fccher.invalid/'))
      refused.add(matchDomain('a.test', 'https://b\u00fccher.invalid/'))
    }
    expect([[...allowed], [...refused]]).toEqual([[true], [false]])
  })

  test.each(['', 'http://', 'http://[::1', 'a.test', 'http://a b/'])('%j is not a URL', (text) => {
    expect(parseUrl(text)).toBeNull()
  })
})
