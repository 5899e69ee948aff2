// Generated from harn.ohm by scripts/generate-grammar.ts (how: packages/parser/scripts/emit-parser.ts): change that, then run it
// again.
/* eslint-disable */

import { EMPTY, type StartRule, TooDeep } from './parse-tree.js'

const FIRST_UNIT = 0xe000
const END = 114
/** Returned by a rule's method when the rule does not match; not the index of a record. */
const FAILED = -1
/** Calls of the rules that remember, for each token; plain code takes two or three. */
const STEPS_PER_TOKEN = 40
/** Integers on the tape to begin with: plain code takes about 32 for each token, and one item seldom has more than 500. */
const TAPE_PER_TOKEN = 32
const TAPE = 16_384
/** More than any record but a repetition takes. */
const RECORD = 32

/** Raised when the budget of steps is used up; never leaves this file. */
const OVERRUN = new Error('the parser goes back too often')

export interface Parsed {
  readonly tape: Int32Array
  /** Place of the root's record on the tape; negative when the tokens are not a program or expression. */
  readonly root: number
  /** First token of the last but one item of the file that was begun: a failure has its reasons behind it. */
  readonly restart: number
}

/** Takes an item of the file, the record at `item` and those that it refers to; they are gone after the call. */
export type TakeItem = (tape: Int32Array, item: number) => void

/**
 * Parses a token string. `maxDepth` bounds the nesting of types; deeper throws TooDeep. With `take`, the items are handed over one
 * by one, also those before a failure, and the root has none; `begin` is called before the first, which may be twice.
 */
export function parseTokens(
  units: string,
  rule: StartRule,
  maxDepth: number,
  take: TakeItem | null = null,
  begin: () => void = () => {},
): Parsed {
  const kinds = new Uint8Array(units.length + 1)
  for (let at = 0; at < units.length; at += 1) kinds[at] = units.charCodeAt(at) - FIRST_UNIT
  kinds[units.length] = END
  begin()
  try {
    return new Parser(kinds, maxDepth, null, take).run(rule)
  } catch (error) {
    if (error !== OVERRUN) throw error
    begin()
    return new Parser(kinds, maxDepth, new Map(), take).run(rule)
  }
}

/** Memo table by rule and token. */
type Memory = Map<string, number>

/** Rules by the number in their records; KEEP WITH: the calls of `node` below, which are generated from the same list. */
export const RULES = [
  'program',
  'topItems',
  'topItem',
  'sep',
  'sepSemi',
  'block',
  'body',
  'stmt',
  'exprStmt',
  'assignTail',
  'letStmt',
  'varStmt',
  'binding',
  'bindingTarget',
  'nameBinding',
  'bindingName',
  'dictBinding',
  'dictBindField',
  'bindAlias',
  'aliasName',
  'listBinding',
  'listBindItem',
  'itemName',
  'bindRest',
  'restName',
  'defaultValue',
  'typeAnnotation',
  'whileStmt',
  'forStmt',
  'forBinding',
  'pairBinding',
  'pairName',
  'returnStmt',
  'throwStmt',
  'yieldStmt',
  'sameLineExpr',
  'emitStmt',
  'guardStmt',
  'requireStmt',
  'requireMessage',
  'deferStmt',
  'mutexStmt',
  'breakStmt',
  'continueStmt',
  'selectStmt',
  'selectArm',
  'timeoutArm',
  'defaultArm',
  'receiveArm',
  'caseName',
  'attributed',
  'attributedItem',
  'attribute',
  'attributeName',
  'attributeArgs',
  'attributeList',
  'attributeTail',
  'attributeArg',
  'namedAttrArg',
  'attributeValue',
  'attrPlain',
  'attrLiteral',
  'attrNumber',
  'attrDigits',
  'attrValueList',
  'attrValues',
  'attrValuesTail',
  'pubDecl',
  'pubItem',
  'fnDecl',
  'fnName',
  'genFnDecl',
  'params',
  'listedParam',
  'param',
  'paramName',
  'returnType',
  'where',
  'whereBound',
  'boundParam',
  'boundName',
  'typeParams',
  'typeParam',
  'typeParamName',
  'variance',
  'varianceOut',
  'pipelineDecl',
  'pipelineName',
  'extends',
  'parentName',
  'overrideDecl',
  'overrideName',
  'nameList',
  'listedName',
  'importDecl',
  'importNames',
  'importName',
  'importedName',
  'importAll',
  'importPath',
  'toolDecl',
  'toolName',
  'description',
  'skillDecl',
  'skillName',
  'skillFields',
  'skillSep',
  'skillField',
  'skillFieldName',
  'evalPackDecl',
  'evalPackHead',
  'evalPackNamed',
  'evalPackName',
  'evalItems',
  'evalItem',
  'summarize',
  'evalField',
  'typeDecl',
  'typeName',
  'enumDecl',
  'enumName',
  'enumVariant',
  'variantName',
  'variantParams',
  'structDecl',
  'structName',
  'structField',
  'fieldName',
  'interfaceDecl',
  'interfaceName',
  'interfaceItem',
  'interfaceEntry',
  'assocType',
  'assocName',
  'assocValue',
  'methodName',
  'methodSig',
  'implDecl',
  'implMethod',
  'useTool',
  'useTarget',
  'useServer',
  'useId',
  'useVersion',
  'useVersionText',
  'useNumber',
  'useNumberPart',
  'useName',
  'dottedName',
  'dottedPart',
  'grant',
  'grantBody',
  'grantFields',
  'grantField',
  'grantPair',
  'grantLine',
  'grantValue',
  'grantNegative',
  'grantScalar',
  'grantList',
  'grantItem',
  'bindEffect',
  'type',
  'unionMember',
  'typePrimary',
  'typeLiteral',
  'negativeInt',
  'namedType',
  'typeArgs',
  'typeArg',
  'shapeType',
  'shapeField',
  'shapeName',
  'listType',
  'fnType',
  'fnTypeParam',
  'expr',
  'pipeTail',
  'rangeTail',
  'ternaryTail',
  'binaryTail',
  'binaryOp',
  'brokenOp',
  'notIn',
  'notInStart',
  'unary',
  'head',
  'operand',
  'wordExpr',
  'postfixOp',
  'bracketOp',
  'accessOp',
  'call',
  'callee',
  'parenCallee',
  'arg',
  'namedArg',
  'spread',
  'methodOp',
  'memberOp',
  'propertyName',
  'indexOp',
  'sliceOp',
  'sliceToOp',
  'optIndexOp',
  'optIndexStart',
  'propagateOp',
  'ternaryMark',
  'ternaryStart',
  'identifier',
  'literal',
  'paren',
  'list',
  'dict',
  'structLiteral',
  'structStart',
  'structPeek',
  'structEmpty',
  'structKey',
  'structKeyName',
  'dictItem',
  'namedEntry',
  'dictKey',
  'stringEntry',
  'computedEntry',
  'closure',
  'fnExpr',
  'ifExpr',
  'ifEnd',
  'elseIf',
  'otherwise',
  'skippedBreak',
  'matchExpr',
  'matchArm',
  'orPattern',
  'matchGuard',
  'tryExpr',
  'tryStar',
  'tryBlock',
  'tryEnd',
  'catch',
  'catchVariable',
  'caughtTyped',
  'caughtName',
  'finally',
  'retryExpr',
  'deadlineExpr',
  'spawnExpr',
  'parallelExpr',
  'parallelMode',
  'parallelLimit',
  'limitEntry',
  'limitName',
  'parallelVar',
  'asStream',
  'interpolation',
  'goesOn',
  'goesOnBroken',
  'anyToken',
  'ident',
  'memberName',
  'string',
  '_iter',
] as const

const SET_0 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 75, 96, 97, 99, 111, 113)
const SET_1 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 75, 96, 97, 99, 111, 113)
const SET_2 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 75, 96, 97, 99, 111)
const SET_3 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 63, 64, 65, 66, 67, 69, 71, 72, 75, 111)
const SET_4 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 108, 113)
const SET_5 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 61, 113)
const SET_6 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 63, 64, 66, 67, 69, 71, 72, 75, 111)
const SET_7 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 49, 63, 64, 65, 66, 69, 71, 72, 75, 96, 97, 111, 113)
const SET_8 = setOf(12, 61, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 113)
const SET_9 = setOf(12, 61, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89)
const SET_10 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 96, 97, 99, 108, 111, 113)
const SET_11 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 75, 96, 97, 99, 111, 113)
const SET_12 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 70, 71, 72, 108, 111)

function setOf(...tokens: readonly number[]): Uint8Array {
  const set = new Uint8Array(256)
  for (const token of tokens) set[token] = 1
  return set
}

class Parser {
  private readonly kinds: Uint8Array
  private readonly maxDepth: number
  private readonly memory: Memory | null
  private readonly take: TakeItem | null
  private tape: Int32Array
  /** End of what is written on the tape; the record of the empty repetition comes first. */
  private top = 4
  /** Children of the repetitions that have not ended, and how many they are. Never shortened: that is slow. */
  private readonly stack: number[] = []
  private waiting = 0
  private stepsLeft: number
  private at = 0
  private depth = 0
  private item = 0
  private restart = 0
  private exprAt = -1
  private exprNode = FAILED
  private stmtAt = -1
  private stmtNode = FAILED
  private typeAt = -1
  private typeNode = FAILED
  private ifExprAt = -1
  private ifExprNode = FAILED
  private matchExprAt = -1
  private matchExprNode = FAILED
  private tryExprAt = -1
  private tryExprNode = FAILED
  private parallelExprAt = -1
  private parallelExprNode = FAILED
  private retryExprAt = -1
  private retryExprNode = FAILED
  private deadlineExprAt = -1
  private deadlineExprNode = FAILED

  constructor(kinds: Uint8Array, maxDepth: number, memory: Memory | null, take: TakeItem | null) {
    this.kinds = kinds
    this.maxDepth = maxDepth
    this.memory = memory
    this.take = take
    this.tape = new Int32Array(Math.min(TAPE, kinds.length * TAPE_PER_TOKEN) + RECORD)
    this.tape[0] = 262
    this.stepsLeft = memory === null ? kinds.length * STEPS_PER_TOKEN + 1000 : Infinity
  }

  run(rule: StartRule): Parsed {
    const root = rule === 'program' ? this.program() : rule === 'interpolation' ? this.interpolation() : FAILED
    return { tape: this.tape, root, restart: this.restart }
  }

  private grown(): Int32Array {
    const larger = new Int32Array(this.tape.length * 2)
    larger.set(this.tape)
    return (this.tape = larger)
  }

  /** Takes a repetition from the stack: of each row of `stride` children from `base` on the one at `offset`. */
  private column(base: number, offset: number, stride: number): number {
    const { stack, waiting } = this
    const count = (waiting - base) / stride
    if (count === 0) return EMPTY
    while (this.tape.length - this.top < count + RECORD) this.grown()
    const tape = this.tape
    const top = this.top
    tape[top] = 262
    tape[top + 3] = count
    let to = top + 4
    for (let from = base + offset; from < waiting; from += stride) tape[to++] = stack[from]!
    this.top = to
    return top
  }

  private node1(rule: number, start: number, end: number, part0: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 1
    tape[top + 4] = part0
    this.top = top + 5
    return top
  }

  private node2(rule: number, start: number, end: number, part0: number, part1: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 2
    tape[top + 4] = part0
    tape[top + 5] = part1
    this.top = top + 6
    return top
  }

  private node3(rule: number, start: number, end: number, part0: number, part1: number, part2: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 3
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    this.top = top + 7
    return top
  }

  private node4(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 4
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    this.top = top + 8
    return top
  }

  private node5(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number, part4: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 5
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    tape[top + 8] = part4
    this.top = top + 9
    return top
  }

  private node6(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number, part4: number, part5: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 6
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    tape[top + 8] = part4
    tape[top + 9] = part5
    this.top = top + 10
    return top
  }

  private node7(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number, part4: number, part5: number, part6: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 7
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    tape[top + 8] = part4
    tape[top + 9] = part5
    tape[top + 10] = part6
    this.top = top + 11
    return top
  }

  private node8(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number, part4: number, part5: number, part6: number, part7: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 8
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    tape[top + 8] = part4
    tape[top + 9] = part5
    tape[top + 10] = part6
    tape[top + 11] = part7
    this.top = top + 12
    return top
  }

  private node9(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number, part4: number, part5: number, part6: number, part7: number, part8: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 9
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    tape[top + 8] = part4
    tape[top + 9] = part5
    tape[top + 10] = part6
    tape[top + 11] = part7
    tape[top + 12] = part8
    this.top = top + 13
    return top
  }

  private node10(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number, part4: number, part5: number, part6: number, part7: number, part8: number, part9: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 10
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    tape[top + 8] = part4
    tape[top + 9] = part5
    tape[top + 10] = part6
    tape[top + 11] = part7
    tape[top + 12] = part8
    tape[top + 13] = part9
    this.top = top + 14
    return top
  }

  private node11(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number, part4: number, part5: number, part6: number, part7: number, part8: number, part9: number, part10: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 11
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    tape[top + 8] = part4
    tape[top + 9] = part5
    tape[top + 10] = part6
    tape[top + 11] = part7
    tape[top + 12] = part8
    tape[top + 13] = part9
    tape[top + 14] = part10
    this.top = top + 15
    return top
  }

  private node12(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number, part4: number, part5: number, part6: number, part7: number, part8: number, part9: number, part10: number, part11: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 12
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    tape[top + 8] = part4
    tape[top + 9] = part5
    tape[top + 10] = part6
    tape[top + 11] = part7
    tape[top + 12] = part8
    tape[top + 13] = part9
    tape[top + 14] = part10
    tape[top + 15] = part11
    this.top = top + 16
    return top
  }

  private node16(rule: number, start: number, end: number, part0: number, part1: number, part2: number, part3: number, part4: number, part5: number, part6: number, part7: number, part8: number, part9: number, part10: number, part11: number, part12: number, part13: number, part14: number, part15: number): number {
    const top = this.top
    const tape = this.tape.length - top < RECORD ? this.grown() : this.tape
    tape[top] = rule
    tape[top + 1] = start
    tape[top + 2] = end
    tape[top + 3] = 16
    tape[top + 4] = part0
    tape[top + 5] = part1
    tape[top + 6] = part2
    tape[top + 7] = part3
    tape[top + 8] = part4
    tape[top + 9] = part5
    tape[top + 10] = part6
    tape[top + 11] = part7
    tape[top + 12] = part8
    tape[top + 13] = part9
    tape[top + 14] = part10
    tape[top + 15] = part11
    tape[top + 16] = part12
    tape[top + 17] = part13
    tape[top + 18] = part14
    tape[top + 19] = part15
    this.top = top + 20
    return top
  }

  /** `mark` is where the tape ended before the item. */
  private handOver(item: number, mark: number): number {
    if (this.take === null) return item
    this.take(this.tape, item)
    this.top = mark
    // What is remembered may be records of the item.
    this.exprAt = -1
    this.stmtAt = -1
    this.typeAt = -1
    this.ifExprAt = -1
    this.matchExprAt = -1
    this.tryExprAt = -1
    this.parallelExprAt = -1
    this.retryExprAt = -1
    this.deadlineExprAt = -1
    if (this.memory !== null) this.memory.clear()
    return EMPTY
  }

  private countStep(): void {
    this.stepsLeft -= 1
    if (this.stepsLeft < 0) throw OVERRUN
  }

  private program(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    let o3 = EMPTY
    if (SET_0[kinds[this.at]!] === 1) {
      const here4 = this.at
      option5: {
        const n6 = this.topItems()
        if (n6 === FAILED) { this.at = here4; break option5 }
        o3 = this.node1(262 /* _iter */, 0, 0, n6)
      }
    }
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    if (kinds[this.at]! !== END) return FAILED
    return this.node4(0 /* program */, start, this.at, o1, o3, o7, ~this.at)
  }

  private topItems(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.topItem()
    if (n1 === FAILED) return FAILED
    const base2 = this.waiting
    loop4: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 104 /* ; */ && kind !== 113 /* \n */) break
      const here3 = this.at
      const n5 = this.sep()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      const n6 = this.topItem()
      if (n6 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
      this.stack[this.waiting++] = n6
    }
    const c7 = this.column(base2, 0, 2)
    const c8 = this.column(base2, 1, 2)
    this.waiting = base2
    let o9 = EMPTY
    const kind10 = kinds[this.at]!
    if (kind10 === 104 /* ; */ || kind10 === 113 /* \n */) {
      const here11 = this.at
      option12: {
        const n13 = this.sep()
        if (n13 === FAILED) { this.at = here11; break option12 }
        o9 = this.node1(262 /* _iter */, 0, 0, n13)
      }
    }
    return this.node4(1 /* topItems */, start, this.at, n1, c7, c8, o9)
  }

  private topItem(): number {
    const kinds = this.kinds
    const start = this.at
    this.restart = this.item
    this.item = start
    const mark = this.top
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 33 /* import */: {
          r1 = this.importDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 34 /* pipeline */: {
          r1 = this.pipelineDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind >= 33 /* import */ && kind <= 34 /* pipeline */)) return FAILED }
          const n3 = this.stmt()
          if (n3 === FAILED) return FAILED
          r1 = n3
        }
      }
    }
    return this.handOver(this.node1(2 /* topItem */, start, this.at, r1), mark)
  }

  private sep(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 113 /* \n */: {
          const t3 = this.at++
          r1 = ~t3
          break choice2
        }
        default: {
          r1 = this.sepSemi()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(3 /* sep */, start, this.at, r1)
  }

  private sepSemi(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 104 /* ; */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    return this.node2(4 /* sepSemi */, start, this.at, ~t1, o2)
  }

  private block(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t3 = this.at++
    const n4 = this.body()
    if (n4 === FAILED) return FAILED
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t7 = this.at++
    return this.node5(5 /* block */, start, this.at, o1, ~t3, n4, o5, ~t7)
  }

  private body(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    let o3 = EMPTY
    let o4 = EMPTY
    let o5 = EMPTY
    let o6 = EMPTY
    if (SET_1[kinds[this.at]!] === 1) {
      const here7 = this.at
      option8: {
        const n9 = this.stmt()
        if (n9 === FAILED) { this.at = here7; break option8 }
        const base10 = this.waiting
        loop12: for (;;) {
          const kind = kinds[this.at]!
          if (kind !== 104 /* ; */ && kind !== 113 /* \n */) break
          const here11 = this.at
          const n13 = this.sep()
          if (n13 === FAILED) { this.at = here11; break loop12 }
          const n14 = this.stmt()
          if (n14 === FAILED) { this.at = here11; break loop12 }
          this.stack[this.waiting++] = n13
          this.stack[this.waiting++] = n14
        }
        const c15 = this.column(base10, 0, 2)
        const c16 = this.column(base10, 1, 2)
        this.waiting = base10
        let o17 = EMPTY
        const kind18 = kinds[this.at]!
        if (kind18 === 104 /* ; */ || kind18 === 113 /* \n */) {
          const here19 = this.at
          option20: {
            const n21 = this.sep()
            if (n21 === FAILED) { this.at = here19; break option20 }
            o17 = this.node1(262 /* _iter */, 0, 0, n21)
          }
        }
        o3 = this.node1(262 /* _iter */, 0, 0, n9)
        o4 = this.node1(262 /* _iter */, 0, 0, c15)
        o5 = this.node1(262 /* _iter */, 0, 0, c16)
        o6 = this.node1(262 /* _iter */, 0, 0, o17)
      }
    }
    return this.node5(6 /* body */, start, this.at, o1, o3, o4, o5, o6)
  }

  private stmt(): number {
    const start = this.at
    if (this.stmtAt === start) {
      const last = this.stmtNode
      if (last !== FAILED) this.at = this.tape[last + 2]!
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('stmt' + start)
      if (known !== undefined) {
        if (known !== FAILED) this.at = this.tape[known + 2]!
        return known
      }
    }
    const node = this.stmtAnew()
    if (this.memory !== null) this.memory.set('stmt' + start, node)
    this.stmtAt = start
    this.stmtNode = node
    return node
  }

  private stmtAnew(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 15 /* gen */: {
          const here = this.at
          next3: {
            r1 = this.genFnDecl()
            if (r1 === FAILED) break next3
            break choice2
          }
          this.at = here
          r1 = this.exprStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 16 /* @ */: {
          r1 = this.attributed()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 17 /* <use> */: {
          r1 = this.useTool()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 18 /* <grant> */: {
          r1 = this.grant()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 19 /* <bind> */: {
          r1 = this.bindEffect()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 21 /* eval_pack */: {
          r1 = this.evalPackDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 22 /* require */: {
          r1 = this.requireStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 23 /* select */: {
          r1 = this.selectStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 24 /* skill */: {
          r1 = this.skillDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 25 /* break */: {
          const t4 = this.at++
          r1 = this.node1(42 /* breakStmt */, t4, t4 + 1, ~t4)
          break choice2
        }
        case 26 /* continue */: {
          const t5 = this.at++
          r1 = this.node1(43 /* continueStmt */, t5, t5 + 1, ~t5)
          break choice2
        }
        case 27 /* defer */: {
          r1 = this.deferStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 28 /* emit */: {
          r1 = this.emitStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 29 /* enum */: {
          r1 = this.enumDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 30 /* for */: {
          r1 = this.forStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 31 /* guard */: {
          r1 = this.guardStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 32 /* impl */: {
          r1 = this.implDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 35 /* interface */: {
          r1 = this.interfaceDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 36 /* let */: {
          r1 = this.letStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 37 /* mutex */: {
          r1 = this.mutexStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 38 /* override */: {
          r1 = this.overrideDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 39 /* pub */: {
          r1 = this.pubDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 40 /* return */: {
          r1 = this.returnStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 41 /* struct */: {
          r1 = this.structDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 42 /* throw */: {
          r1 = this.throwStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 43 /* tool */: {
          r1 = this.toolDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 44 /* type */: {
          r1 = this.typeDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 45 /* var */: {
          r1 = this.varStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 46 /* while */: {
          r1 = this.whileStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 47 /* yield */: {
          r1 = this.yieldStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 48 /* deadline */: {
          const here = this.at
          next6: {
            r1 = this.deadlineExpr()
            if (r1 === FAILED) break next6
            break choice2
          }
          this.at = here
          r1 = this.exprStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 49 /* fn */: {
          const here = this.at
          next7: {
            r1 = this.fnDecl()
            if (r1 === FAILED) break next7
            break choice2
          }
          this.at = here
          r1 = this.exprStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 50 /* if */: {
          const here = this.at
          next8: {
            r1 = this.ifExpr()
            if (r1 === FAILED) break next8
            break choice2
          }
          this.at = here
          r1 = this.exprStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 51 /* match */: {
          const here = this.at
          next9: {
            r1 = this.matchExpr()
            if (r1 === FAILED) break next9
            break choice2
          }
          this.at = here
          r1 = this.exprStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 52 /* parallel */: {
          const here = this.at
          next10: {
            r1 = this.parallelExpr()
            if (r1 === FAILED) break next10
            break choice2
          }
          this.at = here
          r1 = this.exprStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 53 /* retry */: {
          const here = this.at
          next11: {
            r1 = this.retryExpr()
            if (r1 === FAILED) break next11
            break choice2
          }
          this.at = here
          r1 = this.exprStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 54 /* try */: {
          const here = this.at
          next12: {
            r1 = this.tryExpr()
            if (r1 === FAILED) break next12
            break choice2
          }
          this.at = here
          r1 = this.exprStmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          const here = this.at
          next13: {
            { const kind = kinds[this.at]!; if ((kind >= 15 /* gen */ && kind <= 54 /* try */)) break next13 }
            const n14 = this.exprStmt()
            if (n14 === FAILED) break next13
            r1 = n14
            break choice2
          }
          this.at = here
          r1 = this.exprStmt()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(7 /* stmt */, start, this.at, r1)
  }

  private exprStmt(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.expr()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    const kind3 = kinds[this.at]!
    if ((kind3 >= 90 /* = */ && kind3 <= 95 /* %= */)) {
      const here4 = this.at
      option5: {
        const n6 = this.assignTail()
        if (n6 === FAILED) { this.at = here4; break option5 }
        o2 = this.node1(262 /* _iter */, 0, 0, n6)
      }
    }
    return this.node2(8 /* exprStmt */, start, this.at, n1, o2)
  }

  private assignTail(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 90 /* = */ || kind > 95 /* %= */)) return FAILED }
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    return this.node2(9 /* assignTail */, start, this.at, ~t1, n2)
  }

  private letStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 36 /* let */) return FAILED
    const t1 = this.at++
    const n2 = this.binding()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 90 /* = */) return FAILED
    const t5 = this.at++
    const n6 = this.expr()
    if (n6 === FAILED) return FAILED
    return this.node5(10 /* letStmt */, start, this.at, ~t1, n2, o3, ~t5, n6)
  }

  private varStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 45 /* var */) return FAILED
    const t1 = this.at++
    const n2 = this.binding()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 90 /* = */) return FAILED
    const t5 = this.at++
    const n6 = this.expr()
    if (n6 === FAILED) return FAILED
    return this.node5(11 /* varStmt */, start, this.at, ~t1, n2, o3, ~t5, n6)
  }

  private binding(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    const n3 = this.bindingTarget()
    if (n3 === FAILED) return FAILED
    return this.node2(12 /* binding */, start, this.at, o1, n3)
  }

  private bindingTarget(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 96 /* { */:
        case 97 /* {-> */: {
          r1 = this.dictBinding()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 111 /* [ */: {
          r1 = this.listBinding()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.nameBinding()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(13 /* bindingTarget */, start, this.at, r1)
  }

  private nameBinding(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here3 = this.at
      option4: {
        const n5 = this.typeAnnotation()
        if (n5 === FAILED) { this.at = here3; break option4 }
        o2 = this.node1(262 /* _iter */, 0, 0, n5)
      }
    }
    return this.node2(14 /* nameBinding */, start, this.at, this.node1(15 /* bindingName */, t1, t1 + 1, this.node1(259 /* ident */, t1, t1 + 1, ~t1)), o2)
  }

  private dictBinding(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t1 = this.at++
    const base2 = this.waiting
    loop4: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) break
      const here3 = this.at
      const n5 = this.dictBindField()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
    }
    const c6 = this.column(base2, 0, 1)
    this.waiting = base2
    let o7 = EMPTY
    const kind8 = kinds[this.at]!
    if (kind8 === 108 /* ... */ || kind8 === 113 /* \n */) {
      const here9 = this.at
      option10: {
        const n11 = this.bindRest()
        if (n11 === FAILED) { this.at = here9; break option10 }
        o7 = this.node1(262 /* _iter */, 0, 0, n11)
      }
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t14 = this.at++
    return this.node5(16 /* dictBinding */, start, this.at, ~t1, c6, o7, o12, ~t14)
  }

  private dictBindField(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here5 = this.at
      option6: {
        const n7 = this.bindAlias()
        if (n7 === FAILED) { this.at = here5; break option6 }
        o4 = this.node1(262 /* _iter */, 0, 0, n7)
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 90 /* = */) {
      const here9 = this.at
      option10: {
        const n11 = this.defaultValue()
        if (n11 === FAILED) { this.at = here9; break option10 }
        o8 = this.node1(262 /* _iter */, 0, 0, n11)
      }
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    return this.node5(17 /* dictBindField */, start, this.at, o1, this.node1(127 /* fieldName */, t3, t3 + 1, this.node1(259 /* ident */, t3, t3 + 1, ~t3)), o4, o8, o12)
  }

  private bindAlias(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    return this.node3(18 /* bindAlias */, start, this.at, ~t1, o2, this.node1(19 /* aliasName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)))
  }

  private listBinding(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t1 = this.at++
    const base2 = this.waiting
    loop4: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) break
      const here3 = this.at
      const n5 = this.listBindItem()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
    }
    const c6 = this.column(base2, 0, 1)
    this.waiting = base2
    let o7 = EMPTY
    const kind8 = kinds[this.at]!
    if (kind8 === 108 /* ... */ || kind8 === 113 /* \n */) {
      const here9 = this.at
      option10: {
        const n11 = this.bindRest()
        if (n11 === FAILED) { this.at = here9; break option10 }
        o7 = this.node1(262 /* _iter */, 0, 0, n11)
      }
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t14 = this.at++
    return this.node5(20 /* listBinding */, start, this.at, ~t1, c6, o7, o12, ~t14)
  }

  private listBindItem(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 90 /* = */) {
      const here5 = this.at
      option6: {
        const n7 = this.defaultValue()
        if (n7 === FAILED) { this.at = here5; break option6 }
        o4 = this.node1(262 /* _iter */, 0, 0, n7)
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    return this.node4(21 /* listBindItem */, start, this.at, o1, this.node1(22 /* itemName */, t3, t3 + 1, this.node1(259 /* ident */, t3, t3 + 1, ~t3)), o4, o8)
  }

  private bindRest(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    if (kinds[this.at]! !== 108 /* ... */) return FAILED
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t6 = this.at++
    return this.node4(23 /* bindRest */, start, this.at, o1, ~t3, o4, this.node1(24 /* restName */, t6, t6 + 1, this.node1(259 /* ident */, t6, t6 + 1, ~t6)))
  }

  private defaultValue(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 90 /* = */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    return this.node2(25 /* defaultValue */, start, this.at, ~t1, n2)
  }

  private typeAnnotation(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === FAILED) return FAILED
    return this.node2(26 /* typeAnnotation */, start, this.at, ~t1, n2)
  }

  private whileStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 46 /* while */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    const n3 = this.block()
    if (n3 === FAILED) return FAILED
    return this.node3(27 /* whileStmt */, start, this.at, ~t1, n2, n3)
  }

  private forStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 30 /* for */) return FAILED
    const t1 = this.at++
    const n2 = this.forBinding()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 61 /* in */) return FAILED
    const t5 = this.at++
    const n6 = this.expr()
    if (n6 === FAILED) return FAILED
    const n7 = this.block()
    if (n7 === FAILED) return FAILED
    return this.node6(28 /* forStmt */, start, this.at, ~t1, n2, o3, ~t5, n6, n7)
  }

  private forBinding(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 99 /* ( */: {
          r1 = this.pairBinding()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.binding()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(29 /* forBinding */, start, this.at, r1)
  }

  private pairBinding(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    if (kinds[this.at]! !== 102 /* , */) return FAILED
    const t7 = this.at++
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t10 = this.at++
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = this.node1(262 /* _iter */, 0, 0, ~t12)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t13 = this.at++
    return this.node9(30 /* pairBinding */, start, this.at, ~t1, o2, this.node1(31 /* pairName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, ~t7, o8, this.node1(31 /* pairName */, t10, t10 + 1, this.node1(259 /* ident */, t10, t10 + 1, ~t10)), o11, ~t13)
  }

  private returnStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 40 /* return */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (SET_2[kinds[this.at]!] === 1) {
      const here3 = this.at
      option4: {
        const n5 = this.sameLineExpr()
        if (n5 === FAILED) { this.at = here3; break option4 }
        o2 = this.node1(262 /* _iter */, 0, 0, n5)
      }
    }
    return this.node2(32 /* returnStmt */, start, this.at, ~t1, o2)
  }

  private throwStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 42 /* throw */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    return this.node2(33 /* throwStmt */, start, this.at, ~t1, n2)
  }

  private yieldStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 47 /* yield */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (SET_2[kinds[this.at]!] === 1) {
      const here3 = this.at
      option4: {
        const n5 = this.sameLineExpr()
        if (n5 === FAILED) { this.at = here3; break option4 }
        o2 = this.node1(262 /* _iter */, 0, 0, n5)
      }
    }
    return this.node2(34 /* yieldStmt */, start, this.at, ~t1, o2)
  }

  private sameLineExpr(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! === 113 /* \n */) return FAILED
    const n1 = this.expr()
    if (n1 === FAILED) return FAILED
    return this.node1(35 /* sameLineExpr */, start, this.at, n1)
  }

  private emitStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 28 /* emit */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    return this.node2(36 /* emitStmt */, start, this.at, ~t1, n2)
  }

  private guardStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 31 /* guard */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 57 /* else */) return FAILED
    const t5 = this.at++
    const n6 = this.block()
    if (n6 === FAILED) return FAILED
    return this.node5(37 /* guardStmt */, start, this.at, ~t1, n2, o3, ~t5, n6)
  }

  private requireStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 22 /* require */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const here4 = this.at
      option5: {
        const n6 = this.requireMessage()
        if (n6 === FAILED) { this.at = here4; break option5 }
        o3 = this.node1(262 /* _iter */, 0, 0, n6)
      }
    }
    return this.node3(38 /* requireStmt */, start, this.at, ~t1, n2, o3)
  }

  private requireMessage(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 102 /* , */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    return this.node2(39 /* requireMessage */, start, this.at, ~t1, n2)
  }

  private deferStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 27 /* defer */) return FAILED
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === FAILED) return FAILED
    return this.node2(40 /* deferStmt */, start, this.at, ~t1, n2)
  }

  private mutexStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 37 /* mutex */) return FAILED
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === FAILED) return FAILED
    return this.node2(41 /* mutexStmt */, start, this.at, ~t1, n2)
  }

  private selectStmt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 23 /* select */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    const base7 = this.waiting
    loop9: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
      const here8 = this.at
      const n10 = this.selectArm()
      if (n10 === FAILED) { this.at = here8; break loop9 }
      this.stack[this.waiting++] = n10
    }
    const c11 = this.column(base7, 0, 1)
    this.waiting = base7
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t12 = this.at++
    return this.node6(44 /* selectStmt */, start, this.at, ~t1, o2, ~t4, o5, c11, ~t12)
  }

  private selectArm(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 8 /* timeout */: {
          const here = this.at
          next3: {
            r1 = this.timeoutArm()
            if (r1 === FAILED) break next3
            break choice2
          }
          this.at = here
          r1 = this.receiveArm()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 9 /* default */: {
          const here = this.at
          next4: {
            r1 = this.defaultArm()
            if (r1 === FAILED) break next4
            break choice2
          }
          this.at = here
          r1 = this.receiveArm()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.receiveArm()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(45 /* selectArm */, start, this.at, r1)
  }

  private timeoutArm(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 8 /* timeout */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    const n3 = this.block()
    if (n3 === FAILED) return FAILED
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    return this.node4(46 /* timeoutArm */, start, this.at, ~t1, n2, n3, o4)
  }

  private defaultArm(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 9 /* default */) return FAILED
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    return this.node3(47 /* defaultArm */, start, this.at, ~t1, n2, o3)
  }

  private receiveArm(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    if (kinds[this.at]! !== 60 /* from */) return FAILED
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === FAILED) return FAILED
    const n6 = this.block()
    if (n6 === FAILED) return FAILED
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    return this.node6(48 /* receiveArm */, start, this.at, this.node1(49 /* caseName */, t1, t1 + 1, this.node1(259 /* ident */, t1, t1 + 1, ~t1)), o2, ~t4, n5, n6, o7)
  }

  private attributed(): number {
    const kinds = this.kinds
    const start = this.at
    let count2 = 0
    const base1 = this.waiting
    loop4: for (;;) {
      if (kinds[this.at]! !== 16 /* @ */) break
      const here3 = this.at
      const n5 = this.attribute()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
      count2 += 1
    }
    if (count2 === 0) return FAILED
    const c6 = this.column(base1, 0, 1)
    this.waiting = base1
    const n7 = this.attributedItem()
    if (n7 === FAILED) return FAILED
    return this.node2(50 /* attributed */, start, this.at, c6, n7)
  }

  private attributedItem(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 34 /* pipeline */: {
          r1 = this.pipelineDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.stmt()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(51 /* attributedItem */, start, this.at, r1)
  }

  private attribute(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 16 /* @ */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 99 /* ( */) {
      const here6 = this.at
      option7: {
        const n8 = this.attributeArgs()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o5 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    if (kinds[this.at]! === 99 /* ( */) return FAILED
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    return this.node5(52 /* attribute */, start, this.at, ~t1, o2, this.node1(53 /* attributeName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, o9)
  }

  private attributeArgs(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    let o4 = EMPTY
    if (SET_3[kinds[this.at]!] === 1) {
      const here5 = this.at
      option6: {
        const n7 = this.attributeList()
        if (n7 === FAILED) { this.at = here5; break option6 }
        o4 = this.node1(262 /* _iter */, 0, 0, n7)
      }
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t8 = this.at++
    return this.node4(54 /* attributeArgs */, start, this.at, ~t1, o2, o4, ~t8)
  }

  private attributeList(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.attributeArg()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const base4 = this.waiting
    loop6: for (;;) {
      if (kinds[this.at]! !== 102 /* , */) break
      const here5 = this.at
      const n7 = this.attributeTail()
      if (n7 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n7
    }
    const c8 = this.column(base4, 0, 1)
    this.waiting = base4
    let o9 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = this.node1(262 /* _iter */, 0, 0, ~t12)
    }
    return this.node5(55 /* attributeList */, start, this.at, n1, o2, c8, o9, o11)
  }

  private attributeTail(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 102 /* , */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const n4 = this.attributeArg()
    if (n4 === FAILED) return FAILED
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    return this.node4(56 /* attributeTail */, start, this.at, ~t1, o2, n4, o5)
  }

  private attributeArg(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */:
        case 69 /* <rawString> */:
        case 71 /* <string> */:
        case 72 /* <triple> */:
        case 75 /* - */:
        case 111 /* [ */: {
          r1 = this.attributeValue()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          const here = this.at
          next3: {
            r1 = this.namedAttrArg()
            if (r1 === FAILED) break next3
            break choice2
          }
          this.at = here
          r1 = this.attributeValue()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(57 /* attributeArg */, start, this.at, r1)
  }

  private namedAttrArg(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    const n5 = this.attributeValue()
    if (n5 === FAILED) return FAILED
    return this.node4(58 /* namedAttrArg */, start, this.at, this.node1(259 /* ident */, t1, t1 + 1, ~t1), ~t2, o3, n5)
  }

  private attributeValue(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 75 /* - */: {
          r1 = this.attrNumber()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 111 /* [ */: {
          r1 = this.attrValueList()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.attrPlain()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(59 /* attributeValue */, start, this.at, r1)
  }

  private attrPlain(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */:
        case 69 /* <rawString> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = this.node1(61 /* attrLiteral */, t3, t3 + 1, ~t3)
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
          const t4 = this.at++
          r1 = this.node1(259 /* ident */, t4, t4 + 1, ~t4)
        }
      }
    }
    return this.node1(60 /* attrPlain */, start, this.at, r1)
  }

  private attrNumber(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 75 /* - */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 66 /* <int> */ || kind > 67 /* <float> */)) return FAILED }
    const t2 = this.at++
    return this.node2(62 /* attrNumber */, start, this.at, ~t1, this.node1(63 /* attrDigits */, t2, t2 + 1, ~t2))
  }

  private attrValueList(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    let o4 = EMPTY
    if (SET_3[kinds[this.at]!] === 1) {
      const here5 = this.at
      option6: {
        const n7 = this.attrValues()
        if (n7 === FAILED) { this.at = here5; break option6 }
        o4 = this.node1(262 /* _iter */, 0, 0, n7)
      }
    }
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t8 = this.at++
    return this.node4(64 /* attrValueList */, start, this.at, ~t1, o2, o4, ~t8)
  }

  private attrValues(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.attributeValue()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const base4 = this.waiting
    loop6: for (;;) {
      if (kinds[this.at]! !== 102 /* , */) break
      const here5 = this.at
      const n7 = this.attrValuesTail()
      if (n7 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n7
    }
    const c8 = this.column(base4, 0, 1)
    this.waiting = base4
    let o9 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = this.node1(262 /* _iter */, 0, 0, ~t12)
    }
    return this.node5(65 /* attrValues */, start, this.at, n1, o2, c8, o9, o11)
  }

  private attrValuesTail(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 102 /* , */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const n4 = this.attributeValue()
    if (n4 === FAILED) return FAILED
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    return this.node4(66 /* attrValuesTail */, start, this.at, ~t1, o2, n4, o5)
  }

  private pubDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 39 /* pub */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const n4 = this.pubItem()
    if (n4 === FAILED) return FAILED
    return this.node3(67 /* pubDecl */, start, this.at, ~t1, o2, n4)
  }

  private pubItem(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 21 /* eval_pack */: {
          r1 = this.evalPackDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 24 /* skill */: {
          r1 = this.skillDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 29 /* enum */: {
          r1 = this.enumDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 33 /* import */: {
          r1 = this.importDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 34 /* pipeline */: {
          r1 = this.pipelineDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 41 /* struct */: {
          r1 = this.structDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 43 /* tool */: {
          r1 = this.toolDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 49 /* fn */: {
          r1 = this.fnDecl()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.genFnDecl()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(68 /* pubItem */, start, this.at, r1)
  }

  private fnDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 49 /* fn */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o5 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t11 = this.at++
    const n12 = this.params()
    if (n12 === FAILED) return FAILED
    let o13 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t14 = this.at++
      o13 = this.node1(262 /* _iter */, 0, 0, ~t14)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t15 = this.at++
    let o16 = EMPTY
    if (kinds[this.at]! === 107 /* -> */) {
      const here17 = this.at
      option18: {
        const n19 = this.returnType()
        if (n19 === FAILED) { this.at = here17; break option18 }
        o16 = this.node1(262 /* _iter */, 0, 0, n19)
      }
    }
    let o20 = EMPTY
    if (kinds[this.at]! === 13 /* where */) {
      const here21 = this.at
      option22: {
        const n23 = this.where()
        if (n23 === FAILED) { this.at = here21; break option22 }
        o20 = this.node1(262 /* _iter */, 0, 0, n23)
      }
    }
    const n24 = this.block()
    if (n24 === FAILED) return FAILED
    return this.node12(69 /* fnDecl */, start, this.at, ~t1, o2, this.node1(70 /* fnName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, o9, ~t11, n12, o13, ~t15, o16, o20, n24)
  }

  private genFnDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 15 /* gen */) return FAILED
    const t1 = this.at++
    const n2 = this.fnDecl()
    if (n2 === FAILED) return FAILED
    return this.node2(71 /* genFnDecl */, start, this.at, ~t1, n2)
  }

  private params(): number {
    const kinds = this.kinds
    const start = this.at
    const base1 = this.waiting
    loop3: for (;;) {
      if (SET_4[kinds[this.at]!] !== 1) break
      const here2 = this.at
      const n4 = this.listedParam()
      if (n4 === FAILED) { this.at = here2; break loop3 }
      this.stack[this.waiting++] = n4
    }
    const c5 = this.column(base1, 0, 1)
    this.waiting = base1
    return this.node1(72 /* params */, start, this.at, c5)
  }

  private listedParam(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    const n3 = this.param()
    if (n3 === FAILED) return FAILED
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    return this.node3(73 /* listedParam */, start, this.at, o1, n3, o4)
  }

  private param(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 108 /* ... */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t5 = this.at++
    let o6 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here7 = this.at
      option8: {
        const n9 = this.typeAnnotation()
        if (n9 === FAILED) { this.at = here7; break option8 }
        o6 = this.node1(262 /* _iter */, 0, 0, n9)
      }
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 90 /* = */) {
      const here11 = this.at
      option12: {
        const n13 = this.defaultValue()
        if (n13 === FAILED) { this.at = here11; break option12 }
        o10 = this.node1(262 /* _iter */, 0, 0, n13)
      }
    }
    return this.node5(74 /* param */, start, this.at, o1, o3, this.node1(75 /* paramName */, t5, t5 + 1, this.node1(259 /* ident */, t5, t5 + 1, ~t5)), o6, o10)
  }

  private returnType(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 107 /* -> */) return FAILED
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === FAILED) return FAILED
    return this.node2(76 /* returnType */, start, this.at, ~t1, n2)
  }

  private where(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 13 /* where */) return FAILED
    const t1 = this.at++
    const base2 = this.waiting
    loop4: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) break
      const here3 = this.at
      const n5 = this.whereBound()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
    }
    const c6 = this.column(base2, 0, 1)
    this.waiting = base2
    return this.node2(77 /* where */, start, this.at, ~t1, c6)
  }

  private whereBound(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t6 = this.at++
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t9 = this.at++
    let o10 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t11 = this.at++
      o10 = this.node1(262 /* _iter */, 0, 0, ~t11)
    }
    return this.node7(78 /* whereBound */, start, this.at, o1, this.node1(79 /* boundParam */, t3, t3 + 1, this.node1(259 /* ident */, t3, t3 + 1, ~t3)), o4, ~t6, o7, this.node1(80 /* boundName */, t9, t9 + 1, this.node1(259 /* ident */, t9, t9 + 1, ~t9)), o10)
  }

  private typeParams(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 82 /* < */) return FAILED
    const t1 = this.at++
    const base2 = this.waiting
    loop4: for (;;) {
      if (SET_5[kinds[this.at]!] !== 1) break
      const here3 = this.at
      const n5 = this.typeParam()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
    }
    const c6 = this.column(base2, 0, 1)
    this.waiting = base2
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    if (kinds[this.at]! !== 83 /* > */) return FAILED
    const t9 = this.at++
    return this.node4(81 /* typeParams */, start, this.at, ~t1, c6, o7, ~t9)
  }

  private typeParam(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    let o3 = EMPTY
    const kind4 = kinds[this.at]!
    if (kind4 === 14 /* out */ || kind4 === 61 /* in */) {
      const here5 = this.at
      option6: {
        const n7 = this.variance()
        if (n7 === FAILED) { this.at = here5; break option6 }
        o3 = this.node1(262 /* _iter */, 0, 0, n7)
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t10 = this.at++
    let o11 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t12 = this.at++
      o11 = this.node1(262 /* _iter */, 0, 0, ~t12)
    }
    return this.node5(82 /* typeParam */, start, this.at, o1, o3, o8, this.node1(83 /* typeParamName */, t10, t10 + 1, this.node1(259 /* ident */, t10, t10 + 1, ~t10)), o11)
  }

  private variance(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 61 /* in */: {
          const t3 = this.at++
          r1 = ~t3
          break choice2
        }
        default: {
          r1 = this.varianceOut()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(84 /* variance */, start, this.at, r1)
  }

  private varianceOut(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 14 /* out */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) return FAILED }
    const here2 = this.at
    let found3 = false
    look4: {
      if (kinds[this.at]! === 113 /* \n */) {
        this.at += 1
      }
      { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break look4 }
      this.at += 1
      found3 = true
    }
    this.at = here2
    if (!found3) return FAILED
    return this.node1(85 /* varianceOut */, start, this.at, ~t1)
  }

  private pipelineDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 34 /* pipeline */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t7 = this.at++
    const n8 = this.nameList()
    if (n8 === FAILED) return FAILED
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 107 /* -> */) {
      const here13 = this.at
      option14: {
        const n15 = this.returnType()
        if (n15 === FAILED) { this.at = here13; break option14 }
        o12 = this.node1(262 /* _iter */, 0, 0, n15)
      }
    }
    let o16 = EMPTY
    if (kinds[this.at]! === 59 /* extends */) {
      const here17 = this.at
      option18: {
        const n19 = this.extends()
        if (n19 === FAILED) { this.at = here17; break option18 }
        o16 = this.node1(262 /* _iter */, 0, 0, n19)
      }
    }
    const n20 = this.block()
    if (n20 === FAILED) return FAILED
    return this.node11(86 /* pipelineDecl */, start, this.at, ~t1, o2, this.node1(87 /* pipelineName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, ~t7, n8, o9, ~t11, o12, o16, n20)
  }

  private extends(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 59 /* extends */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    return this.node3(88 /* extends */, start, this.at, ~t1, o2, this.node1(89 /* parentName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)))
  }

  private overrideDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 38 /* override */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t7 = this.at++
    const n8 = this.nameList()
    if (n8 === FAILED) return FAILED
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t11 = this.at++
    const n12 = this.block()
    if (n12 === FAILED) return FAILED
    return this.node9(90 /* overrideDecl */, start, this.at, ~t1, o2, this.node1(91 /* overrideName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, ~t7, n8, o9, ~t11, n12)
  }

  private nameList(): number {
    const kinds = this.kinds
    const start = this.at
    const base1 = this.waiting
    loop3: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) break
      const here2 = this.at
      const n4 = this.listedName()
      if (n4 === FAILED) { this.at = here2; break loop3 }
      this.stack[this.waiting++] = n4
    }
    const c5 = this.column(base1, 0, 1)
    this.waiting = base1
    return this.node1(92 /* nameList */, start, this.at, c5)
  }

  private listedName(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    return this.node3(93 /* listedName */, start, this.at, o1, this.node1(75 /* paramName */, t3, t3 + 1, this.node1(259 /* ident */, t3, t3 + 1, ~t3)), o4)
  }

  private importDecl(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      const here = this.at
      next3: {
        r1 = this.importNames()
        if (r1 === FAILED) break next3
        break choice2
      }
      this.at = here
      r1 = this.importAll()
      if (r1 === FAILED) return FAILED
    }
    return this.node1(94 /* importDecl */, start, this.at, r1)
  }

  private importNames(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 33 /* import */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    const base5 = this.waiting
    loop7: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
      const here6 = this.at
      const n8 = this.importName()
      if (n8 === FAILED) { this.at = here6; break loop7 }
      this.stack[this.waiting++] = n8
    }
    const c9 = this.column(base5, 0, 1)
    this.waiting = base5
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t10 = this.at++
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = this.node1(262 /* _iter */, 0, 0, ~t12)
    }
    if (kinds[this.at]! !== 60 /* from */) return FAILED
    const t13 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 71 /* <string> */ || kind > 72 /* <triple> */)) return FAILED }
    const t14 = this.at++
    return this.node8(95 /* importNames */, start, this.at, ~t1, ~t2, o3, c9, ~t10, o11, ~t13, this.node1(99 /* importPath */, t14, t14 + 1, this.node1(261 /* string */, t14, t14 + 1, ~t14)))
  }

  private importName(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    return this.node4(96 /* importName */, start, this.at, this.node1(97 /* importedName */, t1, t1 + 1, this.node1(259 /* ident */, t1, t1 + 1, ~t1)), o2, o4, o6)
  }

  private importAll(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 33 /* import */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 71 /* <string> */ || kind > 72 /* <triple> */)) return FAILED }
    const t2 = this.at++
    return this.node2(98 /* importAll */, start, this.at, ~t1, this.node1(99 /* importPath */, t2, t2 + 1, this.node1(261 /* string */, t2, t2 + 1, ~t2)))
  }

  private toolDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 43 /* tool */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t7 = this.at++
    const n8 = this.params()
    if (n8 === FAILED) return FAILED
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 107 /* -> */) {
      const here13 = this.at
      option14: {
        const n15 = this.returnType()
        if (n15 === FAILED) { this.at = here13; break option14 }
        o12 = this.node1(262 /* _iter */, 0, 0, n15)
      }
    }
    let o16 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t17 = this.at++
      o16 = this.node1(262 /* _iter */, 0, 0, ~t17)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t18 = this.at++
    let o19 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t20 = this.at++
      o19 = this.node1(262 /* _iter */, 0, 0, ~t20)
    }
    let o21 = EMPTY
    if (kinds[this.at]! === 10 /* description */) {
      const here22 = this.at
      option23: {
        const n24 = this.description()
        if (n24 === FAILED) { this.at = here22; break option23 }
        o21 = this.node1(262 /* _iter */, 0, 0, n24)
      }
    }
    const n25 = this.body()
    if (n25 === FAILED) return FAILED
    let o26 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t27 = this.at++
      o26 = this.node1(262 /* _iter */, 0, 0, ~t27)
    }
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t28 = this.at++
    return this.node16(100 /* toolDecl */, start, this.at, ~t1, o2, this.node1(101 /* toolName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, ~t7, n8, o9, ~t11, o12, o16, ~t18, o19, o21, n25, o26, ~t28)
  }

  private description(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 10 /* description */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 71 /* <string> */ || kind > 72 /* <triple> */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    const kind6 = kinds[this.at]!
    if (kind6 === 104 /* ; */ || kind6 === 113 /* \n */) {
      const here7 = this.at
      option8: {
        const n9 = this.sep()
        if (n9 === FAILED) { this.at = here7; break option8 }
        o5 = this.node1(262 /* _iter */, 0, 0, n9)
      }
    }
    return this.node4(102 /* description */, start, this.at, ~t1, o2, this.node1(261 /* string */, t4, t4 + 1, ~t4), o5)
  }

  private skillDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 24 /* skill */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t7 = this.at++
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    let o10 = EMPTY
    const kind11 = kinds[this.at]!
    if ((kind11 >= 0 /* <ident> */ && kind11 <= 15 /* gen */)) {
      const here12 = this.at
      option13: {
        const n14 = this.skillFields()
        if (n14 === FAILED) { this.at = here12; break option13 }
        o10 = this.node1(262 /* _iter */, 0, 0, n14)
      }
    }
    let o15 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t16 = this.at++
      o15 = this.node1(262 /* _iter */, 0, 0, ~t16)
    }
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t17 = this.at++
    return this.node9(103 /* skillDecl */, start, this.at, ~t1, o2, this.node1(104 /* skillName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, ~t7, o8, o10, o15, ~t17)
  }

  private skillFields(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.skillField()
    if (n1 === FAILED) return FAILED
    const base2 = this.waiting
    loop4: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 104 /* ; */ && kind !== 113 /* \n */) break
      const here3 = this.at
      const n5 = this.skillSep()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      const n6 = this.skillField()
      if (n6 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
      this.stack[this.waiting++] = n6
    }
    const c7 = this.column(base2, 0, 2)
    const c8 = this.column(base2, 1, 2)
    this.waiting = base2
    let o9 = EMPTY
    const kind10 = kinds[this.at]!
    if (kind10 === 104 /* ; */ || kind10 === 113 /* \n */) {
      const here11 = this.at
      option12: {
        const n13 = this.skillSep()
        if (n13 === FAILED) { this.at = here11; break option12 }
        o9 = this.node1(262 /* _iter */, 0, 0, n13)
      }
    }
    return this.node4(105 /* skillFields */, start, this.at, n1, c7, c8, o9)
  }

  private skillSep(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.sep()
    if (n1 === FAILED) return FAILED
    return this.node1(106 /* skillSep */, start, this.at, n1)
  }

  private skillField(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const n4 = this.expr()
    if (n4 === FAILED) return FAILED
    return this.node3(107 /* skillField */, start, this.at, this.node1(108 /* skillFieldName */, t1, t1 + 1, this.node1(259 /* ident */, t1, t1 + 1, ~t1)), o2, n4)
  }

  private evalPackDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 21 /* eval_pack */) return FAILED
    const t1 = this.at++
    const n2 = this.evalPackHead()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t5 = this.at++
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    let o8 = EMPTY
    if (SET_1[kinds[this.at]!] === 1) {
      const here9 = this.at
      option10: {
        const n11 = this.evalItems()
        if (n11 === FAILED) { this.at = here9; break option10 }
        o8 = this.node1(262 /* _iter */, 0, 0, n11)
      }
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t14 = this.at++
    return this.node8(109 /* evalPackDecl */, start, this.at, ~t1, n2, o3, ~t5, o6, o8, o12, ~t14)
  }

  private evalPackHead(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = this.node1(261 /* string */, t3, t3 + 1, ~t3)
          break choice2
        }
        default: {
          r1 = this.evalPackNamed()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(110 /* evalPackHead */, start, this.at, r1)
  }

  private evalPackNamed(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    const kind3 = kinds[this.at]!
    if ((kind3 >= 71 /* <string> */ && kind3 <= 72 /* <triple> */)) {
      const here4 = this.at
      option5: {
        const t6 = this.at++
        o2 = this.node1(262 /* _iter */, 0, 0, this.node1(261 /* string */, t6, t6 + 1, ~t6))
      }
    }
    return this.node2(111 /* evalPackNamed */, start, this.at, this.node1(112 /* evalPackName */, t1, t1 + 1, this.node1(259 /* ident */, t1, t1 + 1, ~t1)), o2)
  }

  private evalItems(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.evalItem()
    if (n1 === FAILED) return FAILED
    const base2 = this.waiting
    loop4: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 104 /* ; */ && kind !== 113 /* \n */) break
      const here3 = this.at
      const n5 = this.sep()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      const n6 = this.evalItem()
      if (n6 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
      this.stack[this.waiting++] = n6
    }
    const c7 = this.column(base2, 0, 2)
    const c8 = this.column(base2, 1, 2)
    this.waiting = base2
    let o9 = EMPTY
    const kind10 = kinds[this.at]!
    if (kind10 === 104 /* ; */ || kind10 === 113 /* \n */) {
      const here11 = this.at
      option12: {
        const n13 = this.sep()
        if (n13 === FAILED) { this.at = here11; break option12 }
        o9 = this.node1(262 /* _iter */, 0, 0, n13)
      }
    }
    return this.node4(113 /* evalItems */, start, this.at, n1, c7, c8, o9)
  }

  private evalItem(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 0 /* <ident> */:
        case 1 /* <Ident> */:
        case 2 /* each */:
        case 3 /* settle */:
        case 4 /* with */:
        case 5 /* max_concurrent */:
        case 6 /* as */:
        case 7 /* stream */:
        case 8 /* timeout */:
        case 9 /* default */:
        case 10 /* description */:
        case 12 /* not */:
        case 13 /* where */:
        case 14 /* out */:
        case 15 /* gen */: {
          const here = this.at
          next3: {
            r1 = this.evalField()
            if (r1 === FAILED) break next3
            break choice2
          }
          this.at = here
          r1 = this.stmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 11 /* summarize */: {
          const here = this.at
          next4: {
            r1 = this.summarize()
            if (r1 === FAILED) break next4
            break choice2
          }
          this.at = here
          next5: {
            r1 = this.evalField()
            if (r1 === FAILED) break next5
            break choice2
          }
          this.at = here
          r1 = this.stmt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.stmt()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(114 /* evalItem */, start, this.at, r1)
  }

  private summarize(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 11 /* summarize */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t2 = this.at++
    const n3 = this.body()
    if (n3 === FAILED) return FAILED
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t6 = this.at++
    return this.node5(115 /* summarize */, start, this.at, ~t1, ~t2, n3, o4, ~t6)
  }

  private evalField(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    const n5 = this.expr()
    if (n5 === FAILED) return FAILED
    return this.node4(116 /* evalField */, start, this.at, this.node1(259 /* ident */, t1, t1 + 1, ~t1), ~t2, o3, n5)
  }

  private typeDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 44 /* type */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o5 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    if (kinds[this.at]! !== 90 /* = */) return FAILED
    const t11 = this.at++
    const n12 = this.type()
    if (n12 === FAILED) return FAILED
    return this.node7(117 /* typeDecl */, start, this.at, ~t1, o2, this.node1(118 /* typeName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, o9, ~t11, n12)
  }

  private enumDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 29 /* enum */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o5 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    const base14 = this.waiting
    loop16: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
      const here15 = this.at
      const n17 = this.enumVariant()
      if (n17 === FAILED) { this.at = here15; break loop16 }
      this.stack[this.waiting++] = n17
    }
    const c18 = this.column(base14, 0, 1)
    this.waiting = base14
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t19 = this.at++
    return this.node9(119 /* enumDecl */, start, this.at, ~t1, o2, this.node1(120 /* enumName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, o9, ~t11, o12, c18, ~t19)
  }

  private enumVariant(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 99 /* ( */) {
      const here3 = this.at
      option4: {
        const n5 = this.variantParams()
        if (n5 === FAILED) { this.at = here3; break option4 }
        o2 = this.node1(262 /* _iter */, 0, 0, n5)
      }
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = this.node1(262 /* _iter */, 0, 0, ~t11)
    }
    return this.node5(121 /* enumVariant */, start, this.at, this.node1(122 /* variantName */, t1, t1 + 1, this.node1(259 /* ident */, t1, t1 + 1, ~t1)), o2, o6, o8, o10)
  }

  private variantParams(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t1 = this.at++
    const n2 = this.params()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t5 = this.at++
    return this.node4(123 /* variantParams */, start, this.at, ~t1, n2, o3, ~t5)
  }

  private structDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 41 /* struct */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o5 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    const base14 = this.waiting
    loop16: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
      const here15 = this.at
      const n17 = this.structField()
      if (n17 === FAILED) { this.at = here15; break loop16 }
      this.stack[this.waiting++] = n17
    }
    const c18 = this.column(base14, 0, 1)
    this.waiting = base14
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t19 = this.at++
    return this.node9(124 /* structDecl */, start, this.at, ~t1, o2, this.node1(125 /* structName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, o9, ~t11, o12, c18, ~t19)
  }

  private structField(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here5 = this.at
      option6: {
        const n7 = this.typeAnnotation()
        if (n7 === FAILED) { this.at = here5; break option6 }
        o4 = this.node1(262 /* _iter */, 0, 0, n7)
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t11 = this.at++
      o10 = this.node1(262 /* _iter */, 0, 0, ~t11)
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    return this.node6(126 /* structField */, start, this.at, this.node1(127 /* fieldName */, t1, t1 + 1, this.node1(259 /* ident */, t1, t1 + 1, ~t1)), o2, o4, o8, o10, o12)
  }

  private interfaceDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 35 /* interface */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o5 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    const base14 = this.waiting
    loop16: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 44 /* type */ && kind !== 49 /* fn */) break
      const here15 = this.at
      const n17 = this.interfaceItem()
      if (n17 === FAILED) { this.at = here15; break loop16 }
      this.stack[this.waiting++] = n17
    }
    const c18 = this.column(base14, 0, 1)
    this.waiting = base14
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t19 = this.at++
    return this.node9(128 /* interfaceDecl */, start, this.at, ~t1, o2, this.node1(129 /* interfaceName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, o9, ~t11, o12, c18, ~t19)
  }

  private interfaceItem(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.interfaceEntry()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    return this.node2(130 /* interfaceItem */, start, this.at, n1, o2)
  }

  private interfaceEntry(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 49 /* fn */: {
          r1 = this.methodSig()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.assocType()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(131 /* interfaceEntry */, start, this.at, r1)
  }

  private assocType(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 44 /* type */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 90 /* = */) {
      const here6 = this.at
      option7: {
        const n8 = this.assocValue()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o5 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    return this.node4(132 /* assocType */, start, this.at, ~t1, o2, this.node1(133 /* assocName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5)
  }

  private assocValue(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 90 /* = */) return FAILED
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === FAILED) return FAILED
    return this.node2(134 /* assocValue */, start, this.at, ~t1, n2)
  }

  private methodSig(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 49 /* fn */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o5 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t11 = this.at++
    const n12 = this.params()
    if (n12 === FAILED) return FAILED
    let o13 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t14 = this.at++
      o13 = this.node1(262 /* _iter */, 0, 0, ~t14)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t15 = this.at++
    let o16 = EMPTY
    if (kinds[this.at]! === 107 /* -> */) {
      const here17 = this.at
      option18: {
        const n19 = this.returnType()
        if (n19 === FAILED) { this.at = here17; break option18 }
        o16 = this.node1(262 /* _iter */, 0, 0, n19)
      }
    }
    return this.node10(136 /* methodSig */, start, this.at, ~t1, o2, this.node1(135 /* methodName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, o9, ~t11, n12, o13, ~t15, o16)
  }

  private implDecl(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 32 /* impl */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t7 = this.at++
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    const base10 = this.waiting
    loop12: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 39 /* pub */ && kind !== 49 /* fn */) break
      const here11 = this.at
      const n13 = this.implMethod()
      if (n13 === FAILED) { this.at = here11; break loop12 }
      this.stack[this.waiting++] = n13
    }
    const c14 = this.column(base10, 0, 1)
    this.waiting = base10
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t15 = this.at++
    return this.node8(137 /* implDecl */, start, this.at, ~t1, o2, this.node1(118 /* typeName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, ~t7, o8, c14, ~t15)
  }

  private implMethod(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 39 /* pub */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    const n3 = this.fnDecl()
    if (n3 === FAILED) return FAILED
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    return this.node3(138 /* implMethod */, start, this.at, o1, n3, o4)
  }

  private useTool(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 17 /* <use> */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! !== 43 /* tool */) return FAILED
    const t2 = this.at++
    const n3 = this.useTarget()
    if (n3 === FAILED) return FAILED
    if (kinds[this.at]! !== 6 /* as */) return FAILED
    const t4 = this.at++
    const n5 = this.useName()
    if (n5 === FAILED) return FAILED
    return this.node5(139 /* useTool */, start, this.at, ~t1, ~t2, n3, ~t4, n5)
  }

  private useTarget(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      const here = this.at
      next3: {
        r1 = this.useServer()
        if (r1 === FAILED) break next3
        break choice2
      }
      this.at = here
      r1 = this.useId()
      if (r1 === FAILED) return FAILED
    }
    return this.node1(140 /* useTarget */, start, this.at, r1)
  }

  private useServer(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 71 /* <string> */ || kind > 72 /* <triple> */)) return FAILED }
    const t2 = this.at++
    return this.node2(141 /* useServer */, start, this.at, this.node1(259 /* ident */, t1, t1 + 1, ~t1), this.node1(261 /* string */, t2, t2 + 1, ~t2))
  }

  private useId(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.dottedName()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 16 /* @ */) {
      const here3 = this.at
      option4: {
        const n5 = this.useVersion()
        if (n5 === FAILED) { this.at = here3; break option4 }
        o2 = this.node1(262 /* _iter */, 0, 0, n5)
      }
    }
    return this.node2(142 /* useId */, start, this.at, n1, o2)
  }

  private useVersion(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 16 /* @ */) return FAILED
    const t1 = this.at++
    const n2 = this.useVersionText()
    if (n2 === FAILED) return FAILED
    return this.node2(143 /* useVersion */, start, this.at, ~t1, n2)
  }

  private useVersionText(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = this.node1(261 /* string */, t3, t3 + 1, ~t3)
          break choice2
        }
        default: {
          r1 = this.useNumber()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(144 /* useVersionText */, start, this.at, r1)
  }

  private useNumber(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 66 /* <int> */ || kind > 67 /* <float> */)) return FAILED }
    const t1 = this.at++
    const base2 = this.waiting
    loop4: for (;;) {
      if (kinds[this.at]! !== 110 /* . */) break
      const here3 = this.at
      const n5 = this.useNumberPart()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
    }
    const c6 = this.column(base2, 0, 1)
    this.waiting = base2
    return this.node2(145 /* useNumber */, start, this.at, ~t1, c6)
  }

  private useNumberPart(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 110 /* . */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 66 /* <int> */ || kind > 67 /* <float> */)) return FAILED }
    const t2 = this.at++
    return this.node2(146 /* useNumberPart */, start, this.at, ~t1, ~t2)
  }

  private useName(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 86 /* * */: {
          const t3 = this.at++
          r1 = ~t3
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
          const t4 = this.at++
          r1 = this.node1(259 /* ident */, t4, t4 + 1, ~t4)
        }
      }
    }
    return this.node1(147 /* useName */, start, this.at, r1)
  }

  private dottedName(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    const base2 = this.waiting
    loop4: for (;;) {
      if (kinds[this.at]! !== 110 /* . */) break
      const here3 = this.at
      const n5 = this.dottedPart()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
    }
    const c6 = this.column(base2, 0, 1)
    this.waiting = base2
    return this.node2(148 /* dottedName */, start, this.at, this.node1(259 /* ident */, t1, t1 + 1, ~t1), c6)
  }

  private dottedPart(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 110 /* . */) return FAILED
    const t1 = this.at++
    const n2 = this.memberName()
    if (n2 === FAILED) return FAILED
    return this.node2(149 /* dottedPart */, start, this.at, ~t1, n2)
  }

  private grant(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 18 /* <grant> */) return FAILED
    const t1 = this.at++
    const n2 = this.dottedName()
    if (n2 === FAILED) return FAILED
    const n3 = this.grantBody()
    if (n3 === FAILED) return FAILED
    return this.node3(150 /* grant */, start, this.at, ~t1, n2, n3)
  }

  private grantBody(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 96 /* { */:
        case 97 /* {-> */: {
          r1 = this.grantFields()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 113 /* \n */: {
          let count4 = 0
          const base3 = this.waiting
          loop6: for (;;) {
            if (kinds[this.at]! !== 113 /* \n */) break
            const here5 = this.at
            const n7 = this.grantLine()
            if (n7 === FAILED) { this.at = here5; break loop6 }
            this.stack[this.waiting++] = n7
            count4 += 1
          }
          if (count4 === 0) return FAILED
          const c8 = this.column(base3, 0, 1)
          this.waiting = base3
          r1 = c8
          break choice2
        }
        default: {
          let count10 = 0
          const base9 = this.waiting
          loop12: for (;;) {
            const kind = kinds[this.at]!
            if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
            const here11 = this.at
            const n13 = this.grantPair()
            if (n13 === FAILED) { this.at = here11; break loop12 }
            this.stack[this.waiting++] = n13
            count10 += 1
          }
          if (count10 === 0) return FAILED
          const c14 = this.column(base9, 0, 1)
          this.waiting = base9
          r1 = c14
        }
      }
    }
    return this.node1(151 /* grantBody */, start, this.at, r1)
  }

  private grantFields(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const base4 = this.waiting
    loop6: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && (kind < 25 /* break */ || kind > 65 /* nil */)) break
      const here5 = this.at
      const n7 = this.grantField()
      if (n7 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n7
    }
    const c8 = this.column(base4, 0, 1)
    this.waiting = base4
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t9 = this.at++
    return this.node4(152 /* grantFields */, start, this.at, ~t1, o2, c8, ~t9)
  }

  private grantField(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.memberName()
    if (n1 === FAILED) return FAILED
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    const n5 = this.grantValue()
    if (n5 === FAILED) return FAILED
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = this.node1(262 /* _iter */, 0, 0, ~t11)
    }
    return this.node7(153 /* grantField */, start, this.at, n1, ~t2, o3, n5, o6, o8, o10)
  }

  private grantPair(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    const n2 = this.grantValue()
    if (n2 === FAILED) return FAILED
    return this.node2(154 /* grantPair */, start, this.at, this.node1(259 /* ident */, t1, t1 + 1, ~t1), n2)
  }

  private grantLine(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 113 /* \n */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t2 = this.at++
    const n3 = this.grantScalar()
    if (n3 === FAILED) return FAILED
    return this.node3(155 /* grantLine */, start, this.at, ~t1, this.node1(259 /* ident */, t2, t2 + 1, ~t2), n3)
  }

  private grantValue(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 75 /* - */: {
          r1 = this.grantNegative()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 111 /* [ */: {
          r1 = this.grantList()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.grantScalar()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(156 /* grantValue */, start, this.at, r1)
  }

  private grantNegative(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 75 /* - */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 66 /* <int> */ || kind > 67 /* <float> */)) return FAILED }
    const t2 = this.at++
    return this.node2(157 /* grantNegative */, start, this.at, ~t1, ~t2)
  }

  private grantScalar(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 63 /* true */:
        case 64 /* false */: {
          const t3 = this.at++
          r1 = ~t3
          break choice2
        }
        case 66 /* <int> */:
        case 67 /* <float> */: {
          const t4 = this.at++
          r1 = ~t4
          break choice2
        }
        case 69 /* <rawString> */: {
          const t5 = this.at++
          r1 = ~t5
          break choice2
        }
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t6 = this.at++
          r1 = ~t6
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
          const t7 = this.at++
          r1 = this.node1(259 /* ident */, t7, t7 + 1, ~t7)
        }
      }
    }
    return this.node1(158 /* grantScalar */, start, this.at, r1)
  }

  private grantList(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const base4 = this.waiting
    loop6: for (;;) {
      if (SET_6[kinds[this.at]!] !== 1) break
      const here5 = this.at
      const n7 = this.grantItem()
      if (n7 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n7
    }
    const c8 = this.column(base4, 0, 1)
    this.waiting = base4
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t9 = this.at++
    return this.node4(159 /* grantList */, start, this.at, ~t1, o2, c8, ~t9)
  }

  private grantItem(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.grantValue()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    return this.node4(160 /* grantItem */, start, this.at, n1, o2, o4, o6)
  }

  private bindEffect(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 19 /* <bind> */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t2 = this.at++
    const n3 = this.dottedName()
    if (n3 === FAILED) return FAILED
    if (kinds[this.at]! !== 62 /* to */) return FAILED
    const t4 = this.at++
    const n5 = this.dottedName()
    if (n5 === FAILED) return FAILED
    return this.node5(161 /* bindEffect */, start, this.at, ~t1, this.node1(259 /* ident */, t2, t2 + 1, ~t2), n3, ~t4, n5)
  }

  private type(): number {
    const start = this.at
    if (this.typeAt === start) {
      const last = this.typeNode
      if (last !== FAILED) this.at = this.tape[last + 2]!
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('type' + start)
      if (known !== undefined) {
        if (known !== FAILED) this.at = this.tape[known + 2]!
        return known
      }
    }
    this.depth += 1
    if (this.depth > this.maxDepth) throw new TooDeep(start)
    const node = this.typeAnew()
    this.depth -= 1
    if (this.memory !== null) this.memory.set('type' + start, node)
    this.typeAt = start
    this.typeNode = node
    return node
  }

  private typeAnew(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    const n3 = this.typePrimary()
    if (n3 === FAILED) return FAILED
    const base4 = this.waiting
    loop6: for (;;) {
      if (kinds[this.at]! !== 105 /* | */) break
      const here5 = this.at
      const n7 = this.unionMember()
      if (n7 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n7
    }
    const c8 = this.column(base4, 0, 1)
    this.waiting = base4
    return this.node3(162 /* type */, start, this.at, o1, n3, c8)
  }

  private unionMember(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 105 /* | */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const n4 = this.typePrimary()
    if (n4 === FAILED) return FAILED
    return this.node3(163 /* unionMember */, start, this.at, ~t1, o2, n4)
  }

  private typePrimary(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 49 /* fn */: {
          r1 = this.fnType()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 69 /* <rawString> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = this.node1(165 /* typeLiteral */, t3, t3 + 1, ~t3)
          break choice2
        }
        case 75 /* - */: {
          r1 = this.negativeInt()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 96 /* { */:
        case 97 /* {-> */: {
          r1 = this.shapeType()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 111 /* [ */: {
          r1 = this.listType()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.namedType()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(164 /* typePrimary */, start, this.at, r1)
  }

  private negativeInt(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 75 /* - */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! !== 66 /* <int> */) return FAILED
    const t2 = this.at++
    return this.node2(166 /* negativeInt */, start, this.at, ~t1, ~t2)
  }

  private namedType(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here3 = this.at
      option4: {
        const n5 = this.typeArgs()
        if (n5 === FAILED) { this.at = here3; break option4 }
        o2 = this.node1(262 /* _iter */, 0, 0, n5)
      }
    }
    return this.node2(167 /* namedType */, start, this.at, this.node1(259 /* ident */, t1, t1 + 1, ~t1), o2)
  }

  private typeArgs(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 82 /* < */) return FAILED
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    const base5 = this.waiting
    loop7: for (;;) {
      if (kinds[this.at]! !== 102 /* , */) break
      const here6 = this.at
      const n8 = this.typeArg()
      if (n8 === FAILED) { this.at = here6; break loop7 }
      this.stack[this.waiting++] = n8
    }
    const c9 = this.column(base5, 0, 1)
    this.waiting = base5
    let o10 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t11 = this.at++
      o10 = this.node1(262 /* _iter */, 0, 0, ~t11)
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    if (kinds[this.at]! !== 83 /* > */) return FAILED
    const t14 = this.at++
    return this.node7(168 /* typeArgs */, start, this.at, ~t1, n2, o3, c9, o10, o12, ~t14)
  }

  private typeArg(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 102 /* , */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const n4 = this.type()
    if (n4 === FAILED) return FAILED
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    return this.node4(169 /* typeArg */, start, this.at, ~t1, o2, n4, o5)
  }

  private shapeType(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const base4 = this.waiting
    loop6: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && (kind < 25 /* break */ || kind > 65 /* nil */)) break
      const here5 = this.at
      const n7 = this.shapeField()
      if (n7 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n7
    }
    const c8 = this.column(base4, 0, 1)
    this.waiting = base4
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t9 = this.at++
    return this.node4(170 /* shapeType */, start, this.at, ~t1, o2, c8, ~t9)
  }

  private shapeField(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.shapeName()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t6 = this.at++
    const n7 = this.type()
    if (n7 === FAILED) return FAILED
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t11 = this.at++
      o10 = this.node1(262 /* _iter */, 0, 0, ~t11)
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    return this.node8(171 /* shapeField */, start, this.at, n1, o2, o4, ~t6, n7, o8, o10, o12)
  }

  private shapeName(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.memberName()
    if (n1 === FAILED) return FAILED
    return this.node1(172 /* shapeName */, start, this.at, n1)
  }

  private listType(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t5 = this.at++
    return this.node4(173 /* listType */, start, this.at, ~t1, n2, o3, ~t5)
  }

  private fnType(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 49 /* fn */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    const base7 = this.waiting
    loop9: for (;;) {
      if (SET_7[kinds[this.at]!] !== 1) break
      const here8 = this.at
      const n10 = this.fnTypeParam()
      if (n10 === FAILED) { this.at = here8; break loop9 }
      this.stack[this.waiting++] = n10
    }
    const c11 = this.column(base7, 0, 1)
    this.waiting = base7
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t12 = this.at++
    let o13 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t14 = this.at++
      o13 = this.node1(262 /* _iter */, 0, 0, ~t14)
    }
    if (kinds[this.at]! !== 107 /* -> */) return FAILED
    const t15 = this.at++
    const n16 = this.type()
    if (n16 === FAILED) return FAILED
    return this.node9(174 /* fnType */, start, this.at, ~t1, o2, ~t4, o5, c11, ~t12, o13, ~t15, n16)
  }

  private fnTypeParam(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.type()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    return this.node4(175 /* fnTypeParam */, start, this.at, n1, o2, o4, o6)
  }

  private expr(): number {
    const start = this.at
    if (this.exprAt === start) {
      const last = this.exprNode
      if (last !== FAILED) this.at = this.tape[last + 2]!
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('expr' + start)
      if (known !== undefined) {
        if (known !== FAILED) this.at = this.tape[known + 2]!
        return known
      }
    }
    const node = this.exprAnew()
    if (this.memory !== null) this.memory.set('expr' + start, node)
    this.exprAt = start
    this.exprNode = node
    return node
  }

  private exprAnew(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    const n3 = this.unary()
    if (n3 === FAILED) return FAILED
    const base4 = this.waiting
    loop6: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here5 = this.at
      const here7 = this.at
      let found8 = false
      look9: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look9
        this.at += 1
        found8 = true
      }
      this.at = here7
      if (!found8) { this.at = here5; break loop6 }
      const n10 = this.binaryTail()
      if (n10 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n10
    }
    const c11 = this.column(base4, 0, 1)
    this.waiting = base4
    let o12 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const here13 = this.at
      option14: {
        const n15 = this.ternaryTail()
        if (n15 === FAILED) { this.at = here13; break option14 }
        o12 = this.node1(262 /* _iter */, 0, 0, n15)
      }
    }
    let o16 = EMPTY
    if (kinds[this.at]! === 62 /* to */) {
      const here17 = this.at
      option18: {
        const n19 = this.rangeTail()
        if (n19 === FAILED) { this.at = here17; break option18 }
        o16 = this.node1(262 /* _iter */, 0, 0, n19)
      }
    }
    const base20 = this.waiting
    loop22: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 106 /* |> */ && kind !== 113 /* \n */) break
      const here21 = this.at
      const here23 = this.at
      let found24 = false
      look25: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (kinds[this.at]! !== 106 /* |> */) break look25
        this.at += 1
        found24 = true
      }
      this.at = here23
      if (!found24) { this.at = here21; break loop22 }
      const n26 = this.pipeTail()
      if (n26 === FAILED) { this.at = here21; break loop22 }
      this.stack[this.waiting++] = n26
    }
    const c27 = this.column(base20, 0, 1)
    this.waiting = base20
    return this.node6(176 /* expr */, start, this.at, o1, n3, c11, o12, o16, c27)
  }

  private pipeTail(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    if (kinds[this.at]! !== 106 /* |> */) return FAILED
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    const n6 = this.unary()
    if (n6 === FAILED) return FAILED
    const base7 = this.waiting
    loop9: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here8 = this.at
      const here10 = this.at
      let found11 = false
      look12: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look12
        this.at += 1
        found11 = true
      }
      this.at = here10
      if (!found11) { this.at = here8; break loop9 }
      const n13 = this.binaryTail()
      if (n13 === FAILED) { this.at = here8; break loop9 }
      this.stack[this.waiting++] = n13
    }
    const c14 = this.column(base7, 0, 1)
    this.waiting = base7
    let o15 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const here16 = this.at
      option17: {
        const n18 = this.ternaryTail()
        if (n18 === FAILED) { this.at = here16; break option17 }
        o15 = this.node1(262 /* _iter */, 0, 0, n18)
      }
    }
    let o19 = EMPTY
    if (kinds[this.at]! === 62 /* to */) {
      const here20 = this.at
      option21: {
        const n22 = this.rangeTail()
        if (n22 === FAILED) { this.at = here20; break option21 }
        o19 = this.node1(262 /* _iter */, 0, 0, n22)
      }
    }
    return this.node7(177 /* pipeTail */, start, this.at, o1, ~t3, o4, n6, c14, o15, o19)
  }

  private rangeTail(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 62 /* to */) return FAILED
    const t1 = this.at++
    const n2 = this.unary()
    if (n2 === FAILED) return FAILED
    const base3 = this.waiting
    loop5: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here4 = this.at
      const here6 = this.at
      let found7 = false
      look8: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look8
        this.at += 1
        found7 = true
      }
      this.at = here6
      if (!found7) { this.at = here4; break loop5 }
      const n9 = this.binaryTail()
      if (n9 === FAILED) { this.at = here4; break loop5 }
      this.stack[this.waiting++] = n9
    }
    const c10 = this.column(base3, 0, 1)
    this.waiting = base3
    let o11 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const here12 = this.at
      option13: {
        const n14 = this.ternaryTail()
        if (n14 === FAILED) { this.at = here12; break option13 }
        o11 = this.node1(262 /* _iter */, 0, 0, n14)
      }
    }
    let o15 = EMPTY
    if (kinds[this.at]! === 58 /* exclusive */) {
      const t16 = this.at++
      o15 = this.node1(262 /* _iter */, 0, 0, ~t16)
    }
    return this.node5(178 /* rangeTail */, start, this.at, ~t1, n2, c10, o11, o15)
  }

  private ternaryTail(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 112 /* ? */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! === 111 /* [ */) return FAILED
    const n2 = this.unary()
    if (n2 === FAILED) return FAILED
    const base3 = this.waiting
    loop5: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here4 = this.at
      const here6 = this.at
      let found7 = false
      look8: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look8
        this.at += 1
        found7 = true
      }
      this.at = here6
      if (!found7) { this.at = here4; break loop5 }
      const n9 = this.binaryTail()
      if (n9 === FAILED) { this.at = here4; break loop5 }
      this.stack[this.waiting++] = n9
    }
    const c10 = this.column(base3, 0, 1)
    this.waiting = base3
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = this.node1(262 /* _iter */, 0, 0, ~t12)
    }
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t13 = this.at++
    const n14 = this.unary()
    if (n14 === FAILED) return FAILED
    const base15 = this.waiting
    loop17: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here16 = this.at
      const here18 = this.at
      let found19 = false
      look20: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look20
        this.at += 1
        found19 = true
      }
      this.at = here18
      if (!found19) { this.at = here16; break loop17 }
      const n21 = this.binaryTail()
      if (n21 === FAILED) { this.at = here16; break loop17 }
      this.stack[this.waiting++] = n21
    }
    const c22 = this.column(base15, 0, 1)
    this.waiting = base15
    return this.node7(179 /* ternaryTail */, start, this.at, ~t1, n2, c10, o11, ~t13, n14, c22)
  }

  private binaryTail(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.binaryOp()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const n4 = this.unary()
    if (n4 === FAILED) return FAILED
    return this.node3(180 /* binaryTail */, start, this.at, n1, o2, n4)
  }

  private binaryOp(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 12 /* not */: {
          r1 = this.notIn()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 61 /* in */: {
          const t3 = this.at++
          r1 = ~t3
          break choice2
        }
        case 75 /* - */: {
          const t4 = this.at++
          r1 = ~t4
          break choice2
        }
        default: {
          r1 = this.brokenOp()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(181 /* binaryOp */, start, this.at, r1)
  }

  private brokenOp(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    { const kind = kinds[this.at]!; if ((kind < 76 /* || */ || kind > 89 /* ** */)) return FAILED }
    const t3 = this.at++
    return this.node2(182 /* brokenOp */, start, this.at, o1, ~t3)
  }

  private notIn(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 12 /* not */) return FAILED
    const here1 = this.at
    let found2 = false
    look3: {
      const n4 = this.notInStart()
      if (n4 === FAILED) break look3
      found2 = true
    }
    this.at = here1
    if (!found2) return FAILED
    const t5 = this.at++
    if (kinds[this.at]! !== 61 /* in */) return FAILED
    const t6 = this.at++
    return this.node2(183 /* notIn */, start, this.at, ~t5, ~t6)
  }

  private notInStart(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 12 /* not */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! !== 61 /* in */) return FAILED
    const t2 = this.at++
    return this.node2(184 /* notInStart */, start, this.at, ~t1, ~t2)
  }

  private unary(): number {
    const kinds = this.kinds
    const start = this.at
    const base1 = this.waiting
    loop3: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 74 /* ! */ || kind > 75 /* - */)) break
      const here2 = this.at
      const t4 = this.at++
      this.stack[this.waiting++] = ~t4
    }
    const c5 = this.column(base1, 0, 1)
    this.waiting = base1
    const n6 = this.head()
    if (n6 === FAILED) return FAILED
    const base7 = this.waiting
    loop9: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 109 /* ?. */ || kind > 113 /* \n */)) break
      const here8 = this.at
      const here10 = this.at
      let found11 = false
      look12: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 112 /* ? */)) break look12 }
        this.at += 1
        found11 = true
      }
      this.at = here10
      if (!found11) { this.at = here8; break loop9 }
      const n13 = this.postfixOp()
      if (n13 === FAILED) { this.at = here8; break loop9 }
      this.stack[this.waiting++] = n13
    }
    const c14 = this.column(base7, 0, 1)
    this.waiting = base7
    return this.node3(185 /* unary */, start, this.at, c5, n6, c14)
  }

  private head(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 1 /* <Ident> */: {
          const here = this.at
          next3: {
            r1 = this.call()
            if (r1 === FAILED) break next3
            break choice2
          }
          this.at = here
          next4: {
            r1 = this.structLiteral()
            if (r1 === FAILED) break next4
            break choice2
          }
          this.at = here
          r1 = this.identifier()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 48 /* deadline */:
        case 49 /* fn */:
        case 50 /* if */:
        case 51 /* match */:
        case 52 /* parallel */:
        case 53 /* retry */:
        case 54 /* try */:
        case 55 /* spawn */: {
          const n5 = this.wordExpr()
          if (n5 === FAILED) return FAILED
          r1 = n5
          break choice2
        }
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */:
        case 68 /* <duration> */:
        case 69 /* <rawString> */:
        case 70 /* <interpolated> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t6 = this.at++
          r1 = this.node1(210 /* literal */, t6, t6 + 1, ~t6)
          break choice2
        }
        case 96 /* { */: {
          r1 = this.dict()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 97 /* {-> */: {
          r1 = this.closure()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 99 /* ( */: {
          const here = this.at
          next7: {
            r1 = this.call()
            if (r1 === FAILED) break next7
            break choice2
          }
          this.at = here
          r1 = this.paren()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 111 /* [ */: {
          r1 = this.list()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          const here = this.at
          next8: {
            r1 = this.call()
            if (r1 === FAILED) break next8
            break choice2
          }
          this.at = here
          r1 = this.identifier()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(186 /* head */, start, this.at, r1)
  }

  private operand(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 48 /* deadline */:
        case 49 /* fn */:
        case 50 /* if */:
        case 51 /* match */:
        case 52 /* parallel */:
        case 53 /* retry */:
        case 54 /* try */:
        case 55 /* spawn */: {
          r1 = this.wordExpr()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */:
        case 68 /* <duration> */:
        case 69 /* <rawString> */:
        case 70 /* <interpolated> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = this.node1(210 /* literal */, t3, t3 + 1, ~t3)
          break choice2
        }
        case 96 /* { */: {
          r1 = this.dict()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 97 /* {-> */: {
          r1 = this.closure()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 99 /* ( */: {
          r1 = this.paren()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 111 /* [ */: {
          r1 = this.list()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
          const t4 = this.at++
          r1 = this.node1(259 /* ident */, t4, t4 + 1, ~t4)
        }
      }
    }
    return this.node1(187 /* operand */, start, this.at, r1)
  }

  private wordExpr(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 49 /* fn */: {
          r1 = this.fnExpr()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 50 /* if */: {
          r1 = this.ifExpr()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 51 /* match */: {
          r1 = this.matchExpr()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 52 /* parallel */: {
          r1 = this.parallelExpr()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 53 /* retry */: {
          r1 = this.retryExpr()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 54 /* try */: {
          r1 = this.tryExpr()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 55 /* spawn */: {
          r1 = this.spawnExpr()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.deadlineExpr()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(188 /* wordExpr */, start, this.at, r1)
  }

  private postfixOp(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 111 /* [ */:
        case 112 /* ? */: {
          const n3 = this.bracketOp()
          if (n3 === FAILED) return FAILED
          r1 = n3
          break choice2
        }
        default: {
          r1 = this.accessOp()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(189 /* postfixOp */, start, this.at, r1)
  }

  private bracketOp(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 112 /* ? */: {
          const here = this.at
          next3: {
            r1 = this.optIndexOp()
            if (r1 === FAILED) break next3
            break choice2
          }
          this.at = here
          r1 = this.propagateOp()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          const here = this.at
          next4: {
            r1 = this.indexOp()
            if (r1 === FAILED) break next4
            break choice2
          }
          this.at = here
          next5: {
            r1 = this.sliceOp()
            if (r1 === FAILED) break next5
            break choice2
          }
          this.at = here
          r1 = this.sliceToOp()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(190 /* bracketOp */, start, this.at, r1)
  }

  private accessOp(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      const here = this.at
      next3: {
        r1 = this.methodOp()
        if (r1 === FAILED) break next3
        break choice2
      }
      this.at = here
      r1 = this.memberOp()
      if (r1 === FAILED) return FAILED
    }
    return this.node1(191 /* accessOp */, start, this.at, r1)
  }

  private call(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.callee()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here3 = this.at
      option4: {
        const n5 = this.typeArgs()
        if (n5 === FAILED) { this.at = here3; break option4 }
        o2 = this.node1(262 /* _iter */, 0, 0, n5)
      }
    }
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t6 = this.at++
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    const base9 = this.waiting
    loop11: for (;;) {
      if (SET_10[kinds[this.at]!] !== 1) break
      const here10 = this.at
      const n12 = this.arg()
      if (n12 === FAILED) { this.at = here10; break loop11 }
      this.stack[this.waiting++] = n12
    }
    const c13 = this.column(base9, 0, 1)
    this.waiting = base9
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t14 = this.at++
    return this.node6(192 /* call */, start, this.at, n1, o2, ~t6, o7, c13, ~t14)
  }

  private callee(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 99 /* ( */: {
          r1 = this.parenCallee()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
          const t3 = this.at++
          r1 = this.node1(259 /* ident */, t3, t3 + 1, ~t3)
        }
      }
    }
    return this.node1(193 /* callee */, start, this.at, r1)
  }

  private parenCallee(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const n4 = this.callee()
    if (n4 === FAILED) return FAILED
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t7 = this.at++
    return this.node5(194 /* parenCallee */, start, this.at, ~t1, o2, n4, o5, ~t7)
  }

  private arg(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 73 /* <argument> */: {
          r1 = this.namedArg()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 108 /* ... */: {
          r1 = this.spread()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.expr()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    let o5 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    return this.node4(195 /* arg */, start, this.at, r1, o3, o5, o7)
  }

  private namedArg(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 73 /* <argument> */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    const n5 = this.expr()
    if (n5 === FAILED) return FAILED
    return this.node4(196 /* namedArg */, start, this.at, ~t1, ~t2, o3, n5)
  }

  private spread(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 108 /* ... */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    return this.node2(197 /* spread */, start, this.at, ~t1, n2)
  }

  private methodOp(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 110 /* . */)) return FAILED }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    const n6 = this.propertyName()
    if (n6 === FAILED) return FAILED
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t7 = this.at++
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    const base10 = this.waiting
    loop12: for (;;) {
      if (SET_10[kinds[this.at]!] !== 1) break
      const here11 = this.at
      const n13 = this.arg()
      if (n13 === FAILED) { this.at = here11; break loop12 }
      this.stack[this.waiting++] = n13
    }
    const c14 = this.column(base10, 0, 1)
    this.waiting = base10
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t15 = this.at++
    return this.node8(198 /* methodOp */, start, this.at, o1, ~t3, o4, n6, ~t7, o8, c14, ~t15)
  }

  private memberOp(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 110 /* . */)) return FAILED }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    const n6 = this.propertyName()
    if (n6 === FAILED) return FAILED
    if (kinds[this.at]! === 99 /* ( */) return FAILED
    return this.node4(199 /* memberOp */, start, this.at, o1, ~t3, o4, n6)
  }

  private propertyName(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.memberName()
    if (n1 === FAILED) return FAILED
    return this.node1(200 /* propertyName */, start, this.at, n1)
  }

  private indexOp(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t5 = this.at++
    return this.node4(201 /* indexOp */, start, this.at, ~t1, n2, o3, ~t5)
  }

  private sliceOp(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t3 = this.at++
    let o4 = EMPTY
    if (SET_11[kinds[this.at]!] === 1) {
      const here5 = this.at
      option6: {
        const n7 = this.expr()
        if (n7 === FAILED) { this.at = here5; break option6 }
        o4 = this.node1(262 /* _iter */, 0, 0, n7)
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t10 = this.at++
    return this.node6(202 /* sliceOp */, start, this.at, ~t1, n2, ~t3, o4, o8, ~t10)
  }

  private sliceToOp(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t2 = this.at++
    let o3 = EMPTY
    if (SET_11[kinds[this.at]!] === 1) {
      const here4 = this.at
      option5: {
        const n6 = this.expr()
        if (n6 === FAILED) { this.at = here4; break option5 }
        o3 = this.node1(262 /* _iter */, 0, 0, n6)
      }
    }
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t9 = this.at++
    return this.node5(203 /* sliceToOp */, start, this.at, ~t1, ~t2, o3, o7, ~t9)
  }

  private optIndexOp(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 112 /* ? */) return FAILED
    const here1 = this.at
    let found2 = false
    look3: {
      const n4 = this.optIndexStart()
      if (n4 === FAILED) break look3
      found2 = true
    }
    this.at = here1
    if (!found2) return FAILED
    const t5 = this.at++
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t6 = this.at++
    const n7 = this.expr()
    if (n7 === FAILED) return FAILED
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t10 = this.at++
    return this.node5(204 /* optIndexOp */, start, this.at, ~t5, ~t6, n7, o8, ~t10)
  }

  private optIndexStart(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 112 /* ? */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t2 = this.at++
    return this.node2(205 /* optIndexStart */, start, this.at, ~t1, ~t2)
  }

  private propagateOp(): number {
    const kinds = this.kinds
    const start = this.at
    const here1 = this.at
    let found2 = false
    look3: {
      const n4 = this.ternaryMark()
      if (n4 === FAILED) break look3
      found2 = true
    }
    this.at = here1
    if (found2) return FAILED
    if (kinds[this.at]! !== 112 /* ? */) return FAILED
    const t5 = this.at++
    return this.node1(206 /* propagateOp */, start, this.at, ~t5)
  }

  private ternaryMark(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 112 /* ? */) return FAILED
    const t1 = this.at++
    const n2 = this.ternaryStart()
    if (n2 === FAILED) return FAILED
    return this.node2(207 /* ternaryMark */, start, this.at, ~t1, n2)
  }

  private ternaryStart(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 49 /* fn */: {
          const t3 = this.at++
          r1 = ~t3
          break choice2
        }
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */: {
          const t4 = this.at++
          r1 = ~t4
          break choice2
        }
        case 70 /* <interpolated> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t5 = this.at++
          r1 = ~t5
          break choice2
        }
        case 74 /* ! */:
        case 75 /* - */: {
          const t6 = this.at++
          r1 = ~t6
          break choice2
        }
        case 96 /* { */:
        case 97 /* {-> */: {
          const t7 = this.at++
          r1 = ~t7
          break choice2
        }
        case 99 /* ( */: {
          const t8 = this.at++
          r1 = ~t8
          break choice2
        }
        case 111 /* [ */: {
          const t9 = this.at++
          r1 = ~t9
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
          const t10 = this.at++
          r1 = this.node1(259 /* ident */, t10, t10 + 1, ~t10)
        }
      }
    }
    return this.node1(208 /* ternaryStart */, start, this.at, r1)
  }

  private identifier(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    if (kinds[this.at]! === 99 /* ( */) return FAILED
    return this.node1(209 /* identifier */, start, this.at, this.node1(259 /* ident */, t1, t1 + 1, ~t1))
  }

  private paren(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t5 = this.at++
    return this.node4(211 /* paren */, start, this.at, ~t1, n2, o3, ~t5)
  }

  private list(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const base4 = this.waiting
    loop6: for (;;) {
      if (SET_10[kinds[this.at]!] !== 1) break
      const here5 = this.at
      const n7 = this.arg()
      if (n7 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n7
    }
    const c8 = this.column(base4, 0, 1)
    this.waiting = base4
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t9 = this.at++
    return this.node4(212 /* list */, start, this.at, ~t1, o2, c8, ~t9)
  }

  private dict(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 96 /* { */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    const base4 = this.waiting
    loop6: for (;;) {
      if (SET_12[kinds[this.at]!] !== 1) break
      const here5 = this.at
      const n7 = this.dictItem()
      if (n7 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n7
    }
    const c8 = this.column(base4, 0, 1)
    this.waiting = base4
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t9 = this.at++
    return this.node4(213 /* dict */, start, this.at, ~t1, o2, c8, ~t9)
  }

  private structLiteral(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 1 /* <Ident> */) return FAILED
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const here2 = this.at
    let found3 = false
    look4: {
      const n5 = this.structStart()
      if (n5 === FAILED) break look4
      found3 = true
    }
    this.at = here2
    if (!found3) return FAILED
    const t6 = this.at++
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    const base9 = this.waiting
    loop11: for (;;) {
      if (SET_12[kinds[this.at]!] !== 1) break
      const here10 = this.at
      const n12 = this.dictItem()
      if (n12 === FAILED) { this.at = here10; break loop11 }
      this.stack[this.waiting++] = n12
    }
    const c13 = this.column(base9, 0, 1)
    this.waiting = base9
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t14 = this.at++
    return this.node5(214 /* structLiteral */, start, this.at, ~t1, ~t6, o7, c13, ~t14)
  }

  private structStart(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t1 = this.at++
    const n2 = this.structPeek()
    if (n2 === FAILED) return FAILED
    return this.node2(215 /* structStart */, start, this.at, ~t1, n2)
  }

  private structPeek(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 98 /* } */: {
          r1 = this.structEmpty()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 113 /* \n */: {
          const here = this.at
          next3: {
            r1 = this.structEmpty()
            if (r1 === FAILED) break next3
            break choice2
          }
          this.at = here
          r1 = this.structKey()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.structKey()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(216 /* structPeek */, start, this.at, r1)
  }

  private structEmpty(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t3 = this.at++
    return this.node2(217 /* structEmpty */, start, this.at, o1, ~t3)
  }

  private structKey(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    const n3 = this.structKeyName()
    if (n3 === FAILED) return FAILED
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = this.node1(262 /* _iter */, 0, 0, ~t5)
    }
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t6 = this.at++
    return this.node4(218 /* structKey */, start, this.at, o1, n3, o4, ~t6)
  }

  private structKeyName(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = this.node1(261 /* string */, t3, t3 + 1, ~t3)
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
          const t4 = this.at++
          r1 = this.node1(259 /* ident */, t4, t4 + 1, ~t4)
        }
      }
    }
    return this.node1(219 /* structKeyName */, start, this.at, r1)
  }

  private dictItem(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 70 /* <interpolated> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          r1 = this.stringEntry()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 108 /* ... */: {
          r1 = this.spread()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 111 /* [ */: {
          r1 = this.computedEntry()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.namedEntry()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    let o5 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    return this.node4(220 /* dictItem */, start, this.at, r1, o3, o5, o7)
  }

  private namedEntry(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.dictKey()
    if (n1 === FAILED) return FAILED
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === FAILED) return FAILED
    return this.node4(221 /* namedEntry */, start, this.at, n1, o2, ~t4, n5)
  }

  private dictKey(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.memberName()
    if (n1 === FAILED) return FAILED
    return this.node1(222 /* dictKey */, start, this.at, n1)
  }

  private stringEntry(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 70 /* <interpolated> */ || kind > 72 /* <triple> */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === FAILED) return FAILED
    return this.node4(223 /* stringEntry */, start, this.at, ~t1, o2, ~t4, n5)
  }

  private computedEntry(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 101 /* ] */) return FAILED
    const t5 = this.at++
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t8 = this.at++
    const n9 = this.expr()
    if (n9 === FAILED) return FAILED
    return this.node7(224 /* computedEntry */, start, this.at, ~t1, n2, o3, ~t5, o6, ~t8, n9)
  }

  private closure(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 97 /* {-> */) return FAILED
    const t1 = this.at++
    const n2 = this.params()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    if (kinds[this.at]! !== 107 /* -> */) return FAILED
    const t5 = this.at++
    const n6 = this.body()
    if (n6 === FAILED) return FAILED
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
    }
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t9 = this.at++
    return this.node7(225 /* closure */, start, this.at, ~t1, n2, o3, ~t5, n6, o7, ~t9)
  }

  private fnExpr(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 49 /* fn */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t4 = this.at++
    const n5 = this.params()
    if (n5 === FAILED) return FAILED
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t8 = this.at++
    const n9 = this.block()
    if (n9 === FAILED) return FAILED
    return this.node7(226 /* fnExpr */, start, this.at, ~t1, o2, ~t4, n5, o6, ~t8, n9)
  }

  private ifExpr(): number {
    const start = this.at
    if (this.ifExprAt === start) {
      const last = this.ifExprNode
      if (last !== FAILED) this.at = this.tape[last + 2]!
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('ifExpr' + start)
      if (known !== undefined) {
        if (known !== FAILED) this.at = this.tape[known + 2]!
        return known
      }
    }
    const node = this.ifExprAnew()
    if (this.memory !== null) this.memory.set('ifExpr' + start, node)
    this.ifExprAt = start
    this.ifExprNode = node
    return node
  }

  private ifExprAnew(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 50 /* if */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    const n3 = this.block()
    if (n3 === FAILED) return FAILED
    const base4 = this.waiting
    loop6: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 57 /* else */ && kind !== 113 /* \n */) break
      const here5 = this.at
      const n7 = this.elseIf()
      if (n7 === FAILED) { this.at = here5; break loop6 }
      this.stack[this.waiting++] = n7
    }
    const c8 = this.column(base4, 0, 1)
    this.waiting = base4
    let o9 = EMPTY
    const kind10 = kinds[this.at]!
    if (kind10 === 57 /* else */ || kind10 === 113 /* \n */) {
      const here11 = this.at
      option12: {
        const n13 = this.ifEnd()
        if (n13 === FAILED) { this.at = here11; break option12 }
        o9 = this.node1(262 /* _iter */, 0, 0, n13)
      }
    }
    return this.node5(227 /* ifExpr */, start, this.at, ~t1, n2, n3, c8, o9)
  }

  private ifEnd(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 113 /* \n */: {
          const here = this.at
          next3: {
            r1 = this.otherwise()
            if (r1 === FAILED) break next3
            break choice2
          }
          this.at = here
          r1 = this.skippedBreak()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.otherwise()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(228 /* ifEnd */, start, this.at, r1)
  }

  private elseIf(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    if (kinds[this.at]! !== 57 /* else */) return FAILED
    const t3 = this.at++
    if (kinds[this.at]! !== 50 /* if */) return FAILED
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === FAILED) return FAILED
    const n6 = this.block()
    if (n6 === FAILED) return FAILED
    return this.node5(229 /* elseIf */, start, this.at, o1, ~t3, ~t4, n5, n6)
  }

  private otherwise(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    if (kinds[this.at]! !== 57 /* else */) return FAILED
    const t3 = this.at++
    const n4 = this.block()
    if (n4 === FAILED) return FAILED
    return this.node3(230 /* otherwise */, start, this.at, o1, ~t3, n4)
  }

  private skippedBreak(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 113 /* \n */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! !== 104 /* ; */) return FAILED
    return this.node1(231 /* skippedBreak */, start, this.at, ~t1)
  }

  private matchExpr(): number {
    const start = this.at
    if (this.matchExprAt === start) {
      const last = this.matchExprNode
      if (last !== FAILED) this.at = this.tape[last + 2]!
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('matchExpr' + start)
      if (known !== undefined) {
        if (known !== FAILED) this.at = this.tape[known + 2]!
        return known
      }
    }
    const node = this.matchExprAnew()
    if (this.memory !== null) this.memory.set('matchExpr' + start, node)
    this.matchExprAt = start
    this.matchExprNode = node
    return node
  }

  private matchExprAnew(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 51 /* match */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = this.node1(262 /* _iter */, 0, 0, ~t4)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t5 = this.at++
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    const base8 = this.waiting
    loop10: for (;;) {
      if (SET_11[kinds[this.at]!] !== 1) break
      const here9 = this.at
      const n11 = this.matchArm()
      if (n11 === FAILED) { this.at = here9; break loop10 }
      this.stack[this.waiting++] = n11
    }
    const c12 = this.column(base8, 0, 1)
    this.waiting = base8
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t13 = this.at++
    return this.node7(232 /* matchExpr */, start, this.at, ~t1, n2, o3, ~t5, o6, c12, ~t13)
  }

  private matchArm(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.expr()
    if (n1 === FAILED) return FAILED
    const base2 = this.waiting
    loop4: for (;;) {
      if (kinds[this.at]! !== 105 /* | */) break
      const here3 = this.at
      const n5 = this.orPattern()
      if (n5 === FAILED) { this.at = here3; break loop4 }
      this.stack[this.waiting++] = n5
    }
    const c6 = this.column(base2, 0, 1)
    this.waiting = base2
    let o7 = EMPTY
    if (kinds[this.at]! === 50 /* if */) {
      const here8 = this.at
      option9: {
        const n10 = this.matchGuard()
        if (n10 === FAILED) { this.at = here8; break option9 }
        o7 = this.node1(262 /* _iter */, 0, 0, n10)
      }
    }
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = this.node1(262 /* _iter */, 0, 0, ~t12)
    }
    if (kinds[this.at]! !== 107 /* -> */) return FAILED
    const t13 = this.at++
    const n14 = this.block()
    if (n14 === FAILED) return FAILED
    let o15 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t16 = this.at++
      o15 = this.node1(262 /* _iter */, 0, 0, ~t16)
    }
    return this.node7(233 /* matchArm */, start, this.at, n1, c6, o7, o11, ~t13, n14, o15)
  }

  private orPattern(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 105 /* | */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    return this.node2(234 /* orPattern */, start, this.at, ~t1, n2)
  }

  private matchGuard(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 50 /* if */) return FAILED
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === FAILED) return FAILED
    return this.node2(235 /* matchGuard */, start, this.at, ~t1, n2)
  }

  private tryExpr(): number {
    const start = this.at
    if (this.tryExprAt === start) {
      const last = this.tryExprNode
      if (last !== FAILED) this.at = this.tape[last + 2]!
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('tryExpr' + start)
      if (known !== undefined) {
        if (known !== FAILED) this.at = this.tape[known + 2]!
        return known
      }
    }
    const node = this.tryExprAnew()
    if (this.memory !== null) this.memory.set('tryExpr' + start, node)
    this.tryExprAt = start
    this.tryExprNode = node
    return node
  }

  private tryExprAnew(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      const here = this.at
      next3: {
        r1 = this.tryStar()
        if (r1 === FAILED) break next3
        break choice2
      }
      this.at = here
      r1 = this.tryBlock()
      if (r1 === FAILED) return FAILED
    }
    return this.node1(236 /* tryExpr */, start, this.at, r1)
  }

  private tryStar(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 54 /* try */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! !== 86 /* * */) return FAILED
    const t2 = this.at++
    const n3 = this.unary()
    if (n3 === FAILED) return FAILED
    return this.node3(237 /* tryStar */, start, this.at, ~t1, ~t2, n3)
  }

  private tryBlock(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 54 /* try */) return FAILED
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === FAILED) return FAILED
    let o3 = EMPTY
    const kind4 = kinds[this.at]!
    if (kind4 === 56 /* catch */ || kind4 === 113 /* \n */) {
      const here5 = this.at
      option6: {
        const n7 = this.catch()
        if (n7 === FAILED) { this.at = here5; break option6 }
        o3 = this.node1(262 /* _iter */, 0, 0, n7)
      }
    }
    let o8 = EMPTY
    const kind9 = kinds[this.at]!
    if (kind9 === 20 /* finally */ || kind9 === 113 /* \n */) {
      const here10 = this.at
      option11: {
        const n12 = this.tryEnd()
        if (n12 === FAILED) { this.at = here10; break option11 }
        o8 = this.node1(262 /* _iter */, 0, 0, n12)
      }
    }
    return this.node4(238 /* tryBlock */, start, this.at, ~t1, n2, o3, o8)
  }

  private tryEnd(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 113 /* \n */: {
          const here = this.at
          next3: {
            r1 = this.finally()
            if (r1 === FAILED) break next3
            break choice2
          }
          this.at = here
          r1 = this.skippedBreak()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.finally()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(239 /* tryEnd */, start, this.at, r1)
  }

  private catch(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    if (kinds[this.at]! !== 56 /* catch */) return FAILED
    const t3 = this.at++
    let o4 = EMPTY
    const kind5 = kinds[this.at]!
    if ((kind5 >= 0 /* <ident> */ && kind5 <= 15 /* gen */) || kind5 === 99 /* ( */) {
      const here6 = this.at
      option7: {
        const n8 = this.catchVariable()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o4 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    const n9 = this.block()
    if (n9 === FAILED) return FAILED
    return this.node4(240 /* catch */, start, this.at, o1, ~t3, o4, n9)
  }

  private catchVariable(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 99 /* ( */: {
          r1 = this.caughtTyped()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
          const t3 = this.at++
          r1 = this.node1(259 /* ident */, t3, t3 + 1, ~t3)
        }
      }
    }
    return this.node1(241 /* catchVariable */, start, this.at, r1)
  }

  private caughtTyped(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeAnnotation()
        if (n8 === FAILED) { this.at = here6; break option7 }
        o5 = this.node1(262 /* _iter */, 0, 0, n8)
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = this.node1(262 /* _iter */, 0, 0, ~t10)
    }
    if (kinds[this.at]! !== 100 /* ) */) return FAILED
    const t11 = this.at++
    return this.node6(242 /* caughtTyped */, start, this.at, ~t1, o2, this.node1(243 /* caughtName */, t4, t4 + 1, this.node1(259 /* ident */, t4, t4 + 1, ~t4)), o5, o9, ~t11)
  }

  private finally(): number {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = this.node1(262 /* _iter */, 0, 0, ~t2)
    }
    if (kinds[this.at]! !== 20 /* finally */) return FAILED
    const t3 = this.at++
    const n4 = this.block()
    if (n4 === FAILED) return FAILED
    return this.node3(244 /* finally */, start, this.at, o1, ~t3, n4)
  }

  private retryExpr(): number {
    const start = this.at
    if (this.retryExprAt === start) {
      const last = this.retryExprNode
      if (last !== FAILED) this.at = this.tape[last + 2]!
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('retryExpr' + start)
      if (known !== undefined) {
        if (known !== FAILED) this.at = this.tape[known + 2]!
        return known
      }
    }
    const node = this.retryExprAnew()
    if (this.memory !== null) this.memory.set('retryExpr' + start, node)
    this.retryExprAt = start
    this.retryExprNode = node
    return node
  }

  private retryExprAnew(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 53 /* retry */) return FAILED
    const t1 = this.at++
    const n2 = this.operand()
    if (n2 === FAILED) return FAILED
    const n3 = this.block()
    if (n3 === FAILED) return FAILED
    return this.node3(245 /* retryExpr */, start, this.at, ~t1, n2, n3)
  }

  private deadlineExpr(): number {
    const start = this.at
    if (this.deadlineExprAt === start) {
      const last = this.deadlineExprNode
      if (last !== FAILED) this.at = this.tape[last + 2]!
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('deadlineExpr' + start)
      if (known !== undefined) {
        if (known !== FAILED) this.at = this.tape[known + 2]!
        return known
      }
    }
    const node = this.deadlineExprAnew()
    if (this.memory !== null) this.memory.set('deadlineExpr' + start, node)
    this.deadlineExprAt = start
    this.deadlineExprNode = node
    return node
  }

  private deadlineExprAnew(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 48 /* deadline */) return FAILED
    const t1 = this.at++
    const n2 = this.operand()
    if (n2 === FAILED) return FAILED
    const n3 = this.block()
    if (n3 === FAILED) return FAILED
    return this.node3(246 /* deadlineExpr */, start, this.at, ~t1, n2, n3)
  }

  private spawnExpr(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 55 /* spawn */) return FAILED
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === FAILED) return FAILED
    return this.node2(247 /* spawnExpr */, start, this.at, ~t1, n2)
  }

  private parallelExpr(): number {
    const start = this.at
    if (this.parallelExprAt === start) {
      const last = this.parallelExprNode
      if (last !== FAILED) this.at = this.tape[last + 2]!
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('parallelExpr' + start)
      if (known !== undefined) {
        if (known !== FAILED) this.at = this.tape[known + 2]!
        return known
      }
    }
    const node = this.parallelExprAnew()
    if (this.memory !== null) this.memory.set('parallelExpr' + start, node)
    this.parallelExprAt = start
    this.parallelExprNode = node
    return node
  }

  private parallelExprAnew(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 52 /* parallel */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    const kind3 = kinds[this.at]!
    if ((kind3 >= 2 /* each */ && kind3 <= 3 /* settle */)) {
      const here4 = this.at
      option5: {
        const t6 = this.at++
        o2 = this.node1(262 /* _iter */, 0, 0, this.node1(249 /* parallelMode */, t6, t6 + 1, ~t6))
      }
    }
    const n7 = this.expr()
    if (n7 === FAILED) return FAILED
    let o8 = EMPTY
    if (kinds[this.at]! === 4 /* with */) {
      const here9 = this.at
      option10: {
        const n11 = this.parallelLimit()
        if (n11 === FAILED) { this.at = here9; break option10 }
        o8 = this.node1(262 /* _iter */, 0, 0, n11)
      }
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = this.node1(262 /* _iter */, 0, 0, ~t13)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t14 = this.at++
    let o15 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t16 = this.at++
      o15 = this.node1(262 /* _iter */, 0, 0, ~t16)
    }
    let o17 = EMPTY
    const kind18 = kinds[this.at]!
    if ((kind18 >= 0 /* <ident> */ && kind18 <= 15 /* gen */)) {
      const here19 = this.at
      option20: {
        const n21 = this.parallelVar()
        if (n21 === FAILED) { this.at = here19; break option20 }
        o17 = this.node1(262 /* _iter */, 0, 0, n21)
      }
    }
    const n22 = this.body()
    if (n22 === FAILED) return FAILED
    let o23 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t24 = this.at++
      o23 = this.node1(262 /* _iter */, 0, 0, ~t24)
    }
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t25 = this.at++
    let o26 = EMPTY
    if (kinds[this.at]! === 6 /* as */) {
      const here27 = this.at
      option28: {
        const n29 = this.asStream()
        if (n29 === FAILED) { this.at = here27; break option28 }
        o26 = this.node1(262 /* _iter */, 0, 0, n29)
      }
    }
    return this.node12(248 /* parallelExpr */, start, this.at, ~t1, o2, n7, o8, o12, ~t14, o15, o17, n22, o23, ~t25, o26)
  }

  private parallelLimit(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 4 /* with */) return FAILED
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return FAILED }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = this.node1(262 /* _iter */, 0, 0, ~t6)
    }
    const base7 = this.waiting
    loop9: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
      const here8 = this.at
      const n10 = this.limitEntry()
      if (n10 === FAILED) { this.at = here8; break loop9 }
      this.stack[this.waiting++] = n10
    }
    const c11 = this.column(base7, 0, 1)
    this.waiting = base7
    if (kinds[this.at]! !== 98 /* } */) return FAILED
    const t12 = this.at++
    return this.node6(250 /* parallelLimit */, start, this.at, ~t1, o2, ~t4, o5, c11, ~t12)
  }

  private limitEntry(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = this.node1(262 /* _iter */, 0, 0, ~t3)
    }
    if (kinds[this.at]! !== 103 /* : */) return FAILED
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === FAILED) return FAILED
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = this.node1(262 /* _iter */, 0, 0, ~t7)
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = this.node1(262 /* _iter */, 0, 0, ~t9)
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = this.node1(262 /* _iter */, 0, 0, ~t11)
    }
    return this.node7(251 /* limitEntry */, start, this.at, this.node1(252 /* limitName */, t1, t1 + 1, this.node1(259 /* ident */, t1, t1 + 1, ~t1)), o2, ~t4, n5, o6, o8, o10)
  }

  private parallelVar(): number {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return FAILED }
    const t1 = this.at++
    if (kinds[this.at]! !== 107 /* -> */) return FAILED
    const t2 = this.at++
    return this.node2(253 /* parallelVar */, start, this.at, this.node1(259 /* ident */, t1, t1 + 1, ~t1), ~t2)
  }

  private asStream(): number {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 6 /* as */) return FAILED
    const t1 = this.at++
    if (kinds[this.at]! !== 7 /* stream */) return FAILED
    const t2 = this.at++
    return this.node2(254 /* asStream */, start, this.at, ~t1, ~t2)
  }

  private interpolation(): number {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.expr()
    if (n1 === FAILED) return FAILED
    const here2 = this.at
    let found3 = false
    look4: {
      const n5 = this.goesOn()
      if (n5 === FAILED) break look4
      found3 = true
    }
    this.at = here2
    if (found3) return FAILED
    const base6 = this.waiting
    loop8: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 113 /* \n */)) break
      const here7 = this.at
      const t9 = this.at++
      this.stack[this.waiting++] = this.node1(258 /* anyToken */, t9, t9 + 1, ~t9)
    }
    const c10 = this.column(base6, 0, 1)
    this.waiting = base6
    return this.node2(255 /* interpolation */, start, this.at, n1, c10)
  }

  private goesOn(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 62 /* to */: {
          const t3 = this.at++
          r1 = ~t3
          break choice2
        }
        case 106 /* |> */:
        case 109 /* ?. */:
        case 110 /* . */: {
          r1 = this.goesOnBroken()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        case 111 /* [ */: {
          const t4 = this.at++
          r1 = ~t4
          break choice2
        }
        case 112 /* ? */: {
          const t5 = this.at++
          r1 = ~t5
          break choice2
        }
        case 113 /* \n */: {
          const here = this.at
          next6: {
            r1 = this.binaryOp()
            if (r1 === FAILED) break next6
            break choice2
          }
          this.at = here
          r1 = this.goesOnBroken()
          if (r1 === FAILED) return FAILED
          break choice2
        }
        default: {
          r1 = this.binaryOp()
          if (r1 === FAILED) return FAILED
        }
      }
    }
    return this.node1(256 /* goesOn */, start, this.at, r1)
  }

  private goesOnBroken(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    let r2 = EMPTY
    choice3: {
      switch (kinds[this.at]!) {
        case 106 /* |> */: {
          let o4 = EMPTY
          const t5 = this.at++
          r1 = o4
          r2 = ~t5
          break choice3
        }
        case 113 /* \n */: {
          const here = this.at
          next6: {
            let o7 = EMPTY
            {
              const t8 = this.at++
              o7 = this.node1(262 /* _iter */, 0, 0, ~t8)
            }
            { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 110 /* . */)) break next6 }
            const t9 = this.at++
            r1 = o7
            r2 = ~t9
            break choice3
          }
          this.at = here
          let o10 = EMPTY
          if (kinds[this.at]! === 113 /* \n */) {
            const t11 = this.at++
            o10 = this.node1(262 /* _iter */, 0, 0, ~t11)
          }
          if (kinds[this.at]! !== 106 /* |> */) return FAILED
          const t12 = this.at++
          r1 = o10
          r2 = ~t12
          break choice3
        }
        default: {
          let o13 = EMPTY
          if (kinds[this.at]! === 113 /* \n */) {
            const t14 = this.at++
            o13 = this.node1(262 /* _iter */, 0, 0, ~t14)
          }
          { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 110 /* . */)) return FAILED }
          const t15 = this.at++
          r1 = o13
          r2 = ~t15
        }
      }
    }
    return this.node2(257 /* goesOnBroken */, start, this.at, r1, r2)
  }

  private memberName(): number {
    const kinds = this.kinds
    const start = this.at
    let r1 = EMPTY
    choice2: {
      switch (kinds[this.at]!) {
        case 0 /* <ident> */:
        case 1 /* <Ident> */:
        case 2 /* each */:
        case 3 /* settle */:
        case 4 /* with */:
        case 5 /* max_concurrent */:
        case 6 /* as */:
        case 7 /* stream */:
        case 8 /* timeout */:
        case 9 /* default */:
        case 10 /* description */:
        case 11 /* summarize */:
        case 12 /* not */:
        case 13 /* where */:
        case 14 /* out */:
        case 15 /* gen */: {
          const t3 = this.at++
          r1 = this.node1(259 /* ident */, t3, t3 + 1, ~t3)
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 25 /* break */ || kind > 65 /* nil */)) return FAILED }
          const t4 = this.at++
          r1 = ~t4
        }
      }
    }
    return this.node1(260 /* memberName */, start, this.at, r1)
  }
}
