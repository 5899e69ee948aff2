// Starts `bridle lsp` for files in the Harn language. All that an editor is told comes from that server.

const { workspace } = require('vscode')
const { LanguageClient } = require('vscode-languageclient/node')

/** @type {LanguageClient | undefined} */
let client

exports.activate = async () => {
  const command = workspace.getConfiguration('bridle').get('path') ?? 'bridle'
  const server = { command, args: ['lsp', '--stdio'] }
  client = new LanguageClient('bridle', 'Bridle', server, {
    documentSelector: [{ language: 'harn' }],
  })
  await client.start()
}

exports.deactivate = () => client?.stop()
