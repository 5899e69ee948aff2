// Long operations, and memory outside the machine: a limit ends the run, or the script gets an error. Other waiting work
// gets its turn.

import { MemoryFs, MemoryStore, createRuntime, memoryProcess, scriptedHttp } from '@bridle/stdlib-tools'
import { must, makeCases } from '../../attempt.js'

const LIMITS = { heap: 8_000_000, fuel: 1_000_000_000 }

const providers = () => [
  () => new MemoryFs({ '/a.txt': 'a' }),
  () => new MemoryStore(),
  () => memoryProcess(),
  scriptedHttp(() => ({ status: 200, body: 'x'.repeat(100_000) })),
]

/** The limit that ended the run; `done` and `failed` where none did. */
async function findLimit(source: string): Promise<string> {
  const runtime = createRuntime({ grants: ['*'], enforceManifest: false, limits: LIMITS, providers: providers() })
  const result = await runtime.start(runtime.compile(source, { strict: false })).result
  return result.status === 'limit'
    ? result.limit
    : result.status === 'failed'
      ? `failed: ${result.error.message.slice(0, 200)}`
      : result.status
}

const GROSS_GROWTH = 768 << 20

const SHARED = 'var x: any = 1\nfor i in 1 to 40 { x = [x, x] }\n'
const TEXT = 'let t = "a" * 4000000\n'

/** Each once took long in one operation. */
const LONG: Readonly<Record<string, string>> = {
  'a path of slashes': 'path_basename("/" * 4000000)',
  'a path of backslashes': 'path_normalize("\\\\" * 4000000)',
  'cookies without end': 'session_from_cookies("a=1;" * 1000000, "a", "b")',
  'a cookie signed with a long key': 'cookie_sign("a", "k" * 4000000)',
  'a long cookie signed': 'cookie_sign("a" * 4000000, "k")',
  'a URL signed with a long key': 'signed_url("http://a.test/", {}, "k" * 4000000, 1)',
  'a token verified with a long key': 'jwt_verify("HS256", "e30.e30.e30", "k" * 4000000)',
  'a key derived for a long context':
    'import { tool_call } from "std/tools"\ntool_call("crypto.hkdf_sha256", {key: "a", salt: "b", info: "c" * 1000000, length: 8000})',
  'long texts in a set':
    'let t = (1 to 3000).to_list().map({ i -> "data: x" * i })\nlet s = set([t, {a: t}])\ns.intersect(set([]))',
  'many bytes in a set': 'let b = bytes_from_string("a" * 16000000)\nset([[b], {a: b}])',
  'deep data in a store': 'var x: any = nil\nfor i in 1 to 20000 { x = {a: x} }\nstore_set("k", x)',
  'a store under a long key': 'store_set("\\u{200d}" * 500000, 1)',
  'a query of many pairs': 'query_parse("a&" * 500000)',
  'a pointer of many steps': 'json_pointer({a: 1}, "/a" * 500000)',
  'a pointer of escapes': 'json_pointer_set({a: 1}, "/~1" * 300000, 1)',
  'an expression of many marks': 'render_string("{{ " + "[" * 300000 + " }}", {a: 1})',
  'shared data compared': `${SHARED}var y: any = 1\nfor i in 1 to 40 { y = [y, y] }\nx == y`,
  'shared data shown': `${SHARED}to_string(x)`,
  'shared data as JSON': `${SHARED}json_stringify(x)`,
  'shared data hashed': `${SHARED}hash_value(x)`,
  'shared data returned': `${SHARED}return x`,
  'a shared dict returned': 'var x: any = 1\nfor i in 1 to 24 { x = {a: x, b: x} }\nreturn x',
  'a list of 2^24 returned': 'var x: any = 1\nfor i in 1 to 24 { x = [x, x] }\nreturn x',
}

/** Each makes the process hold memory outside the machine. */
const KEPT: Readonly<Record<string, string>> = {
  'files in memory': `${TEXT}var i = 0\nwhile true { write_file("/f\${i}", t)\ni += 1 }`,
  'a file that grows': `${TEXT}while true { append_file("/f", t) }`,
  'a store': `${TEXT}var i = 0\nwhile true { store_set("k\${i}", t)\ni += 1 }`,
  'an event log':
    'let u = "a" * 100000\nvar i = 0\nwhile true { event_log_emit("topic", "kind", {n: i, u: u + to_string(i)})\ni += 1 }',
  'mocks of the network':
    'let u = "a" * 100000\nvar i = 0\nwhile true { http_mock("GET", "http://a.test/${i}", {status: 200, body: u + to_string(i)})\ni += 1 }',
  'slices of long texts':
    'var xs: any = []\nwhile true { let t = "ab" * 500000 + to_string(len(xs))\nxs = xs.push(t[5:500]) \nif len(xs) > 1000 { return "kept" } }',
  'answers of the network': 'var xs: any = []\nwhile true { xs = xs.push(http_get("http://a.test/").body + to_string(len(xs))) }',
}

export const cases = [
  ...makeCases(
    'thread-is-free',
    Object.fromEntries(
      Object.entries(LONG).map(([name, source]) => [
        name,
        async () => {
          const end = await findLimit(source)
          must(['work', 'heap', 'fuel'].includes(end), `ended as ${end}`)
        },
      ]),
    ),
  ),
  ...makeCases('thread-is-free', {
    'a timer of the host goes off beside a loop without end': async () => {
      const runtime = createRuntime()
      const run = runtime.start(runtime.compile('while true { }'))
      const timer = setTimeout(() => run.cancel('enough'), 1)
      const { status } = await run.result
      clearTimeout(timer)
      must(status === 'cancelled', `ended as ${status}`)
    },
  }),
  ...makeCases(
    'memory-is-metered',
    Object.fromEntries(
      Object.entries(KEPT).map(([name, source]) => [
        name,
        async () => {
          const before = process.memoryUsage.rss()
          const end = await findLimit(source)
          // Coarse: if it were kept, it would be over a gigabyte.
          must(process.memoryUsage.rss() - before < GROSS_GROWTH, `${end}: the process grew`)
          must(['heap', 'work', 'done'].includes(end) || end.includes('No space left'), `ended as ${end}`)
        },
      ]),
    ),
  ),
]
