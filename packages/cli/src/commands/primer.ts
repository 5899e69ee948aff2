// `bridle primer`: what a model has to know to write a script, for its system prompt.

import { estimateTokens, primer } from '@bridle/stdlib-tools/ai'
import { tell, tellJson } from '../printable.js'
import { readToolsFile } from '../checking/runtimes.js'

export interface PrimerFlags {
  readonly tools?: string
  readonly budget?: number
  readonly json?: boolean
}

/** Throws what reading the declarations of the tools does. */
export function primerCommand({ tools, budget, json }: PrimerFlags): number {
  const text = primer({ tools: tools === undefined ? [] : readToolsFile(tools), ...(budget === undefined ? {} : { budget }) })
  if (json === true) tellJson({ text, tokens: estimateTokens(text) })
  else tell(text)
  return 0
}
