// Only the code that opened a narrowing scope can close it. Code inside, in particular an untrusted module, tries to end it, to open a wider one
// or to escape from it.

import { runToText, makeHostOptions, must } from '../../attempt.js'
import { memoryModules } from '@bridle/stdlib-tools'
import type { CodeCase } from '../../load-cases.js'

const ORDER = 'tool_call("shop.order", {item: "gold", amount: 1000})'

/** Bodies of a function of the module that runs inside. */
const ESCAPES: Readonly<Record<string, string>> = {
  'ends the scope by the name that the compiler uses': `try { __grants_pop() } catch (e) { nil }\n${ORDER}`,
  'ends it by that name as a text': `for name in ["__grants_pop", "__grants_pop!", "grants_pop"] { try { nil |> name } catch (e) { nil } }\n${ORDER}`,
  'ends the policy of commands': `command_policy_pop()\ncommand_policy_pop()\nhost_call("process.exec", {mode: "argv", argv: ["touch", "x"]})\n${ORDER}`,
  'opens a wider one': `with_grants({"shop.order": {max_calls: 100}}, { -> ${ORDER} })`,
  'opens a wider policy': `with_policies({policy: {}, approval_policy: {auto_approve: ["*"]}, permissions: {allow: ["*"]}}, { -> ${ORDER} })`,
  'does it in a task': `await(spawn { try { __grants_pop() } catch (e) { nil }\ncommand_policy_pop()\nhost_call("process.exec", {mode: "argv", argv: ["touch", "x"]})\n${ORDER} })`,
  'does it in a task that outlives it': `return spawn { sleep(2ms)\ntry { __grants_pop() } catch (e) { nil }\n${ORDER} }`,
  'does it where a permission is asked about': `with_policies({permissions: {deny: ["notes.read"], on_escalation: { r -> ${ORDER} }}}, { -> tool_call("notes.read", {id: "1"}) })`,
  'does it in a generator that is read later': `return late()`,
  'throws itself out': `try { throw "x" } finally { ${ORDER} }`,
}

const SCOPES: Readonly<Record<string, string>> = {
  'grants without calls': 'with_grants({"shop.order": {max_calls: 0}, "process.exec": {max_calls: 0}}, { -> inner() })',
  'a grant of another argument':
    'with_grants({"shop.order": {item: "bread"}}, { -> with_command_policy({deny_patterns: ["*"]}, { -> inner() }) })',
  'denied approval':
    'with_policies({approval_policy: {auto_deny: ["*order"]}, command_policy: {deny_patterns: ["*"]}}, { -> inner() })',
  'a ceiling of tools': 'with_policies({policy: {tools: ["notes.read"], side_effect_level: "read_only"}}, { -> inner() })',
  'denied permissions':
    'with_policies({permissions: {deny: ["*order"]}, command_policy: {deny_patterns: ["*"]}}, { -> inner() })',
}

const IMPORTS = 'import "std/tools"\nimport "std/grants"\nimport "std/policy"\n'

export const cases: readonly CodeCase[] = Object.entries(SCOPES).flatMap(([scope, open]) =>
  Object.entries(ESCAPES).map(([escape, body]): CodeCase => ({
    name: `who runs under ${scope} ${escape}`,
    promise: 'scripts-only-narrow',
    attack: async (world) => {
      const inner = `${IMPORTS}gen fn late() { emit ${ORDER} }\npub fn inner() {\n${body}\n}\n`
      const main = `${IMPORTS}import { inner } from "inner"\nlet held = try { ${open} } catch (e) { nil }\ntry { await(held) } catch (e) { nil }\n`
      const text = await runToText(main, {
        ...makeHostOptions(world, world.providers),
        resolve: memoryModules({ 'inner.harn': inner }),
      })
      must(!text.includes('Undefined') && !text.startsWith('failed'), text)
      const beyond = world.performed.filter((what) => what === 'tool:shop.order' || what === 'process.exec')
      must(beyond.length === 0, `performed ${beyond.join(', ')}`)
    },
  })),
)
