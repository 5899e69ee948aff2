// Runtimes for checking: if a project's host declares its tools in a file, scripts are compiled with those tools, which cannot be called.

import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ToolTypes } from '@bridle/compiler'
import { DefinitionError, declareTools, readToolDeclarations, toolsOfDeclarations } from '@bridle/stdlib-tools'
import type { Runtime, ToolDeclaration } from '@bridle/stdlib-tools'
import type { Config } from '../config.js'
import { CommandError, makeUnreadableError } from '../errors.js'
import { makeCommandRuntime } from '../host.js'
import type { FindOpenText } from './overlay.js'

/** Throws CommandError for an invalid declaration, UsageError for a file that cannot be read. */
export function readToolsFile(path: string): readonly ToolDeclaration[] {
  try {
    return readToolDeclarations(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new CommandError(`${path} is no JSON: ${cause.message}`)
    if (cause instanceof DefinitionError) throw new CommandError(`${path}: ${cause.message}`)
    throw makeUnreadableError(path, cause)
  }
}

export class CheckingRuntimes {
  private readonly script: string | undefined
  private readonly flag: string | null
  private readonly findOpenText: FindOpenText | null
  private readonly made = new Map<string | null, Made>()

  /** `flag`: a file of declarations that overrides those of manifests; `script` owns the runtimes; `findOpenText`: an editor's documents. */
  constructor({ flag, script, findOpenText }: CheckingOptions = {}) {
    this.flag = flag === undefined ? null : resolve(flag)
    this.script = script
    this.findOpenText = findOpenText ?? null
  }

  /** For files with these settings. Throws CommandError. */
  getRuntime(config: Config): Runtime {
    return this.find(config).runtime
  }

  /** The declarations that tool calls are checked against. Throws CommandError. */
  getTypes(config: Config): ToolTypes {
    return this.find(config).types
  }

  private find({ path, check: { tools } }: Config): Made {
    const file = this.flag ?? (tools === undefined || path === null ? null : resolve(dirname(path), tools))
    const changed = file === null ? 0 : (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    const known = this.made.get(file)
    if (known?.changed === changed) return known
    const runtime = this.make(file)
    const types = new ToolTypes(declareTools(runtime.host.tools.values()), { isComplete: true })
    const made = { runtime, types, changed }
    this.made.set(file, made)
    return made
  }

  private make(file: string | null): Runtime {
    const { script, findOpenText } = this
    return makeCommandRuntime({
      terminal: false,
      args: [],
      ...(script === undefined ? {} : { script }),
      ...(findOpenText === null ? {} : { findOpenText }),
      ...(file === null ? {} : { runtime: { tools: readDeclaredTools(file) } }),
    })
  }
}

interface CheckingOptions {
  readonly flag?: string | undefined
  readonly script?: string
  readonly findOpenText?: FindOpenText
}

interface Made {
  readonly runtime: Runtime
  readonly types: ToolTypes
  /** When the declaring file last changed: editors run for days. */
  readonly changed: number
}

function readDeclaredTools(file: string): ReturnType<typeof toolsOfDeclarations> {
  const declarations = readToolsFile(file)
  try {
    return toolsOfDeclarations(declarations)
  } catch (cause) {
    if (cause instanceof DefinitionError) throw new CommandError(`${file}: ${cause.message}`)
    throw cause
  }
}
