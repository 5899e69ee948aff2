// `bridle check --effects FILE…`: what each function and the whole script can reach: effects, tools, grants. For review before
// running code of another author, or of a model. Findings about rows and grants go to stderr as for `check`.

import { CompileError } from '@bridle/stdlib-tools'
import type { Runtime } from '@bridle/stdlib-tools'
import type { EffectManifest, FunctionEffects, GrantReport, ToolUse } from '@bridle/compiler'
import { EXIT_FAILURE } from '../errors.js'
import { makeCommandRuntime } from '../host.js'
import { readScript } from '../load.js'
import { renderFinding, tell, tellJson } from '../printable.js'

/** Paths are files. Exit 1 when one of them has an error. */
export async function effectsCommand(files: readonly string[], options: { readonly json?: boolean }): Promise<number> {
  const runtime = makeCommandRuntime({ terminal: false, args: [] })
  const reports: { readonly path: string; readonly manifest: EffectManifest }[] = []
  let failed = false
  for (const path of files) {
    const read = await loadManifest(runtime, path)
    failed ||= read.failed
    if (read.manifest !== null) reports.push({ path, manifest: read.manifest })
  }
  if (options.json === true) {
    const shown = reports.map(({ path, manifest }) => ({ ...manifest, file: path }))
    tellJson(shown)
  } else tell(reports.map(({ path, manifest }) => renderManifest(path, manifest)).join('\n'))
  return failed ? EXIT_FAILURE : 0
}

async function loadManifest(
  runtime: Runtime,
  path: string,
): Promise<{ readonly manifest: EffectManifest | null; readonly failed: boolean }> {
  const script = await readScript(path, undefined)
  const show = (found: Pick<CompileError, 'diagnostics' | 'file'>): void => {
    for (const each of found.diagnostics) process.stderr.write(renderFinding(each, found.file, { shown: path }))
  }
  try {
    const module = runtime.compile(script.text, { file: script.key, effects: 'strict' })
    const file = module.files.get(script.key)
    if (file !== undefined) show({ diagnostics: module.warnings, file })
    return { manifest: module.manifest, failed: false }
  } catch (cause) {
    if (!(cause instanceof CompileError)) throw cause
    show(cause)
  }
  // Show what the program can do even if a contract is broken.
  try {
    return { manifest: runtime.compile(script.text, { file: script.key, effects: 'off' }).manifest, failed: true }
  } catch (cause) {
    if (!(cause instanceof CompileError)) throw cause
    return { manifest: null, failed: true }
  }
}

export function renderManifest(path: string, { functions, script }: EffectManifest): string {
  const lines = [
    path,
    '  the whole script',
    `    effects  ${list(script.effects)}`,
    `    tools    ${list(script.tools.map(formatToolName))}`,
    `    powers   ${list(script.kinds)}`,
    ...script.grants.map((grant) => `    grant    ${formatGrant(grant)}${grant.within === null ? '' : `, in ${grant.within}`}`),
  ]
  const names = functions.map(({ kind, name, line }) => `${WORDS[kind]} ${name} (line ${line})`)
  const width = Math.max(0, ...names.map((name) => name.length))
  functions.forEach((fn, at) => lines.push(`  ${names[at]!.padEnd(width)}  ${formatFunction(fn)}`))
  return `${lines.join('\n')}\n`
}

const WORDS: Readonly<Record<FunctionEffects['kind'], string>> = {
  fn: 'fn',
  tool: 'tool',
  pipeline: 'pipeline',
  method: 'fn',
  closure: 'let',
}

function formatFunction(fn: FunctionEffects): string {
  const parts = [list(fn.effects)]
  if (fn.unknown) parts.push('and whatever it finds at run time')
  if (fn.callsParameters.length > 0) parts.push(`and what it is given as ${fn.callsParameters.join(', ')}`)
  if (fn.declared !== null) parts.push(`row: ${list(fn.declared)}`)
  if (fn.tools.length > 0) parts.push(`tools: ${list(fn.tools.map(formatToolName))}`)
  for (const grant of fn.grants) parts.push(`grant: ${formatGrant(grant)}`)
  return parts.join('; ')
}

function list(words: readonly string[]): string {
  return words.length === 0 ? 'none' : words.join(', ')
}

function formatToolName({ via, name, alias }: ToolUse): string {
  const plain = name === '*' ? 'any' : name
  const shown = alias === undefined ? plain : `${alias} = ${plain}`
  switch (via) {
    case 'tool':
      return shown
    case 'host':
      return `${shown} (of the host)`
    case 'capability':
      return `${shown} (host operation)`
    case 'mcp':
      return `${shown} (of an MCP server)`
  }
}

function formatGrant({ tool, constraints, effects }: GrantReport): string {
  const entries = Object.entries(constraints).map(([key, value]) => `${key} ${formatValue(value)}`)
  return [tool, ...entries, ...(effects === null ? [] : [`effects ${list(effects)}`])].join(' ')
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(formatValue).join('|')
  if (typeof value === 'object' && value !== null && 'float' in value) return String(value.float)
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
