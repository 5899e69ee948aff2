// `bridle eval PATH`: evaluates recorded runs against fixtures, thresholds, rubrics and baselines. std/evaluations does the work;
// it reads files and has no other effects.

import { existsSync } from 'node:fs'
import { CommandError, EXIT_FAILURE, UsageError } from '../errors.js'
import { makeAuthority } from '../authority.js'
import { makeCommandRuntime } from '../host.js'
import { tell, tellJson } from '../printable.js'

export interface EvalFlags {
  readonly json?: boolean
  readonly compare?: string
}

const PROGRAM = `import { evaluate_path, evaluation_table } from "std/evaluations"
import { runtime_pipeline_input } from "std/runtime"

let input = runtime_pipeline_input()
let found = evaluate_path(input.path, input.baseline)
return found + {table: evaluation_table(found)}
`

interface Evaluation {
  readonly kind: 'run' | 'folder' | 'suite' | 'pack'
  readonly path: string
  readonly pass: boolean
  readonly report: { readonly [field: string]: unknown }
  readonly table: string
}

export async function evalCommand(path: string, flags: EvalFlags): Promise<number> {
  for (const file of [path, flags.compare ?? path])
    if (!existsSync(file)) throw new UsageError(`cannot read ${file}: no such file`, { code: 'unreadable_file', file })
  const found = await evaluate(path, flags.compare ?? null)
  if (flags.json === true) {
    const { kind, pass, report } = found
    tellJson({ kind, path, ...report, pass })
  } else tell(`${found.table}\n`)
  return found.pass ? 0 : EXIT_FAILURE
}

async function evaluate(path: string, baseline: string | null): Promise<Evaluation> {
  const runtime = makeCommandRuntime({ terminal: false, authority: makeAuthority({}) })
  try {
    return (await runtime.run(PROGRAM, { input: { path, baseline }, effects: 'off' })) as unknown as Evaluation
  } catch (cause) {
    throw new CommandError(cause instanceof Error ? cause.message : String(cause), { file: path })
  }
}
