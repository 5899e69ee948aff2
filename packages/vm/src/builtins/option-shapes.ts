// Shapes of options dicts, as definitions write them: a line per key, `name: type (unit) = default -- what it does`. Unit and default
// are optional. The key `*` means that other keys are allowed too. They are strings, because only checks, docs and editors parse them.

export interface OptionRow {
  readonly name: string
  readonly type: string
  readonly unit: string | null
  readonly default: string | null
  readonly doc: string
}

export function readShape(text: string): readonly OptionRow[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map(readRow)
}

function readRow(line: string): OptionRow {
  const [head, doc] = cut(line, ' -- ')
  const [typed, otherwise] = cut(head, ' = ')
  const [name, said] = cut(typed, ': ')
  const hasUnit = said?.endsWith(')') === true && said.includes(' (')
  const at = hasUnit ? said.lastIndexOf(' (') : -1
  if (name === '' || said === null || doc === null) throw new Error(`unreadable option: ${line}`)
  return {
    name,
    type: at < 0 ? said : said.slice(0, at),
    unit: at < 0 ? null : said.slice(at + 2, -1),
    default: otherwise,
    doc,
  }
}

function cut(text: string, mark: string): readonly [string, string | null] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + mark.length)]
}
