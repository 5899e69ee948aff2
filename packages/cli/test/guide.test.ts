// The scripts of docs/ do what the pages say: a ```harn block prints the ```output that follows it before the
// next one, or fails with the ```error. ```harn file=NAME blocks are modules that later scripts of the page can import.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  answered,
  CompileError,
  createRuntime,
  defineTool,
  memoryModules,
  pureFunction,
  VirtualClock,
} from '@bridle/stdlib-tools'
import type { Runtime } from '@bridle/stdlib-tools'
import { expect, test } from 'vitest'
import { z } from 'zod'

const docs = fileURLToPath(new URL('../../../docs', import.meta.url))
const folders = ['language', 'divergences', 'embedding', 'tools']

interface Example {
  readonly name: string
  readonly source: string
  readonly kind: 'output' | 'error'
  readonly wanted: string
  readonly modules: Readonly<Record<string, string>>
}

const BLOCKS = /^```(harn|output|error)(?: file=(\S+))?\n([\s\S]*?)^```$/gm

function listExamples(page: string): Example[] {
  const text = readFileSync(join(docs, page), 'utf8')
  const modules: Record<string, string> = {}
  const found: Example[] = []
  let script: { readonly source: string; readonly line: number } | null = null
  for (const [block, kind, file, content = ''] of text.matchAll(BLOCKS)) {
    if (kind === 'harn') {
      if (file !== undefined) modules[file] = content
      script = file === undefined ? { source: content, line: text.slice(0, text.indexOf(block)).split('\n').length } : null
    } else if (script !== null) {
      found.push({
        name: `${page}:${script.line}`,
        source: script.source,
        kind: kind as 'output' | 'error',
        wanted: content,
        modules: { ...modules },
      })
      script = null
    }
  }
  return found
}

const examples = folders.flatMap((folder) =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((name) => listExamples(`${folder}/${name}`)),
)

/** KEEP WITH: the TypeScript of docs/language/host.md. */
function makeGuideRuntime(modules: Readonly<Record<string, string>>): Runtime {
  return createRuntime({
    // The report of a run, and of `check` elsewhere.
    strictness: 'language',
    clock: new VirtualClock(1_700_000_000_000),
    // Daemons write their queue to disk; no page reads a file.
    providers: [{ kinds: ['fs.write'], perform: () => answered(null) }],
    grants: ['fs.write'],
    resolve: memoryModules(modules),
    tools: [
      defineTool({
        name: 'shop.price',
        input: z.object({ article: z.string() }),
        execute: ({ article }) => ({ article, cents: article === 'tea' ? 350 : 1200 }),
      }),
      defineTool({
        name: 'shop.order',
        sideEffect: 'network',
        execute: () => {
          throw new Error('closed on Sundays')
        },
      }),
    ],
    hostFunctions: { calc: { scale: pureFunction({ params: [z.int(), z.int()], returns: z.int(), run: (x, by) => x * by }) } },
  })
}

async function runExample({ source, modules }: Pick<Example, 'source' | 'modules'>): Promise<{ kind: string; text: string }> {
  const runtime = makeGuideRuntime(modules)
  try {
    const result = await runtime.start(runtime.compile(source, { file: 'example.harn' })).result
    if (result.status === 'failed') return { kind: 'error', text: `${result.error.message}\n` }
    return { kind: result.status === 'done' ? 'output' : result.status, text: result.output }
  } catch (cause) {
    if (cause instanceof CompileError)
      return { kind: 'error', text: `${cause.diagnostics.find((each) => each.severity === 'error')?.message}\n` }
    throw cause
  }
}

test('the guide has examples', () => {
  expect(examples.length).toBeGreaterThan(55)
})

test.each(examples.map((example) => [example.name, example] as const))('%s', async (_, example) => {
  expect(await runExample(example)).toEqual({ kind: example.kind, text: example.wanted })
})
