// Starts `bridle lsp` for files in the Harn language, and runs what its lenses name. All that an editor is told comes from that server.

const { commands, tasks, Task, TaskScope, ProcessExecution, Uri, window, workspace } = require('vscode')
const { LanguageClient } = require('vscode-languageclient/node')

/** @type {LanguageClient | undefined} */
let client

const findCommand = () => workspace.getConfiguration('bridle').get('path') ?? 'bridle'

/** Runs the command in a terminal of the editor. */
function start(title, args, uri) {
  const file = uri === undefined ? window.activeTextEditor?.document.uri : Uri.parse(uri)
  if (file === undefined) return
  const folder = workspace.getWorkspaceFolder(file)
  const cwd = folder?.uri.fsPath
  const execution = new ProcessExecution(findCommand(), [...args(file.fsPath)], cwd === undefined ? {} : { cwd })
  return tasks.executeTask(new Task({ type: 'bridle' }, folder ?? TaskScope.Workspace, title, 'bridle', execution))
}

const escapePattern = (name) => `re:^${name}$`

exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand('bridle.run', (uri) => start('run', (file) => ['run', file], uri)),
    commands.registerCommand('bridle.testFile', (uri) => start('test', (file) => ['test', file], uri)),
    commands.registerCommand('bridle.test', (uri, name) =>
      start(`test ${name}`, (file) => ['test', file, '--filter', escapePattern(name)], uri),
    ),
  )
  const server = { command: findCommand(), args: ['lsp', '--stdio'] }
  client = new LanguageClient('bridle', 'Bridle', server, { documentSelector: [{ language: 'harn' }] })
  await client.start()
}

exports.deactivate = () => client?.stop()
