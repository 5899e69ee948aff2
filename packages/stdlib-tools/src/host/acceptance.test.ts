// Where each line of the acceptance list of tools is tested (reference 05 §9, the lines on dispatch, grants, retry, sandbox, responses,
// replay and snapshots, traces and catalogue). The table is kept true: a test that is renamed or a script that goes fails here.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A script of the conformance suite by its path, or a file of tests and a piece of it. */
type Place = string | readonly [file: string, text: string]

const TRACE = 'packages/stdlib-tools/src/host/trace/trace.test.ts'
const RULES = 'packages/compiler/src/grants/rules.test.ts'
const RETRY = 'packages/stdlib-tools/src/tools/dispatch/retry.test.ts'
const DISPATCH = 'packages/stdlib-tools/src/tools/dispatch/dispatch.test.ts'
const FILES = 'packages/stdlib-tools/src/node/files.test.ts'
const HTTP = 'packages/stdlib-tools/src/node/http.test.ts'
const DRIVER = 'packages/stdlib-tools/src/host/driver.test.ts'
const RUNTIME = 'packages/stdlib-tools/src/host/runtime.test.ts'
const STREAMS = 'packages/stdlib-tools/src/tools/executors/streams.test.ts'
const BUDGETS = 'packages/stdlib-tools/src/tools/policy/host-budgets.test.ts'

const LINES: readonly (readonly [line: number, what: string, places: readonly Place[]])[] = [
  [
    1,
    'a denied call never reaches the provider; the trace has it with latency 0, without success',
    [[TRACE, 'a denied call never reaches the tool, and is traced with latency 0 and without success']],
  ],
  [
    2,
    'unknown names list near ones, and nothing stands in for a result',
    ['tool_call/unknown_names', [DISPATCH, 'unknown names']],
  ],
  [
    3,
    'two aliases of one tool have grants and budgets of their own',
    ['grants/two_aliases_of_one_tool', 'grants/pinned_arguments', 'grants/budgets'],
  ],
  [
    4,
    'results that break their schema, with the place',
    [
      'tool_call/results_that_break_their_schema',
      [DISPATCH, 'results from outside are decoded and checked by the output schema'],
    ],
  ],
  [
    5,
    'every row of constraints, domain patterns and merging',
    [
      [RULES, "describe('constraints'"],
      [RULES, "describe('domain patterns'"],
      [RULES, "describe('grants of one scope'"],
      'grants/scopes_narrow',
    ],
  ],
  [
    7,
    'a redirect to a host that is not allowed',
    ['grants/redirects', [HTTP, 'a redirect to an address that may not be reached is refused']],
  ],
  [
    11,
    'budgets over restores and parallel branches',
    [
      [BUDGETS, 'parallel branches do not spend it twice'],
      [BUDGETS, 'it survives a restore'],
    ],
  ],
  [
    12,
    'delays exactly; a hint overrides and is capped; jitter is the same for the same call',
    [
      [RETRY, "['fibonacci', ["],
      [RETRY, 'the wait that a failure asks for is taken as it is, up to the cap'],
      [RETRY, 'jitter stays within a quarter and the cap, and is the same for the same call'],
    ],
  ],
  [
    13,
    'work that may have happened is repeated only where the tool allows it, with the same key',
    [
      [DISPATCH, 'work that may have happened is not repeated for a tool that does not allow it'],
      [DISPATCH, 'a refusal that began no work is retried with the same call id until it succeeds'],
      [RETRY, "['idempotent', { recovery: 'idempotent' }, true]"],
    ],
  ],
  [
    14,
    'paths, with an exchange between judging and opening',
    [
      [FILES, "describe('sandbox'"],
      [FILES, 'between judging a path and opening it'],
    ],
  ],
  [
    15,
    'addresses in every disguise, names that resolve elsewhere, redirects inwards',
    [
      [HTTP, "['http://0177.0.0.1/', {}, 'private_address']"],
      [HTTP, 'a name that resolves to a private address is refused when connecting'],
      [HTTP, 'a redirect to an address that may not be reached is refused'],
    ],
  ],
  [
    16,
    'what is thrown and what is returned',
    [
      'catalogue/thrown_and_returned',
      ['packages/stdlib-tools/src/host/catalogue/catalogue.test.ts', 'what is thrown and what is returned'],
    ],
  ],
  [
    17,
    'batches in order; streams that wait, and end when they are left',
    [
      'tool_call/batches_and_given_arguments',
      'tool_call/chunks',
      [STREAMS, 'a slow script slows the tool down'],
      [STREAMS, 'a closure that answers false ends the tool at once'],
    ],
  ],
  [
    21,
    'a replay performs nothing and has the same trace',
    [
      [DRIVER, 'a replay performs nothing and gives the same output'],
      [RUNTIME, 'to the same trace hash'],
      ['packages/cli/test/suspend.process.test.ts', 'the program printed something else'],
    ],
  ],
  [
    23,
    'a call with other arguments than recorded, by its name',
    [
      [RUNTIME, "code: 'replay_mismatch', actual: { kind: 'fs.read'"],
      ['packages/cli/test/suspend.process.test.ts', 'fs.read was called with other arguments than recorded'],
    ],
  ],
  [
    24,
    'snapshots of whatever is alive, in another process and in another engine',
    [
      ['fuzz/another-engine.test.ts', "'closures and a counter that they share'"],
      ['fuzz/another-engine.test.ts', "'handlers, deadlines and what is deferred'"],
      ['fuzz/another-engine.test.ts', "'parallel calls that wait'"],
    ],
  ],
  [
    25,
    'edited, dropped and moved events',
    [
      [TRACE, "'dropped and renumbered'"],
      [TRACE, "'edited with its hash'"],
      [TRACE, 'a field that was added, of any name, is found'],
    ],
  ],
  [
    26,
    'the graph of a parallel run and its critical path',
    [
      [TRACE, 'the critical path of a parallel run'],
      [TRACE, 'of a real run'],
    ],
  ],
  [
    27,
    'every standard tool: schema, examples, and no more power than declared',
    [
      ['packages/stdlib-tools/src/host/catalogue/catalogue.test.ts', 'const refused = await powerless.tryCall(name, args)'],
      ['packages/stdlib-tools/src/host/catalogue/standard-tools.test.ts', 'for (const kind of performed)'],
      ['packages/stdlib-tools/src/host/catalogue/standard-tools.test.ts', 'ids are those of the reference, with two more'],
    ],
  ],
]

test.each(LINES)('line %i: %s', (_line, _what, places) => {
  for (const place of places) {
    if (typeof place === 'string') {
      for (const end of ['harn', 'expected']) {
        const script = `conformance/tests/${place}.${end}`
        expect({ script, exists: existsSync(join(root, script)) }).toEqual({ script, exists: true })
      }
    } else {
      const [file, text] = place
      expect({ file, text, found: readFileSync(join(root, file), 'utf8').includes(text) }).toEqual({ file, text, found: true })
    }
  }
})
