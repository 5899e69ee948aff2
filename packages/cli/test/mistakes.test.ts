// Common mistakes in scripts: each script of conformance/mistakes must give its finding, and the repaired one beside it
// none. The first line of a wrong script is `// expect: SEVERITY at line N, CODE[, repaired]`; `repaired` says that `check --fix`
// produces the right one. `programs` has longer right ones. Of the scripts without findings, and of repairs, `npm test` takes every eighth.

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { lintRule } from '@bridle/compiler'
import { describe, expect, inject, test } from 'vitest'
import { repairTarget } from '../src/checking/repair.js'
import { FOLDER, check, checkParsed, formatFinding, read } from './strict-check.js'

/** Mistakes that are not found yet. Lines may only be removed. */
const KNOWN_MISSES: ReadonlySet<string> = new Set()

interface Expected {
  readonly severity: string
  readonly line: number
  readonly code: string
  readonly isRepaired: boolean
}

function readExpected(text: string): Expected | null {
  const found = /^\/\/ expect: (error|warning) at line (\d+), ([A-Z]\d+)(, repaired)?$/m.exec(text.slice(0, text.indexOf('\n')))
  if (found === null) return null
  const [, severity, line, code, repaired] = found
  return { severity: severity!, line: Number(line), code: code!, isRepaired: repaired !== undefined }
}

const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.harn'))
  .sort()
const wrong = files.filter((name) => readExpected(readFileSync(join(FOLDER, name), 'utf8')) !== null)
const right = files.filter((name) => name.endsWith('.right.harn'))

const PACKAGES = resolve(FOLDER, '../../packages/stdlib-tools/src')

/** Modules of the library, including those of the machine. */
const modules = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.harn'))
  .sort()

/** What cannot be written differently: the operation of a host whose name is computed. */
const MEANT: ReadonlySet<string> = new Set(['std/runtime.harn error at line 5, H008'])

function sample(names: readonly string[]): readonly string[] {
  return inject('isDense') ? names : names.filter((_, at) => at % 8 === 0)
}

describe('mistakes', () => {
  test.each(wrong)('%s is found', (name) => {
    const text = readFileSync(join(FOLDER, name), 'utf8')
    const { severity, line, code, isRepaired } = readExpected(text)!
    const found = check(name)
    const isFound = found.map(formatFinding).includes(`${severity} at line ${line}, ${code}`)
    if (KNOWN_MISSES.has(name)) {
      expect(isFound, `${name} is found now: take it out of KNOWN_MISSES`).toBe(false)
      return
    }
    expect(found.map(formatFinding)).toContain(`${severity} at line ${line}, ${code}`)
    if (!isRepaired) return
    const fixed = repairTarget(read(name), checkParsed).parsed.target.text
    expect(fixed.slice(fixed.indexOf('\n') + 1)).toBe(readFileSync(join(FOLDER, name.replace(/\.harn$/, '.right.harn')), 'utf8'))
  })

  test.each(sample(right))('%s gives no finding', (name) => {
    // Rules of style are findings of lint.
    const told = check(name).filter(({ diagnostic }) => lintRule(diagnostic.code) === null)
    expect(told.map(formatFinding)).toEqual([])
  })

  test.each(sample(wrong))('repairs of %s produce a source that parses, if the original did', (name) => {
    const parsed = read(name)
    const repaired = repairTarget(parsed, checkParsed)
    if (parsed.program !== null) expect(repaired.parsed.diagnostics).toEqual([])
    else expect(repaired.parsed.diagnostics.length).toBeLessThanOrEqual(parsed.diagnostics.length)
  })

  test('each wrong script has a right one beside it', () => {
    const there = new Set(files)
    expect(wrong.filter((name) => !there.has(name.replace(/\.harn$/, '.right.harn')))).toEqual([])
    expect([...KNOWN_MISSES].filter((name) => !there.has(name))).toEqual([])
  })

  test.each(sample(modules))('%s of the library gives no finding', (name) => {
    const path = name.replaceAll('\\', '/')
    const found = check(name, PACKAGES).map((finding) => `${path} ${formatFinding(finding)}`)
    expect(found.filter((line) => !MEANT.has(line))).toEqual([])
  })
})
