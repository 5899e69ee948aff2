// What occurs anywhere in a tree, found in one walk and cached with the tree. Most passes search for something that most files do not contain:
// they ask here first and skip such a file, because a walk over a large file costs as much as type-checking it.

import { type Attribute, boundNames, forEachChild, type Name, type Node, type Program } from '@bridle/parser'
import { rememberItems } from './items.js'
import { keepsLoop, mayFail, readLoopBody } from './emit/certain.js'

export interface Contents {
  readonly kinds: ReadonlySet<Node['kind']>
  /** Names of callees, including those in `${…}`. */
  readonly calls: ReadonlySet<string>
  /** Names of declarations, variables and parameters, excluding code in `${…}`. */
  readonly declared: ReadonlySet<string>
  /** Names of declared types, including those in functions. */
  readonly types: ReadonlySet<string>
  /** Names of attributes of declarations. */
  readonly attributes: ReadonlySet<string>
  /** Whether the emitter accepts all of it (emit/certain.ts). */
  readonly isSureToEmit: boolean
}

const known = new WeakMap<Program, Contents>()

/** For a tree that is never changed. */
export function listContents(program: Program): Contents {
  let found = known.get(program)
  if (found === undefined) known.set(program, (found = collect(program)))
  return found
}

const IN_LOOP = 1
const IN_TEXT = 2
const DEPTH_SHIFT = 2
const DEEPER = 1 << DEPTH_SHIFT

function collect(program: Program): Contents {
  const all = {
    kinds: new Set<Node['kind']>([program.kind]),
    calls: new Set<string>(),
    declared: new Set<string>(),
    types: new Set<string>(),
    attributes: new Set<string>(),
  }
  let isSureToEmit = true
  for (const item of program.items) {
    const found = collectItem(item, undefined)
    for (const kind of found.kinds) all.kinds.add(kind)
    for (const name of found.calls) all.calls.add(name)
    for (const name of found.declared) all.declared.add(name)
    for (const name of found.types) all.types.add(name)
    for (const name of found.attributes) all.attributes.add(name)
    isSureToEmit &&= found.isSureToEmit
  }
  return { ...all, isSureToEmit }
}

const collectItem = rememberItems((item: Node): Contents => {
  const kinds = new Set<Node['kind']>()
  const calls = new Set<string>()
  const declared = new Set<string>()
  const types = new Set<string>()
  const attributes = new Set<string>()
  const declare = (name: Name): void => void declared.add(name.text)
  let isSureToEmit = true
  // Two lists instead of one of records, because trees are large. An entry is the depth combined with the marks above.
  const nodes: Node[] = [item]
  const places: number[] = [DEEPER]
  let inside = 0
  let body: Node | null = null
  const wait = (child: Node): void => {
    nodes.push(child)
    places.push(child === body ? inside | IN_LOOP : inside)
  }
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const place = places.pop()!
    const inLoop = (place & IN_LOOP) !== 0
    kinds.add(node.kind)
    if (node.kind === 'Call') calls.add(node.callee.text)
    else {
      if ((place & IN_TEXT) === 0) forEachDeclared(node, declare)
      if (node.kind === 'EnumDecl' || node.kind === 'StructDecl' || node.kind === 'TypeDecl') types.add(node.name.text)
      for (const { name } of readAttributes(node)) attributes.add(name.text)
    }
    if (isSureToEmit && mayFail(node, place >> DEPTH_SHIFT, inLoop)) isSureToEmit = false
    inside = (inLoop && !keepsLoop(node) ? place - IN_LOOP : place) + DEEPER
    if (node.kind === 'Interpolation') inside |= IN_TEXT
    body = readLoopBody(node)
    forEachChild(node, wait)
  }
  return { kinds, calls, declared, types, attributes, isSureToEmit: isSureToEmit && attributes.size === 0 }
})

function forEachDeclared(node: Node, declare: (name: Name) => void): void {
  switch (node.kind) {
    case 'Let':
      if (node.binding.kind === 'NameBinding') declare(node.binding.name)
      else boundNames(node.binding).forEach(declare)
      return
    case 'FnDecl':
    case 'ToolDecl':
      declare(node.name)
      for (const { name } of node.params) declare(name)
      return
    case 'Closure':
      for (const { name } of node.params) declare(name)
      return
    case 'PipelineDecl':
    case 'StructDecl':
    case 'EnumDecl':
    case 'TypeDecl':
      declare(node.name)
      return
    default:
      return
  }
}

const NONE: readonly Attribute[] = []

/** By node kind, because probing for a property that most nodes lack is slow. */
function readAttributes(node: Node): readonly Attribute[] {
  switch (node.kind) {
    case 'FnDecl':
    case 'ToolDecl':
    case 'SkillDecl':
    case 'EvalPackDecl':
    case 'PipelineDecl':
    case 'OverrideDecl':
    case 'ImportDecl':
    case 'TypeDecl':
    case 'EnumDecl':
    case 'StructDecl':
    case 'InterfaceDecl':
    case 'ImplDecl':
      return node.attributes
    default:
      return NONE
  }
}

/** Whether one of `names` is called somewhere. */
export function callsAny({ calls }: Contents, names: Iterable<string>): boolean {
  for (const name of names) if (calls.has(name)) return true
  return false
}
