// Backoff strategies of retries: the values that `@retry` of a tool accepts, and that its dispatch computes.

export const BACKOFFS = ['constant', 'linear', 'exponential', 'fibonacci'] as const
export type Backoff = (typeof BACKOFFS)[number]
