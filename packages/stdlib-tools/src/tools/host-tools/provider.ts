// Providers of tools: many tools behind one object, with the cheap part of each (manifest: name and description) apart
// from the heavy one (contract: schemas), which is requested at the first call of a tool. `toolsOf` makes tools of them, for runtimes,
// registries and servers.

import { DefinitionError, defineTool } from './define.js'
import type {
  CallToPrepare,
  Finished,
  PreparedCall,
  Recovery,
  RetryDefinition,
  Tool,
  PrepareContext,
  ToolContext,
  ToolExample,
} from './define.js'
import { ToolError } from './errors.js'
import { isStream } from './invoke.js'
import { compileSchema } from './schema.js'
import type { AnySchema, CompiledSchema, JsonSchema } from './schema.js'
import type { SideEffect } from '../../library/effects/index.js'

/** What a provider can do at all. */
export type ProviderCapability =
  | 'text_generation'
  | 'chat'
  | 'embedding'
  | 'vision'
  | 'tool_use'
  | 'structured_output'
  | 'streaming'

const CAPABILITIES: readonly ProviderCapability[] = [
  'text_generation',
  'chat',
  'embedding',
  'vision',
  'tool_use',
  'structured_output',
  'streaming',
]

/** What lists and searches need. */
export interface ToolManifest {
  readonly name: string
  readonly description?: string
  readonly version?: string
  readonly category?: string
  readonly aliases?: readonly string[]
  readonly effects?: readonly string[]
  readonly sideEffect?: SideEffect
  readonly recovery?: Recovery
  readonly retry?: RetryDefinition
  readonly timeoutMs?: number
  /** What the tool needs of its provider; a provider that does not declare it cannot be installed. */
  readonly requires?: readonly ProviderCapability[]
}

export interface ToolContract {
  readonly input?: AnySchema
  /** A schema, or the argument in which the caller gives one, for tools that extract data by a given schema. */
  readonly output?: AnySchema | { readonly fromInput: string; readonly default?: JsonSchema }
  readonly examples?: readonly ToolExample[]
}

export interface ProviderCall {
  readonly name: string
  readonly args: { readonly [key: string]: unknown }
}

export interface ToolProviderDefinition {
  /** Cheap; asked once, when tools are made of the provider. */
  readonly manifests: () => readonly ToolManifest[]
  /** What it can do; asked once, when tools are made of it. A tool may stream only where this says `streaming`, if it says anything. */
  readonly capabilities?: () => readonly ProviderCapability[]
  /** Asked once a tool, at its first call; null: the provider does not know, and the call fails with `tool_contract_missing`. */
  readonly contract: (name: string) => ToolContract | null | Promise<ToolContract | null>
  /** Before the first attempt of a call, without effects. */
  readonly prepare?: (
    call: CallToPrepare & { readonly name: string },
    context: PrepareContext,
  ) => PreparedCall | Finished | undefined | Promise<PreparedCall | Finished | undefined>
  readonly execute: (call: ProviderCall, context: ToolContext) => unknown
}

export interface ToolProvider extends ToolProviderDefinition {
  readonly kind: 'tool-provider'
}

export function defineProvider(definition: ToolProviderDefinition): ToolProvider {
  return { ...definition, kind: 'tool-provider' }
}

/** The tools of providers. Their arguments and results are checked by their contracts, in the host. */
export function toolsOf(...providers: readonly ToolProvider[]): readonly Tool[] {
  return providers.flatMap((provider) => {
    const offered = provider.capabilities === undefined ? null : readCapabilities(provider.capabilities(), 'a provider declares')
    return provider.manifests().map((manifest) => {
      const needed = readCapabilities(manifest.requires ?? [], `tool "${manifest.name}" requires`)
      const missing = needed.find((capability) => !(offered ?? []).includes(capability))
      if (missing !== undefined)
        throw new DefinitionError(
          `tool "${manifest.name}" requires the capability "${missing}", which its provider does not declare in capabilities()`,
        )
      return makeTool(provider, manifest, offered)
    })
  })
}

function readCapabilities(names: unknown, who: string): readonly ProviderCapability[] {
  if (!Array.isArray(names)) throw new DefinitionError(`${who} capabilities that are not a list`)
  for (const name of names as readonly unknown[]) {
    if (!CAPABILITIES.includes(name as ProviderCapability))
      throw new DefinitionError(
        `${who} the unknown capability ${JSON.stringify(name)}: there are ${CAPABILITIES.map((each) => `"${each}"`).join(', ')}`,
      )
  }
  return names as readonly ProviderCapability[]
}

interface Compiled {
  readonly input: CompiledSchema | null
  readonly output: (args: unknown) => CompiledSchema | null
}

function makeTool(
  provider: ToolProvider,
  { requires: _, ...manifest }: ToolManifest,
  offered: readonly ProviderCapability[] | null,
): Tool {
  const { name } = manifest
  const { prepare } = provider
  let contract: Promise<Compiled> | null = null
  const getCompiled = (): Promise<Compiled> => {
    contract ??= compile(provider, name)
    // A failed request is repeated at the next call.
    contract.catch(() => (contract = null))
    return contract
  }
  return defineTool({
    ...manifest,
    ...(prepare === undefined
      ? {}
      : {
          prepare: async (call, context) => {
            const args = await checkAgainst((await getCompiled()).input, call.args, 'invalid_args', 'Invalid arguments at')
            return (await prepare({ ...call, args, name }, context)) ?? { args }
          },
        }),
    async execute(given, context) {
      const { input, output } = await getCompiled()
      const args = await checkAgainst(input, given, 'invalid_args', 'Invalid arguments at')
      const value = await provider.execute({ name, args: args as ProviderCall['args'] }, context)
      if (offered !== null && !offered.includes('streaming') && isStream(value))
        throw new ToolError(
          'invalid_args',
          `Tool '${name}' streams, and its provider does not declare the capability "streaming"`,
          {
            details: { reason: 'capability_missing', capability: 'streaming' },
          },
        )
      return checkAgainst(output(args), value, 'output_validation_failed', `Tool '${name}' returned an invalid result at`)
    },
  })
}

async function compile(provider: ToolProvider, name: string): Promise<Compiled> {
  const contract = await provider.contract(name)
  if (contract === null) throw new ToolError('tool_contract_missing', `Tool '${name}' has no contract`)
  const { input, output } = contract
  const fixed = output === undefined || isFromInput(output) ? null : compileSchema(output, 'output')
  return {
    input: input === undefined ? null : compileSchema(input),
    output: (args) => {
      if (output === undefined || !isFromInput(output)) return fixed
      const given = (args as { readonly [key: string]: unknown } | null)?.[output.fromInput] ?? output.default
      return typeof given === 'object' && given !== null ? compileSchema(given as JsonSchema, 'output') : null
    },
  }
}

function isFromInput(
  output: NonNullable<ToolContract['output']>,
): output is { readonly fromInput: string; readonly default?: JsonSchema } {
  return 'fromInput' in output && typeof output.fromInput === 'string'
}

async function checkAgainst(
  schema: CompiledSchema | null,
  value: unknown,
  code: 'invalid_args' | 'output_validation_failed',
  what: string,
): Promise<unknown> {
  const verdict = (await schema?.check(value)) ?? ({ ok: true, value } as const)
  if (verdict.ok) return verdict.value
  const { path, reason } = verdict
  throw new ToolError(code, `${what} ${path}: ${reason}`, { details: { path, reason } })
}
