// Tools that the runtime itself carries out, so that they need no handler: by the builtin that a script gets, and in the form for models that
// dispatch/runtime-tools.harn gives them.

export interface RuntimeTool {
  /** The standard tool that does the same: policies know a call under that name as well. Null for one that reaches nothing. */
  readonly standard: string | null
  /** What a script that calls the tool gets; null for a plan. */
  readonly builtin: string | null
  /** The path when none is given. */
  readonly path?: string
}

export const RUNTIME_TOOLS: ReadonlyMap<string, RuntimeTool> = new Map<string, RuntimeTool>([
  ['read_file', { standard: 'fs.read', builtin: 'read_file' }],
  ['list_directory', { standard: 'fs.list', builtin: 'list_dir', path: '.' }],
  ['emit_plan', { standard: null, builtin: null }],
  ['update_plan', { standard: null, builtin: null }],
])
