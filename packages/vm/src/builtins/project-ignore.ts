// Patterns of a `.gitignore`: one a line, the last that fits decides, `!` takes back, a slash before the end anchors at the
// root, a slash at the end is for directories, which is all that scans ask about.

export function ignoreRules(text: string): (directory: string) => boolean {
  const rules = text.split('\n').flatMap((raw): { readonly pattern: RegExp; readonly ignored: boolean }[] => {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) return []
    const ignored = !line.startsWith('!')
    const body = (ignored ? line : line.slice(1)).replace(/\/$/, '')
    return body === '' ? [] : [{ pattern: compile(body), ignored }]
  })
  return (directory) => rules.reduce((ignored, rule) => (rule.pattern.test(directory) ? rule.ignored : ignored), false)
}

/** `*` and `?` stay within one segment, `**` crosses them. */
function compile(body: string): RegExp {
  const anchored = body.includes('/')
  const source = body
    .replace(/^\//, '')
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('**/', '\u0001')
    .replaceAll('**', '\u0002')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]')
    .replaceAll('\u0001', '(?:.*/)?')
    .replaceAll('\u0002', '.*')
  return new RegExp(`${anchored ? '^' : '(?:^|/)'}${source}$`)
}
