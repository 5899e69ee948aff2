// `bridle lsp`: the language server for editors, over standard input and output.

import { serveLanguage } from '../lsp/server.js'

export async function lspCommand(): Promise<number> {
  const code = await serveLanguage(process.stdin, process.stdout)
  // The protocol's library looks at times whether the editor still lives, which would keep the process.
  await new Promise<void>((written) => void process.stdout.write('', () => written()))
  process.exit(code)
}
