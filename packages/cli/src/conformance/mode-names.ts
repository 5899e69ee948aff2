// The modes of a conformance run; separate from modes.ts, because the help of the command lists them.

export const MODES = ['base', 'compiled', 'mixed', 'snapshot', 'replay'] as const
/** `durable`, a run of a store whose process is killed, is a separate sweep and not part of `all`. */
export type Mode = (typeof MODES)[number] | 'durable'
/** `sample` combines parts of several modes, `rest` runs what it leaves out. */
export type ModeChoice = Mode | 'sample' | 'rest'
