// What `submit` takes beside the module.

import type { StartOptions } from '../runtime-options.js'

export interface SubmitOptions<Input = unknown> extends Omit<StartOptions<Input>, 'journal' | 'machine' | 'signal' | 'onEvent'> {
  readonly tenant?: string
  /** Whether the whole journal is kept: for `fork`, `migrate` and replays. */
  readonly archive?: boolean
}
