// Parse nodes of the grants extension (grant-syntax.ts) → UseTool, Grant, BindEffect.

import type { GrantEntry, GrantStmt, GrantValue, Name } from './ast.js'
import { type BuildContext, children, nameAt, nodeSpan, optional, trimSpan, stringAt, textAt, unitAt } from './build-context.js'
import type { ParseNode } from './parse-tree.js'
import { readInt } from './literals.js'
import { TOKEN } from './tokens.js'

/** Node of rule `useTool`, `grant` or `bindEffect`; null for another. */
export function buildGrantStmt(context: BuildContext, node: ParseNode): GrantStmt | null {
  const span = nodeSpan(context, node)
  switch (node.rule) {
    case 'useTool': {
      const target = node.child(2).child(0)
      const alias = node.child(4).start
      const isServer = target.rule === 'useServer'
      return {
        kind: 'UseTool',
        span,
        tool: isServer
          ? { text: stringAt(context, target.child(1).start), span: nodeSpan(context, target) }
          : joinDotted(context, target.child(0)),
        server: isServer,
        version: isServer ? null : optional(target.child(1), (version) => versionText(context, version.child(1).child(0))),
        alias: unitAt(context, alias) === TOKEN['*'] ? null : nameAt(context, alias),
      }
    }
    case 'grant': {
      return { kind: 'Grant', span, alias: joinDotted(context, node.child(1)), entries: buildEntries(context, node.child(2)) }
    }
    case 'bindEffect':
      return { kind: 'BindEffect', span, effect: joinDotted(context, node.child(2)), alias: joinDotted(context, node.child(4)) }
    default:
      return null
  }
}

function joinDotted(context: BuildContext, node: ParseNode): Name {
  const span = nodeSpan(context, node)
  let text = ''
  for (let at = node.start; at < node.end; at++) text += textAt(context, at)
  return { text, span }
}

function versionText(context: BuildContext, node: ParseNode): string {
  return node.rule === 'string' ? stringAt(context, node.start) : joinDotted(context, node).text
}

function buildEntries(context: BuildContext, body: ParseNode): readonly GrantEntry[] {
  const first = body.child(0)
  if (first.rule === 'grantFields') {
    return children(first.child(2)).map((field) => entry(context, field, field.child(0).start, field.child(3)))
  }
  const pairs = first.rule === '_iter' ? children(first) : [first]
  return pairs.map((pair) =>
    pair.rule === 'grantLine'
      ? entry(context, pair, pair.child(1).start, pair.child(2))
      : entry(context, pair, pair.child(0).start, pair.child(1)),
  )
}

function entry(context: BuildContext, node: ParseNode, key: number, value: ParseNode): GrantEntry {
  return {
    key: nameAt(context, key),
    value: buildValue(context, value),
    valueSpan: nodeSpan(context, value),
    span: trimSpan(context, key, node.end),
  }
}

/** Node of rule `grantValue` or `grantScalar`. */
function buildValue(context: BuildContext, node: ParseNode): GrantValue {
  switch (node.rule) {
    case 'grantValue':
      return buildValue(context, node.child(0))
    case 'grantList':
      return children(node.child(2)).map((item) => buildValue(context, item.child(0)))
    case 'grantNegative':
      return negate(scalar(context, node.end - 1))
    default:
      return scalar(context, node.start)
  }
}

function scalar(context: BuildContext, token: number): GrantValue {
  const text = textAt(context, token)
  switch (unitAt(context, token)) {
    case TOKEN.true:
      return true
    case TOKEN.false:
      return false
    case TOKEN['<int>']: {
      const value = readInt(text)
      return typeof value === 'object' ? value : Number(value)
    }
    case TOKEN['<float>']:
      return { float: Number(text) }
    case TOKEN['<string>']:
    case TOKEN['<triple>']:
    case TOKEN['<rawString>']:
      return stringAt(context, token)
    default:
      // A bare word, as in `effect http`.
      return text
  }
}

function negate(value: GrantValue): GrantValue {
  if (typeof value === 'number') return -value
  return typeof value === 'object' && 'float' in value ? { float: -value.float } : value
}
