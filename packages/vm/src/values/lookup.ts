export { lookup } from '@bridle/compiler/bytecode'
