import { display, parseJson } from '@bridle/vm/families'
import type { EffectOutcome, Value } from '@bridle/vm/families'
import { expect, test } from 'vitest'
import { templateFamily } from './template.js'
import { callBuiltin, makeFakeMachine, faultText } from '../../../../vm/src/builtins/test-support/fake-machine.js'

const readJson = (text: string): Value => {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}

function project(files: Readonly<Record<string, string>>) {
  const machine = makeFakeMachine(templateFamily)
  machine.perform = (effect): EffectOutcome => {
    const path = String(effect.args['path'])
    if (effect.kind === 'fs.query') return { ok: true, value: Object.hasOwn(files, '/harn.toml') ? '/' : null }
    const text = files[path]
    return {
      ok: true,
      value:
        text === undefined
          ? { refused: true, code: 'ENOENT', detail: 'No such file or directory (os error 2)', path }
          : { path, data: text },
    }
  }
  const call = (name: string, text: string, bindings = '{}'): string =>
    display(callBuiltin(machine, name, text, readJson(bindings)))
  return {
    call,
    render: (text: string, bindings = '{}') => call('render_string', text, bindings),
    fault: (name: string, text: string, bindings = '{}') => faultText(() => call(name, text, bindings)),
  }
}

const { render, fault } = project({})
const stringFault = (text: string, bindings = '{}'): string => fault('render_string', text, bindings)

test('values and names that are not bound', () => {
  expect(render("{{a}} {{ a.b }}|{{ b | default: 'z' | upper }}")).toBe('{{a}} |Z')
  expect(
    render('{{ name }}/{{n}}/{{ xs[-1] }}{{ s[0] }}{{ d["k k"] }}', '{"name":"x","n":null,"xs":[1,2],"s":"ab","d":{"k k":3}}'),
  ).toBe('x//2a3')
})

test('blocks', () => {
  expect(render('{{ for k, v in m }}{{ k }}{{ v }}{{ if !loop.last }},{{ end }}{{ end }}', '{"m":{"y":2,"x":1}}')).toBe('x1,y2')
  expect(render('{{ for x in xs }}{{ loop.index }}:{{x}} {{ else }}none{{ end }}', '{"xs":[]}')).toBe('none')
  expect(render('{{ if a and b == 2 }}1{{ elif not c }}2{{ else }}3{{ end }}', '{"a":" ","b":2}')).toBe('2')
  expect(render('{{ if (a or b) >= 2 }}y{{ end }}', '{"b":2}')).toBe('y')
  expect(render('a\n  {{- if true -}}  \n b{{ end }}')).toBe('a b')
  expect(render('x{{# no {{ #}}y{{ raw }}{{ z }}{{ endraw }}')).toBe('xy{{ z }}')
  expect(render('{{ "}}" }}{{ \'a\\n\' }}')).toBe('}}a\n')
})

test('filters', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['{{ s | capitalize }}', 'Ab cd'],
    ['{{ s | title }}', 'Ab Cd'],
    ['{{ xs | join: ", " }}', '1, 2'],
    ['{{ xs | first }}{{ xs | last }}', '12'],
    ['{{ s | length }}', '5'],
    ['{{ xs | json }}', '[1,2]'],
    ['{{ d | json: true }}', '{\n  "a": 1.5,\n  "b": 2.0\n}'],
    ['{{ l | indent: 2 }}', 'a\n\n  b'],
    ['{{ l | indent: 2, true }}', '  a\n\n  b'],
    ['{{ m | escape_md }}', '\\*a\\_b\\*'],
    ['{{ s | replace: "b", "x" }}', 'ax cd'],
    ['{{ s | reverse }}', 'dc ba'],
    ['{{ l | lines | length }}', '3'],
    ['{{ nope | length }}', '0'],
    ['{{ nope | first }}', ''],
  ]
  for (const [text, expected] of cases)
    expect([text, render(text, '{"s":"ab cd","xs":[1,2],"d":{"b":2.0,"a":1.5},"l":"a\\n\\nb","m":"*a_b*"}')]).toEqual([
      text,
      expected,
    ])
})

test('errors have a place', () => {
  expect(stringFault('a\n {{ end }}')).toBe('at 2:2: unexpected `{{ end }}`')
  expect(stringFault('{{ if x }}')).toBe('at 1:1: `{{ if }}` missing matching `{{ end }}`')
  expect(stringFault('{{ for x in y }}{{ else }}')).toBe('at 1:1: `{{ else }}` missing matching `{{ end }}`')
  expect(stringFault('{{ for x y }}{{ end }}')).toBe('at 1:1: expected `in` in for-loop')
  expect(stringFault('{{ for 1 in y }}{{ end }}')).toBe('at 1:1: invalid for-loop variable')
  expect(stringFault('{{ for x in 5 }}{{ end }}')).toBe('at 1:1: cannot iterate over int — expected list, dict, set, or range')
  expect(stringFault('{{ a')).toBe('at 1:1: unterminated directive')
  expect(stringFault('{{# a')).toBe('at 1:1: unterminated comment')
  expect(stringFault('{{ raw }}')).toBe('at 1:1: unterminated `{{ raw }}` block')
  expect(stringFault('{{ x | foo }}')).toBe('at 1:1: unknown filter `foo`')
  expect(stringFault('{{ x | join }}')).toBe('at 1:1: filter `join` got wrong number of arguments')
  expect(stringFault('{{ 5 | join: "," }}')).toBe('at 1:1: `join` requires a list (got int)')
  expect(stringFault('{{ include 5 }}')).toBe('at 1:1: include path must be a string (got int)')
  expect(stringFault('{{ include "a" with b }}')).toBe('at 1:1: expected `{ ... }` after `with`')
})

test('files and includes', () => {
  const files = project({
    '/harn.toml': '[asset_roots]\nshared = "assets"\n',
    '/src/main.prompt': 'top {{ include "sub/a.prompt" with { who: name | upper, n: 2 } }}\n',
    '/src/sub/a.prompt': 'hi {{who}}{{n}} {{ include "b.prompt" }}',
    '/src/sub/b.prompt': '<{{name}}>',
    '/src/loop.prompt': '{{ include "loop2.prompt" }}',
    '/src/loop2.prompt': ' {{ include "loop.prompt" }}',
    '/src/up.prompt': '{{ include "../x.prompt" }}',
    '/src/gone.prompt': '{{ include "nope.prompt" }}',
    '/src/bad.prompt': '{{ include "bad2.prompt" }}',
    '/src/bad2.prompt': '\n{{ x | foo }}',
    '/assets/p.prompt': 'P{{ include "@/x.prompt" }}',
    '/x.prompt': 'X',
  })
  expect(files.call('render', 'main.prompt', '{"name":"ann"}')).toBe('top hi ANN2 <ann>\n')
  expect(files.call('render_prompt', '@shared/p.prompt')).toBe('PX')
  expect(files.fault('render', 'none.prompt')).toBe(
    'Failed to read template /src/none.prompt: No such file or directory (os error 2)',
  )
  expect(files.fault('render', 'loop.prompt')).toBe(
    '/src/loop2.prompt at 1:2: circular include detected: /src/loop.prompt → /src/loop2.prompt → /src/loop.prompt',
  )
  expect(files.fault('render', 'up.prompt')).toContain('escapes template root /src')
  expect(files.fault('render', 'gone.prompt')).toBe(
    '/src/gone.prompt at 1:1: failed to read included template /src/nope.prompt: No such file or directory (os error 2)',
  )
  expect(files.fault('render', 'bad.prompt')).toBe('/src/bad2.prompt at 2:1: unknown filter `foo`')
  expect(files.fault('render', '@zzz/p')).toBe("asset alias 'zzz' is not defined in [asset_roots] of /harn.toml")
  expect(files.fault('render', '@/../p')).toBe("invalid project-root asset path '@/../p'")
  expect(project({}).fault('render', '@/p')).toBe(
    "package-root prompt path '@/p' has no project root: no harn.toml found above /src",
  )
})

test('provenance', () => {
  const files = project({ '/src/p': 'é{{a}}\n{{ if b }}{{ b.c }}{{ end }}' })
  expect(files.call('render_with_provenance', 'p', '{"a":1,"b":{"c":"xyz"}}')).toBe(
    '{prompt_id: prompt-1, spans: [' +
      '{kind: text, output_end: 2, output_start: 0, template_col: 0, template_line: 0}, ' +
      '{bound_value: 1, kind: legacy_bare, output_end: 3, output_start: 2, template_col: 0, template_line: 0}, ' +
      '{kind: text, output_end: 4, output_start: 3, template_col: 0, template_line: 0}, ' +
      '{bound_value: xyz, kind: expr, output_end: 7, output_start: 4, template_col: 11, template_line: 2}, ' +
      '{kind: if, output_end: 7, output_start: 4, template_col: 1, template_line: 2}], template_uri: /src/p, text: é1\nxyz}',
  )
  expect(files.call('prompt_mark_rendered', 'prompt-1')).toBe('1')
})
