// `vision_ocr` against a program that answers as tesseract does, and where there is none.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRuntime } from '../host/runtime.js'
import { nodeProviders } from './providers.js'

let folder: string
beforeAll(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-vision-')))))
afterAll(() => rmSync(folder, { recursive: true }))

const HEADING = 'level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext'
const ROWS = [
  '1\t1\t0\t0\t0\t0\t0\t0\t200\t100\t-1\t',
  '5\t1\t1\t1\t1\t1\t10\t10\t40\t12\t96.5\tHello',
  '5\t1\t1\t1\t1\t2\t60\t8\t40\t14\t90.5\tworld',
  '5\t1\t1\t1\t2\t1\t10\t30\t30\t12\t20\tfaint',
  '5\t1\t2\t1\t1\t1\t10\t60\t30\t12\t80\ta\tb',
  '5\t1\t2\t1\t1\t2\t10\t60\t30\t12\t95\t ',
]

/** A program that checks what it got, and prints `lines`. */
function writeProgram(name: string, body: string): void {
  writeFileSync(join(folder, name), `#!${process.execPath}\n${body}\n`, { mode: 0o755 })
}

function run(source: string): Promise<unknown> {
  const runtime = createRuntime({
    grants: ['*'],
    providers: () => nodeProviders({ root: folder, env: { PATH: folder } }),
  })
  return runtime.run(source, { effects: 'off' })
}

test('blocks, lines and tokens with their boxes; faint tokens are left out', async () => {
  writeFileSync(join(folder, 'scan.png'), Uint8Array.of(0x89, 0x50, 0xff, 0))
  writeProgram(
    'tesseract',
    `const content = require('node:fs').readFileSync(0)
process.stderr.write(JSON.stringify([process.argv.slice(2), content.toString('hex')]))
if (content.toString('hex') !== '8950ff00') process.exit(3)
if (process.argv.slice(2).join(' ') !== 'stdin stdout -l eng+deu --psm 6 tsv') process.exit(4)
console.log(${JSON.stringify([HEADING, ...ROWS].join('\n'))})`,
  )
  const options = '{language: "eng+deu", page_mode: 6, min_confidence: 0.5}'
  const read = (await run(`return vision_ocr("scan.png", ${options})`)) as Record<string, unknown>
  expect(read).toMatchObject({
    _type: 'structured_text',
    text: 'Hello world\n\na\tb',
    source: { kind: 'path', path: 'scan.png', bytes: 4 },
    backend: { name: 'tesseract', language: 'eng+deu', page_mode: 6 },
    stats: { page_count: 1, block_count: 2, line_count: 2, token_count: 3, mean_confidence: expect.closeTo(0.89, 6) },
    lines: [
      {
        text: 'Hello world',
        box: { left: 10, top: 8, width: 90, height: 14 },
        confidence: expect.closeTo(0.935, 6),
        token_count: 2,
      },
      { text: 'a\tb' },
    ],
  })
  expect(await run(`return vision_ocr({base64: "iVD/AA=="}, ${options}).source`)).toEqual({
    kind: 'inline',
    path: null,
    media_type: null,
    bytes: 4,
  })
})

test('a program that fails, and one that is not installed', async () => {
  writeFileSync(join(folder, 'scan.png'), 'x')
  writeProgram('tesseract', `process.stderr.write('no such language\\n'); process.exit(1)`)
  await expect(run('return vision_ocr("scan.png")')).rejects.toThrow(
    'vision_ocr: tesseract failed with status 1: no such language',
  )
  rmSync(join(folder, 'tesseract'))
  await expect(run('return vision_ocr("scan.png")')).rejects.toThrow(
    'vision_ocr: the program tesseract is not installed; install Tesseract OCR so that it is found on PATH',
  )
})
