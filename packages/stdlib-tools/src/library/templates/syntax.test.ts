import { countUnitsDone } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { parseTemplate } from './syntax.js'

function countUnits(text: string): number {
  const before = countUnitsDone()
  parseTemplate(text)
  return countUnitsDone() - before
}

test('a template that was read before costs what it cost the first time', () => {
  const text = '{{ for each in list }}{{ each.name | upper }}, {{ end }}{{ if a == "b" }}yes{{ else }}no{{ end }}'
  const first = countUnits(text)
  expect(first).toBeGreaterThan(0)
  expect(countUnits(text)).toBe(first)
})
