// Names that the language's own checker lets a script call and that no builtin of Bridle has. A call of one is an error of `bridle check`,
// of the editor and of lint. It stops no run: scripts that the language accepts may name one in a branch that is never taken, and a call
// that is made raises `Undefined builtin`.

/**
 * Builtins of the language that Bridle does not have yet. Only what is defined nowhere may stand here: the generator of
 * builtins.generated.ts refuses others, so the list shrinks with each definition.
 */
export const MISSING_BUILTINS: ReadonlySet<string> = new Set<string>([])

/** Constants: `pi` is a number, so `pi()` calls nothing. */
export const CALLED_CONSTANTS: ReadonlySet<string> = new Set(['e', 'pi', 'stream'])

/** All of them. */
export const TOLERATED_NAMES: ReadonlySet<string> = new Set([...MISSING_BUILTINS, ...CALLED_CONSTANTS])
