// Ownership through nesting (docs/decisions/0018). A container that lies in another one may be changed in place when nobody else can see
// it: the outer one is `owned` by a variable, or held in the same way itself, and `inner.owner === outer.nest`. The first change
// through the outer one copies the inner one and gives the copy that mark.
//
// Whatever makes a second reference to the inner one takes the mark off (`share`), or, where it may be any of many, gives the outer one
// no `nest` any more, which takes it off all of them. A copy of the outer one has no `nest`, so that what both hold belongs to
// neither. The mark is an object of its own and not the outer one, which would be kept alive by everything that it ever held.

/** Who holds a container; a container with something of its own has one. */
export class Nest {}
