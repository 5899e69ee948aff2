// The text protocol of tool calls: a model writes prose and calls between tags; what it writes elsewhere is
// a violation that is reported to it. Calls outside their tags are still carried out, because refusing them has no benefit.

import { HarnDict, HarnList, debugQuoted, parseJson, sortTexts, stringifySorted } from '@bridle/vm/families'
import type { Value } from '@bridle/vm/families'
import { LiteralError, LiteralReader } from './tagged-arguments.js'
import { findBalanced } from './json-extract.js'
import { HEREDOC_OPEN, Heredocs, Patience, findStretches, withoutStretches } from './text-stretches.js'

export interface TextCall {
  readonly id: string
  readonly name: string
  readonly arguments: HarnDict
}

export interface TaggedResponse {
  readonly calls: readonly TextCall[]
  readonly errors: readonly string[]
  readonly violations: readonly string[]
  readonly prose: string
  /** Text of the last non-empty `<done>` block. */
  readonly doneMarker: string | null
  /** What was accepted, written as the protocol wants it. */
  readonly canonical: string
  /** Whether a `<user_response>` was there. */
  readonly hasUserResponse: boolean
}

const PREVIEW = 120
const TAG_PREVIEW = 40
const MOST_VIOLATIONS = 200
const TAGS = ['tool_call', 'assistant_prose', 'user_response', 'done'] as const
type Tag = (typeof TAGS)[number]

/** Names that may be called besides the declared tools. */
const OWN_NAMES = ['ledger', 'load_skill']

function stripThinking(text: string): string {
  const closed = withoutStretches(text, '<think>', '</think>')
  const open = closed.indexOf('<think>')
  return open < 0 ? closed : closed.slice(0, open)
}

/** The text without what the model thought aloud; behind an opening tag that nothing closes may stand the answer. */
function withoutThoughts(text: string): string {
  return withoutStretches(text, '<think>', '</think>').replace(/<\/?think>/g, '')
}

export function parseTagged(raw: string, toolNames: readonly string[]): TaggedResponse {
  const reader = new TaggedReader(withoutThoughts(raw), new Set([...toolNames, ...OWN_NAMES]))
  return reader.read()
}

class TaggedReader {
  private readonly calls: TextCall[] = []
  private readonly errors: string[] = []
  private readonly violations: string[] = []
  private readonly assistant: string[] = []
  private readonly user: string[] = []
  private readonly canonical: string[] = []
  private doneMarker: string | null = null

  private readonly text: string
  private readonly heredocs: Heredocs
  private readonly patience: Patience
  /** Tags that nothing closes from here on. */
  private readonly open = new Set<Tag>()
  /** All names that may be called. */
  private readonly known: ReadonlySet<string>

  constructor(text: string, known: ReadonlySet<string>) {
    this.text = text
    this.heredocs = new Heredocs(text)
    this.patience = new Patience(text)
    this.known = known
  }

  read(): TaggedResponse {
    let at = 0
    while (at < this.text.length) {
      const open = this.findNextTag(at)
      if (open > at) this.readStray(this.text.slice(at, open))
      at = open < this.text.length ? this.readTag(open) : open
    }
    if (this.canonical.length === 0 && this.errors.length === 0 && this.violations.length === 0) {
      this.noteViolation(
        'Response contained no <tool_call>, <assistant_prose>, <user_response>, or <done> block. Every response must be ' +
          'composed of these tags only.',
      )
    }
    return {
      calls: this.calls,
      errors: this.errors,
      violations: this.violations,
      prose: (this.user.length > 0 ? this.user : this.assistant).join('\n\n'),
      doneMarker: this.doneMarker,
      canonical: this.canonical.join('\n\n'),
      hasUserResponse: this.user.length > 0,
    }
  }

  /** The next `<` that is not the start of a heredoc; heredocs are passed over whole. */
  private findNextTag(from: number): number {
    let at = from
    for (;;) {
      const open = this.text.indexOf('<', at)
      if (open < 0) return this.text.length
      const heredoc = HEREDOC_OPEN.exec(this.text.slice(open, open + 256))
      if (heredoc === null) return open
      const start = open + heredoc[0].length
      at = this.heredocs.findClosing((heredoc[1] ?? heredoc[2] ?? heredoc[3])!, start)?.end ?? start
    }
  }

  /** Reads what begins with the `<` at `open`; gives the place after it. */
  private readTag(open: number): number {
    for (const name of TAGS) {
      const mark = `<${name}>`
      if (!this.text.startsWith(mark, open)) continue
      const close = this.open.has(name) ? -1 : this.text.indexOf(`</${name}>`, open)
      if (close < 0) {
        this.open.add(name)
        break
      }
      this.readBlock(name, this.text.slice(open + mark.length, close))
      return close + name.length + 3
    }
    const angle = this.readAngleCall(open)
    if (angle !== null) return angle
    const end = this.text.indexOf('>', open)
    if (end < 0) {
      this.noteViolation(
        `Unclosed tag starting at ${quoteShort(this.text.slice(open), TAG_PREVIEW)}. Close it or remove it; only <tool_call>, ` +
          '<assistant_prose>, <user_response>, and <done> are accepted.',
      )
      return this.text.length
    }
    this.noteViolation(
      `Unknown top-level tag ${quoteShort(this.text.slice(open, end + 1), TAG_PREVIEW)}. Use <tool_call>, <assistant_prose>, ` +
        '<user_response>, or <done> — no other tags are accepted at the top level.',
    )
    return end + 1
  }

  /** Limit on the errors reported to the model. */
  private noteViolation(text: string): void {
    if (this.violations.length < MOST_VIOLATIONS) this.violations.push(text)
  }

  private readBlock(name: Tag, body: string): void {
    const text = body.trim()
    if (name === 'tool_call') return this.callBlock(body)
    if (name === 'done') {
      if (text === '') {
        this.noteViolation('<done> block is empty. Emit the configured done sentinel (default `##DONE##`) inside the block.')
        return
      }
      this.doneMarker = text
      this.canonical.push(`<done>${text}</done>`)
      return
    }
    if (text === '') return
    ;(name === 'user_response' ? this.user : this.assistant).push(text)
    this.canonical.push(`<${name}>\n${text}\n</${name}>`)
  }

  private callBlock(body: string): void {
    const found = this.scan(body)
    if (found.calls.length === 1 && found.errors.length === 0) return this.accept(found.calls[0]!)
    if (found.errors.length > 0) {
      this.errors.push(found.errors[0]!)
      return
    }
    this.errors.push(
      found.calls.length === 0
        ? `<tool_call> body did not contain a bare \`name({ ... })\` expression. Got: ${quoteShort(body.trim(), PREVIEW)}`
        : `<tool_call> body contained ${found.calls.length} calls; emit one call per <tool_call> block.`,
    )
  }

  private accept(call: TextCall): void {
    this.calls.push(call)
    this.canonical.push(`<tool_call>\n${call.name}(${stringifySorted(call.arguments, 2)})\n</tool_call>`)
  }

  /** `<name({…})>` of a known tool. */
  private readAngleCall(open: number): number | null {
    const found = /^<([A-Za-z_]\w*)\(/.exec(this.text.slice(open, open + 128))
    const name = found?.[1]
    if (name === undefined || !this.known.has(name) || this.patience.isOver) return null
    const reader = new LiteralReader(this.text, open + found![0].length, this.heredocs)
    let args: Value
    try {
      args = reader.peek() === ')' ? new HarnDict() : reader.parseValue()
    } catch (error) {
      if (!(error instanceof LiteralError)) throw error
      this.patience.fail(reader.at - open)
      return null
    }
    if (!(args instanceof HarnDict) || !reader.accept(')')) {
      this.patience.fail(reader.at - open)
      return null
    }
    this.accept({ id: `tc_angle_${name}`, name, arguments: args })
    this.noteViolation(
      `Tool call \`${name}\` was emitted as \`<${name}(...)>\` instead of \`<tool_call>${name}({ ... })</tool_call>\`. ` +
        'Executed this turn so work moves forward; wrap each call in `<tool_call>` tags on subsequent turns.',
    )
    reader.accept('/')
    reader.accept('>')
    const closing = `</${name}>`
    return this.text.startsWith(closing, reader.at) ? reader.at + closing.length : reader.at
  }

  private readStray(piece: string): void {
    if (piece.trim() === '') return
    const found = this.scan(piece)
    if (found.calls.length > 0) {
      for (const call of found.calls) this.accept(call)
      const names = found.calls.map((call) => call.name).join(', ')
      this.noteViolation(
        `Tool call(s) (${names}) were emitted as bare text outside \`<tool_call>\` tags. Executed this turn so work moves ` +
          'forward; please wrap each call in `<tool_call>...</tool_call>` on subsequent turns.',
      )
      return
    }
    this.noteViolation(
      `Stray text outside response tags: ${quoteShort(piece.trim(), PREVIEW)}. Wrap all prose in ` +
        '<assistant_prose>...</assistant_prose> or <user_response>...</user_response>, and every tool call in ' +
        '<tool_call>...</tool_call>.',
    )
  }

  /** Bare calls of a text: `name({…})` at the start of a line. */
  private scan(body: string): { readonly calls: readonly TextCall[]; readonly errors: readonly string[] } {
    const text = unwrap(body)
    const calls: TextCall[] = []
    const errors: string[] = []
    // Callers read only the first one.
    const noteProblem = (message: string): void => {
      if (errors.length === 0) errors.push(message)
    }
    const heredocs = new Heredocs(text)
    const start =
      /(?:^|\n)[ \t]*<?(?:(?:tool_code|tool_call|tool_output|call|tool|use|python|javascript|typescript|shell|bash):[ \t]*)?([A-Za-z_]\w*)\(/g
    for (let found = start.exec(text); found !== null; found = start.exec(text)) {
      if (this.patience.isOver) {
        noteProblem('too many tool calls that cannot be read; emit complete calls only.')
        break
      }
      const name = found[1]!
      const behind = found.index + found[0].length
      const reader = new LiteralReader(text, behind, heredocs)
      const first = reader.peek()
      this.patience.spend(reader.at - behind)
      if (!this.known.has(name)) {
        if (first === '{' && errors.length === 0) {
          const names = sortTexts([...this.known])
            .slice(0, 20)
            .join(', ')
          noteProblem(`Unknown tool '${name}'. Available tools: [${names}]`)
        }
        continue
      }
      if (first !== '{' && first !== ')') {
        noteProblem(`Tool '${name}' must be called with an object literal argument like ${name}({ ... }).`)
        continue
      }
      try {
        const args = first === ')' ? new HarnDict() : (reader.parseValue() as HarnDict)
        if (!reader.accept(')')) {
          throw new LiteralError('missing closing `)`. Every tool call must be a complete TypeScript expression.')
        }
        calls.push({ id: `tc_${calls.length}`, name, arguments: args })
        start.lastIndex = reader.at
      } catch (error) {
        if (!(error instanceof LiteralError)) throw error
        this.patience.fail(reader.at - behind)
        noteProblem(`TOOL CALL PARSE ERROR: \`${name}(...)\` — ${error.message}`)
      }
    }
    if (calls.length === 0 && errors.length === 0) {
      const labelled = /(?:^|\n)[ \t]*([A-Za-z_]\w*):[ \t]*([A-Za-z_]\w*)\(/.exec(text)
      if (labelled !== null && this.known.has(labelled[2]!)) {
        const [, label, name] = labelled
        errors.push(
          `Saw \`${label}: ${name}(...)\`. Do not prefix tool calls with \`${label}:\` — emit bare \`${name}({ ... })\` on its ` +
            'own line. The previous line was treated as prose and no tool ran; re-emit it without the prefix.',
        )
      }
    }
    if (calls.length === 0 && errors.length === 0) calls.push(...this.listJsonCalls(text))
    return { calls, errors }
  }

  /** Calls in the JSON of a service's own API, which some models write as text; calls of unknown tools are left out. */
  private listJsonCalls(text: string): TextCall[] {
    const start = /\[\s*\{\s*"id"|\{\s*"id"\s*:\s*"call_/.exec(text)
    const parsed = start === null ? null : parseJson(text.slice(start.index).trim())
    if (parsed === null || !parsed.ok) return []
    const items = parsed.value instanceof HarnList ? parsed.value.view() : [parsed.value]
    const read: TextCall[] = []
    for (const [at, item] of items.entries()) {
      const spec = item instanceof HarnDict ? item.get('function') : undefined
      const name = spec instanceof HarnDict ? spec.get('name') : undefined
      if (typeof name !== 'string' || !this.known.has(name)) continue
      const given = (spec as HarnDict).get('arguments') ?? null
      const inner = typeof given === 'string' ? parseJson(given) : null
      const args = inner === null ? given : inner.ok ? inner.value : null
      const id = (item as HarnDict).get('id')
      read.push({
        id: typeof id === 'string' ? id : `tc_${at}`,
        name,
        arguments: args instanceof HarnDict ? args : new HarnDict(),
      })
    }
    return read
  }
}

/** A body that is one code fence or one span in backticks is what stands inside; lines of fences vanish. */
function unwrap(body: string): string {
  const text = body.trim()
  if (/^`[^`\n]+`$/.test(text)) return text.slice(1, -1)
  return text
    .split('\n')
    .filter((line) => !/^\s*```[\w-]*\s*$/.test(line))
    .join('\n')
}

/** A text in quotes, cut after this many characters. */
function quoteShort(text: string, most: number): string {
  const chars = [...text]
  return debugQuoted(chars.length <= most ? text : `${chars.slice(0, most).join('')}…`)
}

// ------------------------------------------------------------------------------------------------------------ visible text

const INTERNAL_KEYS =
  /"(?:plan|steps|tool_calls|tool_name|verification|next_action|reasoning|tasks)"\s*:|"mode"\s*:\s*"(?:fast_execute|plan_then_execute|ask_user)"/
const INLINE_MODE = /\{\s*"mode"\s*:\s*"(?:fast_execute|plan_then_execute|ask_user)"/g

/** Drops objects in which a model says how it is going to work; what is no JSON stays. */
function withoutPlans(text: string): string {
  let kept = ''
  let at = 0
  const patience = new Patience(text)
  for (const found of text.matchAll(INLINE_MODE)) {
    if (found.index < at) continue
    if (patience.isOver) break
    const object = findBalanced(text.slice(found.index), '{', '}')
    patience.spend(object?.length ?? text.length - found.index)
    if (object === null || !parseJson(object).ok) continue
    kept += text.slice(at, found.index)
    at = found.index + object.length
  }
  return kept + text.slice(at)
}

/** Drops fenced JSON in which a model says how it is going to work. */
function withoutInternalFences(text: string): string {
  const open = /```json\s*\n/g
  let kept = ''
  let at = 0
  for (let found = open.exec(text); found !== null; found = open.exec(text)) {
    const start = found.index + found[0].length
    const close = text.indexOf('```', start)
    if (close < 0) break
    const end = close + '```'.length
    open.lastIndex = end
    if (!INTERNAL_KEYS.test(text.slice(start, close))) continue
    kept += text.slice(at, found.index)
    at = end
  }
  return kept + text.slice(at)
}

/** What a person may see of a model's text. */
export function cutToVisible(raw: string): string {
  let text = stripThinking(raw)
  text = withoutStretches(text, '<tool_call>', '</tool_call>')
  text = withoutStretches(text, '<done>', '</done>')
  text = withoutStretches(text, '<tool_result', '>', '</tool_result>')
  text = withoutStretches(text, '[result of ', ']', '[end of ', ']')
  text = text
    .split('\n')
    .filter((line) => !/^\s*(?:##DONE##|DONE|PLAN_READY)\s*$/.test(line))
    .join('\n')
  const responses = Array.from(findStretches(text, '<user_response>', '</user_response>'), ({ inner }) => inner.trim())
  text = responses.length > 0 ? responses.join('\n\n') : text.replace(/<\/?assistant_prose>/g, '')
  text = withoutPlans(withoutInternalFences(text))
  // Once over, as the reference does: of four line ends three stay.
  return text.replaceAll('\n\n\n', '\n\n').trim()
}
