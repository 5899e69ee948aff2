// Approval policies: lists of patterns that approve a tool call, deny it, or leave it to the host, and an allow-list
// for the paths that writing tools may touch. Under nested scopes each policy judges by itself, and the strictest decision counts: an inner
// one that approves everything does not answer for an outer one that asks.

import { findInnermostScope, pushScope } from '../../library/task-scopes.js'
import { HarnDict, HarnList } from '@bridle/vm/families'
import type { Context, Value } from '@bridle/vm/families'
import { listEveryName } from '../dispatch/identity.js'
import type { CalledTool } from '../dispatch/identity.js'
import { matchesGlob } from './tool-policy.js'
import { isAbsolutePath, normalizePath } from '../../library/files/lexical-path.js'
import type { ToolAnnotations } from './tool-policy.js'

export interface ApprovalPolicy {
  readonly autoApprove: readonly string[]
  readonly autoDeny: readonly string[]
  readonly requireApproval: readonly string[]
  readonly writePaths: readonly string[]
  /** The policies that this one combines, outermost first; none when it stands alone. */
  readonly layers: readonly ApprovalPolicy[]
}

export type ApprovalDecision =
  | { readonly kind: 'approved' }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'ask' }

/** Kinds whose tools change nothing. */
const READ_ONLY_KINDS: ReadonlySet<string> = new Set(['read', 'search', 'think', 'fetch'])

/** The changes of a call, for hosts. */
export function describeMutation(annotations: ToolAnnotations | undefined): string {
  if (annotations === undefined) return 'other'
  if (READ_ONLY_KINDS.has(annotations.kind)) return 'read_only'
  switch (annotations.kind) {
    case 'edit':
      return 'workspace_write'
    case 'delete':
    case 'move':
      return 'destructive'
    case 'execute':
      return 'ambient_side_effect'
    default:
      return 'other'
  }
}

function readTexts(value: Value | undefined): string[] | null {
  if (value === undefined) return []
  if (!(value instanceof HarnList)) return null
  const items = value.view()
  return items.every((item) => typeof item === 'string') ? [...items] : null
}

/** Null when it cannot be read. */
export function readApprovalPolicy(value: Value): ApprovalPolicy | null {
  if (!(value instanceof HarnDict)) return null
  const autoApprove = readTexts(value.get('auto_approve'))
  const autoDeny = readTexts(value.get('auto_deny'))
  const requireApproval = readTexts(value.get('require_approval'))
  const writePaths = readTexts(value.get('write_path_allowlist'))
  if (autoApprove === null || autoDeny === null || requireApproval === null || writePaths === null) return null
  return { autoApprove, autoDeny, requireApproval, writePaths, layers: [] }
}

const uniteLists = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])]

/** Matches no tool and no path: what is left when two allow-lists have nothing in common must not read as "no list". */
const NOTHING = ['']

/** If one side is empty, the other one applies; otherwise the patterns of one side that the other one covers. */
function intersectPatterns(a: readonly string[], b: readonly string[]): readonly string[] {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const both = uniteLists(
    b.filter((inner) => a.some((outer) => matchesGlob(outer, inner))),
    a.filter((inner) => b.some((outer) => matchesGlob(outer, inner))),
  )
  return both.length === 0 ? NOTHING : both
}

const listLayers = (policy: ApprovalPolicy): readonly ApprovalPolicy[] => (policy.layers.length === 0 ? [policy] : policy.layers)

export function combinePolicies(outer: ApprovalPolicy, inner: ApprovalPolicy): ApprovalPolicy {
  return {
    autoApprove: intersectPatterns(outer.autoApprove, inner.autoApprove),
    autoDeny: uniteLists(outer.autoDeny, inner.autoDeny),
    requireApproval: uniteLists(outer.requireApproval, inner.requireApproval),
    writePaths: intersectPatterns(outer.writePaths, inner.writePaths),
    layers: [...listLayers(outer), ...listLayers(inner)],
  }
}

function encodePolicy(policy: ApprovalPolicy): HarnDict {
  const list = (items: readonly string[]): HarnList => new HarnList([...items])
  return HarnDict.of({
    auto_approve: list(policy.autoApprove),
    auto_deny: list(policy.autoDeny),
    require_approval: list(policy.requireApproval),
    write_path_allowlist: list(policy.writePaths),
    ...(policy.layers.length === 0 ? {} : { layers: new HarnList(policy.layers.map(encodePolicy)) }),
  })
}

/** Of a scope that is installed. Policies of scripts have no layers: those only come from scopes around them. */
function readInstalled(installed: HarnDict): ApprovalPolicy | null {
  const policy = readApprovalPolicy(installed)
  const layers = installed.get('layers')
  if (policy === null || !(layers instanceof HarnList)) return policy
  const read = layers.view().map(readApprovalPolicy)
  return read.every((layer) => layer !== null) ? { ...policy, layers: read } : null
}

/** Policies as read, by the installed dict, which nothing changes in place; it is read on every call. */
const readPolicies = new WeakMap<object, ApprovalPolicy>()

export function findApprovalPolicy(ctx: Context): ApprovalPolicy | null {
  return getApprovalPolicy(findInnermostScope(ctx, 'approvals'))
}

/** Of an installed scope. */
export function getApprovalPolicy(installed: Value): ApprovalPolicy | null {
  if (!(installed instanceof HarnDict)) return null
  let policy = readPolicies.get(installed) ?? null
  if (policy === null && (policy = readInstalled(installed)) !== null) readPolicies.set(installed, policy)
  return policy
}

/** Opens a scope; popScope(ctx, 'approvals') ends it. */
export function pushApprovalPolicy(ctx: Context, policy: ApprovalPolicy): void {
  const outer = findApprovalPolicy(ctx)
  pushScope(ctx, 'approvals', encodePolicy(outer === null ? policy : combinePolicies(outer, policy)))
}

/** The paths that a call names in its declared path parameters. */
export function listDeclaredPaths(annotations: ToolAnnotations | undefined, args: Value): string[] {
  if (annotations === undefined || !(args instanceof HarnDict)) return []
  const found: string[] = []
  for (const name of annotations.pathParams) {
    const value = args.get(name)
    if (typeof value === 'string') found.push(value)
    else if (value instanceof HarnList) for (const item of value.view()) if (typeof item === 'string') found.push(item)
  }
  return found
}

/** The ways a path can be written: as given, normalised, relative to the workspace, absolute. */
function listForms(path: string, workspace: string): string[] {
  const normal = normalizePath(path)
  const absolute = isAbsolutePath(path) ? normal : normalizePath(`${workspace}/${path}`)
  const forms = [path, normal, absolute]
  if (absolute.startsWith(`${workspace}/`)) forms.push(absolute.slice(workspace.length + 1))
  return forms
}

interface ApprovalCall {
  readonly tool: CalledTool
  readonly args: Value
  readonly annotations: ToolAnnotations | undefined
  readonly workspace: () => string
}

/** The strictest of what the policies say together and each by itself. */
export function decideApproval(policy: ApprovalPolicy, call: ApprovalCall): ApprovalDecision {
  let strictest = decideAlone(policy, call)
  for (const layer of policy.layers) {
    if (strictest.kind === 'denied') break
    const decision = decideAlone(layer, call)
    if (decision.kind !== 'approved') strictest = decision
  }
  return strictest
}

function decideAlone(policy: ApprovalPolicy, call: ApprovalCall): ApprovalDecision {
  const { annotations } = call
  const { shown: tool, identity } = call.tool
  const denying = findFirstMatching(policy.autoDeny, listEveryName(identity))
  if (denying !== undefined) return { kind: 'denied', reason: `tool '${tool}' matches deny pattern '${denying}'` }
  if (policy.writePaths.length > 0 && describeMutation(annotations) !== 'read_only') {
    for (const path of listDeclaredPaths(annotations, call.args)) {
      // A path is what it leads to: `allowed/../elsewhere` must not pass for something below `allowed`.
      const written = listForms(path, call.workspace())
      const forms = path.includes('..') ? written.slice(1) : written
      if (!policy.writePaths.some((pattern) => forms.some((form) => matchesGlob(pattern, form)))) {
        return { kind: 'denied', reason: `tool '${tool}' targets '${path}' which is not in the write-path allowlist` }
      }
    }
  }
  // A tool is not approved by having the name of an approved one.
  if (findFirstMatching(policy.autoApprove, identity.names) !== undefined) return APPROVED
  return findFirstMatching(policy.requireApproval, listEveryName(identity)) === undefined ? APPROVED : { kind: 'ask' }
}

/** Whether the decision depends on more than the name of the tool. */
export function looksAtPaths(policy: ApprovalPolicy): boolean {
  return policy.writePaths.length > 0
}

const APPROVED: ApprovalDecision = { kind: 'approved' }

function findFirstMatching(patterns: readonly string[], names: readonly string[]): string | undefined {
  for (const pattern of patterns) if (names.some((name) => matchesGlob(pattern, name))) return pattern
  return undefined
}
