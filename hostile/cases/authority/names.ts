// A builtin is called by a string with its name (`x |> "http_get"`), possibly computed at run time: this bypasses no ceiling.

import { createRuntime, memoryModules } from '@bridle/stdlib-tools'
import type { CodeCase } from '../../load-cases.js'
import { makeHostOptions, must } from '../../attempt.js'
import type { World } from '../../world.js'

const CALLS: Readonly<Record<string, string>> = {
  'a text': '"http://93.184.216.34/" |> "http_get"',
  'a text of a hidden builtin': '"PATH" |> "__env_get"\n"http://93.184.216.34/" |> "http_get"',
  'a text in a name': 'let name = "http_get"\n"http://93.184.216.34/" |> name',
  'a text that is put together': 'let name = "http" + "_get"\n"http://93.184.216.34/" |> name',
  'a text that is read': 'let name = json_parse("[\\"http_get\\"]")[0]\n"http://93.184.216.34/" |> name',
  'a text in a dict': 'let names = {get: "http_get"}\n"http://93.184.216.34/" |> names.get',
  'an argument': 'fn call(name) { "http://93.184.216.34/" |> name }\ncall("http_get")',
  'a callback': '["http_get"].map({ name -> "http://93.184.216.34/" |> name })',
  'a tool of the host': '"shop.order" |> "host_tool_call"',
  'a tool, by parts': 'let name = ["host", "tool", "call"].join("_")\n"shop.order" |> name',
  'a task': 'await(spawn { "shop.order" |> "host_call" })',
  'a program': '"touch x" |> "shell"',
  'a write': 'let name = "delete" + "_file"\n"a" |> name',
}

type Way = (world: World, source: string, isHeld: boolean) => Promise<void>

const WAYS: Readonly<Record<string, Way>> = {
  'allowEffects of the program': async (world, source, enforceManifest) => {
    const runtime = createRuntime({ ...makeHostOptions(world, world.providers), enforceManifest })
    await runtime.start(runtime.compile(source, { allowEffects: ['async'], strict: false })).result
  },
  'allowEffects of an import': async (world, source, enforceManifest) => {
    const module = `pub fn inner() {\n${source}\n}\n`
    const resolve = memoryModules({ 'inner.harn': module })
    const runtime = createRuntime({ ...makeHostOptions(world, world.providers), enforceManifest, resolve })
    const main = 'import { inner } from "inner"\nlet made = inner()\n'
    const imports = { inner: { allowEffects: ['async'] } }
    await runtime.start(runtime.compile(main, { imports, strict: false })).result
  },
}

export const cases: readonly CodeCase[] = Object.entries(WAYS).flatMap(([way, attack]) =>
  Object.entries(CALLS).flatMap(([call, source]) =>
    [true, false].map((isHeld): CodeCase => ({
      name: `${call} against ${way}${isHeld ? '' : ', where runs are not held to manifests'}`,
      promise: 'effects-are-declared',
      attack: async (world) => {
        try {
          await attack(world, source, isHeld)
        } catch {
          // It was refused before the run.
        }
        // A builtin looks up variables for its own use, such as that of a proxy.
        const beyond = world.performed.filter((what) => what !== 'process.info')
        must(beyond.length === 0, `performed ${beyond.join(', ')}`)
      },
    })),
  ),
)
