/** How long an answer of a person counts after its question, in milliseconds, where nobody says less. */
export const APPROVAL_MS = 24 * 60 * 60 * 1000
