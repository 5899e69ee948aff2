// Options of the commands for developers (bench/, fuzz/): `--help` prints their documentation, and a mistake ends with
// that text and exit code 2.

import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>

/** The values of `--name value` and `--flag`; ends the process at `--help` and at unknown options. */
export function commandOptions<const T extends Options>(
  usage: string,
  options: T,
): ReturnType<typeof parseArgs<{ options: T & { help: { type: 'boolean' } } }>>['values'] {
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' as const } } })
    if (!('help' in values)) return values
  } catch (cause) {
    return refuse(usage, (cause as Error).message)
  }
  process.stdout.write(usage)
  process.exit(0)
}

/** The whole number given as `--name`, at least `least`; ends the process when it is invalid. */
export function wholeNumber(usage: string, name: string, text: string, least = 0): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= least && text.trim() !== '') return number
  return refuse(usage, `--${name} takes a whole number of at least ${least}, not "${text}"`)
}

function refuse(usage: string, message: string): never {
  process.stderr.write(`${message}\n\n${usage}`)
  process.exit(2)
}
