// Builtins that the language's own checker accepts and that Bridle lacks. A call of one is an error of `bridle check`,
// of the editor and of lint. It does not stop a run: accepted scripts may name one in a branch that is never taken, and an actual
// call raises `Undefined builtin`.

/**
 * Builtins of the language that Bridle does not have yet. Only names without a definition are allowed here: the generator of
 * builtins.generated.ts refuses others, so the list shrinks with each definition.
 */
export const MISSING_BUILTINS: ReadonlySet<string> = new Set<string>([])

/** Constants: `pi` is a number, so `pi()` calls nothing. */
export const CALLED_CONSTANTS: ReadonlySet<string> = new Set(['e', 'pi', 'stream'])

/** All of them. */
export const TOLERATED_NAMES: ReadonlySet<string> = new Set([...MISSING_BUILTINS, ...CALLED_CONSTANTS])
