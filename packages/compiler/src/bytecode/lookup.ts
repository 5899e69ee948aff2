// Tables that are asked for names from outside: of scripts, models, servers, files, command lines.

/**
 * The rows without JavaScript's own names. A plain object has `constructor`, `toString` and `__proto__` as well: `rows[name]` then gives a
 * function where the caller takes it for a row, or for one that is there.
 */
export function lookup<T>(rows: { readonly [name: string]: T }): { readonly [name: string]: T } {
  return Object.assign(Object.create(null) as { [name: string]: T }, rows)
}
