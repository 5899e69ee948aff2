// How a manifest refuses.

/** The manifest is there and cannot be used; the message names the file and the place in it. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
}
