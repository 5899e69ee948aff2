// The public names of the TypeScript API, by entry. A name that goes fails here, so that it cannot go unnoticed.

import { expect, test } from 'vitest'
import * as ai from '../ai/index.js'
import * as catalogue from './catalogue/index.js'
import * as root from '../index.js'
import * as mcp from '../mcp/index.js'
import * as node from '../node/index.js'
import * as otel from '../otel/index.js'

const ENTRIES = { root, node, mcp, ai, otel, catalogue } as const
type EntryName = keyof typeof ENTRIES

/** Exports by entry, or members of a class: `root.Run.prototype.snapshot`. */
const NAMES: readonly `${EntryName}.${string}`[] = [
  'root.defineTool',
  'root.defineProvider',
  'root.toolsOf',
  'root.partialTool',
  'root.composeTools',
  'root.finish',
  'root.pending',
  'root.Runtime.prototype.completeTool',
  'root.errorFromResponse',
  'root.retryPresets',
  'root.backoffDelay',
  'root.createRuntime',
  'catalogue.stdTools',
  'root.Runtime.prototype.compile',
  'root.CompileError',
  'root.Module',
  'root.createRegistry',
  'root.ToolRegistry.prototype.use',
  'root.ToolRegistry.prototype.list',
  'root.ToolRegistry.prototype.get',
  'root.ToolRegistry.prototype.has',
  'root.ToolRegistry.prototype.categories',
  'root.ToolRegistry.prototype.search',
  'root.ToolRegistry.prototype.call',
  'root.ToolRegistry.prototype.tryCall',
  'root.ToolRegistry.prototype.batch',
  'root.ToolRegistry.prototype.stream',
  'root.ToolRegistry.prototype.metrics',
  'root.Runtime.prototype.start',
  'root.Run',
  'root.Run.prototype.events',
  'root.Run.prototype.cancel',
  'root.Run.prototype.snapshot',
  'root.Runtime.prototype.resume',
  'root.Runtime.prototype.replay',
  'root.replay',
  'root.diffTraces',
  'ai.fromAiSdkTool',
  'ai.toAiSdkTool',
  'mcp.fromMcpServer',
  'mcp.toMcpServer',
  'root.toJsonSchema',
  'node.FileSandbox',
  'root.MemoryFs',
  'node.overlayFs',
  'node.httpProvider',
  'node.checkUrl',
  'node.processProvider',
  'root.grantScope',
  'root.matchDomain',
  'root.defineConstraint',
  'root.ApprovalDesk',
  'root.approvalProvider',
  'root.EffectCeilingError',
  'node.fileStore',
  'root.MemoryStore',
  'root.memoryRunStore',
  'node.fileRunStore',
  'node.sqliteStore',
  'root.sqlRunStore',
  'root.DurableWorker',
  'root.DurableDriver',
  'root.DurableWorker.prototype.submit',
  'root.DurableWorker.prototype.signal',
  'root.RunParked',
  'root.WorkerFenced',
  'node.openDurableStore',
  'root.storeConformance',
  'root.Runtime.prototype.recover',
  'root.MemoryTrace',
  'node.fileTrace',
  'node.readTrace',
  'root.verifyTrace',
  'root.buildGraph',
  'otel.otelTrace',
  'root.stubTools',
  'root.simulate',
  'root.simulationCases',
  'root.VirtualClock',
  'root.seededRandom',
  'node.defineConfig',
  'node.loadConfig',
  'root.ToolError',
  'root.isToolError',
]

test.each(NAMES)('%s', (path) => {
  const [entry, ...members] = path.split('.') as [EntryName, ...string[]]
  const found = members.reduce<unknown>(
    (value, name) => (value as { readonly [name: string]: unknown } | undefined)?.[name],
    ENTRIES[entry],
  )
  expect(found).toBeDefined()
})
