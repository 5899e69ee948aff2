// Repairs of constructs of other languages: the repaired source parses, checks clean and is formatted.

import { describe, expect, test } from 'vitest'
import { format, parse, SourceFile } from '@bridle/parser'
import { parseTarget } from '../src/checking/analyze.js'
import { repairTarget } from '../src/checking/repair.js'
import { checkParsed } from './strict-check.js'

const PATH = '/project/x.harn'

describe('repairs', () => {
  test.each<[source: string, repaired: string]>([
    // closures
    ['println([1].map(x => x + 1))', 'println([1].map({ x -> x + 1 }))'],
    ['println([1, 2].reduce(0, (a, b) => a + b))', 'println([1, 2].reduce(0, { a, b -> a + b }))'],
    ['let one = () => 1\nprintln(one())', 'let one = { -> 1 }\nprintln(one())'],
    [
      'let f = async (x) => {\n  let y = x * 2\n  return y\n}\nprintln(f(1))',
      'let f = { x ->\n  let y = x * 2\n  return y\n}\nprintln(f(1))',
    ],
    ['println([1].map(function(x) { return x * 2 }))', 'println([1].map({ x -> return x * 2 }))'],
    ['println([1].map(lambda x: x + 1))', 'println([1].map({ x -> x + 1 }))'],
    ['println([3, 1].sort_by(lambda x: -x))', 'println([3, 1].sort_by({ x -> -x }))'],
    ['println([1].map(|x| x + 1))', 'println([1].map({ x -> x + 1 }))'],
    // operators
    ['let done = len([1]) > 0\nif not done {\n  println(1)\n}', 'let done = len([1]) > 0\nif !done {\n  println(1)\n}'],
    ['let n = len([1])\nif not n == 2 {\n  println(1)\n}', 'let n = len([1])\nif !(n == 2) {\n  println(1)\n}'],
    [
      'let a = len([1]) > 0\nlet b = len([1]) > 1\nif a and not b {\n  println(1)\n}',
      'let a = len([1]) > 0\nlet b = len([1]) > 1\nif a && !b {\n  println(1)\n}',
    ],
    ['let n = len([1])\nprintln(n === 1)', 'let n = len([1])\nprintln(n == 1)'],
    ['let n = len([1])\nprintln(n !== 1)', 'let n = len([1])\nprintln(n != 1)'],
    ['let x = env("X")\nif x is None {\n  println(1)\n}', 'let x = env("X")\nif x == nil {\n  println(1)\n}'],
    ['let x = env("X")\nif x is not None {\n  println(1)\n}', 'let x = env("X")\nif x != nil {\n  println(1)\n}'],
    ['println(7 // 2)', 'println(7 / 2)'],
    ['let n = len([1])\nprintln("big" if n > 2 else "small")', 'let n = len([1])\nprintln(n > 2 ? "big" : "small")'],
    ['var name = env("X")\nname ??= "x"\nprintln(name)', 'var name = env("X")\nname = name ?? "x"\nprintln(name)'],
    ['println(typeof 5)', 'println(type_of(5))'],
    ['let t = typeof 5\nprintln(t)', 'let t = type_of(5)\nprintln(t)'],
    ['let done = len([1]) > 0\nprintln(not done)', 'let done = len([1]) > 0\nprintln(!done)'],
    ['fn f() {\n  return 1\n}\nprintln(await f())', 'fn f() {\n  return 1\n}\nprintln(f())'],
    ['fn f() {\n  return 1\n}\nlet a = await f()\nprintln(a)', 'fn f() {\n  return 1\n}\nlet a = f()\nprintln(a)'],
    ['struct P {\n  x: int\n}\nprintln(new P {x: 1})', 'struct P {\n  x: int\n}\nprintln(P {x: 1})'],
    ['let x = env("X")\nprintln(x is None)', 'let x = env("X")\nprintln(x == nil)'],
    ['let a = len([1]) > 0\nprintln(a and not a)', 'let a = len([1]) > 0\nprintln(a && !a)'],
    [
      'let xs = [1, 2]\nfn f(a, b) {\n  return a + b\n}\nprintln(f(*xs))',
      'let xs = [1, 2]\nfn f(a, b) {\n  return a + b\n}\nprintln(f(...xs))',
    ],
    ['let d = {a: 1}\nprintln({**d, b: 2})', 'let d = {a: 1}\nprintln({...d, b: 2})'],
    ['let task = spawn {\n  1\n}\nprintln(await task)', 'let task = spawn {\n  1\n}\nprintln(await(task))'],
    // counting
    ['var i = 0\ni++\nprintln(i)', 'var i = 0\ni += 1\nprintln(i)'],
    ['var i = 0\ni--\nprintln(i)', 'var i = 0\ni -= 1\nprintln(i)'],
    ['var i = 0\n++i\nprintln(i)', 'var i = 0\ni += 1\nprintln(i)'],
    ['for i in 0..3 {\n  println(i)\n}', 'for i in 0 to 3 exclusive {\n  println(i)\n}'],
    ['for i in 1..=3 {\n  println(i)\n}', 'for i in 1 to 3 {\n  println(i)\n}'],
    [
      'let n = len([1])\nfor i in 0..n - 1 {\n  println(i)\n}',
      'let n = len([1])\nfor i in 0 to n - 1 exclusive {\n  println(i)\n}',
    ],
    ['let xs = [1, 2, 3]\nprintln(xs[0..2])', 'let xs = [1, 2, 3]\nprintln(xs[0:2])'],
    ['for (let i = 0; i < 3; i++) {\n  println(i)\n}', 'for i in 0 to 3 exclusive {\n  println(i)\n}'],
    ['for (i = 1; i <= 3; i += 1) {\n  println(i)\n}', 'for i in 1 to 3 {\n  println(i)\n}'],
    ['for (const x of [1, 2]) {\n  println(x)\n}', 'for x in [1, 2] {\n  println(x)\n}'],
    ['println([x * 2 for x in [1, 2] if x > 1])', 'println([1, 2].filter({ x -> x > 1 }).map({ x -> x * 2 }))'],
    // strings
    ["let a = 'Ada'\nprintln(a)", 'let a = "Ada"\nprintln(a)'],
    ["println('it\\'s \"so\" ${x}')", 'println("it\'s \\"so\\" \\${x}")'],
    ["println(['a', 'b'])", 'println(["a", "b"])'],
    ['let n = "A"\nprintln(`hello ${n} "x"`)', 'let n = "A"\nprintln("hello ${n} \\"x\\"")'],
    ['println(`a\nb`)', 'println("""a\nb""")'],
    ['let n = "A"\nprintln(f"hello {n}")', 'let n = "A"\nprintln("hello ${n}")'],
    ['let n = "A"\nprintln(f\'hello {n}\')', 'let n = "A"\nprintln("hello ${n}")'],
    ['let n = "A"\nlet s = f"hello {n}"\nprintln(s)', 'let n = "A"\nlet s = "hello ${n}"\nprintln(s)'],
    ['# a comment\nprintln(1) # more', '// a comment\nprintln(1) // more'],
    // bindings and functions
    ['let mut n = 1\nn += 1\nprintln(n)', 'var n = 1\nn += 1\nprintln(n)'],
    ['const n = 1\nprintln(n)', 'let n = 1\nprintln(n)'],
    ['n := 1\nprintln(n)', 'let n = 1\nprintln(n)'],
    ['int n = 1\nprintln(n)', 'let n: int = 1\nprintln(n)'],
    ['function f(a) {\n  return a\n}\nprintln(f(1))', 'fn f(a) {\n  return a\n}\nprintln(f(1))'],
    ['fn f(a: int): int {\n  return a\n}\nprintln(f(1))', 'fn f(a: int) -> int {\n  return a\n}\nprintln(f(1))'],
    ['fn f(a) => a * 2\nprintln(f(1))', 'fn f(a) {\n  return a * 2\n}\nprintln(f(1))'],
    ['async fn f() {\n  return 1\n}\nprintln(f())', 'fn f() {\n  return 1\n}\nprintln(f())'],
    ['export fn f() {\n  return 1\n}\nprintln(f())', 'pub fn f() {\n  return 1\n}\nprintln(f())'],
    // imports
    ["import { clamp } from 'std/math'\nprintln(clamp(5, 0, 3))", 'import { clamp } from "std/math"\nprintln(clamp(5, 0, 3))'],
    ['from std.math import clamp\nprintln(clamp(5, 0, 3))', 'import { clamp } from "std/math"\nprintln(clamp(5, 0, 3))'],
    ['import math\nprintln(clamp(5, 0, 3))', 'import "std/math"\nprintln(clamp(5, 0, 3))'],
    // control flow
    [
      'let n = len([1])\nif n == 1 {\n  println(1)\n} elif n == 2 {\n  println(2)\n} else {\n  println(3)\n}',
      'let n = len([1])\nif n == 1 {\n  println(1)\n} else if n == 2 {\n  println(2)\n} else {\n  println(3)\n}',
    ],
    [
      'let n = len([1])\nif (n == 1) {\n  println(1)\n} elseif (n == 2) {\n  println(2)\n}',
      'let n = len([1])\nif (n == 1) {\n  println(1)\n} else if (n == 2) {\n  println(2)\n}',
    ],
    [
      'let n = len([1])\nprintln(match n {\n  1 -> "one"\n  _ -> { "other" }\n})',
      'let n = len([1])\nprintln(match n {\n  1 -> { "one" }\n  _ -> { "other" }\n})',
    ],
    [
      'let n = len([1])\nprintln(match n {\n  1 -> "one",\n  _ -> "other",\n})',
      'let n = len([1])\nprintln(match n {\n  1 -> { "one" }\n  _ -> { "other" }\n})',
    ],
    [
      'let n = len([1])\nprintln(match n {\n  1 => "one",\n  _ => { "other" }\n})',
      'let n = len([1])\nprintln(match n {\n  1 -> { "one" }\n  _ -> { "other" }\n})',
    ],
    ['let n = len([1])\nunless n > 2 {\n  println(1)\n}', 'let n = len([1])\nif !(n > 2) {\n  println(1)\n}'],
    ['try {\n  throw "x"\n} except e {\n  println(e)\n}', 'try {\n  throw "x"\n} catch (e) {\n  println(e)\n}'],
    ['try {\n  raise ValueError("x")\n} catch (e) {\n  println(e)\n}', 'try {\n  throw "x"\n} catch (e) {\n  println(e)\n}'],
    ['try {\n  throw new Error("x")\n} catch (e) {\n  println(e)\n}', 'try {\n  throw "x"\n} catch (e) {\n  println(e)\n}'],
    [
      'def f(a, b):\n    if a > b:\n        return a\n    else:\n        return b\n\nprintln(f(1, 2))',
      'fn f(a, b) {\n    if a > b {\n        return a\n    }\n    else {\n        return b\n    }\n}\n\nprintln(f(1, 2))',
    ],
    ['for x in [1, 2]:\n  println(x)', 'for x in [1, 2] {\n  println(x)\n}'],
    ['class P {\n  x: int\n}\nprintln(P {x: 1}.x)', 'struct P {\n  x: int\n}\nprintln(P {x: 1}.x)'],
    ['if (len([1]) == 1) println(1)', 'if (len([1]) == 1) { println(1) }'],
    ['let xs: string[] = ["a"]\nprintln(xs)', 'let xs: list<string> = ["a"]\nprintln(xs)'],
    ['def f(x) {\n  return x\n}\nprintln(f(1))', 'fn f(x) {\n  return x\n}\nprintln(f(1))'],
    // names and calls
    ['let t = "a,b"\nprintln(t.split(",").lenght)', 'let t = "a,b"\nprintln(t.split(",").count)'],
    ['let xs = [1]\nxs.push(2)\nxs.push(3)\nprintln(xs)', 'var xs = [1]\nxs = xs.push(2)\nxs = xs.push(3)\nprintln(xs)'],
    ['let n = len([1])\nprintln("sum:", n)', 'let n = len([1])\nprintln("sum: ${n}")'],
    ['let a = True\nprintln(a == False)', 'let a = true\nprintln(a == false)'],
    [
      'let a = env("X")\nprintln(a == None)\nprintln(a == null)\nprintln(a == undefined)',
      'let a = env("X")\nprintln(a == nil)\nprintln(a == nil)\nprintln(a == nil)',
    ],
    ['console.log("a")', 'println("a")'],
    ['print "hello"', 'println("hello")'],
    ['println!("hello")', 'println("hello")'],
    ['struct P {\n  x: int\n}\nlet p = new P {x: 1}\nprintln(p.x)', 'struct P {\n  x: int\n}\nlet p = P {x: 1}\nprintln(p.x)'],
    // several at once
    [
      "const xs = ['a', 'b'];\nxs.forEach(x => console.log(`item ${x}`));",
      'let xs = ["a", "b"]\nxs.map({ x -> println("item ${x}") })',
    ],
  ])('%s', (source, repaired) => {
    const { parsed } = repairTarget(parseTarget({ path: PATH, key: PATH, text: `${source}\n` }), checkParsed)
    expect(parsed.target.text).toBe(`${repaired}\n`)
    expect(checkParsed(parsed).map(({ diagnostic }) => `${diagnostic.code} ${diagnostic.message}`)).toEqual([])
    const formatted = format(parsed.file)
    expect(formatted.kind).toBe('formatted')
    if (formatted.kind === 'formatted') expect(parse(new SourceFile('formatted', formatted.text)).diagnostics).toEqual([])
  })
})
