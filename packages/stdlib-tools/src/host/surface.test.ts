// The TypeScript surface of reference 05 §6, line by line: what was asked for, what it is called here, and the test that shows it at work.
// The names there are proposals; ours follow the rest of the code. A name that goes, or a test that is renamed, fails here.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import * as ai from '../ai/index.js'
import * as catalogue from './catalogue/index.js'
import * as root from '../index.js'
import * as mcp from '../mcp/index.js'
import * as node from '../node/index.js'
import * as otel from '../otel/index.js'

const ENTRIES = { root, node, mcp, ai, otel, catalogue } as const
type EntryName = keyof typeof ENTRIES

const folder = fileURLToPath(new URL('../../../', import.meta.url))
const HERE = 'packages/stdlib-tools/src'

interface Row {
  /** As the reference writes it. */
  readonly asked: string
  /** Exports by entry, or members of a class: `root.Run.prototype.snapshot`. Options of functions have no export. */
  readonly ours: readonly `${EntryName}.${string}`[]
  readonly shown: readonly (readonly [file: string, text: string])[]
}

const row = (asked: string, ours: Row['ours'], file: string, ...texts: readonly string[]): Row => ({
  asked,
  ours,
  shown: texts.map((text) => [file.includes('/') && !file.startsWith('.') ? file : `${HERE}/${file.replace('./', '')}`, text]),
})

const RUNTIME = './runtime.test.ts'
const REGISTRY = `${HERE}/tools/registry.test.ts`

const ROWS: readonly Row[] = [
  // definition
  row('defineTool', ['root.defineTool'], `${HERE}/tools/tools.test.ts`, "describe('definitions'"),
  row('defineTool: effects, category, level, recovery, retry', ['root.defineTool'], REGISTRY, 'names, aliases, categories'),
  row(
    'defineProvider',
    ['root.defineProvider', 'root.toolsOf'],
    `${HERE}/tools/provider.test.ts`,
    'schemas are asked for at the first call',
  ),
  row('partialTool', ['root.partialTool'], `${HERE}/tools/combine.test.ts`, 'a partial tool has the rest of the parameters'),
  row('composeTools', ['root.composeTools'], `${HERE}/tools/combine.test.ts`, 'a composed tool hands results on'),
  row(
    'ctx.signal, ctx.tools.call, ctx.tools.batch',
    ['root.defineTool'],
    REGISTRY,
    'tools call tools: numbered, under one signal, not for ever',
    'batch',
  ),
  row('ctx.payload, prepare, finish', ['root.finish'], REGISTRY, 'a prepare step fills in, attaches, answers or fails'),
  row(
    'ctx.attempt, ctx.maxAttempts, ctx.idempotencyKey',
    ['root.defineTool'],
    REGISTRY,
    'every attempt of a call sees what was prepared once',
  ),
  row('ctx.progress', ['root.defineTool'], RUNTIME, "test('progress'"),
  row(
    'pending, runtime.completeTool',
    ['root.pending', 'root.Runtime.prototype.completeTool'],
    RUNTIME,
    'a result that comes later',
  ),
  row('errorFromResponse', ['root.errorFromResponse'], `${HERE}/tools/stub.test.ts`, 'status %i %j %j is %s'),
  row(
    'retryPresets, backoffDelay',
    ['root.retryPresets', 'root.backoffDelay'],
    `${HERE}/tools/stub.test.ts`,
    'presets and their delays',
  ),
  // assembly
  row('createRuntime({ tools })', ['root.createRuntime'], RUNTIME, "describe('tools'"),
  row('stdTools', ['catalogue.stdTools'], `${HERE}/catalogue/catalogue.test.ts`, 'the catalogue lists itself'),
  row('limits', ['root.createRuntime'], RUNTIME, 'an endless loop stops on fuel'),
  row(
    'runtime.compile, CompileError with diagnostics',
    ['root.Runtime.prototype.compile', 'root.CompileError'],
    RUNTIME,
    'source that does not compile',
  ),
  row(
    'compile({ effects })',
    ['root.Runtime.prototype.compile'],
    `${HERE}/manifest.test.ts`,
    "effects: 'strict' | 'declared-only'",
  ),
  row(
    'compile({ imports })',
    ['root.Runtime.prototype.compile'],
    `${HERE}/policy/imports.test.ts`,
    'what a host leaves to an import',
  ),
  row('module.manifest', ['root.Module'], `${HERE}/manifest.test.ts`, "describe('what a function can reach'"),
  row(
    'createRegistry, registry.use',
    ['root.createRegistry', 'root.ToolRegistry.prototype.use'],
    REGISTRY,
    'two tools of one name',
  ),
  row(
    'registry.list, get, has (exists), categories, search (discover)',
    [
      'root.ToolRegistry.prototype.list',
      'root.ToolRegistry.prototype.get',
      'root.ToolRegistry.prototype.has',
      'root.ToolRegistry.prototype.categories',
      'root.ToolRegistry.prototype.search',
    ],
    REGISTRY,
    "describe('looking up'",
  ),
  row(
    'registry.call (execute, dispatch), tryCall',
    ['root.ToolRegistry.prototype.call', 'root.ToolRegistry.prototype.tryCall'],
    REGISTRY,
    'arguments with defaults in, checked results out',
  ),
  row(
    'registry.batch',
    ['root.ToolRegistry.prototype.batch'],
    REGISTRY,
    'outcomes in order, so many at a time',
    'the first failure may end all',
  ),
  row(
    'registry.stream',
    ['root.ToolRegistry.prototype.stream'],
    REGISTRY,
    'chunks, then the result',
    'leaving early ends the tool',
  ),
  row('registry.metrics', ['root.ToolRegistry.prototype.metrics'], REGISTRY, '.metrics('),
  // execution
  row('runtime.start, run.result', ['root.Runtime.prototype.start', 'root.Run'], RUNTIME, 'a value, output and input'),
  row('run.events()', ['root.Run.prototype.events'], RUNTIME, "test('events'"),
  row('start({ grants })', ['root.Runtime.prototype.start'], RUNTIME, 'a run can only narrow'),
  row(
    'start({ budgets }), run.budgets',
    ['root.Runtime.prototype.start'],
    `${HERE}/policy/budgets.test.ts`,
    'calls are counted, and what is left is told',
  ),
  row('start({ signal }), run.cancel', ['root.Run.prototype.cancel'], RUNTIME, 'an endless loop gives way, and can be cancelled'),
  // suspension, replay
  row(
    'run.snapshot, runtime.resume',
    ['root.Run.prototype.snapshot', 'root.Runtime.prototype.resume'],
    RUNTIME,
    'a run goes on elsewhere from where it waited',
  ),
  row('fork', ['root.Runtime.prototype.resume'], RUNTIME, 'one run can be forked many times'),
  row('replay', ['root.Runtime.prototype.replay', 'root.replay'], RUNTIME, 'a replay performs nothing and prints the same'),
  row('diffRuns', ['root.diffTraces'], `${HERE}/trace/trace.test.ts`, 'the first difference of two traces'),
  // interoperation
  row(
    'fromAiSdkTool, toAiSdkTool',
    ['ai.fromAiSdkTool', 'ai.toAiSdkTool'],
    `${HERE}/ai/ai.test.ts`,
    'a tool of the AI SDK in a script',
    'a tool of ours for the AI SDK',
  ),
  row(
    'fromMcpServer, toMcpServer',
    ['mcp.fromMcpServer', 'mcp.toMcpServer'],
    `${HERE}/mcp/tools.process.test.ts`,
    'the tools of a server, in a registry and in a script',
    'tools of a host as a server, and back',
  ),
  row('toJsonSchema', ['root.toJsonSchema'], `${HERE}/tools/combine.test.ts`, 'JSON Schema of any schema'),
  // sandbox
  row('fileSandbox', ['node.FileSandbox'], `${HERE}/node/files.test.ts`, "describe('sandbox'"),
  row('memoryFs', ['root.MemoryFs'], `${HERE}/node/files.test.ts`, 'the file system in memory answers like the real one'),
  row('overlayFs', ['node.overlayFs'], `${HERE}/node/overlay.test.ts`, 'as the disk answers', 'the host may carry it out'),
  row('networkPolicy', ['node.httpProvider', 'node.checkUrl'], `${HERE}/node/http.test.ts`, "describe('network policy'"),
  row(
    'processPolicy, envPolicy',
    ['node.processProvider'],
    `${HERE}/node/process.process.test.ts`,
    'a host that says no',
    'facts, and changes that stay within the run',
  ),
  // govern
  row(
    'grants',
    ['root.grantScope', 'root.matchDomain'],
    `${HERE}/trace/trace.test.ts`,
    'the ceiling of the host binds aliases, ids and builtins alike',
  ),
  row(
    'defineConstraint',
    ['root.defineConstraint'],
    `${HERE}/policy/constraints.test.ts`,
    'statements: the smallest of a scope',
    'attributes, std/grants and the host',
  ),
  row('approvals', ['root.ApprovalDesk', 'root.approvalProvider'], `${HERE}/policy/approval.test.ts`, "describe('a desk'"),
  row('allowEffects', ['root.EffectCeilingError'], `${HERE}/manifest.test.ts`, 'allowEffects'),
  // persist: what needs no durable steps
  row('fileStore', ['node.fileStore', 'root.MemoryStore'], `${HERE}/node/files.test.ts`, 'the store keeps its records in a file'),
  row(
    'memoryStore, fileStore, sqliteStore, sqlStore(executor)',
    ['root.memoryRunStore', 'node.fileRunStore', 'node.sqliteStore', 'root.sqlRunStore'],
    `${HERE}/runs/store.test.ts`,
    'sqliteStore is that of Node, or says what to use instead',
    'what a stale worker still writes',
  ),
  row('storeConformance', ['root.storeConformance'], `${HERE}/runs/store.test.ts`, 'the contract notices %s'),
  row(
    'createRuntime({ store, leaseMs, owner }), runtime.recover, onUnknownOutcome',
    ['root.Runtime.prototype.recover'],
    `${HERE}/runs/simulate.test.ts`,
    'two workers: the second gets nothing while the first lives',
    'the script is told that nobody knows',
  ),
  // observe
  row(
    'traceStore',
    ['root.MemoryTrace', 'node.fileTrace', 'node.readTrace'],
    `${HERE}/trace/trace.test.ts`,
    'goes on after a resume',
  ),
  row('verifyTrace', ['root.verifyTrace'], `${HERE}/trace/trace.test.ts`, "describe('the chain'"),
  row('buildGraph', ['root.buildGraph'], `${HERE}/trace/trace.test.ts`, "describe('the graph'"),
  row('toOtel', ['otel.otelTrace'], `${HERE}/otel/otel.test.ts`, 'an agent: its turns, the model and tools of each'),
  // test
  row('stubTools', ['root.stubTools'], `${HERE}/tools/stub.test.ts`, "describe('stubs'"),
  row(
    'simulate',
    ['root.simulate', 'root.simulationCases'],
    `${HERE}/runs/simulate.test.ts`,
    'a crash or a full disk at any entry changes nothing',
    'a failure comes back with what it says',
  ),
  row('virtualClock', ['root.VirtualClock'], RUNTIME, 'virtual time passes at once'),
  row('seededRandom', ['root.seededRandom'], RUNTIME, 'seededRandom('),
  // config
  row(
    'defineConfig, loadConfig',
    ['node.defineConfig', 'node.loadConfig'],
    `${HERE}/node/config.test.ts`,
    'the same in code',
    "describe('a runtime of a configuration'",
    'the nearest file counts',
  ),
  row(
    'isToolError, ToolError',
    ['root.ToolError', 'root.isToolError'],
    `${HERE}/tool-codes.test.ts`,
    'one class, told apart by its code',
  ),
]

test.each(ROWS)('$asked', ({ ours, shown }) => {
  for (const path of ours) {
    const [entry, ...members] = path.split('.') as [EntryName, ...string[]]
    const found = members.reduce<unknown>(
      (value, name) => (value as { readonly [name: string]: unknown } | undefined)?.[name],
      ENTRIES[entry],
    )
    expect({ path, found: found !== undefined }).toEqual({ path, found: true })
  }
  for (const [file, text] of shown) {
    const path = join(folder, file)
    expect({ file, text, found: existsSync(path) && readFileSync(path, 'utf8').includes(text) }).toEqual({
      file,
      text,
      found: true,
    })
  }
})
