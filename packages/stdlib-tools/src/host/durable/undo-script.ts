// The script that undoes what the tool calls of a run did; its input is the list of calls to make.

import type { Module } from '../module.js'

const UNDO_SOURCE = `import { runtime_pipeline_input } from "std/runtime"
import { tool_call } from "std/tools"

var failed = []
for call in runtime_pipeline_input() {
  try {
    tool_call(call.tool, call.args)
  } catch (e) {
    failed = failed.push("\${call.tool}: \${e}")
  }
}
if len(failed) > 0 {
  throw "not everything could be undone: " + failed.join("; ")
}
`

interface Compiler {
  compile(source: string, options: { file: string; strictness: 'language'; checkTools: false }): Module
}

export function compileUndo(runtime: Compiler): Module {
  return runtime.compile(UNDO_SOURCE, { file: 'undo.harn', strictness: 'language', checkTools: false })
}
