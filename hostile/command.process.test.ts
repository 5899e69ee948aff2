// Cases through the command, all in this process, whose folder, environment and streams are meanwhile those of the case's world.

import { afterAll, describe, expect, test, vi } from 'vitest'
import { runToCode } from '../packages/cli/src/begin.js'
import { differences, runThroughCommand } from './drive.js'
import type { RunCommand } from './drive.js'
import { codeCases, scriptCases } from './load-cases.js'
import { makeWorld } from './world.js'

const folderBefore = process.cwd()
const environmentBefore = { ...process.env }

function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
}

const command: RunCommand = async (words, world) => {
  const stdout: string[] = []
  const stderr: string[] = []
  const take =
    (texts: string[]) =>
    (text: unknown): boolean => {
      texts.push(typeof text === 'string' ? text : Buffer.from(text as Uint8Array).toString())
      return true
    }
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(take(stdout) as never),
    vi.spyOn(process.stderr, 'write').mockImplementation(take(stderr) as never),
  ]
  setEnvironment(world.env)
  process.chdir(world.root)
  try {
    const code = await runToCode(words, undefined, (text) => stdout.push(text))
    return { code, stdout: stdout.join(''), stderr: stderr.join('') }
  } finally {
    process.chdir(folderBefore)
    setEnvironment(environmentBefore)
    for (const spy of spies) spy.mockRestore()
  }
}

afterAll(() => {
  process.chdir(folderBefore)
})

describe('scripts', () => {
  const rows = scriptCases().flatMap((one) =>
    one.commands.map((words) => ({ title: `${one.name}: ${words.join(' ')}`, one, words })),
  )
  test.each(rows)('$title', async ({ one, words }) => {
    const world = makeWorld(one.allowance)
    try {
      const ended = await runThroughCommand(one, words, world, command)
      expect(ended.message, one.promise).not.toMatch(/this is a bug/)
      expect(differences(one, ended, world), `${one.promise}\n${ended.output}\n${ended.message}`).toEqual([])
    } finally {
      world.remove()
    }
  })
})

const attacks = await codeCases('process')

describe.skipIf(attacks.length === 0)('attacks in code', () => {
  // Not test.each: it truncates titles.
  for (const { name, attack } of attacks) {
    test(name, async () => {
      const world = makeWorld()
      try {
        await attack(world)
        expect(world.complaints([])).toEqual([])
      } finally {
        world.remove()
      }
    })
  }
})
