/** What a host granted cannot be understood. */
export class GrantError extends Error {
  override readonly name = 'GrantError'
}
