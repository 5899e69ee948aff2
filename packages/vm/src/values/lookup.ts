// Tables indexed by names from scripts: a name such as `constructor` finds only entries of the table.

export { lookup } from '@bridle/compiler/bytecode'
