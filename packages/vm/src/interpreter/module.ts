// Linked modules: what many machines share. A Module is a chunk whose builtins are resolved against a registry and whose functions
// are decoded on first call; it holds no script values.

import { toQuickKey, toQuickName } from '../values/names.js'
import { OPCODE_BY_CODE, verify } from '@bridle/compiler/bytecode'
import type { ChunkOrigin, CompiledProgram, Constant, FunctionChunk, ModuleChunk } from '@bridle/compiler/bytecode'
import { HarnDuration, HarnFloat } from '../values/scalars.js'
import { decode } from './decode.js'
import { CompiledState, callUncompiled } from '../compiled/state.js'
import { isLibraryKey } from '../library-keys.js'
import type { Compiled, Enter } from '../compiled/state.js'
import type { Decoded } from './decode.js'
import type { Ceiling, BuiltinDef } from '../builtins/builtin.js'
import type { Registry } from '../builtins/registry.js'
import { EXTENDS } from './linked.js'
import type { Instr } from './linked.js'
import type { Value } from '../values/value.js'

/** A handler of the chunk as a fault finds it: where the fault goes, by slot of the frame, and the first instruction, once known. */
export interface HandlerEntry {
  readonly start: number
  readonly end: number
  readonly target: number
  readonly slot: number
  entry: Instr | null
}

declare module '../values/types.js' {
  interface Code extends FunctionCode {}
  interface CodeModule extends Module {}
}

const NO_HANDLERS: readonly HandlerEntry[] = []

export class FunctionCode {
  readonly module: Module
  readonly index: number
  readonly chunk: FunctionChunk
  readonly paramNames: readonly string[]
  readonly paramCount: number
  /** Plain call: every argument goes to its slot, missing ones are nil, and the call runs the body. */
  readonly plain: boolean
  /** Number of arguments that need no further processing, -1 if a rest parameter always does. */
  readonly exactCount: number
  /** Locals and operand stack. */
  readonly frameSize: number
  /** Inner ones before outer ones. */
  readonly handlers: readonly HandlerEntry[]
  /** First instruction, null until the function is called: the loop's shortcut to `entry`. */
  first: Instr | null = null
  // ---- the compiled tier (compiled/tier.ts); shared by all machines that run this code
  /** Runs the compiled function with arguments in registers; null while there is none. */
  enter: Enter | null = null
  /** The compiled function itself, or its placeholder until it is compiled. */
  jit: Compiled = callUncompiled
  /** The arguments whose ownership it accepts, as bits of `Instr.moves`. */
  readonly takes: number
  /** Those that it may keep or change without sharing them, as it does with arguments that it takes over and with a rest list. */
  readonly keeps: number
  /** Number of arguments with which `jit` may be called directly, -2 if calls are not plain. */
  readonly jitCount: number
  /** Calls from the base tier so far; permanently below zero if compiling was refused or did not pay. */
  heat = 0
  readonly compiled = new CompiledState()
  private decoded: Decoded | null = null

  constructor(module: Module, index: number, chunk: FunctionChunk) {
    this.module = module
    this.index = index
    this.chunk = chunk
    this.paramNames = chunk.params
    this.paramCount = chunk.params.length
    this.exactCount = chunk.rest < 0 ? chunk.params.length : -1
    this.plain = chunk.kind !== 'generator' && chunk.kind !== 'stream'
    this.frameSize = chunk.slots + chunk.stack
    this.handlers =
      chunk.handlers.length === 0
        ? NO_HANDLERS
        : chunk.handlers.map(({ start, end, target, depth }) => ({ start, end, target, slot: chunk.slots + depth, entry: null }))
    this.jitCount = this.plain ? this.exactCount : -2
    this.takes = readTakes(chunk.code)
    this.keeps = chunk.rest < 0 ? this.takes : EXTENDS - 1
  }

  get entry(): Instr {
    return (this.first ??= (this.decoded ??= decode(this)).entry)
  }

  /** Decodes now instead of at the first call. */
  prepare(): void {
    this.decoded ??= decode(this)
  }

  /** The instruction that carries out the code at `pc`; code folded into other instructions has none. */
  getInstrAt(pc: number): Instr {
    const instr = (this.decoded ??= decode(this)).at.get(pc)
    if (instr === undefined) throw new Error(`no instruction at ${pc} of ${this.chunk.name}`)
    return instr
  }

  /** First instruction of the block at `pc`: a handler's entry. Undefined if no code there is reachable. */
  findBlockAt(pc: number): Instr | undefined {
    return (this.decoded ??= decode(this)).blocks.get(pc)
  }

  /** First instructions of blocks: wherever a jump may lead and wherever the scope of a handler begins or ends. */
  listBlockStarts(): readonly Instr[] {
    return (this.decoded ??= decode(this)).blocks.instrs
  }

  /** Line and column of a code position, 0 if unknown. */
  findPlace(pc: number): { readonly line: number; readonly column: number } {
    const { lines } = this.chunk
    let low = 0
    let high = lines.length / 3
    while (low < high) {
      const middle = (low + high) >> 1
      if (lines[middle * 3]! <= pc) low = middle + 1
      else high = middle
    }
    return low === 0 ? { line: 0, column: 0 } : { line: lines[low * 3 - 2]!, column: lines[low * 3 - 1]! }
  }
}

/** The function begins with TAKE. */
function readTakes(code: readonly number[]): number {
  let takes = 0
  for (let at = 0; OPCODE_BY_CODE[code[at]!]?.name === 'TAKE'; at += 2) takes |= 2 << code[at + 1]!
  return takes
}

export class Module {
  readonly key: string
  /** Location of its source; the key of a second instance has a number appended. */
  readonly file: string
  /** Its ceilings; null for none. */
  readonly ceilings: readonly Ceiling[] | null
  /** An internal module (interpreter/library.ts): traces omit it, and it acts for its caller. */
  readonly isLibrary: boolean
  /** Whether traces omit its frames: true for internal modules, unless they were compiled with positions for debugging. */
  readonly isHidden: boolean
  readonly chunk: ModuleChunk
  readonly functions: readonly FunctionCode[]
  readonly builtins: readonly BuiltinDef[]
  /** Directory part of the key, for source-relative paths. */
  readonly directory: string

  constructor(chunk: ModuleChunk, builtins: readonly BuiltinDef[]) {
    this.key = toQuickKey(chunk.key)
    this.file = chunk.file ?? chunk.key
    this.ceilings = chunk.ceilings ?? null
    this.isLibrary = isLibraryKey(chunk.key)
    this.isHidden = this.isLibrary && chunk.functions.every(({ lines }) => lines.length === 0)
    this.chunk = chunk
    this.builtins = builtins
    this.functions = chunk.functions.map((fn, index) => new FunctionCode(this, index, fn))
    const { file } = this
    const slash = Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\'))
    this.directory = slash < 0 ? '.' : slash === 0 ? '/' : file.slice(0, slash)
  }
}

export interface LinkedProgram {
  readonly modules: ReadonlyMap<string, Module>
  readonly main: Module
  readonly registry: Registry
  /** Whether any module has ceilings. */
  readonly isNarrowed: boolean
}

/** A chunk that does not fit the registry or is damaged. `problems` lists all problems. */
export class LinkError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`cannot link: ${problems.join('; ')}`)
    this.problems = problems
  }
}

/**
 * Words of code from which a function is decoded when its program is linked. Linking follows compiling, which takes longer; the
 * first slice of a run must not take time that depends on the script's size.
 */
const LARGE = 1 << 13

/** Checks the chunks and resolves their builtins. Throws LinkError with the list of what is missing or damaged. */
export function linkProgram(program: CompiledProgram, registry: Registry, origin: ChunkOrigin = 'compiler'): LinkedProgram {
  const problems = program.modules.flatMap((chunk) => (chunk.fingerprint === undefined ? verify(chunk, origin) : []))
  if (problems.length > 0) throw new LinkError(problems)
  const modules = new Map<string, Module>()
  for (const chunk of program.modules) {
    const builtins = chunk.builtins.map((name) => {
      const def = registry.builtins.get(name)
      if (def === undefined) problems.push(`builtin ${name} is missing (used by ${chunk.key})`)
      return def as BuiltinDef
    })
    modules.set(chunk.key, new Module(chunk, builtins))
  }
  for (const { key, units } of program.modules) {
    for (const unit of units) if (!modules.has(unit)) problems.push(`module ${unit} is missing (imported by ${key})`)
  }
  const main = modules.get(program.main)
  if (main === undefined) problems.push(`main module ${program.main} is missing`)
  if (problems.length > 0) throw new LinkError(problems)
  for (const module of modules.values()) for (const fn of module.functions) if (fn.chunk.code.length > LARGE) fn.prepare()
  return { modules, main: main!, registry, isNarrowed: program.modules.some(({ ceilings }) => ceilings !== undefined) }
}

/** A separate module, whose imports are found when they are needed. Throws LinkError. */
export function linkModule(chunk: ModuleChunk, builtin: (name: string) => BuiltinDef | undefined): Module {
  const problems = chunk.fingerprint === undefined ? [...verify(chunk)] : []
  const builtins = chunk.builtins.map((name) => {
    const def = builtin(name)
    if (def === undefined) problems.push(`builtin ${name} is missing (used by ${chunk.key})`)
    return def as BuiltinDef
  })
  if (problems.length > 0) throw new LinkError(problems)
  return new Module(chunk, builtins)
}

/** Immutable constants become values once; `data` is made again for each use, because lists and dicts have buffers that grow. */
export function toConstantValue(constant: Constant): Value {
  if (typeof constant === 'string') return toQuickName(constant)
  if (constant === null || typeof constant !== 'object') return constant
  switch (constant.tag) {
    case 'float':
      return new HarnFloat(constant.value)
    case 'duration':
      return new HarnDuration(constant.ms)
    case 'data':
    case 'struct':
      throw new Error('not a plain constant')
  }
}
