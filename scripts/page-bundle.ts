// The bundle that a page loads, made from source as a user's bundler would make it.

import { join } from 'node:path'
import { build } from 'esbuild'
import { entries, root } from './workspace.mjs'

/**
 * The most bytes that it may have, minified. What is left to save: families of builtins that a page never uses (agents 0.47 MB, formats and
 * HTTP 0.28), which a machine needs at once and could only be loaded before a program is linked.
 */
export const MOST_PAGE_BYTES = 3_250_000

export async function bundlePage(): Promise<Uint8Array> {
  const result = await build({
    entryPoints: [join(root, 'scripts', 'browser-page.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    alias: Object.fromEntries(entries().map((entry) => [entry.name, join(root, entry.source)])),
    logLevel: 'warning',
  })
  return result.outputFiles[0]!.contents
}
