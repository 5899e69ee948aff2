// Every page is linked from another one, every link has a target, decision pages are short and
// numbered without gaps.

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const MOST_WORDS = 600

function listPages(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return listPages(join(folder, entry.name))
    return entry.name.endsWith('.md') ? [join(folder, entry.name)] : []
  })
}

const topPages = readdirSync(root).filter((name) => name.endsWith('.md'))
const pages = [...topPages, ...listPages('docs'), ...['conformance', 'fuzz', 'hostile'].map((name) => join(name, 'README.md'))]

/** Targets of links, relative to the root. Links in code are ignored. */
function listTargets(page: string): string[] {
  const prose = readFileSync(join(root, page), 'utf8')
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !target.includes('://'))
    .map((target) => normalize(join(dirname(page), target)))
}

test.each(pages)('%s has no conflict markers', (page) => {
  expect(readFileSync(join(root, page), 'utf8')).not.toMatch(/^(?:<{7}|>{7}) /m)
})

const targets = pages.flatMap((page) => listTargets(page).map((target) => ({ page, target })))

test('every link of a page leads to a file', () => {
  expect(targets.filter(({ target }) => !existsSync(join(root, target)))).toEqual([])
})

test('every page can be reached from README.md', () => {
  const reached = new Set(['README.md'])
  for (const page of reached)
    for (const { page: from, target } of targets) if (from === page && pages.includes(target)) reached.add(target)
  const unreached = pages.filter((page) => !reached.has(page) && page !== 'CHANGELOG.md')
  expect(unreached).toEqual([])
})

const decisions = listPages('docs/decisions').filter((page) => /\/\d{4}-/.test(page))

test('decision pages are numbered without gaps', () => {
  const numbers = decisions.map((page) => Number(/\/(\d{4})-/.exec(page)![1])).sort((a, b) => a - b)
  expect(numbers).toEqual(numbers.map((_, index) => index))
})

test.each(decisions)('%s has one page and the parts of the template', (page) => {
  const content = readFileSync(join(root, page), 'utf8')
  expect(content.split(/\s+/).filter((word) => word !== '').length).toBeLessThanOrEqual(MOST_WORDS)
  for (const part of ['**Question.**', '**Options.**', '**Choice.**', '**Consequences.**', '**Reopen when'])
    expect(content).toContain(part)
})
