// Options of HTTP requests, as checks, docs and editors show them; options.ts reads them.

export const REQUEST_OPTIONS = `
  headers: dict -- Header fields; a value \`{secret: name}\` is filled in where the request is sent.
  query: dict -- Appended to the URL, form-encoded in key order; nil values are left out.
  body: string | bytes -- The body.
  auth: string | dict -- The Authorization header, \`{bearer: token}\`, or \`{basic: {user, password}}\`.
  multipart: list<dict> -- A form of \`{name, value | value_base64 | path, filename, content_type}\`, instead of a body.
  timeout_ms: int | duration (ms) = 30000 -- Time for the whole request.
  timeout: int | duration (ms) -- The same.
  total_timeout_ms: int | duration (ms) -- The same.
  connect_timeout_ms: int | duration (ms) -- Time until the connection stands.
  read_timeout_ms: int | duration (ms) -- Time between two pieces of the answer.
  retry: {max: int, backoff_ms: int} = {max: 0, backoff_ms: 1000} -- Further attempts; the pause doubles with each.
  retries: int = 0 -- As \`retry.max\`.
  backoff: int (ms) = 1000 -- As \`retry.backoff_ms\`.
  respect_retry_after: bool = true -- Whether a server's Retry-After lengthens the pause.
  retry_on: list<int> = [408, 429, 500, 502, 503, 504] -- Statuses that are tried again.
  retry_methods: list<string> = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] -- Methods that are tried again.
  follow_redirects: bool = true -- Whether redirects are followed.
  max_redirects: int = 10 -- How many of them.
  proxy: string | {url: string, no_proxy: string} -- The proxy to go through.
  proxy_auth: {user: string, pass: string} -- Credentials for it.
  tls: dict -- \`{ca_bundle_path, client_cert_path, client_key_path, client_identity_path, pinned_sha256}\`.
  decompress: bool = true -- Whether a compressed answer is unpacked.
  session: string -- A handle of \`http_session\`, whose options come first.
`

/** Default method of a builtin. */
export const METHOD_OPTION = `
  method: string = "GET" -- The method.
`
