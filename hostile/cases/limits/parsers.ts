// Parsers of untrusted text: any character or opening construct repeated twenty thousand times, and a hundred thousand or a million times.
// Such input once ended the process, because a library recursed as deep as the input and a regular expression was compiled when the stack was
// nearly full.

import { createRuntime } from '@bridle/stdlib-tools'
import { makeCases, must } from '../../attempt.js'

const LIMITS = { heap: 64 << 20, fuel: 5_000_000 }

/** Parser calls with the input `t`. */
const PARSERS: Readonly<Record<string, string>> = {
  YAML: 'yaml_parse(t)',
  'YAML behind a key': 'yaml_parse("a: " + t)',
  'YAML in a list': 'yaml_parse("- " + t)',
  TOML: 'toml_parse(t)',
  'TOML behind a key': 'toml_parse("a = " + t)',
  JSON: 'json_parse(t)',
  'JSON in a text': 'json_extract(t)',
  CSV: 'csv_parse(t, {headers: true})',
  JUnit: 'parse_junit_xml(t)',
  'calls of tools': 'tool_parse_call(t)',
  URLs: 'url_parse("http://a.test/" + t)',
  queries: 'query_parse(t)',
  cookies: 'cookie_parse(t)',
  'set cookies': 'cookie_round_trip(t, t)',
  'signed cookies': 'session_from_cookies(t, "a", "b")',
  'multipart bodies': 'multipart_parse(t, "multipart/form-data; boundary=" + t[0:60])',
  'multipart with that as its type': 'multipart_parse("--a", t)',
  dates: 'date_parse(t)',
  UUIDs: 'uuid_parse(t)',
  templates: 'render_string(t, {a: 1})',
  patterns: 'regex_match(t, "aaa")',
  'patterns over it': 'regex_match("(a|.)*b", t)',
  formats: 'format(t, 1)',
  manifests: 'context_pack_manifest_parse(t)',
  jq: 'jq({a: 1}, t)',
  JWT: 'jwt_verify("HS256", t, "k")',
  base64: 'base64_decode(t)',
  'escaped addresses': 'url_decode(t)',
}

const REPEATED = [
  ...'{}[]()<>`/|&*?#%-:;,.=+!~^@$_\'"\\ \t\n\u00000aTé😀\u2028',
  ...['\r\n', '{}', '[]', '()', '<>', '{{', '}}', '{%', '{a: ', '[a: ', 'a: ', 'a:\n ', '- ', '? ', '&a ', '*a ', '!a '],
  ...[
    '<a>',
    '<a b="',
    '<!--',
    '<![CDATA[',
    '&amp;',
    '{"a":',
    '[[',
    '[],',
    '{},',
    'a.',
    'a=1;',
    '"\\',
    '%7',
    '```\n',
    '(?:',
    '[^',
    '.[',
  ],
]

/** Number of repetitions. Each fourth construct is repeated a million times, a different fourth in each parser; all of them would take minutes. */
function listLengths(parser: number, thing: number): readonly number[] {
  return [20_000, (parser + thing) % 4 === 0 ? 1_000_000 : 100_000]
}

export const cases = makeCases(
  'thread-is-free',
  Object.fromEntries(
    Object.entries(PARSERS).map(([name, call], parser) => [
      `a parser of ${name} is given one thing without end`,
      async () => {
        const runtime = createRuntime({ grants: ['*'], enforceManifest: false, limits: LIMITS, globals: ['unit', 'times'] })
        const module = runtime.compile(
          `let t = unit * times\nlet r = try { ${call} } catch (e) { "caught" }\nreturn type_of(r)`,
          {
            strict: false,
          },
        )
        for (const [thing, unit] of REPEATED.entries())
          for (const times of listLengths(parser, thing)) {
            const { status } = await runtime.start(module, { globals: { unit, times } }).result
            must(status === 'done' || status === 'limit', `${JSON.stringify(unit)} ${times} times: ended as ${status}`)
          }
      },
    ]),
  ),
)
