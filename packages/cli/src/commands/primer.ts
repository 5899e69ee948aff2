// `bridle primer`: an introduction to the language for a model's system prompt.

import { estimateTokens, primer } from '@bridle/stdlib-tools/ai'
import { tell, tellJson } from '../printable.js'
import { readToolsFile } from '../checking/runtimes.js'

export interface PrimerFlags {
  readonly tools?: string
  readonly budget?: number
  readonly json?: boolean
}

/** Throws the errors of reading tool declarations. */
export function primerCommand({ tools, budget, json }: PrimerFlags): number {
  const text = primer({ tools: tools === undefined ? [] : readToolsFile(tools), ...(budget === undefined ? {} : { budget }) })
  if (json === true) tellJson({ text, tokens: estimateTokens(text) })
  else tell(text)
  return 0
}
