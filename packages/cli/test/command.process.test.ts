import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundledCommand } from '../../../scripts/bundled-command.js'
import { runInProcess } from './in-process.js'
import type { Ended } from './in-process.js'

let command: { readonly path: string; readonly folder: string }
const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bridle-cli-'))

beforeAll(async () => {
  command = await bundledCommand()
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  rmSync(command.folder, { recursive: true, force: true })
})

const runHere = (words: readonly string[]): Promise<Ended> => runInProcess(root, words)

/** In a process of its own, from the bundle. */
function runBridle(
  words: readonly string[],
  options: { readonly stdin?: string; readonly onOutput?: (text: string, kill: (signal: NodeJS.Signals) => void) => void } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command.path, ...words], { cwd: root, stdio: 'pipe' })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
      options.onOutput?.(stdout, (signal) => child.kill(signal))
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    child.stdin.end(options.stdin ?? '')
  })
}

function writeScript(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe.concurrent('bridle run', () => {
  test('output, arguments and input', async () => {
    const script = writeScript(
      'args.harn',
      'import { runtime_pipeline_input } from "std/runtime"\nprintln(argv)\nprintln(runtime_pipeline_input())\n',
    )
    expect(await runBridle(['run', script, '--input', '{"a": [1, 2.5]}', '--', '-x', 'two words'])).toEqual({
      code: 0,
      stdout: '[-x, two words]\n{a: [1, 2.5]}\n',
      stderr: '',
    })
  })

  test('a time limit beyond the longest timer is ignored', async () => {
    expect(await runBridle(['run', '-e', 'sleep(20ms)\nprintln("awake")', '--timeout', '99999999999'])).toEqual({
      code: 0,
      stdout: 'awake\n',
      stderr: '',
    })
  })

  test('a script from standard input; its int is the exit code', async () => {
    const ended = await runBridle(['run', '-'], { stdin: 'pipeline default() {\n  println("x")\n  return 300\n}\n' })
    expect(ended).toEqual({ code: 255, stdout: 'x\n', stderr: '' })
  })

  test('Result.Err is shown and fails', async () => {
    expect(await runBridle(['run', '-e', 'pipeline default() { return Err("not today") }'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'not today\n',
    })
  })

  test('an uncaught error is reported with its position, after the output', async () => {
    const script = writeScript(
      'fails.harn',
      'println("before")\nfn inner(x) {\n  return x.foo\n}\nlet r = inner(json_parse("5"))\n',
    )
    const ended = await runBridle(['run', script])
    expect(ended.code).toBe(1)
    expect(ended.stdout).toBe('before\n')
    expect(ended.stderr).toBe(`error: Type error: cannot access property \`foo\` on int (line 3)
  --> ${script}:3:10
   |
 3 |   return x.foo
   |          ^
  = note: called from pipeline at ${script}:5
`)
  })

  test('a syntax error is shown with what was expected', async () => {
    const ended = await runBridle(['run', '-e', 'let x = )'])
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain('<code>:1:9')
    expect(ended.stderr).toContain('^')
  })

  test('an endless loop ends with the fuel', async () => {
    const ended = await runBridle(['run', '--fuel', '10000', '-e', 'while true { }'])
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain('fuel')
  })

  test('a dry run lists the skipped effects', async () => {
    const target = join(folder, 'never.txt')
    const ended = await runBridle([
      'run',
      '--dry-run',
      '-e',
      `write_file(${JSON.stringify(target)}, "abc")\nprintln(file_exists(${JSON.stringify(target)}))`,
    ])
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toBe(
      `false\n\nDry run: this would have happened.\n   1. write file ${target} (3 characters) [workspace_write]\n`,
    )
  })

  test('--json gives one document', async () => {
    const ended = await runBridle(['run', '--json', '-e', 'pipeline default() {\n  println("x")\n  return {a: 1.5, b: [nil]}\n}'])
    expect(JSON.parse(ended.stdout)).toEqual({
      status: 'done',
      exit_code: 0,
      output: 'x\n',
      would_have_done: [],
      value: { a: 1.5, b: [null] },
    })
  })

  test('a replay ends as the recorded run did, with the status of the script', async () => {
    const recording = join(folder, 'status.json')
    const script = 'pipeline main() {\n  println(random_int(1, 5) > 0)\n  return 7\n}'
    expect((await runBridle(['run', '--record', recording, '-e', script])).code).toBe(7)
    expect(await runBridle(['replay', recording, '-e', script])).toEqual({ code: 7, stdout: 'true\n', stderr: '' })
  })

  test('a recorded run replays, and a changed script is detected', async () => {
    const recording = join(folder, 'run.jsonl')
    const first = await runBridle(['run', '--record', recording, '-e', 'println(random())'])
    expect(readFileSync(recording, 'utf8')).toContain('random.bytes')
    const [again, changed] = await Promise.all([
      runBridle(['replay', recording, '-e', 'println(random())']),
      runBridle(['replay', recording, '-e', 'println(timestamp())']),
    ])
    expect(again).toEqual(first)
    expect(changed.code).toBe(1)
    expect(changed.stderr).toContain('replay_mismatch')
  })

  test('SIGINT ends the run and its pending effects', async () => {
    const ended = await runBridle(['run', '-e', 'println("ready")\nexec("sleep", "600")\nprintln("never")'], {
      onOutput: (text, kill) => {
        if (text === 'ready\n') kill('SIGINT')
      },
    })
    expect(ended).toEqual({ code: 130, stdout: 'ready\n', stderr: 'error: interrupted\n' })
  })
})

describe.concurrent('refusals', () => {
  test.each([
    [['run'], /name a script/],
    [['run', 'no-such-file.harn'], /cannot read no-such-file\.harn: no such file/],
    [['run', '--fuel', 'lots', '-e', '1'], /not a number/],
    [['run', '--input', '{', '-e', '1'], /not JSON/],
    [['frobnicate'], /unknown command/],
    [['conformance', 'no-such-folder'], /does not exist/],
  ])('%j exits with 2', async (words, message) => {
    const ended = await runHere(words)
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(message)
  })
})

test('bridle fmt --stdin', async () => {
  expect(await runBridle(['fmt', '--stdin', '--line-width', '8'], { stdin: 'f(aaa,bbb)' })).toEqual({
    code: 0,
    stdout: 'f(\n  aaa,\n  bbb,\n)\n',
    stderr: '',
  })
})

describe.concurrent('bridle conformance', () => {
  test('counts, reasons and exit code, in every mode', async () => {
    writeScript('good.harn', 'for i in 1 to 3 { println(i) }\n')
    writeScript('good.expected', '1\n2\n3\n')
    writeScript('bad.harn', 'println("actual")\n')
    writeScript('bad.expected', 'expected\n')
    writeScript('throws.harn', 'throw "x"\n')
    writeScript('throws.error', 'Thrown: x\n')
    writeScript('endless.harn', 'while true { }\n')
    writeScript('endless.expected', '\n')
    writeScript('parked.harn', '')
    writeScript('parked.expected', '')
    writeScript('parked.conformance-skip', 'not now\n')
    const ended = await runBridle([
      'conformance',
      folder,
      '--mode',
      'all',
      '--json',
      '--timeout',
      '3000',
      '--filter',
      'good|bad|throws|endless|parked',
    ])
    const report = JSON.parse(ended.stdout)
    expect(ended.code).toBe(1)
    expect(report).toMatchObject({ passed: 2, failed: 2, skipped: 1 })
    const byName = Object.fromEntries(report.results.map((result: { readonly name: string }) => [result.name, result]))
    expect(byName['bad']).toMatchObject({ status: 'failed' })
    expect(byName['bad'].message).toContain('expected')
    expect(byName['endless']).toMatchObject({ status: 'failed', message: 'not finished after 3 s' })
    expect(byName['parked']).toMatchObject({ status: 'skipped', message: 'not now' })
    expect(byName['throws']).toMatchObject({ status: 'passed', message: '' })
  })

  test('an interrupt reports the results so far, and leaves no process behind', async () => {
    const pid = join(folder, 'child.pid')
    writeScript('stopped_first.harn', 'println("actual")\n')
    writeScript('stopped_first.expected', 'expected\n')
    writeScript('stopped_slow.harn', `shell("echo $$ > '${pid}'; sleep 600")\n`)
    writeScript('stopped_slow.expected', '\n')
    let polling: NodeJS.Timeout | null = null
    const ended = await runBridle(['conformance', folder, '--jobs', '1', '--filter', 'stopped_*'], {
      onOutput: (_, kill) => {
        polling ??= setInterval(() => {
          if (!existsSync(pid)) return
          clearInterval(polling!)
          // A second one would not wait for the report.
          kill('SIGINT')
        }, 20)
      },
    })
    expect(ended).toMatchObject({ code: 130, stderr: 'error: interrupted; the report has what was judged before\n' })
    expect(ended.stdout).toMatch(/^FAIL stopped_first\n[^]*\n0 passed, 1 failed, 0 skipped\n$/)
    expect(() => process.kill(Number(readFileSync(pid, 'utf8')), 0)).toThrow('ESRCH')
  })
})

test('a confined run reaches MCP servers by the rules of its network', async () => {
  // The address of a server that has ended: nothing listens there.
  const gone = createServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/mcp`
  gone.close()
  await once(gone, 'close')
  const script = writeScript('remote.harn', `// @bridle grants\nuse tool mcp "${url}" as Remote\nRemote("x", {})\n`)
  const ended = await runHere(['run', '--root', folder, script])
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toContain(`egress blocked: ${url} (private_address)`)
  // A host that the user names is reachable.
  const named = await runHere(['run', '--root', folder, '--grant', `mcp:domain=127.0.0.1:${port}`, script])
  expect(named.stderr).toContain('MCP HTTP request error: Connection refused')
  // A host without a port has the port of the scheme, as in every grant.
  for (const domain of ['*.example.com', '127.0.0.1']) {
    const other = await runHere(['run', '--root', folder, '--grant', `mcp:domain=${domain}`, script])
    expect(other.stderr).toContain(
      `Error [egress_blocked]: policy violation for 'Remote': domain '${domain}' does not allow '${url}'`,
    )
  }
})

test('a server that a grant does not name is unreachable, whatever names the arguments of the call have', async () => {
  const url = 'http://127.0.0.1:1/mcp'
  const script = writeScript(
    'named.harn',
    `// @bridle grants\nuse tool mcp "${url}" as Remote\nRemote("x", {url: "https://a.example.com/"})\n`,
  )
  const ended = await runHere(['run', '--grant', 'mcp:domain=*.example.com', script])
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toContain(`domain '*.example.com' does not allow '${url}'`)
})

test('unusable tools of a server are reported on standard error, once', async () => {
  const server = writeScript(
    'doubled.mjs',
    `import { createInterface } from 'node:readline'
     const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
     createInterface({ input: process.stdin }).on('line', (line) => {
       const { id, method } = JSON.parse(line)
       if (method === 'initialize') send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'h', version: '1' } } })
       else if (id !== undefined) send({ id, result: { tools: [{ name: 'a' }, { name: 'a' }] } })
     })\n`,
  )
  const script = writeScript(
    'doubled.harn',
    `let c = mcp_connect(${JSON.stringify(process.execPath)}, [${JSON.stringify(server)}])
println(len(mcp_list_tools(c)))
println(len(mcp_list_tools(c)))
mcp_disconnect(c)
`,
  )
  const ended = await runBridle(['run', script])
  expect(ended).toMatchObject({ code: 0, stdout: '1\n1\n' })
  expect(ended.stderr).toMatch(/^warning: MCP server '[^']*': tool "a" is listed twice; the tool is left out\n$/)
})

test('skills of a named folder come first, and a missing folder is reported', async () => {
  mkdirSync(join(folder, 'named', 'tea'), { recursive: true })
  writeScript('named/tea/SKILL.md', '---\nshort: how to brew\n---\nBrew $ARGUMENTS\n')
  const script = writeScript('skills.harn', 'for s in skill_list(skills) { println("${s.name}: ${s.short} (${s.source})") }\n')
  const ended = await runHere(['run', '--skill-dir', join(folder, 'named'), '--skill-dir', 'nowhere', script])
  expect(ended).toMatchObject({ code: 0, stderr: 'warning: skills: there is no folder nowhere\n' })
  expect(ended.stdout).toContain('tea: how to brew (cli)')
})

describe.concurrent('bridle tools', () => {
  test('a standard tool is described with its effects and example calls', async () => {
    const { stdout } = await runHere(['tools', 'describe', 'json.set'])
    expect(stdout).toContain('effect: none (side effect none, safe)')
    expect(stdout).toContain('example: {"json":{"a":1},"path":"b.c","value":2} -> {"a":1,"b":{"c":2}}')
    expect((await runHere(['tools', 'describe', 'process.exec'])).stdout).toContain(
      'effect: process (side effect process_exec, privileged)',
    )
  })

  test('failures are reported, with an exit code', async () => {
    const [fails, broken, script] = [
      writeScript('fails.harn', 'throw "no"\n'),
      writeScript('broken.harn', 'let x =\n'),
      writeScript('one.harn', 'tool one() { 1 }\n'),
    ]
    const cases: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
      [['list', fails], 1, /^error: .*fails\.harn failed without powers, after defining 0 tools: Thrown: no\n/],
      [['list', broken], 1, /^error: unexpected end of file/],
      [['call', 'one', script, '[1]'], 2, /^error: the arguments must be a JSON object\n/],
      [['call', 'one', script, '{"a"'], 2, /^error: the arguments are not JSON: /],
      [
        ['call', 'one', script, `{"a": ${'['.repeat(3000)}${']'.repeat(3000)}}`],
        2,
        /^error: the arguments are not JSON that can be used: /,
      ],
      [['call', 'two', script], 1, /^error: Error \[not_registered\]: Tool 'two' not found\n/],
      [['describe', 'two', script], 1, /^error: there is no tool two; /],
    ]
    for (const [args, code, message] of cases)
      expect(await runHere(['tools', ...args])).toMatchObject({ code, stderr: expect.stringMatching(message) as string })
  })

  test('a call prints only its result on standard output', async () => {
    const script = writeScript(
      'chatty.harn',
      'println("loading")\ntool twice(n: int) -> dict {\n  log("twice")\n  return {n: 2 * n}\n}\n',
    )
    const called = { code: 0, stderr: 'loading\n[harn] twice\n' }
    expect(await runHere(['tools', 'call', 'twice', script, '{"n": 4}'])).toEqual({ ...called, stdout: '{n: 8}\n' })
    expect(await runHere(['tools', 'call', 'twice', script, '{"n": 4}', '--json'])).toEqual({ ...called, stdout: '{"n":8}\n' })
    const wrong = await runHere(['tools', 'call', 'twice', script, '{"m": 4}', '--json'])
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      status: 'failed',
      exit_code: 1,
      error: { code: 'invalid_args', message: expect.stringContaining('Missing required parameter: n') as unknown },
    })
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('error: Error [invalid_args]:') as unknown })
  })

  test('a locked run reports the changed tool, and what to do', async () => {
    const lock = writeScript('drift.lock.json', '')
    const source =
      'import { tool_call } from "std/tools"\ntool add(a: int) -> int {\n  return a\n}\nprintln(tool_call(add, {a: 1}))\n'
    const script = writeScript('drifting.harn', source)
    await runHere(['tools', 'lock', script, '--lock-file', lock])
    expect(await runHere(['run', '--locked', '--lock-file', lock, script])).toMatchObject({ code: 0, stdout: '1\n' })
    writeScript('drifting.harn', source.replace('a: int) -> int', 'a: float) -> float'))
    const { code, stderr } = await runHere(['run', '--locked', '--lock-file', lock, script])
    expect(code).toBe(1)
    expect(stderr).toContain(
      "error: Error [schema_drift]: Tool 'add' (script:add) has changed since it was locked: its schemas\n",
    )
    expect(stderr).toMatch(
      /= note: locked as (blake3:\w{64}\+blake3:\w{64})\n *= note: it is now (?!\1)blake3:\w{64}\+blake3:\w{64}\n *= help: `bridle tools diff` says/,
    )
    writeScript('drifting.harn', source.replaceAll('add', 'sum'))
    const unknown = await runHere(['run', '--locked', '--lock-file', lock, script])
    expect(unknown.stderr).toContain("Tool 'sum' (script:sum) is not in the lock file\n")
    expect(unknown.stderr).toContain('= help: `bridle tools lock` writes down')
  })

  test('those of the script come first, and a failing call shows the reason', async () => {
    const script = writeScript('tools.harn', 'tool add(a: int, b: int = 1) -> int {\n  return a + b\n}\n')
    const listed = await runHere(['tools', 'list', script])
    expect(listed.stdout).toMatch(/^script +add\nbridle +/)
    expect(await runHere(['tools', 'call', 'add', script, '--args', '{"a": 2}'])).toMatchObject({ code: 0, stdout: '3\n' })
    expect(await runHere(['tools', 'call', 'add', script, '--args', '{"a": "x"}'])).toEqual({
      code: 1,
      stdout: '',
      stderr:
        "error: Error [invalid_args]: Invalid type for parameter 'a': expected type integer, got string\n  = code: invalid_args, explained by `bridle explain invalid_args`\n",
    })
  })
})

describe.concurrent('bridle serve', () => {
  test('a script has the powers that the flags leave', async () => {
    const script = writeScript('served.harn', 'mcp_resource({uri: "a:1", name: "A", text: shell("echo secret").stdout})\n')
    const refused = await runBridle(['serve', 'mcp', '--sandbox', script])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('process.exec is not granted to this run')
    const asked = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } },
      { jsonrpc: '2.0', id: 2, method: 'resources/read', params: { uri: 'a:1' } },
    ]
    const stdin = asked.map((message) => `${JSON.stringify(message)}\n`).join('')
    const granted = await runBridle(['serve', 'mcp', '--grant', 'process', script], { stdin })
    expect(granted.stdout).toContain('"text":"secret\\n"')
  })
})

describe.concurrent('bridle test', () => {
  test('runs each test pipeline separately, judges and reports', async () => {
    const script = writeScript(
      'own_test.harn',
      [
        'let base = 1',
        'fn add(n) { return base + n }',
        'pipeline test_adds(task) { println("shown only on failure")\nassert_eq(add(1), 2) }',
        '@test',
        'pipeline marked(task) { println("seen")\nassert_eq(add(1), 3, "sum is off") }',
        'pipeline test_endless(task) { while true { } }',
        'pipeline test_exits(task) { exit(0) }',
        'pipeline default(task) { throw "never run" }',
      ].join('\n'),
    )
    const ended = await runBridle(['test', script, '--json', '--timeout', '300'])
    expect(ended).toMatchObject({ code: 1, stderr: '' })
    const report = JSON.parse(ended.stdout)
    expect(report).toMatchObject({ passed: 1, failed: 3, total: 4 })
    expect(report.results).toMatchObject([
      { name: 'test_adds', status: 'passed', error: null },
      { name: 'marked', status: 'failed', error: 'Thrown: sum is off', output: 'seen\n' },
      { name: 'test_endless', status: 'failed', error: 'timed out after 300 ms' },
      { name: 'test_exits', status: 'failed', error: 'the test ended the program with exit(0)' },
    ])
  })

  test('the report for people, a filter, a file that does not compile, nothing to run', async () => {
    const good = writeScript('good_test.harn', 'pipeline test_one(task) { }\npipeline test_two(task) { throw "no" }\n')
    const broken = writeScript('broken_test.harn', 'pipeline test_x( {\n')
    const [one, bad, none] = await Promise.all([
      runBridle(['test', good, '--filter', 'one']),
      runBridle(['test', broken]),
      runBridle(['test', good, '--filter', 'absent']),
    ])
    expect(one).toMatchObject({ code: 0, stderr: '' })
    expect(one.stdout.replaceAll(/\d+ ms/g, 'N ms')).toBe(
      `Running 1 test from 1 file...\n\n  PASS  test_one [${good}] (N ms)\n\n1 passed, 1 total (N ms)\n`,
    )
    expect(bad.code).toBe(1)
    expect(bad.stdout).toContain(`FAIL  <file error> [${broken}]\n        error: `)
    expect(none).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: --filter absent does not select any of the 2 tests that were found, such as test_one, test_two\n',
    })
  })
})

test('help and version everywhere', async () => {
  const [help, version, ofCommand] = await Promise.all([
    runBridle(['--help']),
    runBridle(['run', '--version']),
    runBridle(['conformance', '--help']),
  ])
  expect(help).toMatchObject({ code: 0, stderr: '' })
  expect(help.stdout).toContain('conformance')
  expect(version).toMatchObject({ code: 0, stderr: '' })
  expect(ofCommand.stdout).toContain('--mode')
})

describe.concurrent('bridle repl', () => {
  test('reads entries from standard input', async () => {
    const stdin =
      'let xs = [1,\n  2]\nfn twice(n) {\n  return n * 2\n}\nxs.map(twice)\n:type twice(1)\n:type 1 + 1\n"a"\n:quit\nnever\n'
    expect(await runBridle(['repl'], { stdin })).toEqual({ code: 0, stdout: '[2, 4]\nunknown\nint\n"a"\n', stderr: '' })
  })

  test('a failing entry is reported, and decides the exit code', async () => {
    const ended = await runBridle(['repl'], { stdin: 'nope(1)\n:nothing\n2\n' })
    expect(ended).toMatchObject({ code: 1, stdout: '2\n' })
    expect(ended.stderr).toContain('call target `nope` is not defined or imported')
    expect(ended.stderr).toContain('there is no command :nothing')
  })
})
