// A tool of many steps, killed in front of each of more than a hundred commits.

import { expect, test } from 'vitest'
import { killAtEachCommit } from '../test-support/durable-steps.js'

test('every step is made once, and the tool ends', async () => {
  expect(await killAtEachCommit(52)).toBeGreaterThan(100)
}, 300_000)
