// `bridle builtins [NAME]`: what scripts can call without an import, read from the definitions that also run.

import { MISSING_BUILTINS } from '@bridle/compiler'
import { readShape } from '@bridle/vm'
import type { BuiltinDef, OptionRow } from '@bridle/vm'
import { CommandError } from '../errors.js'
import { makeCommandRuntime } from '../host.js'
import { tell, tellJson } from '../printable.js'

interface BuiltinsFlags {
  readonly json?: boolean
  /** Builtins of the language that Bridle does not have. */
  readonly missing?: boolean
}

export async function builtinsCommand(name: string | undefined, options: BuiltinsFlags): Promise<number> {
  if (options.missing === true) {
    const missing = [...MISSING_BUILTINS].sort()
    if (options.json === true) tellJson(missing)
    else if (missing.length > 0) tell(`${missing.join('\n')}\n`)
    return 0
  }
  const { registry } = makeCommandRuntime({ terminal: false })
  const methods = [...registry.methods.values()].flatMap((table) => [...table.values()])
  const all = [...registry.builtins.values(), ...methods].filter((def) => !def.name.startsWith('__')).sort(compareByName)
  const shown = name === undefined ? all : all.filter((def) => def.name === name || formatFullName(def) === name)
  if (shown.length === 0) throw new CommandError(`there is no builtin named ${name}`)
  if (options.json === true) {
    tell(
      `${JSON.stringify(
        shown.map((def) => {
          const { signature, receiver, doc, effects } = def
          return { signature, receiver, doc, effects, options: listOptions(def) }
        }),
        null,
        2,
      )}\n`,
    )
    return 0
  }
  const lines = shown.map((def) =>
    name === undefined
      ? formatHeading(def)
      : `${formatHeading(def)}\n    ${def.doc}\n    effects: ${formatEffects(def)}${formatOptions(def)}`,
  )
  tell(`${lines.join('\n')}\n`)
  return 0
}

function listOptions({ shapes }: BuiltinDef): { readonly [param: string]: readonly OptionRow[] } {
  return Object.fromEntries(Object.entries(shapes ?? {}).map(([param, shape]) => [param, readShape(shape)]))
}

function formatOptions(def: BuiltinDef): string {
  return Object.entries(listOptions(def))
    .map(([param, rows]) => {
      const lines = rows.map(({ name, type, unit, default: otherwise, doc }) => {
        const unitText = unit === null ? '' : ` (${unit})`
        return `\n      ${name}: ${type}${unitText}${otherwise === null ? '' : ` = ${otherwise}`}  ${doc}`
      })
      return `\n    ${param}:${lines.join('')}`
    })
    .join('')
}

function formatHeading(def: BuiltinDef): string {
  return def.receiver === null ? def.signature : `${def.receiver}.${def.signature}`
}

function formatFullName(def: BuiltinDef): string {
  return def.receiver === null ? def.name : `${def.receiver}.${def.name}`
}

function formatEffects({ effects }: BuiltinDef): string {
  return typeof effects === 'string' ? effects : effects.join(', ')
}

function compareByName(a: BuiltinDef, b: BuiltinDef): number {
  const [left, right] = [formatFullName(a), formatFullName(b)]
  return left < right ? -1 : left > right ? 1 : 0
}
