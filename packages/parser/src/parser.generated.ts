// Generated from harn.ohm by scripts/generate-grammar.ts (how: packages/parser/scripts/emit-parser.ts): change that, then run it
// again.
/* eslint-disable */

import { EMPTY, iteration, type Part, type StartRule, TooDeep, TreeNode } from './parse-tree.js'

const FIRST_UNIT = 0xe000
const END = 114
/** Calls of the rules that remember, for each token; plain code takes two or three. */
const STEPS_PER_TOKEN = 40

/** Raised when the budget of steps is used up; never leaves this file. */
const OVERRUN = new Error('the parser goes back too often')

export interface Parsed {
  /** Null when the tokens are no program or expression. */
  readonly tree: TreeNode | null
  /** First token of the last but one item of the file that was begun: a failure has its reasons behind it. */
  readonly restart: number
}

/** Parses a token string. `maxDepth` bounds the nesting of types; deeper raises TooDeep. */
export function parseTokens(units: string, rule: StartRule, maxDepth: number): Parsed {
  const kinds = new Uint8Array(units.length + 1)
  for (let at = 0; at < units.length; at += 1) kinds[at] = units.charCodeAt(at) - FIRST_UNIT
  kinds[units.length] = END
  try {
    return new Parser(kinds, maxDepth, null).run(rule)
  } catch (error) {
    if (error !== OVERRUN) throw error
    return new Parser(kinds, maxDepth, new Map()).run(rule)
  }
}

/** What is known about a rule at a token, by rule and token. */
type Memory = Map<string, TreeNode | null>

const SET_0 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 75, 96, 97, 99, 111, 113)
const SET_1 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 75, 96, 97, 99, 111, 113)
const SET_2 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 75, 96, 97, 99, 111)
const SET_3 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 63, 64, 65, 66, 67, 69, 71, 72, 75, 111)
const SET_4 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 108, 113)
const SET_5 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 61, 113)
const SET_6 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 63, 64, 66, 67, 69, 71, 72, 75, 111)
const SET_7 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 49, 63, 64, 65, 66, 69, 71, 72, 75, 96, 97, 111, 113)
const SET_8 = setOf(12, 61, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 113)
const SET_9 = setOf(12, 61, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89)
const SET_10 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 96, 97, 99, 108, 111, 113)
const SET_11 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 48, 49, 50, 51, 52, 53, 54, 55, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 74, 75, 96, 97, 99, 111, 113)
const SET_12 = setOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 70, 71, 72, 108, 111)

function setOf(...tokens: readonly number[]): Uint8Array {
  const set = new Uint8Array(256)
  for (const token of tokens) set[token] = 1
  return set
}

class Parser {
  private readonly kinds: Uint8Array
  private readonly maxDepth: number
  private readonly memory: Memory | null
  private stepsLeft: number
  private at = 0
  private depth = 0
  private item = 0
  private restart = 0
  private exprAt = -1
  private exprNode: TreeNode | null = null
  private stmtAt = -1
  private stmtNode: TreeNode | null = null
  private typeAt = -1
  private typeNode: TreeNode | null = null
  private ifExprAt = -1
  private ifExprNode: TreeNode | null = null
  private matchExprAt = -1
  private matchExprNode: TreeNode | null = null
  private tryExprAt = -1
  private tryExprNode: TreeNode | null = null
  private parallelExprAt = -1
  private parallelExprNode: TreeNode | null = null
  private retryExprAt = -1
  private retryExprNode: TreeNode | null = null
  private deadlineExprAt = -1
  private deadlineExprNode: TreeNode | null = null

  constructor(kinds: Uint8Array, maxDepth: number, memory: Memory | null) {
    this.kinds = kinds
    this.maxDepth = maxDepth
    this.memory = memory
    this.stepsLeft = memory === null ? kinds.length * STEPS_PER_TOKEN + 1000 : Infinity
  }

  run(rule: StartRule): Parsed {
    const tree = rule === 'program' ? this.program() : rule === 'interpolation' ? this.interpolation() : null
    return { tree, restart: this.restart }
  }

  private countStep(): void {
    this.stepsLeft -= 1
    if (this.stepsLeft < 0) throw OVERRUN
  }

  private program(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    let o3 = EMPTY
    if (SET_0[kinds[this.at]!] === 1) {
      const here4 = this.at
      option5: {
        const n6 = this.topItems()
        if (n6 === null) { this.at = here4; break option5 }
        o3 = iteration([n6])
      }
    }
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = iteration([t8])
    }
    if (kinds[this.at]! !== END) return null
    return new TreeNode('program', start, this.at, [o1, o3, o7, new TreeNode('_terminal', this.at, this.at, [])])
  }

  private topItems(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.topItem()
    if (n1 === null) return null
    let c2: Part[] | null = null
    let c3: Part[] | null = null
    loop5: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 104 /* ; */ && kind !== 113 /* \n */) break
      const here4 = this.at
      const n6 = this.sep()
      if (n6 === null) { this.at = here4; break loop5 }
      const n7 = this.topItem()
      if (n7 === null) { this.at = here4; break loop5 }
      if (c2 === null) c2 = [n6]
      else c2.push(n6)
      if (c3 === null) c3 = [n7]
      else c3.push(n7)
    }
    let o8 = EMPTY
    const kind9 = kinds[this.at]!
    if (kind9 === 104 /* ; */ || kind9 === 113 /* \n */) {
      const here10 = this.at
      option11: {
        const n12 = this.sep()
        if (n12 === null) { this.at = here10; break option11 }
        o8 = iteration([n12])
      }
    }
    return new TreeNode('topItems', start, this.at, [n1, c2 === null ? EMPTY : iteration(c2), c3 === null ? EMPTY : iteration(c3), o8])
  }

  private topItem(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    this.restart = this.item
    this.item = start
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 33 /* import */: {
          const n3 = this.importDecl()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 34 /* pipeline */: {
          const n4 = this.pipelineDecl()
          if (n4 === null) return null
          r1 = n4
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind >= 33 /* import */ && kind <= 34 /* pipeline */)) return null }
          const n5 = this.stmt()
          if (n5 === null) return null
          r1 = n5
        }
      }
    }
    return new TreeNode('topItem', start, this.at, [r1])
  }

  private sep(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 113 /* \n */: {
          const t3 = this.at++
          r1 = t3
          break choice2
        }
        default: {
          const n4 = this.sepSemi()
          if (n4 === null) return null
          r1 = n4
        }
      }
    }
    return new TreeNode('sep', start, this.at, [r1])
  }

  private sepSemi(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 104 /* ; */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    return new TreeNode('sepSemi', start, this.at, [t1, o2])
  }

  private block(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t3 = this.at++
    const n4 = this.body()
    if (n4 === null) return null
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t7 = this.at++
    return new TreeNode('block', start, this.at, [o1, t3, n4, o5, t7])
  }

  private body(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    let o3 = EMPTY
    let o4 = EMPTY
    let o5 = EMPTY
    let o6 = EMPTY
    if (SET_1[kinds[this.at]!] === 1) {
      const here7 = this.at
      option8: {
        const n9 = this.stmt()
        if (n9 === null) { this.at = here7; break option8 }
        let c10: Part[] | null = null
        let c11: Part[] | null = null
        loop13: for (;;) {
          const kind = kinds[this.at]!
          if (kind !== 104 /* ; */ && kind !== 113 /* \n */) break
          const here12 = this.at
          const n14 = this.sep()
          if (n14 === null) { this.at = here12; break loop13 }
          const n15 = this.stmt()
          if (n15 === null) { this.at = here12; break loop13 }
          if (c10 === null) c10 = [n14]
          else c10.push(n14)
          if (c11 === null) c11 = [n15]
          else c11.push(n15)
        }
        let o16 = EMPTY
        const kind17 = kinds[this.at]!
        if (kind17 === 104 /* ; */ || kind17 === 113 /* \n */) {
          const here18 = this.at
          option19: {
            const n20 = this.sep()
            if (n20 === null) { this.at = here18; break option19 }
            o16 = iteration([n20])
          }
        }
        o3 = iteration([n9])
        o4 = iteration([c10 === null ? EMPTY : iteration(c10)])
        o5 = iteration([c11 === null ? EMPTY : iteration(c11)])
        o6 = iteration([o16])
      }
    }
    return new TreeNode('body', start, this.at, [o1, o3, o4, o5, o6])
  }

  private stmt(): TreeNode | null {
    const start = this.at
    if (this.stmtAt === start) {
      const last = this.stmtNode
      if (last !== null) this.at = last.end
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('stmt' + start)
      if (known !== undefined) {
        if (known !== null) this.at = known.end
        return known
      }
    }
    const node = this.stmtAnew()
    if (this.memory !== null) this.memory.set('stmt' + start, node)
    this.stmtAt = start
    this.stmtNode = node
    return node
  }

  private stmtAnew(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 15 /* gen */: {
          const here = this.at
          next3: {
            const n4 = this.genFnDecl()
            if (n4 === null) break next3
            r1 = n4
            break choice2
          }
          this.at = here
          const n5 = this.exprStmt()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        case 16 /* @ */: {
          const n6 = this.attributed()
          if (n6 === null) return null
          r1 = n6
          break choice2
        }
        case 17 /* <use> */: {
          const n7 = this.useTool()
          if (n7 === null) return null
          r1 = n7
          break choice2
        }
        case 18 /* <grant> */: {
          const n8 = this.grant()
          if (n8 === null) return null
          r1 = n8
          break choice2
        }
        case 19 /* <bind> */: {
          const n9 = this.bindEffect()
          if (n9 === null) return null
          r1 = n9
          break choice2
        }
        case 21 /* eval_pack */: {
          const n10 = this.evalPackDecl()
          if (n10 === null) return null
          r1 = n10
          break choice2
        }
        case 22 /* require */: {
          const n11 = this.requireStmt()
          if (n11 === null) return null
          r1 = n11
          break choice2
        }
        case 23 /* select */: {
          const n12 = this.selectStmt()
          if (n12 === null) return null
          r1 = n12
          break choice2
        }
        case 24 /* skill */: {
          const n13 = this.skillDecl()
          if (n13 === null) return null
          r1 = n13
          break choice2
        }
        case 25 /* break */: {
          const t14 = this.at++
          r1 = new TreeNode('breakStmt', t14, t14 + 1, [t14])
          break choice2
        }
        case 26 /* continue */: {
          const t15 = this.at++
          r1 = new TreeNode('continueStmt', t15, t15 + 1, [t15])
          break choice2
        }
        case 27 /* defer */: {
          const n16 = this.deferStmt()
          if (n16 === null) return null
          r1 = n16
          break choice2
        }
        case 28 /* emit */: {
          const n17 = this.emitStmt()
          if (n17 === null) return null
          r1 = n17
          break choice2
        }
        case 29 /* enum */: {
          const n18 = this.enumDecl()
          if (n18 === null) return null
          r1 = n18
          break choice2
        }
        case 30 /* for */: {
          const n19 = this.forStmt()
          if (n19 === null) return null
          r1 = n19
          break choice2
        }
        case 31 /* guard */: {
          const n20 = this.guardStmt()
          if (n20 === null) return null
          r1 = n20
          break choice2
        }
        case 32 /* impl */: {
          const n21 = this.implDecl()
          if (n21 === null) return null
          r1 = n21
          break choice2
        }
        case 35 /* interface */: {
          const n22 = this.interfaceDecl()
          if (n22 === null) return null
          r1 = n22
          break choice2
        }
        case 36 /* let */: {
          const n23 = this.letStmt()
          if (n23 === null) return null
          r1 = n23
          break choice2
        }
        case 37 /* mutex */: {
          const n24 = this.mutexStmt()
          if (n24 === null) return null
          r1 = n24
          break choice2
        }
        case 38 /* override */: {
          const n25 = this.overrideDecl()
          if (n25 === null) return null
          r1 = n25
          break choice2
        }
        case 39 /* pub */: {
          const n26 = this.pubDecl()
          if (n26 === null) return null
          r1 = n26
          break choice2
        }
        case 40 /* return */: {
          const n27 = this.returnStmt()
          if (n27 === null) return null
          r1 = n27
          break choice2
        }
        case 41 /* struct */: {
          const n28 = this.structDecl()
          if (n28 === null) return null
          r1 = n28
          break choice2
        }
        case 42 /* throw */: {
          const n29 = this.throwStmt()
          if (n29 === null) return null
          r1 = n29
          break choice2
        }
        case 43 /* tool */: {
          const n30 = this.toolDecl()
          if (n30 === null) return null
          r1 = n30
          break choice2
        }
        case 44 /* type */: {
          const n31 = this.typeDecl()
          if (n31 === null) return null
          r1 = n31
          break choice2
        }
        case 45 /* var */: {
          const n32 = this.varStmt()
          if (n32 === null) return null
          r1 = n32
          break choice2
        }
        case 46 /* while */: {
          const n33 = this.whileStmt()
          if (n33 === null) return null
          r1 = n33
          break choice2
        }
        case 47 /* yield */: {
          const n34 = this.yieldStmt()
          if (n34 === null) return null
          r1 = n34
          break choice2
        }
        case 48 /* deadline */: {
          const here = this.at
          next35: {
            const n36 = this.deadlineExpr()
            if (n36 === null) break next35
            r1 = n36
            break choice2
          }
          this.at = here
          const n37 = this.exprStmt()
          if (n37 === null) return null
          r1 = n37
          break choice2
        }
        case 49 /* fn */: {
          const here = this.at
          next38: {
            const n39 = this.fnDecl()
            if (n39 === null) break next38
            r1 = n39
            break choice2
          }
          this.at = here
          const n40 = this.exprStmt()
          if (n40 === null) return null
          r1 = n40
          break choice2
        }
        case 50 /* if */: {
          const here = this.at
          next41: {
            const n42 = this.ifExpr()
            if (n42 === null) break next41
            r1 = n42
            break choice2
          }
          this.at = here
          const n43 = this.exprStmt()
          if (n43 === null) return null
          r1 = n43
          break choice2
        }
        case 51 /* match */: {
          const here = this.at
          next44: {
            const n45 = this.matchExpr()
            if (n45 === null) break next44
            r1 = n45
            break choice2
          }
          this.at = here
          const n46 = this.exprStmt()
          if (n46 === null) return null
          r1 = n46
          break choice2
        }
        case 52 /* parallel */: {
          const here = this.at
          next47: {
            const n48 = this.parallelExpr()
            if (n48 === null) break next47
            r1 = n48
            break choice2
          }
          this.at = here
          const n49 = this.exprStmt()
          if (n49 === null) return null
          r1 = n49
          break choice2
        }
        case 53 /* retry */: {
          const here = this.at
          next50: {
            const n51 = this.retryExpr()
            if (n51 === null) break next50
            r1 = n51
            break choice2
          }
          this.at = here
          const n52 = this.exprStmt()
          if (n52 === null) return null
          r1 = n52
          break choice2
        }
        case 54 /* try */: {
          const here = this.at
          next53: {
            const n54 = this.tryExpr()
            if (n54 === null) break next53
            r1 = n54
            break choice2
          }
          this.at = here
          const n55 = this.exprStmt()
          if (n55 === null) return null
          r1 = n55
          break choice2
        }
        default: {
          const here = this.at
          next56: {
            { const kind = kinds[this.at]!; if ((kind >= 15 /* gen */ && kind <= 54 /* try */)) break next56 }
            const n57 = this.exprStmt()
            if (n57 === null) break next56
            r1 = n57
            break choice2
          }
          this.at = here
          const n58 = this.exprStmt()
          if (n58 === null) return null
          r1 = n58
        }
      }
    }
    return new TreeNode('stmt', start, this.at, [r1])
  }

  private exprStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.expr()
    if (n1 === null) return null
    let o2 = EMPTY
    const kind3 = kinds[this.at]!
    if ((kind3 >= 90 /* = */ && kind3 <= 95 /* %= */)) {
      const here4 = this.at
      option5: {
        const n6 = this.assignTail()
        if (n6 === null) { this.at = here4; break option5 }
        o2 = iteration([n6])
      }
    }
    return new TreeNode('exprStmt', start, this.at, [n1, o2])
  }

  private assignTail(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 90 /* = */ || kind > 95 /* %= */)) return null }
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    return new TreeNode('assignTail', start, this.at, [t1, n2])
  }

  private letStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 36 /* let */) return null
    const t1 = this.at++
    const n2 = this.binding()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 90 /* = */) return null
    const t5 = this.at++
    const n6 = this.expr()
    if (n6 === null) return null
    return new TreeNode('letStmt', start, this.at, [t1, n2, o3, t5, n6])
  }

  private varStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 45 /* var */) return null
    const t1 = this.at++
    const n2 = this.binding()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 90 /* = */) return null
    const t5 = this.at++
    const n6 = this.expr()
    if (n6 === null) return null
    return new TreeNode('varStmt', start, this.at, [t1, n2, o3, t5, n6])
  }

  private binding(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    const n3 = this.bindingTarget()
    if (n3 === null) return null
    return new TreeNode('binding', start, this.at, [o1, n3])
  }

  private bindingTarget(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 96 /* { */:
        case 97 /* {-> */: {
          const n3 = this.dictBinding()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 111 /* [ */: {
          const n4 = this.listBinding()
          if (n4 === null) return null
          r1 = n4
          break choice2
        }
        default: {
          const n5 = this.nameBinding()
          if (n5 === null) return null
          r1 = n5
        }
      }
    }
    return new TreeNode('bindingTarget', start, this.at, [r1])
  }

  private nameBinding(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here3 = this.at
      option4: {
        const n5 = this.typeAnnotation()
        if (n5 === null) { this.at = here3; break option4 }
        o2 = iteration([n5])
      }
    }
    return new TreeNode('nameBinding', start, this.at, [new TreeNode('bindingName', t1, t1 + 1, [new TreeNode('ident', t1, t1 + 1, [t1])]), o2])
  }

  private dictBinding(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t1 = this.at++
    let c2: Part[] | null = null
    loop4: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) break
      const here3 = this.at
      const n5 = this.dictBindField()
      if (n5 === null) { this.at = here3; break loop4 }
      if (c2 === null) c2 = [n5]
      else c2.push(n5)
    }
    let o6 = EMPTY
    const kind7 = kinds[this.at]!
    if (kind7 === 108 /* ... */ || kind7 === 113 /* \n */) {
      const here8 = this.at
      option9: {
        const n10 = this.bindRest()
        if (n10 === null) { this.at = here8; break option9 }
        o6 = iteration([n10])
      }
    }
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = iteration([t12])
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t13 = this.at++
    return new TreeNode('dictBinding', start, this.at, [t1, c2 === null ? EMPTY : iteration(c2), o6, o11, t13])
  }

  private dictBindField(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here5 = this.at
      option6: {
        const n7 = this.bindAlias()
        if (n7 === null) { this.at = here5; break option6 }
        o4 = iteration([n7])
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 90 /* = */) {
      const here9 = this.at
      option10: {
        const n11 = this.defaultValue()
        if (n11 === null) { this.at = here9; break option10 }
        o8 = iteration([n11])
      }
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t13 = this.at++
      o12 = iteration([t13])
    }
    return new TreeNode('dictBindField', start, this.at, [o1, new TreeNode('fieldName', t3, t3 + 1, [new TreeNode('ident', t3, t3 + 1, [t3])]), o4, o8, o12])
  }

  private bindAlias(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 103 /* : */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    return new TreeNode('bindAlias', start, this.at, [t1, o2, new TreeNode('aliasName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])])])
  }

  private listBinding(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t1 = this.at++
    let c2: Part[] | null = null
    loop4: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) break
      const here3 = this.at
      const n5 = this.listBindItem()
      if (n5 === null) { this.at = here3; break loop4 }
      if (c2 === null) c2 = [n5]
      else c2.push(n5)
    }
    let o6 = EMPTY
    const kind7 = kinds[this.at]!
    if (kind7 === 108 /* ... */ || kind7 === 113 /* \n */) {
      const here8 = this.at
      option9: {
        const n10 = this.bindRest()
        if (n10 === null) { this.at = here8; break option9 }
        o6 = iteration([n10])
      }
    }
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = iteration([t12])
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t13 = this.at++
    return new TreeNode('listBinding', start, this.at, [t1, c2 === null ? EMPTY : iteration(c2), o6, o11, t13])
  }

  private listBindItem(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 90 /* = */) {
      const here5 = this.at
      option6: {
        const n7 = this.defaultValue()
        if (n7 === null) { this.at = here5; break option6 }
        o4 = iteration([n7])
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    return new TreeNode('listBindItem', start, this.at, [o1, new TreeNode('itemName', t3, t3 + 1, [new TreeNode('ident', t3, t3 + 1, [t3])]), o4, o8])
  }

  private bindRest(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    if (kinds[this.at]! !== 108 /* ... */) return null
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t6 = this.at++
    return new TreeNode('bindRest', start, this.at, [o1, t3, o4, new TreeNode('restName', t6, t6 + 1, [new TreeNode('ident', t6, t6 + 1, [t6])])])
  }

  private defaultValue(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 90 /* = */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    return new TreeNode('defaultValue', start, this.at, [t1, n2])
  }

  private typeAnnotation(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 103 /* : */) return null
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === null) return null
    return new TreeNode('typeAnnotation', start, this.at, [t1, n2])
  }

  private whileStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 46 /* while */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    const n3 = this.block()
    if (n3 === null) return null
    return new TreeNode('whileStmt', start, this.at, [t1, n2, n3])
  }

  private forStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 30 /* for */) return null
    const t1 = this.at++
    const n2 = this.forBinding()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 61 /* in */) return null
    const t5 = this.at++
    const n6 = this.expr()
    if (n6 === null) return null
    const n7 = this.block()
    if (n7 === null) return null
    return new TreeNode('forStmt', start, this.at, [t1, n2, o3, t5, n6, n7])
  }

  private forBinding(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 99 /* ( */: {
          const n3 = this.pairBinding()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        default: {
          const n4 = this.binding()
          if (n4 === null) return null
          r1 = n4
        }
      }
    }
    return new TreeNode('forBinding', start, this.at, [r1])
  }

  private pairBinding(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    if (kinds[this.at]! !== 102 /* , */) return null
    const t7 = this.at++
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t10 = this.at++
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = iteration([t12])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t13 = this.at++
    return new TreeNode('pairBinding', start, this.at, [t1, o2, new TreeNode('ident', t4, t4 + 1, [t4]), o5, t7, o8, new TreeNode('ident', t10, t10 + 1, [t10]), o11, t13])
  }

  private returnStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 40 /* return */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (SET_2[kinds[this.at]!] === 1) {
      const here3 = this.at
      option4: {
        const n5 = this.sameLineExpr()
        if (n5 === null) { this.at = here3; break option4 }
        o2 = iteration([n5])
      }
    }
    return new TreeNode('returnStmt', start, this.at, [t1, o2])
  }

  private throwStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 42 /* throw */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    return new TreeNode('throwStmt', start, this.at, [t1, n2])
  }

  private yieldStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 47 /* yield */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (SET_2[kinds[this.at]!] === 1) {
      const here3 = this.at
      option4: {
        const n5 = this.sameLineExpr()
        if (n5 === null) { this.at = here3; break option4 }
        o2 = iteration([n5])
      }
    }
    return new TreeNode('yieldStmt', start, this.at, [t1, o2])
  }

  private sameLineExpr(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! === 113 /* \n */) return null
    const n1 = this.expr()
    if (n1 === null) return null
    return new TreeNode('sameLineExpr', start, this.at, [n1])
  }

  private emitStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 28 /* emit */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    return new TreeNode('emitStmt', start, this.at, [t1, n2])
  }

  private guardStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 31 /* guard */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 57 /* else */) return null
    const t5 = this.at++
    const n6 = this.block()
    if (n6 === null) return null
    return new TreeNode('guardStmt', start, this.at, [t1, n2, o3, t5, n6])
  }

  private requireStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 22 /* require */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const here4 = this.at
      option5: {
        const n6 = this.requireMessage()
        if (n6 === null) { this.at = here4; break option5 }
        o3 = iteration([n6])
      }
    }
    return new TreeNode('requireStmt', start, this.at, [t1, n2, o3])
  }

  private requireMessage(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 102 /* , */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    return new TreeNode('requireMessage', start, this.at, [t1, n2])
  }

  private deferStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 27 /* defer */) return null
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === null) return null
    return new TreeNode('deferStmt', start, this.at, [t1, n2])
  }

  private mutexStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 37 /* mutex */) return null
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === null) return null
    return new TreeNode('mutexStmt', start, this.at, [t1, n2])
  }

  private selectStmt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 23 /* select */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    let c7: Part[] | null = null
    loop9: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
      const here8 = this.at
      const n10 = this.selectArm()
      if (n10 === null) { this.at = here8; break loop9 }
      if (c7 === null) c7 = [n10]
      else c7.push(n10)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t11 = this.at++
    return new TreeNode('selectStmt', start, this.at, [t1, o2, t4, o5, c7 === null ? EMPTY : iteration(c7), t11])
  }

  private selectArm(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 8 /* timeout */: {
          const here = this.at
          next3: {
            const n4 = this.timeoutArm()
            if (n4 === null) break next3
            r1 = n4
            break choice2
          }
          this.at = here
          const n5 = this.receiveArm()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        case 9 /* default */: {
          const here = this.at
          next6: {
            const n7 = this.defaultArm()
            if (n7 === null) break next6
            r1 = n7
            break choice2
          }
          this.at = here
          const n8 = this.receiveArm()
          if (n8 === null) return null
          r1 = n8
          break choice2
        }
        default: {
          const n9 = this.receiveArm()
          if (n9 === null) return null
          r1 = n9
        }
      }
    }
    return new TreeNode('selectArm', start, this.at, [r1])
  }

  private timeoutArm(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 8 /* timeout */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    const n3 = this.block()
    if (n3 === null) return null
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    return new TreeNode('timeoutArm', start, this.at, [t1, n2, n3, o4])
  }

  private defaultArm(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 9 /* default */) return null
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    return new TreeNode('defaultArm', start, this.at, [t1, n2, o3])
  }

  private receiveArm(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    if (kinds[this.at]! !== 60 /* from */) return null
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === null) return null
    const n6 = this.block()
    if (n6 === null) return null
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = iteration([t8])
    }
    return new TreeNode('receiveArm', start, this.at, [new TreeNode('ident', t1, t1 + 1, [t1]), o2, t4, n5, n6, o7])
  }

  private attributed(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let count2 = 0
    let c1: Part[] | null = null
    loop4: for (;;) {
      if (kinds[this.at]! !== 16 /* @ */) break
      const here3 = this.at
      const n5 = this.attribute()
      if (n5 === null) { this.at = here3; break loop4 }
      if (c1 === null) c1 = [n5]
      else c1.push(n5)
      count2 += 1
    }
    if (count2 === 0) return null
    const n6 = this.attributedItem()
    if (n6 === null) return null
    return new TreeNode('attributed', start, this.at, [c1 === null ? EMPTY : iteration(c1), n6])
  }

  private attributedItem(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 34 /* pipeline */: {
          const n3 = this.pipelineDecl()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        default: {
          const n4 = this.stmt()
          if (n4 === null) return null
          r1 = n4
        }
      }
    }
    return new TreeNode('attributedItem', start, this.at, [r1])
  }

  private attribute(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 16 /* @ */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 99 /* ( */) {
      const here6 = this.at
      option7: {
        const n8 = this.attributeArgs()
        if (n8 === null) { this.at = here6; break option7 }
        o5 = iteration([n8])
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    return new TreeNode('attribute', start, this.at, [t1, o2, new TreeNode('attributeName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, o9])
  }

  private attributeArgs(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let o4 = EMPTY
    if (SET_3[kinds[this.at]!] === 1) {
      const here5 = this.at
      option6: {
        const n7 = this.attributeList()
        if (n7 === null) { this.at = here5; break option6 }
        o4 = iteration([n7])
      }
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t8 = this.at++
    return new TreeNode('attributeArgs', start, this.at, [t1, o2, o4, t8])
  }

  private attributeList(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.attributeArg()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let c4: Part[] | null = null
    loop6: for (;;) {
      if (kinds[this.at]! !== 102 /* , */) break
      const here5 = this.at
      const n7 = this.attributeTail()
      if (n7 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n7]
      else c4.push(n7)
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    return new TreeNode('attributeList', start, this.at, [n1, o2, c4 === null ? EMPTY : iteration(c4), o8, o10])
  }

  private attributeTail(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 102 /* , */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    const n4 = this.attributeArg()
    if (n4 === null) return null
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    return new TreeNode('attributeTail', start, this.at, [t1, o2, n4, o5])
  }

  private attributeArg(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */:
        case 69 /* <rawString> */:
        case 71 /* <string> */:
        case 72 /* <triple> */:
        case 75 /* - */:
        case 111 /* [ */: {
          const n3 = this.attributeValue()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        default: {
          const here = this.at
          next4: {
            const n5 = this.namedAttrArg()
            if (n5 === null) break next4
            r1 = n5
            break choice2
          }
          this.at = here
          const n6 = this.attributeValue()
          if (n6 === null) return null
          r1 = n6
        }
      }
    }
    return new TreeNode('attributeArg', start, this.at, [r1])
  }

  private namedAttrArg(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    if (kinds[this.at]! !== 103 /* : */) return null
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    const n5 = this.attributeValue()
    if (n5 === null) return null
    return new TreeNode('namedAttrArg', start, this.at, [new TreeNode('ident', t1, t1 + 1, [t1]), t2, o3, n5])
  }

  private attributeValue(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */:
        case 69 /* <rawString> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = new TreeNode('attrLiteral', t3, t3 + 1, [t3])
          break choice2
        }
        case 75 /* - */: {
          const n4 = this.attrNumber()
          if (n4 === null) return null
          r1 = n4
          break choice2
        }
        case 111 /* [ */: {
          const n5 = this.attrValueList()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
          const t6 = this.at++
          r1 = new TreeNode('ident', t6, t6 + 1, [t6])
        }
      }
    }
    return new TreeNode('attributeValue', start, this.at, [r1])
  }

  private attrNumber(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 75 /* - */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 66 /* <int> */ || kind > 67 /* <float> */)) return null }
    const t2 = this.at++
    return new TreeNode('attrNumber', start, this.at, [t1, t2])
  }

  private attrValueList(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let o4 = EMPTY
    if (SET_3[kinds[this.at]!] === 1) {
      const here5 = this.at
      option6: {
        const n7 = this.attrValues()
        if (n7 === null) { this.at = here5; break option6 }
        o4 = iteration([n7])
      }
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t8 = this.at++
    return new TreeNode('attrValueList', start, this.at, [t1, o2, o4, t8])
  }

  private attrValues(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.attributeValue()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let c4: Part[] | null = null
    loop6: for (;;) {
      if (kinds[this.at]! !== 102 /* , */) break
      const here5 = this.at
      const n7 = this.attrValuesTail()
      if (n7 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n7]
      else c4.push(n7)
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    return new TreeNode('attrValues', start, this.at, [n1, o2, c4 === null ? EMPTY : iteration(c4), o8, o10])
  }

  private attrValuesTail(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 102 /* , */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    const n4 = this.attributeValue()
    if (n4 === null) return null
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    return new TreeNode('attrValuesTail', start, this.at, [t1, o2, n4, o5])
  }

  private pubDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 39 /* pub */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    const n4 = this.pubItem()
    if (n4 === null) return null
    return new TreeNode('pubDecl', start, this.at, [t1, o2, n4])
  }

  private pubItem(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 21 /* eval_pack */: {
          const n3 = this.evalPackDecl()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 24 /* skill */: {
          const n4 = this.skillDecl()
          if (n4 === null) return null
          r1 = n4
          break choice2
        }
        case 29 /* enum */: {
          const n5 = this.enumDecl()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        case 33 /* import */: {
          const n6 = this.importDecl()
          if (n6 === null) return null
          r1 = n6
          break choice2
        }
        case 34 /* pipeline */: {
          const n7 = this.pipelineDecl()
          if (n7 === null) return null
          r1 = n7
          break choice2
        }
        case 41 /* struct */: {
          const n8 = this.structDecl()
          if (n8 === null) return null
          r1 = n8
          break choice2
        }
        case 43 /* tool */: {
          const n9 = this.toolDecl()
          if (n9 === null) return null
          r1 = n9
          break choice2
        }
        case 49 /* fn */: {
          const n10 = this.fnDecl()
          if (n10 === null) return null
          r1 = n10
          break choice2
        }
        default: {
          const n11 = this.genFnDecl()
          if (n11 === null) return null
          r1 = n11
        }
      }
    }
    return new TreeNode('pubItem', start, this.at, [r1])
  }

  private fnDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 49 /* fn */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === null) { this.at = here6; break option7 }
        o5 = iteration([n8])
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t11 = this.at++
    const n12 = this.params()
    if (n12 === null) return null
    let o13 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t14 = this.at++
      o13 = iteration([t14])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t15 = this.at++
    let o16 = EMPTY
    if (kinds[this.at]! === 107 /* -> */) {
      const here17 = this.at
      option18: {
        const n19 = this.returnType()
        if (n19 === null) { this.at = here17; break option18 }
        o16 = iteration([n19])
      }
    }
    let o20 = EMPTY
    if (kinds[this.at]! === 13 /* where */) {
      const here21 = this.at
      option22: {
        const n23 = this.where()
        if (n23 === null) { this.at = here21; break option22 }
        o20 = iteration([n23])
      }
    }
    const n24 = this.block()
    if (n24 === null) return null
    return new TreeNode('fnDecl', start, this.at, [t1, o2, new TreeNode('fnName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, o9, t11, n12, o13, t15, o16, o20, n24])
  }

  private genFnDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 15 /* gen */) return null
    const t1 = this.at++
    const n2 = this.fnDecl()
    if (n2 === null) return null
    return new TreeNode('genFnDecl', start, this.at, [t1, n2])
  }

  private params(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let c1: Part[] | null = null
    loop3: for (;;) {
      if (SET_4[kinds[this.at]!] !== 1) break
      const here2 = this.at
      const n4 = this.listedParam()
      if (n4 === null) { this.at = here2; break loop3 }
      if (c1 === null) c1 = [n4]
      else c1.push(n4)
    }
    return new TreeNode('params', start, this.at, [c1 === null ? EMPTY : iteration(c1)])
  }

  private listedParam(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    const n3 = this.param()
    if (n3 === null) return null
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    return new TreeNode('listedParam', start, this.at, [o1, n3, o4])
  }

  private param(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 108 /* ... */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t5 = this.at++
    let o6 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here7 = this.at
      option8: {
        const n9 = this.typeAnnotation()
        if (n9 === null) { this.at = here7; break option8 }
        o6 = iteration([n9])
      }
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 90 /* = */) {
      const here11 = this.at
      option12: {
        const n13 = this.defaultValue()
        if (n13 === null) { this.at = here11; break option12 }
        o10 = iteration([n13])
      }
    }
    return new TreeNode('param', start, this.at, [o1, o3, new TreeNode('paramName', t5, t5 + 1, [new TreeNode('ident', t5, t5 + 1, [t5])]), o6, o10])
  }

  private returnType(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 107 /* -> */) return null
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === null) return null
    return new TreeNode('returnType', start, this.at, [t1, n2])
  }

  private where(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 13 /* where */) return null
    const t1 = this.at++
    let c2: Part[] | null = null
    loop4: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) break
      const here3 = this.at
      const n5 = this.whereBound()
      if (n5 === null) { this.at = here3; break loop4 }
      if (c2 === null) c2 = [n5]
      else c2.push(n5)
    }
    return new TreeNode('where', start, this.at, [t1, c2 === null ? EMPTY : iteration(c2)])
  }

  private whereBound(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    if (kinds[this.at]! !== 103 /* : */) return null
    const t6 = this.at++
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = iteration([t8])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t9 = this.at++
    let o10 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    return new TreeNode('whereBound', start, this.at, [o1, new TreeNode('ident', t3, t3 + 1, [t3]), o4, t6, o7, new TreeNode('ident', t9, t9 + 1, [t9]), o10])
  }

  private typeParams(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 82 /* < */) return null
    const t1 = this.at++
    let c2: Part[] | null = null
    loop4: for (;;) {
      if (SET_5[kinds[this.at]!] !== 1) break
      const here3 = this.at
      const n5 = this.typeParam()
      if (n5 === null) { this.at = here3; break loop4 }
      if (c2 === null) c2 = [n5]
      else c2.push(n5)
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    if (kinds[this.at]! !== 83 /* > */) return null
    const t8 = this.at++
    return new TreeNode('typeParams', start, this.at, [t1, c2 === null ? EMPTY : iteration(c2), o6, t8])
  }

  private typeParam(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    let o3 = EMPTY
    const kind4 = kinds[this.at]!
    if (kind4 === 14 /* out */ || kind4 === 61 /* in */) {
      const here5 = this.at
      option6: {
        const n7 = this.variance()
        if (n7 === null) { this.at = here5; break option6 }
        o3 = iteration([n7])
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t10 = this.at++
    let o11 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t12 = this.at++
      o11 = iteration([t12])
    }
    return new TreeNode('typeParam', start, this.at, [o1, o3, o8, new TreeNode('typeParamName', t10, t10 + 1, [new TreeNode('ident', t10, t10 + 1, [t10])]), o11])
  }

  private variance(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 61 /* in */: {
          const t3 = this.at++
          r1 = t3
          break choice2
        }
        default: {
          const n4 = this.varianceOut()
          if (n4 === null) return null
          r1 = n4
        }
      }
    }
    return new TreeNode('variance', start, this.at, [r1])
  }

  private varianceOut(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 14 /* out */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) return null }
    const here2 = this.at
    let found3 = false
    look4: {
      if (kinds[this.at]! === 113 /* \n */) {
        this.at += 1
      }
      { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break look4 }
      this.at += 1
      found3 = true
    }
    this.at = here2
    if (!found3) return null
    return new TreeNode('varianceOut', start, this.at, [t1])
  }

  private pipelineDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 34 /* pipeline */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t7 = this.at++
    const n8 = this.nameList()
    if (n8 === null) return null
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 107 /* -> */) {
      const here13 = this.at
      option14: {
        const n15 = this.returnType()
        if (n15 === null) { this.at = here13; break option14 }
        o12 = iteration([n15])
      }
    }
    let o16 = EMPTY
    if (kinds[this.at]! === 59 /* extends */) {
      const here17 = this.at
      option18: {
        const n19 = this.extends()
        if (n19 === null) { this.at = here17; break option18 }
        o16 = iteration([n19])
      }
    }
    const n20 = this.block()
    if (n20 === null) return null
    return new TreeNode('pipelineDecl', start, this.at, [t1, o2, new TreeNode('pipelineName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, t7, n8, o9, t11, o12, o16, n20])
  }

  private extends(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 59 /* extends */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    return new TreeNode('extends', start, this.at, [t1, o2, new TreeNode('pipelineName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])])])
  }

  private overrideDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 38 /* override */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t7 = this.at++
    const n8 = this.nameList()
    if (n8 === null) return null
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t11 = this.at++
    const n12 = this.block()
    if (n12 === null) return null
    return new TreeNode('overrideDecl', start, this.at, [t1, o2, new TreeNode('overrideName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, t7, n8, o9, t11, n12])
  }

  private nameList(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let c1: Part[] | null = null
    loop3: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && kind !== 113 /* \n */) break
      const here2 = this.at
      const n4 = this.listedName()
      if (n4 === null) { this.at = here2; break loop3 }
      if (c1 === null) c1 = [n4]
      else c1.push(n4)
    }
    return new TreeNode('nameList', start, this.at, [c1 === null ? EMPTY : iteration(c1)])
  }

  private listedName(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    return new TreeNode('listedName', start, this.at, [o1, new TreeNode('paramName', t3, t3 + 1, [new TreeNode('ident', t3, t3 + 1, [t3])]), o4])
  }

  private importDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      const here = this.at
      next3: {
        const n4 = this.importNames()
        if (n4 === null) break next3
        r1 = n4
        break choice2
      }
      this.at = here
      const n5 = this.importAll()
      if (n5 === null) return null
      r1 = n5
    }
    return new TreeNode('importDecl', start, this.at, [r1])
  }

  private importNames(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 33 /* import */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    let c5: Part[] | null = null
    loop7: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
      const here6 = this.at
      const n8 = this.importName()
      if (n8 === null) { this.at = here6; break loop7 }
      if (c5 === null) c5 = [n8]
      else c5.push(n8)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t9 = this.at++
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    if (kinds[this.at]! !== 60 /* from */) return null
    const t12 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 71 /* <string> */ || kind > 72 /* <triple> */)) return null }
    const t13 = this.at++
    return new TreeNode('importNames', start, this.at, [t1, t2, o3, c5 === null ? EMPTY : iteration(c5), t9, o10, t12, new TreeNode('importPath', t13, t13 + 1, [new TreeNode('string', t13, t13 + 1, [t13])])])
  }

  private importName(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    return new TreeNode('importName', start, this.at, [new TreeNode('importedName', t1, t1 + 1, [new TreeNode('ident', t1, t1 + 1, [t1])]), o2, o4, o6])
  }

  private importAll(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 33 /* import */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 71 /* <string> */ || kind > 72 /* <triple> */)) return null }
    const t2 = this.at++
    return new TreeNode('importAll', start, this.at, [t1, new TreeNode('importPath', t2, t2 + 1, [new TreeNode('string', t2, t2 + 1, [t2])])])
  }

  private toolDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 43 /* tool */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t7 = this.at++
    const n8 = this.params()
    if (n8 === null) return null
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 107 /* -> */) {
      const here13 = this.at
      option14: {
        const n15 = this.returnType()
        if (n15 === null) { this.at = here13; break option14 }
        o12 = iteration([n15])
      }
    }
    let o16 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t17 = this.at++
      o16 = iteration([t17])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t18 = this.at++
    let o19 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t20 = this.at++
      o19 = iteration([t20])
    }
    let o21 = EMPTY
    if (kinds[this.at]! === 10 /* description */) {
      const here22 = this.at
      option23: {
        const n24 = this.description()
        if (n24 === null) { this.at = here22; break option23 }
        o21 = iteration([n24])
      }
    }
    const n25 = this.body()
    if (n25 === null) return null
    let o26 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t27 = this.at++
      o26 = iteration([t27])
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t28 = this.at++
    return new TreeNode('toolDecl', start, this.at, [t1, o2, new TreeNode('toolName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, t7, n8, o9, t11, o12, o16, t18, o19, o21, n25, o26, t28])
  }

  private description(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 10 /* description */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 71 /* <string> */ || kind > 72 /* <triple> */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    const kind6 = kinds[this.at]!
    if (kind6 === 104 /* ; */ || kind6 === 113 /* \n */) {
      const here7 = this.at
      option8: {
        const n9 = this.sep()
        if (n9 === null) { this.at = here7; break option8 }
        o5 = iteration([n9])
      }
    }
    return new TreeNode('description', start, this.at, [t1, o2, new TreeNode('string', t4, t4 + 1, [t4]), o5])
  }

  private skillDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 24 /* skill */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t7 = this.at++
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let o10 = EMPTY
    const kind11 = kinds[this.at]!
    if ((kind11 >= 0 /* <ident> */ && kind11 <= 15 /* gen */)) {
      const here12 = this.at
      option13: {
        const n14 = this.skillFields()
        if (n14 === null) { this.at = here12; break option13 }
        o10 = iteration([n14])
      }
    }
    let o15 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t16 = this.at++
      o15 = iteration([t16])
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t17 = this.at++
    return new TreeNode('skillDecl', start, this.at, [t1, o2, new TreeNode('skillName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, t7, o8, o10, o15, t17])
  }

  private skillFields(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.skillField()
    if (n1 === null) return null
    let c2: Part[] | null = null
    let c3: Part[] | null = null
    loop5: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 104 /* ; */ && kind !== 113 /* \n */) break
      const here4 = this.at
      const n6 = this.sep()
      if (n6 === null) { this.at = here4; break loop5 }
      const n7 = this.skillField()
      if (n7 === null) { this.at = here4; break loop5 }
      if (c2 === null) c2 = [n6]
      else c2.push(n6)
      if (c3 === null) c3 = [n7]
      else c3.push(n7)
    }
    let o8 = EMPTY
    const kind9 = kinds[this.at]!
    if (kind9 === 104 /* ; */ || kind9 === 113 /* \n */) {
      const here10 = this.at
      option11: {
        const n12 = this.sep()
        if (n12 === null) { this.at = here10; break option11 }
        o8 = iteration([n12])
      }
    }
    return new TreeNode('skillFields', start, this.at, [n1, c2 === null ? EMPTY : iteration(c2), c3 === null ? EMPTY : iteration(c3), o8])
  }

  private skillField(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    const n4 = this.expr()
    if (n4 === null) return null
    return new TreeNode('skillField', start, this.at, [new TreeNode('skillFieldName', t1, t1 + 1, [new TreeNode('ident', t1, t1 + 1, [t1])]), o2, n4])
  }

  private evalPackDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 21 /* eval_pack */) return null
    const t1 = this.at++
    const n2 = this.evalPackHead()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t5 = this.at++
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    let o8 = EMPTY
    if (SET_1[kinds[this.at]!] === 1) {
      const here9 = this.at
      option10: {
        const n11 = this.evalItems()
        if (n11 === null) { this.at = here9; break option10 }
        o8 = iteration([n11])
      }
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = iteration([t13])
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t14 = this.at++
    return new TreeNode('evalPackDecl', start, this.at, [t1, n2, o3, t5, o6, o8, o12, t14])
  }

  private evalPackHead(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = new TreeNode('string', t3, t3 + 1, [t3])
          break choice2
        }
        default: {
          const n4 = this.evalPackNamed()
          if (n4 === null) return null
          r1 = n4
        }
      }
    }
    return new TreeNode('evalPackHead', start, this.at, [r1])
  }

  private evalPackNamed(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    const kind3 = kinds[this.at]!
    if ((kind3 >= 71 /* <string> */ && kind3 <= 72 /* <triple> */)) {
      const here4 = this.at
      option5: {
        const t6 = this.at++
        o2 = iteration([new TreeNode('string', t6, t6 + 1, [t6])])
      }
    }
    return new TreeNode('evalPackNamed', start, this.at, [new TreeNode('evalPackName', t1, t1 + 1, [new TreeNode('ident', t1, t1 + 1, [t1])]), o2])
  }

  private evalItems(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.evalItem()
    if (n1 === null) return null
    let c2: Part[] | null = null
    let c3: Part[] | null = null
    loop5: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 104 /* ; */ && kind !== 113 /* \n */) break
      const here4 = this.at
      const n6 = this.sep()
      if (n6 === null) { this.at = here4; break loop5 }
      const n7 = this.evalItem()
      if (n7 === null) { this.at = here4; break loop5 }
      if (c2 === null) c2 = [n6]
      else c2.push(n6)
      if (c3 === null) c3 = [n7]
      else c3.push(n7)
    }
    let o8 = EMPTY
    const kind9 = kinds[this.at]!
    if (kind9 === 104 /* ; */ || kind9 === 113 /* \n */) {
      const here10 = this.at
      option11: {
        const n12 = this.sep()
        if (n12 === null) { this.at = here10; break option11 }
        o8 = iteration([n12])
      }
    }
    return new TreeNode('evalItems', start, this.at, [n1, c2 === null ? EMPTY : iteration(c2), c3 === null ? EMPTY : iteration(c3), o8])
  }

  private evalItem(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 0 /* <ident> */:
        case 1 /* <Ident> */:
        case 2 /* each */:
        case 3 /* settle */:
        case 4 /* with */:
        case 5 /* max_concurrent */:
        case 6 /* as */:
        case 7 /* stream */:
        case 8 /* timeout */:
        case 9 /* default */:
        case 10 /* description */:
        case 12 /* not */:
        case 13 /* where */:
        case 14 /* out */:
        case 15 /* gen */: {
          const here = this.at
          next3: {
            const n4 = this.evalField()
            if (n4 === null) break next3
            r1 = n4
            break choice2
          }
          this.at = here
          const n5 = this.stmt()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        case 11 /* summarize */: {
          const here = this.at
          next6: {
            const n7 = this.summarize()
            if (n7 === null) break next6
            r1 = n7
            break choice2
          }
          this.at = here
          next8: {
            const n9 = this.evalField()
            if (n9 === null) break next8
            r1 = n9
            break choice2
          }
          this.at = here
          const n10 = this.stmt()
          if (n10 === null) return null
          r1 = n10
          break choice2
        }
        default: {
          const n11 = this.stmt()
          if (n11 === null) return null
          r1 = n11
        }
      }
    }
    return new TreeNode('evalItem', start, this.at, [r1])
  }

  private summarize(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 11 /* summarize */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t2 = this.at++
    const n3 = this.body()
    if (n3 === null) return null
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t6 = this.at++
    return new TreeNode('summarize', start, this.at, [t1, t2, n3, o4, t6])
  }

  private evalField(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    if (kinds[this.at]! !== 103 /* : */) return null
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    const n5 = this.expr()
    if (n5 === null) return null
    return new TreeNode('evalField', start, this.at, [new TreeNode('ident', t1, t1 + 1, [t1]), t2, o3, n5])
  }

  private typeDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 44 /* type */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === null) { this.at = here6; break option7 }
        o5 = iteration([n8])
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    if (kinds[this.at]! !== 90 /* = */) return null
    const t11 = this.at++
    const n12 = this.type()
    if (n12 === null) return null
    return new TreeNode('typeDecl', start, this.at, [t1, o2, new TreeNode('typeName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, o9, t11, n12])
  }

  private enumDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 29 /* enum */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === null) { this.at = here6; break option7 }
        o5 = iteration([n8])
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = iteration([t13])
    }
    let c14: Part[] | null = null
    loop16: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
      const here15 = this.at
      const n17 = this.enumVariant()
      if (n17 === null) { this.at = here15; break loop16 }
      if (c14 === null) c14 = [n17]
      else c14.push(n17)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t18 = this.at++
    return new TreeNode('enumDecl', start, this.at, [t1, o2, new TreeNode('enumName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, o9, t11, o12, c14 === null ? EMPTY : iteration(c14), t18])
  }

  private enumVariant(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 99 /* ( */) {
      const here3 = this.at
      option4: {
        const n5 = this.variantParams()
        if (n5 === null) { this.at = here3; break option4 }
        o2 = iteration([n5])
      }
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    return new TreeNode('enumVariant', start, this.at, [new TreeNode('variantName', t1, t1 + 1, [new TreeNode('ident', t1, t1 + 1, [t1])]), o2, o6, o8, o10])
  }

  private variantParams(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t1 = this.at++
    const n2 = this.params()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t5 = this.at++
    return new TreeNode('variantParams', start, this.at, [t1, n2, o3, t5])
  }

  private structDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 41 /* struct */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === null) { this.at = here6; break option7 }
        o5 = iteration([n8])
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = iteration([t13])
    }
    let c14: Part[] | null = null
    loop16: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
      const here15 = this.at
      const n17 = this.structField()
      if (n17 === null) { this.at = here15; break loop16 }
      if (c14 === null) c14 = [n17]
      else c14.push(n17)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t18 = this.at++
    return new TreeNode('structDecl', start, this.at, [t1, o2, new TreeNode('structName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, o9, t11, o12, c14 === null ? EMPTY : iteration(c14), t18])
  }

  private structField(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here5 = this.at
      option6: {
        const n7 = this.typeAnnotation()
        if (n7 === null) { this.at = here5; break option6 }
        o4 = iteration([n7])
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = iteration([t13])
    }
    return new TreeNode('structField', start, this.at, [new TreeNode('fieldName', t1, t1 + 1, [new TreeNode('ident', t1, t1 + 1, [t1])]), o2, o4, o8, o10, o12])
  }

  private interfaceDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 35 /* interface */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === null) { this.at = here6; break option7 }
        o5 = iteration([n8])
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = iteration([t13])
    }
    let c14: Part[] | null = null
    loop16: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 44 /* type */ && kind !== 49 /* fn */) break
      const here15 = this.at
      const n17 = this.interfaceItem()
      if (n17 === null) { this.at = here15; break loop16 }
      if (c14 === null) c14 = [n17]
      else c14.push(n17)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t18 = this.at++
    return new TreeNode('interfaceDecl', start, this.at, [t1, o2, new TreeNode('interfaceName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, o9, t11, o12, c14 === null ? EMPTY : iteration(c14), t18])
  }

  private interfaceItem(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.interfaceEntry()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    return new TreeNode('interfaceItem', start, this.at, [n1, o2])
  }

  private interfaceEntry(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 49 /* fn */: {
          const n3 = this.methodSig()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        default: {
          const n4 = this.assocType()
          if (n4 === null) return null
          r1 = n4
        }
      }
    }
    return new TreeNode('interfaceEntry', start, this.at, [r1])
  }

  private assocType(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 44 /* type */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 90 /* = */) {
      const here6 = this.at
      option7: {
        const n8 = this.assocValue()
        if (n8 === null) { this.at = here6; break option7 }
        o5 = iteration([n8])
      }
    }
    return new TreeNode('assocType', start, this.at, [t1, o2, new TreeNode('typeName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5])
  }

  private assocValue(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 90 /* = */) return null
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === null) return null
    return new TreeNode('assocValue', start, this.at, [t1, n2])
  }

  private methodSig(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 49 /* fn */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeParams()
        if (n8 === null) { this.at = here6; break option7 }
        o5 = iteration([n8])
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t11 = this.at++
    const n12 = this.params()
    if (n12 === null) return null
    let o13 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t14 = this.at++
      o13 = iteration([t14])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t15 = this.at++
    let o16 = EMPTY
    if (kinds[this.at]! === 107 /* -> */) {
      const here17 = this.at
      option18: {
        const n19 = this.returnType()
        if (n19 === null) { this.at = here17; break option18 }
        o16 = iteration([n19])
      }
    }
    return new TreeNode('methodSig', start, this.at, [t1, o2, new TreeNode('methodName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, o9, t11, n12, o13, t15, o16])
  }

  private implDecl(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 32 /* impl */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t7 = this.at++
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let c10: Part[] | null = null
    loop12: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 39 /* pub */ && kind !== 49 /* fn */) break
      const here11 = this.at
      const n13 = this.implMethod()
      if (n13 === null) { this.at = here11; break loop12 }
      if (c10 === null) c10 = [n13]
      else c10.push(n13)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t14 = this.at++
    return new TreeNode('implDecl', start, this.at, [t1, o2, new TreeNode('typeName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, t7, o8, c10 === null ? EMPTY : iteration(c10), t14])
  }

  private implMethod(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 39 /* pub */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    const n3 = this.fnDecl()
    if (n3 === null) return null
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    return new TreeNode('implMethod', start, this.at, [o1, n3, o4])
  }

  private useTool(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 17 /* <use> */) return null
    const t1 = this.at++
    if (kinds[this.at]! !== 43 /* tool */) return null
    const t2 = this.at++
    const n3 = this.useTarget()
    if (n3 === null) return null
    if (kinds[this.at]! !== 6 /* as */) return null
    const t4 = this.at++
    const n5 = this.useName()
    if (n5 === null) return null
    return new TreeNode('useTool', start, this.at, [t1, t2, n3, t4, n5])
  }

  private useTarget(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      const here = this.at
      next3: {
        const n4 = this.useServer()
        if (n4 === null) break next3
        r1 = n4
        break choice2
      }
      this.at = here
      const n5 = this.useId()
      if (n5 === null) return null
      r1 = n5
    }
    return new TreeNode('useTarget', start, this.at, [r1])
  }

  private useServer(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 71 /* <string> */ || kind > 72 /* <triple> */)) return null }
    const t2 = this.at++
    return new TreeNode('useServer', start, this.at, [new TreeNode('ident', t1, t1 + 1, [t1]), new TreeNode('string', t2, t2 + 1, [t2])])
  }

  private useId(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.dottedName()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 16 /* @ */) {
      const here3 = this.at
      option4: {
        const n5 = this.useVersion()
        if (n5 === null) { this.at = here3; break option4 }
        o2 = iteration([n5])
      }
    }
    return new TreeNode('useId', start, this.at, [n1, o2])
  }

  private useVersion(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 16 /* @ */) return null
    const t1 = this.at++
    const n2 = this.useVersionText()
    if (n2 === null) return null
    return new TreeNode('useVersion', start, this.at, [t1, n2])
  }

  private useVersionText(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = new TreeNode('string', t3, t3 + 1, [t3])
          break choice2
        }
        default: {
          const n4 = this.useNumber()
          if (n4 === null) return null
          r1 = n4
        }
      }
    }
    return new TreeNode('useVersionText', start, this.at, [r1])
  }

  private useNumber(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 66 /* <int> */ || kind > 67 /* <float> */)) return null }
    const t1 = this.at++
    let c2: Part[] | null = null
    loop4: for (;;) {
      if (kinds[this.at]! !== 110 /* . */) break
      const here3 = this.at
      const n5 = this.useNumberPart()
      if (n5 === null) { this.at = here3; break loop4 }
      if (c2 === null) c2 = [n5]
      else c2.push(n5)
    }
    return new TreeNode('useNumber', start, this.at, [t1, c2 === null ? EMPTY : iteration(c2)])
  }

  private useNumberPart(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 110 /* . */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 66 /* <int> */ || kind > 67 /* <float> */)) return null }
    const t2 = this.at++
    return new TreeNode('useNumberPart', start, this.at, [t1, t2])
  }

  private useName(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 86 /* * */: {
          const t3 = this.at++
          r1 = t3
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
          const t4 = this.at++
          r1 = new TreeNode('ident', t4, t4 + 1, [t4])
        }
      }
    }
    return new TreeNode('useName', start, this.at, [r1])
  }

  private dottedName(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    let c2: Part[] | null = null
    loop4: for (;;) {
      if (kinds[this.at]! !== 110 /* . */) break
      const here3 = this.at
      const n5 = this.dottedPart()
      if (n5 === null) { this.at = here3; break loop4 }
      if (c2 === null) c2 = [n5]
      else c2.push(n5)
    }
    return new TreeNode('dottedName', start, this.at, [new TreeNode('ident', t1, t1 + 1, [t1]), c2 === null ? EMPTY : iteration(c2)])
  }

  private dottedPart(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 110 /* . */) return null
    const t1 = this.at++
    const n2 = this.memberName()
    if (n2 === null) return null
    return new TreeNode('dottedPart', start, this.at, [t1, n2])
  }

  private grant(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 18 /* <grant> */) return null
    const t1 = this.at++
    const n2 = this.dottedName()
    if (n2 === null) return null
    const n3 = this.grantBody()
    if (n3 === null) return null
    return new TreeNode('grant', start, this.at, [t1, n2, n3])
  }

  private grantBody(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 96 /* { */:
        case 97 /* {-> */: {
          const n3 = this.grantFields()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 113 /* \n */: {
          let count5 = 0
          let c4: Part[] | null = null
          loop7: for (;;) {
            if (kinds[this.at]! !== 113 /* \n */) break
            const here6 = this.at
            const n8 = this.grantLine()
            if (n8 === null) { this.at = here6; break loop7 }
            if (c4 === null) c4 = [n8]
            else c4.push(n8)
            count5 += 1
          }
          if (count5 === 0) return null
          r1 = c4 === null ? EMPTY : iteration(c4)
          break choice2
        }
        default: {
          let count10 = 0
          let c9: Part[] | null = null
          loop12: for (;;) {
            const kind = kinds[this.at]!
            if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) break
            const here11 = this.at
            const n13 = this.grantPair()
            if (n13 === null) { this.at = here11; break loop12 }
            if (c9 === null) c9 = [n13]
            else c9.push(n13)
            count10 += 1
          }
          if (count10 === 0) return null
          r1 = c9 === null ? EMPTY : iteration(c9)
        }
      }
    }
    return new TreeNode('grantBody', start, this.at, [r1])
  }

  private grantFields(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let c4: Part[] | null = null
    loop6: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && (kind < 25 /* break */ || kind > 65 /* nil */)) break
      const here5 = this.at
      const n7 = this.grantField()
      if (n7 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n7]
      else c4.push(n7)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t8 = this.at++
    return new TreeNode('grantFields', start, this.at, [t1, o2, c4 === null ? EMPTY : iteration(c4), t8])
  }

  private grantField(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.memberName()
    if (n1 === null) return null
    if (kinds[this.at]! !== 103 /* : */) return null
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    const n5 = this.grantValue()
    if (n5 === null) return null
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    return new TreeNode('grantField', start, this.at, [n1, t2, o3, n5, o6, o8, o10])
  }

  private grantPair(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    const n2 = this.grantValue()
    if (n2 === null) return null
    return new TreeNode('grantPair', start, this.at, [new TreeNode('ident', t1, t1 + 1, [t1]), n2])
  }

  private grantLine(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 113 /* \n */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t2 = this.at++
    const n3 = this.grantScalar()
    if (n3 === null) return null
    return new TreeNode('grantLine', start, this.at, [t1, new TreeNode('ident', t2, t2 + 1, [t2]), n3])
  }

  private grantValue(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 75 /* - */: {
          const n3 = this.grantNegative()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 111 /* [ */: {
          const n4 = this.grantList()
          if (n4 === null) return null
          r1 = n4
          break choice2
        }
        default: {
          const n5 = this.grantScalar()
          if (n5 === null) return null
          r1 = n5
        }
      }
    }
    return new TreeNode('grantValue', start, this.at, [r1])
  }

  private grantNegative(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 75 /* - */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 66 /* <int> */ || kind > 67 /* <float> */)) return null }
    const t2 = this.at++
    return new TreeNode('grantNegative', start, this.at, [t1, t2])
  }

  private grantScalar(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 63 /* true */:
        case 64 /* false */: {
          const t3 = this.at++
          r1 = t3
          break choice2
        }
        case 66 /* <int> */:
        case 67 /* <float> */: {
          const t4 = this.at++
          r1 = t4
          break choice2
        }
        case 69 /* <rawString> */: {
          const t5 = this.at++
          r1 = t5
          break choice2
        }
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t6 = this.at++
          r1 = t6
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
          const t7 = this.at++
          r1 = new TreeNode('ident', t7, t7 + 1, [t7])
        }
      }
    }
    return new TreeNode('grantScalar', start, this.at, [r1])
  }

  private grantList(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let c4: Part[] | null = null
    loop6: for (;;) {
      if (SET_6[kinds[this.at]!] !== 1) break
      const here5 = this.at
      const n7 = this.grantItem()
      if (n7 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n7]
      else c4.push(n7)
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t8 = this.at++
    return new TreeNode('grantList', start, this.at, [t1, o2, c4 === null ? EMPTY : iteration(c4), t8])
  }

  private grantItem(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.grantValue()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    return new TreeNode('grantItem', start, this.at, [n1, o2, o4, o6])
  }

  private bindEffect(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 19 /* <bind> */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t2 = this.at++
    const n3 = this.dottedName()
    if (n3 === null) return null
    if (kinds[this.at]! !== 62 /* to */) return null
    const t4 = this.at++
    const n5 = this.dottedName()
    if (n5 === null) return null
    return new TreeNode('bindEffect', start, this.at, [t1, new TreeNode('ident', t2, t2 + 1, [t2]), n3, t4, n5])
  }

  private type(): TreeNode | null {
    const start = this.at
    if (this.typeAt === start) {
      const last = this.typeNode
      if (last !== null) this.at = last.end
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('type' + start)
      if (known !== undefined) {
        if (known !== null) this.at = known.end
        return known
      }
    }
    this.depth += 1
    if (this.depth > this.maxDepth) throw new TooDeep(start)
    const node = this.typeAnew()
    this.depth -= 1
    if (this.memory !== null) this.memory.set('type' + start, node)
    this.typeAt = start
    this.typeNode = node
    return node
  }

  private typeAnew(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    const n3 = this.typePrimary()
    if (n3 === null) return null
    let c4: Part[] | null = null
    loop6: for (;;) {
      if (kinds[this.at]! !== 105 /* | */) break
      const here5 = this.at
      const n7 = this.unionMember()
      if (n7 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n7]
      else c4.push(n7)
    }
    return new TreeNode('type', start, this.at, [o1, n3, c4 === null ? EMPTY : iteration(c4)])
  }

  private unionMember(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 105 /* | */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    const n4 = this.typePrimary()
    if (n4 === null) return null
    return new TreeNode('unionMember', start, this.at, [t1, o2, n4])
  }

  private typePrimary(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 49 /* fn */: {
          const n3 = this.fnType()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 69 /* <rawString> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t4 = this.at++
          r1 = new TreeNode('typeLiteral', t4, t4 + 1, [t4])
          break choice2
        }
        case 75 /* - */: {
          const n5 = this.negativeInt()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        case 96 /* { */:
        case 97 /* {-> */: {
          const n6 = this.shapeType()
          if (n6 === null) return null
          r1 = n6
          break choice2
        }
        case 111 /* [ */: {
          const n7 = this.listType()
          if (n7 === null) return null
          r1 = n7
          break choice2
        }
        default: {
          const n8 = this.namedType()
          if (n8 === null) return null
          r1 = n8
        }
      }
    }
    return new TreeNode('typePrimary', start, this.at, [r1])
  }

  private negativeInt(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 75 /* - */) return null
    const t1 = this.at++
    if (kinds[this.at]! !== 66 /* <int> */) return null
    const t2 = this.at++
    return new TreeNode('negativeInt', start, this.at, [t1, t2])
  }

  private namedType(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here3 = this.at
      option4: {
        const n5 = this.typeArgs()
        if (n5 === null) { this.at = here3; break option4 }
        o2 = iteration([n5])
      }
    }
    return new TreeNode('namedType', start, this.at, [new TreeNode('ident', t1, t1 + 1, [t1]), o2])
  }

  private typeArgs(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 82 /* < */) return null
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    let c5: Part[] | null = null
    loop7: for (;;) {
      if (kinds[this.at]! !== 102 /* , */) break
      const here6 = this.at
      const n8 = this.typeArg()
      if (n8 === null) { this.at = here6; break loop7 }
      if (c5 === null) c5 = [n8]
      else c5.push(n8)
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = iteration([t12])
    }
    if (kinds[this.at]! !== 83 /* > */) return null
    const t13 = this.at++
    return new TreeNode('typeArgs', start, this.at, [t1, n2, o3, c5 === null ? EMPTY : iteration(c5), o9, o11, t13])
  }

  private typeArg(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 102 /* , */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    const n4 = this.type()
    if (n4 === null) return null
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    return new TreeNode('typeArg', start, this.at, [t1, o2, n4, o5])
  }

  private shapeType(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let c4: Part[] | null = null
    loop6: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 15 /* gen */) && (kind < 25 /* break */ || kind > 65 /* nil */)) break
      const here5 = this.at
      const n7 = this.shapeField()
      if (n7 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n7]
      else c4.push(n7)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t8 = this.at++
    return new TreeNode('shapeType', start, this.at, [t1, o2, c4 === null ? EMPTY : iteration(c4), t8])
  }

  private shapeField(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.shapeName()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    if (kinds[this.at]! !== 103 /* : */) return null
    const t6 = this.at++
    const n7 = this.type()
    if (n7 === null) return null
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = iteration([t13])
    }
    return new TreeNode('shapeField', start, this.at, [n1, o2, o4, t6, n7, o8, o10, o12])
  }

  private shapeName(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.memberName()
    if (n1 === null) return null
    return new TreeNode('shapeName', start, this.at, [n1])
  }

  private listType(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t1 = this.at++
    const n2 = this.type()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t5 = this.at++
    return new TreeNode('listType', start, this.at, [t1, n2, o3, t5])
  }

  private fnType(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 49 /* fn */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    let c7: Part[] | null = null
    loop9: for (;;) {
      if (SET_7[kinds[this.at]!] !== 1) break
      const here8 = this.at
      const n10 = this.fnTypeParam()
      if (n10 === null) { this.at = here8; break loop9 }
      if (c7 === null) c7 = [n10]
      else c7.push(n10)
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t11 = this.at++
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = iteration([t13])
    }
    if (kinds[this.at]! !== 107 /* -> */) return null
    const t14 = this.at++
    const n15 = this.type()
    if (n15 === null) return null
    return new TreeNode('fnType', start, this.at, [t1, o2, t4, o5, c7 === null ? EMPTY : iteration(c7), t11, o12, t14, n15])
  }

  private fnTypeParam(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.type()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let o4 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    return new TreeNode('fnTypeParam', start, this.at, [n1, o2, o4, o6])
  }

  private expr(): TreeNode | null {
    const start = this.at
    if (this.exprAt === start) {
      const last = this.exprNode
      if (last !== null) this.at = last.end
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('expr' + start)
      if (known !== undefined) {
        if (known !== null) this.at = known.end
        return known
      }
    }
    const node = this.exprAnew()
    if (this.memory !== null) this.memory.set('expr' + start, node)
    this.exprAt = start
    this.exprNode = node
    return node
  }

  private exprAnew(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    const n3 = this.unary()
    if (n3 === null) return null
    let c4: Part[] | null = null
    loop6: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here5 = this.at
      const here7 = this.at
      let found8 = false
      look9: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look9
        this.at += 1
        found8 = true
      }
      this.at = here7
      if (!found8) { this.at = here5; break loop6 }
      const n10 = this.binaryTail()
      if (n10 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n10]
      else c4.push(n10)
    }
    let o11 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const here12 = this.at
      option13: {
        const n14 = this.ternaryTail()
        if (n14 === null) { this.at = here12; break option13 }
        o11 = iteration([n14])
      }
    }
    let o15 = EMPTY
    if (kinds[this.at]! === 62 /* to */) {
      const here16 = this.at
      option17: {
        const n18 = this.rangeTail()
        if (n18 === null) { this.at = here16; break option17 }
        o15 = iteration([n18])
      }
    }
    let c19: Part[] | null = null
    loop21: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 106 /* |> */ && kind !== 113 /* \n */) break
      const here20 = this.at
      const here22 = this.at
      let found23 = false
      look24: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (kinds[this.at]! !== 106 /* |> */) break look24
        this.at += 1
        found23 = true
      }
      this.at = here22
      if (!found23) { this.at = here20; break loop21 }
      const n25 = this.pipeTail()
      if (n25 === null) { this.at = here20; break loop21 }
      if (c19 === null) c19 = [n25]
      else c19.push(n25)
    }
    return new TreeNode('expr', start, this.at, [o1, n3, c4 === null ? EMPTY : iteration(c4), o11, o15, c19 === null ? EMPTY : iteration(c19)])
  }

  private pipeTail(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    if (kinds[this.at]! !== 106 /* |> */) return null
    const t3 = this.at++
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    const n6 = this.unary()
    if (n6 === null) return null
    let c7: Part[] | null = null
    loop9: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here8 = this.at
      const here10 = this.at
      let found11 = false
      look12: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look12
        this.at += 1
        found11 = true
      }
      this.at = here10
      if (!found11) { this.at = here8; break loop9 }
      const n13 = this.binaryTail()
      if (n13 === null) { this.at = here8; break loop9 }
      if (c7 === null) c7 = [n13]
      else c7.push(n13)
    }
    let o14 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const here15 = this.at
      option16: {
        const n17 = this.ternaryTail()
        if (n17 === null) { this.at = here15; break option16 }
        o14 = iteration([n17])
      }
    }
    let o18 = EMPTY
    if (kinds[this.at]! === 62 /* to */) {
      const here19 = this.at
      option20: {
        const n21 = this.rangeTail()
        if (n21 === null) { this.at = here19; break option20 }
        o18 = iteration([n21])
      }
    }
    return new TreeNode('pipeTail', start, this.at, [o1, t3, o4, n6, c7 === null ? EMPTY : iteration(c7), o14, o18])
  }

  private rangeTail(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 62 /* to */) return null
    const t1 = this.at++
    const n2 = this.unary()
    if (n2 === null) return null
    let c3: Part[] | null = null
    loop5: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here4 = this.at
      const here6 = this.at
      let found7 = false
      look8: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look8
        this.at += 1
        found7 = true
      }
      this.at = here6
      if (!found7) { this.at = here4; break loop5 }
      const n9 = this.binaryTail()
      if (n9 === null) { this.at = here4; break loop5 }
      if (c3 === null) c3 = [n9]
      else c3.push(n9)
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 112 /* ? */) {
      const here11 = this.at
      option12: {
        const n13 = this.ternaryTail()
        if (n13 === null) { this.at = here11; break option12 }
        o10 = iteration([n13])
      }
    }
    let o14 = EMPTY
    if (kinds[this.at]! === 58 /* exclusive */) {
      const t15 = this.at++
      o14 = iteration([t15])
    }
    return new TreeNode('rangeTail', start, this.at, [t1, n2, c3 === null ? EMPTY : iteration(c3), o10, o14])
  }

  private ternaryTail(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 112 /* ? */) return null
    const t1 = this.at++
    const n2 = this.unary()
    if (n2 === null) return null
    let c3: Part[] | null = null
    loop5: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here4 = this.at
      const here6 = this.at
      let found7 = false
      look8: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look8
        this.at += 1
        found7 = true
      }
      this.at = here6
      if (!found7) { this.at = here4; break loop5 }
      const n9 = this.binaryTail()
      if (n9 === null) { this.at = here4; break loop5 }
      if (c3 === null) c3 = [n9]
      else c3.push(n9)
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    if (kinds[this.at]! !== 103 /* : */) return null
    const t12 = this.at++
    const n13 = this.unary()
    if (n13 === null) return null
    let c14: Part[] | null = null
    loop16: for (;;) {
      if (SET_8[kinds[this.at]!] !== 1) break
      const here15 = this.at
      const here17 = this.at
      let found18 = false
      look19: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        if (SET_9[kinds[this.at]!] !== 1) break look19
        this.at += 1
        found18 = true
      }
      this.at = here17
      if (!found18) { this.at = here15; break loop16 }
      const n20 = this.binaryTail()
      if (n20 === null) { this.at = here15; break loop16 }
      if (c14 === null) c14 = [n20]
      else c14.push(n20)
    }
    return new TreeNode('ternaryTail', start, this.at, [t1, n2, c3 === null ? EMPTY : iteration(c3), o10, t12, n13, c14 === null ? EMPTY : iteration(c14)])
  }

  private binaryTail(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.binaryOp()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    const n4 = this.unary()
    if (n4 === null) return null
    return new TreeNode('binaryTail', start, this.at, [n1, o2, n4])
  }

  private binaryOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 12 /* not */: {
          const n3 = this.notIn()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 61 /* in */: {
          const t4 = this.at++
          r1 = t4
          break choice2
        }
        case 75 /* - */: {
          const t5 = this.at++
          r1 = t5
          break choice2
        }
        default: {
          const n6 = this.brokenOp()
          if (n6 === null) return null
          r1 = n6
        }
      }
    }
    return new TreeNode('binaryOp', start, this.at, [r1])
  }

  private brokenOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    { const kind = kinds[this.at]!; if ((kind < 76 /* || */ || kind > 89 /* ** */)) return null }
    const t3 = this.at++
    return new TreeNode('brokenOp', start, this.at, [o1, t3])
  }

  private notIn(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 12 /* not */) return null
    const here1 = this.at
    let found2 = false
    look3: {
      const n4 = this.notInStart()
      if (n4 === null) break look3
      found2 = true
    }
    this.at = here1
    if (!found2) return null
    const t5 = this.at++
    if (kinds[this.at]! !== 61 /* in */) return null
    const t6 = this.at++
    return new TreeNode('notIn', start, this.at, [t5, t6])
  }

  private notInStart(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 12 /* not */) return null
    const t1 = this.at++
    if (kinds[this.at]! !== 61 /* in */) return null
    const t2 = this.at++
    return new TreeNode('notInStart', start, this.at, [t1, t2])
  }

  private unary(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let c1: Part[] | null = null
    loop3: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 74 /* ! */ || kind > 75 /* - */)) break
      const here2 = this.at
      const t4 = this.at++
      if (c1 === null) c1 = [t4]
      else c1.push(t4)
    }
    const n5 = this.head()
    if (n5 === null) return null
    let c6: Part[] | null = null
    loop8: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 109 /* ?. */ || kind > 113 /* \n */)) break
      const here7 = this.at
      const here9 = this.at
      let found10 = false
      look11: {
        if (kinds[this.at]! === 113 /* \n */) {
          this.at += 1
        }
        { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 112 /* ? */)) break look11 }
        this.at += 1
        found10 = true
      }
      this.at = here9
      if (!found10) { this.at = here7; break loop8 }
      const n12 = this.postfixOp()
      if (n12 === null) { this.at = here7; break loop8 }
      if (c6 === null) c6 = [n12]
      else c6.push(n12)
    }
    return new TreeNode('unary', start, this.at, [c1 === null ? EMPTY : iteration(c1), n5, c6 === null ? EMPTY : iteration(c6)])
  }

  private head(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 1 /* <Ident> */: {
          const here = this.at
          next3: {
            const n4 = this.call()
            if (n4 === null) break next3
            r1 = n4
            break choice2
          }
          this.at = here
          next5: {
            const n6 = this.structLiteral()
            if (n6 === null) break next5
            r1 = n6
            break choice2
          }
          this.at = here
          const n7 = this.identifier()
          if (n7 === null) return null
          r1 = n7
          break choice2
        }
        case 48 /* deadline */:
        case 49 /* fn */:
        case 50 /* if */:
        case 51 /* match */:
        case 52 /* parallel */:
        case 53 /* retry */:
        case 54 /* try */:
        case 55 /* spawn */: {
          const n8 = this.wordExpr()
          if (n8 === null) return null
          r1 = n8
          break choice2
        }
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */:
        case 68 /* <duration> */:
        case 69 /* <rawString> */:
        case 70 /* <interpolated> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t9 = this.at++
          r1 = new TreeNode('literal', t9, t9 + 1, [t9])
          break choice2
        }
        case 96 /* { */: {
          const n10 = this.dict()
          if (n10 === null) return null
          r1 = n10
          break choice2
        }
        case 97 /* {-> */: {
          const n11 = this.closure()
          if (n11 === null) return null
          r1 = n11
          break choice2
        }
        case 99 /* ( */: {
          const here = this.at
          next12: {
            const n13 = this.call()
            if (n13 === null) break next12
            r1 = n13
            break choice2
          }
          this.at = here
          const n14 = this.paren()
          if (n14 === null) return null
          r1 = n14
          break choice2
        }
        case 111 /* [ */: {
          const n15 = this.list()
          if (n15 === null) return null
          r1 = n15
          break choice2
        }
        default: {
          const here = this.at
          next16: {
            const n17 = this.call()
            if (n17 === null) break next16
            r1 = n17
            break choice2
          }
          this.at = here
          const n18 = this.identifier()
          if (n18 === null) return null
          r1 = n18
        }
      }
    }
    return new TreeNode('head', start, this.at, [r1])
  }

  private operand(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 48 /* deadline */:
        case 49 /* fn */:
        case 50 /* if */:
        case 51 /* match */:
        case 52 /* parallel */:
        case 53 /* retry */:
        case 54 /* try */:
        case 55 /* spawn */: {
          const n3 = this.wordExpr()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */:
        case 68 /* <duration> */:
        case 69 /* <rawString> */:
        case 70 /* <interpolated> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t4 = this.at++
          r1 = new TreeNode('literal', t4, t4 + 1, [t4])
          break choice2
        }
        case 96 /* { */: {
          const n5 = this.dict()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        case 97 /* {-> */: {
          const n6 = this.closure()
          if (n6 === null) return null
          r1 = n6
          break choice2
        }
        case 99 /* ( */: {
          const n7 = this.paren()
          if (n7 === null) return null
          r1 = n7
          break choice2
        }
        case 111 /* [ */: {
          const n8 = this.list()
          if (n8 === null) return null
          r1 = n8
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
          const t9 = this.at++
          r1 = new TreeNode('ident', t9, t9 + 1, [t9])
        }
      }
    }
    return new TreeNode('operand', start, this.at, [r1])
  }

  private wordExpr(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 49 /* fn */: {
          const n3 = this.fnExpr()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 50 /* if */: {
          const n4 = this.ifExpr()
          if (n4 === null) return null
          r1 = n4
          break choice2
        }
        case 51 /* match */: {
          const n5 = this.matchExpr()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        case 52 /* parallel */: {
          const n6 = this.parallelExpr()
          if (n6 === null) return null
          r1 = n6
          break choice2
        }
        case 53 /* retry */: {
          const n7 = this.retryExpr()
          if (n7 === null) return null
          r1 = n7
          break choice2
        }
        case 54 /* try */: {
          const n8 = this.tryExpr()
          if (n8 === null) return null
          r1 = n8
          break choice2
        }
        case 55 /* spawn */: {
          const n9 = this.spawnExpr()
          if (n9 === null) return null
          r1 = n9
          break choice2
        }
        default: {
          const n10 = this.deadlineExpr()
          if (n10 === null) return null
          r1 = n10
        }
      }
    }
    return new TreeNode('wordExpr', start, this.at, [r1])
  }

  private postfixOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 111 /* [ */:
        case 112 /* ? */: {
          const n3 = this.bracketOp()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        default: {
          const n4 = this.accessOp()
          if (n4 === null) return null
          r1 = n4
        }
      }
    }
    return new TreeNode('postfixOp', start, this.at, [r1])
  }

  private bracketOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 112 /* ? */: {
          const here = this.at
          next3: {
            const n4 = this.optIndexOp()
            if (n4 === null) break next3
            r1 = n4
            break choice2
          }
          this.at = here
          const n5 = this.propagateOp()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        default: {
          const here = this.at
          next6: {
            const n7 = this.indexOp()
            if (n7 === null) break next6
            r1 = n7
            break choice2
          }
          this.at = here
          next8: {
            const n9 = this.sliceOp()
            if (n9 === null) break next8
            r1 = n9
            break choice2
          }
          this.at = here
          const n10 = this.sliceToOp()
          if (n10 === null) return null
          r1 = n10
        }
      }
    }
    return new TreeNode('bracketOp', start, this.at, [r1])
  }

  private accessOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      const here = this.at
      next3: {
        const n4 = this.methodOp()
        if (n4 === null) break next3
        r1 = n4
        break choice2
      }
      this.at = here
      const n5 = this.memberOp()
      if (n5 === null) return null
      r1 = n5
    }
    return new TreeNode('accessOp', start, this.at, [r1])
  }

  private call(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.callee()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 82 /* < */) {
      const here3 = this.at
      option4: {
        const n5 = this.typeArgs()
        if (n5 === null) { this.at = here3; break option4 }
        o2 = iteration([n5])
      }
    }
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t6 = this.at++
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = iteration([t8])
    }
    let c9: Part[] | null = null
    loop11: for (;;) {
      if (SET_10[kinds[this.at]!] !== 1) break
      const here10 = this.at
      const n12 = this.arg()
      if (n12 === null) { this.at = here10; break loop11 }
      if (c9 === null) c9 = [n12]
      else c9.push(n12)
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t13 = this.at++
    return new TreeNode('call', start, this.at, [n1, o2, t6, o7, c9 === null ? EMPTY : iteration(c9), t13])
  }

  private callee(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 99 /* ( */: {
          const n3 = this.parenCallee()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
          const t4 = this.at++
          r1 = new TreeNode('ident', t4, t4 + 1, [t4])
        }
      }
    }
    return new TreeNode('callee', start, this.at, [r1])
  }

  private parenCallee(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    const n4 = this.callee()
    if (n4 === null) return null
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t7 = this.at++
    return new TreeNode('parenCallee', start, this.at, [t1, o2, n4, o5, t7])
  }

  private arg(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 73 /* <argument> */: {
          const n3 = this.namedArg()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 108 /* ... */: {
          const n4 = this.spread()
          if (n4 === null) return null
          r1 = n4
          break choice2
        }
        default: {
          const n5 = this.expr()
          if (n5 === null) return null
          r1 = n5
        }
      }
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    return new TreeNode('arg', start, this.at, [r1, o6, o8, o10])
  }

  private namedArg(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 73 /* <argument> */) return null
    const t1 = this.at++
    if (kinds[this.at]! !== 103 /* : */) return null
    const t2 = this.at++
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    const n5 = this.expr()
    if (n5 === null) return null
    return new TreeNode('namedArg', start, this.at, [t1, t2, o3, n5])
  }

  private spread(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 108 /* ... */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    return new TreeNode('spread', start, this.at, [t1, n2])
  }

  private methodOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 110 /* . */)) return null }
    const t3 = this.at++
    const n4 = this.propertyName()
    if (n4 === null) return null
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t5 = this.at++
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    let c8: Part[] | null = null
    loop10: for (;;) {
      if (SET_10[kinds[this.at]!] !== 1) break
      const here9 = this.at
      const n11 = this.arg()
      if (n11 === null) { this.at = here9; break loop10 }
      if (c8 === null) c8 = [n11]
      else c8.push(n11)
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t12 = this.at++
    return new TreeNode('methodOp', start, this.at, [o1, t3, n4, t5, o6, c8 === null ? EMPTY : iteration(c8), t12])
  }

  private memberOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 110 /* . */)) return null }
    const t3 = this.at++
    const n4 = this.propertyName()
    if (n4 === null) return null
    if (kinds[this.at]! === 99 /* ( */) return null
    return new TreeNode('memberOp', start, this.at, [o1, t3, n4])
  }

  private propertyName(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.memberName()
    if (n1 === null) return null
    return new TreeNode('propertyName', start, this.at, [n1])
  }

  private indexOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t5 = this.at++
    return new TreeNode('indexOp', start, this.at, [t1, n2, o3, t5])
  }

  private sliceOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    if (kinds[this.at]! !== 103 /* : */) return null
    const t3 = this.at++
    let o4 = EMPTY
    if (SET_11[kinds[this.at]!] === 1) {
      const here5 = this.at
      option6: {
        const n7 = this.expr()
        if (n7 === null) { this.at = here5; break option6 }
        o4 = iteration([n7])
      }
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t10 = this.at++
    return new TreeNode('sliceOp', start, this.at, [t1, n2, t3, o4, o8, t10])
  }

  private sliceToOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t1 = this.at++
    if (kinds[this.at]! !== 103 /* : */) return null
    const t2 = this.at++
    let o3 = EMPTY
    if (SET_11[kinds[this.at]!] === 1) {
      const here4 = this.at
      option5: {
        const n6 = this.expr()
        if (n6 === null) { this.at = here4; break option5 }
        o3 = iteration([n6])
      }
    }
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = iteration([t8])
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t9 = this.at++
    return new TreeNode('sliceToOp', start, this.at, [t1, t2, o3, o7, t9])
  }

  private optIndexOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 112 /* ? */) return null
    const here1 = this.at
    let found2 = false
    look3: {
      const n4 = this.optIndexStart()
      if (n4 === null) break look3
      found2 = true
    }
    this.at = here1
    if (!found2) return null
    const t5 = this.at++
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t6 = this.at++
    const n7 = this.expr()
    if (n7 === null) return null
    let o8 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t10 = this.at++
    return new TreeNode('optIndexOp', start, this.at, [t5, t6, n7, o8, t10])
  }

  private optIndexStart(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 112 /* ? */) return null
    const t1 = this.at++
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t2 = this.at++
    return new TreeNode('optIndexStart', start, this.at, [t1, t2])
  }

  private propagateOp(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const here1 = this.at
    let found2 = false
    look3: {
      const n4 = this.ternaryMark()
      if (n4 === null) break look3
      found2 = true
    }
    this.at = here1
    if (found2) return null
    if (kinds[this.at]! !== 112 /* ? */) return null
    const t5 = this.at++
    return new TreeNode('propagateOp', start, this.at, [t5])
  }

  private ternaryMark(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 112 /* ? */) return null
    const t1 = this.at++
    const n2 = this.ternaryStart()
    if (n2 === null) return null
    return new TreeNode('ternaryMark', start, this.at, [t1, n2])
  }

  private ternaryStart(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 49 /* fn */: {
          const t3 = this.at++
          r1 = t3
          break choice2
        }
        case 63 /* true */:
        case 64 /* false */:
        case 65 /* nil */:
        case 66 /* <int> */:
        case 67 /* <float> */: {
          const t4 = this.at++
          r1 = t4
          break choice2
        }
        case 70 /* <interpolated> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t5 = this.at++
          r1 = t5
          break choice2
        }
        case 74 /* ! */:
        case 75 /* - */: {
          const t6 = this.at++
          r1 = t6
          break choice2
        }
        case 96 /* { */:
        case 97 /* {-> */: {
          const t7 = this.at++
          r1 = t7
          break choice2
        }
        case 99 /* ( */: {
          const t8 = this.at++
          r1 = t8
          break choice2
        }
        case 111 /* [ */: {
          const t9 = this.at++
          r1 = t9
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
          const t10 = this.at++
          r1 = new TreeNode('ident', t10, t10 + 1, [t10])
        }
      }
    }
    return new TreeNode('ternaryStart', start, this.at, [r1])
  }

  private identifier(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    if (kinds[this.at]! === 99 /* ( */) return null
    return new TreeNode('identifier', start, this.at, [new TreeNode('ident', t1, t1 + 1, [t1])])
  }

  private paren(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t5 = this.at++
    return new TreeNode('paren', start, this.at, [t1, n2, o3, t5])
  }

  private list(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let c4: Part[] | null = null
    loop6: for (;;) {
      if (SET_10[kinds[this.at]!] !== 1) break
      const here5 = this.at
      const n7 = this.arg()
      if (n7 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n7]
      else c4.push(n7)
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t8 = this.at++
    return new TreeNode('list', start, this.at, [t1, o2, c4 === null ? EMPTY : iteration(c4), t8])
  }

  private dict(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 96 /* { */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    let c4: Part[] | null = null
    loop6: for (;;) {
      if (SET_12[kinds[this.at]!] !== 1) break
      const here5 = this.at
      const n7 = this.dictItem()
      if (n7 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n7]
      else c4.push(n7)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t8 = this.at++
    return new TreeNode('dict', start, this.at, [t1, o2, c4 === null ? EMPTY : iteration(c4), t8])
  }

  private structLiteral(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 1 /* <Ident> */) return null
    const t1 = this.at++
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const here2 = this.at
    let found3 = false
    look4: {
      const n5 = this.structStart()
      if (n5 === null) break look4
      found3 = true
    }
    this.at = here2
    if (!found3) return null
    const t6 = this.at++
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = iteration([t8])
    }
    let c9: Part[] | null = null
    loop11: for (;;) {
      if (SET_12[kinds[this.at]!] !== 1) break
      const here10 = this.at
      const n12 = this.dictItem()
      if (n12 === null) { this.at = here10; break loop11 }
      if (c9 === null) c9 = [n12]
      else c9.push(n12)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t13 = this.at++
    return new TreeNode('structLiteral', start, this.at, [t1, t6, o7, c9 === null ? EMPTY : iteration(c9), t13])
  }

  private structStart(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t1 = this.at++
    const n2 = this.structPeek()
    if (n2 === null) return null
    return new TreeNode('structStart', start, this.at, [t1, n2])
  }

  private structPeek(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 98 /* } */: {
          const n3 = this.structEmpty()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 113 /* \n */: {
          const here = this.at
          next4: {
            const n5 = this.structEmpty()
            if (n5 === null) break next4
            r1 = n5
            break choice2
          }
          this.at = here
          const n6 = this.structKey()
          if (n6 === null) return null
          r1 = n6
          break choice2
        }
        default: {
          const n7 = this.structKey()
          if (n7 === null) return null
          r1 = n7
        }
      }
    }
    return new TreeNode('structPeek', start, this.at, [r1])
  }

  private structEmpty(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t3 = this.at++
    return new TreeNode('structEmpty', start, this.at, [o1, t3])
  }

  private structKey(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    const n3 = this.structKeyName()
    if (n3 === null) return null
    let o4 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t5 = this.at++
      o4 = iteration([t5])
    }
    if (kinds[this.at]! !== 103 /* : */) return null
    const t6 = this.at++
    return new TreeNode('structKey', start, this.at, [o1, n3, o4, t6])
  }

  private structKeyName(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const t3 = this.at++
          r1 = new TreeNode('string', t3, t3 + 1, [t3])
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
          const t4 = this.at++
          r1 = new TreeNode('ident', t4, t4 + 1, [t4])
        }
      }
    }
    return new TreeNode('structKeyName', start, this.at, [r1])
  }

  private dictItem(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 70 /* <interpolated> */:
        case 71 /* <string> */:
        case 72 /* <triple> */: {
          const n3 = this.stringEntry()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        case 108 /* ... */: {
          const n4 = this.spread()
          if (n4 === null) return null
          r1 = n4
          break choice2
        }
        case 111 /* [ */: {
          const n5 = this.computedEntry()
          if (n5 === null) return null
          r1 = n5
          break choice2
        }
        default: {
          const n6 = this.namedEntry()
          if (n6 === null) return null
          r1 = n6
        }
      }
    }
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = iteration([t8])
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    let o11 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t12 = this.at++
      o11 = iteration([t12])
    }
    return new TreeNode('dictItem', start, this.at, [r1, o7, o9, o11])
  }

  private namedEntry(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.dictKey()
    if (n1 === null) return null
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    if (kinds[this.at]! !== 103 /* : */) return null
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === null) return null
    return new TreeNode('namedEntry', start, this.at, [n1, o2, t4, n5])
  }

  private dictKey(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.memberName()
    if (n1 === null) return null
    return new TreeNode('dictKey', start, this.at, [n1])
  }

  private stringEntry(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 70 /* <interpolated> */ || kind > 72 /* <triple> */)) return null }
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    if (kinds[this.at]! !== 103 /* : */) return null
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === null) return null
    return new TreeNode('stringEntry', start, this.at, [t1, o2, t4, n5])
  }

  private computedEntry(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 111 /* [ */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 101 /* ] */) return null
    const t5 = this.at++
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    if (kinds[this.at]! !== 103 /* : */) return null
    const t8 = this.at++
    const n9 = this.expr()
    if (n9 === null) return null
    return new TreeNode('computedEntry', start, this.at, [t1, n2, o3, t5, o6, t8, n9])
  }

  private closure(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 97 /* {-> */) return null
    const t1 = this.at++
    const n2 = this.params()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    if (kinds[this.at]! !== 107 /* -> */) return null
    const t5 = this.at++
    const n6 = this.body()
    if (n6 === null) return null
    let o7 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t8 = this.at++
      o7 = iteration([t8])
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t9 = this.at++
    return new TreeNode('closure', start, this.at, [t1, n2, o3, t5, n6, o7, t9])
  }

  private fnExpr(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 49 /* fn */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t4 = this.at++
    const n5 = this.params()
    if (n5 === null) return null
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t8 = this.at++
    const n9 = this.block()
    if (n9 === null) return null
    return new TreeNode('fnExpr', start, this.at, [t1, o2, t4, n5, o6, t8, n9])
  }

  private ifExpr(): TreeNode | null {
    const start = this.at
    if (this.ifExprAt === start) {
      const last = this.ifExprNode
      if (last !== null) this.at = last.end
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('ifExpr' + start)
      if (known !== undefined) {
        if (known !== null) this.at = known.end
        return known
      }
    }
    const node = this.ifExprAnew()
    if (this.memory !== null) this.memory.set('ifExpr' + start, node)
    this.ifExprAt = start
    this.ifExprNode = node
    return node
  }

  private ifExprAnew(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 50 /* if */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    const n3 = this.block()
    if (n3 === null) return null
    let c4: Part[] | null = null
    loop6: for (;;) {
      const kind = kinds[this.at]!
      if (kind !== 57 /* else */ && kind !== 113 /* \n */) break
      const here5 = this.at
      const n7 = this.elseIf()
      if (n7 === null) { this.at = here5; break loop6 }
      if (c4 === null) c4 = [n7]
      else c4.push(n7)
    }
    let o8 = EMPTY
    const kind9 = kinds[this.at]!
    if (kind9 === 57 /* else */ || kind9 === 113 /* \n */) {
      const here10 = this.at
      option11: {
        const n12 = this.otherwise()
        if (n12 === null) { this.at = here10; break option11 }
        o8 = iteration([n12])
      }
    }
    return new TreeNode('ifExpr', start, this.at, [t1, n2, n3, c4 === null ? EMPTY : iteration(c4), o8])
  }

  private elseIf(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    if (kinds[this.at]! !== 57 /* else */) return null
    const t3 = this.at++
    if (kinds[this.at]! !== 50 /* if */) return null
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === null) return null
    const n6 = this.block()
    if (n6 === null) return null
    return new TreeNode('elseIf', start, this.at, [o1, t3, t4, n5, n6])
  }

  private otherwise(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    if (kinds[this.at]! !== 57 /* else */) return null
    const t3 = this.at++
    const n4 = this.block()
    if (n4 === null) return null
    return new TreeNode('otherwise', start, this.at, [o1, t3, n4])
  }

  private matchExpr(): TreeNode | null {
    const start = this.at
    if (this.matchExprAt === start) {
      const last = this.matchExprNode
      if (last !== null) this.at = last.end
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('matchExpr' + start)
      if (known !== undefined) {
        if (known !== null) this.at = known.end
        return known
      }
    }
    const node = this.matchExprAnew()
    if (this.memory !== null) this.memory.set('matchExpr' + start, node)
    this.matchExprAt = start
    this.matchExprNode = node
    return node
  }

  private matchExprAnew(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 51 /* match */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    let o3 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t4 = this.at++
      o3 = iteration([t4])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t5 = this.at++
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    let c8: Part[] | null = null
    loop10: for (;;) {
      if (SET_11[kinds[this.at]!] !== 1) break
      const here9 = this.at
      const n11 = this.matchArm()
      if (n11 === null) { this.at = here9; break loop10 }
      if (c8 === null) c8 = [n11]
      else c8.push(n11)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t12 = this.at++
    return new TreeNode('matchExpr', start, this.at, [t1, n2, o3, t5, o6, c8 === null ? EMPTY : iteration(c8), t12])
  }

  private matchArm(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.expr()
    if (n1 === null) return null
    let c2: Part[] | null = null
    loop4: for (;;) {
      if (kinds[this.at]! !== 105 /* | */) break
      const here3 = this.at
      const n5 = this.orPattern()
      if (n5 === null) { this.at = here3; break loop4 }
      if (c2 === null) c2 = [n5]
      else c2.push(n5)
    }
    let o6 = EMPTY
    if (kinds[this.at]! === 50 /* if */) {
      const here7 = this.at
      option8: {
        const n9 = this.matchGuard()
        if (n9 === null) { this.at = here7; break option8 }
        o6 = iteration([n9])
      }
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    if (kinds[this.at]! !== 107 /* -> */) return null
    const t12 = this.at++
    const n13 = this.block()
    if (n13 === null) return null
    let o14 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t15 = this.at++
      o14 = iteration([t15])
    }
    return new TreeNode('matchArm', start, this.at, [n1, c2 === null ? EMPTY : iteration(c2), o6, o10, t12, n13, o14])
  }

  private orPattern(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 105 /* | */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    return new TreeNode('orPattern', start, this.at, [t1, n2])
  }

  private matchGuard(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 50 /* if */) return null
    const t1 = this.at++
    const n2 = this.expr()
    if (n2 === null) return null
    return new TreeNode('matchGuard', start, this.at, [t1, n2])
  }

  private tryExpr(): TreeNode | null {
    const start = this.at
    if (this.tryExprAt === start) {
      const last = this.tryExprNode
      if (last !== null) this.at = last.end
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('tryExpr' + start)
      if (known !== undefined) {
        if (known !== null) this.at = known.end
        return known
      }
    }
    const node = this.tryExprAnew()
    if (this.memory !== null) this.memory.set('tryExpr' + start, node)
    this.tryExprAt = start
    this.tryExprNode = node
    return node
  }

  private tryExprAnew(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      const here = this.at
      next3: {
        const n4 = this.tryStar()
        if (n4 === null) break next3
        r1 = n4
        break choice2
      }
      this.at = here
      const n5 = this.tryBlock()
      if (n5 === null) return null
      r1 = n5
    }
    return new TreeNode('tryExpr', start, this.at, [r1])
  }

  private tryStar(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 54 /* try */) return null
    const t1 = this.at++
    if (kinds[this.at]! !== 86 /* * */) return null
    const t2 = this.at++
    const n3 = this.unary()
    if (n3 === null) return null
    return new TreeNode('tryStar', start, this.at, [t1, t2, n3])
  }

  private tryBlock(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 54 /* try */) return null
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === null) return null
    let o3 = EMPTY
    const kind4 = kinds[this.at]!
    if (kind4 === 56 /* catch */ || kind4 === 113 /* \n */) {
      const here5 = this.at
      option6: {
        const n7 = this.catch()
        if (n7 === null) { this.at = here5; break option6 }
        o3 = iteration([n7])
      }
    }
    let o8 = EMPTY
    const kind9 = kinds[this.at]!
    if (kind9 === 20 /* finally */ || kind9 === 113 /* \n */) {
      const here10 = this.at
      option11: {
        const n12 = this.finally()
        if (n12 === null) { this.at = here10; break option11 }
        o8 = iteration([n12])
      }
    }
    return new TreeNode('tryBlock', start, this.at, [t1, n2, o3, o8])
  }

  private catch(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    if (kinds[this.at]! !== 56 /* catch */) return null
    const t3 = this.at++
    let o4 = EMPTY
    const kind5 = kinds[this.at]!
    if ((kind5 >= 0 /* <ident> */ && kind5 <= 15 /* gen */) || kind5 === 99 /* ( */) {
      const here6 = this.at
      option7: {
        const n8 = this.catchVariable()
        if (n8 === null) { this.at = here6; break option7 }
        o4 = iteration([n8])
      }
    }
    const n9 = this.block()
    if (n9 === null) return null
    return new TreeNode('catch', start, this.at, [o1, t3, o4, n9])
  }

  private catchVariable(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 99 /* ( */: {
          const n3 = this.caughtTyped()
          if (n3 === null) return null
          r1 = n3
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
          const t4 = this.at++
          r1 = new TreeNode('ident', t4, t4 + 1, [t4])
        }
      }
    }
    return new TreeNode('catchVariable', start, this.at, [r1])
  }

  private caughtTyped(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 99 /* ( */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 103 /* : */) {
      const here6 = this.at
      option7: {
        const n8 = this.typeAnnotation()
        if (n8 === null) { this.at = here6; break option7 }
        o5 = iteration([n8])
      }
    }
    let o9 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t10 = this.at++
      o9 = iteration([t10])
    }
    if (kinds[this.at]! !== 100 /* ) */) return null
    const t11 = this.at++
    return new TreeNode('caughtTyped', start, this.at, [t1, o2, new TreeNode('caughtName', t4, t4 + 1, [new TreeNode('ident', t4, t4 + 1, [t4])]), o5, o9, t11])
  }

  private finally(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let o1 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t2 = this.at++
      o1 = iteration([t2])
    }
    if (kinds[this.at]! !== 20 /* finally */) return null
    const t3 = this.at++
    const n4 = this.block()
    if (n4 === null) return null
    return new TreeNode('finally', start, this.at, [o1, t3, n4])
  }

  private retryExpr(): TreeNode | null {
    const start = this.at
    if (this.retryExprAt === start) {
      const last = this.retryExprNode
      if (last !== null) this.at = last.end
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('retryExpr' + start)
      if (known !== undefined) {
        if (known !== null) this.at = known.end
        return known
      }
    }
    const node = this.retryExprAnew()
    if (this.memory !== null) this.memory.set('retryExpr' + start, node)
    this.retryExprAt = start
    this.retryExprNode = node
    return node
  }

  private retryExprAnew(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 53 /* retry */) return null
    const t1 = this.at++
    const n2 = this.operand()
    if (n2 === null) return null
    const n3 = this.block()
    if (n3 === null) return null
    return new TreeNode('retryExpr', start, this.at, [t1, n2, n3])
  }

  private deadlineExpr(): TreeNode | null {
    const start = this.at
    if (this.deadlineExprAt === start) {
      const last = this.deadlineExprNode
      if (last !== null) this.at = last.end
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('deadlineExpr' + start)
      if (known !== undefined) {
        if (known !== null) this.at = known.end
        return known
      }
    }
    const node = this.deadlineExprAnew()
    if (this.memory !== null) this.memory.set('deadlineExpr' + start, node)
    this.deadlineExprAt = start
    this.deadlineExprNode = node
    return node
  }

  private deadlineExprAnew(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 48 /* deadline */) return null
    const t1 = this.at++
    const n2 = this.operand()
    if (n2 === null) return null
    const n3 = this.block()
    if (n3 === null) return null
    return new TreeNode('deadlineExpr', start, this.at, [t1, n2, n3])
  }

  private spawnExpr(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 55 /* spawn */) return null
    const t1 = this.at++
    const n2 = this.block()
    if (n2 === null) return null
    return new TreeNode('spawnExpr', start, this.at, [t1, n2])
  }

  private parallelExpr(): TreeNode | null {
    const start = this.at
    if (this.parallelExprAt === start) {
      const last = this.parallelExprNode
      if (last !== null) this.at = last.end
      return last
    }
    this.countStep()
    if (this.memory !== null) {
      const known = this.memory.get('parallelExpr' + start)
      if (known !== undefined) {
        if (known !== null) this.at = known.end
        return known
      }
    }
    const node = this.parallelExprAnew()
    if (this.memory !== null) this.memory.set('parallelExpr' + start, node)
    this.parallelExprAt = start
    this.parallelExprNode = node
    return node
  }

  private parallelExprAnew(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 52 /* parallel */) return null
    const t1 = this.at++
    let o2 = EMPTY
    const kind3 = kinds[this.at]!
    if ((kind3 >= 2 /* each */ && kind3 <= 3 /* settle */)) {
      const here4 = this.at
      option5: {
        const t6 = this.at++
        o2 = iteration([new TreeNode('parallelMode', t6, t6 + 1, [t6])])
      }
    }
    const n7 = this.expr()
    if (n7 === null) return null
    let o8 = EMPTY
    if (kinds[this.at]! === 4 /* with */) {
      const here9 = this.at
      option10: {
        const n11 = this.parallelLimit()
        if (n11 === null) { this.at = here9; break option10 }
        o8 = iteration([n11])
      }
    }
    let o12 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t13 = this.at++
      o12 = iteration([t13])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t14 = this.at++
    let o15 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t16 = this.at++
      o15 = iteration([t16])
    }
    let o17 = EMPTY
    const kind18 = kinds[this.at]!
    if ((kind18 >= 0 /* <ident> */ && kind18 <= 15 /* gen */)) {
      const here19 = this.at
      option20: {
        const n21 = this.parallelVar()
        if (n21 === null) { this.at = here19; break option20 }
        o17 = iteration([n21])
      }
    }
    const n22 = this.body()
    if (n22 === null) return null
    let o23 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t24 = this.at++
      o23 = iteration([t24])
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t25 = this.at++
    let o26 = EMPTY
    if (kinds[this.at]! === 6 /* as */) {
      const here27 = this.at
      option28: {
        const n29 = this.asStream()
        if (n29 === null) { this.at = here27; break option28 }
        o26 = iteration([n29])
      }
    }
    return new TreeNode('parallelExpr', start, this.at, [t1, o2, n7, o8, o12, t14, o15, o17, n22, o23, t25, o26])
  }

  private parallelLimit(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 4 /* with */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    { const kind = kinds[this.at]!; if ((kind < 96 /* { */ || kind > 97 /* {-> */)) return null }
    const t4 = this.at++
    let o5 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t6 = this.at++
      o5 = iteration([t6])
    }
    let c7: Part[] | null = null
    loop9: for (;;) {
      if (kinds[this.at]! !== 5 /* max_concurrent */) break
      const here8 = this.at
      const n10 = this.limitEntry()
      if (n10 === null) { this.at = here8; break loop9 }
      if (c7 === null) c7 = [n10]
      else c7.push(n10)
    }
    if (kinds[this.at]! !== 98 /* } */) return null
    const t11 = this.at++
    return new TreeNode('parallelLimit', start, this.at, [t1, o2, t4, o5, c7 === null ? EMPTY : iteration(c7), t11])
  }

  private limitEntry(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 5 /* max_concurrent */) return null
    const t1 = this.at++
    let o2 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t3 = this.at++
      o2 = iteration([t3])
    }
    if (kinds[this.at]! !== 103 /* : */) return null
    const t4 = this.at++
    const n5 = this.expr()
    if (n5 === null) return null
    let o6 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t7 = this.at++
      o6 = iteration([t7])
    }
    let o8 = EMPTY
    if (kinds[this.at]! === 102 /* , */) {
      const t9 = this.at++
      o8 = iteration([t9])
    }
    let o10 = EMPTY
    if (kinds[this.at]! === 113 /* \n */) {
      const t11 = this.at++
      o10 = iteration([t11])
    }
    return new TreeNode('limitEntry', start, this.at, [t1, o2, t4, n5, o6, o8, o10])
  }

  private parallelVar(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    { const kind = kinds[this.at]!; if ((kind < 0 /* <ident> */ || kind > 15 /* gen */)) return null }
    const t1 = this.at++
    if (kinds[this.at]! !== 107 /* -> */) return null
    const t2 = this.at++
    return new TreeNode('parallelVar', start, this.at, [new TreeNode('ident', t1, t1 + 1, [t1]), t2])
  }

  private asStream(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    if (kinds[this.at]! !== 6 /* as */) return null
    const t1 = this.at++
    if (kinds[this.at]! !== 7 /* stream */) return null
    const t2 = this.at++
    return new TreeNode('asStream', start, this.at, [t1, t2])
  }

  private interpolation(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    const n1 = this.expr()
    if (n1 === null) return null
    const here2 = this.at
    let found3 = false
    look4: {
      const n5 = this.goesOn()
      if (n5 === null) break look4
      found3 = true
    }
    this.at = here2
    if (found3) return null
    let c6: Part[] | null = null
    loop8: for (;;) {
      const kind = kinds[this.at]!
      if ((kind < 0 /* <ident> */ || kind > 113 /* \n */)) break
      const here7 = this.at
      const t9 = this.at++
      if (c6 === null) c6 = [new TreeNode('anyToken', t9, t9 + 1, [t9])]
      else c6.push(new TreeNode('anyToken', t9, t9 + 1, [t9]))
    }
    return new TreeNode('interpolation', start, this.at, [n1, c6 === null ? EMPTY : iteration(c6)])
  }

  private goesOn(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 62 /* to */: {
          const t3 = this.at++
          r1 = t3
          break choice2
        }
        case 106 /* |> */:
        case 109 /* ?. */:
        case 110 /* . */: {
          const n4 = this.goesOnBroken()
          if (n4 === null) return null
          r1 = n4
          break choice2
        }
        case 111 /* [ */: {
          const t5 = this.at++
          r1 = t5
          break choice2
        }
        case 112 /* ? */: {
          const t6 = this.at++
          r1 = t6
          break choice2
        }
        case 113 /* \n */: {
          const here = this.at
          next7: {
            const n8 = this.binaryOp()
            if (n8 === null) break next7
            r1 = n8
            break choice2
          }
          this.at = here
          const n9 = this.goesOnBroken()
          if (n9 === null) return null
          r1 = n9
          break choice2
        }
        default: {
          const n10 = this.binaryOp()
          if (n10 === null) return null
          r1 = n10
        }
      }
    }
    return new TreeNode('goesOn', start, this.at, [r1])
  }

  private goesOnBroken(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    let r2: Part = 0
    choice3: {
      switch (kinds[this.at]!) {
        case 106 /* |> */: {
          let o4 = EMPTY
          const t5 = this.at++
          r1 = o4
          r2 = t5
          break choice3
        }
        case 113 /* \n */: {
          const here = this.at
          next6: {
            let o7 = EMPTY
            {
              const t8 = this.at++
              o7 = iteration([t8])
            }
            { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 110 /* . */)) break next6 }
            const t9 = this.at++
            r1 = o7
            r2 = t9
            break choice3
          }
          this.at = here
          let o10 = EMPTY
          if (kinds[this.at]! === 113 /* \n */) {
            const t11 = this.at++
            o10 = iteration([t11])
          }
          if (kinds[this.at]! !== 106 /* |> */) return null
          const t12 = this.at++
          r1 = o10
          r2 = t12
          break choice3
        }
        default: {
          let o13 = EMPTY
          if (kinds[this.at]! === 113 /* \n */) {
            const t14 = this.at++
            o13 = iteration([t14])
          }
          { const kind = kinds[this.at]!; if ((kind < 109 /* ?. */ || kind > 110 /* . */)) return null }
          const t15 = this.at++
          r1 = o13
          r2 = t15
        }
      }
    }
    return new TreeNode('goesOnBroken', start, this.at, [r1, r2])
  }

  private memberName(): TreeNode | null {
    const kinds = this.kinds
    const start = this.at
    let r1: Part = 0
    choice2: {
      switch (kinds[this.at]!) {
        case 0 /* <ident> */:
        case 1 /* <Ident> */:
        case 2 /* each */:
        case 3 /* settle */:
        case 4 /* with */:
        case 5 /* max_concurrent */:
        case 6 /* as */:
        case 7 /* stream */:
        case 8 /* timeout */:
        case 9 /* default */:
        case 10 /* description */:
        case 11 /* summarize */:
        case 12 /* not */:
        case 13 /* where */:
        case 14 /* out */:
        case 15 /* gen */: {
          const t3 = this.at++
          r1 = new TreeNode('ident', t3, t3 + 1, [t3])
          break choice2
        }
        default: {
          { const kind = kinds[this.at]!; if ((kind < 25 /* break */ || kind > 65 /* nil */)) return null }
          const t4 = this.at++
          r1 = t4
        }
      }
    }
    return new TreeNode('memberName', start, this.at, [r1])
  }
}
