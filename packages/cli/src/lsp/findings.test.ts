// Findings of a file follow its imports, on disk or in the editor; clients that pull them get the same as those that receive pushes.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DocumentDiagnosticReport, WorkspaceDiagnosticReport } from 'vscode-languageserver/node'
import { TestClient } from './test-support/client.js'

let client: TestClient
beforeEach(() => {
  client = new TestClient()
})
afterEach(() => client.stop())

const USER = 'import { total } from "./library"\nprintln(total([1]))\n'
const LIBRARY = 'pub fn total(orders: list) -> int {\n  return orders.count\n}\n'
const RENAMED = 'pub fn sum(orders: list) -> int {\n  return orders.count\n}\n'
const isFree = (found: readonly unknown[]): boolean => found.length === 0
const says = (found: readonly { readonly message: unknown }[], words: string): boolean =>
  found.some(({ message }) => String(message).includes(words))
const isMissed = (found: readonly { readonly message: unknown }[]): boolean => says(found, 'total')

describe('an importer', () => {
  test('follows an import that is edited and not saved', async () => {
    await client.start()
    const library = await client.open('library.harn', LIBRARY)
    const user = await client.open('user.harn', USER)
    await client.awaitFindings(user.uri, isFree)
    await client.change(library, RENAMED)
    await client.awaitFindings(user.uri, isMissed)
    client.published.length = 0
    await client.connection.sendNotification('textDocument/didClose', { textDocument: { uri: library.uri } })
    await client.awaitFindings(user.uri, isFree)
  })

  test('follows a change of an indirect import', async () => {
    await client.start()
    client.write('middle.harn', 'pub import { total } from "./library"\n')
    const library = await client.open('library.harn', LIBRARY)
    const user = await client.open('user.harn', USER.replace('library', 'middle'))
    await client.awaitFindings(user.uri, isFree)
    await client.change(library, 'pub fn total() -> int {\n  return 1\n}\n')
    await client.awaitFindings(user.uri, (found) => says(found, 'argument'))
  })

  test('follows an import that is changed, created and deleted on disk', async () => {
    const watched = { workspace: { didChangeWatchedFiles: { dynamicRegistration: true } } }
    await client.start(watched)
    expect(await client.awaitRequest('client/registerCapability')).toMatchObject({
      registrations: [
        {
          method: 'workspace/didChangeWatchedFiles',
          registerOptions: { watchers: expect.arrayContaining([{ globPattern: '**/*.harn' }]) as unknown[] },
        },
      ],
    })
    const user = await client.open('user.harn', USER)
    await client.awaitFindings(user.uri, (found) => found.length > 0)
    const announce = async (type: number): Promise<void> => {
      client.published.length = 0
      const changes = [{ uri: client.toUri('library.harn'), type }]
      await client.connection.sendNotification('workspace/didChangeWatchedFiles', { changes })
    }
    client.write('library.harn', LIBRARY)
    await announce(1)
    await client.awaitFindings(user.uri, isFree)
    client.write('library.harn', RENAMED)
    await announce(2)
    await client.awaitFindings(user.uri, isMissed)
  })

  test('shows the errors of an imported file at its import', async () => {
    await client.start()
    client.write('library.harn', '\n\n\nfn total( {\n')
    const user = await client.open('user.harn', USER)
    const found = await client.awaitFindings(user.uri, (each) => each.length > 0)
    const places = found.filter(
      ({ relatedInformation }) => relatedInformation?.[0]?.location.uri === client.toUri('library.harn'),
    )
    expect(places).toMatchObject([
      { range: { start: { line: 0, character: 22 } }, relatedInformation: [{ location: { range: { start: { line: 3 } } } }] },
    ])
  })
})

describe('pulled findings', () => {
  const FETCHES = { textDocument: { diagnostic: {} }, workspace: { diagnostics: { refreshSupport: true } } }

  test('of a document, and the report that nothing has changed', async () => {
    await client.start(FETCHES)
    const document = await client.open('a.harn', 'println(undeclared_name)\n')
    const first = await client.ask<DocumentDiagnosticReport>('diagnostic', document)
    expect(first).toMatchObject({ kind: 'full', items: [{ code: 'N040', source: 'bridle' }] })
    const again = await client.ask('diagnostic', document, null, { previousResultId: first.resultId })
    expect(again).toEqual({ kind: 'unchanged', resultId: first.resultId })
    await client.change(document, 'println(1)\n')
    expect(await client.ask('diagnostic', document, null, { previousResultId: first.resultId })).toMatchObject({
      kind: 'full',
      items: [],
    })
    expect(client.published).toEqual([])
  })

  test('of the workspace', async () => {
    await client.start(FETCHES)
    await client.open('a.harn', 'println(undeclared_name)\n')
    client.write('folder/b.harn', 'println(1)\n')
    client.write('node_modules/c.harn', 'println(undeclared_name)\n')
    const report = await client.request<WorkspaceDiagnosticReport>('workspace/diagnostic', { previousResultIds: [] })
    const shown = report.items.map((each) => [each.uri, each.version, each.kind === 'full' ? each.items.length : -1])
    expect(shown).toEqual([
      [client.toUri('a.harn'), 1, 1],
      [client.toUri('folder/b.harn'), null, 0],
    ])
    const previousResultIds = report.items.map(({ uri, resultId }) => ({ uri, value: resultId! }))
    const again = await client.request<WorkspaceDiagnosticReport>('workspace/diagnostic', { previousResultIds })
    expect(again.items.map(({ kind }) => kind)).toEqual(['unchanged', 'unchanged'])
  })

  test('of the workspace follow edits', async () => {
    await client.start(FETCHES)
    const user = client.write('user.harn', USER)
    const library = await client.open('library.harn', LIBRARY)
    const isFound = async (): Promise<boolean> => {
      const { items } = await client.request<WorkspaceDiagnosticReport>('workspace/diagnostic', { previousResultIds: [] })
      const [report] = items.filter(({ uri }) => uri === user)
      return report?.kind === 'full' && isMissed(report.items)
    }
    expect(await isFound()).toBe(false)
    await client.change(library, RENAMED)
    expect(await isFound()).toBe(true)
    await client.change(library, LIBRARY)
    expect(await isFound()).toBe(false)
  })

  test('are requested again when an import changes', async () => {
    await client.start(FETCHES)
    const library = await client.open('library.harn', LIBRARY)
    const user = await client.open('user.harn', USER)
    expect(await client.ask('diagnostic', user)).toMatchObject({ items: [] })
    await client.change(library, RENAMED)
    await client.awaitRequest('workspace/diagnostic/refresh')
    const { items } = await client.ask<{ items: { message: string }[] }>('diagnostic', user)
    expect(isMissed(items)).toBe(true)
  })
})
