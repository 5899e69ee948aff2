// Times one program in one embedded engine, in a separate process: `node measure.mjs ENGINE SOURCE NAME`. SOURCE is the source of the
// program in the engine's language; for JavaScript engines it is the bundle of all of them, and NAME selects one. `embedding`
// as NAME measures the costs of embedding instead. The output is one line of JSON; times are processor time, as everywhere
// in the benchmark.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const LEAST_RUNS = 4
const LEAST_MS = 250
/** After this time a slow engine may stop before LEAST_RUNS. */
const ENOUGH_MS = 2000
const CALLS = 200_000
const FRESH = 100

const require = createRequire(import.meta.url)
const [engineName = '', file = '', name = ''] = process.argv.slice(2)

const GREETINGS = 'hello ada hello ada ; hello grace hello grace '
const TEN_LINES = {
  js: `function greet(name, times) {
  let text = ''
  for (let i = 0; i < times; i++) text = text + \`hello \${name} \`
  return text
}
(() => {
  const names = ['ada', 'grace']
  const greetings = names.map((name) => greet(name, 2))
  return greetings.join('; ')
})()
`,
  lua: `local function greet(name, times)
  local text = ""
  for i = 1, times do text = text .. "hello " .. name .. " " end
  return text
end
local names = {"ada", "grace"}
local greetings = {}
for i, name in ipairs(names) do greetings[i] = greet(name, 2) end
return table.concat(greetings, "; ")
`,
  python: `def greet(name, times):
    text = ""
    for i in range(times):
        text = text + "hello " + name + " "
    return text

names = ["ada", "grace"]
greetings = [greet(name, 2) for name in names]
"; ".join(greetings)
`,
}

/**
 * An engine provides `load(text, name)`, which returns a function that does the work and returns its result as text;
 * `hostLoop(add)`, which returns a function that calls the host's `add` CALLS times; and `fresh(text)`, which makes a new machine,
 * runs a program on it and returns its result.
 */
const ENGINES = {
  async 'quickjs-emscripten'() {
    const { getQuickJS } = await import('quickjs-emscripten')
    const quickjs = await getQuickJS()
    const evaluate = (context, text) => {
      const handle = context.unwrapResult(context.evalCode(text))
      const value = context.dump(handle)
      handle.dispose()
      return value
    }
    const make = () => {
      const context = quickjs.newContext()
      context.runtime.setMaxStackSize(4 << 20)
      return context
    }
    return {
      load(text, program) {
        const context = make()
        evaluate(context, `${text};0`)
        return () => evaluate(context, `run(${JSON.stringify(program)})`)
      },
      hostLoop(add) {
        const context = make()
        const host = context.newFunction('add', (a, b) => context.newNumber(add(context.getNumber(a), context.getNumber(b))))
        context.setProp(context.global, 'add', host)
        host.dispose()
        return () => evaluate(context, `{let n = 0; while (n < ${CALLS}) n = add(n, 1); n}`)
      },
      fresh() {
        const context = make()
        const value = evaluate(context, TEN_LINES.js)
        context.dispose()
        return value
      },
    }
  },

  async wasmoon() {
    const { LuaFactory } = require('wasmoon')
    const factory = new LuaFactory()
    return {
      async load(text) {
        const lua = await factory.createEngine()
        lua.doStringSync(`work = (function() ${text} end)()`)
        return () => String(lua.doStringSync('return work()'))
      },
      async hostLoop(add) {
        const lua = await factory.createEngine()
        lua.global.set('add', add)
        return () => lua.doStringSync(`local n = 0 while n < ${CALLS} do n = add(n, 1) end return n`)
      },
      async fresh() {
        const lua = await factory.createEngine()
        const value = lua.doStringSync(TEN_LINES.lua)
        lua.global.close()
        return value
      },
    }
  },

  async fengari() {
    const { lua, lauxlib, lualib, to_luastring: bytes } = require('fengari')
    const make = () => {
      const state = lauxlib.luaL_newstate()
      lualib.luaL_openlibs(state)
      return state
    }
    const evaluate = (state, text) => {
      if (lauxlib.luaL_dostring(state, bytes(text)) !== lua.LUA_OK) throw new Error(lua.lua_tojsstring(state, -1))
      const value = lua.lua_tojsstring(state, -1)
      lua.lua_settop(state, 0)
      return value
    }
    return {
      load(text) {
        const state = make()
        evaluate(state, `work = (function() ${text} end)() return ""`)
        return () => evaluate(state, 'return tostring(work())')
      },
      hostLoop(add) {
        const state = make()
        lua.lua_pushjsfunction(state, (inner) => {
          lua.lua_pushinteger(inner, add(lua.lua_tointeger(inner, 1), lua.lua_tointeger(inner, 2)))
          return 1
        })
        lua.lua_setglobal(state, bytes('add'))
        return () => Number(evaluate(state, `local n = 0 while n < ${CALLS} do n = add(n, 1) end return n`))
      },
      fresh: () => evaluate(make(), TEN_LINES.lua),
    }
  },

  async 'isolated-vm'() {
    const ivm = require('isolated-vm')
    const make = () => new ivm.Isolate({ memoryLimit: 512 })
    return {
      load(text, program) {
        const context = make().createContextSync()
        context.evalSync(`${text};0`)
        return () => context.evalSync(`run(${JSON.stringify(program)})`)
      },
      hostLoop(add) {
        const context = make().createContextSync()
        context.global.setSync('add', new ivm.Callback(add))
        return () => context.evalSync(`{let n = 0; while (n < ${CALLS}) n = add(n, 1); n}`)
      },
      fresh() {
        const isolate = make()
        const value = isolate.createContextSync().evalSync(TEN_LINES.js)
        isolate.dispose()
        return value
      },
    }
  },

  async monty() {
    const { Monty } = await import('@pydantic/monty')
    return {
      load(text) {
        const program = new Monty(`${text}\nwork()`)
        return () => program.run()
      },
      hostLoop(add) {
        const program = new Monty(`n = 0\nwhile n < ${CALLS}:\n    n = add(n, 1)\nn`)
        return () => program.run({ externalFunctions: { add } })
      },
      fresh: () => new Monty(TEN_LINES.python).run(),
    }
  },
}

async function timeOf(work) {
  const start = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(start)
  return { result, ms: (user + system) / 1000 }
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

async function repeated(work) {
  const cold = await timeOf(work)
  const times = []
  for (let total = 0; total < LEAST_MS || (times.length < LEAST_RUNS && total < ENOUGH_MS);) {
    const { ms } = await timeOf(work)
    times.push(ms)
    total += ms
  }
  return { result: String(cold.result), cold: cold.ms, warm: median(times) }
}

function expect(result, wanted) {
  if (result !== wanted) throw new Error(`gave ${result}, want ${wanted}`)
}

async function embedding(engine) {
  const loop = await engine.hostLoop((a, b) => a + b)
  const calls = await repeated(loop)
  expect(calls.result, String(CALLS))
  const fresh = await repeated(async () => {
    for (let k = 1; k < FRESH; k++) await engine.fresh()
    return engine.fresh()
  })
  expect(fresh.result, GREETINGS)
  return { hostCallNs: (calls.warm * 1e6) / CALLS, freshUs: (fresh.warm * 1000) / FRESH }
}

const engine = await ENGINES[engineName]()
const answer =
  name === 'embedding' ? await embedding(engine) : await repeated(await engine.load(readFileSync(file, 'utf8'), name))
process.stdout.write(`${JSON.stringify(answer)}\n`)
process.exit(0)
