// The syntax tree: one readonly union on `kind`. It mirrors the source: no names are resolved, no sugar is removed (a pipe
// placeholder is an Identifier `_`, a shorthand stays a shorthand). So format/ can print the source again, and the checker sees what the
// author wrote. Every node has a span; names that a diagnostic may point at have their own.

import type { Span } from './source.js'

export interface Name {
  readonly text: string
  readonly span: Span
}

// ---- types ---------------------------------------------------------------------------------------------------------

export type TypeExpr =
  | { readonly kind: 'NamedType'; readonly span: Span; readonly name: Name; readonly args: readonly TypeExpr[] }
  | { readonly kind: 'ShapeType'; readonly span: Span; readonly fields: readonly ShapeField[] }
  | { readonly kind: 'ListType'; readonly span: Span; readonly element: TypeExpr }
  | { readonly kind: 'FnType'; readonly span: Span; readonly params: readonly TypeExpr[]; readonly returns: TypeExpr }
  | { readonly kind: 'UnionType'; readonly span: Span; readonly members: readonly TypeExpr[] }
  | { readonly kind: 'LiteralType'; readonly span: Span; readonly value: string | number | bigint | boolean }
  | { readonly kind: 'NilType'; readonly span: Span }

export interface ShapeField {
  readonly name: Name
  readonly optional: boolean
  readonly type: TypeExpr
}

export interface TypeParam {
  readonly name: Name
  readonly variance: 'in' | 'out' | null
}

// ---- expressions ---------------------------------------------------------------------------------------------------

export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**'
  | '??'
  | '=='
  | '!='
  | '<'
  | '>'
  | '<='
  | '>='
  | 'in'
  | 'not in'
  | '&&'
  | '||'

export type Expr =
  /** An int literal past signed 64 bits is a Float; past ±2^53 the value is a bigint. */
  | { readonly kind: 'Int'; readonly span: Span; readonly value: number | bigint }
  | { readonly kind: 'Float'; readonly span: Span; readonly value: number }
  | { readonly kind: 'Bool'; readonly span: Span; readonly value: boolean }
  | { readonly kind: 'Nil'; readonly span: Span }
  /** Milliseconds as an exact integer; larger than 64 bits is a compile error, so it is a bigint then. */
  | { readonly kind: 'Duration'; readonly span: Span; readonly value: number | bigint }
  | { readonly kind: 'String'; readonly span: Span; readonly value: string; readonly quote: 'double' | 'raw' | 'triple' }
  /** Parts may come in any order; a string part is never empty. Dedent and escapes are already applied. */
  | {
      readonly kind: 'Interpolation'
      readonly span: Span
      readonly parts: readonly (string | Expr)[]
      readonly quote: 'double' | 'triple'
    }
  | { readonly kind: 'Identifier'; readonly span: Span; readonly name: string }
  | { readonly kind: 'List'; readonly span: Span; readonly items: readonly Argument[] }
  | { readonly kind: 'Dict'; readonly span: Span; readonly entries: readonly DictEntry[] }
  | { readonly kind: 'StructLiteral'; readonly span: Span; readonly name: Name; readonly entries: readonly DictEntry[] }
  | { readonly kind: 'Unary'; readonly span: Span; readonly operator: '!' | '-'; readonly operand: Expr }
  | {
      readonly kind: 'Binary'
      readonly span: Span
      readonly operator: BinaryOperator
      readonly operatorSpan: Span
      readonly left: Expr
      readonly right: Expr
    }
  | { readonly kind: 'Ternary'; readonly span: Span; readonly condition: Expr; readonly whenTrue: Expr; readonly whenFalse: Expr }
  | { readonly kind: 'Range'; readonly span: Span; readonly from: Expr; readonly to: Expr; readonly exclusive: boolean }
  | { readonly kind: 'Pipe'; readonly span: Span; readonly value: Expr; readonly callee: Expr }
  | { readonly kind: 'Member'; readonly span: Span; readonly object: Expr; readonly property: Name; readonly optional: boolean }
  | {
      readonly kind: 'MethodCall'
      readonly span: Span
      readonly object: Expr
      readonly method: Name
      readonly args: readonly Argument[]
      readonly optional: boolean
    }
  | { readonly kind: 'Index'; readonly span: Span; readonly object: Expr; readonly index: Expr; readonly optional: boolean }
  | { readonly kind: 'Slice'; readonly span: Span; readonly object: Expr; readonly start: Expr | null; readonly end: Expr | null }
  /** `name(args)`; the span of the callee name is where errors of the call point. */
  | {
      readonly kind: 'Call'
      readonly span: Span
      readonly callee: Name
      readonly typeArgs: readonly TypeExpr[]
      readonly args: readonly Argument[]
    }
  /** Postfix `?`. */
  | { readonly kind: 'Propagate'; readonly span: Span; readonly operand: Expr }
  /** `try* e`. */
  | { readonly kind: 'TryStar'; readonly span: Span; readonly operand: Expr }
  /** `{ a, b -> body }` (form `brace`) or `fn(a, b) { body }` (form `fn`). */
  | {
      readonly kind: 'Closure'
      readonly span: Span
      readonly params: readonly Param[]
      readonly body: Block
      readonly form: 'brace' | 'fn'
    }
  | {
      readonly kind: 'If'
      readonly span: Span
      readonly condition: Expr
      readonly then: Block
      readonly otherwise: Block | IfExpr | null
    }
  | { readonly kind: 'Match'; readonly span: Span; readonly subject: Expr; readonly arms: readonly MatchArm[] }
  | {
      readonly kind: 'Try'
      readonly span: Span
      readonly body: Block
      readonly handler: CatchClause | null
      readonly finalizer: Block | null
    }
  | { readonly kind: 'Retry'; readonly span: Span; readonly count: Expr; readonly body: Block }
  | { readonly kind: 'Deadline'; readonly span: Span; readonly duration: Expr; readonly body: Block }
  | { readonly kind: 'Spawn'; readonly span: Span; readonly body: Block }
  | {
      readonly kind: 'Parallel'
      readonly span: Span
      readonly mode: 'count' | 'each' | 'settle'
      readonly subject: Expr
      readonly maxConcurrent: Expr | null
      readonly variable: Name | null
      readonly body: Block
      readonly asStream: boolean
    }

export type IfExpr = Extract<Expr, { kind: 'If' }>
export type ExprOf<K extends Expr['kind']> = Extract<Expr, { kind: K }>

/** A list element or call argument; `spread` is `...value`. */
export interface Argument {
  readonly spread: boolean
  readonly value: Expr
  readonly span: Span
}

export type DictEntry =
  /** `name: v` or `"name": v`; `quoted` says which. */
  | { readonly kind: 'named'; readonly span: Span; readonly key: Name; readonly quoted: boolean; readonly value: Expr }
  | { readonly kind: 'computed'; readonly span: Span; readonly key: Expr; readonly value: Expr }
  | { readonly kind: 'spread'; readonly span: Span; readonly value: Expr }

/** Patterns are kept as expressions; the emitter reads them as patterns. */
export interface MatchArm {
  readonly patterns: readonly Expr[]
  readonly guard: Expr | null
  readonly body: Block
  readonly span: Span
}

export interface CatchClause {
  readonly variable: Name | null
  readonly type: TypeExpr | null
  readonly body: Block
  readonly span: Span
}

export interface Param {
  readonly name: Name
  readonly type: TypeExpr | null
  readonly defaultValue: Expr | null
  readonly rest: boolean
  readonly span: Span
}

export interface Block {
  readonly kind: 'Block'
  readonly span: Span
  readonly body: readonly Stmt[]
}

// ---- bindings ------------------------------------------------------------------------------------------------------

export type Binding =
  | { readonly kind: 'NameBinding'; readonly span: Span; readonly name: Name; readonly type: TypeExpr | null }
  | {
      readonly kind: 'DictBinding'
      readonly span: Span
      readonly fields: readonly { readonly key: Name; readonly alias: Name | null; readonly defaultValue: Expr | null }[]
      readonly rest: Name | null
    }
  | {
      readonly kind: 'ListBinding'
      readonly span: Span
      readonly items: readonly { readonly name: Name; readonly defaultValue: Expr | null }[]
      readonly rest: Name | null
    }
  /** Only in `for`. */
  | { readonly kind: 'PairBinding'; readonly span: Span; readonly first: Name; readonly second: Name }

// ---- statements ----------------------------------------------------------------------------------------------------

export type Stmt =
  | { readonly kind: 'ExprStmt'; readonly span: Span; readonly value: Expr }
  | { readonly kind: 'Let'; readonly span: Span; readonly mutable: boolean; readonly binding: Binding; readonly value: Expr }
  /** `target` is an Identifier, Member or Index; `operator` is null for plain `=`. */
  | {
      readonly kind: 'Assign'
      readonly span: Span
      readonly target: Expr
      readonly operator: '+' | '-' | '*' | '/' | '%' | null
      readonly value: Expr
    }
  | { readonly kind: 'While'; readonly span: Span; readonly condition: Expr; readonly body: Block }
  | { readonly kind: 'For'; readonly span: Span; readonly binding: Binding; readonly iterable: Expr; readonly body: Block }
  | { readonly kind: 'Return'; readonly span: Span; readonly value: Expr | null }
  | { readonly kind: 'Throw'; readonly span: Span; readonly value: Expr }
  | { readonly kind: 'Yield'; readonly span: Span; readonly value: Expr | null }
  | { readonly kind: 'Emit'; readonly span: Span; readonly value: Expr }
  | { readonly kind: 'Guard'; readonly span: Span; readonly condition: Expr; readonly otherwise: Block }
  | { readonly kind: 'Require'; readonly span: Span; readonly condition: Expr; readonly message: Expr | null }
  | { readonly kind: 'Defer'; readonly span: Span; readonly body: Block }
  | { readonly kind: 'Mutex'; readonly span: Span; readonly body: Block }
  | { readonly kind: 'Select'; readonly span: Span; readonly arms: readonly SelectArm[] }
  | { readonly kind: 'Break'; readonly span: Span }
  | { readonly kind: 'Continue'; readonly span: Span }
  | GrantStmt
  | Declaration

/** Statements of the grants extension (grant-syntax.ts); only files that opted in have them. */
export type GrantStmt =
  /** `use tool ID[@version] as Alias`; `server` for `use tool mcp "URL" as Name`; `alias` is null for `as *`. */
  | {
      readonly kind: 'UseTool'
      readonly span: Span
      readonly tool: Name
      readonly server: boolean
      readonly version: string | null
      readonly alias: Name | null
    }
  /** `alias` is an alias or, with a dot, a tool id. */
  | { readonly kind: 'Grant'; readonly span: Span; readonly alias: Name; readonly entries: readonly GrantEntry[] }
  | { readonly kind: 'BindEffect'; readonly span: Span; readonly effect: Name; readonly alias: Name }

export interface GrantEntry {
  readonly key: Name
  readonly value: GrantValue
  readonly valueSpan: Span
  readonly span: Span
}

/** Ints are numbers; floats are marked, as in attributes. Bare words are strings. */
export type GrantValue = string | number | boolean | { readonly float: number } | readonly GrantValue[]

export type SelectArm =
  | { readonly kind: 'receive'; readonly span: Span; readonly variable: Name; readonly channel: Expr; readonly body: Block }
  | { readonly kind: 'timeout'; readonly span: Span; readonly duration: Expr; readonly body: Block }
  | { readonly kind: 'default'; readonly span: Span; readonly body: Block }

/** Declarations carry their attributes and `pub` themselves; a pipeline or import is only legal at top level. */
export type Declaration =
  | FnDecl
  | ToolDecl
  | (DeclBase & { readonly kind: 'SkillDecl'; readonly fields: readonly { readonly name: Name; readonly value: Expr }[] })
  | EvalPackDecl
  | PipelineDecl
  | (DeclBase & { readonly kind: 'OverrideDecl'; readonly params: readonly Name[]; readonly body: Block })
  | ImportDecl
  | (DeclBase & { readonly kind: 'TypeDecl'; readonly typeParams: readonly TypeParam[]; readonly type: TypeExpr })
  | EnumDecl
  | StructDecl
  | InterfaceDecl
  | ImplDecl

interface DeclBase {
  readonly span: Span
  readonly name: Name
  readonly isPublic: boolean
  readonly attributes: readonly Attribute[]
  /** Text of the `///` or `/** *\/` comment right before it, markers removed; null without one. */
  readonly doc: string | null
}

export interface FnDecl extends DeclBase {
  readonly kind: 'FnDecl'
  /** Declared as `gen fn`. */
  readonly isStream: boolean
  readonly typeParams: readonly TypeParam[]
  readonly params: readonly Param[]
  readonly returns: TypeExpr | null
  readonly where: readonly { readonly param: Name; readonly bound: Name }[]
  readonly body: Block
}

export interface ToolDecl extends DeclBase {
  readonly kind: 'ToolDecl'
  readonly params: readonly Param[]
  readonly returns: TypeExpr | null
  readonly description: string | null
  readonly body: Block
}

export interface EvalPackDecl extends DeclBase {
  readonly kind: 'EvalPackDecl'
  /** `name` is the binding; `packId` the string id, which defaults to the name. */
  readonly packId: string
  readonly fields: readonly { readonly name: Name; readonly value: Expr }[]
  readonly body: readonly Stmt[]
  readonly summarize: Block | null
}

export interface PipelineDecl extends DeclBase {
  readonly kind: 'PipelineDecl'
  readonly params: readonly Name[]
  readonly returns: TypeExpr | null
  readonly parent: Name | null
  readonly body: Block
}

/** `names` is null for a wildcard import. `name` is the path. */
export interface ImportDecl extends DeclBase {
  readonly kind: 'ImportDecl'
  readonly path: string
  readonly pathSpan: Span
  readonly names: readonly Name[] | null
}

export interface EnumDecl extends DeclBase {
  readonly kind: 'EnumDecl'
  readonly typeParams: readonly TypeParam[]
  readonly variants: readonly { readonly name: Name; readonly params: readonly Param[] }[]
}

export interface StructDecl extends DeclBase {
  readonly kind: 'StructDecl'
  readonly typeParams: readonly TypeParam[]
  readonly fields: readonly { readonly name: Name; readonly optional: boolean; readonly type: TypeExpr | null }[]
}

export interface InterfaceDecl extends DeclBase {
  readonly kind: 'InterfaceDecl'
  readonly typeParams: readonly TypeParam[]
  readonly assocTypes: readonly { readonly name: Name; readonly type: TypeExpr | null }[]
  readonly methods: readonly {
    readonly name: Name
    readonly typeParams: readonly TypeParam[]
    readonly params: readonly Param[]
    readonly returns: TypeExpr | null
    readonly span: Span
  }[]
}

export interface ImplDecl extends DeclBase {
  readonly kind: 'ImplDecl'
  readonly methods: readonly FnDecl[]
}

export interface Attribute {
  readonly name: Name
  readonly args: readonly { readonly name: Name | null; readonly value: AttributeValue }[]
  readonly span: Span
}

/** Names in attribute arguments are strings. */
export type AttributeValue = string | number | bigint | boolean | null | { readonly float: number } | readonly AttributeValue[]

export interface Program {
  readonly kind: 'Program'
  readonly span: Span
  readonly items: readonly Stmt[]
}

export type Node = Program | Block | Stmt | Expr
