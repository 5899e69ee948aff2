// The tools that every run has by id: each does what its example says, takes what its schema says and nothing else, and what it is
// declared to touch is what it touches: it works with that power alone, and is refused without.

import { expect, test } from 'vitest'
import { STANDARD_TOOLS } from '@bridle/vm'
import { VirtualClock } from '../clock.js'
import { seededRandom } from '../providers/basics.js'
import { MemoryFs, memoryProcess, scriptedHttp } from '../providers/memory.js'
import { answered } from '../providers/provider.js'
import type { ProviderSource } from '../providers/provider.js'
import { createRuntime } from '../runtime.js'
import { compileSchema } from '../tools/schema.js'
import type { JsonSchema } from '../tools/schema.js'

const world = (): ProviderSource[] => {
  const process = memoryProcess({ cwd: '/', env: { HOME: '/home/ada' } })
  return [
    new MemoryFs({ 'notes.txt': 'tea', 'dir/inner.txt': 'x' }),
    {
      ...process,
      perform: (effect, call) =>
        effect.kind === 'process.exec'
          ? answered({ status: 0, stdout: 'ran', stderr: '', signal: null, timedOut: false, pid: 1 })
          : process.perform(effect, call),
    },
    scriptedHttp(({ method }) => ({ body: method })),
  ]
}

/** Arguments, and what comes of them; left out where it depends on chance or time. */
const EXAMPLES: { readonly [id: string]: readonly [args: object, result?: unknown] } = {
  'http.get': [{ url: 'https://x.test/' }],
  'http.post': [{ url: 'https://x.test/', body: 'b' }],
  'http.put': [{ url: 'https://x.test/', body: { a: 1 } }],
  'http.patch': [{ url: 'https://x.test/', body: 'b' }],
  'http.delete': [{ url: 'https://x.test/', headers: { a: 'b' } }],
  'fs.read': [{ path: 'notes.txt' }, 'tea'],
  'fs.exists': [{ path: 'none.txt' }, false],
  'fs.list': [{ path: 'dir' }, ['inner.txt']],
  'fs.stat': [{ path: 'notes.txt' }],
  'fs.write': [{ path: 'new.txt', content: 'n' }, true],
  'fs.append': [{ path: 'notes.txt', content: '!' }, true],
  'fs.mkdir': [{ path: 'a/b/c' }, true],
  'fs.remove': [{ path: 'notes.txt' }, true],
  'fs.copy': [{ from: 'notes.txt', to: 'copy.txt' }, true],
  'env.get': [{ name: 'HOME' }, '/home/ada'],
  'process.exec': [{ program: 'tool', args: ['a'] }],
  'json.parse': [{ input: '{"a": [1, 2.0]}' }, { a: [1, 2] }],
  'json.stringify': [{ value: { a: [1, null] } }, '{"a":[1,null]}'],
  'crypto.sha256': [{ input: 'abc' }, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  'crypto.sha512': [
    { input: '' },
    'cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e',
  ],
  'crypto.md5': [{ input: '' }, 'd41d8cd98f00b204e9800998ecf8427e'],
  'crypto.base64_encode': [{ input: 'tea' }, 'dGVh'],
  'crypto.base64_decode': [{ input: 'dGVh' }, 'tea'],
  'crypto.hmac_sha256': [
    { key: 'key', message: 'The quick brown fox jumps over the lazy dog' },
    'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
  ],
  'crypto.uuid': [{}],
  'time.now': [{}],
}

/** The power that a declared effect stands for. Chance and time are no powers that a run can be without. */
const POWERS: { readonly [effect: string]: readonly string[] } = {
  http: ['http'],
  fs: ['fs', 'process.info'],
  env: ['process.info'],
  process: ['process'],
}

async function outcome(id: string, args: object, grants: readonly string[]): Promise<unknown> {
  const runtime = createRuntime({
    providers: world(),
    grants: grants as never,
    clock: new VirtualClock(1_700_000_000_000),
    random: seededRandom(1),
    enforceManifest: false,
  })
  const source = `import { tool_try } from "std/tools"\nimport { runtime_pipeline_input } from "std/runtime"
let given = runtime_pipeline_input()
let r = tool_try(given.id, given.args)
return is_ok(r) ? {ok: unwrap(r)} : {code: unwrap_err(r).code}`
  return runtime.run(source, { input: { id, args } })
}

test('every one has an example', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(STANDARD_TOOLS.map(({ id }) => id).sort())
})

test.each(STANDARD_TOOLS.map((tool) => [tool.id, tool] as const))('%s', async (id, { effect, level, schema, description }) => {
  const [args, result] = EXAMPLES[id]!
  expect(description).not.toBe('')
  const compiled = compileSchema(JSON.parse(JSON.stringify(schema)) as JsonSchema)
  expect(await compiled.check(args)).toMatchObject({ ok: true })

  const powers = POWERS[effect ?? ''] ?? []
  const given = (await outcome(id, args, powers)) as { readonly ok?: unknown }
  expect(given).toHaveProperty('ok')
  if (result !== undefined) expect(given.ok).toEqual(result)

  if (powers.length > 0) expect(await outcome(id, args, [])).toEqual({ code: 'policy_violation' })
  expect(level === 'none').toBe(effect === null || ['env', 'random', 'time'].includes(effect))
  expect(await outcome(id, { ...args, nonsense: 1 }, powers)).toEqual({ code: 'invalid_args' })
})
