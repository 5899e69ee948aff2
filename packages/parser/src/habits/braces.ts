// Placeholders of format strings as interpolations.

/** The source of a string with `${x}` for each `{x}`; null if a placeholder has more than a value, which is left to the author. */
export function interpolateBraces(source: string): string | null {
  let made = ''
  let from = 0
  for (let open = source.indexOf('{'); open >= 0; open = source.indexOf('{', from)) {
    const close = source.indexOf('}', open)
    const inner = source.slice(open + 1, close)
    // `{{` is a brace, `{x:5}` a format, `{x!r}` a conversion, `{x=}` both name and value.
    if (close < 0 || inner.trim() === '' || source[close + 1] === '}' || /[{:!="]/.test(inner)) return null
    made += `${source.slice(from, open)}${source[open - 1] === '$' ? '' : '$'}{${inner}}`
    from = close + 1
  }
  return made + source.slice(from)
}
