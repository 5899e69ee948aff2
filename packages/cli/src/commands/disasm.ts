// `bridle disasm FILE`: the bytecode of a script and of the modules it imports.

import { disassemble } from '@bridle/compiler'
import { EXIT_FAILURE } from '../errors.js'
import { makeCommandRuntime } from '../host.js'
import { compileScript, readScript } from '../load.js'
import { tell, tellJson } from '../printable.js'

export async function disasmCommand(file: string, { json = false }: { readonly json?: boolean } = {}): Promise<number> {
  const script = await readScript(file, undefined)
  const module = compileScript(makeCommandRuntime({ script: script.key, terminal: false, args: [] }), script, { json })
  if (module === null) return EXIT_FAILURE
  const { modules, main } = module.program
  // The script comes first; its imports follow in load order.
  const ordered = [main, ...[...modules.values()].filter((one) => one !== main)]
  if (json) tellJson({ file, modules: ordered.map((one) => ({ name: one.key, text: disassemble(one.chunk) })) })
  else tell(ordered.map((one) => disassemble(one.chunk)).join('\n'))
  return 0
}
