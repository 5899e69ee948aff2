// Endless work, in every construct that can repeat or grow: a limit ends it, unnoticed by the script.

import { rows } from '../../rows.js'

const BODIES: Readonly<Record<string, readonly [limit: string, body: string]>> = {
  'a while loop': ['fuel', 'while true { }'],
  'a loop in a catch': ['fuel', 'try { throw 1 } catch (e) { while true { } }'],
  'a loop in a finally': ['fuel', 'try { 1 } finally { while true { } }'],
  'a loop in a defer': ['fuel', 'fn f() { defer { while true { } }\nreturn 1 }\nf()'],
  'a for over a huge range': ['fuel', 'for i in 1 to 9000000000000000 { }'],
  'a for over an endless iterator': ['fuel', 'for i in iter(1 to 9000000000000000).map({ x -> x }) { }'],
  'a generator without end': ['fuel', 'gen fn g() { while true { emit 1 } }\nfor x in g() { }'],
  'recursion in tail place': ['fuel', 'fn f(n) { return f(n + 1) }\nf(0)'],
  'two functions that call each other': ['fuel', 'fn f(n) { return g(n) }\nfn g(n) { return f(n) }\nf(0)'],
  'a map that loops': ['fuel', '[1].map({ x -> while true { } })'],
  'a filter that loops': ['fuel', '[1].filter({ x -> while true { } })'],
  'a sort whose key loops': ['fuel', '[2, 1].sort_by({ x -> while true { } })'],
  'a reduce that loops': ['fuel', '[1, 2].reduce(0, { a, b -> while true { } })'],
  'a task that loops': ['fuel', 'let t = spawn { while true { } }\nawait(t)'],
  'tasks that loop': ['fuel', 'parallel each [1, 2, 3] { x -> while true { } }'],
  'a retry without end': ['fuel', 'retry 1000000000 { throw "again" }'],
  'a throw in a loop': ['fuel', 'while true { try { throw "x" } catch (e) { } }'],
  'counting an endless iterator': ['fuel', 'iter(1 to 9000000000000000).count()'],
  'skipping in an endless iterator': ['', 'iter(1 to 9000000000000000).skip(8000000000000000).next()'],
  'the last of an endless iterator': ['fuel', 'iter(1 to 9000000000000000).last()'],
  'a match in a loop': ['fuel', 'while true { match 1 { 1 -> { } _ -> { } } }'],
  'a list by pushing': ['heap', 'var xs = []\nwhile true { xs = xs.push(1) }'],
  'a list by doubling': ['heap', 'var xs = [1]\nwhile true { xs = xs + xs }'],
  'a list of lists': ['heap', 'var xs: any = []\nwhile true { xs = [xs, [1, 2, 3]] }'],
  'a text by doubling': ['heap', 'var s = "x"\nwhile true { s = s + s }'],
  'a text by repeating': ['', 'let s = "x" * 4000000000'],
  'a text by padding': ['', '"x".pad_left(4000000000, "a")'],
  'a text by replacing': ['', 'let t = "a" * 4000\nlet u = "b" * 400000\nt.replace("a", u)'],
  'a dict by keys': ['heap', 'var d = {}\nvar i = 0\nwhile true {\nd["key ${i}"] = i\ni = i + 1\n}'],
  'a dict by merging': ['heap', 'var d = {}\nvar i = 0\nwhile true {\nd = d + {["k" + to_string(i)]: "x" * 100}\ni = i + 1\n}'],
  'a set': ['heap', 'var s = set()\nvar i = 0\nwhile true {\ns = s.add("key ${i}")\ni = i + 1\n}'],
  closures: ['heap', 'var xs: any = []\nwhile true { let j = [1, 2, 3]\nxs = xs.push({ -> j }) }'],
  'a range as a list': ['heap', '(1 to 9000000000000).to_list()'],
  'bytes by joining': [
    'heap',
    'var b = bytes_from_string("x" * 1000000)\nvar xs: any = []\nwhile true { xs = xs.push(bytes_from_string("x" * 1000000)) }',
  ],
  'tasks without end': ['', 'while true { spawn { sleep(100000) } }'],
  recursion: ['', 'fn f(n) { return 1 + f(n + 1) }\nf(0)'],
  'recursion through map': ['', 'fn f(n) { return [n].map({ x -> f(x + 1) }) }\nf(0)'],
  'recursion through sort_by': ['', 'fn f(n) { return [2, 1].sort_by({ x -> f(x + 1) }) }\nf(0)'],
  'output without end': ['output', 'while true { println("0123456789" * 100) }'],
  'output without line breaks': ['output', 'while true { print("x" * 1000) }'],
}

/** Attempts of a script to survive its end. */
const AROUND: Readonly<Record<string, (body: string) => string>> = {
  'in a try': (body) => `try {\n${body}\n} catch (e) {\nprintln("survived")\n}\nprintln("survived")`,
  'in a task that is awaited': (body) =>
    `let task = spawn {\ntry {\n${body}\n} finally {\nprintln("survived")\n}\n}\ntry { await(task) } catch (e) { println("survived") }\nprintln("survived")`,
}

/** Functions may only be declared at the top of a file. */
function withDeclarationsFirst(body: string, wrap: (body: string) => string): string {
  const at = body.lastIndexOf('\n')
  return /^(?:gen )?fn /.test(body) ? `${body.slice(0, at)}\n${wrap(body.slice(at + 1))}` : wrap(body)
}

export const cases = rows(
  'limits-end-runs',
  Object.entries(BODIES).flatMap(([name, [limit, body]]) =>
    Object.entries(AROUND).map(([how, wrap]) => ({
      name: `${name}, ${how}`,
      source: withDeclarationsFirst(body, wrap),
      runtime: { limits: { fuel: 4_000_000, heap: 10_000_000, output: 100_000, tasks: 200, frames: 2000 } },
      // Depth and tasks are errors that a script may catch; all others end the run.
      ...(limit === '' ? {} : { verdict: 'limit' as const, lacks: ['survived'] }),
    })),
  ),
)
