// Look-up of names from outside (scripts, models, servers, files, command lines) in tables.

/**
 * The rows without JavaScript's own names. A plain object has `constructor`, `toString` and `__proto__` as well: `rows[name]` would then
 * return a function instead of a row, or of undefined.
 */
export function lookup<T>(rows: { readonly [name: string]: T }): { readonly [name: string]: T } {
  return Object.assign(Object.create(null) as { [name: string]: T }, rows)
}
