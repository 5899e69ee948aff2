// Infers the effects of every unit over the whole program, to a fixpoint: the tokens (kinds of effect and names), the tools it reaches,
// which of its own parameters it calls or uses as the name of a tool, and whether it calls an unknown value.
//
// A function that calls its arguments has no effects from them: the caller that passes a closure gets the closure's
// effects. `row(map) = row(the closure)` holds for builtins and for functions of the script alike.

import type { Span } from '@bridle/parser'
import { findExecutorFacts } from '../grants/executors.js'
import { STANDARD_TOOL_BUILTINS } from '../grants/standard.js'
import type { StandardToolId } from '../grants/standard.js'
import { type BuiltinEffects, RUN_FACTS, type Signatures } from '../signatures.js'
import type { ToolAlias } from '../grants/lower.js'
import { readDeclaredRow } from './declared.js'
import { effectsByPrefix, listBuiltinEffects, encodeEntailedEffect, isKind, encodeEffect, normalEffect } from './kinds.js'
import { SEVERAL, listExecutorEffects } from './tools.js'
import { type ParamRef, paramKey, type Site, type Tracked, type Unit, type World } from './units.js'

/** Why an effect is in a row: a position in the unit's own source, and the callee there. */
export interface Cause {
  readonly text: string
  readonly span: Span
  /** The unit, tool or builtin at that position. */
  readonly callee: string
}

/** How a tool is reached: by name in a registry, the host's tools, a capability operation of the host, an MCP server's tool. */
export type ToolVia = 'tool' | 'host' | 'capability' | 'mcp'

export interface ToolUse {
  readonly via: ToolVia
  /** `*`: the name is only known at run time. */
  readonly name: string
  /** The file's alias for the tool, if any. */
  readonly alias?: string
  /**
   * Targets outside the machine of a tool that the program defines: `host:ID`, `mcp:SERVER/TOOL`, with `*` for names only known at
   * run time; none for a handler. Absent if the program does not define the tool. In the manifest of the whole program.
   */
  readonly reaches?: readonly string[]
}

export interface Facts {
  /** Kinds of effect and effect names (kinds.ts). */
  readonly tokens: Map<string, Cause>
  readonly tools: Map<string, { readonly use: ToolUse; readonly cause: Cause }>
  /** Called parameters of this unit or of an enclosing one. */
  readonly called: Map<string, ParamRef>
  /** Parameters that name a tool. */
  readonly naming: Map<string, { readonly param: ParamRef; readonly via: ToolVia }>
  /** Calls an unknown value. */
  unknown: Cause | null
}

/** Builtins that call a tool, and the argument that names it. */
const TOOL_ARGUMENT: ReadonlyMap<string, { readonly index: number; readonly via: ToolVia }> = new Map([
  ['__tool_call', { index: 1, via: 'tool' }],
  ['__tool_try', { index: 1, via: 'tool' }],
  ['__tool_stream_open', { index: 1, via: 'tool' }],
  ['host_tool_call', { index: 0, via: 'host' }],
  ['host_call', { index: 0, via: 'capability' }],
  ['__tool_use', { index: 0, via: 'tool' }],
  ['__defined_tool_call', { index: 0, via: 'tool' }],
  ['mcp_call', { index: 1, via: 'mcp' }],
])

/** Builtins that are implemented by tools of the host, and the tool. */
const BY_HOST_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ['pg_pool', ['postgres.connect']],
  ['pg_connect', ['postgres.connect']],
  ['pg_close', ['postgres.close']],
  ['pg_query', ['postgres.query']],
  ['pg_query_one', ['postgres.query']],
  ['pg_execute', ['postgres.execute']],
  ['pg_transaction', ['postgres.begin', 'postgres.end']],
])

/** Builtins whose result calls tools of the host or of a server by a computed name. */
const SYNTHESIZES: ReadonlySet<string> = new Set(['tool_synthesize', 'tool_synth_invoke'])

/** Builtins that call the tool of a binding, which is a computed value. */
const BY_BINDING: ReadonlySet<string> = new Set(['__tool_alias_call', '__tool_server_call'])

/** Builtins that call any tool that a model requests. */
const LOOPS: ReadonlySet<string> = new Set(['agent_loop', 'sub_agent_run'])

/** A literal operation of the host starts programs only if it is the one for that. */
function adjustTokens(builtin: string, tokens: readonly string[], args: readonly Tracked[]): readonly string[] {
  const [operation] = args
  if (builtin !== 'host_call' || operation?.kind !== 'text' || operation.text.startsWith('process.')) return tokens
  return tokens.filter((token) => !token.startsWith('process.'))
}

function readTextArgument(arg: Tracked | undefined): string | null {
  return arg?.kind === 'text' ? arg.text : null
}

const NOTHING: BuiltinEffects = { tokens: [], calls: 'nothing' }

/** The builtin behind functions of modules `host/NAME`, and its argument that names the tool of the host. */
const HOST_TOOL = { builtin: '__host_tool', index: 0 } as const

/** Effects by tool name; null for a tool without a declaration. */
export type HostToolEffects = ReadonlyMap<string, readonly string[] | null>

export interface InferOptions {
  readonly signatures: Signatures
  /** Tool ids by alias, as `use tool` declares them. */
  readonly aliases: ReadonlyMap<string, string>
  /** Effect names bound to tools by `bind effect`: tool name → effect. */
  readonly bound: ReadonlyMap<string, string>
  readonly hostTools: HostToolEffects
}

export class Inference {
  private readonly world: World
  private readonly options: InferOptions
  private readonly facts: Facts[]
  private readonly methods = new Map<string, Unit[]>()
  private readonly named = new Map<string, Unit[]>()
  private readonly fields = new Map<string, Tracked[]>()
  /** Functions that a unit's code creates or names, by the unit's number. */
  private readonly mentions = new Map<number, Tracked[]>()
  private changed = false
  /** The unit being analysed, and which units read which. */
  private reader: Unit | null = null
  private readonly readers = new Map<number, Set<Unit>>()

  constructor(world: World, options: InferOptions) {
    this.world = world
    this.options = options
    this.facts = world.units.map(() => emptyFacts())
    for (const unit of world.units) {
      if (unit.kind === 'method') push(this.methods, unit.name.slice(unit.name.lastIndexOf('.') + 1), unit)
      else if (unit.name !== '') push(this.named, unit.name, unit)
    }
    for (const mention of world.mentions) {
      if (mention.field !== null) push(this.fields, mention.field, mention.value)
      const own = this.mentions.get(mention.owner.id)
      if (own === undefined) this.mentions.set(mention.owner.id, [mention.value])
      else own.push(mention.value)
    }
    this.solve()
  }

  inferUnit(unit: Unit): Facts {
    if (this.reader !== null) {
      const readers = this.readers.get(unit.id)
      if (readers === undefined) this.readers.set(unit.id, new Set([this.reader]))
      else readers.add(this.reader)
    }
    return this.facts[unit.id] ?? emptyFacts()
  }

  /** Effects of running the given units, if any code may call the functions that they create or name. */
  reachable(entries: readonly Unit[]): Facts & { readonly units: ReadonlySet<Unit> } {
    const all = emptyFacts()
    const start = { text: 'the program', span: { start: 0, end: 0 }, callee: 'the program' }
    const reached = new Set(entries)
    for (const unit of reached) {
      this.merge(all, this.inferUnit(unit), start)
      for (const { target } of unit.sites) {
        if (target.kind === 'unit') reached.add(target.unit)
        const named =
          target.kind === 'method' ? this.methods.get(target.name) : target.kind === 'name' ? this.named.get(target.name) : []
        for (const callee of named ?? []) reached.add(callee)
      }
      for (const value of this.mentions.get(unit.id) ?? []) {
        this.invoke(all, value, start)
        if (value.kind === 'unit') reached.add(value.unit)
      }
    }
    return { ...all, units: reached }
  }

  /** Analyses a unit again when one that it read has grown. Every set only grows and is bounded by the program, so this terminates. */
  private solve(): void {
    const waiting = new Set([...this.world.units].reverse())
    for (const unit of waiting) {
      waiting.delete(unit)
      this.changed = false
      this.reader = unit
      for (const site of unit.sites) this.transfer(unit, site)
      if (!this.changed) continue
      for (const reader of this.readers.get(unit.id) ?? []) {
        // At the end of the queue, even if it is the unit itself.
        waiting.delete(reader)
        waiting.add(reader)
      }
    }
    this.reader = null
  }

  private transfer(unit: Unit, site: Site): void {
    const facts = this.facts[unit.id]
    if (facts === undefined) return
    const { target, args, span } = site
    switch (target.kind) {
      case 'construct':
        this.addToken(facts, encodeEffect(target.effect), { text: `\`${target.what}\``, span, callee: target.what })
        return
      case 'unit':
        this.callUnit(facts, target.unit, args, span, 0)
        return
      case 'param':
        this.addCalled(facts, target.param)
        return
      case 'tool':
        this.callAlias(facts, target.alias, span)
        return
      case 'unknown':
        this.addUnknown(facts, { text: 'call of a value that is not known here', span, callee: 'a value' })
        return
      case 'name': {
        const found = this.named.get(target.name) ?? []
        for (const callee of found) this.callUnit(facts, callee, args, span, 0)
        for (const effect of found.length === 0 ? effectsByPrefix(target.name) : []) {
          this.addToken(facts, encodeEffect(effect), callTo(target.name, span))
        }
        return
      }
      case 'method':
        this.callMethod(facts, target.name, args, span)
        return
      case 'builtin':
        this.callBuiltin(facts, target.name, args, span)
    }
  }

  private callUnit(facts: Facts, callee: Unit, args: readonly Tracked[], span: Span, offset: number): void {
    const name = callee.name === '' ? 'a closure' : callee.name
    const cause = callTo(name, span)
    const theirs = this.inferUnit(callee)
    this.merge(facts, theirs, cause, callee)
    // Callers use the row, even if the body has fewer effects.
    for (const effect of readDeclaredRow(callee) ?? []) this.addToken(facts, encodeEffect(effect), cause)
    for (const param of [...theirs.called.values()]) {
      if (param.unit !== callee.id) continue
      const arg = args[param.index - offset]
      if (arg !== undefined) this.invoke(facts, arg, cause)
    }
    for (const { param, via } of [...theirs.naming.values()]) {
      if (param.unit === callee.id) this.useTool(facts, via, args[param.index - offset] ?? UNKNOWN, span, cause)
    }
  }

  /** Adds all of `theirs` except facts about parameters of `callee`, which the arguments decide. */
  private merge(facts: Facts, theirs: Facts, cause: Cause, callee: Unit | null = null): void {
    if (facts === theirs) return
    for (const token of theirs.tokens.keys()) this.addToken(facts, token, cause)
    for (const [key, { use }] of theirs.tools) {
      if (facts.tools.has(key)) continue
      facts.tools.set(key, { use, cause })
      this.changed = true
    }
    for (const param of theirs.called.values()) if (callee !== null && param.unit !== callee.id) this.addCalled(facts, param)
    for (const { param, via } of theirs.naming.values()) {
      if (callee !== null && param.unit !== callee.id) this.addNaming(facts, param, via)
    }
    if (theirs.unknown !== null) this.addUnknown(facts, cause)
  }

  /** A value that escaped from here is called. */
  private invoke(facts: Facts, value: Tracked, cause: Cause): void {
    switch (value.kind) {
      case 'unit':
        this.merge(facts, this.inferUnit(value.unit), cause, value.unit)
        // With unknown arguments: a parameter that names a tool may name any tool.
        for (const { param, via } of [...this.inferUnit(value.unit).naming.values()]) {
          if (param.unit === value.unit.id) this.useTool(facts, via, UNKNOWN, cause.span, cause)
        }
        return
      case 'builtin':
        this.addBuiltin(facts, value.name, this.readEffects(value.name).tokens, cause)
        if (TOOL_ARGUMENT.has(value.name)) this.useTool(facts, TOOL_ARGUMENT.get(value.name)!.via, UNKNOWN, cause.span, cause)
        return
      case 'param':
        this.addCalled(facts, value.param)
        return
      case 'tool':
        this.callAlias(facts, value.alias, cause.span)
        return
      case 'unknown':
        this.addUnknown(facts, cause)
        return
      case 'text':
        // `x |> parameter`, where the parameter is the name of a builtin.
        if (this.options.signatures.has(value.text)) this.invoke(facts, { kind: 'builtin', name: value.text }, cause)
        return
      default:
        return
    }
  }

  private callMethod(facts: Facts, name: string, args: readonly Tracked[], span: Span): void {
    const cause = callTo(name, span)
    const own = this.methods.get(name) ?? []
    for (const method of own) this.callUnit(facts, method, args, span, 1)
    // A dict may hold a closure under this name.
    for (const value of this.fields.get(name) ?? []) this.invoke(facts, value, cause)
    const builtin = this.options.signatures.methodEffects(name)
    if (builtin === undefined) {
      if (own.length === 0) this.addUnknown(facts, cause)
      return
    }
    this.addBuiltin(facts, name, builtin.tokens, cause)
    if (builtin.calls === 'arguments') this.invokeArguments(facts, args, cause)
  }

  /** The callee calls one of its arguments, but it is unknown which, so every callable one counts. */
  private invokeArguments(facts: Facts, args: readonly Tracked[], cause: Cause): void {
    const callable = args.filter(
      (arg) => arg.kind === 'unit' || arg.kind === 'builtin' || arg.kind === 'param' || arg.kind === 'tool',
    )
    for (const arg of callable.length > 0 ? callable : args) this.invoke(facts, arg, cause)
  }

  private callBuiltin(facts: Facts, name: string, args: readonly Tracked[], span: Span): void {
    const effects = this.readEffects(name)
    const cause = callTo(name, span)
    const own = this.ownHostEffects(name, readTextArgument(args[0]))
    if (own === null) this.addBuiltin(facts, name, adjustTokens(name, effects.tokens, args), cause)
    else {
      // A fact about the run is answered by the run itself, without an effect.
      this.addKinds(facts, name === 'host_call' ? ['host.call'] : effects.tokens, cause)
      this.addHostEffects(facts, own, cause)
    }
    if (name === HOST_TOOL.builtin) this.useHostTool(facts, args[HOST_TOOL.index] ?? UNKNOWN, span, cause)
    for (const text of BY_HOST_TOOLS.get(name) ?? []) this.useTool(facts, 'host', { kind: 'text', text }, span, cause)
    if (SYNTHESIZES.has(name)) {
      for (const via of ['host', 'mcp'] as const) this.useTool(facts, via, UNKNOWN, span, cause)
    }
    if (LOOPS.has(name)) {
      for (const via of ['tool', 'host', 'mcp'] as const) this.useTool(facts, via, UNKNOWN, span, cause)
    }
    if (BY_BINDING.has(name)) {
      this.useTool(facts, 'tool', UNKNOWN, span, cause)
      this.entail(facts, null, cause, 'mcp')
    }
    if (effects.calls === 'arguments') this.invokeArguments(facts, args, cause)
    const tool = TOOL_ARGUMENT.get(name)
    if (tool !== undefined) this.useTool(facts, tool.via, args[tool.index] ?? UNKNOWN, span, cause)
  }

  /** Effects of a call of the host, if they are more specific than those of its builtin; otherwise null. */
  private ownHostEffects(builtin: string, name: string | null): readonly string[] | null {
    if (builtin === 'host_tool_call') return this.hostEffects(name)
    if (builtin !== 'host_call' || name === null || !RUN_FACTS.has(name)) return null
    // The host may have its own operation of that name, which has precedence.
    return this.options.hostTools.has(name) ? null : []
  }

  private addKinds(facts: Facts, tokens: readonly string[], cause: Cause): void {
    for (const token of tokens) if (isKind(token)) this.addToken(facts, token, cause)
  }

  private addBuiltin(facts: Facts, name: string, tokens: readonly string[], cause: Cause): void {
    this.addKinds(facts, tokens, cause)
    for (const effect of listBuiltinEffects(name, tokens)) this.addToken(facts, encodeEffect(effect), cause)
  }

  private readEffects(builtin: string): BuiltinEffects {
    return this.options.signatures.effects(builtin) ?? NOTHING
  }

  // ---- tools ----------------------------------------------------------------------------------------------------------

  /** An alias of a server calls any of its tools; an alias of a tool has its bound effects. */
  private callAlias(facts: Facts, alias: ToolAlias, span: Span): void {
    const cause: Cause = { text: `tool call '${alias.name}'`, span, callee: `tool ${alias.name}` }
    this.addBuiltin(facts, '__tool_alias_call', this.readEffects('__tool_alias_call').tokens, cause)
    const name = alias.server ? '*' : alias.tool
    const key = `tool:${name}:${alias.name}`
    if (!facts.tools.has(key)) {
      facts.tools.set(key, { use: { via: 'tool', name, alias: alias.name }, cause })
      this.changed = true
    }
    if (alias.effects === null)
      this.toolEffects(facts, alias.server ? null : alias.tool, cause, alias.server ? 'mcp' : 'external')
    else {
      this.entail(facts, alias.server ? null : alias.tool, cause, alias.server ? 'mcp' : 'external')
      for (const effect of alias.effects) this.addToken(facts, encodeEffect(normalEffect(effect) ?? effect), cause)
    }
  }

  private useTool(facts: Facts, via: ToolVia, name: Tracked, span: Span, cause: Cause): void {
    if (name.kind === 'param') {
      this.addNaming(facts, name.param, via)
      return
    }
    const known = name.kind === 'text' ? name.text : name.kind === 'unit' && name.unit.kind === 'tool' ? name.unit.name : null
    const key = `${via}:${known ?? '*'}`
    const why: Cause = known === null ? cause : { text: `tool call '${known}'`, span, callee: `tool ${known}` }
    if (!facts.tools.has(key)) {
      facts.tools.set(key, { use: { via, name: known ?? '*' }, cause: why })
      this.changed = true
    }
    if (via !== 'tool' && (known === null || !this.options.bound.has(known))) return
    this.toolEffects(facts, known, why)
  }

  /** The host's declaration of its tool of that name; null if it has none. */
  private hostEffects(name: string | null): readonly string[] | null {
    return name === null ? null : (this.options.hostTools.get(name)?.flatMap((effect) => normalEffect(effect) ?? []) ?? null)
  }

  private addHostEffects(facts: Facts, effects: readonly string[], cause: Cause): void {
    for (const effect of effects) {
      this.addToken(facts, encodeEffect(effect), cause)
      this.addToken(facts, encodeEntailedEffect(effect), cause)
    }
  }

  /** A function of a module `host/NAME`: the program's own tool of that name does not matter. */
  private useHostTool(facts: Facts, name: Tracked, span: Span, cause: Cause): void {
    if (name.kind !== 'text') return this.useTool(facts, 'tool', UNKNOWN, span, cause)
    const why: Cause = { text: `tool call '${name.text}'`, span, callee: `tool ${name.text}` }
    const key = `tool:${name.text} of the host`
    if (!facts.tools.has(key)) {
      facts.tools.set(key, { use: { via: 'tool', name: name.text, reaches: [`host:${name.text}`] }, cause: why })
      this.changed = true
    }
    this.addHostEffects(facts, this.hostEffects(name.text) ?? ['external'], why)
  }

  /** The row of a tool: its bound effect, else its declared effects, else those of its handler, else `external`. */
  private toolEffects(facts: Facts, name: string | null, cause: Cause, otherwise = 'external'): void {
    this.entail(facts, name, cause, otherwise)
    const bound = name === null ? undefined : this.options.bound.get(name)
    if (bound !== undefined) {
      this.addToken(facts, encodeEffect(bound), cause)
      // The name is the contract; the kinds are what the run will request.
      if (!this.world.tools.has(name!)) this.standardKinds(facts, name, cause)
      return
    }
    const definition = name === null ? undefined : this.world.tools.get(name)
    const own = definition === undefined ? this.hostEffects(this.toolId(name)) : null
    if (own !== null) return this.addHostEffects(facts, own, cause)
    if (definition === undefined && this.standardEffects(facts, name, cause)) return
    if (definition?.effects !== null && definition?.effects !== undefined) {
      for (const effect of definition.effects) this.addToken(facts, encodeEffect(effect), cause)
    } else if (definition?.handler && findExecutorFacts(definition.executor)?.runs === 'handler') {
      this.invoke(facts, definition.handler, cause)
    } else {
      if (definition?.executor === SEVERAL && definition.handler !== null) this.invoke(facts, definition.handler, cause)
      this.addToken(facts, encodeEffect(otherwise), cause)
    }
  }

  /** The tool of a name or an alias. */
  private toolId(name: string | null): string | null {
    return name === null ? null : (this.options.aliases.get(name) ?? name)
  }

  /** Targets of the tool; its definition and a binding of effects can only add to them. */
  private entail(facts: Facts, name: string | null, cause: Cause, otherwise = 'external'): void {
    const definition = name === null ? undefined : this.world.tools.get(name)
    const id = this.toolId(name)
    const own = definition === undefined ? this.hostEffects(id) : null
    const isStandard = definition === undefined && id !== null && Object.hasOwn(STANDARD_TOOL_BUILTINS, id)
    const builtin = isStandard ? STANDARD_TOOL_BUILTINS[id as StandardToolId] : null
    const entailed =
      definition !== undefined
        ? listExecutorEffects(definition.executor)
        : own !== null
          ? own
          : builtin !== null
            ? listBuiltinEffects(builtin, this.readEffects(builtin).tokens)
            : [otherwise]
    for (const effect of entailed) this.addToken(facts, encodeEntailedEffect(effect), cause)
  }

  /** Whether the name or alias belongs to a standard tool; its effects are those of its builtin. */
  private standardEffects(facts: Facts, name: string | null, cause: Cause): boolean {
    const id = this.toolId(name)
    if (id === null || !Object.hasOwn(STANDARD_TOOL_BUILTINS, id)) {
      if (name === null) this.standardKinds(facts, null, cause)
      return false
    }
    const builtin = STANDARD_TOOL_BUILTINS[id as StandardToolId] // own key
    this.addBuiltin(facts, builtin, this.readEffects(builtin).tokens, cause)
    return true
  }

  /** Effects of a standard tool; of all of them if the called one is unknown. */
  private standardKinds(facts: Facts, name: string | null, cause: Cause): void {
    const id = this.toolId(name)
    for (const [tool, builtin] of Object.entries(STANDARD_TOOL_BUILTINS)) {
      if (id !== null && id !== tool) continue
      for (const token of this.readEffects(builtin).tokens) if (isKind(token)) this.addToken(facts, token, cause)
    }
  }

  // ---- growing --------------------------------------------------------------------------------------------------------

  private addToken(facts: Facts, token: string, cause: Cause): void {
    if (facts.tokens.has(token)) return
    facts.tokens.set(token, cause)
    this.changed = true
  }

  private addCalled(facts: Facts, param: ParamRef): void {
    const key = paramKey(param)
    if (facts.called.has(key)) return
    facts.called.set(key, param)
    this.changed = true
  }

  private addNaming(facts: Facts, param: ParamRef, via: ToolVia): void {
    const key = `${via}:${paramKey(param)}`
    if (facts.naming.has(key)) return
    facts.naming.set(key, { param, via })
    this.changed = true
  }

  private addUnknown(facts: Facts, cause: Cause): void {
    if (facts.unknown !== null) return
    facts.unknown = cause
    this.changed = true
  }
}

const UNKNOWN: Tracked = { kind: 'unknown' }

function emptyFacts(): Facts {
  return { tokens: new Map(), tools: new Map(), called: new Map(), naming: new Map(), unknown: null }
}

function callTo(name: string, span: Span): Cause {
  return { text: `call to '${name}'`, span, callee: name }
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
