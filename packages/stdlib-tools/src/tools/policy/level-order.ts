// Security levels and their order; which level a call has is found in security-level.ts.

/** Lowest first. */
const LEVELS = ['safe', 'restricted', 'privileged'] as const
export type SecurityLevel = (typeof LEVELS)[number]
export const SECURITY_LEVELS: readonly SecurityLevel[] = LEVELS

export function isSecurityLevel(value: unknown): value is SecurityLevel {
  return SECURITY_LEVELS.includes(value as SecurityLevel)
}

export function isAbove(needed: SecurityLevel, most: SecurityLevel): boolean {
  return SECURITY_LEVELS.indexOf(needed) > SECURITY_LEVELS.indexOf(most)
}

/** The level of a run, by the scopes of its host: the lowest of all; null when none says one. */
export function findRunLevel(scopes: readonly { readonly level?: SecurityLevel }[]): SecurityLevel | null {
  let lowest: SecurityLevel | null = null
  for (const { level } of scopes) if (level !== undefined && (lowest === null || isAbove(lowest, level))) lowest = level
  return lowest
}
