// `bridle primer`: what a model has to know to write a script, for its system prompt.

import { primer } from '@bridle/stdlib-tools/ai'
import { tell } from '../printable.js'
import { readToolsFile } from '../checking/runtimes.js'

export interface PrimerFlags {
  readonly tools?: string
  readonly budget?: number
}

/** Throws what reading the declarations of the tools does. */
export function primerCommand({ tools, budget }: PrimerFlags): number {
  tell(primer({ tools: tools === undefined ? [] : readToolsFile(tools), ...(budget === undefined ? {} : { budget }) }))
  return 0
}
