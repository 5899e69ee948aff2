// What a page loads does not grow unseen.

import { expect, test } from 'vitest'
import { MOST_PAGE_BYTES, bundlePage } from './page-bundle.js'

test('the bundle of a page has its size', async () => {
  expect((await bundlePage()).length).toBeLessThan(MOST_PAGE_BYTES)
}, 60_000)
