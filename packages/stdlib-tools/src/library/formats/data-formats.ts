// Readers and writers of text formats: YAML, TOML, CSV and JUnit XML.

import {
  HarnDict,
  HarnList,
  Keyed,
  Problem,
  TextBuilder,
  builtin,
  builtinTaking,
  display,
  definePieces,
  makeStepWork,
  sortTexts,
  readTextArg,
} from '@bridle/vm/families'
import type { HarnBytes, BuiltinFamily, Context, Cost, Result, Steps, Value } from '@bridle/vm/families'
import { CsvReading, formatCsvLine } from './csv.js'
import { parseJunit } from './junit.js'
import { parseTomlText, stringifyToml } from './toml.js'
import { FormatError, KeyError, YamlWriting, parseYaml } from './yaml.js'
import { extractFunction } from './json-extract.js'
import { jsonPlaceFrames, jsonPlaceFunctions } from './standard-json.js'

/** Runs a conversion and puts a prefix before its errors. Fuel goes by the size of the text in or out. */
function convertWith(ctx: Context, prefix: string, convert: () => Value): Result {
  try {
    const value = convert()
    if (typeof value === 'string') ctx.charge(value.length >> 6, value.length)
    return value
  } catch (error) {
    if (error instanceof KeyError) return ctx.throw(`yaml_parse: ${error.message}`)
    if (error instanceof FormatError) return ctx.throw(`${prefix}: ${error.message}`)
    throw error
  }
}

/** Units that reading a character takes. The libraries for YAML and TOML are made for documents people write. */
const YAML_UNITS = 8
const TOML_UNITS = 4
/** Units of any call, beside those for the size. */
const TOML_CALL_UNITS = 60

function readText(ctx: Context, value: Value | undefined, units: number): string {
  const text = readTextArg(ctx, 0, value)
  ctx.charge(text.length * units, 4 * text.length)
  return text
}

// ------------------------------------------------------------------------------------------------------------------ CSV

interface CsvOptions {
  readonly headers: boolean
  readonly delimiter: string
}

function readCsvOptions(options: Value | undefined): CsvOptions {
  if (!(options instanceof HarnDict)) return { headers: false, delimiter: ',' }
  const delimiter = options.get('delimiter') ?? null
  const [first = ','] = typeof delimiter === 'string' ? delimiter : ','
  return { headers: options.get('headers') === true, delimiter: first }
}

function* readCsvInSteps(text: string, { headers, delimiter }: CsvOptions): Steps {
  const rows = yield* new CsvReading(text, delimiter).readRows(headers)
  return () => rows
}

const csvReading = definePieces('csv.parse', ([text, headers, delimiter]) =>
  makeStepWork(readCsvInSteps(text as string, { headers: headers as boolean, delimiter: delimiter as string })),
)

class CsvError extends Problem {}

/** Units of a cell, beside the walk that shows it. */
const UNITS_A_CELL = 2

/** Cells that are written between two looks at the budget. Cells are mostly short. */
const CELLS = 128

function estimateCells(cells: number): Cost {
  return { units: UNITS_A_CELL * cells, heap: 16 * cells }
}

function* iterateCsvLines(rows: HarnList, { headers, delimiter }: CsvOptions): Generator<Cost, string, void> {
  const items = rows.view()
  const isDict = items[0] instanceof Keyed
  for (const row of items) {
    if (!(row instanceof Keyed) && !(row instanceof HarnList))
      throw new CsvError('each row must be a list of cells (or use dict rows)')
    if (row instanceof Keyed && !isDict) throw new CsvError('each row must be a list of cells (or use dict rows)')
    if (row instanceof Keyed !== isDict) throw new CsvError('mixed list/dict rows are not supported')
  }
  const out = new TextBuilder()
  let cells = 0
  if (isDict) {
    const found = new Set<string>()
    for (const row of items) {
      cells += 1 + (row as Keyed).size
      if (cells > CELLS) {
        yield estimateCells(cells)
        cells = 0
      }
      for (const key of (row as Keyed).keys()) found.add(key)
    }
    const keys = sortTexts([...found])
    if (headers) out.add(formatCsvLine(keys, delimiter))
    for (const row of items) {
      cells += 1 + keys.length
      if (cells > CELLS) {
        yield estimateCells(cells)
        cells = 0
      }
      out.add(
        formatCsvLine(
          keys.map((key) => {
            const cell = (row as Keyed).get(key)
            return cell === undefined ? '' : display(cell)
          }),
          delimiter,
        ),
      )
    }
  } else {
    let width: number | null = null
    for (const row of items as readonly HarnList[]) {
      if (width !== null && row.length !== width)
        throw new CsvError(`CSV error: found record with ${row.length} fields, but the previous record has ${width} fields`)
      width = row.length
      cells += 1 + width
      if (cells > CELLS) {
        yield estimateCells(cells)
        cells = 0
      }
      out.add(
        formatCsvLine(
          row.view().map((cell) => display(cell)),
          delimiter,
        ),
      )
    }
  }
  yield estimateCells(cells)
  return out.toString()
}

function* writeCsvInSteps(rows: HarnList, options: CsvOptions): Steps {
  try {
    const text = yield* iterateCsvLines(rows, options)
    return (ctx) => {
      ctx.charge(text.length >> 6)
      return text
    }
  } catch (error) {
    if (error instanceof CsvError) return (ctx) => ctx.throw(`csv_stringify: ${error.message}`)
    throw error
  }
}

const csvWriting = definePieces('csv.stringify', ([rows, headers, delimiter]) =>
  makeStepWork(writeCsvInSteps(rows as HarnList, { headers: headers as boolean, delimiter: delimiter as string })),
)

/** What a writer refuses becomes the builtin's error. */
function withRefusals(write: () => Result | undefined, ctx: Context): Result | undefined {
  try {
    return write()
  } catch (error) {
    if (error instanceof FormatError) return ctx.throw(`yaml_stringify: ${error.message}`)
    throw error
  }
}

const yamlWriting = definePieces('yaml.stringify', ([value]) => {
  const writing = new YamlWriting(value!)
  return { step: (ctx, budget) => withRefusals(() => writing.step(budget), ctx) }
})

// ---------------------------------------------------------------------------------------------------------------- JUnit

function parseJunitBuiltin(ctx: Context, input: string | HarnBytes | null): Result {
  if (input === null) return new HarnList([])
  const xml = typeof input === 'string' ? input : new TextDecoder().decode(input.data)
  ctx.charge(xml.length >> 3, xml.length)
  return new HarnList(
    parseJunit(xml).map(({ name, status, durationMs, message, stdout, stderr }) =>
      HarnDict.of({ name, status, duration_ms: durationMs, message, stdout, stderr }),
    ),
  )
}

const CSV = {
  options: `
    headers: bool = false -- Whether the first line has the names of the columns.
    delimiter: string = "," -- What stands between cells.
  `,
} as const

export const dataFormatsFamily: BuiltinFamily = {
  name: 'data-formats',
  builtins: [
    extractFunction,
    ...jsonPlaceFunctions,
    builtin(
      'yaml_parse(str: string) -> any',
      { fromOutside: true, doc: 'The value that a YAML text stands for.', borrows: true },
      (ctx, text) => {
        const source = readText(ctx, text, YAML_UNITS)
        return convertWith(ctx, 'YAML parse error', () => parseYaml(source))
      },
    ),
    builtin(
      'yaml_stringify(value: any) -> string',
      { doc: 'Block YAML with keys in order.', borrows: true, pays: true },
      (ctx, value) => yamlWriting.run(ctx, value ?? null),
    ),
    builtin(
      'toml_parse(str: string) -> any',
      { fromOutside: true, doc: 'The value that a TOML text stands for.', borrows: true },
      (ctx, text) => {
        ctx.charge(TOML_CALL_UNITS)
        const source = readText(ctx, text, TOML_UNITS)
        return convertWith(ctx, 'TOML parse error', () => parseTomlText(source))
      },
    ),
    builtin('toml_stringify(value: any) -> string', { doc: 'TOML with keys in order.', borrows: true }, (ctx, value) => {
      ctx.charge(TOML_CALL_UNITS)
      return convertWith(ctx, 'toml_stringify', () => stringifyToml(value ?? null))
    }),
    builtin(
      'csv_parse(text: string, options?: {headers?: bool, delimiter?: string}) -> list',
      { doc: 'Rows of a CSV text: lists of cells, or dicts with `headers`.', borrows: true, pays: true, shapes: CSV },
      (ctx, text, options) => {
        const source = readTextArg(ctx, 0, text)
        ctx.charge(source.length >> 9)
        const { headers, delimiter } = readCsvOptions(options)
        return csvReading.run(ctx, source, headers, delimiter)
      },
    ),
    builtinTaking(
      'csv_stringify(rows: list, options?: {headers?: bool, delimiter?: string}) -> string',
      { doc: 'CSV text of rows that are lists or dicts.', borrows: true, pays: true, shapes: CSV },
      { not: { rows: '{f}: expected a {type} of rows' } },
      (ctx, rows, options) => {
        ctx.charge((rows as HarnList).length >> 3)
        const { headers, delimiter } = readCsvOptions(options)
        return csvWriting.run(ctx, rows, headers, delimiter)
      },
    ),
    builtinTaking(
      'parse_junit_xml(input?: string | bytes) -> list',
      { doc: 'One record for each test case of a JUnit report.', borrows: true },
      { not: { input: '{f}: expected {type}, got {got}' } },
      parseJunitBuiltin,
    ),
  ],
  frames: [csvReading.frame, csvWriting.frame, yamlWriting.frame, ...jsonPlaceFrames],
}
