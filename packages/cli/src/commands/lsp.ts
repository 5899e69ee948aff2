// `bridle lsp`: the language server for editors, over standard input and output.

import { serveLanguage } from '../lsp/server.js'

export async function lspCommand(): Promise<number> {
  await serveLanguage(process.stdin, process.stdout)
  return 0
}
