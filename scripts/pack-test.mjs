// `npm run test:pack`: the first experience of a user. Packs every package, installs the tarballs into an empty project with npm, and
// runs what the README shows: the command, its first script and its embedding example, whose output must be that
// of the README. The project is in the system's temporary folder, so that it cannot reach this repository.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countsLine, writeCounts } from './counts.mjs'
import { layers, manifestOf, readJson, root } from './workspace.mjs'

const SCRIPTED_MODEL = `
import { MockLanguageModelV4 } from 'ai/test'
const usage = { inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 } }
const write = (script) => ({ type: 'tool-call', toolName: 'run_script', input: JSON.stringify({ script }) })
const turns = [
  [/Order tea/, write('import { order } from "host/shop"\\nreturn ordr({article: "tea"})')],
  [/"status":"invalid"[^]*ordr[^]*did you mean/, write('import { order } from "host/shop"\\nreturn order({article: "tea"})')],
  [/ordered tea/, { type: 'text', text: 'Tea is on its way.' }],
]
let at = 0
export const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const [expected, part] = turns[at++]
    if (!expected.test(JSON.stringify(prompt.at(-1)))) throw new Error('the model was told: ' + JSON.stringify(prompt.at(-1)))
    const isCall = part.type === 'tool-call'
    const finishReason = { unified: isCall ? 'tool-calls' : 'stop', raw: undefined }
    return { content: [isCall ? { ...part, toolCallId: 'call_' + at } : part], finishReason, usage, warnings: [] }
  },
})
`

const counts = { passed: 0, failed: 0 }
const folder = mkdtempSync(join(tmpdir(), 'bridle-pack-'))
const tarballs = join(folder, 'tarballs')
const project = join(folder, 'project')
mkdirSync(tarballs)
mkdirSync(project)

try {
  testPackages()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
writeCounts('pack', counts)
process.stdout.write(`pack: ${countsLine(counts)}\n`)
process.exitCode = counts.failed === 0 ? 0 : 1

function testPackages() {
  for (const name of layers) {
    check(`pack ${name}`, () => {
      npm(['pack', '--pack-destination', tarballs], join(root, 'packages', name))
      const publint = join(root, 'node_modules', 'publint', 'src', 'cli.js')
      run(process.execPath, [publint, '--level', 'error', '--pack', 'npm'], join(root, 'packages', name))
    })
  }

  check('install the tarballs into an empty project', () => {
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }))
    const files = readdirSync(tarballs).map((name) => join(tarballs, name))
    npm(['install', '--prefer-offline', '--no-audit', '--no-fund', ...files], project)
  })

  check('the installed packages depend on plain versions', () => {
    for (const name of layers) {
      const manifest = readJson(join(project, 'node_modules', '@bridle', name, 'package.json'))
      for (const [dependency, version] of Object.entries(manifest.dependencies ?? {})) {
        if (!/^\d/.test(String(version))) throw new Error(`@bridle/${name} needs ${dependency} "${version}"`)
      }
    }
  })

  check('every public entry can be imported', () => {
    const names = layers.flatMap((name) => {
      const manifest = manifestOf(name)
      return Object.keys(manifest.exports ?? {}).map((key) => manifest.name + key.slice(1))
    })
    // Entries of optional peers say which package is missing.
    const peers = layers.flatMap((name) => Object.keys(manifestOf(name).peerDependencies ?? {}))
    const lines = names.map((name) => `await import('${name}').catch(allow)\n`)
    const allow = `const peers = ${JSON.stringify(peers)}
const allow = (cause) => {
  if (!peers.some((peer) => String(cause?.message).includes(peer))) throw cause
}
`
    writeFileSync(join(project, 'entries.js'), allow + lines.join(''))
    run(process.execPath, ['entries.js'], project)
  })

  check('npx bridle --version', () => {
    const output = npx(['bridle', '--version']).trim()
    const version = manifestOf('cli').version
    if (!output.includes(version)) throw new Error(`printed "${output}", expected ${version}`)
  })

  check('npx bridle run, a script given as text', () => {
    equal(npx(['bridle', 'run', '-e', 'println("hello from the tarball")']), 'hello from the tarball')
  })

  for (const kind of ['script', 'agent', 'embed', 'gateway'])
    check(`npx bridle init ${kind}: what it writes passes its own commands`, () => {
      const written = join(project, kind)
      npx(['bridle', 'init', kind, kind])
      // It finds the packages of the folder above.
      npm(['test'], written)
      const { scripts } = readJson(join(written, 'package.json'))
      if (scripts.check !== undefined) npm(['run', 'check'], written)
      // An agent needs a model, and a gateway serves until it is stopped.
      if (kind === 'script' || kind === 'embed') npm(['start'], written)
    })

  check('the documentation is in the package of the command, in one file', () => {
    const text = readFileSync(join(project, 'node_modules', '@bridle', 'cli', 'llms-full.txt'), 'utf8')
    for (const part of ['# Bridle\n', '# Scripts that a model writes\n', '# The `bridle` command\n'])
      if (!text.includes(part)) throw new Error(`llms-full.txt lacks ${part}`)
  })

  check('every package has a README and the licence', () => {
    for (const name of layers) {
      for (const file of ['README.md', 'LICENSE']) readFileSync(join(project, 'node_modules', '@bridle', name, file))
    }
  })

  // The agent of the README needs the AI SDK, and a model, which is scripted here: it writes a wrong script, reads the finding, writes a
  // correct one, and finishes once it has the result of the approved call.
  check('install the AI SDK, and a model', () => {
    npm(
      ['install', '--prefer-offline', '--no-audit', '--no-fund', `ai@${readJson(join(root, 'package.json')).devDependencies.ai}`],
      project,
    )
    writeFileSync(join(project, 'model.js'), SCRIPTED_MODEL)
  })

  const examples = readmeExamples()
  check('the agent of the README has 25 lines at most', () => {
    const agent = examples.find(({ code }) => code.includes('scriptTool'))
    const lines = agent?.code.trim().split('\n').length ?? Infinity
    if (lines > 25) throw new Error(`it has ${lines}`)
  })
  check('the README has a script and an embedding example', () => {
    for (const language of ['harn', 'js']) {
      if (!examples.some((one) => one.language === language)) throw new Error(`no ${language} example with its output`)
    }
  })
  for (const [index, { language, code, output }] of examples.entries()) {
    const file = `example-${index + 1}.${language}`
    check(`README ${file}`, () => {
      writeFileSync(join(project, file), code)
      equal(language === 'harn' ? npx(['bridle', 'run', file]) : run(process.execPath, [file], project), output)
    })
  }
}

/**
 * Fenced blocks of the README in Harn or JavaScript that are directly followed by an `output` block.
 * @returns {{ language: string, code: string, output: string }[]}
 */
function readmeExamples() {
  const text = readFileSync(join(root, 'README.md'), 'utf8')
  const pattern = /```(harn|js)\n([\s\S]*?)```\s*```output\n([\s\S]*?)```/g
  return [...text.matchAll(pattern)].map((match) => ({ language: match[1] ?? '', code: match[2] ?? '', output: match[3] ?? '' }))
}

/** @param {string} name @param {() => void} body */
function check(name, body) {
  try {
    body()
    counts.passed += 1
    process.stdout.write(`ok   ${name}\n`)
  } catch (error) {
    counts.failed += 1
    process.stdout.write(`FAIL ${name}\n${String(error instanceof Error ? error.message : error).replace(/^/gm, '     ')}\n`)
  }
}

/** @param {string} actual @param {string} expected */
function equal(actual, expected) {
  if (actual.trimEnd() !== expected.trimEnd()) throw new Error(`printed\n${actual}\nexpected\n${expected}`)
}

/** @param {string[]} args @param {string} cwd */
function npm(args, cwd) {
  return run('npm', args, cwd)
}

/** Runs a command that the tarballs installed; never downloads one. @param {string[]} args */
function npx(args) {
  return run('npx', ['--no-install', ...args], project)
}

/** @param {string} command @param {string[]} args @param {string} cwd @returns {string} stdout */
function run(command, args, cwd) {
  const shell = process.platform === 'win32' && command !== process.execPath
  const result = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], shell, env: environment() })
  if (result.status === 0) return result.stdout
  const reason = result.error === undefined ? `exit code ${result.status ?? result.signal}` : result.error.message
  throw new Error(`${command} ${args.join(' ')}: ${reason}\n${result.stdout ?? ''}${result.stderr ?? ''}`)
}

/** Without the npm_* variables of the command we run under, which would reveal this repository to the user's npm. */
function environment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('npm_') || name === 'npm_config_cache'),
  )
}
