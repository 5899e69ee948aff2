// The style of names: snake_case for callables, PascalCase for types.

import type { Declaration } from '@bridle/parser'
import { bareSpan, type LintContext } from './context.js'

type Named = Extract<Declaration, { kind: 'FnDecl' | 'ToolDecl' | 'StructDecl' | 'EnumDecl' | 'InterfaceDecl' | 'TypeDecl' }>

const TYPE_KINDS = { StructDecl: 'struct', EnumDecl: 'enum', InterfaceDecl: 'interface', TypeDecl: 'type' } as const

export function lintNaming(decl: Named, context: LintContext): void {
  const name = decl.name.text
  const span = bareSpan(decl, context)
  if (decl.kind === 'FnDecl' || decl.kind === 'ToolDecl') {
    if (/^[a-z_][a-z0-9_]*$/.test(name)) return
    context.report('L010', span, { what: 'function', name, style: 'snake_case', example: snakeCase(name) })
  } else if (!/^[A-Z][A-Za-z0-9]*$/.test(name)) {
    context.report('L010', span, { what: TYPE_KINDS[decl.kind], name, style: 'PascalCase', example: pascalCase(name) })
  }
}

/** `HTTPServer` → `http_server`, `fooBar2Baz` → `foo_bar2_baz`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/_+/g, '_')
    .toLowerCase()
}

/** `bad_struct` → `BadStruct`, `_Foo` → `Foo`. */
export function pascalCase(name: string): string {
  return name
    .split(/_+|(?<=[a-z0-9])(?=[A-Z])/)
    .filter((word) => word !== '')
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1).toLowerCase()}`)
    .join('')
}
