// The prompt as a person uses it: keys as input, the screen as output.

import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { makeAuthority } from '../authority.js'
import { makeCommandRuntime } from '../host.js'
import { Memory } from '../repl/memory.js'
import { Session } from '../repl/session.js'
import { Prompt } from './repl.js'

const INTERRUPT = '\u0003'

/** Types all keys at once and returns the output of the entries, without what readline draws. */
async function typeKeys(keys: string): Promise<string> {
  const memory = new Memory()
  const runtime = makeCommandRuntime({ terminal: false, memory, authority: makeAuthority({}) })
  let said = ''
  const hear = (text: string): void => void (said += text)
  const session = new Session({ runtime, memory, print: hear, complain: hear })
  const [input, output] = [new PassThrough(), new PassThrough()]
  output.resume()
  const history = { read: () => [], write: () => {} }
  const done = new Prompt(session, () => [[], ''], { input, output, errors: output, interactive: true, history }).run()
  input.write(keys)
  await done
  return said
}

test.each([
  ['the line that was thrown away is gone', `1 + ${INTERRUPT}7 * 6\r:quit\r`, '42\n'],
  ['also with the cursor in its middle', `12345\u0001\u0006\u0006${INTERRUPT}7 * 6\r:quit\r`, '42\n'],
  ['and the lines of its entry', `let x = [1,\r2,${INTERRUPT}7 * 6\r:quit\r`, '42\n'],
  ['twice', `abc${INTERRUPT}${INTERRUPT}def${INTERRUPT}7 * 6\r:quit\r`, '42\n'],
])('after Ctrl-C %s', async (_, keys, expected) => {
  expect(await typeKeys(keys)).toBe(expected)
})
