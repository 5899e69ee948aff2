// Markdown to HTML: blocks line by line, and marks within a line.

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function inline(text) {
  let out = ''
  let at = 0
  while (at < text.length) {
    const c = text[at]
    if (c === '`') {
      const stop = text.indexOf('`', at + 1)
      out += `<code>${escape(text.slice(at + 1, stop))}</code>`
      at = stop + 1
    } else if (c === '*' && text[at + 1] === '*') {
      const stop = text.indexOf('*', at + 2)
      out += `<b>${inline(text.slice(at + 2, stop))}</b>`
      at = stop + 2
    } else if (c === '*') {
      const stop = text.indexOf('*', at + 1)
      out += `<i>${inline(text.slice(at + 1, stop))}</i>`
      at = stop + 1
    } else if (c === '[') {
      const close = text.indexOf(']', at)
      const stop = text.indexOf(')', close)
      out += `<a href="${text.slice(close + 2, stop)}">${inline(text.slice(at + 1, close))}</a>`
      at = stop + 1
    } else {
      out += escape(c)
      at++
    }
  }
  return out
}

function headingLevel(line) {
  let level = 0
  while (line[level] === '#') level++
  return level
}

function kindOf(line) {
  if (line.trim() === '') return 'blank'
  if (line.startsWith('```')) return 'fence'
  if (line.startsWith('#')) return 'heading'
  if (line.startsWith('- ')) return 'ul'
  if (line.startsWith('> ')) return 'quote'
  return /^\d+\. /.test(line) ? 'ol' : 'text'
}

const OPEN = { ul: '<ul>', ol: '<ol>', quote: '<blockquote>', text: '<p>' }
const CLOSE = { ul: '</ul>', ol: '</ol>', quote: '</blockquote>', text: '</p>' }

function toHtml(text) {
  const out = []
  let open = ''
  let isCode = false
  for (const line of text.split('\n')) {
    const kind = kindOf(line)
    if (isCode) {
      out.push(kind === 'fence' ? '</code></pre>' : escape(line))
      isCode = kind !== 'fence'
      continue
    }
    if (kind !== open) {
      if (open in CLOSE) out.push(CLOSE[open])
      if (kind in OPEN) out.push(OPEN[kind])
      open = kind
    }
    switch (kind) {
      case 'fence':
        out.push('<pre><code>')
        isCode = true
        break
      case 'heading': {
        const level = headingLevel(line)
        out.push(`<h${level}>${inline(line.slice(level + 1))}</h${level}>`)
        break
      }
      case 'ul':
        out.push(`<li>${inline(line.slice(2))}</li>`)
        break
      case 'ol':
        out.push(`<li>${inline(line.slice(line.indexOf('. ') + 2))}</li>`)
        break
      case 'quote':
        out.push(inline(line.slice(2)))
        break
      case 'text':
        out.push(inline(line))
        break
    }
  }
  if (open in CLOSE) out.push(CLOSE[open])
  return out.join('\n')
}

export function run(n) {
  const lines = []
  for (let i = 0; i < n; i++)
    lines.push(
      `# Chapter ${i} *now*`,
      '',
      `Some **bold ${i}** and \`code <${i}>\` with a [link](http://h/${i}) in it,`,
      'over two lines & more.',
      '',
      `- first of ${i}`,
      '- second *item*',
      '',
      '1. one',
      '2. two',
      '',
      '```',
      `let x = ${i} < 3`,
      '```',
      '',
      '> quoted **text**',
      '',
    )
  const html = toHtml(lines.join('\n'))
  const all = html.split('\n')
  const sum = all.reduce((total, line) => (total * 31 + line.length) % 1000003, 0)
  return `markdown_html ${html.length} ${all.length} ${sum} ${html.slice(0, 28)}`
}
