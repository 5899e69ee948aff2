// Output of `bridle test --coverage`: a table, data for `--json`, and lcov, which editors and CI services read.

import { relative, resolve } from 'node:path'
import { Coverage } from '@bridle/stdlib-tools'
import type { BranchCount, FileCoverage } from '@bridle/stdlib-tools'
import { toOneLine } from '../printable.js'
import type { TestFile } from './discover.js'

/** Counts the code that tests reach, without the tests themselves. */
export function makeTestCoverage(files: readonly TestFile[]): Coverage {
  const tests = new Map(files.map((file) => [file.key, file.spans]))
  return new Coverage({
    skips: (file, { start, end }) => (tests.get(file) ?? []).some((test) => test.start <= start && end <= test.end),
  })
}

interface Count {
  readonly found: number
  readonly hit: number
}

export interface CoverageRow {
  readonly file: string
  readonly lines: Count
  readonly functions: Count
  readonly branches: Count
  /** Lines that no test reaches, as ranges. */
  readonly missed: readonly (readonly [from: number, to: number])[]
}

const count = (items: readonly { readonly hits: number }[]): Count => ({
  found: items.length,
  hit: items.filter(({ hits }) => hits > 0).length,
})

const add = (counts: readonly Count[]): Count => ({
  found: counts.reduce((sum, { found }) => sum + found, 0),
  hit: counts.reduce((sum, { hit }) => sum + hit, 0),
})

/** 100 if there is nothing to reach; rounded down, so that 100 means complete. */
const percent = ({ found, hit }: Count): number => (found === 0 ? 100 : Math.floor((hit / found) * 1000) / 10)

function makeRow({ file, lines, functions, branches }: FileCoverage): CoverageRow {
  return {
    file: showPath(file),
    lines: count(lines),
    functions: count(functions),
    branches: count(branches),
    missed: findMissed(lines),
  }
}

/** Lines without code between two missed ones belong to their range. */
function findMissed(lines: FileCoverage['lines']): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = []
  let isOpen = false
  for (const { line, hits } of lines) {
    if (hits === 0 && isOpen) ranges.at(-1)![1] = line
    else if (hits === 0) ranges.push([line, line])
    isOpen = hits === 0
  }
  return ranges
}

/** Relative to the working folder if below it. */
function showPath(file: string): string {
  const path = relative(process.cwd(), resolve(file))
  return path === '' || path.startsWith('..') ? file : path
}

function sum(rows: readonly CoverageRow[]): Omit<CoverageRow, 'file' | 'missed'> {
  return {
    lines: add(rows.map((row) => row.lines)),
    functions: add(rows.map((row) => row.functions)),
    branches: add(rows.map((row) => row.branches)),
  }
}

/** A table for people. */
export function renderCoverage(files: readonly FileCoverage[]): string {
  if (files.length === 0) return '\nCoverage: the tests ran no code beside themselves\n'
  const rows = files.map(makeRow)
  const show = (name: string, { lines, functions, branches }: Omit<CoverageRow, 'file' | 'missed'>, missed: string): string[] => [
    toOneLine(name),
    ...[lines, functions, branches].map((each) => (each.found === 0 ? '-' : percent(each).toFixed(1))),
    missed,
  ]
  const cells = [
    ['file', '% lines', '% functions', '% branches', 'lines not reached'],
    ...rows.map((row) =>
      show(row.file, row, row.missed.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')),
    ),
    show('all files', sum(rows), ''),
  ]
  const widths = cells[0]!.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)))
  const lines = cells.map((row) =>
    row
      .map((cell, at) => (at === 0 || at === row.length - 1 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd(),
  )
  return `\n${lines.join('\n')}\n`
}

/** For `--json`: the same with every count. */
export function makeCoverageDocument(files: readonly FileCoverage[]): unknown {
  const withPercent = (each: Count): unknown => ({ ...each, percent: percent(each) })
  const totals = sum(files.map(makeRow))
  return {
    lines: withPercent(totals.lines),
    functions: withPercent(totals.functions),
    branches: withPercent(totals.branches),
    files: files.map((file) => {
      const row = makeRow(file)
      return {
        file: row.file,
        lines: { ...(withPercent(row.lines) as object), items: file.lines },
        functions: { ...(withPercent(row.functions) as object), items: file.functions },
        branches: { ...(withPercent(row.branches) as object), items: file.branches },
      }
    }),
  }
}

/** https://ltp.sourceforge.net/coverage/lcov/geninfo.1.php */
export function renderLcov(files: readonly FileCoverage[]): string {
  return files.map(renderRecord).join('')
}

function renderRecord(file: FileCoverage): string {
  const { file: path, lines, functions, branches } = makeRow(file)
  // lcov identifies functions by name: those that share one, such as closures, get their line appended.
  const seen = new Set<string>()
  const named = file.functions.map((each) => {
    let name = each.name
    for (let more = 1; seen.has(name); more++) name = `${each.name}@${each.line}${more === 1 ? '' : `.${more}`}`
    seen.add(name)
    return { ...each, name }
  })
  return [
    `TN:`,
    `SF:${path}`,
    ...named.map(({ line, name }) => `FN:${line},${name}`),
    ...named.map(({ hits, name }) => `FNDA:${hits},${name}`),
    `FNF:${functions.found}`,
    `FNH:${functions.hit}`,
    ...file.branches.map((each) => `BRDA:${each.line},${each.branch},${each.arm},${countArm(each, file.branches)}`),
    `BRF:${branches.found}`,
    `BRH:${branches.hit}`,
    ...file.lines.map(({ line, hits }) => `DA:${line},${hits}`),
    `LF:${lines.found}`,
    `LH:${lines.hit}`,
    'end_of_record\n',
  ].join('\n')
}

/** `-` means that the branch was never reached, 0 that another arm was taken. */
function countArm({ branch, hits }: BranchCount, all: readonly BranchCount[]): string {
  return hits === 0 && all.every((each) => each.branch !== branch || each.hits === 0) ? '-' : String(hits)
}
