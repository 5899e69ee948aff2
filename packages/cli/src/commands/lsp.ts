// `bridle lsp`: the language server for editors, over standard input and output.

import { readToolsFile } from '../checking/runtimes.js'
import { serveLanguage } from '../lsp/server.js'

/** `tools`: a file of declarations of the host's tools. */
export async function lspCommand(tools: string | undefined): Promise<number> {
  if (tools !== undefined) readToolsFile(tools)
  const code = await serveLanguage(process.stdin, process.stdout, tools)
  // The protocol's library polls whether the editor is alive, and its timer would keep the process running.
  await new Promise<void>((written) => void process.stdout.write('', () => written()))
  process.exit(code)
}
