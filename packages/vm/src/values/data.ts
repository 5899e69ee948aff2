// Data outside the machine. plain.ts converts values to data and back.

import type { HarnFloat } from './scalars.js'

/** Data at the edge of the machine: JSON plus exact ints, bytes and marked floats. Objects have no prototype or a plain one. */
export type Plain =
  | null
  | boolean
  | string
  | number
  | bigint
  | Uint8Array
  | HarnFloat
  | readonly Plain[]
  | { readonly [key: string]: Plain }
