import { describe, expect, test } from 'vitest'
import { costProblem } from './pattern-cost.mjs'

describe('patterns that take more than linear time', () => {
  test.each<[RegExp, string]>([
    [/^(?:a+)+$/, 'exponential'],
    [/^(?:a|a)*$/, 'exponential'],
    [/^(?:a*)*b/, 'exponential'],
    [/(?:\w+\s?)*$/, 'exponential'],
    [/\s+$/, 'quadratic'],
    [/\s*,/, 'quadratic'],
    [/<think>.*<\/think>/s, 'quadratic'],
    [/a.*?b/, 'quadratic'],
    [/^\s*\w*\s*$/m, 'quadratic'],
    [/^a*a*$/, 'quadratic'],
    [/^.*,.*,x/, 'quadratic'],
    [/a(?:.*b)?/, 'quadratic'],
    [/^[ \t]*$\s*x/m, 'quadratic'],
    [/x\w*!/, 'quadratic'],
    [/(a)\1/, 'refers back'],
    [/a(?=.*b)/, 'looks around'],
    [/a{0,500}b/, 'quadratic'],
  ])('%s', (pattern, why) => expect(costProblem(pattern.source, pattern.flags)).toContain(why))
})

describe('patterns that take linear time', () => {
  test.each([
    [/\s+/g],
    [/\bx\w*!/],
    [/^\s+/],
    [/^\s*(?:\w+)\s*$/],
    [/^<think>(.*?)<\/think>/s],
    [/^\d+\.\d+$/],
    [/^[ \t]*foo/gm],
    [/[^a-z]+/gi],
    [/\s*,/y],
    [/^(?:\w+\.)*\w+$/],
    [/\b\w+\b(?!x)/],
    [/a{0,5}b/],
    [/^(?:a|b)*$/],
    [/\p{L}+/u],
    [/%(?:25)*2e/i],
    [/"(?:[^"\\]|\\.)*"/y],
  ])('%s', (pattern) => expect(costProblem(pattern.source, pattern.flags)).toBeNull())
})
