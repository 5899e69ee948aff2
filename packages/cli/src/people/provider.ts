// People of a command: answers that were given with it, and whoever sits at the terminal. A request that neither answers fails at once.

import { approvalProvider, categorizedError } from '@bridle/stdlib-tools'
import type { EffectCall, Provider } from '@bridle/stdlib-tools'
import { complain, toOneLine } from '../printable.js'
import { currentUser, GivenAnswers } from './answers.js'
import type { PeopleFlags, Response } from './answers.js'
import { readRequest } from './requests.js'
import type { PersonRequest } from './requests.js'

/** The next line that somebody types; null at the end. */
export type ReadLine = (call: EffectCall) => Promise<string | null>

export interface PeopleOptions extends PeopleFlags {
  /** Null where nobody sits at a terminal. */
  readonly readLine: ReadLine | null
  /** Where requests are shown; standard error by default. */
  readonly show?: (text: string) => void
}

const HOW = 'run it on a terminal, or give --answers FILE, --approve PATTERN or --deny-all'

export function peopleProvider(options: PeopleOptions): Provider {
  const given = new GivenAnswers(options)
  const show = options.show ?? complain
  // One at a time: parallel tasks may ask at once, and there is one keyboard.
  let before: Promise<unknown> = Promise.resolve()
  const answer = async (request: PersonRequest, call: EffectCall): Promise<Response | null> => {
    const found = given.find(request)
    if (found !== null) return found
    if (options.outside === true) return answerFromOutside(request, given, call)
    if (options.readLine === null) return null
    const { readLine } = options
    const turn = before.then(() => (call.signal.aborted ? null : new Dialogue(request, given, show, () => readLine(call)).ask()))
    before = turn.catch(() => null)
    return turn
  }
  return {
    kinds: ['approval.ask'],
    isReadOnly: () => true,
    async perform(effect, call) {
      let isAnswered = true
      let refusal: string | null = null
      const asked = approvalProvider(async (raw) => {
        try {
          const response = await answer(readRequest(raw), call)
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

/**
 * Waits for `bridle signal`. The number of the call is part of the token: who approves a deployment has not approved the next one. A question
 * has any answer; the others have true or false, or the response itself.
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
  // Whatever is no clear yes is a no.
  return given.respond(request, value === true || value === 'yes')
}

/** Somebody said that there will be no answer, and why. */
class RefusedFromOutside extends Error {}

const MOST_SUBJECT = 60

/** What the request is about, on one line, and its number. */
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

/** undefined: not of the type. Without a type an answer is what was typed. */
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
