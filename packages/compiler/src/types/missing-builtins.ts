// Builtins of the language that Bridle does not have yet. Only what is defined nowhere may stand here: the generator of
// builtins.generated.ts refuses others, so the list shrinks with each definition.
//
// A call of one is an error of `bridle check`, of the editor and of lint. It stops no run: scripts that the language accepts may
// name one in a branch that is never taken, and a call that is made raises `Undefined builtin`.

export const MISSING_BUILTINS: ReadonlySet<string> = new Set([
  // Constants, which the language's own checker lets a script call.
  'e',
  'pi',
  'stream',
  // Not built yet.
  'project_enrich_native',
  'self_review',
  'vision_ocr',
])
