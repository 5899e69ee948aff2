// Arguments of calls: their number and kinds, the results of conversions, and the parameters of callbacks.

import type { Argument, ExprOf, Span } from '@bridle/parser'
import type { Fix } from '../../context.js'
import { show } from '../../show.js'
import { countText, describe, widen } from '../describe.js'
import {
  CALLBACK_ARGUMENTS,
  NEEDED,
  NO_NUMBER,
  NO_RESULT,
  NUMBER_TEXTS,
  PRINTS,
  RESULT_FUNCTIONS,
  TEXT_PARAMS,
} from '../facts.js'
import { isDisjoint, isWithin } from '../kinds.js'
import type { ExactSignature } from '../signatures.js'
import type { Uses } from './context.js'

export function checkCount(
  uses: Uses,
  name: string,
  signature: Pick<ExactSignature, 'required' | 'most'>,
  args: readonly Argument[],
  span: Span,
): void {
  if (args.some(({ spread }) => spread)) return
  const { required, most } = signature
  if (args.length >= required && (most === null || args.length <= most)) return
  const fix = PRINTS.has(name) && args.length > 1 ? joinPrinted(uses, args) : undefined
  uses.world.report('T082', span, { name, expected: countText(required, most), actual: args.length }, fix)
}

/** The arguments of a call that prints one, in one string. */
export function joinPrinted(uses: Uses, args: readonly Argument[]): Fix | undefined {
  const { text } = uses.world.file
  const parts: string[] = []
  for (const [at, { value }] of args.entries()) {
    const source = text.slice(value.span.start, value.span.end)
    const before = args[at - 1]
    // Without commas they may be one expression of another language.
    if (before !== undefined && !text.slice(before.value.span.end, value.span.start).includes(',')) return undefined
    const isText = value.kind === 'String' || value.kind === 'Interpolation'
    if ((isText && value.quote !== 'double') || source.includes('\n')) return undefined
    parts.push(isText ? source.slice(1, -1) : `\${${source}}`)
  }
  const span = { start: args[0]!.value.span.start, end: args.at(-1)!.value.span.end }
  return { title: 'write one string', edits: [{ span, text: `"${parts.join(' ')}"` }] }
}

export function checkArguments(uses: Uses, name: string, signature: ExactSignature, args: readonly Argument[], span: Span): void {
  const required = Math.max(signature.required, Object.hasOwn(NEEDED, name) ? NEEDED[name]! : 0)
  checkCount(uses, name, { required, most: signature.most }, args, span)
  for (let at = 0; at < args.length; at++) {
    const { spread, value } = args[at]!
    const last = signature.params.at(-1)
    const param = signature.params[at] ?? (last?.rest === true ? last : undefined)
    if (spread || param === undefined) return
    const wanted = param.type === null ? null : uses.kinds(param.type)
    const given = wanted === null ? null : uses.types.infer(value)
    const actual = uses.kinds(given)
    if (param.type === null || wanted === null || given === null || actual === null || !isDisjoint(wanted, actual)) continue
    const isText = wanted.size === 1 && TEXT_PARAMS.has(param.name) && !name.includes('.')
    // `len` of a value without a length is 0, and not an error.
    if (actual.has('nil') || (name !== 'len' && !isDisjoint(widen(wanted, isText), actual))) continue
    uses.world.report('T083', value.span, { name, param: param.name, expected: show(param.type), actual: describe(given) })
  }
}

export function checkConversion(uses: Uses, name: string, call: ExprOf<'Call'>): void {
  const texts = Object.hasOwn(NUMBER_TEXTS, name) ? NUMBER_TEXTS[name]! : null
  const arg = call.args[0]
  if (texts === null || arg === undefined || arg.spread) return
  const type = uses.types.infer(arg.value)
  const isText = arg.value.kind === 'String'
  if (arg.value.kind === 'String' ? texts.test(arg.value.value) : type === null || !isWithin(uses.kinds(type), NO_NUMBER)) return
  const expected = isText ? 'the text of a number' : 'a number or a string'
  const actual = isText ? JSON.stringify(arg.value.value) : describe(type!) // it has kinds
  uses.world.report('T083', arg.value.span, { name, param: 'value', expected, actual })
}

/** `unwrap_or(to_int(text), 0)`: a value that is not a Result is returned unchanged. */
export function checkResultFunction(uses: Uses, name: string, { args: [first] }: ExprOf<'Call'>): void {
  if (!RESULT_FUNCTIONS.has(name) || first === undefined || first.spread) return
  const type = uses.types.infer(first.value)
  if (type === null || !isWithin(uses.kinds(type), NO_RESULT)) return
  uses.world.report('T083', first.value.span, { name, param: 'result', expected: 'Result', actual: describe(type) })
}

/** `exec("git status")` searches for a program of that name. */
export function checkProgram(uses: Uses, name: string, { args }: ExprOf<'Call'>): void {
  const place = name === 'exec' ? 0 : name === 'exec_at' ? 1 : -1
  const arg = args[place]
  if (arg === undefined || arg.value.kind !== 'String' || args.length !== place + 1 || args.some(({ spread }) => spread)) return
  const { value, span, quote } = arg.value
  // The name of a folder in a path may contain a space.
  if (!/^[\w.-]+ +\S/.test(value)) return
  const isPlain = quote === 'double' && /^[\w.,:=@/+ -]+$/.test(value)
  const words = value
    .trim()
    .split(/ +/)
    .map((word) => JSON.stringify(word))
  const fix = isPlain ? { title: 'pass the arguments one by one', edits: [{ span, text: words.join(', ') }] } : undefined
  uses.world.report('T102', span, { program: value }, fix)
}

/** Parameters of a callback that never receive an argument. */
export function checkCallback(uses: Uses, name: string, method: string, args: readonly Argument[]): void {
  const given = Object.hasOwn(CALLBACK_ARGUMENTS, method) ? CALLBACK_ARGUMENTS[method]! : null
  const value = args.at(-1)?.value
  if (given === null || value === undefined) return
  const params = uses.paramsOf(value)?.filter((param) => param.defaultValue === null && !param.rest)
  if (params === undefined || params.length <= given) return
  uses.world.report('T092', value.span, { name, given, actual: params.length })
}
