// The host's defaults for requests: the configuration file of tools sets them.

import { defineHostSlot } from '@bridle/vm/families'

export interface RequestDefaults {
  /** Of HTTP; without them 30 s and 10. */
  readonly http?: { readonly timeoutMs?: number; readonly maxRedirects?: number }
  /**
   * What budgets of money take models to cost that have no price here, in dollars for a million tokens; 30 and 150 when absent, which is
   * more than any service asked when this was written. Models of one's own machine cost nothing: `{ input: 0, output: 0 }`.
   */
  readonly unknownPrice?: { readonly input: number; readonly output: number }
  /** How often a failed call of a model is repeated, by provider; without it `llm_call` does not and a loop does as its profile says. */
  readonly modelRetries?: { readonly [provider: string]: number }
}

export const REQUEST_DEFAULTS = defineHostSlot<RequestDefaults>('request_defaults', {})
