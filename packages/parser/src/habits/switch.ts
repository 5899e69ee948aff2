// `switch` of other languages as `match`: separate arms end where the next one begins, and their final `break` is removed.

import type { Code, Edit, Rule } from './code.js'

export const SWITCH: Rule = {
  habit: 'switchWord',
  find: (code, at) => {
    if (!code.is(at, 'switch')) return null
    const brace = findBrace(code, at)
    const close = brace === null ? code.tokens.length : code.closer(brace)
    if (brace === null || close >= code.tokens.length) return null
    const arms = listArms(code, brace, close)
    if (arms.length === 0) return null
    const isWrapped = code.is(at + 1, '(') && code.closer(at + 1) === brace - 1
    const subject = isWrapped ? code.slice(at + 2, brace - 1) : code.slice(at + 1, brace)
    const isApart = code.at(brace - 1).end < code.at(brace).start
    const edits: Edit[] = [...code.replace(at, brace, `match ${subject}${isApart ? '' : ' '}`)]
    for (const arm of arms) edits.push(...writeArm(code, arm))
    if (arms.every(({ isLast }) => !isLast)) {
      const { start } = code.at(close)
      edits.push({ span: { start, end: start }, text: '  _ -> { }\n' })
    }
    return edits
  },
}

interface Arm {
  /** The `case` keywords that share the body. */
  readonly heads: readonly { readonly at: number; readonly colon: number }[]
  /** The first token of the body, and the one after it. */
  readonly from: number
  readonly to: number
  readonly isLast: boolean
}

/** The brace of the body, on the line of the keyword. */
function findBrace(code: Code, at: number): number | null {
  const brace = code.is(at + 1, '(') ? code.closer(at + 1) + 1 : code.expressionEnd(at + 1, '{')
  return brace > at + 1 && code.is(brace, '{') ? brace : null
}

function listArms(code: Code, brace: number, close: number): readonly Arm[] {
  const heads: { readonly at: number; readonly colon: number }[] = []
  for (let at = brace + 1; at < close; at += 1) {
    if (code.is(at, '(', '[', '{')) at = code.closer(at)
    else if (code.startsStatement(at) && code.is(at, 'case', 'default')) {
      const colon = code.expressionEnd(at + 1, ':', '->', '=>')
      if (!code.is(colon, ':', '->', '=>')) return []
      heads.push({ at, colon })
      at = colon
    }
  }
  const arms: Arm[] = []
  let shared: { readonly at: number; readonly colon: number }[] = []
  for (const [place, head] of heads.entries()) {
    shared.push(head)
    const next = heads[place + 1]?.at ?? close
    let from = head.colon + 1
    let to = next
    while (to > from && code.at(to - 1).kind === 'break') to -= 1
    while (from < to && code.at(from).kind === 'break') from += 1
    // Without a body it shares that of the next case.
    if (from >= to && next !== close) continue
    arms.push({ heads: shared, from, to, isLast: shared.some(({ at }) => code.is(at, 'default')) })
    shared = []
  }
  return arms
}

function writeArm(code: Code, { heads, from, to, isLast }: Arm): readonly Edit[] {
  const [first] = heads
  if (first === undefined) return []
  const patterns = heads.map(({ at, colon }) => code.slice(at + 1, colon).replaceAll(',', ' |'))
  const head = { start: code.at(first.at).start, end: code.at(heads.at(-1)!.colon).end }
  const end = findEnd(code, from, to)
  const isBlock = code.is(from, '{') && code.closer(from) === end - 1
  const text = `${isLast ? '_' : patterns.join(' | ')} ->${isBlock ? '' : ' {'}`
  const edits: Edit[] = [{ span: head, text }]
  const tail = { start: end > from ? code.at(end - 1).end : head.end, end: to > from ? code.at(to - 1).end : head.end }
  if (isBlock) {
    const inner = findEnd(code, from + 1, end - 1)
    let last = end - 1
    while (last > inner && code.at(last - 1).kind === 'break') last -= 1
    if (last > inner) edits.push({ span: { start: code.at(inner - 1).end, end: code.at(last - 1).end }, text: '' })
    if (tail.end > tail.start) edits.push({ span: tail, text: '' })
    return edits
  }
  const isOnLine = !code.text.slice(head.end, tail.start).includes('\n')
  return [...edits, { span: tail, text: isOnLine ? ' }' : `\n${code.indentOf(head.start)}}` }]
}

/** After the last statement of a body other than `break`. */
function findEnd(code: Code, from: number, to: number): number {
  const skip = (at: number): number => {
    let end = at
    while (end > from && (code.at(end - 1).kind === 'break' || code.is(end - 1, ';'))) end -= 1
    return end
  }
  const end = skip(to)
  return code.is(end - 1, 'break') && code.startsStatement(end - 1) ? skip(end - 1) : end
}
