// The driver's guard by itself: it relies on nothing that the machine says but the identity that was judged.

import type { PlainRecord } from '@bridle/vm'
import { effectOfData } from '../test-support/effect-of-data.js'
import { expect, test } from 'vitest'
import type { Effect } from '@bridle/vm'
import { withIdentityGuard } from './identity-guard.js'
import type { IdentityGuard } from './identity-guard.js'
import { answered } from '../tools/executors/provider.js'
import type { EffectCall } from '../tools/executors/provider.js'
import { defineTool } from '../tools/host-tools/define.js'
import { Host } from '../tools/host-tools/host.js'

const host = new Host({ tools: [defineTool({ name: 'shop.order', aliases: ['order'], execute: () => null })] })

function isPerformed(kind: Effect['kind'], args: PlainRecord, more: Partial<IdentityGuard> = {}): boolean {
  let performed = false
  const guard = { names: host.names, serves: (name: string) => host.serves(name), hasBridge: false, ceiling: [], ...more }
  const perform = withIdentityGuard(guard, () => ((performed = true), answered(null)))
  void perform(effectOfData(kind, args), {} as EffectCall)
  return performed
}

const judged = { identity: 'host:shop.order' }
const DENIED = { ceiling: [{ grants: { 'shop.look': {} }, defaultDeny: true }] }

test.each([
  ['host.call', { name: 'shop.order', params: {} }],
  ['host.call', { name: 'order', params: {} }],
  ['host.tool', { op: 'call', name: 'order', args: {} }],
  ['tool.call', { executor: 'host_bridge', tool: 'look', host_capability: 'shop.order', args: {} }],
] as const)('%s of %j is carried out as what was judged, and as nothing else', (kind, args) => {
  expect(isPerformed(kind, { ...args, ...judged })).toBe(true)
  expect(isPerformed(kind, args)).toBe(false)
  expect(isPerformed(kind, { ...args, identity: 'host:shop.look' })).toBe(false)
  expect(isPerformed(kind, { ...args, ...judged }, DENIED)).toBe(false)
  expect(isPerformed(kind, { ...args, ...judged }, { ceiling: [{ grants: {}, level: 'safe' }] })).toBe(false)
})

test('what reaches no tool is left to others', () => {
  expect(isPerformed('clock.now', {})).toBe(true)
  expect(isPerformed('host.call', { name: 'runtime.dry_run', params: {} })).toBe(true)
  expect(isPerformed('host.tool', { op: 'list' })).toBe(true)
})
