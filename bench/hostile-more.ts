// More scripts that try to block the host's thread, beside those of hostile.ts: the library over the largest permitted data, and
// calls that look cheap and are not. Each was once quadratic, uncharged or an unsplit operation, or resembles one that was.

import { DICT, LONG, RECORDS, TEXT, WORDS } from './hostile-data.js'

export const MORE_HOSTILE: Readonly<Record<string, string>> = {
  'union of sets of lists':
    'var a = set()\nvar b = set()\nvar ls: any = []\nvar ms: any = []\nfor i in 1 to 20000 { ls = ls.push([i])\nms = ms.push([0 - i]) }\na = set(ls)\nb = set(ms)\nlet c = a.union(b)\nprintln(len(c))',
  'subset of sets of lists':
    'var ls: any = []\nvar ms: any = []\nfor i in 1 to 20000 { ls = ls.push([i])\nms = ms.push([i * 1.0]) }\nlet a = set(ls)\nlet b = set(ms)\nprintln(a.is_subset(b))',
  'in a set of lists':
    'var ls: any = []\nfor i in 1 to 30000 { ls = ls.push([i]) }\nlet a = set(ls)\nwhile true { let b = a.contains([0]) }',
  'a set, added to': `${WORDS}var a = set(ws)\nvar i = 0\nwhile true { a = a.add(i)\ni += 1 }`,
  'a set, taken from': `${WORDS}var a = set(ws)\nwhile true { let b = a.remove("none") }`,
  'a set shown': `${WORDS}let a = set(ws)\nwhile true { let b = to_string(a) }`,
  'set mapped': `${WORDS}let a = set(ws)\nwhile true { let b = a.map({ x -> x + "!" }) }`,
  'tally of records': `${RECORDS}while true { let b = rs.tally() }`,
  partition: `${RECORDS}while true { let b = rs.partition({ r -> r.id > 5 }) }`,
  dedup_by: `${RECORDS}while true { let b = dedup_by(rs, { r -> r.id }) }`,
  'max of lists':
    'var ls: any = []\nlet a = (1 to 1000).to_list()\nfor i in 1 to 50000 { ls = ls.push(a) }\nwhile true { let b = ls.max() }',
  map_values: `${DICT}while true { let b = d.map_values({ v -> v + 1 }) }`,
  'filter of a dict': `${DICT}while true { let b = d.filter({ v -> v > 5 }) }`,
  'remove from a dict': `${DICT}while true { let b = d.remove("k5") }`,
  'assert_eq of records': `${RECORDS}let qs = json_parse(json_stringify(rs))\nwhile true { assert_eq(rs, qs) }`,
  'hash_value of records': `${RECORDS}while true { let b = hash_value(rs) }`,
  median: `${LONG}while true { let b = median(xs) }`,
  shuffle: `${LONG}let r = rng_seed(1)\nwhile true { let b = random_shuffle(r, xs) }`,
  'query parsed':
    'let t = "a=1&" * 60000\nprintln(len(to_string(try { query_parse(t) })))\nwhile true { let b = query_parse(t) }',
  'url parsed': 'let t = "http://a/" + "b/" * 500000\nwhile true { let b = url_parse(t) }',
  cookies: 'let t = "a=1; " * 60000\nwhile true { let b = cookie_parse(t) }',
  multipart:
    'let t = "--x\\r\\nContent-Disposition: form-data; name=\\"a\\"\\r\\n\\r\\nb\\r\\n" * 8000 + "--x--\\r\\n"\nwhile true { let b = multipart_parse(t, "multipart/form-data; boundary=x") }',
  'multipart written':
    'var fs: any = []\nfor i in 1 to 20000 { fs = fs.push({name: "a${i}", value: "b"}) }\nwhile true { let b = multipart_form_data(fs) }',
  'base32 back': `${TEXT}let e = base32_encode(text[0:400000])\nwhile true { let b = base32_decode(e) }`,
  'bytes shown as hex': `${TEXT}let a = bytes_from_string(text)\nwhile true { let b = bytes_to_hex(a) }`,
  'bytes to base64': `${TEXT}let a = bytes_from_string(text)\nwhile true { let b = bytes_to_base64(a) }`,
  blake3: 'let t = "a" * 2000000\nwhile true { let b = blake3(t) }',
  sha3: 'let t = "a" * 1900000\nwhile true { let b = sha3_256(t) }',
  'ed25519 verify':
    'let k = ed25519_keypair()\nlet s = ed25519_sign(k.private_key, "a")\nwhile true { let b = ed25519_verify(k.public_key, "a", s) }',
  'brotli back': `${TEXT}let z = brotli_encode(text)\nwhile true { let b = brotli_decode(z) }`,
  'gzip of noise': 'var t = ""\nfor i in 1 to 20000 { t = t + sha256(to_string(i)) }\nwhile true { let b = gzip_encode(t) }',
  'zip of many':
    'var fs: any = []\nfor i in 1 to 8000 { fs = fs.push({path: "a${i}", content: "b"}) }\nwhile true { let b = zip_create(fs) }',
  'tar of many':
    'var fs: any = []\nfor i in 1 to 8000 { fs = fs.push({path: "a${i}", content: "b"}) }\nwhile true { let b = tar_create(fs) }',
  'unzip of many':
    'var fs: any = []\nfor i in 1 to 6000 { fs = fs.push({path: "a${i}", content: "b"}) }\nlet z = zip_create(fs)\nwhile true { let b = zip_extract(z) }',
  'YAML of a dict': `${DICT}println(len(to_string(try { yaml_stringify(d) })))`,
  'YAML of texts': `${WORDS}println(len(to_string(try { yaml_stringify(ws) })))`,
  'CSV with headers': 'let c = "a,b,c,d\\n" * 30000\nwhile true { let b = csv_parse(c, {headers: true}) }',
  'CSV of lists':
    'var ls: any = []\nfor i in 1 to 30000 { ls = ls.push([i, "a", 2.5]) }\nwhile true { let b = csv_stringify(ls) }',
  'schema of dicts': `${DICT}while true { let b = schema_check(d, {type: "dict", additional_properties: {type: "int"}}) }`,
  'schema of unions': `${RECORDS}println(len(to_string(try { schema_parse(rs, {type: "list", items: {union: [{type: "int"}, {type: "string"}, {type: "dict", properties: {id: {type: "int"}}}]}}) })))`,
  'template over records': `${RECORDS}while true { let b = render_string("{{ for r in rs }}{{ r.id }} {{ r.name }}\\n{{ end }}", {rs: rs}) }`,
  'jq sort': `${RECORDS}while true { let b = jq(rs, "sort_by(.name)") }`,
  json_pointer_set: `${RECORDS}while true { let b = json_pointer_set(rs, "/5/id", 7) }`,
  graphemes: 'let t = "é" * 20000\nwhile true { let b = unicode_graphemes(t) }',
  normalize: 'let t = "é" * 500000\nwhile true { let b = unicode_normalize(t, "NFKD") }',
  'title of words': 'let t = "ab cd " * 100000\nwhile true { let b = title_case(t) }',
  'date formats': 'var i = 0\nwhile true { let s = date_format(i, "%A %B %d %Y %H:%M:%S %z", "Europe/Berlin")\ni += 100000 }',
  'a date with many zones': 'while true { let s = date_in_zone(1700000000, "America/New_York") }',
  'path normalized': 'let t = "a/../" * 300000\nwhile true { let b = path_normalize(t) }',
  'diff of texts':
    'var a = ""\nvar b = ""\nfor i in 1 to 2000 { a = a + "${i}\\n"\nb = b + "${i * 7 % 2003}\\n" }\nwhile true { let d = artifact_diff("p", a, b) }',
  junit:
    'let x = "<testsuite>" + "<testcase name=\\"a\\" time=\\"1\\"><failure>b</failure></testcase>" * 8000 + "</testsuite>"\nwhile true { let b = parse_junit_xml(x) }',
  'iter to set': `${LONG}while true { let b = iter(xs).to_set() }`,
  'iter to dict': `${LONG}while true { let b = iter(xs).map({ x -> pair(to_string(x), x) }).to_dict() }`,
  structs: 'struct P { x: int, y: int }\nvar xs: any = []\nwhile true { xs = xs.push(P {x: 1, y: 2}) }',
  pairs: 'var xs: any = []\nwhile true { xs = xs.push(pair(1, 2)) }',
  'texts in texts': 'var xs: any = []\nvar i = 0\nwhile true { xs = xs.push("${i} and ${i + 1} and ${i + 2}")\ni += 1 }',
  'parallel each': `${LONG}let r = parallel each xs { x -> x + 1 }\nprintln(len(r))`,
  'shared map':
    'let m = shared_map({scope: "task", key: "m"})\nvar i = 0\nwhile true { shared_map_set(m, "k${i}", [i])\ni += 1 }',
  'log of records': `${RECORDS}while true { log_info("x", {a: rs}) }`,
  'list in list':
    'var ls: any = []\nfor i in 1 to 60000 { ls = ls.push([i, [i]]) }\nwhile true { let b = ls.index_of([0, [0]]) }',
  'format of a dict': 'let t = "{a}" * 200000\nwhile true { let b = format(t, {a: 1}) }',
  'sort by text of records': `${RECORDS}while true { let b = rs.sort_by({ r -> r.tags }) }`,
  'deep flatten': 'var x: any = [1]\nfor i in 1 to 100000 { x = [x] }\nwhile true { let b = x.flatten() }',
  'channel of values': 'let c = channel("a", 200000)\nvar i = 0\nwhile true { send(c, [i])\ni += 1 }',
  'CSV of rows without a common key':
    'var rs: any = []\nfor i in 1 to 5000 { rs = rs.push({["k${i}"]: i}) }\nprintln(len(csv_stringify(rs)))',
  'a small zip of large files':
    'let a = "a" * 1900000\nvar fs: any = []\nfor i in 1 to 20 { fs = fs.push({path: "a${i}", content: a}) }\nlet z = zip_create(fs)\nwhile true { let b = zip_extract(z) }',
  // Each of these blocked the thread for a tenth of a second to half a minute when it was found.
  'a schema of many choices':
    'let xs = (1 to 20000).to_list()\nlet cs = xs.map({ i -> 0 - i })\nprintln(is_ok(schema_check(xs, {type: "list", items: {enum: cs}})))',
  'a schema of many branches':
    'let xs = (1 to 5000).to_list()\nlet u = (1 to 200).to_list().map({ i -> {type: "string"} })\nprintln(is_ok(schema_check(xs, {type: "list", items: {union: u}})))',
  'a schema of many keys':
    'let r = (1 to 1000).to_list().map({ i -> "k${i}" })\nlet xs = r.map({ i -> {a: 1} })\nprintln(is_ok(schema_check(xs, {items: {type: "dict", required: r}})))',
  'a schema of itself, twice': 'println(is_ok(schema_check(1, {all_of: [{"$ref": "#"}, {"$ref": "#"}]})))',
  'a schema of a pattern': 'println(is_ok(schema_check("a" * 1000000, {type: "string", pattern: "(a+a+)+b"})))',
  'a schema in other words':
    'let ps = (1 to 20000).map({ i -> pair("k${i}", {type: "int"}) }).to_dict()\nwhile true { let b = schema_to_json_schema({type: "dict", properties: ps}) }',
  'a long list for a list of ints': 'fn f(xs: list<int>) { return 1 }\nlet xs = (1 to 200000).to_list()\nwhile true { f(xs) }',
  'a list of one list for lists of ints':
    'fn f(xs: list<list<int>>) { return 1 }\nlet e = (1 to 1000).to_list()\nlet xs = e.map({ x -> e })\nwhile true { f(xs) }',
  'a dict for a dict of ints': `fn f(d: dict<string, int>) { return 1 }\n${DICT}while true { f(d) }`,
  'a set, begun again and again': 'let s = set((1 to 60000).to_list())\nwhile true { for x in s { break } }',
  'an iterator over a set': 'let s = set((1 to 60000).to_list())\nwhile true { let i = s.iter() }',
  'long texts in lists, compared':
    'let t = "ab" * 400000 + "c"\nlet u = "ab" * 400000 + "c"\nlet a = (1 to 10000).to_list().map({ x -> t })\nlet b = a.map({ x -> u })\nwhile true { let c = a == b }',
  'a long text in a dict, thrown': 'let d = {message: "a" * 4000000}\nwhile true { try { throw d } catch (e) { } }',
  'a choice of many channels':
    'let cs = (1 to 30000).to_list().map({ x -> channel("c${x}", 1) })\nwhile true { let r = channel_select(cs, 0) }',
  'many tasks that fail':
    'let xs = (1 to 50000).to_list()\nlet r = parallel settle xs { x -> throw x }\nprintln(len(to_string(r)))',
  'many tasks that sleep': 'for i in 1 to 50000 { spawn { sleep(50000 - i) } }\nsleep(1)\nwhile true { sleep(0) }',
  'many tasks at one channel':
    'let c = channel("c", 1)\nfor i in 1 to 50000 { spawn { receive(c) } }\nsleep(0)\nwhile true { send(c, 1)\nsleep(0) }',
  'unknown names': 'while true { try { mcp_list_tools(1) } catch (e) { } }',
  'a long word quoted in an error':
    'let t = "é" * 500000\nwhile true { try { flow_invariant_require_approval(t, t) } catch (e) { } }',
  'a long fill': 'let t = "ab" * 800000\nwhile true { let b = str_pad("a", 2, t) }',
  'a long key': 'let t = "ab" * 800000\nwhile true { let b = shared_cell(t) }',
  'small errors': 'while true { try { csv_stringify([1]) } catch (e) { } }',
  'small signatures': 'while true { let u = signed_url("http://a/b", {a: 1}, "a", 200000) }',
  'small archives': 'while true { let b = gzip_encode("a") }',
  'gzip of what is alike': 'let t = ("a" * 300 + "b") * 6000\nwhile true { let b = gzip_encode(t, 9) }',
  'zstd of noise': 'var t = ""\nfor i in 1 to 20000 { t = t + sha256(to_string(i)) }\nwhile true { let b = zstd_encode(t) }',
  'a zip of noise':
    'var t = ""\nfor i in 1 to 20000 { t = t + sha256(to_string(i)) }\nwhile true { let b = zip_create([{path: "a", content: t}]) }',
  'gzip of many members':
    'var z = gzip_encode("a", 0)\nfor i in 1 to 14 { z = bytes_concat(z, z) }\nprintln(bytes_len(gzip_decode(z)))',
}
