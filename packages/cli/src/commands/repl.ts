// `bridle repl`: the prompt. Reads entries that may span several lines, runs them in a session, prints their results. Commands
// begin with a colon. Without a terminal it reads standard input the same way, without prompts.

import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Interface } from 'node:readline'
import { makeFolders, writeWholeFile } from '@bridle/stdlib-tools/node'
import { makeAuthority, withLock } from '../authority.js'
import type { AuthorityFlags } from '../authority.js'
import { EXIT_FAILURE } from '../errors.js'
import { makeCommandRuntime } from '../host.js'
import { toPrintable } from '../printable.js'
import { Memory } from '../repl/memory.js'
import { Session } from '../repl/session.js'
import { VERSION } from '../version.js'
import { readSizes } from '../further-limits.js'
import type { SizeFlags } from '../further-limits.js'

const HELP = `An entry is one or more statements; an expression prints its value. An entry goes on over several lines while brackets
are open; an empty line ends it. Names may be bound again. What the session asked of the world is answered from memory when it
is run again for the next entry, so nothing is done twice.

  :type EXPR       the type of an expression, as the checker knows it
  :effects [CODE]  what the session, and CODE with it, can reach
  :disasm [CODE]   the bytecode of the session, and of CODE with it
  :load FILE       reads a file as one entry
  :reset           forgets everything
  :help            this text
  :quit            ends; so does end of input (Ctrl-D)
`

const COMMANDS = [':disasm', ':effects', ':help', ':load', ':quit', ':reset', ':type']
const KEYWORDS =
  'let var fn if else for in while match return true false nil import from struct enum interface impl type try catch throw spawn parallel defer guard require retry deadline break continue'.split(
    ' ',
  )
const MOST_HISTORY = 1000

export async function replCommand(flags: AuthorityFlags & SizeFlags): Promise<number> {
  const memory = new Memory()
  const runtime = makeCommandRuntime({
    terminal: true,
    memory,
    authority: await withLock(makeAuthority(flags), flags, '<repl>', 'many'),
    ...readSizes(flags),
  })
  const streams: PromptStreams = {
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    history: { read: readHistory, write: writeHistory },
  }
  const session = new Session({
    runtime,
    memory,
    print: (text) => streams.output.write(text),
    complain: (text) => streams.errors.write(text),
  })
  const builtins = [...runtime.registry.builtins.keys()].filter((name) => !name.startsWith('__'))
  const methods = [...new Set([...runtime.registry.methods.values()].flatMap((table) => [...table.keys()]))]
  const complete = (line: string): [string[], string] => listCompletions(line, { session, builtins, methods })
  return new Prompt(session, complete, streams).run()
}

export interface PromptStreams {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  readonly errors: NodeJS.WritableStream
  /** Whether input comes from a person. */
  readonly interactive: boolean
  readonly history: { readonly read: () => string[]; readonly write: (history: readonly string[]) => void }
}

export class Prompt {
  private readonly session: Session
  private readonly streams: PromptStreams
  private readonly lines: Interface
  private readonly interactive: boolean
  private entry: string[] = []
  /** Lines that were typed and not read yet. */
  private typed: string[] = []
  private isClosed = false
  private wake: () => void = () => {}
  private running: AbortController | null = null
  private failed = false

  constructor(session: Session, complete: (line: string) => [string[], string], streams: PromptStreams) {
    this.session = session
    this.streams = streams
    this.interactive = streams.interactive
    this.lines = createInterface({
      input: streams.input,
      ...(this.interactive
        ? { output: streams.output, completer: complete, history: streams.history.read(), historySize: MOST_HISTORY }
        : {}),
      terminal: this.interactive,
    })
  }

  /** Exit code: 1 when an entry failed and input did not come from a person. */
  async run(): Promise<number> {
    const { lines } = this
    if (this.interactive) this.streams.output.write(`Bridle ${VERSION}. :help explains, :quit ends.\n`)
    lines.on('SIGINT', () => this.interrupt())
    lines.on('history', (history: string[]) => this.streams.history.write(history))
    lines.on('line', (line) => {
      this.typed.push(line)
      this.wake()
    })
    lines.once('close', () => {
      this.isClosed = true
      this.wake()
    })
    this.ask()
    for (let line = await this.next(); line !== null; line = await this.next()) {
      if (!(await this.take(line))) break
      this.ask()
    }
    if (this.entry.length > 0) await this.finish()
    lines.close()
    return this.failed && !this.interactive ? EXIT_FAILURE : 0
  }

  /** Null at the end of the input. */
  private async next(): Promise<string | null> {
    while (this.typed.length === 0 && !this.isClosed) await new Promise<void>((resolve) => (this.wake = resolve))
    return this.typed.shift() ?? null
  }

  private ask(): void {
    if (!this.interactive) return
    this.lines.setPrompt(this.entry.length === 0 ? '> ' : '. ')
    this.lines.prompt()
  }

  private interrupt(): void {
    // Otherwise the typed text would start the next line, with the cursor before it; lines typed ahead are removed the same way.
    this.clearLine()
    this.typed = []
    if (this.running !== null) {
      this.running.abort(new Error('interrupted'))
      return
    }
    this.entry = []
    this.streams.output.write('^C\n')
    this.ask()
  }

  private clearLine(): void {
    this.lines.write(null, { ctrl: true, name: 'e' })
    this.lines.write(null, { ctrl: true, name: 'u' })
  }

  /** False: leave the prompt. */
  private async take(line: string): Promise<boolean> {
    if (this.entry.length === 0 && /^\s*:/.test(line)) return this.executeCommand(line.trim())
    if (line.trim() === '') {
      if (this.entry.length > 0) await this.finish()
      return true
    }
    this.entry.push(line)
    if (this.session.judgeEntry(this.entry.join('\n')) !== 'incomplete') await this.finish()
    return true
  }

  private async finish(): Promise<void> {
    const text = this.entry.join('\n')
    this.entry = []
    await this.execute(text)
  }

  private async execute(text: string): Promise<void> {
    this.running = new AbortController()
    try {
      if (!(await this.session.run(text, this.running.signal))) this.failed = true
    } finally {
      this.running = null
    }
  }

  private async executeCommand(line: string): Promise<boolean> {
    const [name, ...words] = line.split(/\s+/)
    const rest = line.slice(name!.length).trim()
    const { session } = this
    switch (
      COMMANDS.filter((each) => each.startsWith(name!)).length === 1 ? COMMANDS.find((each) => each.startsWith(name!)) : name
    ) {
      case ':help':
        this.print(HELP)
        return true
      case ':quit':
        return false
      case ':reset':
        session.reset()
        return true
      case ':type': {
        const type = session.inferType(rest)
        return this.printText(type === null ? null : `${type}\n`)
      }
      case ':effects':
        return this.printText(session.renderEffects(rest))
      case ':disasm':
        return this.printText(session.disassembleEntry(rest))
      case ':load':
        if (words.length === 0 || !existsSync(rest)) this.complain(`error: there is no file ${rest}\n`)
        else await this.execute(readFileSync(rest, 'utf8').trimEnd())
        return true
      default:
        this.complain(`error: there is no command ${name}; :help lists them\n`)
        return true
    }
  }

  private printText(text: string | null): boolean {
    if (text === null) this.failed = true
    else this.print(text)
    return true
  }

  private print(text: string): void {
    this.streams.output.write(toPrintable(text))
  }

  private complain(text: string): void {
    this.failed = true
    this.streams.errors.write(toPrintable(text))
  }
}

export interface CompletionSources {
  readonly session: Pick<Session, 'names'>
  readonly builtins: readonly string[]
  readonly methods: readonly string[]
}

/** The completions of the word at the end of the line, and that word. */
export function listCompletions(line: string, { session, builtins, methods }: CompletionSources): [string[], string] {
  if (/^\s*:\w*$/.test(line)) {
    const typed = line.trim()
    return [COMMANDS.filter((name) => name.startsWith(typed)), typed]
  }
  const word = /^\d*([A-Za-z_]\w*)$/.exec(readLastWord(line))?.[1] ?? ''
  const isMember = line.slice(0, line.length - word.length).endsWith('.')
  if (word === '' && !isMember) return [[], '']
  const known = isMember ? methods : [...session.names(), ...KEYWORDS, ...builtins]
  return [[...new Set(known)].filter((name) => name.startsWith(word)).sort(), word]
}

/** The word characters at the end of the line. */
function readLastWord(line: string): string {
  let start = line.length
  while (start > 0 && /\w/.test(line[start - 1]!)) start--
  return line.slice(start)
}

// ---- history ----------------------------------------------------------------------------------------------------------

function findHistoryFile(): string {
  return join(process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), 'bridle', 'repl_history')
}

/** Newest first, as readline expects. */
function readHistory(): string[] {
  try {
    return readFileSync(findHistoryFile(), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch {
    return []
  }
}

function writeHistory(history: readonly string[]): void {
  try {
    makeFolders(dirname(findHistoryFile()), 0o700)
    writeWholeFile(findHistoryFile(), `${history.join('\n')}\n`, { mode: 0o600 })
  } catch {
    // Continue without a history that cannot be stored.
  }
}
