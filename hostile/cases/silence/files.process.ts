// Every command with invalid files: missing, folders, noise, empty, pipes, devices, names that the system refuses, and, as an
// unprivileged user, unreadable and unwritable files. Each is refused or works, with one of the exit codes of docs/language/command.md.

import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { runToCode } from '../../../packages/cli/src/begin.js'
import { must } from '../../attempt.js'
import type { CodeCase } from '../../load-cases.js'
import type { World } from '../../world.js'

interface Ended {
  readonly code: number
  readonly text: string
}

async function bridle(...words: readonly string[]): Promise<Ended> {
  const { stdout, stderr } = process
  const before = [stdout.write, stderr.write] as const
  let text = ''
  const take = (chunk: unknown): boolean => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString()
    return true
  }
  stdout.write = take as never
  stderr.write = take as never
  try {
    return { code: await runToCode(words, undefined, take), text }
  } finally {
    stdout.write = before[0]
    stderr.write = before[1]
  }
}

/** `$` is the file. */
const COMMANDS: readonly string[] = [
  'run $',
  'run $ --json',
  'check $',
  'check $ --json',
  'lint $',
  'lint --fix $',
  'fmt $',
  'fmt --check $',
  'disasm $',
  'test $',
  'test $ --json',
  'conformance $',
  'simulate --seeds 1 --faults none $',
  'snapshot -o out.snap $',
  'resume $',
  'replay $',
  'tools list --no-servers $',
  'tools describe x $',
  'tools call x $',
  'tools lock --lock-file out.lock $',
  'tools diff --lock-file $ ok.harn',
  'trace show $',
  'trace verify $',
  'trace dag $',
  'trace diff $ $',
  'explain --invariant x y $',
  'run --llm-mock $ ok.harn',
  'run --input @$ ok.harn',
  'run --locked --lock-file $ ok.harn',
  'run --locked --lock-file out.lock --verify-key $ ok.harn',
  'run --root $ ok.harn',
]

/** A script that names the file by a literal: preflight checks it. */
const NAMED: readonly ((path: string) => string)[] = [
  (path) => `println(render(${path}))\n`,
  (path) => `import ${path}\nprintln(1)\n`,
  (path) => `exec_at(${path}, "true")\n`,
]

function attackWith(make: (world: World) => string | Promise<string>): CodeCase['attack'] {
  return async (world) => {
    process.chdir(world.root)
    writeFileSync('ok.harn', 'println("hi")\n')
    const file = await make(world)
    for (const command of COMMANDS)
      judge(command, await bridle(...command.split(' ').map((word) => word.replace('$', () => file))))
    for (const write of NAMED) {
      const source = write(JSON.stringify(file).replaceAll('$', '\\$'))
      writeFileSync('named.harn', source)
      for (const command of ['check', 'lint', 'run']) judge(`${command} of ${source}`, await bridle(command, 'named.harn'))
    }
  }
}

function judge(command: string, { code, text }: Ended): void {
  const what = `${command}: ${code}\n${text.slice(0, 2000)}`
  must([0, 1, 2].includes(code), what)
  must(!/this is a bug|^\s+at .*:\d+:\d+\)?$|node:internal/m.test(text), what)
  must(code === 0 || text !== '', `${what}: nothing was said`)
}

/** Root can read everything, so the attack runs as another user. */
async function withoutRights(world: World, attack: () => Promise<void>): Promise<void> {
  const { getuid, seteuid } = process
  if (getuid === undefined || seteuid === undefined) return
  const isRoot = getuid() === 0
  chmodSync(dirname(world.root), 0o755)
  chmodSync(join(dirname(world.root), 'home'), 0o777)
  if (isRoot) seteuid(65_534)
  try {
    await attack()
  } finally {
    if (isRoot) seteuid(0)
  }
}

const files: Readonly<Record<string, (world: World) => string>> = {
  'a missing file': () => 'missing.harn',
  'a folder': () => (mkdirSync('folder'), 'folder'),
  'an empty file': () => (writeFileSync('empty.harn', ''), 'empty.harn'),
  noise: () => {
    writeFileSync('noise.harn', Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7919 + (at >> 3) * 31) & 0xff)))
    return 'noise.harn'
  },
  'a file of NUL characters': () => (writeFileSync('nul.harn', '\0'.repeat(5000)), 'nul.harn'),
  'JSON of another kind': () => (
    writeFileSync('odd.harn', '{"__proto__": {"format": 3}, "format": 3, "tools": {"constructor": 1}}'),
    'odd.harn'
  ),
  'a name that is too long': () => 'a'.repeat(5000),
  'a name with a NUL character': () => 'a\0b.harn',
  'a file as a folder': () => 'ok.harn/inner.harn',
  'links in a circle': () => (symlinkSync('circle.harn', 'circle.harn'), 'circle.harn'),
  'names of prototypes': () => '__proto__',
}

export const cases: readonly CodeCase[] = [
  ...Object.entries(files).map(([name, make]): CodeCase => ({
    name: `every command with ${name}`,
    promise: 'failures-are-said',
    attack: attackWith(make),
  })),
  {
    name: 'every command with a file without rights',
    promise: 'failures-are-said',
    attack: async (world) => {
      process.chdir(world.root)
      for (const name of ['locked.harn', 'ok.harn']) writeFileSync(name, 'let x=1\n')
      mkdirSync('closed')
      chmodSync('locked.harn', 0)
      chmodSync('closed', 0)
      await withoutRights(world, async () => {
        for (const file of ['locked.harn', 'closed'])
          for (const command of COMMANDS) {
            const ended = await bridle(...command.split(' ').map((word) => word.replace('$', file)))
            judge(command, ended)
            if (file === 'locked.harn')
              must(ended.code === 2 || /^(conformance|run --root)/.test(command), `${command}: ${ended.code} ${ended.text}`)
          }
        for (const command of ['fmt ok.harn', 'lint --fix ok.harn', 'check .', 'fmt .', 'test .', 'lint .'])
          judge(command, await bridle(...command.split(' ')))
      })
      chmodSync('closed', 0o700)
      must(readFileSync('ok.harn', 'utf8') === 'let x=1\n', 'a file without rights to write was written')
    },
  },
  {
    name: 'an import of a pipe or a device holds no check',
    promise: 'thread-is-free',
    attack: async (world) => {
      process.chdir(world.root)
      execFileSync('mkfifo', ['pipe.harn'])
      for (const path of ['/dev/zero', 'pipe', './pipe.harn']) {
        writeFileSync('main.harn', `import ${JSON.stringify(path)}\nprintln(1)\n`)
        for (const command of ['check', 'lint', 'run']) {
          const ended = await bridle(command, 'main.harn')
          judge(`${command} ${path}`, ended)
          must(command === 'lint' || /cannot read|unresolved|no such/i.test(ended.text), `${command} ${path}: ${ended.text}`)
        }
      }
    },
  },
]
