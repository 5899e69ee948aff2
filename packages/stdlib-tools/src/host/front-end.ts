// What turns text into programs and findings into text. Apart, because a program that was compiled before needs none of it
// (scripts/bundle.mjs).

export { compileProgram, ToolTypes, withBuiltins } from '@bridle/compiler'
export { renderDiagnostic } from '@bridle/parser'
