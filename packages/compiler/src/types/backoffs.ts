// How the pause before a retry grows: what `@retry` of a tool may say, and what its dispatch computes.

export const BACKOFFS = ['constant', 'linear', 'exponential', 'fibonacci'] as const
export type Backoff = (typeof BACKOFFS)[number]
