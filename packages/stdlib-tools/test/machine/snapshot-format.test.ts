// The bytes of a machine: small, whole or refused, and the same run in every process that resumes them.

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { link, registry } from './support.js'
import { Fault } from '../../../vm/src/interpreter/fault.js'
import { Coroutine, NativeActivation, Task } from '../../../vm/src/scheduler/task.js'
import { HarnClosure } from '../../../vm/src/values/callable.js'
import { HarnFloat } from '../../../vm/src/values/scalars.js'
import { Machine } from '../../../vm/src/vm.js'
import { CLASSES } from '../../../vm/src/snapshot/classes.js'
import { readDocument, writeDocument } from '../../../vm/src/snapshot/document.js'
import { ENVELOPE_BYTES, seal } from '../../../vm/src/snapshot/envelope.js'
import { SnapshotError } from '../../../vm/src/snapshot/error.js'
import { SNAPSHOT_VERSION } from '../../../vm/src/snapshot/snapshot.js'
import { TAG } from '../../../vm/src/snapshot/tags.js'
import type { LinkedProgram } from '../../../vm/src/interpreter/module.js'
import type { RunExit } from '../../../vm/src/interpreter/exit.js'

const hashHex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const options = { hashHex }

/** A machine that runs until it waits. */
function runToWait(program: LinkedProgram): Machine {
  const machine = new Machine(program, options)
  let exit = machine.start(null, 0)
  while (exit.kind === 'yielded') exit = machine.resume(null, 0)
  expect(exit.kind).toBe('suspended')
  return machine
}

function resumeToOutput(machine: Machine, now = 60_000): string {
  let output = ''
  let exit: RunExit
  do {
    exit = machine.resume(null, now)
    output += exit.output
  } while (exit.kind === 'yielded' || (exit.kind === 'suspended' && exit.wakeAt !== null))
  return exit.kind === 'failed' ? `${output}! ${exit.fault.text}` : output
}

function readReason(bytes: Uint8Array, program: LinkedProgram): string {
  try {
    Machine.restore(bytes, program, options)
    return 'restored'
  } catch (error) {
    return error instanceof SnapshotError ? error.reason : String(error)
  }
}

test('what every kind of value was, it is again', () => {
  const program = link(`
    struct P { x: int, y: any }
    enum Shape { Circle(int), Dot }
    impl P { fn sum(self) { return self.x + 1 } }
    fn counted(n) { var i = 0
      while i < n { yield i
        i = i + 1 } }
    let f = { a -> a + 1 }
    var xs = [1, 2.5, "é😀", nil, true, -3, 9223372036854775807, 9007199254740991, -9007199254740991, 5s, 1 to 4]
    xs[0] = xs
    let g = counted(3)
    let first = g.next()
    let it = [10, 20, 30].iter()
    let ten = it.next()
    let ch = channel("c", 3)
    send(ch, "kept")
    let s = set([1, 2])
    let d = {a: {b: {c: [1]}}, "__proto__": 1, "": 2}
    let a = atomic(4)
    let both = [d, d]
    let b = bytes_from_string("hi")
    sleep(5)
    println(xs)
    println(g.next())
    println(it.next())
    println(receive(ch))
    println(s)
    println(d)
    println(atomic_add(a, 1))
    println(both)
    println(b)
    println(f(1))
    println(P({x: 1, y: Shape.Circle(2)}).sum())
    println([Shape.Dot, Shape.Circle(1)])
    println(try { throw {deep: 1} })
  `)
  const machine = runToWait(program)
  const bytes = machine.snapshot()
  const whole = resumeToOutput(machine)
  expect(whole.split('\n').length).toBeGreaterThan(12)
  expect(whole).not.toContain('!')
  for (let fork = 0; fork < 2; fork++) {
    const restored = Machine.restore(bytes, program, options)
    // What is restored is written as the same bytes again.
    expect(restored.snapshot()).toEqual(bytes)
    expect(resumeToOutput(restored)).toBe(whole)
  }
})

test('bytes are small: a script that waits, ten calls deep', () => {
  const source = 'fn down(n) {\n  if n == 0 { return sleep(7) }\n  let r = down(n - 1)\n  return r\n}\n'
  const program = link(`${source}let name = "ada"\nlet items = [1, 2, 3]\ndown(8)\nprintln(name)`)
  expect(runToWait(program).snapshot().length).toBeLessThan(300)
})

test('records take few bytes each', () => {
  const program = link(
    'var xs = []\nfor i in 0 to 1000 exclusive { xs = xs.push({id: i, name: "record ${i}", done: false}) }\nsleep(5)\nprintln(len(xs))',
  )
  expect(runToWait(program).snapshot().length).toBeLessThan(25_000)
})

test('depth is no limit: a list of 200,000 lists inside each other', () => {
  const program = link('var x = nil\nfor i in 1 to 200000 { x = [x] }\nsleep(5)\nprintln(len(x))')
  const machine = runToWait(program)
  expect(resumeToOutput(Machine.restore(machine.snapshot(), program, options))).toBe('1\n')
})

test('texts with half a surrogate pair come back', () => {
  const data = ['\ud800', 'ab', '\udc00x', 'é', '']
  expect(readDocument(writeDocument(data, 1), 1)).toEqual(data)
})

test('documents hold what JSON cannot', () => {
  const shared = { n: 1 }
  const data = [
    2n ** 63n - 1n,
    -(2n ** 63n),
    -0,
    Number.NaN,
    Infinity,
    2 ** 53,
    0.1,
    new Uint8Array([1, 2]),
    undefined,
    shared,
    shared,
  ]
  const back = readDocument(writeDocument(data, 1), 1) as unknown[]
  expect(back).toEqual(data)
  expect(back[9]).toBe(back[10])
  expect(readDocument(writeDocument(new HarnFloat(1), 1), 1)).toEqual(new HarnFloat(1))
})

test('a document with a key that means something to JavaScript changes nothing else', () => {
  const data = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}') as object
  const back = readDocument(writeDocument(data, 1), 1) as object
  expect(Object.hasOwn(back, '__proto__')).toBe(true)
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
})

test('a change of code is refused by name, a change of comments is not', () => {
  const text = 'let xs = [1, 2]\nsleep(5)\nprintln(xs)'
  const program = link(text)
  const bytes = runToWait(program).snapshot()
  expect(readReason(bytes, program)).toBe('restored')
  expect(readReason(bytes, link(`// a comment\n\n${text.replaceAll('xs', 'items')}`))).toBe('restored')
  const other = link(text.replace('2]', '3]'))
  expect(readReason(bytes, other)).toBe('program')
  expect(() => Machine.restore(bytes, other, options)).toThrow('module main.harn has changed since the snapshot was taken')
})

test('what is no snapshot, or of another version, is refused as that', () => {
  const program = link('sleep(5)')
  const bytes = runToWait(program).snapshot()
  expect(readReason(new Uint8Array(0), program)).toBe('format')
  expect(readReason(new TextEncoder().encode('{"format":"bridle-snapshot","version":1}\n{}'), program)).toBe('format')
  const newer = bytes.slice()
  seal(newer, 'machine', SNAPSHOT_VERSION + 1)
  expect(readReason(newer, program)).toBe('version')
  expect(readReason(writeDocument([], SNAPSHOT_VERSION), program)).toBe('format')
  expect(readReason(bytes.subarray(0, ENVELOPE_BYTES - 1), program)).toBe('damaged')
})

test('each single bit and each length is guarded', () => {
  const program = link('let xs = [1, 2.5, "text"]\nspawn { sleep(9) }\nsleep(5)\nprintln(xs)')
  const bytes = runToWait(program).snapshot()
  for (let at = 0; at < bytes.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const changed = bytes.slice()
      changed[at] = changed[at]! ^ (1 << bit)
      expect(readReason(changed, program)).toMatch(/^(damaged|format|version)$/)
    }
    expect(readReason(bytes.subarray(0, at), program)).toMatch(/^(damaged|format)$/)
  }
  expect(readReason(Uint8Array.from([...bytes, 0]), program)).toBe('damaged')
})

test('under a seal that fits, made-up contents are read without harm or refused', () => {
  const program = link('let xs = [1, 2.5, {a: "text"}]\nlet t = spawn { sleep(9) }\nsleep(5)\nprintln(xs)')
  const bytes = runToWait(program).snapshot()
  const reasons = new Set<string>()
  for (let at = ENVELOPE_BYTES; at < bytes.length; at++) {
    for (const value of [0, 1, 2, 10, 11, 16, 24, 30, 32, 46, 64, 96, 127, 128, 255]) {
      const changed = bytes.slice()
      changed[at] = value
      seal(changed, 'machine', SNAPSHOT_VERSION)
      reasons.add(readReason(changed, program))
    }
  }
  for (const reason of reasons) expect(reason).toMatch(/^(restored|damaged|program|registry)$/)
})

test('a document never becomes code', () => {
  const bytes = writeDocument({ a: [1] }, 1)
  const graphAt = bytes.length - 1
  for (const tag of [TAG.CLOSURE, TAG.NATIVE, TAG.TASK]) {
    const changed = bytes.slice()
    changed[graphAt] = tag
    seal(changed, 'run', 1)
    expect(() => readDocument(changed, 1)).toThrow(SnapshotError)
  }
})

test('a machine that has not begun has no snapshot', () => {
  expect(() => new Machine(link('1'), options).snapshot()).toThrow('has not begun')
})

// A field that someone adds to a class, and that no row knows, would be lost without a word.
test('rows name every field of their class', () => {
  // A trace is noted as places and becomes entries when it is asked for.
  const behind: Readonly<Record<string, string>> = { entries: 'trace', places: 'trace' }
  for (const row of CLASSES) {
    const own = [...new Set(Object.keys(row.make()).map((name) => (row.type === Fault ? (behind[name] ?? name) : name)))]
    expect([row.type.name, ...[...row.names].sort()]).toEqual([row.type.name, ...own.sort()])
  }
  const closure = new HarnClosure(link('1').main.functions[0]!, [])
  // What a measurement of the heap marks means nothing afterwards.
  expect(Object.keys(closure).sort()).toEqual(['captures', 'code', 'mark'])
  expect(Object.keys(new Coroutine(null)).sort()).toEqual(
    [
      'base',
      'bases',
      'fp',
      'frames',
      'generator',
      'instr',
      'limit',
      'outerRuns',
      'paused',
      'regs',
      'resumer',
      'returns',
      'run',
    ].sort(),
  )
  const frame = [...registry.frames.values()][0]!
  expect(Object.keys(new NativeActivation(frame, {}, 0)).sort()).toEqual(['def', 'savedLimit', 'state', 'timedOut'])
  expect(new Set(CLASSES.map((row) => row.tag)).size).toBe(CLASSES.length)
  expect([Task, Fault].every((type) => CLASSES.some((row) => row.type === type))).toBe(true)
})
