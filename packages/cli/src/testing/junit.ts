// Test results as JUnit XML, as CI services read it: https://github.com/testmoapp/junitxml

import type { TestResult } from './runner.js'

/** One suite per file; `ms` is the total time. */
export function renderJunit(results: readonly TestResult[], ms: number): string {
  const files = new Map<string, TestResult[]>()
  for (const result of results) files.set(result.file, [...(files.get(result.file) ?? []), result])
  const suites = [...files].map(([file, own]) => {
    const cases = own.map((result) => renderCase(file, result)).join('')
    const time = own.reduce((sum, result) => sum + result.ms, 0)
    return `  <testsuite ${renderCounts(own, time)} name="${escapeAttribute(file)}">\n${cases}  </testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${renderCounts(results, ms)} name="bridle test">\n${suites.join('')}</testsuites>\n`
}

function renderCounts(results: readonly TestResult[], ms: number): string {
  const failures = results.filter(({ status }) => status === 'failed').length
  return `tests="${results.length}" failures="${failures}" errors="0" time="${formatSeconds(ms)}"`
}

function renderCase(file: string, { name, status, ms, error, report, output }: TestResult): string {
  const parts = [
    ...(status === 'failed' ? [`      <failure message="${escapeAttribute(error)}">${escapeXml(report)}</failure>\n`] : []),
    ...(output === '' ? [] : [`      <system-out>${escapeXml(output)}</system-out>\n`]),
  ]
  const open = `    <testcase name="${escapeXml(name ?? '<file error>')}" classname="${escapeAttribute(file)}" time="${formatSeconds(ms)}"`
  return parts.length === 0 ? `${open}/>\n` : `${open}>\n${parts.join('')}    </testcase>\n`
}

const formatSeconds = (ms: number): string => (ms / 1000).toFixed(3)

/** A line break in an attribute would be read as a space. */
const escapeAttribute = (text: string): string => escapeXml(text).replaceAll('\n', '&#10;')

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Characters that XML 1.0 cannot contain become `\u{…}`. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[&<>"]/g, (char) => ENTITIES[char]!)
    .replaceAll(
      /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu,
      (char) => String.raw`\u{` + char.codePointAt(0)!.toString(16) + '}',
    )
}
