// Rules about order within a function: background work is cancelled, and a pull
// request is opened only after a scan for secrets. Both see the calls of one callable including its closures, and skip
// nested function declarations.

import { type Argument, type Block, type Expr, type ExprOf, forEachChild, type Node, type Stmt } from '@bridle/parser'
import { callsAny } from '../contents.js'
import { OPTIONS_OF_LINT } from '../signatures.js'
import type { LintContext } from './context.js'

/** The name of the tool that a host call names, without `tools.`; null for other calls. */
function hostTool(call: ExprOf<'Call'>): string | null {
  if (call.callee.text !== 'host_tool_call') return null
  return textArgument(call.args[0])?.replace(/^tools\./, '') ?? null
}

function textArgument(arg: Argument | undefined): string | null {
  return arg !== undefined && !arg.spread && arg.value.kind === 'String' ? arg.value.value : null
}

/** Calls in source order, without those in declared functions. */
function visitCalls(node: Node, visit: (call: ExprOf<'Call'>) => void): void {
  if (node.kind === 'FnDecl' || node.kind === 'ToolDecl') return
  if (node.kind === 'Call') visit(node)
  forEachChild(node, (child) => visitCalls(child, visit))
}

// ---- background work -----------------------------------------------------------------------------------------------

const LONG_RUNNING: ReadonlySet<string> = new Set(
  'walk_dir glob http_get http_request http_download run_command run_test run_build_command'.split(' '),
)
const LONG_RUNNING_TOOLS: ReadonlySet<string> = new Set(['run_command', 'run_test', 'run_build_command'])

export function checkLongRunning(body: Block, context: LintContext): void {
  if (!context.contents.calls.has('host_tool_call') && !callsAny(context.contents, LONG_RUNNING)) return
  const started: { readonly call: ExprOf<'Call'>; readonly name: string }[] = []
  visitCalls(body, (call) => {
    const tool = hostTool(call)
    const name =
      tool !== null && LONG_RUNNING_TOOLS.has(tool) ? tool : LONG_RUNNING.has(call.callee.text) ? call.callee.text : null
    if (name !== null && call.args.some((arg) => asksForBackground(arg.value))) started.push({ call, name })
  })
  if (started.length === 0 || hasCleanup(body)) return
  for (const { call, name } of started) context.report('L044', call.span, { name })
}

function asksForBackground(expr: Expr): boolean {
  return (
    expr.kind === 'Dict' &&
    expr.entries.some(
      (entry) =>
        entry.kind === 'named' && OPTIONS_OF_LINT.includes(entry.key.text) && entry.value.kind === 'Bool' && entry.value.value,
    )
  )
}

/** A `defer` or `finally` that cancels. */
function hasCleanup(node: Node): boolean {
  if (node.kind === 'FnDecl' || node.kind === 'ToolDecl') return false
  if (node.kind === 'Defer' && cancels(node.body)) return true
  if (node.kind === 'Try' && node.finalizer !== null && cancels(node.finalizer)) return true
  let found = false
  forEachChild(node, (child) => {
    if (!found) found = hasCleanup(child)
  })
  return found
}

function cancels(block: Block): boolean {
  let found = false
  visitCalls(block, (call) => {
    if (call.callee.text === 'cancel_handle' || hostTool(call) === 'cancel_handle') found = true
  })
  return found
}

// ---- pull requests -------------------------------------------------------------------------------------------------

const PULL_REQUEST_TOOLS: ReadonlySet<string> = new Set(['git::push_pr', 'git.push_pr', 'create_pr'])
/** Calls of tools that open one. */
const CALLERS = ['mcp_call', 'host_tool_call']
const SCAN_TOOLS: ReadonlySet<string> = new Set(['harn.secret_scan', 'harn::secret_scan'])

export function checkPullRequests(body: Block, context: LintContext): void {
  if (!callsAny(context.contents, CALLERS)) return
  new Scans(context).body(body.body, false)
}

/** Follows the paths through a body; each step is given whether a scan came before, and returns whether one has now. */
class Scans {
  private readonly context: LintContext

  constructor(context: LintContext) {
    this.context = context
  }

  /** A path that leaves the body early does not count. */
  body(body: readonly Stmt[], scanned: boolean): boolean {
    let state = scanned
    for (const stmt of body) {
      state = this.node(stmt, state)
      if (stmt.kind === 'Return' || stmt.kind === 'Throw') state = true
    }
    return state
  }

  private node(node: Node, scanned: boolean): boolean {
    switch (node.kind) {
      case 'Block':
        return this.body(node.body, scanned)
      case 'FnDecl':
      case 'ToolDecl':
        return scanned
      case 'Closure':
        this.body(node.body.body, scanned)
        return scanned
      case 'If': {
        const state = this.node(node.condition, scanned)
        const taken = this.node(node.then, state)
        const other = node.otherwise === null ? state : this.node(node.otherwise, state)
        return taken && other
      }
      case 'Match': {
        const state = this.node(node.subject, scanned)
        const ways = node.arms.map((arm) => this.node(arm.body, state))
        return ways.length > 0 && ways.every(Boolean)
      }
      case 'Try': {
        const state = this.node(node.body, scanned)
        const handled = node.handler === null ? state : this.node(node.handler.body, scanned)
        return node.finalizer === null ? state && handled : this.node(node.finalizer, state && handled)
      }
      case 'Select': {
        const ways = node.arms.map((arm) => this.node(arm.body, scanned))
        return ways.every(Boolean)
      }
      case 'For':
        this.node(node.body, this.node(node.iterable, scanned))
        return scanned
      case 'While':
        this.node(node.body, this.node(node.condition, scanned))
        return scanned
      case 'Guard':
        this.node(node.otherwise, this.node(node.condition, scanned))
        return scanned
      case 'Ternary': {
        const state = this.node(node.condition, scanned)
        const [taken, other] = [this.node(node.whenTrue, state), this.node(node.whenFalse, state)]
        return taken && other
      }
      default:
        return this.children(node, scanned)
    }
  }

  private children(node: Node, scanned: boolean): boolean {
    let state = scanned
    forEachChild(node, (child) => {
      state = this.node(child, state)
    })
    if (node.kind !== 'Call') return state
    const name = node.callee.text
    const tool = name === 'mcp_call' ? textArgument(node.args[1]) : name === 'host_tool_call' ? textArgument(node.args[0]) : null
    if (name === 'secret_scan' || (tool !== null && SCAN_TOOLS.has(tool))) return true
    if (tool !== null && PULL_REQUEST_TOOLS.has(tool) && !state) this.context.report('L045', node.span, {})
    return state
  }
}
