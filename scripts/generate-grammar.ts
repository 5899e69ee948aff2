// Writes packages/parser/src/grammar.generated.ts from harn.ohm. Run with `node --import tsx scripts/generate-grammar.ts`; with
// `--check` it only compares, and fails when the file is stale. The result depends on harn.ohm, tokens.ts and ohm-js alone.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { generateGrammarModule } from '../packages/parser/src/grammar-source.js'

const folder = new URL('../packages/parser/src/', import.meta.url)
const target = new URL('grammar.generated.ts', folder)
const text = generateGrammarModule(readFileSync(new URL('harn.ohm', folder), 'utf8'))

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== text) {
    console.error('packages/parser/src/grammar.generated.ts is stale: run node --import tsx scripts/generate-grammar.ts')
    process.exitCode = 1
  }
} else {
  writeFileSync(target, text)
  console.log(`wrote ${fileURLToPath(target)}`)
}
