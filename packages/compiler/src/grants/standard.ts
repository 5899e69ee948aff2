// Standard tools and the builtin behind each (reference 05 §2.16). The machine runs them (vm/src/builtins/standard-tools.ts has
// their schemas); effect analysis reads here what a call of one can reach. KEEP WITH: standard-tools, a type error tells.

export const STANDARD_TOOL_BUILTINS = {
  'http.get': 'http_get',
  'http.post': 'http_post',
  'http.put': 'http_put',
  'http.patch': 'http_patch',
  'http.delete': 'http_delete',
  'fs.read': 'read_file',
  'fs.exists': 'file_exists',
  'fs.list': 'list_dir',
  'fs.stat': 'stat',
  'fs.write': 'write_file',
  'fs.append': 'append_file',
  'fs.mkdir': 'mkdir',
  'fs.remove': 'delete_file',
  'fs.copy': 'copy_file',
  'env.get': 'env',
  'process.exec': 'exec',
  'json.parse': 'json_parse',
  'json.stringify': 'json_stringify',
  'crypto.sha256': 'sha256',
  'crypto.sha512': 'sha512',
  'crypto.md5': 'md5',
  'crypto.base64_encode': 'base64_encode',
  'crypto.base64_decode': 'base64_decode',
  'crypto.hmac_sha256': 'hmac_sha256',
  'crypto.uuid': 'uuid',
  'time.now': 'now_ms',
} as const

export type StandardToolId = keyof typeof STANDARD_TOOL_BUILTINS
