// Writes the files generated from packages/parser/src/harn.ohm: grammar.generated.ts (the rules as data) and parser.generated.ts (the
// parser; see packages/parser/scripts/emit-parser.ts). Run with `node --import tsx scripts/generate-grammar.ts`; with
// `--check` it only compares, and fails when a file is stale. The result depends only on harn.ohm, tokens.ts, the generator and
// ohm-js.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { generateGrammarModule, generateParserModule } from '../packages/parser/scripts/grammar-source.js'

const folder = new URL('../packages/parser/src/', import.meta.url)
const source = readFileSync(new URL('harn.ohm', folder), 'utf8')
const modules = { 'grammar.generated.ts': generateGrammarModule(source), 'parser.generated.ts': generateParserModule(source) }

for (const [name, text] of Object.entries(modules)) {
  const target = new URL(name, folder)
  if (!process.argv.includes('--check')) {
    writeFileSync(target, text)
    console.log(`wrote ${fileURLToPath(target)}`)
  } else if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    console.error(`packages/parser/src/${name} is stale: run node --import tsx scripts/generate-grammar.ts`)
    process.exitCode = 1
  }
}
