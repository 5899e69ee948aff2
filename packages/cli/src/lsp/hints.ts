// Inlay hints: inferred types, and parameter names before literal arguments; and signature help: the
// parameters of the call being typed.

import { walk } from '@bridle/parser'
import type { Argument, Declaration, Expr, Name, Param, Span } from '@bridle/parser'
import { listParameters, showType } from '@bridle/compiler'
import type { ToolType } from '@bridle/compiler'
import { listParamNames } from '@bridle/vm/families'
import type { BuiltinDef, Registry } from '@bridle/vm'
import { InlayHintKind } from 'vscode-languageserver/node'
import type { InlayHint, SignatureHelp, SignatureInformation } from 'vscode-languageserver/node'
import type { OpenDocument } from './document.js'
import { findOriginOfName } from './origins.js'
import { findOpenCall, findTool } from './tool-calls.js'
import type { OpenCall } from './tool-calls.js'

const MOST_LETTERS = 40
const LITERALS: ReadonlySet<Expr['kind']> = new Set([
  'Int',
  'Float',
  'Bool',
  'Nil',
  'Duration',
  'String',
  'Interpolation',
  'List',
  'Dict',
  'Unary',
])

export function listInlayHints(document: OpenDocument, registry: Registry, range: Span): InlayHint[] {
  const { program } = document.parsed
  if (program === null) return []
  const { text } = document
  const hints: InlayHint[] = []
  const showTypeOf = (name: Name): void => {
    if (name.text === '_' || name.span.end < range.start || name.span.start > range.end) return
    const type = document.findTypeAt(name.span)
    if (type === null || type === 'any' || type.length > MOST_LETTERS) return
    hints.push({ position: text.positionAt(name.span.end), label: `: ${type}`, kind: InlayHintKind.Type })
  }
  const showNames = (params: readonly string[] | null, args: readonly Argument[]): void => {
    if (params === null || params.length < 2) return
    for (const [at, { value, spread }] of args.entries()) {
      const param = params[at]
      if (spread || param === undefined || param.startsWith('...')) return
      const isNamed = value.kind === 'Identifier' && value.name === param
      if (isNamed || !LITERALS.has(value.kind) || value.span.start < range.start || value.span.end > range.end) continue
      hints.push({
        position: text.positionAt(value.span.start),
        label: `${param}:`,
        kind: InlayHintKind.Parameter,
        paddingRight: true,
      })
    }
  }
  walk(program, {
    enter: (node) => {
      if (node.span.end < range.start || node.span.start > range.end) return false
      if (node.kind === 'Let') {
        const { binding } = node
        // The type of a literal or a struct is obvious.
        const isPlain =
          node.value.kind === 'StructLiteral' || (LITERALS.has(node.value.kind) && !/^(?:List|Dict)$/.test(node.value.kind))
        if (binding.kind === 'NameBinding' && binding.type === null && !isPlain) showTypeOf(binding.name)
      }
      if (node.kind === 'For' && node.binding.kind === 'NameBinding' && node.binding.type === null) showTypeOf(node.binding.name)
      if (node.kind === 'Call') showNames(findParameters(document, registry, node.callee), node.args)
      return true
    },
  })
  return hints
}

function findParameters(document: OpenDocument, registry: Registry, callee: Name): readonly string[] | null {
  const declaration = findOriginOfName(document, callee.text, callee.span.start)?.symbol.declaration ?? null
  if (declaration !== null) return readParams(declaration)?.map(({ name }) => name.text) ?? null
  const def = registry.builtins.get(callee.text)
  return def === undefined ? null : listParamNames(def.signature)
}

function readParams(declaration: Declaration): readonly Param[] | null {
  return declaration.kind === 'FnDecl' || declaration.kind === 'ToolDecl' ? declaration.params : null
}

// ---------------------------------------------------------------------------------------------------------- signature help

/** The parameters of the called function, tool, builtin or method. `last`: the newest version that parsed. */
export function makeSignatureHelp(
  document: OpenDocument,
  last: OpenDocument | null,
  registry: Registry,
  offset: number,
): SignatureHelp | null {
  const call = findOpenCall(document.text.getText(), offset)
  if (call === null) return null
  const tool = findTool(call, document.tools, (name) => last?.findImportPath(name) ?? null)
  if (tool !== null) return makeToolSignature(tool, call)
  const method = /\.([\p{L}_][\p{L}\p{N}_]*)$/u.exec(call.callee)?.[1]
  if (method !== undefined) return makeMethodSignature(method, last, registry, call.argument)
  const origin = last === null ? null : findOriginOfName(last, call.callee, Math.min(offset, last.text.getText().length))
  const own = origin?.symbol.declaration ?? null
  const source = origin?.file?.text ?? last?.text.getText() ?? ''
  if (own !== null) {
    const signature = describeDeclaration(own, source)
    return signature === null ? null : makeHelp([signature], call.argument)
  }
  const def = registry.builtins.get(call.callee)
  return def === undefined || call.callee.startsWith('__') ? null : makeHelp([describeBuiltin(def)], call.argument)
}

const makeHelp = (signatures: readonly SignatureInformation[], argument: number): SignatureHelp => ({
  signatures: [...signatures],
  activeSignature: 0,
  activeParameter: argument,
})

function describeDeclaration(declaration: Declaration, source: string): SignatureInformation | null {
  const { doc, name } = declaration
  const documentation = doc === null ? {} : { documentation: doc }
  if (declaration.kind === 'StructDecl') {
    const labels = declaration.fields.map((field) =>
      source.slice(field.name.span.start, field.type?.span.end ?? field.name.span.end),
    )
    return { label: `${name.text}(${labels.join(', ')})`, parameters: labels.map((label) => ({ label })), ...documentation }
  }
  const params = readParams(declaration)
  if (params === null) return null
  const labels = params.map(({ span }) => source.slice(span.start, span.end).replaceAll(/\s+/g, ' '))
  const returns = 'returns' in declaration ? (declaration.returns ?? null) : null
  const result = returns === null ? '' : ` -> ${source.slice(returns.span.start, returns.span.end)}`
  return {
    label: `${name.text}(${labels.join(', ')})${result}`,
    parameters: labels.map((label) => ({ label })),
    ...documentation,
  }
}

function describeBuiltin(def: BuiltinDef): SignatureInformation {
  const label = def.receiver === null ? def.signature : `${def.receiver}.${def.signature}`
  return { label, documentation: def.doc, parameters: listParamNames(def.signature).map((name) => ({ label: name })) }
}

/** Methods of this name of the file's own types, then those of the language. */
function makeMethodSignature(
  name: string,
  last: OpenDocument | null,
  registry: Registry,
  argument: number,
): SignatureHelp | null {
  const source = last?.text.getText() ?? ''
  const own = (last?.parsed.program?.items ?? []).flatMap((item) =>
    item.kind === 'ImplDecl' ? item.methods.filter((method) => method.name.text === name) : [],
  )
  const described = own.flatMap((method) => describeDeclaration({ ...method, params: method.params.slice(1) }, source) ?? [])
  const defs = [...registry.methods.values()].flatMap((table) => table.get(name) ?? [])
  const signatures = [...described, ...defs.map(describeBuiltin)]
  return signatures.length === 0 ? null : makeHelp(signatures, argument)
}

function makeToolSignature(tool: ToolType, { path, key, given }: OpenCall): SignatureHelp {
  const rows = listParameters(tool)
  const fields = rows.map(({ name, type, isRequired }) => `${name}${isRequired ? '' : '?'}: ${type}`)
  const result = tool.result === null ? '' : ` -> ${showType(tool.result)}`
  const current = path?.[0] ?? key ?? given.at(-1)
  const active = rows.findIndex(({ name }) => name === current)
  const { description } = tool.declaration
  return {
    signatures: [
      {
        label: `${tool.name}({${fields.join(', ')}})${result}`,
        ...(description === undefined ? {} : { documentation: description }),
        parameters: rows.map(({ description: about }, at) => ({
          label: fields[at]!,
          ...(about === '' ? {} : { documentation: about }),
        })),
      },
    ],
    activeSignature: 0,
    ...(active < 0 ? {} : { activeParameter: active }),
  }
}
