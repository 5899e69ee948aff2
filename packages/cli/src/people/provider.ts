// Answers requests to people: from prepared answers, then from the person at the terminal. A request that neither answers fails at once.

import { approvalProvider, categorizedError } from '@bridle/stdlib-tools'
import type { EffectCall, Provider } from '@bridle/stdlib-tools'
import { complain, toOneLine } from '../printable.js'
import { currentUser, GivenAnswers } from './answers.js'
import type { PeopleFlags, Response } from './answers.js'
import { readRequest } from './requests.js'
import { describeField, fitsField, parseField } from './server-forms.js'
import type { FormField } from './server-forms.js'
import type { PersonRequest } from './requests.js'

/** The next typed line; null at the end. */
export type ReadLine = (waiting: { readonly signal: AbortSignal }) => Promise<string | null>

export interface PeopleOptions extends PeopleFlags {
  /** Null without a terminal. */
  readonly readLine: ReadLine | null
  /** Stream where requests are shown; standard error by default. */
  readonly show?: (text: string) => void
}

const HOW = 'run it on a terminal, or give --answers FILE, --approve PATTERN or --deny-all'

export function peopleProvider(options: PeopleOptions): Provider {
  return new People(options).provider
}

export class People {
  readonly provider: Provider
  /** Whether requests of servers can be answered here. */
  readonly isThere: boolean
  private readonly options: PeopleOptions
  private readonly given: GivenAnswers
  private readonly show: (text: string) => void
  /** One at a time: parallel tasks may ask at once, and there is one keyboard. */
  private before: Promise<unknown> = Promise.resolve()
  private asked = 0

  constructor(options: PeopleOptions) {
    this.options = options
    this.given = new GivenAnswers(options)
    this.show = options.show ?? complain
    this.isThere =
      options.readLine !== null || options.answers !== undefined || options.approve !== undefined || options.denyAll === true
    this.provider = {
      kinds: ['approval.ask'],
      isReadOnly: () => true,
      perform: async (effect, call) => {
        let isAnswered = true
        let refusal: string | null = null
        const asked = approvalProvider(async (raw) => {
          try {
            const response = await this.answer(readRequest(raw), call)
            isAnswered = response !== null
            return response
          } catch (cause) {
            if (!(cause instanceof RefusedFromOutside)) throw cause
            refusal = cause.message
            return null
          }
        })
        const outcome = await asked.perform(effect, call)
        if (refusal !== null) return categorizedError('tool_rejected', refusal)
        return isAnswered ? outcome : categorizedError('tool_rejected', `nobody here has answered; ${HOW}`)
      },
    }
  }

  /** Whether a person agrees to a server's message; null if nobody answers. */
  async confirm(message: string, signal: AbortSignal): Promise<boolean | null> {
    const found = this.given.find(makeServerRequest('approval', message, ++this.asked))
    if (found !== null) return found['approved'] === true
    return this.takeTurn(signal, async (prompt) => {
      this.show(`An MCP server asks: ${message}\n`)
      for (;;) {
        const line = await prompt('accept? [y]es, [n]o: ')
        if (line === null) return null
        if (/^(?:y|yes)$/i.test(line)) return true
        if (/^(?:n|no)?$/i.test(line)) return false
      }
    })
  }

  /** Values for the fields of a server's form, by name; null if nobody answers. */
  async fillIn(
    message: string,
    fields: readonly FormField[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, unknown> | 'declined' | null> {
    const found = this.given.find(makeServerRequest('question', message, ++this.asked))
    if (found !== null) return readGivenForm(fields, found['answer'])
    if (this.options.denyAll === true) return 'declined'
    return this.takeTurn(signal, async (prompt) => {
      this.show(`An MCP server asks: ${message}\n`)
      const answers = new Map<string, unknown>()
      for (const field of fields) {
        const answer = await askField(field, prompt, this.show)
        if (answer === null || answer === 'declined') return answer
        answers.set(field.name, answer.value)
      }
      return answers
    })
  }

  private async answer(request: PersonRequest, call: EffectCall): Promise<Response | null> {
    const found = this.given.find(request)
    if (found !== null) return found
    if (this.options.outside === true) return answerFromOutside(request, this.given, call)
    return this.takeTurn(call.signal, (_prompt, readLine) => new Dialogue(request, this.given, this.show, readLine).ask())
  }

  /** Reserves the keyboard while `use` runs; null if there is none. */
  private async takeTurn<T>(
    signal: AbortSignal,
    use: (prompt: (text: string) => Promise<string | null>, readLine: () => Promise<string | null>) => Promise<T | null>,
  ): Promise<T | null> {
    const { readLine } = this.options
    if (readLine === null) return null
    const read = (): Promise<string | null> => readLine({ signal })
    const prompt = async (text: string): Promise<string | null> => {
      this.show(text)
      return (await read())?.trim() ?? null
    }
    const turn = this.before.then(() => (signal.aborted ? null : use(prompt, read)))
    this.before = turn.catch(() => null)
    return turn
  }
}

function makeServerRequest(kind: 'approval' | 'question', subject: string, number: number): PersonRequest {
  const id = `server-${number}`
  return { id, kind, subject, reviewers: [], quorum: 1, schemaType: null, fallback: null, describe: () => '' }
}

/** A form of one field may be answered by its value alone. Values of another type are rejected. */
function readGivenForm(fields: readonly FormField[], answer: unknown): ReadonlyMap<string, unknown> | 'declined' {
  const isWhole = typeof answer === 'object' && answer !== null && !Array.isArray(answer)
  const values = new Map(isWhole ? Object.entries(answer) : fields.length === 1 ? [[fields[0]!.name, answer]] : [])
  const isFilled = fields.every((field) => {
    const value = values.get(field.name)
    return value === undefined ? !field.isRequired || field.fallback !== undefined : fitsField(field, value)
  })
  return isFilled ? values : 'declined'
}

async function askField(
  field: FormField,
  prompt: (text: string) => Promise<string | null>,
  show: (text: string) => void,
): Promise<{ readonly value: unknown } | 'declined' | null> {
  for (;;) {
    const line = await prompt(`${describeField(field)}\n> `)
    if (line === null) return null
    if (line === '') return field.fallback === undefined && field.isRequired ? 'declined' : { value: field.fallback }
    const value = parseField(field, line)
    if (value !== undefined) return { value }
    show(`  that is not ${field.choices.length > 0 ? 'one of them' : `of type ${field.type}`}\n`)
  }
}

/**
 * Waits for `bridle signal`. The number of the call is part of the token, so that approving one deployment does not approve the next. A question
 * accepts any answer; the others accept true or false, or the response itself.
 */
async function answerFromOutside(request: PersonRequest, given: GivenAnswers, call: EffectCall): Promise<Response | null> {
  if (call.awaitToken === undefined) return null
  const outcome = await call.awaitToken(makeToken(request, call), call.signal, null)
  if (outcome.kind === 'failed') throw new RefusedFromOutside(outcome.error.message)
  if (outcome.kind !== 'result') return null
  const { value } = outcome
  if (request.kind === 'question') return { answer: value }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array))
    return value as unknown as Response
  // Anything but a clear yes is a no.
  return given.respond(request, value === true || value === 'yes')
}

/** Somebody declined to answer, with a reason. */
class RefusedFromOutside extends Error {}

const MOST_SUBJECT = 60

/** The subject of the request, on one line, and its number. */
function makeToken({ kind, subject }: PersonRequest, { id }: EffectCall): string {
  const about = toOneLine(subject).slice(0, MOST_SUBJECT).trim()
  return `${about === '' ? kind : about}#${id}`
}

/** One request at the terminal. */
class Dialogue {
  private readonly request: PersonRequest
  private readonly given: GivenAnswers
  private readonly show: (text: string) => void
  private readonly readLine: () => Promise<string | null>

  constructor(request: PersonRequest, given: GivenAnswers, show: (text: string) => void, readLine: () => Promise<string | null>) {
    this.request = request
    this.given = given
    this.show = show
    this.readLine = readLine
  }

  /** Null at the end of input. */
  async ask(): Promise<Response | null> {
    const { kind, subject } = this.request
    const isQuestion = kind === 'question'
    this.show(`${TITLES[kind]}: ${isQuestion ? subject : toOneLine(subject)}\n${this.request.describe(false)}`)
    return isQuestion ? this.askQuestion() : this.askApproval()
  }

  private async askQuestion(): Promise<Response | null> {
    for (;;) {
      const line = await this.prompt('> ')
      if (line === null) return null
      if (line === '' && this.request.fallback !== null) return { answer: this.request.fallback }
      const parsed = parseAnswer(line, this.request.schemaType)
      if (parsed !== undefined) return { answer: parsed }
      this.show(`an answer of type ${this.request.schemaType} is wanted\n`)
    }
  }

  private async askApproval(): Promise<Response | null> {
    for (;;) {
      const line = await this.prompt('approve? [y]es, [n]o, [v]iew all: ')
      if (line === null) return null
      switch (line.toLowerCase()) {
        case 'y':
        case 'yes':
          return this.approve()
        case 'v':
          this.show(this.request.describe(true))
          break
        case 'n':
        case 'no':
        case '': {
          const reason = await this.prompt('reason (may be empty): ')
          return this.given.respond(this.request, false, currentUser(), reason === null || reason === '' ? undefined : reason)
        }
      }
    }
  }

  private async approve(): Promise<Response | null> {
    const { request, given } = this
    if (request.kind !== 'approval' && request.kind !== 'dual_control') return given.respond(request, true)
    const others = given.listOthers(request)
    const own = currentUser()
    if (request.quorum <= 1 && (others === null || others.includes(own))) return given.respond(request, true, own)
    for (;;) {
      const name = await this.prompt(others === null ? 'who approves? ' : `who approves? (${others.join(', ')}) `)
      if (name === null) return null
      const problem =
        name === '' || others?.includes(name) === false
          ? `${name === '' ? 'nobody' : name} may not approve this\n`
          : given.isHeard(request, name)
            ? `${name} has approved it; ${request.quorum} different people have to\n`
            : null
      if (problem === null) return given.respond(request, true, name)
      this.show(problem)
    }
  }

  private async prompt(text: string): Promise<string | null> {
    this.show(text)
    const line = await this.readLine()
    return line === null ? null : line.trim()
  }
}

const TITLES: Readonly<Record<PersonRequest['kind'], string>> = {
  question: 'The script asks',
  approval: 'The script wants approval for',
  dual_control: 'The script wants several people to approve',
  escalation: 'The script hands over to',
  permission: 'The script wants to call',
}

/** undefined if it does not have the type. Without a type, the answer is the typed text. */
function parseAnswer(line: string, type: string | null): unknown {
  switch (type) {
    case 'bool':
    case 'boolean':
      if (/^(?:y|yes|true)$/i.test(line)) return true
      return /^(?:n|no|false)$/i.test(line) ? false : undefined
    case 'int':
    case 'integer':
      return /^[+-]?\d{1,15}$/.test(line) ? Number(line) : undefined
    case 'float':
    case 'number': {
      const number = Number(line)
      return line !== '' && Number.isFinite(number) ? number : undefined
    }
    case 'list':
    case 'array':
    case 'dict':
    case 'object':
      try {
        const value: unknown = JSON.parse(line)
        const isList = Array.isArray(value)
        return typeof value === 'object' && value !== null && isList === (type === 'list' || type === 'array') ? value : undefined
      } catch {
        return undefined
      }
    default:
      return line
  }
}
