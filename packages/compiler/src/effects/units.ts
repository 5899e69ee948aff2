// Data of effect analysis. A *unit* is code that runs when it is called (function, tool, pipeline, method,
// closure) or when its module is loaded. A unit lists its call sites; infer.ts computes their effects
// over the whole program.

import type { Attribute, Span } from '@bridle/parser'
import type { ToolAlias } from '../grants/lower.js'

export interface Unit {
  readonly id: number
  readonly kind: 'module' | 'fn' | 'tool' | 'pipeline' | 'method' | 'closure'
  /** Name for messages; empty for a closure. */
  readonly name: string
  readonly module: string
  readonly span: Span
  readonly params: readonly string[]
  readonly attributes: readonly Attribute[]
  /** Declared at top level, not inside a function. */
  readonly topLevel: boolean
  readonly sites: Site[]
}

/** A parameter of a unit. */
export interface ParamRef {
  readonly unit: number
  readonly index: number
}

/** Static knowledge about a value. */
export type Tracked =
  | { readonly kind: 'unit'; readonly unit: Unit }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'param'; readonly param: ParamRef }
  | { readonly kind: 'text'; readonly text: string }
  /** An alias of a tool: calling it calls the tool. */
  | { readonly kind: 'tool'; readonly alias: ToolAlias }
  /** Not callable. */
  | { readonly kind: 'data' }
  | { readonly kind: 'unknown' }

export type Target =
  | { readonly kind: 'unit'; readonly unit: Unit }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'param'; readonly param: ParamRef }
  | { readonly kind: 'method'; readonly name: string }
  | { readonly kind: 'tool'; readonly alias: ToolAlias }
  /** A name that is only resolved at run time, in a caller. */
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'unknown' }
  /** A construct of the language that has an effect by itself. */
  | { readonly kind: 'construct'; readonly effect: string; readonly what: string }

export interface Site {
  readonly target: Target
  readonly args: readonly Tracked[]
  readonly span: Span
}

/** A tool that the program defines: by `tool_define`, a `tool` declaration, or an alias. */
export interface ToolDefinition {
  readonly name: string
  readonly executor: string | null
  readonly handler: Tracked | null
  /** Declared effects; null when there are none. */
  readonly effects: readonly string[] | null
  /** Targets of its calls outside the machine (ToolUse.reaches); none for a handler. */
  readonly reaches: readonly string[]
  readonly span: Span
  readonly module: string
}

/** All units of the modules of one program. */
export interface World {
  readonly units: Unit[]
  readonly tools: Map<string, ToolDefinition>
  /** Units that define a tool under a name only known at run time. */
  readonly dynamicTools: Set<Unit>
  /**
   * Functions that escaped: stored in data, returned, bound to a name, passed on. Any code may then call them, through an unknown
   * value or through a name of the same spelling: if a called name holds nothing callable, the scopes of the callers are searched.
   * `field` is the key that holds it, `owner` the unit whose code created or named it.
   */
  readonly mentions: { readonly value: Tracked; readonly field: string | null; readonly owner: Unit }[]
  readonly structs: Set<string>
  readonly enums: Set<string>
}

export function emptyWorld(): World {
  return {
    units: [],
    tools: new Map(),
    dynamicTools: new Set(),
    mentions: [],
    structs: new Set(),
    enums: new Set(['Result']),
  }
}

export function paramKey(param: ParamRef): string {
  return `${param.unit}:${param.index}`
}
