// Visits a tree without knowing its node kinds: anything with a `kind` is a node. The checker's own passes name every kind;
// this is for the few questions asked of a whole subtree ("does it yield?", "where is f called?"). Iterative, so that depth of
// the tree does not matter, and in source order.

export interface AnyNode {
  readonly kind: string
}

/** Nodes below and including `start`, parents first. A node whose kind `enter` refuses is skipped with all below it. */
export function* nodesWithin(start: object, enter: (kind: string) => boolean): Generator<AnyNode> {
  const stack: object[] = [start]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (isNode(at)) {
      if (at !== start && !enter(at.kind)) continue
      yield at
    }
    const parts: readonly unknown[] = Array.isArray(at) ? at : Object.values(at)
    for (let index = parts.length - 1; index >= 0; index--) {
      const part = parts[index]
      if (typeof part === 'object' && part !== null) stack.push(part)
    }
  }
}

function isNode(value: object): value is AnyNode {
  return 'kind' in value && typeof value.kind === 'string'
}
