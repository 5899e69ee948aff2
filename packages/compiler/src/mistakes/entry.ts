// A function `main` that is never called, as in languages where it is the entry point. A script without a pipeline runs its statements.

import { type Program, walk } from '@bridle/parser'
import type { MistakeContext } from './context.js'

export function checkEntry(program: Program, context: MistakeContext): void {
  const { names, file, report } = context
  const main = names.functions.get('main')
  if (main === undefined || main.isPublic || names.used.has('main') || !program.items.includes(main)) return
  if (program.items.some(({ kind }) => kind === 'PipelineDecl') || main.attributes.length > 0 || isMentioned(program)) return
  const isCallable = main.params.every(({ defaultValue, rest }) => defaultValue !== null || rest)
  const end = file.text.trimEnd().length
  const edit = { span: { start: end, end: file.text.length }, text: '\n\nmain()\n' }
  report('M026', main.name.span, { name: 'main' }, isCallable ? { title: 'call it', edits: [edit] } : null)
}

function isMentioned(program: Program): boolean {
  let found = false
  walk(program, {
    enter(node) {
      if ((node.kind === 'Identifier' && node.name === 'main') || (node.kind === 'Call' && node.callee.text === 'main'))
        found = true
    },
  })
  return found
}
