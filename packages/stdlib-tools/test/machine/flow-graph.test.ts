// Which slots are live where, against the definition: followed path by path, an instruction at a time. The graph computes it by blocks
// and in sets of bits.

import { describe, expect, test } from 'vitest'
import { getGraph } from '../../../vm/src/compiled/graph.js'
import { mayFault, listReads, listSuccessors, findWrite } from '../../../vm/src/compiled/operands.js'
import { LINKED } from '../../../vm/src/interpreter/linked.js'
import { link, run } from './support.js'
import type { Instr } from '../../../vm/src/interpreter/linked.js'
import type { FunctionCode } from '../../../vm/src/interpreter/module.js'

const SCRIPTS: Readonly<Record<string, string>> = {
  'branches and a loop':
    'fn f(a, b) { var s = 0\n for i in a to b { if i % 2 == 0 { s = s + i } else { let t = i * 2\n s = s + t } }\n return s }',
  'a loop in a loop, left from inside':
    'fn f(xs) { for x in xs { while true { if x > 3 { break }\n if x == 2 { return x }\n continue }\n let y = x }\n return nil }',
  'handlers in handlers':
    'fn f(x) { var n = 1\n try { n = 2\n try { n = g(x) } catch (e) { n = 3\n g(e) } finally { n = n + 1 }\n g(n) } catch (e) { return n }\n return n }\nfn g(x) { return x }',
  'an operand that only the handler needs': 'fn f(x) { return x * 2 + (try { f(x)\n return 1 } catch (e) { 3 }) }',
  'operands below a handler': 'fn f(x) { return [x * 2, try { f(x) } catch (e) { e }, x + (try { f(1) } catch (e) { 3 })] }',
  'a generator': 'gen fn f(n) { var i = 0\n while i < n { emit i\n i = i + 1 }\n let z = i\n emit z }',
  'more slots than a word has bits': `fn f(x) {\n${Array.from({ length: 70 }, (_, at) => `let v${at} = x + ${at}`).join('\n')}\nif x > 3 { return v69 + v2 }\nreturn v35 + v1 }`,
  'scopes that take a slot over':
    'fn f(x) { if x { let a = 1\n f(a) } else { let b = 2\n f(b) }\n if x { let c = 3\n return c }\n let d = 4\n return f(d) }',
  'code that no path reaches': 'fn f(x) { return x\n let y = 2\n try { f(y) } catch (e) { f(e) }\n return y }',
  propagation: 'fn f(x) { let a = x?\n let b = f(a)?\n return Ok(a) }',
}

/** Instructions that control reaches, handlers of code that is reached among them. */
function listReached(code: FunctionCode): Set<Instr> {
  const found = new Set<Instr>([code.entry])
  for (const { target } of code.chunk.handlers) {
    const first = code.findBlockAt(target)
    if (first !== undefined) found.add(first)
  }
  for (const i of found) for (const each of listSuccessors(i) ?? [i.next]) found.add(each)
  return found
}

function computeDefinition(code: FunctionCode): Map<Instr, { readonly before: number[]; readonly waiting: number[] }> {
  const { chunk, frameSize } = code
  const instrs = [...listReached(code)]
  const isJump = (i: Instr): boolean => i.op === LINKED.NEXT || i.op === LINKED.PROPAGATE
  const onTheWay = (i: Instr, way: number): number => (!isJump(i) ? -1 : way === 0 ? i.a : i.op === LINKED.NEXT ? i.d : -1)
  const findHandler = (i: Instr): { readonly first: Instr; readonly slot: number } | null => {
    const handler = chunk.handlers.find(({ start, end }) => i.pc >= start && i.pc < end)
    return handler === undefined ? null : { first: code.findBlockAt(handler.target)!, slot: chunk.slots + handler.depth }
  }
  // Whether a fault in the straight run of code around `i` may take it to its handler.
  const findCaught = (i: Instr): ReturnType<typeof findHandler> => {
    const handler = findHandler(i)
    const block = getGraph(code)!
      .listBlocks()
      .find((each) => each.instrs.includes(i))!
    return handler !== null && block.instrs.some(mayFault) ? handler : null
  }
  const surely = new Map<Instr, Set<number>>([[code.entry, new Set(Array.from({ length: code.paramCount }, (_, at) => at))]])
  const meet = (to: Instr, slots: Set<number>): boolean => {
    const known = surely.get(to)
    const both = known === undefined ? slots : new Set([...known].filter((slot) => slots.has(slot)))
    surely.set(to, both)
    return known === undefined || both.size < known.size
  }
  for (let changed = true; changed;) {
    changed = false
    for (const i of instrs) {
      const here = surely.get(i)
      if (here === undefined) continue
      const handler = findHandler(i)
      if (handler !== null && mayFault(i)) changed = meet(handler.first, new Set([...here, handler.slot])) || changed
      for (const [way, to] of (listSuccessors(i) ?? [i.next]).entries()) {
        const written = isJump(i) ? onTheWay(i, way) : findWrite(i)
        changed = meet(to, new Set(written < 0 ? here : [...here, written])) || changed
      }
    }
  }
  const live = new Map<Instr, Set<number>>(instrs.map((i) => [i, new Set()]))
  const waiting = new Map<Instr, Set<number>>()
  for (let changed = true; changed;) {
    changed = false
    for (const i of instrs) {
      const kept = new Set<number>()
      for (const { slot, start, end } of chunk.locals) if (i.pc >= start && i.pc < end && surely.get(i)?.has(slot)) kept.add(slot)
      const handler = findCaught(i)
      if (handler !== null) for (const slot of live.get(handler.first)!) if (slot !== handler.slot) kept.add(slot)
      const after = new Set<number>()
      for (const [way, to] of (listSuccessors(i) ?? [i.next]).entries())
        for (const slot of live.get(to)!) if (slot !== onTheWay(i, way)) after.add(slot)
      waiting.set(i, new Set([...after].filter((slot) => slot !== findWrite(i)).concat([...kept])))
      if (!isJump(i)) after.delete(findWrite(i))
      const before = new Set([...after, ...kept, ...listReads(i)])
      if (before.size > live.get(i)!.size) changed = true
      live.set(i, before)
    }
  }
  const sortSlots = (slots: Set<number>): number[] =>
    [...slots].filter((slot) => slot >= 0 && slot < frameSize).sort((a, b) => a - b)
  return new Map(instrs.map((i) => [i, { before: sortSlots(live.get(i)!), waiting: sortSlots(waiting.get(i)!) }]))
}

describe('live slots', () => {
  test.each(Object.entries(SCRIPTS))('%s', (_, text) => {
    for (const code of link(text).main.functions) {
      const graph = getGraph(code)!
      for (const [i, { before, waiting }] of computeDefinition(code)) {
        const seen = { pc: i.pc, op: i.op, before: graph.listLiveBefore(i), waiting: graph.listLiveWhileWaiting(i) }
        expect(seen).toEqual({ pc: i.pc, op: i.op, before, waiting })
      }
    }
  })

  test('a function that is too large for the time of a slice has no graph', () => {
    const code = link(`fn f(x) {\n${'x == 1\n'.repeat(6000)}}`).main.functions[1]!
    expect(getGraph(code)).toBeNull()
  })
})

describe('loops of large functions', () => {
  const makeStatements = (count: number): string => 'if x == 1 { x = 2 }\n'.repeat(count)

  test('are compiled, whatever stands around them', () => {
    const before = run(
      link(`var x = 0\n${makeStatements(600)}for i in 1 to 5000 { x = x + i }\n${makeStatements(600)}println(x)`),
    )
    expect(before.machine.tier!.entered).toBe(1)
    const around = run(link(`var x = 0\nwhile x < 3 {\nfor i in 1 to 5000 { x = x + i }\n${makeStatements(600)}}\nprintln(x)`))
    expect(around.machine.tier!.entered).toBe(1)
  })
})
