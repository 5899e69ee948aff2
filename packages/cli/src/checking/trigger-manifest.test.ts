// `bridle check harn.toml`: what the triggers of a manifest refer to, and how findings are reported. The
// scripts under conformance/tests/trigger_manifests show the rules themselves.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { checkAllCommand } from '../commands/check.js'
import { checkManifest } from './trigger-manifest.js'

let folder: string
beforeAll(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-triggers-')))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const LIB = `import "std/triggers"

pub fn on_tick(event) {
  return event.kind
}

pub fn is_urgent(event: TriggerEvent) -> bool {
  return event.kind == "page"
}

pub fn is_known(event: TriggerEvent) -> Result<bool, string> {
  return Ok(true)
}

pub fn takes_any(event) -> bool {
  return true
}

pub fn says_text(event: TriggerEvent) -> string {
  return "yes"
}

fn hidden(event) {
  return event
}

pub struct Verdict {
  ok: bool
}
`

const makeTrigger = (id: string, lines: string): string =>
  `[[triggers]]\nid = "${id}"\nkind = "cron"\nprovider = "cron"\nmatch = {}\nschedule = "* * * * *"\n${lines}\n`

async function listProblems(place: string, ...triggers: readonly string[]): Promise<readonly string[]> {
  const path = write(join(place, 'harn.toml'), ['[package]\nname = "desk"\n', ...triggers].join('\n'))
  const found = await checkManifest(path)
  return found.map(({ diagnostic }) => diagnostic.message.replaceAll(folder, 'DIR').replace(/^.*\): /, ''))
}

test('handlers and predicates of modules', async () => {
  write('a/lib.harn', LIB)
  write('a/more/jobs.harn', 'pub fn run_job(event) {\n  return event\n}\n')
  const references = ['on_tick', 'desk::on_tick', 'more/jobs::run_job', './more/jobs::run_job']
  const fine = references.map((handler, at) => makeTrigger(`t${at}`, `handler = "${handler}"`))
  expect(await listProblems('a', ...fine)).toEqual([])
  const predicates = ['is_urgent', 'is_known', 'takes_any', 'says_text', 'nobody', 'Verdict']
  const judged = predicates.map((when, at) => makeTrigger(`p${at}`, `handler = "on_tick"\nwhen = "${when}"`))
  expect(await listProblems('a', ...judged)).toEqual([
    "when predicate 'takes_any' must have signature fn(TriggerEvent) -> bool",
    "when predicate 'says_text' must have signature fn(TriggerEvent) -> bool or Result<bool, _>",
    "when predicate 'nobody' is not exported by the resolved module",
    "when predicate 'Verdict' must resolve to a function declaration",
  ])
  const wrong = ['hidden', 'nobody', 'desk::nobody', 'nowhere::x'].map((handler, at) =>
    makeTrigger(`w${at}`, `handler = "${handler}"`),
  )
  expect(await listProblems('a', ...wrong)).toEqual([
    "handler 'hidden' is not exported by the resolved module",
    "handler 'nobody' is not exported by the resolved module",
    "handler 'desk::nobody' is not exported by the resolved module",
    "module 'nowhere' could not be resolved from DIR/a",
  ])
})

test('a module that does not parse', async () => {
  write('e/lib.harn', 'pub fn (')
  expect(await listProblems('e', makeTrigger('t', 'handler = "go"'))).toEqual([
    "handler 'go': DIR/e/lib.harn does not parse; `bridle check` of it says why",
  ])
})

test('exports, and modules that are missing', async () => {
  write('b/own.harn', 'pub fn go(event) {\n  return event\n}\n')
  const exports = '[exports]\njobs = "own.harn"\nlost = "lost.harn"\n'
  const path = 'b'
  expect(await listProblems(path, exports, makeTrigger('t', 'handler = "jobs::go"'))).toEqual([])
  expect(
    await listProblems(
      path,
      exports,
      makeTrigger('t', 'handler = "lost::go"'),
      makeTrigger('u', 'handler = "go"'),
      makeTrigger('v', 'handler = "desk::go"'),
    ),
  ).toEqual([
    "export 'lost' resolves to DIR/b/lost.harn, but that path does not exist",
    'no lib.harn found next to manifest in DIR/b',
    "module 'desk' resolves to local lib.harn, but DIR/b/lib.harn is missing",
  ])
})

test('personas declared by the manifest', async () => {
  const personas = '[[personas]]\nname = "ann"\n'
  expect(await listProblems('c', personas, makeTrigger('t', 'handler = "persona://ann"'))).toEqual([])
  expect(await listProblems('c', personas, makeTrigger('t', 'handler = "persona://bob"'))).toEqual([
    'handler persona://bob does not match a declared persona',
  ])
})

test('the command: scripts and manifests together, positions, JSON, exit codes', async () => {
  const script = write('d/lib.harn', 'pub fn on_tick(event) {\n  return event\n}\n')
  const good = write('d/good.toml', makeTrigger('t', 'handler = "on_tick"'))
  const bad = write('d/harn.toml', `${makeTrigger('t', 'handler = "on_tick"')}\n${makeTrigger('u', 'handler = ""')}`)
  const broken = write('d/broken.toml', '[[triggers]\n')
  const text = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((part) => ((text[name] += String(part)), true)),
  )
  try {
    expect(await checkAllCommand([good, script], {})).toBe(0)
    expect(text).toEqual({ stdout: `${good}: ok\n${script}: ok\n`, stderr: '' })
    text.stdout = ''
    expect(await checkAllCommand([bad], {})).toBe(1)
    expect(text.stderr).toContain(`error: ${bad} [[triggers]] table #2 (id = u): handler cannot be empty`)
    expect(text.stderr).toContain(`${bad}:9:1`)
    expect(await checkAllCommand([bad, broken], { json: true })).toBe(1)
    expect(JSON.parse(text.stdout)).toMatchObject([
      { path: bad, code: 'H018', severity: 'error' },
      { path: broken, code: 'H018', severity: 'error' },
    ])
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
})
