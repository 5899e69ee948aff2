// How long static checks of a program of 10,000 lines take, beside the TypeScript compiler on an equivalent program of the same
// length. Within a process, warm: each phase separately. As processes: what a user at a prompt waits for; tsc is a
// native program there, and both start cold. And what an editor waits for after changing a line of 2,000.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkProgram, lintProgram } from '@bridle/compiler'
import { format, parse, SourceFile } from '@bridle/parser'
import { childTime, readTimes, SHELL, warmTime } from './timing.js'
import type { Figures } from './system.js'

const FUNCTIONS = 1000
const LINES = FUNCTIONS * 10
const EDITED_FUNCTIONS = 200
/** Warm-up edits, and measured edits. */
const EDITS = 40

const HARN = (k: number): string => `/** Step ${k}. */
pub fn step_${k}(input: list<{size: int, name: string}>, limit: int = ${k}) -> dict {
  var total: int = ${k}
  for item in input {
    if item.size > limit && item.name != "skip" { total = total + item.size * 2 } else { total = total - 1 }
  }
  let report = {total: total, label: "step ${k}: \${total}", parts: [1, 2, ${k}]}
  println(report.label)
  return report
}

`

const TYPESCRIPT = (k: number): string => `/** Step ${k}. */
export function step_${k}(input: { size: number; name: string }[], limit = ${k}): { total: number; label: string; parts: number[] } {
  let total: number = ${k}
  for (const item of input) {
    if (item.size > limit && item.name !== "skip") { total = total + item.size * 2 } else { total = total - 1 }
  }
  const report = { total: total, label: \`step ${k}: \${total}\`, parts: [1, 2, ${k}] }
  console.log(report.label)
  return report
}

`

function makeProgram(part: (k: number) => string, functions = FUNCTIONS): string {
  return Array.from({ length: functions }, (_, k) => part(k)).join('')
}

/** `folder` is that of the benchmarks. */
export async function checkingTimes(folder: string): Promise<Figures> {
  const text = makeProgram(HARN)
  const file = new SourceFile('steps.harn', text)
  const { program } = parse(file)
  if (program === null) throw new Error('the generated program does not parse')
  const findings = [...checkProgram(program, { file, imports: () => null }), ...lintProgram(program, { file })]
  if (findings.length > 0) throw new Error(`the generated program is not clean: ${findings[0]!.message}`)
  const parsing = warmTime(() => void parse(file))
  const types = warmTime(() => void checkProgram(program, { file, imports: () => null }))
  const lint = warmTime(() => void lintProgram(program, { file }))
  const layout = warmTime(() => void format(file))
  const [check, tsc] = asProcesses(folder, text)
  const bridle = join(folder, '..', 'packages', 'cli', 'dist', 'bridle.js')
  const edited = makeProgram(HARN, EDITED_FUNCTIONS)
  const edit = ((await editingTime(bridle, edited, EDITS * 2)) - (await editingTime(bridle, edited, EDITS))) / EDITS
  return {
    'parse, ms': parsing,
    'types, ms': types,
    'lint, ms': lint,
    'format (with parsing), ms': layout,
    'parse, types and lint, thousand lines a second': LINES / (parsing + types + lint),
    '`bridle check` as a process, ms': check,
    '`tsc --noEmit --strict` as a process, ms': tsc,
    '`bridle check` ÷ `tsc`': check / tsc,
    'findings of the language server after an edit of 2,000 lines, ms': edit,
  }
}

function asProcesses(folder: string, text: string): readonly [check: number, tsc: number] {
  const at = mkdtempSync(join(tmpdir(), 'bridle-bench-'))
  try {
    writeFileSync(join(at, 'steps.harn'), text)
    writeFileSync(join(at, 'steps.ts'), makeProgram(TYPESCRIPT))
    const modules = join(folder, '..', 'node_modules')
    const time = (command: string, words: readonly string[]): number => childTime(command, words, at)
    const bridle = join(folder, '..', 'packages', 'cli', 'dist', 'bridle.js')
    const check = (): number => time(process.execPath, [bridle, 'check', 'steps.harn'])
    const tsc = (): number =>
      time(join(modules, '.bin', 'tsc'), [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--lib',
        'es2022,dom',
        '--types',
        '',
        'steps.ts',
      ])
    check()
    tsc()
    return [check(), tsc()]
  } finally {
    rmSync(at, { recursive: true, force: true })
  }
}

/** Processor time, in milliseconds, of a language server for opening a file and this many edits of it, each after the findings of the previous one. */
async function editingTime(bridle: string, text: string, edits: number): Promise<number> {
  const server = spawn(SHELL.command, [...SHELL.words, process.execPath, bridle, 'lsp', '--stdio'])
  let times = ''
  server.stderr.setEncoding('utf8').on('data', (part: string) => (times += part))
  const ended = new Promise((done) => server.on('close', done))
  const answers = readMessages(server.stdout)
  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }
  const awaitMessage = async (isWanted: (message: Message) => boolean): Promise<void> => {
    for (let next = await answers.next(); next.done !== true; next = await answers.next()) if (isWanted(next.value)) return
    throw new Error(`the language server ended:\n${times}`)
  }
  const uri = 'file:///steps.harn'
  const awaitFindings = (version: number): Promise<void> => awaitMessage(({ params }) => params?.version === version)
  send({ id: 1, method: 'initialize', params: { processId: null, rootUri: null, capabilities: {} } })
  await awaitMessage(({ id }) => id === 1)
  send({ method: 'initialized', params: {} })
  send({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'harn', version: 1, text } } })
  await awaitFindings(1)
  const middle = { line: EDITED_FUNCTIONS * 5, character: 0 }
  for (let version = 2; version <= edits + 1; version++) {
    const change = { range: { start: middle, end: middle }, text: `let added_${version} = ${version}\n` }
    send({ method: 'textDocument/didChange', params: { textDocument: { uri, version }, contentChanges: [change] } })
    await awaitFindings(version)
  }
  send({ id: 2, method: 'shutdown' })
  await awaitMessage(({ id }) => id === 2)
  send({ method: 'exit' })
  server.stdin.end()
  await ended
  return readTimes(times)
}

interface Message {
  readonly id?: number
  readonly params?: { readonly version?: number }
}

async function* readMessages(stream: AsyncIterable<Buffer>): AsyncGenerator<Message, void> {
  let rest = Buffer.alloc(0)
  for await (const part of stream) {
    rest = Buffer.concat([rest, part])
    for (;;) {
      const head = rest.indexOf('\r\n\r\n')
      const length = head < 0 ? null : Number(/Content-Length: (\d+)/i.exec(rest.toString('latin1', 0, head))?.[1])
      if (length === null || rest.length < head + 4 + length) break
      yield JSON.parse(rest.toString('utf8', head + 4, head + 4 + length)) as Message
      rest = rest.subarray(head + 4 + length)
    }
  }
}
