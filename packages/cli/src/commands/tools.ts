// `bridle tools`: the tools that a script can call (lock.ts defines which): list, describe, call one, pin them in a lock
// file, and report changes.

import { existsSync } from 'node:fs'
import { CompileError } from '@bridle/stdlib-tools'
import type { StartOptions } from '@bridle/stdlib-tools'
import { HarnDict, builtin, display, frame, fromPlain } from '@bridle/vm'
import type { BuiltinFamily, FrameState, Plain } from '@bridle/vm'
import { makeAuthority, withLock } from '../authority.js'
import type { AuthorityFlags } from '../authority.js'
import { readJson } from './run-options.js'
import { CommandError, EXIT_FAILURE, UsageError } from '../errors.js'
import { makeFaultError } from '../fault-report.js'
import { makeCommandRuntime, loadManifest } from '../host.js'
import { compileScript, makeSourceLookup, readScript } from '../load.js'
import type { Script } from '../script.js'
import { LOCK_FILE, collectTools, compareLock, makeLock, readLock, writeLock } from '../lock.js'
import type { Collected, KnownTool } from '../lock.js'
import { perform } from '../perform.js'
import { findClosest } from '@bridle/parser'
import { complain, toOneLine, toPrintable, tell, tellJson } from '../printable.js'
import { EFFECTS, harnTypes, tsTypes } from '@bridle/stdlib-tools'
import type { ToolDeclaration } from '@bridle/stdlib-tools'
import { readToolsFile } from '../checking/runtimes.js'
import { readSizes } from '../further-limits.js'
import type { SizeFlags } from '../further-limits.js'
import { executorOf } from '@bridle/compiler/grants'

export interface ToolsFlags extends AuthorityFlags, SizeFlags {
  readonly json?: boolean
  readonly short?: boolean
  readonly ts?: boolean
  /** A file of declarations. */
  readonly tools?: string
  readonly lockFile?: string
  readonly signKey?: string
  readonly servers?: boolean
  readonly args?: string
}

const SOURCES: readonly KnownTool['source'][] = ['script', 'mcp', 'bridle']

export async function toolsListCommand(file: string | undefined, flags: ToolsFlags): Promise<number> {
  const found = await collectSources(file, flags)
  // With a script, its own tools come first.
  const tools = SOURCES.flatMap((source) => found.tools.filter((tool) => tool.source === source))
  if (flags.json === true) {
    print(tools.map(({ key, source, name, description, hash }) => ({ key, source, name, description, hash })))
    return chooseExitCode(found)
  }
  const width = Math.max(...tools.map(({ name }) => name.length))
  for (const { source, name, description } of tools) {
    tell(`${`${source.padEnd(7)} ${toOneLine(name).padEnd(width)}  ${toOneLine(description.split('\n', 1)[0]!)}`.trimEnd()}\n`)
  }
  return chooseExitCode(found)
}

/** Declarations of the tools, in one of four formats. */
export async function toolsTypesCommand(file: string | undefined, flags: ToolsFlags): Promise<number> {
  const forms = [flags.json, flags.short, flags.ts].filter((each) => each === true)
  if (forms.length > 1) throw new UsageError('--json, --short and --ts are different forms: choose one')
  if (flags.tools !== undefined && file !== undefined)
    throw new UsageError('the tools of a script or those of --tools: choose one')
  const found = flags.tools === undefined ? await collectSources(file, flags) : null
  const declarations = found === null ? readToolsFile(flags.tools!) : found.tools.map(makeDeclaration)
  if (flags.json === true) print(declarations)
  else tell(flags.ts === true ? tsTypes(declarations) : harnTypes(declarations, { short: flags.short ?? false }))
  return found === null ? 0 : chooseExitCode(found)
}

function makeDeclaration({ name, description, input, output, about }: KnownTool): ToolDeclaration {
  const isSchema = (value: Plain): value is { readonly [key: string]: Plain } =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  return {
    name,
    ...(description === '' ? {} : { description }),
    parameters: isSchema(input) ? input : null,
    output: isSchema(output) ? output : null,
    ...(about === undefined ? {} : { effects: about.effect === null ? [] : [about.effect], sideEffect: about.sideEffect }),
  }
}

/** An incomplete list, because a server could not be asked, is not a success. */
const chooseExitCode = ({ problems }: Collected): number => (problems.length > 0 ? EXIT_FAILURE : 0)

export async function toolsDescribeCommand(name: string, file: string | undefined, flags: ToolsFlags): Promise<number> {
  const tool = find(name, await collectSources(file, flags))
  if (flags.json === true) {
    print(tool)
    return 0
  }
  const { about } = tool
  const lines = [
    toOneLine(`${tool.name} (${tool.key})`),
    tool.description,
    ...(about === undefined ? [] : [`effect: ${about.effect ?? 'none'} (side effect ${about.sideEffect}, ${about.security})`]),
    ...(about?.examples ?? []).map(({ args, result }) => {
      const given = result === undefined ? '' : ` -> ${JSON.stringify(result)}`
      return `example: ${JSON.stringify(args)}${given}`
    }),
    `hash: ${tool.hash}`,
    `input: ${JSON.stringify(tool.input, null, 2)}`,
  ]
  if (tool.output !== null) lines.push(`output: ${JSON.stringify(tool.output, null, 2)}`)
  tell(`${lines.filter((line) => line !== '').join('\n')}\n`)
  return 0
}

export async function toolsLockCommand(file: string | undefined, flags: ToolsFlags): Promise<number> {
  const found = await collectSources(file, flags)
  if (found.problems.length > 0) return EXIT_FAILURE
  const path = flags.lockFile ?? LOCK_FILE
  writeLock(path, makeLock(found.tools), flags.signKey)
  if (flags.json === true) print({ file: path, tools: found.tools.length })
  else tell(`${path}: ${found.tools.length} tools\n`)
  return 0
}

/** Exit 1 when a pinned tool changed or is gone; new ones are only shown. */
export async function toolsDiffCommand(file: string | undefined, flags: ToolsFlags): Promise<number> {
  const lock = readLock(flags.lockFile ?? LOCK_FILE, flags.verifyKey)
  const found = await collectSources(file, flags)
  const differences = compareLock(lock, found, { servers: flags.servers !== false })
  if (flags.json === true) print(differences)
  else if (differences.length === 0 && found.problems.length === 0)
    tell(`all ${found.tools.length} tools are as they were locked\n`)
  else
    for (const { key, change, what, drifts = [] } of differences)
      tell(
        [
          `${change.padEnd(8)} ${toOneLine(key)}${what === undefined ? '' : `: its ${what}`}`,
          ...drifts.map((line) => `         ${line}`),
          '',
        ].join('\n'),
      )
  return found.problems.length > 0 || differences.some(({ change }) => change !== 'added') ? EXIT_FAILURE : 0
}

// ---- calling -------------------------------------------------------------------------------------------------------------

export async function toolsCallCommand(name: string, given: readonly (string | undefined)[], flags: ToolsFlags): Promise<number> {
  // Arguments may follow the script, or stand alone.
  if (given.every((each) => each === undefined) && name.endsWith('.harn') && existsSync(name))
    throw new UsageError(`which tool of ${name}? bridle tools call NAME ${name}; \`bridle tools list ${name}\` names them`)
  const isJson = (each: string): boolean => /^\s*[{["]/.test(each)
  const texts = given.filter((each) => each !== undefined && isJson(each))
  const files = given.filter((each) => each !== undefined && !isJson(each))
  if (files.length > 1) throw new UsageError(`two scripts: ${files.join(' and ')}; arguments are a JSON object`)
  if (texts.length + (flags.args === undefined ? 0 : 1) > 1) throw new UsageError('the arguments are given twice')
  const [file] = files
  const args = readArguments(flags.args ?? texts[0])
  const script = await loadScript(file)
  const server = findServer(name, script.key)
  const runtime = makeCommandRuntime({
    ...readSizes(flags),
    script: script.key,
    terminal: true,
    args: [],
    authority: await withLock(makeAuthority(flags), flags, script.key),
    runtime: {
      onTool: () => {},
      families: [callFamily(name.replace(/^(script|bridle|mcp):/, ''), server, args, flags.json === true)],
    },
  })
  const module = compileScript(runtime, script, { json: flags.json === true })
  if (module === null) return EXIT_FAILURE
  const start = (options: StartOptions): StartOptions => ({
    ...options,
    globals: { argv: fromPlain([]) },
    epilogue: '__wanted_tool',
  })
  return perform({
    module,
    script,
    launch: (options) => runtime.start(module, start(options)),
    json: false,
    dryRun: false,
    // A program that reads the output needs the result and nothing else.
    print: (text) => process.stderr.write(text),
    // Programs get the raw result; for a terminal, control characters are replaced.
    onDone: (value) => {
      const text = `${display(value)}\n`
      process.stdout.write(process.stdout.isTTY === true ? toPrintable(text) : text)
    },
    // The code is `thrown` or `runtime_error` if it is not a tool error.
    onFailed: ({ fault }) => {
      if (flags.json !== true) return
      const error = { ...makeFaultError(fault, makeSourceLookup(module, script)), message: fault.message }
      print({ status: 'failed', exit_code: EXIT_FAILURE, error, errors: [error] })
    },
    timeoutMs: null,
    snapshotFile: null,
  })
}

/** `SERVER.TOOL` of a server that the manifest declares. */
function findServer(name: string, scriptKey: string): { readonly server: string; readonly tool: string } | null {
  const plain = name.replace(/^mcp:/, '')
  const servers = Object.keys(loadManifest(scriptKey)?.mcpServers ?? {})
  const server = servers.find((each) => plain.startsWith(`${each}.`))
  return server === undefined ? null : { server, tool: plain.slice(server.length + 1) }
}

interface CallState extends FrameState {
  stage: 'call' | 'json' | 'text'
}

/** The call that is appended to the script; its value is the printed text. */
function callFamily(
  name: string,
  server: { readonly server: string; readonly tool: string } | null,
  args: Plain,
  json: boolean,
): BuiltinFamily {
  const call = frame<CallState>({
    kind: 'cli.tool_call',
    step: (ctx, state) => {
      switch (state.stage) {
        case 'call': {
          state.stage = json ? 'json' : 'text'
          if (server === null) return ctx.call(ctx.builtinValue('__defined_tool_call'), [name, fromPlain(args)])
          const { server: mcp_server, tool } = server
          const entry = fromPlain({ name: tool, executor: executorOf('mcp'), mcp_server, mcp_tool: tool, parameters: {} })
          return ctx.call(ctx.builtinValue('__tool_call'), [null, entry, fromPlain(args), null])
        }
        case 'json':
          state.stage = 'text'
          return ctx.call(ctx.builtinValue('json_stringify'), [ctx.result])
        case 'text':
          return display(ctx.result)
      }
    },
    // A failed tool is a large dict; a person needs the reason and the code to look up.
    onFault: (ctx, _, fault) => {
      const { caught } = fault
      if (!(caught instanceof HarnDict) || caught.get('name') !== 'ToolError') return ctx.fail(fault)
      return ctx.categorized(display(caught.get('code') ?? null), display(caught.get('message') ?? null))
    },
  })
  return {
    name: 'cli-tools',
    frames: [call],
    builtins: [
      builtin(
        '__wanted_tool()',
        { doc: 'Calls the tool that the command line names.', effects: ['callback', ...Object.keys(EFFECTS)] },
        (ctx) => ctx.frame('cli.tool_call', { stage: 'call' } satisfies CallState),
      ),
    ],
  }
}

function readArguments(text: string | undefined): Plain {
  if (text === undefined) return {}
  const args = readJson(text, 'the arguments are not JSON')
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    throw new UsageError('the arguments must be a JSON object')
  return args
}

// ---- common --------------------------------------------------------------------------------------------------------------

async function loadScript(file: string | undefined): Promise<Script> {
  return file === undefined ? { key: '<none>', shown: '<none>', text: '' } : readScript(file, undefined)
}

async function collectSources(file: string | undefined, flags: ToolsFlags): Promise<Collected> {
  const script = file === undefined ? null : await readScript(file, undefined)
  let found: Collected
  try {
    found = await collectTools(script, { servers: flags.servers !== false, authority: makeAuthority(flags) })
  } catch (cause) {
    if (cause instanceof CompileError)
      throw new CommandError(
        cause
          .render()
          .trimEnd()
          .replace(/^error: /, ''),
      )
    throw cause
  }
  for (const problem of found.problems) complain(`error: ${problem}\n`)
  return found
}

function find(name: string, { tools }: Collected): KnownTool {
  const found = tools.filter((tool) => tool.key === name || tool.name === name)
  const [first] = found
  if (first === undefined) {
    const near = findClosest(
      name,
      tools.flatMap((tool) => [tool.name, tool.key]),
    )
    throw new CommandError(
      near === null
        ? `there is no tool ${name}; \`bridle tools list\` shows them`
        : `there is no tool ${name}; did you mean ${near}?`,
    )
  }
  // A plain name means the script's own tool.
  return found.find((tool) => tool.source === 'script') ?? first
}

function print(value: unknown): void {
  tellJson(value)
}
