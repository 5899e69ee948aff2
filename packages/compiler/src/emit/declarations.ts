// Declarations → code: functions, tools, skills, eval packs, structs and their methods. Enums, interfaces and
// type aliases have no code; pipelines and imports are in program.ts.

import type { Attribute, AttributeValue, Declaration, Expr, FnDecl, Param, Stmt, ToolDecl, EvalPackDecl } from '@bridle/parser'
import { emitExpr, structConstant } from './expressions.js'
import { emitConstructor, emitFunction } from './functions.js'
import { CompileError } from './module.js'
import { bindingNames } from './names.js'
import { emitBlock, emitBody } from './statements.js'
import type { FunctionEmitter } from './function.js'

/** Names that a statement binds in its scope. */
export function listDeclaredNames(stmt: Stmt): readonly string[] {
  switch (stmt.kind) {
    case 'Let':
      return bindingNames(stmt.binding)
    case 'FnDecl':
    case 'ToolDecl':
    case 'SkillDecl':
    case 'EvalPackDecl':
    case 'StructDecl':
      return [stmt.name.text]
    default:
      return []
  }
}

export function emitDeclaration(fn: FunctionEmitter, decl: Declaration): void {
  rejectAttributes(decl)
  switch (decl.kind) {
    case 'FnDecl':
      return emitFn(fn, decl)
    case 'ToolDecl':
      return emitTool(fn, decl)
    case 'SkillDecl':
      callBuiltin(fn, 'skill_registry', 0)
      fn.emit('CONST', fn.module.constant(decl.name.text))
      emitFields(fn, decl.fields)
      fn.emit('BUILD_DICT', decl.fields.length)
      fn.at(decl.span)
      callBuiltin(fn, 'skill_define', 3)
      return fn.bindTop(fn.declareName(decl.name, false))
    case 'EvalPackDecl':
      return emitEvalPack(fn, decl)
    case 'StructDecl':
      emitConstructor(fn, decl.name.text, structConstant(fn, decl.name.text))
      return fn.bindTop(fn.declareName(decl.name, false, true))
    case 'ImplDecl':
      for (const method of decl.methods) emitMethod(fn, method)
      return fn.emit(
        'DEFINE_IMPL',
        fn.module.name(decl.name.text),
        fn.module.data(decl.methods.map((method) => method.name.text)),
        decl.methods.length,
      )
    case 'PipelineDecl':
    case 'OverrideDecl':
    case 'ImportDecl':
    case 'TypeDecl':
    case 'EnumDecl':
    case 'InterfaceDecl':
      return
  }
}

function callBuiltin(fn: FunctionEmitter, name: string, count: number): void {
  fn.emit('CALL_BUILTIN', fn.module.builtin(name), count)
}

function emitMethod(fn: FunctionEmitter, decl: FnDecl): void {
  emitFunction(fn, {
    name: decl.name.text,
    params: decl.params,
    body: decl.body,
    isStream: decl.isStream,
    implicitReturn: false,
    selfName: null,
    closure: false,
  })
}

function emitFn(fn: FunctionEmitter, decl: FnDecl): void {
  emitFunction(fn, {
    name: decl.name.text,
    params: decl.params,
    body: decl.body,
    isStream: decl.isStream,
    implicitReturn: false,
    selfName: decl.name.text,
    closure: false,
  })
  const variable = fn.declareName(decl.name, false, true)
  if (variable === null) return
  fn.bindTop(variable)
  for (const attribute of decl.attributes) {
    const load = (): void => fn.load(variable, true)
    if (attribute.name.text === 'acp_tool') emitAcpTool(fn, decl, attribute, load)
    else if (attribute.name.text === 'acp_skill') emitAcpSkill(fn, decl, attribute, load)
  }
}

function rejectAttributes(decl: Declaration): void {
  if (decl.kind === 'FnDecl') return
  for (const attribute of decl.attributes) {
    if (attribute.name.text === 'acp_tool' || attribute.name.text === 'acp_skill') {
      throw new CompileError(`@${attribute.name.text} can only be applied to function declarations`, attribute.span)
    }
  }
}

function findNamedArgument(attribute: Attribute, name: string): string | null {
  const value = attribute.args.find((arg) => arg.name?.text === name)?.value
  return typeof value === 'string' ? value : null
}

/** Pushes the named arguments of an attribute, without `name`, as keys and values; returns their number. */
function emitAttributeArgs(fn: FunctionEmitter, attribute: Attribute): number {
  let count = 0
  for (const arg of attribute.args) {
    if (arg.name === null || arg.name.text === 'name') continue
    fn.emit('CONST', fn.module.constant(arg.name.text))
    emitAttributeValue(fn, arg.value)
    count++
  }
  return count
}

function emitAttributeValue(fn: FunctionEmitter, value: AttributeValue): void {
  if (value !== null && typeof value === 'object') {
    if ('float' in value) return fn.emit('CONST', fn.module.constant({ tag: 'float', value: value.float }))
    for (const item of value) emitAttributeValue(fn, item)
    return fn.emit('BUILD_LIST', value.length)
  }
  fn.emit('CONST', fn.module.constant(value))
}

/** Lists belong to other attributes. */
function requireScalars(attribute: Attribute): void {
  if (attribute.args.some(({ value }) => Array.isArray(value)))
    throw new CompileError('attribute argument must be a literal value', attribute.span)
}

function emitAcpTool(fn: FunctionEmitter, decl: FnDecl, attribute: Attribute, loadFunction: () => void): void {
  requireScalars(attribute)
  callBuiltin(fn, 'tool_registry', 0)
  fn.emit('CONST', fn.module.constant(findNamedArgument(attribute, 'name') ?? decl.name.text))
  fn.emit('CONST', fn.module.constant(''))
  fn.emit('CONST', fn.module.constant('handler'))
  loadFunction()
  fn.emit('CONST', fn.module.constant('annotations'))
  fn.emit('BUILD_DICT', emitAttributeArgs(fn, attribute))
  fn.emit('BUILD_DICT', 2)
  fn.at(decl.span)
  callBuiltin(fn, 'tool_define', 4)
  fn.emit('POP')
}

function emitAcpSkill(fn: FunctionEmitter, decl: FnDecl, attribute: Attribute, loadFunction: () => void): void {
  requireScalars(attribute)
  callBuiltin(fn, 'skill_registry', 0)
  fn.emit('CONST', fn.module.constant(findNamedArgument(attribute, 'name') ?? decl.name.text))
  const count = emitAttributeArgs(fn, attribute)
  fn.emit('CONST', fn.module.constant('on_activate'))
  loadFunction()
  fn.emit('BUILD_DICT', count + 1)
  fn.at(decl.span)
  callBuiltin(fn, 'skill_define', 3)
  fn.emit('POP')
}

/** `tool n(params) { … }` binds a registry with one tool whose handler takes the declared parameters. */
function emitTool(fn: FunctionEmitter, decl: ToolDecl): void {
  callBuiltin(fn, 'tool_registry', 0)
  fn.emit('CONST', fn.module.constant(decl.name.text))
  fn.emit('CONST', fn.module.constant(decl.description ?? ''))
  fn.emit('CONST', fn.module.constant('parameters'))
  for (const param of decl.params) emitToolParameter(fn, param)
  fn.emit('BUILD_DICT', decl.params.length)
  fn.emit('CONST', fn.module.constant('handler'))
  emitFunction(fn, {
    name: decl.name.text,
    params: decl.params,
    body: decl.body,
    isStream: false,
    implicitReturn: true,
    selfName: null,
    closure: false,
  })
  const returns = decl.returns === null ? null : fn.module.options.toolSchemaOf(decl.returns)
  if (returns !== null) {
    fn.emit('CONST', fn.module.constant('returns'))
    fn.emit('CONST', fn.module.constant({ tag: 'data', json: returns }))
  }
  const keys = emitToolAttributes(fn, decl)
  fn.emit('BUILD_DICT', (returns === null ? 2 : 3) + keys)
  fn.at(decl.span)
  callBuiltin(fn, 'tool_define', 4)
  fn.bindTop(fn.declareName(decl.name, false))
}

/** Pushes `@retries` and `@recovery` as keys of the entry; returns their number. */
function emitToolAttributes(fn: FunctionEmitter, decl: ToolDecl): number {
  let count = 0
  for (const attribute of decl.attributes) {
    const name = attribute.name.text
    if (name === 'retries') {
      fn.emit('CONST', fn.module.constant('retry'))
      fn.emit('BUILD_DICT', emitAttributeArgs(fn, attribute))
      count++
    }
    const [given] = attribute.args
    if (name === 'recovery' && given !== undefined && given.name === null) {
      fn.emit('CONST', fn.module.constant('recovery'))
      emitAttributeValue(fn, given.value)
      count++
    }
  }
  return count
}

function emitToolParameter(fn: FunctionEmitter, param: Param): void {
  fn.emit('CONST', fn.module.constant(param.name.text))
  const schema = (param.type === null ? null : fn.module.options.toolSchemaOf(param.type)) ?? '{"type":"any"}'
  fn.emit('CONST', fn.module.constant({ tag: 'data', json: schema }))
  if (param.defaultValue === null) return
  // The constant is shared, so the two entries go into a new dict.
  const slot = fn.temporary()
  fn.emit('STORE', slot)
  fn.emit('BUILD_DICT', 0)
  fn.emit('LOAD', slot)
  fn.emit('DICT_EXTEND')
  fn.emit('CONST', fn.module.constant('required'))
  fn.emit('FALSE')
  fn.emit('DICT_PUT')
  fn.emit('CONST', fn.module.constant('default'))
  emitExpr(fn, param.defaultValue)
  fn.emit('DICT_PUT')
}

function emitFields(
  fn: FunctionEmitter,
  fields: readonly { readonly name: { readonly text: string }; readonly value: Expr }[],
): void {
  for (const field of fields) {
    fn.emit('CONST', fn.module.constant(field.name.text))
    emitExpr(fn, field.value)
  }
}

/** The manifest; statements and `summarize` run in script mode only, where the fields are in scope. */
function emitEvalPack(fn: FunctionEmitter, decl: EvalPackDecl): void {
  fn.emit('CONST', fn.module.constant('version'))
  fn.emit('INT', 1)
  fn.emit('CONST', fn.module.constant('id'))
  fn.emit('CONST', fn.module.constant(decl.packId))
  emitFields(fn, decl.fields)
  fn.emit('BUILD_DICT', 2 + decl.fields.length)
  fn.at(decl.span)
  callBuiltin(fn, 'eval_pack_manifest', 1)
  const variable = fn.declareName(decl.name, false)
  if (variable === null) return
  fn.bindTop(variable)
  if (fn.module.pipelineMode || (decl.body.length === 0 && decl.summarize === null)) return
  fn.pushScope()
  for (const name of ['id', 'version', ...decl.fields.map((field) => field.name.text)]) {
    fn.load(variable, false)
    fn.emit('FIELD', fn.module.name(name))
    fn.bindTop(fn.declare(name, true, { span: decl.span }))
  }
  emitBody(fn, decl.body, false)
  if (decl.summarize !== null) emitBlock(fn, decl.summarize, false)
  fn.popScope()
}
