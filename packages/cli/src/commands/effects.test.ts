// Output of `bridle check --effects`. How a manifest is computed is tested with the runtime (manifest.test.ts there).

import { createRuntime } from '@bridle/stdlib-tools'
import { expect, test } from 'vitest'
import { renderManifest } from './effects.js'

test('the report names effects, tools, powers, rows and grants', () => {
  const source = `import { tool_call } from "std/tools"
@effects(external)
@grant("Fetch", domain: "*.example.com", timeout_ms: 500)
fn fetch(u) { return tool_call("Fetch", {url: u}) }
fn all(urls, action) { return urls.map({ u -> action(fetch(u)) }) }
fn loose(d) { return d.anything() }
pipeline default(task) { println(all(["a"], { x -> write_file("o", x) })) }
`
  const { manifest } = createRuntime({}).compile(source, { file: 'script.harn' })
  expect(renderManifest('script.harn', manifest)).toBe(`script.harn
  the whole script
    effects  external, fs
    tools    Fetch
    powers   fs.write, tool.call
    grant    Fetch domain "*.example.com" timeout_ms 500, in fetch
  fn fetch (line 2)          external; row: external; tools: Fetch; grant: Fetch domain "*.example.com" timeout_ms 500
  fn all (line 5)            external; and what it is given as action; tools: Fetch
  fn loose (line 6)          none; and whatever it finds at run time
  pipeline default (line 7)  external, fs; tools: Fetch
`)
})
