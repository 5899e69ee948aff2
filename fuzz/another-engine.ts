// QuickJS as WebAssembly: a JavaScript engine other than V8. The host-independent part of Bridle is bundled; runs that start in V8 are
// resumed there from their snapshots. It runs only the base tier: QuickJS gains nothing from compiled code.

import { join } from 'node:path'
import { newQuickJSWASMModuleFromVariant, shouldInterruptAfterDeadline } from 'quickjs-emscripten-core'
import type { QuickJSSyncVariant } from 'quickjs-emscripten-core'
import { build } from 'esbuild'
import { entries, root } from '../scripts/workspace.mjs'
import type { Begun, Ending } from './engine.js'
import type { Errand } from './guest.js'

const STACK_BYTES = 1 << 20
const PATIENCE_MS = 120_000

export interface OtherEngine {
  /** The end of a run of `source` that was started elsewhere. Throws an Error when it cannot continue. */
  goOn(source: string, begun: Begun): Ending
  dispose(): void
}

export async function startOtherEngine(): Promise<OtherEngine> {
  const quickjs = await newQuickJSWASMModuleFromVariant(
    import('@jitl/quickjs-wasmfile-release-sync') as unknown as Promise<{ default: QuickJSSyncVariant }>,
  )
  const context = quickjs.newContext()
  context.runtime.setMaxStackSize(STACK_BYTES)
  const evaluate = (text: string): unknown => {
    context.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + PATIENCE_MS))
    const result = context.evalCode(text)
    if (result.error !== undefined) {
      const { name, message, stack } = result.error.consume((error) => context.dump(error)) as Error
      throw new Error(`${name}: ${message}\n${stack}`)
    }
    return result.value.consume((value) => context.dump(value) as unknown)
  }
  evaluate(`${await guestText()};0`)
  return {
    goOn(source, { snapshot, ...begun }) {
      const errand: Errand = { ...begun, source, snapshot: Buffer.from(snapshot).toString('hex') }
      return JSON.parse(evaluate(`goOn(${JSON.stringify(JSON.stringify(errand))})`) as string) as Ending
    },
    dispose: () => context.dispose(),
  }
}

async function guestText(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'fuzz', 'guest.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: 'warning',
    alias: {
      ...Object.fromEntries(entries().map((entry) => [entry.name, join(root, entry.source)])),
      'node:crypto': join(root, 'fuzz', 'guest-crypto.ts'),
    },
    nodePaths: [join(root, 'packages', 'vm', 'node_modules')],
  })
  return outputFiles[0]!.text
}
