// Ownership through nesting (docs/decisions/0018). A nested container may be changed in place if only the outer one references
// it: the outer one is `owned` by a variable, or nested in the same way, and `inner.owner === outer.nest`. The first change
// through the outer one copies the inner one and gives the copy that mark.
//
// Code that makes a second reference to the inner one removes the mark (`share`); if the inner one may be any of many, it clears
// the `nest` of the outer one instead, which invalidates all marks. A copy of the outer one has no `nest`, so that neither owns what both
// hold. The mark is a separate object and not the outer container, which everything it ever held would keep alive.

/** Identity of an owning container; only containers that own something have one. */
export class Nest {}
