// THE table of habits that people and models bring from other languages: the foreign form, and the Harn equivalent. It gives the hints of syntax
// errors, the strict check of programs that parse, and the page on checking. A row with `names`, `calls` or `members`
// lists undefined names that mean it, and their direct replacements (null: none).

export interface Habit {
  /** The foreign form. */
  readonly form: string
  /** The Harn equivalent: one line, the help of the finding. */
  readonly harn: string
  /** Languages, for the finding: `a name of Python`. */
  readonly from: string
  /** Names without a receiver. */
  readonly names?: Replacements
  /** Functions, plain (`str`) or of a missing object (`console.log`). `X` in a replacement is the only argument. */
  readonly calls?: Replacements
  /** Methods and properties of values. Of several replacements, the first one that values of the type have is meant. */
  readonly members?: Replacements
}

export type Replacements = Readonly<Record<string, string | null>>

function row(form: string, from: string, harn: string, more: Pick<Habit, 'names' | 'calls' | 'members'> = {}): Habit {
  return { form, from, harn, ...more }
}

export const HABITS = {
  // ---- literals and names ----------------------------------------------------------------------------------------------
  nothing: row('null, undefined, None', 'JavaScript and Python', 'the empty value is `nil`', {
    names: { null: 'nil', undefined: 'nil', None: 'nil', NULL: 'nil', nullptr: 'nil', Null: 'nil', Nil: 'nil', Nothing: 'nil' },
  }),
  truth: row('True, False', 'Python', 'the truth values are `true` and `false`', {
    names: { True: 'true', False: 'false', TRUE: 'true', FALSE: 'false' },
  }),
  infinity: row('NaN, Infinity', 'JavaScript', 'write `0.0 / 0.0` and `1.0 / 0.0`, and ask with `is_nan` and `is_infinite`', {
    names: { NaN: null, Infinity: null },
  }),
  self: row('this', 'JavaScript', 'a method names its receiver as its first parameter: `fn area(self) { return self.width }`', {
    names: { this: 'self' },
  }),
  singleQuotes: row("'text'", 'JavaScript and Python', 'strings are written with double quotes: `"text"`'),
  backquotes: row('`text ${x}`', 'JavaScript', 'strings with `${…}` are written with double quotes, of several lines with `"""`'),
  fString: row('f"hello {name}"', 'Python', 'write `"hello ${name}"`: every string takes `${…}`'),
  hashComment: row('# comment', 'Python', 'comments begin with `//`'),
  dashComment: row('-- comment', 'SQL, Lua and Haskell', 'comments begin with `//`'),
  semicolon: row('statement;', 'C and JavaScript', 'a statement ends with its line: remove the semicolon'),

  // ---- declarations ----------------------------------------------------------------------------------------------------
  constant: row('const x = 1', 'JavaScript', 'names are bound with `let`, those that are assigned again with `var`'),
  letMut: row('let mut x = 1', 'Rust', 'a name that is assigned again is bound with `var`'),
  typeFirst: row('int n = 1', 'C and Java', 'the type stands behind the name: `let n: int = 1`'),
  severalBindings: row('let a = 1, b = 2', 'JavaScript', 'each name has its own `let`'),
  severalTargets: row(
    'a, b = f(), let a, b = f(), a, b := f()',
    'Python, Lua and Go',
    'a list is taken apart by `let [a, b] = f()`; assignments have one target',
  ),
  bareBinding: row('n: int = 1', 'Python', 'names are bound with `let n: int = 1`'),
  dollarName: row('$name = 1', 'PHP, Perl and shells', 'names have no `$`: bind them with `let name = 1`'),
  scopeWord: row(
    'global x, nonlocal x',
    'Python',
    'variables around a function are read as they are; what it changes is returned, or kept in `atomic(…)`',
  ),
  goType: row('type P struct { … }', 'Go', 'write `struct P { … }`'),
  generatorStar: row('function* f() {}', 'JavaScript', 'a generator is declared with `gen fn f() { … }`'),
  walrus: row('n := 1', 'Go and Python', 'names are bound with `let n = 1`'),
  functionWord: row(
    'def f(x):, function f(x) {}, func f(x) {}',
    'Python, JavaScript and Go',
    'functions are declared with `fn name(args) { return … }`',
  ),
  lambda: row('lambda x: x + 1', 'Python', 'a closure is `{ x -> x + 1 }`'),
  arrow: row(
    'x => x + 1, (a, b) => a + b',
    'JavaScript',
    'a closure is `{ x -> x + 1 }`, with several parameters `{ a, b -> a + b }`',
  ),
  barClosure: row('|x| x + 1', 'Rust and Ruby', 'a closure is `{ x -> x + 1 }`'),
  asyncWord: row(
    'async fn f() {}',
    'JavaScript and Python',
    'every function may wait: remove `async`; `spawn { … }` runs something beside the rest',
  ),
  awaitWord: row(
    'await f()',
    'JavaScript and Python',
    'calls wait by themselves: remove `await`; `await(task)` is for tasks of `spawn`',
  ),
  classWord: row('class C { … }', 'JavaScript and Python', 'write `struct` for the data and `impl` for the methods'),
  newWord: row('new X(…)', 'JavaScript and Java', 'a struct is made by `X {field: value}`, without `new`'),
  structCall: row('X(a, b) of a struct', 'Python and Kotlin', 'a struct is made by naming its fields: `X {field: value}`'),
  fromImport: row('from m import x', 'Python', 'write `import { x } from "std/m"`'),
  plainImport: row(
    "import x, import x from 'm'",
    'Python and JavaScript',
    'write `import "std/m"`, or `import { x } from "std/m"`',
  ),
  exportWord: row('export function f() {}', 'JavaScript', 'what others may import is marked `pub`: `pub fn f() { … }`'),
  decorator: row('static, private, public', 'Java', 'functions are private unless marked `pub`'),
  keywordArgument: row('f(a = 1)', 'Python', 'arguments go by position; options go in a dict: `f({a: 1})`'),

  // ---- control flow ----------------------------------------------------------------------------------------------------
  elseIf: row('elif, elsif, elseif', 'Python, Ruby and PHP', 'write `else if`'),
  bracelessBlock: row('if (c) f()', 'C and JavaScript', 'a block stands in braces: `if c { … }`'),
  arrayType: row('string[]', 'TypeScript', 'the type of a list is `list<string>`'),
  colonBlock: row('if c:, while c:, for x in xs:', 'Python', 'a block stands in braces: `if c { … }`'),
  forLet: row('for (let i = 0; i < n; i++)', 'JavaScript and C', 'write `for i in 0 to n exclusive { … }`'),
  forOf: row('for (const x of xs)', 'JavaScript', 'write `for x in xs { … }`'),
  range: row('0..3, 1..=3', 'Rust and Ruby', 'a range is `0 to 3 exclusive`, with its end `1 to 3`'),
  switchWord: row('switch (x) { case 1: … }', 'JavaScript and C', 'write `match x { 1 -> { … } _ -> { … } }`'),
  caseWord: row('case 1:, default:', 'JavaScript and C', 'an arm of `match` is `1 -> { … }`, the last one `_ -> { … }`'),
  matchArrow: row('1 => …', 'Rust', 'an arm of `match` is `pattern -> { … }`'),
  matchBraces: row('1 -> "one"', 'Kotlin and Elixir', 'the body of a `match` arm stands in braces: `1 -> { "one" }`'),
  unless: row('unless c', 'Ruby', 'write `if !condition { … }` or `guard condition else { … }`'),
  modifier: row('f() if c, f() unless c', 'Ruby and Perl', 'a condition stands before its block: `if c { f() }`'),
  ifLet: row(
    'if let x = f(), while let x = f(), guard let x = f()',
    'Swift and Rust',
    'bind first, then ask: `let x = f()` and `if x != nil { … }`',
  ),
  ifThenElse: row('if c then a else b', 'Haskell and ML', 'a choice of two values is `c ? a : b`'),
  nestedTernary: row(
    'a ? x : b ? y : z',
    'C and JavaScript',
    'put a choice within a choice in parentheses: `a ? x : (b ? y : z)`',
  ),
  whenWord: row('when x { 1 -> … else -> … }', 'Kotlin', 'write `match x { 1 -> { … } _ -> { … } }`'),
  matchWith: row('match x with { … }', 'ML', 'write `match x { pattern -> { … } }`'),
  timesLoop: row('3.times { |i| … }', 'Ruby', 'write `for i in 0 to 3 exclusive { … }`'),
  trailingBlock: row(
    'xs.map { |x| x * 2 }',
    'Ruby, Kotlin and Swift',
    'a closure is an argument in parentheses: `xs.map({ x -> x * 2 })`',
  ),
  pairLoop: row(
    'for i, x in enumerate(xs), for k, v in d',
    'Python and Go',
    'write `for {index, value} in xs.enumerate()`, `for {key, value} in dict`, or `for (a, b) in pairs`',
  ),
  goWord: row('go f(x)', 'Go', 'write `spawn { f(x) }`'),
  deferCall: row('defer f(x)', 'Go', 'what is done at the end stands in braces: `defer { f(x) }`'),
  tryCall: row(
    'try f(), try! f(), try? f()',
    'Swift and Zig',
    'errors pass through calls by themselves; a result of them is `try { f() }`',
  ),
  catchType: row('catch (Exception e)', 'Java and C++', 'write `catch (e) { … }`, and look at `e` inside'),
  assertWord: row('assert a == b, "text"', 'Python', 'write `assert(a == b, "text")`'),
  until: row('until c', 'Ruby', 'write `while !condition { … }`'),
  loopWord: row('loop { … }', 'Rust', 'write `while true { … }`'),
  doWhile: row('do { … } while (c)', 'C and JavaScript', 'write `while true { … if !condition { break } }`'),
  doEnd: row('do |x| … end, while c do … end', 'Ruby and Lua', 'write `for x in xs { … }`; blocks stand in braces'),
  except: row('except E as e:', 'Python', 'write `try { … } catch (e) { … }`'),
  raise: row('raise E("…")', 'Python', 'write `throw "…"`'),
  throwNew: row('throw new Error("…")', 'JavaScript', 'any value can be thrown: `throw "…"`'),
  passWord: row('pass', 'Python', 'a block may be empty: `{ }`', { names: { pass: null } }),
  thenWord: row('if c then …', 'Ruby and Lua', 'a block stands in braces: `if c { … }`'),
  withAs: row('with open(p) as f:', 'Python', 'read a file with `read_file(path)`; clean up with `defer { … }`'),

  rangeStep: row(
    'for i in 0 to 10 step 2',
    'Rust and Kotlin',
    'ranges count by one: write `var i = 0` and `while i <= 10 { … i += 2 }`',
  ),
  deleteWord: row('delete d.a, del d["a"]', 'JavaScript and Python', 'write `d = d.remove("a")`'),
  turnedOperator: row('x =+ 1', 'a slip', 'write `x += 1`'),
  patternShorthand: row(
    '{kind: "run", command} -> …',
    'JavaScript',
    'in a pattern a key names what it binds: `{command: command}`',
  ),
  dictShorthand: row('{name, age: 3}', 'JavaScript', 'a dict writes key and value: `{name: name}`'),
  numberWord: row(
    '1_000, 1e6, 0xff',
    'Python, JavaScript and Rust',
    'a number is written in decimal digits: `1000`, `1000000`, `255`, `0.001`',
  ),

  // ---- operators -------------------------------------------------------------------------------------------------------
  andWord: row('a and b', 'Python', 'logical and is `&&`'),
  orWord: row('a or b', 'Python', 'logical or is `||`'),
  notWord: row('not a', 'Python', 'logical not is `!`'),
  strictEqual: row('===, !==', 'JavaScript', 'equality is `==` and `!=`'),
  unequal: row('<>, ~=', 'SQL and Lua', 'unequal is `!=`'),
  isNone: row('x is None, x is not None', 'Python', 'compare with nil: `x == nil`, `x != nil`'),
  elvis: row('a ?: b', 'Kotlin', 'a value in place of nil is `a ?? b`'),
  spaceship: row('a <=> b', 'Ruby and PHP', 'sort by a key: `xs.sort_by({ x -> x.age })`'),
  sliceStep: row('xs[::2]', 'Python', 'a slice is `xs[from:to]`, without a step: filter `xs.enumerate()` by `index`'),
  reference: row('&self, &mut x', 'Rust and C', 'there are no references: remove `&`'),
  optionalType: row(
    'int?, x?: int',
    'Kotlin, Swift and TypeScript',
    'a type that allows nil is `int | nil`, a parameter that may be left out `x: int | nil = nil`',
  ),
  typeBrackets: row('List[int], Dict[str, int]', 'Python', 'types stand in angle brackets: `list<int>`, `dict<string, int>`'),
  questionMethod: row('x.nil?, xs.empty?', 'Ruby', 'names have no question mark: `x == nil`, `xs.empty()`, `xs.contains(x)`'),
  instanceOf: row('x instanceof T', 'JavaScript', 'ask `type_of(x) == "int"`'),
  typeOf: row('typeof x', 'JavaScript', 'write `type_of(x)`'),
  increment: row('i++, i--', 'C and JavaScript', 'write `i += 1` and `i -= 1`'),
  integerDivision: row('a // b', 'Python', 'integers divide to integers with `/`; `//` begins a comment'),
  bitOperator: row(
    'a ^ b, a & b, a << 1',
    'C',
    'there are no bit operators: a power is `a ** b`, a shift `a * 2 ** n`, logical and `&&`',
  ),
  nilAssign: row('x ??= y, x ||= y', 'JavaScript and Ruby', 'write `x = x ?? y`'),
  conditionAssign: row('if x = 2', 'C', 'compare with `==`; an assignment is a statement'),
  listTernary: row('c ? [x] : []', 'JavaScript', '`?[` is the optional index: put the list in parentheses, `c ? ([x]) : []`'),
  pythonTernary: row('"x" if c else "y"', 'Python', 'write `c ? "x" : "y"`'),
  comprehension: row('[x * 2 for x in xs if c]', 'Python', 'write `xs.filter({ x -> c }).map({ x -> x * 2 })`'),
  spreadDict: row('**options, *args', 'Python', 'a list is spread with `...args`, a dict with `...options`'),
  tuple: row(
    '(a, b), let (a, b) = pair',
    'Python and Rust',
    'a group of values is a list: `[a, b]`, taken apart by `let [a, b] = …`',
  ),
  concat: row('a . b, a .. b', 'PHP and Lua', 'strings are joined with `+` or by `"${a}${b}"`'),
  asCast: row('x as int', 'Rust and TypeScript', 'convert with `to_int(x)`, `to_float(x)`, `to_string(x)`'),
  genericCall: row('::', 'Rust and C++', 'members are named with a dot: `Enum.Variant`'),
  macro: row('println!("…"), vec![…]', 'Rust', 'there are no macros: `println("…")`, `[…]`'),
  printWord: row('print x', 'Python 2 and Ruby', 'printing is a call: `println(x)`'),
  wordCall: row('f x', 'Ruby', 'arguments stand in parentheses: `f(x)`'),
  percentFormat: row('"n = %d" % n', 'Python', 'put values into strings: `"n = ${n}"`'),
  dictKeyOnStruct: row('struct["field"]', 'JavaScript and Python', 'a field is read with a dot: `value.field`'),
  optionalCall: row('x!.y, x!', 'Swift and TypeScript', 'write `x?.y`, or `x ?? default`'),

  // ---- functions and objects -------------------------------------------------------------------------------------------
  console: row(
    'console.log(x), printf, puts, echo',
    'JavaScript, C, Ruby and PHP',
    'print with `println(x)`, to stderr with `eprintln(x)`',
    {
      calls: {
      'console.log': 'println', 'console.info': 'println', 'console.debug': 'println', 'console.error': 'eprintln', 'console.warn': 'eprintln',
      'fmt.Println': 'println', 'fmt.Printf': null, 'System.out.println': 'println', 'logging.info': 'log_info', 'logging.error': 'log_error',
      'logging.warning': 'log_warn', 'logging.debug': 'log_debug', 'logger.info': 'log_info', 'logger.error': 'log_error',
      'sys.stderr.write': 'eprint', 'sys.stdout.write': 'print', 'process.stdout.write': 'print', printf: null, puts: 'println', echo: 'println',
      pprint: 'println',
    }, // prettier-ignore
    },
  ),
  conversion: row(
    'str(x), int(x), parseInt(x), Number(x)',
    'Python and JavaScript',
    'convert with `to_string(x)`, `to_int(x)`, `to_float(x)`',
    {
      calls: {
      str: 'to_string', int: 'to_int', float: 'to_float', parseInt: 'to_int', parseFloat: 'to_float', String: 'to_string', Number: 'to_float',
      Boolean: null, bool: null, repr: 'to_string', Integer: 'to_int', list: 'to_list', atoi: 'to_int', itoa: 'to_string', tostring: 'to_string',
      tonumber: 'to_float', 'strconv.Itoa': 'to_string', 'strconv.Atoi': 'to_int',
    }, // prettier-ignore
    },
  ),
  typeNames: row('typeof(x), type(x), isinstance(x, T)', 'JavaScript and Python', 'ask `type_of(x) == "int"`', {
    calls: {
      typeof: 'type_of',
      type: 'type_of',
      isinstance: null,
      typeOf: 'type_of',
      'Array.isArray': 'type_of(X) == "list"',
      callable: null,
    },
  }),
  json: row(
    'JSON.parse, JSON.stringify, json.loads',
    'JavaScript and Python',
    'write `json_parse(text)` and `json_stringify(value)`',
    {
      calls: {
      'JSON.parse': 'json_parse', 'JSON.stringify': 'json_stringify', 'json.loads': 'json_parse', 'json.dumps': 'json_stringify',
      'json.parse': 'json_parse', 'json.stringify': 'json_stringify', 'json.decode': 'json_parse', 'json.encode': 'json_stringify',
      'yaml.safe_load': 'yaml_parse', 'yaml.load': 'yaml_parse', 'yaml.dump': 'yaml_stringify',
    }, // prettier-ignore
    },
  ),
  math: row(
    'Math.floor(x), math.sqrt(x)',
    'JavaScript and Python',
    'these are plain functions: `floor(x)`, `sqrt(x)`, `max(a, b)`',
    {
      calls: Object.fromEntries(
        [
          'floor',
          'ceil',
          'round',
          'abs',
          'sqrt',
          'pow',
          'sin',
          'cos',
          'tan',
          'exp',
          'min',
          'max',
          'sign',
          'log2',
          'log10',
          'atan2',
        ].flatMap((name) => [
          [`Math.${name}`, name],
          [`math.${name}`, name],
        ]),
      ),
    },
  ),
  mathMore: row(
    'Math.random(), random.randint(a, b)',
    'JavaScript and Python',
    'write `random()`, `random_int(min, max)`, `random_choice(list)`',
    {
      calls: {
      'Math.random': 'random', 'random.random': 'random', 'random.randint': 'random_int', 'random.choice': 'random_choice', 'Math.log': 'ln',
      'math.log': 'ln', 'Math.trunc': 'to_int', 'random.shuffle': 'random_shuffle', randint: 'random_int',
    }, // prettier-ignore
      names: { 'Math.PI': 'pi', 'math.pi': 'pi', 'Math.E': 'e', 'math.e': 'e', PI: 'pi' },
    },
  ),
  objects: row(
    'Object.keys(d), Object.assign(a, b)',
    'JavaScript',
    'write `d.keys()`, `d.values()`, `d.entries()`, `a.merge(b)`',
    {
      calls: {
      'Object.keys': 'keys', 'Object.values': 'values', 'Object.entries': 'entries', 'Object.assign': null, 'Object.freeze': null,
      'Object.fromEntries': null, 'Array.from': 'to_list', 'Array.of': null, 'Promise.all': null, 'Promise.resolve': null,
    }, // prettier-ignore
    },
  ),
  time: row(
    'time.sleep(1), Date.now(), setTimeout(f, 10)',
    'Python and JavaScript',
    'write `sleep(1s)`, `now_ms()`, `timestamp()`',
    {
      calls: {
      'time.sleep': null, setTimeout: null, setInterval: null, 'Date.now': 'now_ms', 'time.time': 'timestamp', 'datetime.now': 'date_now',
      'asyncio.sleep': null, 'Thread.sleep': null, 'performance.now': 'now_ms',
    }, // prettier-ignore
    },
  ),
  environment: row(
    'process.env.X, os.getenv("X"), sys.argv',
    'JavaScript and Python',
    'write `env("X")`; arguments of the script are in `argv`',
    {
      calls: {
        'os.getenv': 'env',
        'os.environ.get': 'env',
        getenv: 'env',
        'process.exit': 'exit',
        'sys.exit': 'exit',
        'os.exit': 'exit',
      },
      names: { 'process.env': null, 'os.environ': null, 'sys.argv': null, 'process.argv': null },
    },
  ),
  files: row(
    'open(path), fs.readFileSync(path)',
    'Python and JavaScript',
    'write `read_file(path)` and `write_file(path, text)`',
    {
      calls: {
      open: null, 'fs.readFileSync': 'read_file', 'fs.writeFileSync': 'write_file', 'fs.readFile': 'read_file', 'fs.writeFile': 'write_file',
      'fs.existsSync': 'file_exists', 'os.path.exists': 'file_exists', 'os.path.join': 'path_join', 'path.join': 'path_join',
      'os.listdir': 'list_dir', 'path.basename': 'basename', 'path.dirname': 'dirname',
    }, // prettier-ignore
    },
  ),
  processes: row('subprocess.run([…]), os.system(c)', 'Python', 'write `exec("cmd", "arg")` or `shell("command line")`', {
    calls: {
      'subprocess.run': null,
      'os.system': 'shell',
      'child_process.execSync': 'shell',
      execSync: 'shell',
      system: 'shell',
    },
  }),
  requests: row('fetch(url), requests.get(url)', 'JavaScript and Python', 'write `http_get(url)` and `http_post(url, body)`', {
    calls: {
      fetch: null,
      'requests.get': 'http_get',
      'requests.post': null,
      'axios.get': 'http_get',
      'axios.post': null,
      'http.get': 'http_get',
    },
  }),
  input: row('input("…"), prompt("…")', 'Python and JavaScript', 'write `prompt_user("…")`, or `read_line()`', {
    calls: { input: 'prompt_user', readline: 'read_line', raw_input: 'prompt_user' },
  }),
  regex: row(
    're.match(p, s), new RegExp(p)',
    'Python and JavaScript',
    'write `regex_match(pattern, text)`, `regex_replace(pattern, replacement, text)`',
    {
      calls: {
      're.match': 'regex_match', 're.search': 'regex_match', 're.findall': 'regex_match', 're.sub': 'regex_replace_all', 're.split': null,
      RegExp: null,
    }, // prettier-ignore
    },
  ),
  collections: row(
    'sorted(xs), sum(xs), map(f, xs)',
    'Python',
    'these are methods: `xs.sort()`, `xs.sum()`, `xs.map({ x -> … })`',
    {
      calls: {
      sorted: 'X.sort()', reversed: 'X.reverse()', sum: 'X.sum()', enumerate: 'X.enumerate()', zip: null, map: null, filter: null, reduce: null,
      any: null, all: null, tuple: null, next: null, append: null, sort: 'X.sort()', reverse: 'X.reverse()', size: 'len', length: 'len',
      count: 'len', push: null, hash: 'hash_value', id: null,
    }, // prettier-ignore
    },
  ),
  strings: row('strlen(s), sprintf(…), String.format(…)', 'C, PHP and Java', 'write `len(s)`, `"${…}"`, `format("{}", x)`', {
    calls: {
      strlen: 'len',
      sprintf: null,
      'String.format': null,
      'fmt.Sprintf': null,
      strcmp: null,
      'string.format': null,
      ord: null,
      chr: null,
    },
  }),
  errors: row('Error("…"), Exception("…")', 'JavaScript and Python', 'any value can be thrown: `throw "…"`', {
    calls: {
      Error: 'X',
      Exception: 'X',
      ValueError: 'X',
      TypeError: 'X',
      RuntimeError: 'X',
      KeyError: 'X',
      panic: 'throw_error',
      raise: null,
    },
  }),
  printFunction: row('Println, writeln', 'Go and Pascal', 'print with `println(x)`', {
    calls: { Println: 'println', writeln: 'println', WriteLine: 'println' },
  }),

  // ---- members ---------------------------------------------------------------------------------------------------------
  length: row('.length, .size, .len', 'JavaScript, Java and Rust', 'the number of items is `xs.count` or `len(xs)`', {
    members: { length: 'count len', size: 'count len', len: 'count', Length: 'count len', Count: 'count len', num_items: null },
  }),
  appendMember: row('.append(x), .add(x)', 'Python and Java', 'lists are values: `xs = xs.push(x)`, or `xs + [x]`', {
    members: {
      append: 'push add',
      add: 'push',
      push_back: 'push',
      unshift: null,
      shift: null,
      extend: null,
      insert: null,
      splice: null,
      concat: 'union',
      prepend: null,
    },
  }),
  caseMember: row('.toUpperCase(), .upper()', 'JavaScript and Python', 'write `s.uppercase()` and `s.lowercase()`', {
    members: {
      toUpperCase: 'uppercase',
      toLowerCase: 'lowercase',
      upcase: 'uppercase',
      downcase: 'lowercase',
      to_uppercase: 'uppercase',
      to_lowercase: 'lowercase',
    },
  }),
  forEachMember: row('.forEach(f), .each { }', 'JavaScript and Ruby', 'write `for x in xs { … }`', {
    members: { forEach: 'map', each: 'map', for_each: 'map', each_with_index: null },
  }),
  includesMember: row('.includes(x), .indexOf(x)', 'JavaScript', 'write `xs.contains(x)` and `xs.index_of(x)`', {
    members: {
      includes: 'contains has', include: 'contains has', indexOf: 'index_of', lastIndexOf: 'last_index_of', 'include?': 'contains', findIndex: 'find_index', has_key: 'has',
      hasOwnProperty: 'has', containsKey: 'has', contains_key: 'has', some: 'any', hasKey: 'has',
    }, // prettier-ignore
  }),
  stringMember: row(
    '.startsWith(p), .strip()',
    'JavaScript and Python',
    'write `s.starts_with(p)`, `s.ends_with(p)`, `s.trim()`, `s.substring(a, b)`',
    {
      members: {
      startsWith: 'starts_with', endsWith: 'ends_with', startswith: 'starts_with', endswith: 'ends_with', strip: 'trim', trimStart: 'trim_start',
      trimEnd: 'trim_end', lstrip: 'trim_start', rstrip: 'trim_end', charAt: 'char_at', substr: null, replaceAll: 'replace', padStart: 'pad_left',
      padEnd: 'pad_right', replace_all: 'replace', start_with: 'starts_with', end_with: 'ends_with', splitlines: 'lines', gsub: null,
      slice: 'substring', charCodeAt: null, zfill: null, isdigit: null, capitalize: null, title: null,
    }, // prettier-ignore
    },
  ),
  convertMember: row(
    '.toString(), .to_s, .collect()',
    'JavaScript, Ruby and Rust',
    'write `to_string(x)`, `to_int(x)`; lazy sequences become lists with `.to_list()`',
    {
      members: {
        toString: null,
        to_s: null,
        to_i: null,
        collect: 'to_list',
        unwrap: null,
        toFixed: null,
        to_str: null,
        parse: null,
        to_a: null,
        toArray: 'to_list',
        toList: 'to_list',
      },
    },
  ),
  itemsMember: row('.items(), .isEmpty()', 'Python and Java', 'write `d.entries()`, `xs.empty()`', {
    members: {
      items: 'entries',
      isEmpty: 'empty',
      is_empty: 'empty',
      iteritems: 'entries',
      'empty?': 'empty',
      set_default: null,
      update: 'merge',
      flatMap: 'flat_map',
      sortBy: 'sort_by',
      groupBy: 'group_by',
      fold: 'reduce',
      inject: 'reduce',
      sorted: 'sort',
      uniq: 'unique',
      distinct: 'unique',
      findAll: 'filter',
      find_all: 'filter',
      every: 'all',
      reversed: 'reverse',
      where: 'filter',
      select: 'filter',
      at: null,
    },
  }),
  formatMember: row('"{}".format(x)', 'Python', 'write `"${x}"`, or `format("{}", x)`', { members: { format: null } }),
} as const satisfies Readonly<Record<string, Habit>>

export type HabitName = keyof typeof HABITS

export interface FoundHabit {
  readonly name: HabitName
  readonly habit: Habit
  readonly replacement: string | null
  /** All possible replacements; the first is used. */
  readonly words: readonly string[]
}

function collect(part: 'names' | 'calls' | 'members'): ReadonlyMap<string, FoundHabit> {
  const found = new Map<string, FoundHabit>()
  for (const [name, habit] of Object.entries(HABITS) as [HabitName, Habit][]) {
    for (const [word, replacement] of Object.entries(habit[part] ?? {})) {
      const words = replacement === null ? [] : part === 'members' ? replacement.split(' ') : [replacement]
      found.set(word, { name, habit, replacement: words[0] ?? null, words })
    }
  }
  return found
}

let names: ReadonlyMap<string, FoundHabit> | null = null
let calls: ReadonlyMap<string, FoundHabit> | null = null
let members: ReadonlyMap<string, FoundHabit> | null = null

/** The meaning of an undefined name (`null`), or a path of names (`Math.PI`). */
export function findNameHabit(name: string): FoundHabit | null {
  return (names ??= collect('names')).get(name) ?? null
}

/** The meaning of an undefined function, plain or of an object: `str`, `console.log`. */
export function findCallHabit(path: string): FoundHabit | null {
  return (calls ??= collect('calls')).get(path) ?? null
}

export function listMemberHabits(): readonly string[] {
  return [...(members ??= collect('members')).keys()]
}

/** The meaning of a method or property that a value does not have. */
export function findMemberHabit(name: string): FoundHabit | null {
  return (members ??= collect('members')).get(name) ?? null
}
