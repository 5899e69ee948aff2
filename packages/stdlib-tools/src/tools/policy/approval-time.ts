/** How long an answer of a person counts after its question, in milliseconds, by default. */
export const APPROVAL_MS = 24 * 60 * 60 * 1000
