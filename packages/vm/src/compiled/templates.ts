// The JavaScript of each linked operation. KEEP WITH: loop.ts, slow.ts and rare.ts, which define its meaning; fuel and heap are
// charged at the same points and in the same order. The source is made only from slot numbers, small ints and JSON.
//
// A template may not write a slot before the last point at which it can leave: the base tier would do it again.

import { HELD, isKind, LINKED, OPERATION_BY_CODE, unreachable } from '../interpreter/linked.js'
import { HarnFloat } from '../values/scalars.js'
import { Refusal } from './region.js'
import { call, callMethod, writeBuiltin, writePipe, writeSelfCall, writeTailCall } from './calls.js'
import { isDirect } from './direct.js'
import { readField, readProperty, writeOwn, writeOwnField, writeOwnItem, writeProperty } from './fields.js'
import { writeBeforeLong, writeBeforeSlow } from './fuel-points.js'
import { ANY, COUNTER, FLOAT, LIST, LIST_ITER, RANGE, RANGE_ITER, TEXT } from './entry-types.js'
import {
  guessesBounds,
  guessesInts,
  guessesList,
  guessesMixed,
  isIdentity,
  inferItemType,
  inferResultType,
  SAW_FLOATS,
} from './types.js'
import type { BuiltinDef } from '../builtins/builtin.js'
import type { Instr, LinkedOp, OpWith } from '../interpreter/linked.js'
import type { ParameterCheck } from '../interpreter/param-check.js'
import type { Block } from './graph.js'
import type { InstrWriter, ViewNames } from './instr-writer.js'

const L = LINKED

export function leavesCode(i: Instr): boolean {
  if (!OPERATION_BY_CODE[i.op]!.template) return true
  return (i.op === L.BUILTIN1 || i.op === L.BUILTIN2 || i.op === L.BUILTIN_N) && !isDirect(i.k as BuiltinDef)
}

const TEST_TEXT: Readonly<Record<number, string>> = {
  [L.LT]: '<',
  [L.LE]: '<=',
  [L.GT]: '>',
  [L.GE]: '>=',
  [L.EQ]: '===',
  [L.NE]: '!==',
}
const SLOW_TEST: Readonly<Record<number, (x: string, y: string) => string>> = {
  [L.LT]: (x, y) => `order(${x},${y})<0`,
  [L.LE]: (x, y) => `order(${x},${y})<=0`,
  [L.GT]: (x, y) => `order(${x},${y})>0`,
  [L.GE]: (x, y) => `order(${x},${y})>=0`,
  [L.EQ]: (x, y) => `equals(${x},${y})`,
  [L.NE]: (x, y) => `!equals(${x},${y})`,
}
// A comparison with a NaN holds where the opposite does not (equality.ts: incomparable values compare as equal).
const FLOAT_TEST: Readonly<Record<number, (x: string, y: string) => string>> = {
  [L.LT]: (x, y) => `${x}<${y}`,
  [L.LE]: (x, y) => `!(${x}>${y})`,
  [L.GT]: (x, y) => `${x}>${y}`,
  [L.GE]: (x, y) => `!(${x}<${y})`,
  [L.EQ]: (x, y) => `${x}===${y}`,
  [L.NE]: (x, y) => `${x}!==${y}`,
}

const SYMBOL: Readonly<Record<number, string>> = {
  [L.ADD]: '+',
  [L.ADD_OWNED]: '+',
  [L.ADDK]: '+',
  [L.SUB]: '-',
  [L.SUBK]: '-',
  [L.MUL]: '*',
  [L.MULK]: '*',
  [L.DIV]: '/',
}
const SLOW: Readonly<Record<number, string>> = {
  [L.ADD]: 'add',
  [L.ADD_OWNED]: 'addOwned',
  [L.ADDK]: 'add',
  [L.SUB]: 'subtract',
  [L.SUBK]: 'subtract',
  [L.MUL]: 'multiply',
  [L.MULK]: 'multiply',
  [L.DIV]: 'divide',
  [L.MOD]: 'modulo',
  [L.MODK]: 'modulo',
  [L.POW]: 'power',
}

function hasTemplate<Op extends LinkedOp>(op: Op): op is Exclude<Op, OpWith<'template', false>> {
  return OPERATION_BY_CODE[op]!.template
}

export function writeInstr(w: InstrWriter, i: Instr, block: Block): string {
  const { op } = i
  const set = (text: string): string => `${w.any(i.a)}=${text};`
  const b = (): string => w.value(i.b)
  const c = (): string => w.value(i.c)
  /** `text` is an expression for a value or a fault. */
  const setOrFault = (text: string): string => `t=${text};if(t instanceof Fault){${w.writeFault(i, block, 't')}}${w.any(i.a)}=t;`
  if (guessesInts(i, w.types, w.guesses)) return writeInts(w, i)
  if (guessesList(i, w.types, w.guesses)) return op === L.GET_INDEX ? readList(w, i) : writeList(w, i, block)
  if (isKind(op, 'arithmetic') || isKind(op, 'arithmetic int')) return writeArithmetic(w, i, block)
  const compared = OPERATION_BY_CODE[op]!.test
  if (isKind(op, 'order') || isKind(op, 'equality'))
    return writeBeforeTest(w, i) + set(test(w, op, i.b, w.value(i.c), w.readType(i.c), i.c))
  if (isKind(op, 'order int') || isKind(op, 'equality int')) return set(testInt(w, compared, i.b, i.c))
  if (isKind(op, 'order jump') || isKind(op, 'equality jump'))
    return writeBeforeTest(w, i) + writeBranch(w, block, test(w, compared, i.b, w.value(i.c), w.readType(i.c), i.c))
  if (isKind(op, 'order jump int') || isKind(op, 'equality jump int'))
    return writeBranch(w, block, testInt(w, compared, i.b, i.c))
  if (!hasTemplate(op)) throw new Refusal(`no template for linked operation ${OPERATION_BY_CODE[op]!.name}`)
  switch (op) {
    case L.MOVE:
      return w.readType(i.b) === FLOAT
        ? `${w.raw(i.a)}=${w.raw(i.b)};`
        : w.readType(i.b) === RANGE
          ? w.copyRange(i)
          : set(w.any(i.b))
    case L.SHARE:
      if (w.readType(i.b) === FLOAT) return `${w.raw(i.a)}=${w.raw(i.b)};`
      if (w.readType(i.b) === RANGE) return w.copyRange(i)
      if (w.isNumber(i.b) || isIdentity(w.readType(i.b))) return set(w.any(i.b))
      return `${w.any(i.a)}=${w.any(i.b)};if(typeof ${w.any(i.a)}==="object"){share(${w.any(i.a)});${w.lookForOwners()}}`
    case L.LOADK:
      return loadConstant(w, i)
    case L.LOAD_DATA:
      return set(`fromPlain(JSON.parse(${w.constant(i.k)}))`)
    case L.LOAD_CAPTURE:
      return set(w.capture(i.b))
    case L.LOAD_MODULE:
      return set(`m.moduleSlots(${w.self}.code.module)[${i.b}]`)
    case L.LOAD_MODULE_SHARED:
      return set(`share(m.moduleSlots(${w.self}.code.module)[${i.b}])`)
    case L.STORE_MODULE:
      return `m.moduleSlots(c.code.module)[${i.c}]=${b()};`
    case L.LOAD_EXPORT:
      return set(`m.exportValue(${w.constant(i.k)},${i.c})`)
    case L.LOAD_GLOBAL:
      return `t=globalConstant(m,${w.constant((i.k as { readonly name: string }).name)});if(t===undefined){${w.exit(i)}}${set('t')}`
    case L.SELF:
      return set('c')
    case L.NEW_CELL:
      return set('new Cell(null)')
    case L.SET_CELL:
      return `if(${w.any(i.c)} instanceof Cell)${w.any(i.c)}.value=${b()};`
    case L.CELL_CALLABLE:
      return set(`${w.any(i.b)}.value`)
    case L.CELL_VARIABLE:
      return `t=${w.any(i.b)}.value;if(!(t instanceof Closure)){${w.exit(i)}}${set('t')}`

    case L.MOD:
      return `${writeModulo(w, i, w.any(i.b), w.value(i.c), w.readType(i.b) !== FLOAT && w.readType(i.c) !== FLOAT, true)}${writeSlowModulo(w, i, block, w.value(i.c))}`
    case L.MODK:
      if (w.isNumber(i.b) && i.c !== 0) return set(writeRemainder(w.any(i.b), String(i.c), i.c > 0))
      return `${writeModulo(w, i, w.any(i.b), String(i.c), w.readType(i.b) !== FLOAT && i.c !== 0, false)}${writeSlowModulo(w, i, block, String(i.c))}`
    case L.POW:
      return setOrFault(`power(${b()},${c()})`)
    case L.NEG:
      if (w.readType(i.b) === FLOAT) return `${w.raw(i.a)}=-${w.raw(i.b)};`
      if (i.kind === SAW_FLOATS && w.readType(i.b) === ANY)
        return `if(${isNoFloat(w.any(i.b), 'g')}){${w.guard(i)}}${w.raw(i.a)}=-g;`
      return `if(typeof ${w.any(i.b)}==="number")${set(`0-${w.any(i.b)}`)}else{${setOrFault(`negate(${w.any(i.b)})`)}}`
    case L.NOT:
      return set(`!${writeTruth(w, i.b)}`)
    case L.IN:
      return writeBeforeLong(w, i) + set(`contains(${b()},${c()})`)
    case L.NOT_IN:
      return writeBeforeLong(w, i) + set(`!contains(${b()},${c()})`)

    case L.JUMP:
      return ''
    case L.LOOP:
      return w.writeTurn(i, block)
    case L.JF:
      return writeBranch(w, block, writeTruth(w, i.b))
    case L.JT:
      return `if(${writeTruth(w, i.b)}){${w.go(block, block.successors[1]!)}}${w.go(block, block.successors[0]!)}`
    case L.JNN:
      return `if(${b()}!==null){${w.go(block, block.successors[1]!)}}${w.go(block, block.successors[0]!)}`
    case L.JPASSED:
      return `if(${b()}!==undefined){${w.go(block, block.successors[1]!)}}${w.go(block, block.successors[0]!)}`
    case L.JEND:
      if (block.isEnd) return w.go(block, block.successors[1]!)
      return `if(${b()}===END){${w.go(block, block.successors[1]!)}}${w.go(block, block.successors[0]!)}`
    case L.CHECK_PARAM:
      return checkParam(w, i, block)

    case L.BUILD_LIST:
      return `m.chargeHeap(${16 + 16 * i.c});${set(`new List([${run(w, i.b, i.c)}])`)}`
    case L.LIST_PUSH:
      return `t=${w.any(i.b)};t.items.push(${c()});t.length=t.items.length;m.chargeHeap(16);${set('t')}`
    case L.LIST_EXTEND:
      return `${writeBeforeLong(w, i)}t=listExtend(m,${w.any(i.b)},${c()});if(t!==null){${w.writeFault(i, block, 't')}}${set(w.any(i.b))}`
    case L.BUILD_DICT: {
      const pairs: string[] = []
      for (let at = i.b; at < i.b + i.c; at += 2) pairs.push(`t.set(key(${w.value(at)}),${w.value(at + 1)});`)
      return `${writeBeforeLong(w, i)}t=new Dict();${pairs.join('')}m.chargeHeap(${16 + 16 * i.c});${set('t')}`
    }
    case L.BUILD_RECORD:
    case L.BUILD_STRUCT_RECORD:
      return record(w, i)
    case L.DICT_PUT:
      return `${i.k === true ? '' : writeBeforeSlow(w, i, `isShownAsKey(${c()})`)}t=${w.any(i.b)};${i.k === true ? `t.set(${c()},` : `t.put(key(${c()}),`}${w.value(i.d)});m.chargeHeap(32);${set('t')}`
    case L.DICT_EXTEND:
      return `${writeBeforeLong(w, i)}t=dictExtend(m,${w.any(i.b)},${c()});if(t!==null){${w.writeFault(i, block, 't')}}${set(w.any(i.b))}`
    case L.BUILD_STRUCT:
      return `m.chargeHeap(64);${set(`struct(c,${w.constant(i.k)},${b()})`)}`
    case L.BUILD_ENUM: {
      const name = i.k as { readonly enumName: string; readonly variant: string }
      return `m.chargeHeap(${16 + 16 * i.c});${set(`new Enum(${w.constant(name.enumName)},${w.constant(name.variant)},[${run(w, i.b, i.c)}])`)}`
    }
    case L.BUILD_ENUM_LIST: {
      const name = i.k as { readonly enumName: string; readonly variant: string }
      return set(`new Enum(${w.constant(name.enumName)},${w.constant(name.variant)},${w.any(i.b)}.copyItems())`)
    }
    case L.BUILD_RANGE:
      return buildRange(w, i)
    case L.TEXT:
      return writeText(w, i)
    case L.CLOSURE:
      return `m.chargeHeap(${16 + 16 * i.c});${set(`new Closure(${w.constant(i.k)},[${run(w, i.b, i.c)}])`)}`

    case L.GET_PROP:
    case L.GET_PROP_OPT:
      return readProperty(w, i, block)
    case L.GET_INDEX:
    case L.GET_INDEX_OPT: {
      const index = c()
      const release = i.d === 1 ? 'share(t);' : ''
      const slow = `${writeBeforeSlow(w, i, `isLongAccess(${b()},${index})`)}t=getIndex(${b()},${index},${op === L.GET_INDEX_OPT});if(t instanceof Fault){${w.writeFault(i, block, 't')}}${release}`
      if (w.readType(i.b) === FLOAT || w.readType(i.c) === FLOAT) return `${slow}${set('t')}`
      const x = w.any(i.b)
      return (
        `if(${x} instanceof List&&${w.isNumber(i.c) ? '' : `typeof ${index}==="number"&&`}${index}>=0){t=${index}<${x}.length?${x}.at(${index}):null;${i.d === 1 ? `if(${x}.nest!==null)share(t);` : ''}}` +
        `else if(typeof ${x}==="string"&&typeof ${index}==="number"){${writeBeforeSlow(w, i, `${x}.length>511`)}t=readCharacterAt(${x},${index})}` +
        `else if(${x} instanceof Dict&&typeof ${index}==="string"){t=${x}.get(${index});if(t===undefined)t=null;${i.d === 1 ? `else if(${x}.nest!==null)share(t);` : ''}}else{${slow}}${set('t')}`
      )
    }
    case L.SLICE:
      return `${writeBeforeLong(w, i)}m.chargeCopy(${b()});${setOrFault(`slice(${b()},${i.c < 0 ? 'null' : c()},${i.d < 0 ? 'null' : w.value(i.d)})`)}`
    case L.SET_PROP:
      return writeProperty(w, i, block)
    case L.SET_INDEX: {
      const index = w.value(i.d)
      const isHeld = i.k === HELD
      const change = isHeld
        ? `chargeHeldUpdate(m,${b()});t=setHeldIndex(${b()},${index},${c()})`
        : `m.chargeUpdate(${b()});t=setIndex(${b()},${index},${c()},${i.k === true})`
      const slow = `${writeBeforeSlow(w, i, `isLongUpdate(${b()},${index})`)}${change};if(t instanceof Fault){${w.writeFault(i, block, 't')}}${set('t')}`
      if (i.k === false || w.readType(i.b) === FLOAT || w.readType(i.d) === FLOAT) return slow
      const x = w.any(i.b)
      return (
        `if(${x} instanceof List${isHeld ? '' : `&&${x}.owned`}&&typeof ${index}==="number"&&${index}>=0&&${index}<${x}.length){${x}.${isHeld ? 'putHeld' : 'put'}(${index},${c()});${set(x)}}` +
        `else if(${x} instanceof Dict${isHeld ? '' : `&&${x}.owned`}&&typeof ${index}==="string"){${x}.put(${index},${c()});m.chargeHeap(32);${set(x)}}else{${slow}}`
      )
    }
    case L.OWN:
      return writeOwn(w, i)
    case L.HOLD:
      return set(`hold(${b()},${w.constant(i.k)})`)
    case L.OWN_INDEX:
      return writeOwnItem(w, i)
    case L.OWN_PROP:
      return writeOwnField(w, i, block)
    case L.CHECK_DICT:
      return `t=checkDict(${b()});if(t!==null){${w.writeFault(i, block, 't')}}${set(b())}`
    case L.CHECK_LIST:
      return `t=checkList(${b()});if(t!==null){${w.writeFault(i, block, 't')}}${set(b())}`
    case L.FIELD:
      return readField(w, i)
    case L.ITEM:
      return `t=${w.any(i.b)}.at(${i.c});${set('t===undefined?null:t')}`
    case L.LIST_REST:
      return `${writeBeforeLong(w, i)}m.chargeCopy(${w.any(i.b)});` + set(`new List(${w.any(i.b)}.view().slice(${i.c}))`)
    case L.DICT_REST:
      return `${writeBeforeLong(w, i)}m.chargeCopy(${w.any(i.b)});` + set(`withoutKeys(${w.any(i.b)},${w.constant(i.k)})`)
    case L.IS_ENUM: {
      const name = i.k as { readonly enumName: string; readonly variant: string }
      if (w.readType(i.b) > ANY) return set('false')
      // No other value has a variant; instanceof walks a prototype chain.
      return set(`${w.writeVariant(i.b)}===${w.constant(name.variant)}&&${b()}.enumName===${w.constant(name.enumName)}`)
    }
    case L.ENUM_FIELD:
      return `t=${w.any(i.b)}.fields[${i.c}];${set('t===undefined?null:t')}`
    case L.IS_DICT:
      return set(`${b()} instanceof Dict`)
    case L.IS_LIST:
      return `t=${b()};${set(`t instanceof List&&t.length>=${i.c}`)}`

    case L.CALL_SELF:
      return writeSelfCall(w, i, block)
    case L.CALL:
    case L.CALL_NAMED:
      return w.writeInlined(i, block) ?? call(w, i, block)
    case L.PIPE:
      return writePipe(w, i, block)
    case L.TAIL_NAMED:
      return writeTailCall(w, i)
    case L.CALL_METHOD:
      return w.writeInlined(i, block) ?? callMethod(w, i, block)
    case L.BUILTIN1: {
      const { real } = i.k as BuiltinDef
      if (real !== null && w.readType(i.b) === FLOAT) return `${w.raw(i.a)}=${w.constant(real)}(${w.raw(i.b)});`
      return writeBuiltin(w, i, block, [b()])
    }
    case L.BUILTIN2:
      return writeBuiltin(w, i, block, [b(), c()])
    case L.BUILTIN_N:
      return writeBuiltin(
        w,
        i,
        block,
        Array.from({ length: i.c }, (_, at) => w.value(i.b + at)),
      )
    case L.RETURN:
      if (i.c !== 1 || !mayBeContainer(w.readType(i.b))) return w.writeReturn(i.b)
      return `if(!${w.wanted}&&${w.any(i.b)}!==null)share(${w.any(i.b)});${w.writeReturn(i.b)}`

    case L.THROW:
      return (
        (isIdentity(w.readType(i.b)) ? '' : writeBeforeSlow(w, i, `isLong(${b()})`)) +
        w.writeFault(i, block, w.writeCalling(`thrown(${b()})`))
      )
    case L.RETHROW:
      return w.writeFault(i, block, w.any(i.b))
    case L.RAISE: {
      const { kind, message } = i.k as { readonly kind: string; readonly message: string }
      return w.writeFault(i, block, `new Fault(${JSON.stringify(kind)},${w.constant(message)})`)
    }
    case L.CATCH_VALUE:
      return set(`${w.any(i.b)}.caught`)
    case L.CATCH_IS:
      return set(`catches(${w.any(i.b)},${w.constant(i.k)})`)
    case L.RESULT_OK:
      return `t=${b()};${set('isResult(t)?t:ok(t)')}`
    case L.PROPAGATE: {
      const x = b()
      const next = `t=t.fields[0];if(t===undefined)t=null;${w.any(i.a)}=t;${w.go(block, block.successors[0]!, i.a)}`
      return `t=${x};if(!isResult(t)){${w.writeFault(i, block, 'noResult(t)')}}if(t.variant==="Ok"){${next}}${w.go(block, block.successors[1]!)}`
    }
    case L.ITERATE:
      return w.readType(i.b) === RANGE ? w.startCounter(i) : set(`iterate(${b()})`)
    case L.NEXT:
      return writeNext(w, i, block)
    default:
      return unreachable(op)
  }
}

/** Leaves when a slot does not hold an int that is a number. */
function writeIntsGuard(w: InstrWriter, i: Instr, slots: readonly number[]): string {
  const tests = slots.filter((slot) => !w.isNumber(slot)).map((slot) => `typeof ${w.any(slot)}!=="number"`)
  return tests.length === 0 ? '' : `if(${tests.join('||')}){${w.guard(i)}}`
}

/** Leaves when the operands of an access by index are not a list and an int. */
function listGuard(w: InstrWriter, i: Instr, index: number): string {
  const tests = [
    w.readType(i.b) === LIST ? '' : `!(${w.any(i.b)} instanceof List)`,
    w.isNumber(index) ? '' : `typeof ${w.any(index)}!=="number"`,
  ].filter((each) => each !== '')
  return tests.length === 0 ? '' : `if(${tests.join('||')}){${w.guard(i)}}`
}

/** As listGuard, separately: an index within the bounds of a view is in a list. */
function writeViewGuards(w: InstrWriter, i: Instr, index: number): [string, string] {
  const list = w.readType(i.b) === LIST ? '' : `if(!(${w.any(i.b)} instanceof List)){${w.guard(i)}}`
  return [writeIntsGuard(w, i, [index]), list]
}

/** V8 checks an index the same way, as one unsigned comparison, and omits its check when it knows the result. */
function isWithin(at: string, { length }: ViewNames): string {
  return `(${at}|0)===${at}&&${at}>>>0<${length}`
}

function mayBeContainer(type: number): boolean {
  return type === ANY || type === LIST
}

function readList(w: InstrWriter, i: Instr): string {
  const list = w.any(i.b)
  const at = w.any(i.c)
  const condition = i.a === i.b ? '' : `if(${list}.nest!==null)`
  const release = i.d === 1 && !w.readsFloat(i) ? `${condition}share(${w.any(i.a)});` : ''
  return readListItem(w, i, list, at) + release
}

function readListItem(w: InstrWriter, i: Instr, list: string, at: string): string {
  const view = w.getView(i.b, w.readsFloat(i))
  if (view !== null) {
    const [guardAt, guardList] = writeViewGuards(w, i, i.c)
    const test = `${guardAt}if(${isWithin(at, view)})`
    // Usually an assignment follows.
    const toOwn = view.owned === null ? `if(!${list}.owned){${w.exit(i)}}` : ''
    if (!w.readsFloat(i))
      return `${test}${w.any(i.a)}=${view.items}[${at}];else{${guardList}${toOwn}${w.any(i.a)}=listItem(${list},${at})}`
    return `${test}${w.raw(i.a)}=${view.items}[${at}];else{${guardList}${toOwn}t=listItem(${list},${at});if(!(t instanceof F)){${w.guard(i)}}${w.raw(i.a)}=t.v}`
  }
  const guard = listGuard(w, i, i.c)
  if (!w.readsFloat(i))
    return `${guard}${w.any(i.a)}=${at}>=0&&${at}<${list}.length&&${list}.raw===null?${list}.boxed[${at}]:listItem(${list},${at});`
  const f = w.raw(i.a)
  const label = w.makeLabel()
  return (
    `${guard}${label}:{if(${at}>=0&&${at}<${list}.length){if(${list}.raw!==null){${f}=${list}.raw[${at}];break ${label}}` +
    `t=${list}.boxed[${at}];if(t instanceof F){${f}=t.v;break ${label}}}${w.guard(i)}}`
  )
}

function writeList(w: InstrWriter, i: Instr, block: Block): string {
  const list = w.any(i.b)
  const at = w.any(i.d)
  const a = w.any(i.a)
  const isFloat = w.readType(i.c) === FLOAT
  const value = isFloat ? w.raw(i.c) : w.any(i.c)
  if (i.k === HELD) {
    // Always in its own slot: the list was just made owned by its holder.
    const put = isFloat
      ? `putHeldFloat(m,${list},${at},${value})`
      : `if(${list}.raw===null)${list}.boxed[${at}]=${value};else ${list}.putHeld(${at},${value})`
    const slow = w.writeCalling(`putHeldItem(m,${list},${at},${isFloat ? `new F(${value})` : value})`, true)
    return `${listGuard(w, i, i.d)}if(${at}>=0&&${at}<${list}.length){${put}}else{${writeBeforeSlow(w, i, `!${list}.owned`)}t=${slow};if(t instanceof Fault){${w.writeFault(i, block, 't')}}}`
  }
  const inPlace = `${list}.owned&&${at}>=0&&${at}<${list}.length&&${list}.raw`
  const slow = `${writeBeforeSlow(w, i, `!${list}.owned`)}t=${w.writeCalling(`${isFloat ? 'putFloat' : 'putItem'}(m,${list},${at},${value})`, true)};if(t instanceof Fault){${w.writeFault(i, block, 't')}}${a}=t`
  const view = i.a === i.b ? w.getView(i.b, isFloat) : null
  if (view !== null) {
    const [guardAt, guardList] = writeViewGuards(w, i, i.d)
    // If it were made here, the variables would have two definitions at the join, and V8 would check each list again.
    const toOwn = w.code.compiled.leavesToOwn === 'yes' ? `if(!${list}.owned){${w.exit(i)}}` : ''
    return (
      `${guardAt}if(${view.owned === null ? '' : `${view.owned}===true&&`}${isWithin(at, view)})${view.items}[${at}]=${value};` +
      `else{${guardList}${toOwn}${slow};${w.lookAgain(i.b)}}`
    )
  }
  const guard = listGuard(w, i, i.d)
  const move = i.a === i.b ? '' : `${a}=${list}`
  return isFloat
    ? `${guard}if(${inPlace}!==null){${list}.raw[${at}]=${value};${move}}else{${slow}}`
    : `${guard}if(${inPlace}===null){${list}.boxed[${at}]=${value};${move}}else{${slow}}`
}

function writeBranch(w: InstrWriter, block: Block, condition: string): string {
  const [next, target] = block.successors
  return `if(${condition}){${w.go(block, next!)}}${w.go(block, target!)}`
}

function run(w: InstrWriter, from: number, count: number): string {
  return Array.from({ length: count }, (_, at) => w.value(from + at)).join(',')
}

function writeNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : value < 0 ? `(${value})` : String(value)
}

function loadConstant(w: InstrWriter, i: Instr): string {
  const { k } = i
  if (k instanceof HarnFloat) return `${w.raw(i.a)}=${writeNumber(k.v)};`
  const text = typeof k === 'number' ? writeNumber(k) : typeof k === 'boolean' || k === null ? String(k) : w.constant(k)
  return `${w.any(i.a)}=${text};`
}

function writeTruth(w: InstrWriter, slot: number): string {
  if (w.readType(slot) === FLOAT) return `(${w.raw(slot)}!==0)`
  const x = w.any(slot)
  if (w.isBool(slot)) return x
  if (w.isNumber(slot)) return `(${x}!==0)`
  return `(${x}===true||(${x}!==false&&isTruthy(${x})))`
}

// ---- numbers

/** Arithmetic on values that are ints within the exact range, or the guess was wrong. */
function writeInts(w: InstrWriter, i: Instr): string {
  const { op } = i
  const a = w.any(i.a)
  const x = w.any(i.b)
  const tests = w.isNumber(i.b) ? [] : [`typeof ${x}!=="number"`]
  if (op === L.NEG) return `${tests.length === 0 ? '' : `if(${tests[0]!}){${w.guard(i)}}`}${a}=0-${x};`
  const isSlot = op !== L.ADDK && op !== L.SUBK && op !== L.MULK && op !== L.MODK
  const y = isSlot ? w.any(i.c) : writeNumber(i.c)
  if (isSlot && !w.isNumber(i.c) && i.c !== i.b) tests.push(`typeof ${y}!=="number"`)
  const guard = tests.length === 0 ? '' : `if(${tests.join('||')}){${w.guard(i)}}`
  // A division by zero is raised by the base tier.
  const zero = isSlot ? `if(${y}===0){${w.exit(i)}}` : ''
  if (op === L.MOD) return `${guard}${zero}${a}=(${x}|0)===${x}&&(${y}|0)===${y}&&${x}>=0?(${x}|0)%(${y}|0):${x}%${y}+0;`
  if (op === L.MODK) return `${guard}${a}=(${x}|0)===${x}&&${x}>=0?(${x}|0)%${y}:${x}%${y}+0;`
  if (op === L.DIV) return `${guard}${zero}${a}=${writeQuotient(x, y)};`
  const past = 'past(g)'
  return `${guard}g=${x}${SYMBOL[op]!}${y};q=g|0;if(q===g)${a}=q;else{if(${past}){${w.guard(i)}}${a}=g}`
}

/** Statements that leave an operand as a double in `into`; a value that is neither float nor int leaves the code. */
function toDouble(w: InstrWriter, i: Instr, slot: number, into: string): string {
  const x = w.any(slot)
  return `if(typeof ${x}==="number")${into}=${x};else if(${x} instanceof F)${into}=${x}.v;else{${w.exit(i)}}`
}

/**
 * Whether `x` is not a float; if it is one, `into` has its number. No other value has a property of this name, and V8 tests for it with
 * one comparison, where instanceof would walk a prototype chain.
 */
function isNoFloat(x: string, into: string): string {
  return `${x}===null||(${into}=${x}.v)===undefined`
}

/** Whether the operands are numbers, one of which at least is a float: an expression that leaves them in `g` and `h`. */
function writeMixed(w: InstrWriter, i: Instr): string {
  const x = w.any(i.b)
  const y = w.any(i.c)
  const takeFloat = (name: string, into: string): string => `${name}!==null&&(${into}=${name}.v)!==undefined`
  if (w.isNumber(i.b)) return `g=${x},${takeFloat(y, 'h')}`
  if (w.isNumber(i.c)) return `h=${y},${takeFloat(x, 'g')}`
  return (
    `typeof ${x}==="number"?(g=${x},${takeFloat(y, 'h')}):` +
    `${takeFloat(x, 'g')}&&(typeof ${y}==="number"?(h=${y},true):${takeFloat(y, 'h')})`
  )
}

function writeArithmetic(w: InstrWriter, i: Instr, block: Block): string {
  const withInt = i.op === L.ADDK || i.op === L.SUBK || i.op === L.MULK
  const symbol = SYMBOL[i.op]!
  const x = w.readType(i.b)
  const y = withInt ? undefined : w.readType(i.c)
  if (x === FLOAT || y === FLOAT) {
    let before = ''
    let left = x === FLOAT ? w.raw(i.b) : w.isNumber(i.b) ? w.any(i.b) : ''
    if (left === '') {
      before += toDouble(w, i, i.b, 'g')
      left = 'g'
    }
    let right = withInt ? writeNumber(i.c) : y === FLOAT ? w.raw(i.c) : w.isNumber(i.c) ? w.any(i.c) : ''
    if (right === '') {
      before += toDouble(w, i, i.c, 'h')
      right = 'h'
    }
    return `${before}${w.raw(i.a)}=${left}${symbol}${right};`
  }
  const left = w.any(i.b)
  const right = withInt ? writeNumber(i.c) : w.any(i.c)
  if (!withInt && guessesMixed(i, w.types)) return `if(!(${writeMixed(w, i)})){${w.guard(i)}}${w.raw(i.a)}=g${symbol}h;`
  if (i.kind === SAW_FLOATS && w.readType(i.b) === ANY) {
    if (withInt) return `if(${isNoFloat(left, 'g')}){${w.guard(i)}}${w.raw(i.a)}=g${symbol}${right};`
    if (w.readType(i.c) === ANY)
      return `if(${isNoFloat(left, 'g')}||${isNoFloat(right, 'h')}){${w.guard(i)}}${w.raw(i.a)}=g${symbol}h;`
  }
  const a = w.any(i.a)
  const tests = [
    w.isNumber(i.b) ? '' : `typeof ${left}==="number"`,
    withInt || w.isNumber(i.c) ? '' : `typeof ${right}==="number"`,
  ]
  const condition = tests.filter((each) => each !== '').join('&&')
  const charge =
    i.op === L.ADD || i.op === L.ADD_OWNED
      ? `${writeBeforeSlow(w, i, `isLong(${left})`)}m.chargeJoin(${left},${right},${i.op === L.ADD_OWNED});`
      : i.op === L.MUL
        ? `if(typeof ${left}==="string"||typeof ${right}==="string"){${writeBeforeLong(w, i)}m.chargeRepeat(${left},${right});}`
        : i.op === L.MULK
          ? `if(typeof ${left}==="string"){${writeBeforeLong(w, i)}m.chargeRepeat(${left},${right});}`
          : ''
  const writeSlow = (before: string): string =>
    `${before}t=${SLOW[i.op]!}(${left},${right});if(t instanceof Fault){${w.writeFault(i, block, 't')}}${a}=t;`
  if (i.op === L.DIV) {
    const fast = `if(${condition === '' ? '' : `${condition}&&`}${right}!==0)${a}=${writeQuotient(left, right)};`
    return `${fast}else{${writeSlow('')}}`
  }
  // Outside the exact range, the slow function uses bigints and charges nothing, as the base tier does.
  const fast = `g=${left}${symbol}${right};q=g|0;if(q===g)${a}=q;else if(g<=9007199254740991&&g>=-9007199254740991)${a}=g;else{t=${SLOW[i.op]!}(${left},${right});${a}=t}`
  if (condition === '') return fast
  const isJoin = i.op === L.ADD || i.op === L.ADD_OWNED
  // Joining two floats is free (loop.ts), so the charge is for all other operands.
  const charged = isJoin ? `if(!(${left} instanceof F&&${right} instanceof F)){${charge}}` : charge
  return `if(${condition}){${fast}}else{${writeSlow(charged)}}`
}

/** V8 divides as ints if both operands and the result are truncated to 32 bits; only -2^31 / -1 does not fit. */
function writeQuotient(x: string, y: string): string {
  return `(${x}|0)===${x}&&(${y}|0)===${y}&&${y}>0?(${x}|0)/(${y}|0)|0:Math.trunc(${x}/${y})+0`
}

function writeRemainder(x: string, y: string, yIsPositive: boolean): string {
  return yIsPositive ? `(${x}|0)===${x}&&${x}>=0?(${x}|0)%${y}:${x}%${y}+0` : `${x}%${y}+0`
}

function writeModulo(w: InstrWriter, i: Instr, x: string, y: string, isQuick: boolean, isSlot: boolean): string {
  if (!isQuick) return ''
  const tests = [w.isNumber(i.b) ? '' : `typeof ${x}==="number"`]
  if (isSlot) tests.push(w.isNumber(i.c) ? '' : `typeof ${y}==="number"`, `${y}!==0`)
  const condition = tests.filter((each) => each !== '').join('&&')
  const quick = isSlot
    ? `(${x}|0)===${x}&&(${y}|0)===${y}&&${x}>=0?(${x}|0)%(${y}|0):${x}%${y}+0`
    : `(${x}|0)===${x}&&${x}>=0?(${x}|0)%${writeNumber(i.c)}:${x}%${writeNumber(i.c)}+0`
  return `if(${condition})${w.any(i.a)}=${quick};else `
}

function writeSlowModulo(w: InstrWriter, i: Instr, block: Block, y: string): string {
  return `{t=modulo(${w.value(i.b)},${y});if(t instanceof Fault){${w.writeFault(i, block, 't')}}${w.any(i.a)}=t}`
}

function writeBeforeTest(w: InstrWriter, i: Instr): string {
  if (w.readType(i.b) === FLOAT || w.isNumber(i.b) || isIdentity(w.readType(i.b))) return ''
  if (!w.owesFor(i)) return ''
  const x = w.any(i.b)
  return `if(typeof ${x}!=="number"&&${w.fuel}<1&&isLong(${x})){${w.exit(i)}}`
}

/** `y` is an expression for the right operand in general form, of the given type; its slot is for its raw form. */
function test(w: InstrWriter, op: number, slot: number, y: string, yType: number, ySlot: number): string {
  const x = w.readType(slot)
  if (x === FLOAT || yType === FLOAT) {
    const left = x === FLOAT ? w.raw(slot) : w.any(slot)
    const right = yType === FLOAT ? w.raw(ySlot) : w.any(ySlot)
    const leftIsRaw = x === FLOAT || w.isNumber(slot)
    const rightIsRaw = yType === FLOAT || w.isNumber(ySlot)
    if (leftIsRaw && rightIsRaw) return `(${FLOAT_TEST[op]!(left, right)})`
    const other = leftIsRaw ? right : left
    const put = (text: string): string => (leftIsRaw ? FLOAT_TEST[op]!(left, text) : FLOAT_TEST[op]!(text, right))
    return `(typeof ${other}==="number"?${put(other)}:${other} instanceof F?${put(`${other}.v`)}:${SLOW_TEST[op]!(w.value(slot), y)})`
  }
  const left = w.any(slot)
  if ((op === L.EQ || op === L.NE) && (isIdentity(x) || isIdentity(yType))) return writeIdentity(op, left, x, y, yType)
  const tests = [w.isNumber(slot) ? '' : `typeof ${left}==="number"`, w.isNumber(ySlot) ? '' : `typeof ${y}==="number"`]
  const condition = tests.filter((each) => each !== '').join('&&')
  const fast = `${left}${TEST_TEXT[op]!}${y}`
  if (condition === '') return `(${fast})`
  // A string literal: unit order equals code point order if one side has no surrogates or units above them.
  if (yType === TEXT && w.readType(slot) === ANY)
    return `(typeof ${left}==="string"?${fast}:${w.writeCalling(SLOW_TEST[op]!(left, y))})`
  return `(${condition}?${fast}:${w.writeCalling(SLOW_TEST[op]!(left, y))})`
}

/** Tests for strings first: V8 compares known strings by address, or by content where they may be equal. */
function writeIdentity(op: number, x: string, xType: number, y: string, yType: number): string {
  const same = `${x}${TEST_TEXT[op]!}${y}`
  if (xType === yType || (xType !== TEXT && yType !== TEXT)) return `(${same})`
  const other = xType === TEXT ? y : x
  return op === L.EQ ? `(typeof ${other}==="string"&&${same})` : `(typeof ${other}!=="string"||${same})`
}

function testInt(w: InstrWriter, op: number, slot: number, constant: number): string {
  const y = writeNumber(constant)
  if (w.readType(slot) === FLOAT) return `(${FLOAT_TEST[op]!(w.raw(slot), y)})`
  const x = w.any(slot)
  const fast = `${x}${TEST_TEXT[op]!}${y}`
  return w.isNumber(slot) ? `(${fast})` : `(typeof ${x}==="number"?${fast}:${SLOW_TEST[op]!(x, y)})`
}

// ---- texts, checks, iteration

function writeText(w: InstrWriter, i: Instr): string {
  const parts = Array.from({ length: i.c }, (_, at) => {
    const slot = i.b + at
    if (w.readType(slot) === FLOAT) return `display(${w.value(slot)})`
    const x = w.any(slot)
    if (w.readType(slot) === TEXT) return x
    return `(typeof ${x}==="string"?${x}:display(${x}))`
  })
  return `${writeBeforeLong(w, i)}t=${parts.length === 0 ? '""' : parts.length === 1 ? parts[0]! : parts.join('+')};m.chargeText(t.length);${w.any(i.a)}=t;`
}

const QUICK_CHECK: Readonly<Record<string, (x: string) => string>> = {
  int: (x) => `typeof ${x}==="number"||${x} instanceof F||typeof ${x}==="bigint"`,
  float: (x) => `${x} instanceof F||typeof ${x}==="number"||typeof ${x}==="bigint"`,
  string: (x) => `typeof ${x}==="string"`,
  bool: (x) => `typeof ${x}==="boolean"`,
  list: (x) => `${x} instanceof List`,
  dict: (x) => `${x} instanceof Dict||${x} instanceof Struct`,
  nil: (x) => `${x}===null`,
  closure: (x) => `${x} instanceof Closure`,
}

function checkParam(w: InstrWriter, i: Instr, block: Block): string {
  const { check } = i.k as ParameterCheck
  const isNumeric = check.kind === 'prim' && (check.name === 'int' || check.name === 'float')
  if (isNumeric && (w.readType(i.b) === FLOAT || w.isNumber(i.b))) return ''
  const quick = check.kind === 'prim' && w.readType(i.b) !== FLOAT ? QUICK_CHECK[check.name] : undefined
  const slow = `t=${w.writeCalling(`checkParameter(${w.value(i.b)},${w.constant(i.k)})`)};if(t!==null){${w.writeFault(i, block, 't')}}`
  return quick === undefined ? slow : `if(!(${quick(w.any(i.b))})){${slow}}`
}

function writeNext(w: InstrWriter, i: Instr, block: Block): string {
  const [end, item] = block.successors
  const iter = w.any(i.b)
  const goEnd = `${w.any(i.a)}=END;${w.go(block, end!, i.a)}`
  const goItem = w.go(block, item!, i.d, inferItemType(i, w.types))
  const type = w.readType(i.b)
  if (type === COUNTER) {
    const { at, last, shared } = w.counter(i.b)
    return (
      `if(${at}<=${last}){${w.any(i.d)}=${at};g=${at}+1;q=g|0;${at}=q===g?q:wide(g);${goItem}}` +
      `if(${shared}!==null){count(${shared},${at});${shared}.done=true}${goEnd}`
    )
  }
  if (type === RANGE_ITER) {
    return (
      `t=${iter}.state;g=t[1];v=t[0];if(v.exclusive?g<v.end:g<=v.end){t[1]=g+1;${w.any(i.d)}=g;${goItem}}` +
      `${iter}.done=true;${goEnd}`
    )
  }
  if (type === LIST_ITER) {
    return (
      `t=${iter}.state;v=t[0];g=t[1];if(g<v.length){t[1]=g+1;${w.any(i.d)}=v.raw===null?v.boxed[g]:v.at(g);${goItem}}` +
      `${iter}.done=true;${goEnd}`
    )
  }
  // One path to an item and one to the end, for every iterable: `v` is the item, or undefined.
  return (
    `t=${iter}.state;` +
    `if(${iter}.op==="range"&&typeof (g=t[1])==="number"){v=t[0];if(v.exclusive?g<v.end:g<=v.end){t[1]=g+1;v=g}else v=undefined}` +
    `else if(${iter}.op==="list"){v=t[0];g=t[1];if(g<v.length){t[1]=g+1;v=v.items[g]}else v=undefined}` +
    `else if(${iter}.op==="generator"){v=pull(m,${iter});if(v===undefined){${w.exit(i)}}if(v===LEFT){${w.wait(i)}}}` +
    `else{v=nextSimple(${iter});if(v===undefined){${w.exit(i)}}}` +
    // Iterators that are not counted here report their own end.
    `if(v===undefined){${iter}.done=true;v=END}if(v===END){${goEnd}}${w.any(i.d)}=v;${goItem}`
  )
}

function buildRange(w: InstrWriter, i: Instr): string {
  const guard = guessesBounds(i, w.types, w.guesses) ? writeIntsGuard(w, i, [i.b, i.c]) : ''
  const isExclusive = i.d === 1
  if (inferResultType(i, w.types, w.guessed) !== RANGE)
    return `${guard}${w.any(i.a)}=makeRange(${w.value(i.b)},${w.value(i.c)},${isExclusive});`
  return guard + w.setRange(i.a, w.any(i.b), isExclusive ? `${w.any(i.c)}-1` : w.any(i.c), String(isExclusive))
}

/** An array that starts with nil (keyed.ts, makeBlankSlots). */
function record(w: InstrWriter, i: Instr): string {
  const count = i.c / 2
  const values = Array.from({ length: count }, (_, at) => w.value(i.b + 2 * at + 1))
  const slots = count === 0 ? '' : `t=[${['null', ...values.slice(1)].join(',')}];t[0]=${values[0]!};`
  const rest = `null,${w.constant(i.cache)},${count === 0 ? 'NO_SLOTS' : 't'}`
  if (i.op === L.BUILD_RECORD) return `${slots}m.chargeHeap(${16 + 16 * i.c});${w.any(i.a)}=new Dict(${rest});`
  const { name } = i.k as { readonly name: string }
  return `${slots}m.chargeHeap(${80 + 16 * i.c});${w.any(i.a)}=new Struct(${w.constant(name)},c.code.module.key,${rest});`
}
