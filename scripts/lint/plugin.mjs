// Our own rules for oxlint. `linear-patterns`: no regular expression that may backtrack is applied to untrusted text or built from it. A literal
// is analysed (pattern-cost.mjs); a pattern built at run time is refused, because it cannot be analysed here. Code that only reads bounded
// text of our own may disable the rule:
//
//   // oxlint-disable-next-line bridle/linear-patterns -- a name of at most 64 characters

import { costProblem } from './pattern-cost.mjs'

/** @type {Map<string, string | null>} */
const judged = new Map()

/** @param {string} source @param {string} flags */
function problemOf(source, flags) {
  const key = `${flags}/${source}`
  if (!judged.has(key)) judged.set(key, costProblem(source, flags))
  return judged.get(key) ?? null
}

const linearPatterns = {
  create(/** @type {any} */ context) {
    const judge = (/** @type {any} */ node, /** @type {string} */ source, /** @type {string} */ flags) => {
      const problem = problemOf(source, flags)
      if (problem !== null) context.report({ node, message: `/${source}/${flags} ${problem}` })
    }
    const construct = (/** @type {any} */ node) => {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'RegExp') return
      const [source, flags] = node.arguments.map(constantText)
      if (source === null || source === undefined || flags === null) {
        context.report({
          node,
          message: 'a pattern that is made at run time cannot be judged; use the engine of the vm, or scan by hand',
        })
      } else judge(node, source, flags ?? '')
    }
    return {
      Literal: (/** @type {any} */ node) => {
        if (node.regex) judge(node, node.regex.pattern, node.regex.flags)
      },
      NewExpression: construct,
      CallExpression: (/** @type {any} */ node) => {
        construct(node)
        const { callee } = node
        // A string argument of these methods is compiled to a pattern.
        if (callee.type !== 'MemberExpression' || callee.computed || !/^(?:match|matchAll|search)$/.test(callee.property.name))
          return
        const source = node.arguments.length === 1 ? constantText(node.arguments[0]) : null
        if (source !== null) judge(node, source, '')
      },
    }
  },
}

/** The text of a literal; null for anything else. @param {any} node @returns {string | null} */
function constantText(node) {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  return node.type === 'TemplateLiteral' && node.expressions.length === 0 ? node.quasis[0].value.cooked : null
}

// oxlint-disable-next-line import/no-default-export -- what a plugin is
export default { meta: { name: 'bridle' }, rules: { 'linear-patterns': linearPatterns } }
