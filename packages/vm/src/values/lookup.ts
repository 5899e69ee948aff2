// Tables that are asked for what scripts say: a word such as `constructor` finds nothing that is not in the table.

export { lookup } from '@bridle/compiler/bytecode'
