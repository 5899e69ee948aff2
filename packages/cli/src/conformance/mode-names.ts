// The modes of a conformance run; separate from modes.ts, because the help of the command lists them.

export const MODES = ['base', 'compiled', 'mixed', 'snapshot', 'replay'] as const
/** `durable`, as a run of a store whose process is killed, is a sweep of its own and no part of `all`. */
export type Mode = (typeof MODES)[number] | 'durable'
/** `sample` stands for parts of several modes, `rest` for what it leaves out. */
export type ModeChoice = Mode | 'sample' | 'rest'
