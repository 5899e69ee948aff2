// How long it takes to look at a program of 10,000 lines without running it, beside the TypeScript compiler on as many lines that
// say the same. Within a process, warm: the phases by themselves. As processes: what somebody at a prompt waits for; tsc is a
// native program there, and both start from nothing.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkProgram, lintProgram } from '@bridle/compiler'
import { format, parse, SourceFile } from '@bridle/parser'
import { milliseconds, warmTime } from './timing.js'
import type { Figures } from './system.js'

const FUNCTIONS = 1000
const LINES = FUNCTIONS * 10

const HARN = (k: number): string => `/** Step ${k}. */
pub fn step_${k}(input: list<{size: int, name: string}>, limit: int = ${k}) -> dict {
  var total: int = ${k}
  for item in input {
    if item.size > limit && item.name != "skip" { total = total + item.size * 2 } else { total = total - 1 }
  }
  let report = {total: total, label: "step ${k}: \${total}", parts: [1, 2, ${k}]}
  println(report.label)
  return report
}

`

const TYPESCRIPT = (k: number): string => `/** Step ${k}. */
export function step_${k}(input: { size: number; name: string }[], limit = ${k}): { total: number; label: string; parts: number[] } {
  let total: number = ${k}
  for (const item of input) {
    if (item.size > limit && item.name !== "skip") { total = total + item.size * 2 } else { total = total - 1 }
  }
  const report = { total: total, label: \`step ${k}: \${total}\`, parts: [1, 2, ${k}] }
  console.log(report.label)
  return report
}

`

function makeProgram(part: (k: number) => string): string {
  return Array.from({ length: FUNCTIONS }, (_, k) => part(k)).join('')
}

/** `folder` is that of the benchmarks. */
export function checkingTimes(folder: string): Figures {
  const text = makeProgram(HARN)
  const file = new SourceFile('steps.harn', text)
  const { program } = parse(file)
  if (program === null) throw new Error('the generated program does not parse')
  const findings = [...checkProgram(program, { file, imports: () => null }), ...lintProgram(program, { file })]
  if (findings.length > 0) throw new Error(`the generated program is not clean: ${findings[0]!.message}`)
  const parsing = warmTime(() => void parse(file))
  const types = warmTime(() => void checkProgram(program, { file, imports: () => null }))
  const lint = warmTime(() => void lintProgram(program, { file }))
  const layout = warmTime(() => void format(file))
  const [check, tsc] = asProcesses(folder, text)
  return {
    'parse, ms': parsing,
    'types, ms': types,
    'lint, ms': lint,
    'format (with parsing), ms': layout,
    'parse, types and lint, thousand lines a second': LINES / (parsing + types + lint),
    '`bridle check` as a process, ms': check,
    '`tsc --noEmit --strict` as a process, ms': tsc,
    '`bridle check` ÷ `tsc`': check / tsc,
  }
}

function asProcesses(folder: string, text: string): readonly [check: number, tsc: number] {
  const at = mkdtempSync(join(tmpdir(), 'bridle-bench-'))
  try {
    writeFileSync(join(at, 'steps.harn'), text)
    writeFileSync(join(at, 'steps.ts'), makeProgram(TYPESCRIPT))
    const modules = join(folder, '..', 'node_modules')
    const time = (command: string, words: readonly string[]): number =>
      milliseconds(() => {
        const { status, stdout, stderr } = spawnSync(command, words, { cwd: at, encoding: 'utf8' })
        if (status !== 0) throw new Error(`${words.join(' ')} failed:\n${stdout}${stderr}`)
      })
    const bridle = join(folder, '..', 'packages', 'cli', 'dist', 'bridle.js')
    const check = (): number => time(process.execPath, [bridle, 'check', 'steps.harn'])
    const tsc = (): number =>
      time(join(modules, '.bin', 'tsc'), [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--lib',
        'es2022,dom',
        '--types',
        '',
        'steps.ts',
      ])
    check()
    tsc()
    return [check(), tsc()]
  } finally {
    rmSync(at, { recursive: true, force: true })
  }
}
