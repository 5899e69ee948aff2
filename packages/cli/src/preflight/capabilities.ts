// Operations that a host is assumed to have: the usual ones, those that the project declares, and those that a script mocks.

import { readFileSync } from 'node:fs'
import { parse as parseToml } from 'smol-toml'
import { CommandError, readReason } from '../errors.js'

/** Capability → operations. */
export type Capabilities = ReadonlyMap<string, ReadonlySet<string>>

const USUAL: Readonly<Record<string, string>> = {
  workspace: 'read_text write_text apply_edit delete exists file_exists list project_root roots',
  process: 'exec get_default_shell list_shells set_default_shell shell_invocation',
  template: 'render',
  interaction: 'ask',
  runtime: 'approved_plan dry_run pipeline_input record_run set_result task',
  project:
    'agent_instructions code_patterns compute_content_hash ide_context lessons mcp_config metadata_get metadata_refresh_hashes ' +
    'metadata_save metadata_set metadata_stale scan scope_test_command test_commands',
  session: 'active_roots changed_paths preread_get preread_read_many',
  editor: 'get_active_file get_selection get_visible_files',
  diagnostics: 'get_causal_traces get_errors',
  git: 'get_branch get_diff',
  learning: 'get_learned_rules report_correction',
}

export function makeCapabilities(
  ...added: readonly (readonly (readonly [capability: string, operations: readonly string[]])[])[]
): Capabilities {
  const table = new Map(Object.entries(USUAL).map(([name, operations]) => [name, new Set(operations.split(' '))]))
  for (const [name, operations] of added.flat()) {
    const known = table.get(name) ?? new Set()
    table.set(name, known)
    for (const operation of operations) known.add(operation)
  }
  return table
}

/**
 * A file of capabilities, JSON or TOML: `{capability: [operation, …]}`, `{capability: {operations: […]}}` (or `ops`) or
 * `{capability: {operation: true}}`, optionally all under `capabilities`. Throws CommandError.
 */
export function readCapabilities(path: string): readonly (readonly [string, readonly string[]])[] {
  let data: unknown
  try {
    const text = readFileSync(path, 'utf8')
    data = path.endsWith('.toml') ? parseToml(text) : (JSON.parse(text) as unknown)
  } catch (cause) {
    throw new CommandError(`cannot read host capabilities from ${path}: ${readReason(cause)}`)
  }
  const table = isTable(data) && isTable(data['capabilities']) ? data['capabilities'] : data
  if (!isTable(table)) throw new CommandError(`${path}: expected a table of capabilities`)
  return Object.entries(table).map(([name, value]) => [name, readOperations(value)])
}

function readOperations(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((one) => typeof one === 'string')
  if (!isTable(value)) return []
  const listed = value['operations'] ?? value['ops']
  if (Array.isArray(listed)) return readOperations(listed)
  return Object.entries(value).flatMap(([name, on]) => (on === true ? [name] : []))
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
