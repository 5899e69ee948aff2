// Prepared answers: from a file (`--answers`), rules that approve (`--approve`), and a no to the rest (`--deny-all`).

import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { matchStars } from '@bridle/compiler/grants'
import { z } from 'zod'
import { CommandError, makeUnreadableError } from '../errors.js'
import type { PersonRequest } from './requests.js'
import { APPROVAL_KINDS } from '@bridle/stdlib-tools'

export interface PeopleFlags {
  readonly answers?: string
  readonly approve?: readonly string[]
  readonly denyAll?: boolean
  /** Requests without a prepared answer wait for an answer from outside, by token (`bridle signal`). */
  readonly outside?: boolean
}

const Row = z
  .strictObject({
    kind: z.enum(APPROVAL_KINDS).optional(),
    /** Pattern with stars for the subject of the request; any subject without it. */
    match: z.string().optional(),
    answer: z.json().optional(),
    approve: z.boolean().optional(),
    reviewer: z.string().optional(),
    reason: z.string().optional(),
    /** A row answers one request, or all matching ones. */
    always: z.boolean().optional(),
  })
  .refine((row) => (row.answer === undefined) !== (row.approve === undefined), {
    message: 'a row has either "answer", for questions, or "approve"',
  })

export type AnswerRow = z.infer<typeof Row>

/** A matching row: the response in the form of the effect. */
export type Response = { readonly [key: string]: unknown }

/** The rows of a file: a JSON array of objects. */
export function readAnswers(path: string): AnswerRow[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw makeUnreadableError(path, cause)
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw new CommandError(`${path} is not JSON: ${cause instanceof Error ? cause.message : ''}`, { file: path })
  }
  const rows = z.array(Row).safeParse(json)
  if (rows.success) return rows.data
  const [issue] = rows.error.issues
  const at = issue!.path.length === 0 ? '' : ` at ${issue!.path.join('.')}`
  throw new CommandError(`${path}${at}: ${issue!.message}`, {
    file: path,
    hint: 'write a list such as [{"match": "Your name?", "answer": "Ada"}, {"match": "deploy*", "approve": true}]',
  })
}

/** Takes the first row that matches and is not used up. */
export class GivenAnswers {
  private readonly rows: readonly AnswerRow[]
  private readonly approve: readonly string[]
  private readonly isDenied: boolean
  private readonly used = new Set<AnswerRow>()
  /** Who has approved a request, by its id. */
  private readonly approvers = new Map<string, Set<string>>()

  constructor({ answers, approve, denyAll }: PeopleFlags) {
    this.rows = answers === undefined ? [] : readAnswers(answers)
    this.approve = approve ?? []
    this.isDenied = denyAll === true
  }

  /** Null if there is no prepared answer. */
  find(request: PersonRequest): Response | null {
    const row = this.rows.find((each) => !this.used.has(each) && fits(each, request) && !this.hasHeard(request, each))
    if (row !== undefined) {
      if (row.always !== true) this.used.add(row)
      if (row.answer !== undefined) return { answer: row.answer }
      return this.respond(request, row.approve!, row.reviewer, row.reason)
    }
    if (request.kind === 'question') return null
    const rule = this.approve.find((pattern) => matchStars(pattern, request.subject))
    if (rule !== undefined && !this.hasHeard(request, {})) return this.respond(request, true, undefined, `--approve ${rule}`)
    return this.isDenied ? this.respond(request, false, undefined, 'denied by --deny-all') : null
  }

  /** `reviewer`: the person who answers; by default the user of the command. */
  respond(request: PersonRequest, isYes: boolean, reviewer: string = currentUser(), reason?: string): Response {
    const told = reason === undefined ? {} : { reason }
    switch (request.kind) {
      case 'permission':
        return { granted: isYes, ...told }
      case 'escalation':
        return { accepted: isYes, reviewer, ...told }
      default: {
        const heard = this.approvers.get(request.id) ?? new Set()
        this.approvers.set(request.id, heard.add(reviewer))
        return { approved: isYes, reviewer, ...told }
      }
    }
  }

  /** Permitted reviewers who have not answered a request; null: anybody. */
  listOthers(request: PersonRequest): readonly string[] | null {
    return request.reviewers.length === 0 ? null : request.reviewers.filter((name) => !this.isHeard(request, name))
  }

  isHeard(request: PersonRequest, name: string): boolean {
    return this.approvers.get(request.id)?.has(name) === true
  }

  /** A second approval by the same person, or by one who is not permitted, would not count. */
  private hasHeard(request: PersonRequest, { approve, reviewer = currentUser() }: Partial<AnswerRow>): boolean {
    if (request.kind !== 'approval' && request.kind !== 'dual_control') return false
    if (approve === false) return false
    return this.isHeard(request, reviewer) || this.listOthers(request)?.includes(reviewer) === false
  }
}

function fits({ kind, match, answer }: AnswerRow, request: PersonRequest): boolean {
  if (kind !== undefined && kind !== request.kind) return false
  if ((answer !== undefined) !== (request.kind === 'question')) return false
  return match === undefined || matchStars(match, request.subject)
}

export function currentUser(): string {
  try {
    return userInfo().username
  } catch {
    // The user of a container may have no name.
    return `user-${process.getuid?.() ?? 0}`
  }
}
