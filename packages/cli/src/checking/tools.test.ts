// Tools of the host that a file declares: `bridle check --tools`, `bridle tools types`, and what an editor receives.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRegistry } from '@bridle/vm'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { checkCommand } from '../commands/check.js'
import { toolsTypesCommand } from '../commands/tools.js'
import { listCompletions, makeHover } from '../lsp/answers.js'
import { OpenDocument } from '../lsp/document.js'
import { makeSignatureHelp } from '../lsp/hints.js'
import { CheckingRuntimes } from './runtimes.js'

const folder = mkdtempSync(join(tmpdir(), 'bridle-tools-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const TOOLS = file(
  'tools.json',
  JSON.stringify([
    {
      name: 'shop.price',
      description: 'Price of an article.',
      parameters: {
        type: 'object',
        properties: {
          article: { type: 'string', description: 'Its name.' },
          size: { enum: ['small', 'large'], default: 'small' },
          to: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        required: ['article'],
      },
      output: { type: 'object', properties: { cents: { type: 'integer' } }, required: ['cents'] },
      effects: ['http'],
    },
  ]),
)

async function printed(command: () => number | Promise<number>): Promise<{ readonly code: number; readonly text: string }> {
  let text = ''
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((part) => {
      text += String(part)
      return true
    }),
  )
  try {
    return { code: await command(), text }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

const IMPORT = 'import { price } from "host/shop"\n\n'

describe('bridle check --tools', () => {
  const check = (name: string, text: string, tools: string | null = TOOLS): ReturnType<typeof printed> =>
    printed(() => checkCommand([file(name, text)], tools === null ? {} : { tools }))

  test('correct calls have no findings', async () => {
    expect(await check('right.harn', `${IMPORT}println(price({article: "tea", size: "large"}).cents)\n`)).toEqual({
      code: 0,
      text: `${join(folder, 'right.harn')}: ok\n`,
    })
  })

  test.each([
    ['price({article: 5})', 'A004'],
    ['price({artcle: "tea"})', 'A002'],
    ['price({article: "tea", size: "huge"})', 'A005'],
    ['host_tool_call("shop.price", {article: 5})', 'A004'],
    ['host_tool_call("shop.prise", {article: "tea"})', 'A001'],
  ])('%s is found', async (call, wanted) => {
    const path = file('wrong.harn', `${IMPORT}println(${call})\nprintln(price({article: "x"}))\n`)
    const { code, text } = await printed(() => checkCommand([path], { tools: TOOLS, json: true }))
    expect(code).toBe(1)
    expect((JSON.parse(text) as readonly { readonly code: string }[]).map((finding) => finding.code)).toEqual([wanted])
  })

  test('an unknown host module is reported when the tools of the host are known', async () => {
    const text = 'import { price } from "host/shpo"\n\nprintln(price({article: "x"}))\n'
    const found = await check('module.harn', text)
    expect(found.code).toBe(1)
    expect(found.text).toContain('there is no module `host/shpo` — did you mean `host/shop`?')
    expect((await check('module.harn', text, null)).text).toContain(': ok')
  })

  test('the settings of a project may name the file', async () => {
    file('harn.toml', '[check]\ntools = "tools.json"\n')
    const { text } = await check('project.harn', `${IMPORT}println(price({article: 5}))\n`, null)
    rmSync(join(folder, 'harn.toml'))
    expect(text).toContain('argument `article` of tool `shop.price` must be string, got int')
  })

  test('a file without valid declarations is refused with a reason', async () => {
    const broken = file('broken.json', '[{"name": "x", "parameters": 5}]')
    await expect(check('a.harn', 'println(1)\n', broken)).rejects.toThrow(
      'parameters of tool "x" must be a JSON Schema, got number',
    )
    await expect(check('a.harn', 'println(1)\n', join(folder, 'none.json'))).rejects.toThrow('none.json')
  })
})

describe('bridle tools types', () => {
  test('declarations with their documentation', async () => {
    expect(await printed(() => toolsTypesCommand(undefined, { tools: TOOLS }))).toEqual({
      code: 0,
      text: `// import { price } from "host/shop"
/**
 * Price of an article.
 * - article: Its name.
 * - size: (default "small")
 * Effects: http
 */
fn price(args: {article: string, size?: "small" | "large", to?: {city: string}}) -> {cents: int}
`,
    })
  })

  test('one line a tool', async () => {
    const { text } = await printed(() => toolsTypesCommand(undefined, { tools: TOOLS, short: true }))
    expect(text).toBe(
      'shop.price({article: string, size?: "small" | "large" = "small", to?: {city: string}}) -> {cents: int}  // Price of an article.\n',
    )
  })

  test('the data that check reads', async () => {
    const { text } = await printed(() => toolsTypesCommand(undefined, { tools: TOOLS, json: true }))
    const again = file('again.json', text)
    expect((await printed(() => toolsTypesCommand(undefined, { tools: again, json: true }))).text).toBe(text)
  })

  test('the standard tools are declared', async () => {
    const { code, text } = await printed(() => toolsTypesCommand(undefined, { short: true, servers: false }))
    expect(code).toBe(0)
    expect(text).toContain('http.get({url: string')
  })
})

describe('an editor', () => {
  const runtimes = new CheckingRuntimes({ flag: TOOLS })
  const registry = createRegistry([])
  const open = (text: string): OpenDocument =>
    new OpenDocument(TextDocument.create(`file://${folder}/open.harn`, 'harn', 1, text), runtimes)
  const parsed = open(`${IMPORT}println(price({article: "x"}))\n`)

  test('shows the declaration of a tool', () => {
    const { contents } = makeHover(parsed, registry, parsed.text.getText().lastIndexOf('price') + 1)!
    expect((contents as { readonly value: string }).value).toContain('fn price(args: {article: string')
    expect((contents as { readonly value: string }).value).toContain('Price of an article.')
  })

  test('shows one from a wildcard import', () => {
    const whole = open('import "host/shop"\n\nprintln(price({article: "x"}))\n')
    const { contents } = makeHover(whole, registry, whole.text.getText().lastIndexOf('price') + 1)!
    expect((contents as { readonly value: string }).value).toContain('fn price')
  })

  test.each([
    ['println(price({', ['article', 'size', 'to']],
    ['println(price({article: "x, {", s', ['size', 'to']],
    ['println(price({article: f(1, {a: 2}), to: {', ['city']],
    ['host_tool_call("shop.price", {', ['article', 'size', 'to']],
  ])('completes the names of arguments: %s', (typed, names) => {
    const document = open(`${IMPORT}${typed}`)
    const items = listCompletions(document, parsed, registry, document.text.getText().length)
    expect(items.map(({ label }) => label)).toEqual(names)
  })

  test('completes no names where a value is expected', () => {
    const document = open(`${IMPORT}println(price({article: `)
    const items = listCompletions(document, parsed, registry, document.text.getText().length)
    expect(items.map(({ label }) => label)).toContain('price')
  })

  test('helps with the signature', () => {
    const document = open(`${IMPORT}println(price({article: "x", size: `)
    const help = makeSignatureHelp(document, parsed, registry, document.text.getText().length)
    expect(help?.signatures[0]?.label).toBe(
      'shop.price({article: string, size?: "small" | "large", to?: {city: string}}) -> {cents: int}',
    )
    expect(help?.activeParameter).toBe(1)
  })
})
