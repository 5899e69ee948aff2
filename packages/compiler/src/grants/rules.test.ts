import { describe, expect, test } from 'vitest'
import { addConstraint, checkGrant, constraintProblem, findEmptiedKey, listPinnedArguments } from './constraints.js'
import type { GrantRecord, GrantedTool } from './constraints.js'
import { domainProblem, isWideDomain, matchDomain } from './domain.js'
import { allowsPath } from './paths.js'
import { satisfiesVersion } from './version.js'

describe('domain patterns', () => {
  test.each<[string, string, boolean]>([
    ['api.example.com', 'https://API.example.com/x', true],
    ['api.example.com', 'https://api.example.com.evil.io/', false],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['**.example.com', 'https://a.b.example.com/', true],
    ['*.example.com', 'https://example.com/', true],
    ['*.example.com', 'https://notexample.com/', false],
    ['*.example.com', 'https://user@evil.io/?x=.example.com', false],
    ['*.example.com', 'https://example.com@evil.io/', false],
    ['*.example.com', 'https://evil.io?.example.com', false],
    ['*.example.com', 'https://evil.io#.example.com', false],
    ['*.example.com', 'https://evil.io\\.example.com', false],
    ['api.example.com', 'https://api.example.com:x@evil.io/', false],
    ['example.com', '//example.com/x', false],
    ['127.0.0.1', 'http://2130706433/', true],
    ['*.0.0.1', 'http://127.0.0.1/', false],
    ['example.com', 'https://example.com./x', true],
    ['bücher.example', 'https://xn--bcher-kva.example/', true],
    ['xn--bcher-kva.example', 'https://bücher.example/', true],
    ['example.com', 'https://example.com:8443/', false],
    ['example.com:8443', 'https://example.com:8443/', true],
    ['example.com:443', 'https://example.com/', true],
    ['example.com:443', 'http://example.com/', false],
    ['example.com', 'http://example.com:443/', false],
    ['[::1]', 'http://[0:0:0:0:0:0:0:1]/', true],
    ['[::1]:80', 'http://[::1]/', true],
    ['*', 'https://anything.at.all/', true],
    ['*', 'ftp://example.com/', false],
    ['*', 'file:///etc/passwd', false],
    ['example.com', 'javascript:alert(1)', false],
  ])('%s, %s: %s', (pattern, url, allowed) => {
    expect(matchDomain(pattern, url)).toBe(allowed)
  })

  test.each(['', 'https://x.com', 'x.com/path', 'a b', 'x.*.com', '+.x.com', 'x.com:0', 'x.com:99999', 'u@x.com', 'a..b:x'])(
    '%j is refused',
    (pattern) => {
      expect(domainProblem(pattern)).not.toBeNull()
      expect(matchDomain(pattern, 'https://x.com/')).toBe(false)
    },
  )

  test('wide patterns are detected', () => {
    expect(['*', '*.com', '*.example.com', 'com'].filter(isWideDomain)).toEqual(['*', '*.com'])
  })
})

describe('versions', () => {
  test.each<[string, string, boolean]>([
    ['2.1.0', '2', true],
    ['2.1.0', '2.1.0', true],
    ['2.1.0', '2.0', false],
    ['1.9.3', '^1.2', true],
    ['2.0.0', '^1.2', false],
    ['0.2.9', '^0.2.1', true],
    ['0.3.0', '^0.2.1', false],
    ['1.2.9', '~1.2.3', true],
    ['1.3.0', '~1.2.3', false],
    ['1.5.0', '>=1.0 <2', true],
    ['2.0.0', '>=1.0 <2', false],
    ['3.0.0', '^1 || ^3', true],
    ['v2', 'v2', true],
    ['2024-11-05', '2024-11-05', true],
    ['2024-11-05', '2024', false],
    ['', '1', false],
    ['1.0.0', '*', true],
  ])('%s satisfies %s: %s', (found, required, satisfied) => {
    expect(satisfiesVersion(found, required)).toBe(satisfied)
  })
})

test.each<[string, string, boolean]>([
  ['/box/w', 'a/../b.txt', true],
  ['/box/w', '../x', false],
  ['/box/w', '/box/wfoo/x', false],
  ['/box/w', '/box/w', true],
  ['/box/w', 'a/%2e%2e/%2e%2e/x', false],
  ['/box/w', '/../../..', false],
  ['data', 'data/x', true],
  ['data', 'database/x', false],
  ['/box/*/out', '/box/w/out/x', true],
  ['/box/**/out', '/box/a/b/out/x', true],
  ['/box/**/out', '/box/a/b/in/x', false],
  ['/box/w', '', false],
])('root %s, path %j: %s', (root, path, allowed) => {
  expect(allowsPath(root, path, '/box/w')).toBe(allowed)
})

test.each<[string, string, boolean]>([
  ['out', 'out/x', true],
  ['out', './out/../out/x', true],
  ['out', 'out/../../x', false],
  ['.', 'anything', true],
  ['.', '../x', false],
  ['/w/out', 'out/x', false],
  ['out', '/w/out/x', false],
  ['/', 'x', false],
  ['/', '/x', true],
])('without a base: root %s, path %j: %s', (root, path, allowed) => {
  expect(allowsPath(root, path, null)).toBe(allowed)
})

const TOOL: GrantedTool = {
  knows: (name) => ['url', 'timeout_ms', 'max_tokens', 'model', 'temperature', 'path'].includes(name),
  base: '/box/w',
}

describe('constraints', () => {
  test.each<[GrantRecord, Record<string, unknown>, string | null]>([
    [{ domain: '*.example.com' }, { url: 'https://a.example.com/' }, null],
    [{ domain: '*.example.com' }, { url: 'https://evil.com' }, "domain '*.example.com' does not allow 'https://evil.com'"],
    [{ domain: ['a.com', 'b.com'] }, { url: 'https://c.com/' }, "domain 'a.com', 'b.com' does not allow 'https://c.com/'"],
    [{ domain: 'a.com' }, {}, "domain policy requires string 'url' argument"],
    [{ domain: 'a.com' }, { url: 5 }, "domain policy requires string 'url' argument"],
    [{ domain: 5 }, { url: 'https://a.com' }, 'domain constraint must be a string'],
    [{ timeout_ms: 5000 }, { timeout_ms: 5000 }, null],
    [{ timeout_ms: 5000 }, { timeout_ms: 6000 }, 'timeout_ms 6000 exceeds allowed 5000'],
    [{ timeout_ms: 'x' }, {}, 'timeout_ms constraint must be an integer'],
    [{ max_tokens: 10 }, { max_tokens: 11 }, 'max_tokens 11 exceeds allowed 10'],
    [{ max_tokens: 1.5 }, {}, 'max_tokens constraint must be an integer'],
    [{ max_tokens: 10 }, {}, null],
    [{ max_retries: 1 }, { max_retries: 9 }, null],
    [{ max_calls: 1 }, {}, null],
    [{ model: 'm1' }, { model: 'm1' }, null],
    [{ model: 'm1' }, { model: 'm2' }, 'argument \'model\' value "m2" violates required "m1"'],
    [{ model: ['m1', 'm2'] }, { model: 'm3' }, 'argument \'model\' value "m3" violates required "m1" or "m2"'],
    [{ model: 'm1' }, {}, null],
    [{ strict: true }, { strict: false }, "argument 'strict' value false violates required true"],
    [{ path: 'out' }, { path: 'out/a.txt' }, null],
    [{ path: 'out' }, { path: 'in/a.txt' }, "path 'in/a.txt' is not below 'out'"],
    [{ path: ['out', '/tmp'] }, { from: '/tmp/a', to: 'out/../x' }, "path 'out/../x' is not below 'out', '/tmp'"],
    [{ path: 'out' }, {}, 'path policy requires a path argument'],
    [{ path: 'out' }, { path: 7 }, "path 7 is not below 'out'"],
  ])('%j on %j', (grant, args, reason) => {
    expect(checkGrant(grant, args, TOOL)?.reason ?? null).toBe(reason)
  })

  test('ints of any size are compared by value', () => {
    expect(checkGrant({ seed: 1 }, { seed: 1n }, TOOL)).toBeNull()
    expect(checkGrant({ max_tokens: 10 }, { max_tokens: 2n ** 60n }, TOOL)?.constraint).toBe('max_tokens')
  })

  test('arguments marked by the schema are checked too', () => {
    const tool: GrantedTool = { ...TOOL, urlArguments: ['callback'], pathArguments: ['target'] }
    expect(checkGrant({ domain: 'a.com' }, { url: 'https://a.com/', callback: 'https://b.com/' }, tool)?.value).toBe(
      'https://b.com/',
    )
    expect(checkGrant({ path: 'out' }, { target: 'in' }, tool)?.value).toBe('in')
  })

  test('pinned values and limits are filled in if the schema has the property', () => {
    const grant: GrantRecord = { model: 'm1', max_tokens: 10, seed: 7, temperature: [0, 1], domain: 'a.com', max_calls: 3 }
    expect(listPinnedArguments(grant, {}, TOOL)).toEqual({ model: 'm1', max_tokens: 10 })
    expect(listPinnedArguments(grant, { model: 'm2' }, TOOL)).toEqual({ max_tokens: 10 })
  })

  test.each<[string, GrantRecord[string], boolean]>([
    ['temperature', 2.5, false],
    ['temperature', 2, true],
    ['domain', 'https://x', false],
    ['domain', [], false],
    ['effects', ['http'], true],
    ['effects', 5, false],
    ['version', 2, false],
    ['max_cost_usd', 0.5, true],
    ['whatever', ['a', 1, true], true],
  ])('%s %j is well formed: %s', (key, value, fine) => {
    expect(constraintProblem(key, value) === null).toBe(fine)
  })
})

describe('grants of one scope', () => {
  test.each<[readonly GrantRecord[], GrantRecord]>([
    [[{ timeout_ms: 30000 }, { timeout_ms: 5000 }], { timeout_ms: 5000 }],
    [[{ domain: 'a.com' }, { domain: '*.b.com' }], { domain: ['a.com', '*.b.com'] }],
    [[{ domain: 'a.com' }, { domain: 'a.com' }], { domain: 'a.com' }],
    [[{ model: 'm1' }, { model: 'm1' }], { model: 'm1' }],
    [[{ model: ['m1'] }, { model: 'm2' }], { model: ['m1', 'm2'] }],
    [[{ max_calls: 2 }, { max_calls: 5 }], { max_calls: 2 }],
  ])('%j', (grants, merged) => {
    let grant: GrantRecord = {}
    for (const [key, value] of grants.flatMap((each) => Object.entries(each))) {
      const added = addConstraint(grant, key, value)
      expect(added.conflict).toBeNull()
      ;({ grant } = added)
    }
    expect(grant).toEqual(merged)
  })

  test('two different values of a pin conflict', () => {
    expect(addConstraint({ model: 'm1' }, 'model', 'm2').conflict).toEqual({ key: 'model', before: 'm1', now: 'm2' })
  })
})

test.each<[GrantRecord, GrantRecord, string | null]>([
  [{ domain: 'a.com' }, { domain: 'b.com' }, 'domain'],
  [{ domain: '*.b.com' }, { domain: 'x.b.com' }, null],
  [{ domain: 'x.b.com' }, { domain: '*.b.com' }, null],
  [{ domain: '*' }, { domain: 'x.b.com' }, null],
  [{ model: 'm1' }, { model: ['m2', 'm3'] }, 'model'],
  [{ model: 'm1' }, { temperature: 1 }, null],
])('%j under %j leaves nothing of: %s', (outer, inner, key) => {
  expect(findEmptiedKey(outer, inner)).toBe(key)
})
