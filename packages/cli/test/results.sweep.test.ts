// Declared fields of results, compared with the scripts of the suite: each call of such a builtin is rewritten so that
// it records the kinds of its result. A script that cannot run that way (its own source or its effects matter to it) records nothing.

import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readType } from '../../compiler/src/types/signature-text.js'
import { RESULT_TYPES } from '../../compiler/src/types/strict/results.generated.js'
import type { Type } from '../../compiler/src/types/type.js'
import { forEachChild, type Node, parse, SourceFile } from '@bridle/parser'
import { afterAll, expect, test } from 'vitest'
import { discover } from '../src/conformance/discover.js'
import { runTest } from '../src/conformance/modes.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-results-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const SEEN = join(folder, 'seen')

const NOTES = `fn seen__kinds(v, depth) {
  if type_of(v) == "dict" && depth < 3 { return v.map_values({ x -> seen__kinds(x, depth + 1) }) }
  if type_of(v) == "list" && depth < 3 && len(v) > 0 { return [seen__kinds(v[0], depth + 1)] }
  return type_of(v)
}
fn seen__(n, v) {
  try { append_file(${JSON.stringify(SEEN)}, n + " " + json_stringify(seen__kinds(v, 0)) + "\\n") } catch (e) {}
  return v
}
`

function rewrite(text: string): string | null {
  const { program } = parse(new SourceFile('script', text))
  const edits: (readonly [at: number, text: string])[] = []
  const visit = (node: Node, parent: Node | null): void => {
    if (node.kind === 'Interpolation') return
    if (node.kind === 'Call' && RESULT_TYPES.has(node.callee.text) && parent?.kind !== 'Pipe') {
      edits.push([node.span.start, `seen__("${node.callee.text}", `], [node.span.end, ')'])
    }
    forEachChild(node, (child) => visit(child, node))
  }
  for (const item of program?.items ?? []) visit(item, null)
  if (edits.length === 0) return null
  let out = NOTES
  let at = 0
  for (const [position, added] of edits.toSorted((one, other) => one[0] - other[0])) {
    out += text.slice(at, position) + added
    at = position
  }
  return out + text.slice(at)
}

/** The problem of a value; null when it matches the declaration. */
function compare(type: Type, value: unknown, at: string): string | null {
  const kind = typeof value === 'string' ? value : Array.isArray(value) ? 'list' : 'dict'
  const isPlain = typeof value === 'string' // deeper values are recorded by their kind
  switch (type.kind) {
    case 'union': {
      const found = type.members.map((member) => compare(member, value, at))
      return found.includes(null) ? null : (found[0] ?? null)
    }
    case 'list':
      if (kind !== 'list') return `${at}: list declared, got ${kind}`
      return isPlain ? null : compare(type.element, (value as unknown[])[0], `${at}[]`)
    case 'shape': {
      if (kind !== 'dict') return `${at}: dict declared, got ${kind}`
      if (isPlain) return null
      const fields = value as Readonly<Record<string, unknown>>
      for (const { name, optional, type: declared } of type.fields) {
        if (name === '*') continue
        if (!Object.hasOwn(fields, name)) {
          if (!optional) return `${at}.${name}: declared, not there`
          continue
        }
        const found = compare(declared, fields[name], `${at}.${name}`)
        if (found !== null) return found
      }
      if (type.fields.some(({ name }) => name === '*')) return null
      const other = Object.keys(fields).find((name) => !type.fields.some((field) => field.name === name))
      return other === undefined ? null : `${at}.${other}: there, not declared`
    }
    case 'named':
      return type.name === 'any' || type.name === kind ? null : `${at}: ${type.name} declared, got ${kind}`
    default:
      return null
  }
}

test('results of builtins have the declared fields', { timeout: 300_000 }, async () => {
  const suite = join(folder, 'tests')
  cpSync(resolve(import.meta.dirname, '../../../conformance/tests'), suite, { recursive: true })
  appendFileSync(SEEN, '')
  const rewritten = new Set<string>()
  for (const entry of readdirSync(suite, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !entry.name.endsWith('.harn') || !existsSync(path.replace(/\.harn$/, '.expected'))) continue
    const text = rewrite(readFileSync(path, 'utf8'))
    if (text === null) continue
    writeFileSync(path, text)
    rewritten.add(path)
  }
  for (const script of discover(suite)) {
    if (rewritten.has(script.file) && script.kind === 'positive') {
      await runTest(script, ['base'], { signal: AbortSignal.timeout(60_000) })
    }
  }
  const wrong = new Set<string>()
  const run = new Set<string>()
  for (const line of readFileSync(SEEN, 'utf8').split('\n')) {
    const cut = line.indexOf(' ')
    if (cut < 0) continue
    const name = line.slice(0, cut)
    run.add(name)
    const found = compare(readType(RESULT_TYPES.get(name)!), JSON.parse(line.slice(cut + 1)), name) // it was rewritten
    if (found !== null) wrong.add(found)
  }
  expect([...wrong]).toEqual([])
  expect([...RESULT_TYPES.keys()].filter((name) => !run.has(name))).toEqual([])
})
