// How a manifest refuses.

/** The manifest exists but is invalid; the message has the file and position. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
}
