// `bridle test --coverage`: what is counted, and the output formats. coverage.sweep.test.ts shows that counting changes nothing else.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Coverage, createRuntime } from '@bridle/stdlib-tools'
import { afterAll, expect, test } from 'vitest'
import { runInProcess } from './in-process.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-coverage-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

mkdirSync(join(folder, 'lib'))
writeFileSync(
  join(folder, 'lib', 'sizes.harn'),
  `pub fn size(n: int) -> string {
  if n > 10 {
    return "big"
  } else if n > 5 {
    return "middle"
  }
  let sign = n < 0 ? "negative" : "small"
  return sign
}

pub fn name(value) {
  return match value {
    1 -> { "one" }
    _ -> { "many" }
  }
}

pub fn unused(xs: list<int>) {
  return xs
    .map({ x -> x + 1 })
}

pub fn ends(n) {
  guard n > 0 else {
    return nil
  }
  try {
    return n
  } finally {
    println("end")
  }
}
`,
)
writeFileSync(
  join(folder, 'sizes_test.harn'),
  `import { ends, name, size } from "lib/sizes"

fn helper() {
  return 20
}

pipeline test_big() {
  assert_eq(size(helper()), "big")
  if false {
    println("never")
  }
}

pipeline test_negative() {
  assert_eq(size(-1), "negative")
  assert_eq(name(1), "one")
  assert_eq(ends(3), 3)
}
`,
)

test('prints a table of the files that tests import, without the tests themselves', async () => {
  const { code, stdout } = await runInProcess(folder, ['test', '--coverage'])
  expect(code).toBe(0)
  expect(stdout.slice(stdout.indexOf('\nfile ')).trimStart()).toMatchInlineSnapshot(`
    "file             % lines  % functions  % branches  lines not reached
    lib/sizes.harn      66.6         60.0        60.0  5, 14-20, 25
    sizes_test.harn    100.0        100.0           -
    all files           68.7         66.6        60.0
    "
  `)
})

test('lcov, with counts that add up over tests', async () => {
  expect((await runInProcess(folder, ['test', '--lcov', 'out.info', '--filter', 'test_*'])).code).toBe(0)
  const record = readFileSync(join(folder, 'out.info'), 'utf8').split('end_of_record\n')[0]!.split('\n')
  expect(record).toContain('SF:lib/sizes.harn')
  expect(record).toContain('FNDA:2,size')
  expect(record).toContain('FNDA:0,unused')
  expect(record.filter((line) => line.startsWith('DA:2,') || line.startsWith('DA:5,'))).toEqual(['DA:2,2', 'DA:5,0'])
  // The first `if`: once each way. The match: the second arm never, though it was reached. The guard: never left.
  expect(record.filter((line) => line.startsWith('BRDA'))).toEqual([
    'BRDA:2,0,0,1',
    'BRDA:2,0,1,1',
    'BRDA:4,1,0,0',
    'BRDA:4,1,1,1',
    'BRDA:7,2,0,1',
    'BRDA:7,2,1,0',
    'BRDA:12,3,0,1',
    'BRDA:12,3,1,0',
    'BRDA:24,4,0,1',
    'BRDA:24,4,1,0',
  ])
})

test('--json includes it in the document', async () => {
  const { stdout } = await runInProcess(folder, ['test', '--coverage', '--json', '--filter', 'test_big'])
  expect(JSON.parse(stdout)).toMatchObject({
    passed: 1,
    coverage: {
      functions: { found: 6, hit: 2 },
      files: [{ file: 'lib/sizes.harn', branches: { found: 10, hit: 1, percent: 10 } }, { file: 'sizes_test.harn' }],
    },
  })
  expect(JSON.parse((await runInProcess(folder, ['test', '--json'])).stdout)).not.toHaveProperty('coverage')
})

test('a file that cannot be written is an error', async () => {
  expect(await runInProcess(folder, ['test', '--lcov', 'none/out.info'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot write none/out.info') as string,
  })
})

test('an embedder counts the runs of a runtime, in either tier', async () => {
  const coverage = new Coverage()
  const runtime = createRuntime({ coverage })
  const text =
    'pipeline main() {\n  var sum = 0\n  for x in 0 to 20000 {\n    sum = x % 2 == 0 ? sum + 1 : sum\n  }\n  return sum\n}\n'
  expect(await runtime.run(text)).toBe(10001)
  const [file] = coverage.report()
  expect(file!.lines).toContainEqual({ line: 4, hits: 20001 })
  expect(file!.branches.map(({ hits }) => hits)).toEqual([10001, 10000])
})
