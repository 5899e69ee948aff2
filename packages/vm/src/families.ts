// The API for families of builtins outside the machine: values, definitions of builtins and native frames, effects, charges.
// The machine itself is in index.ts.

export { HostData, defineHostSlot } from './host-data.js'
export type { HostSlot } from './host-data.js'
export type { EffectAsCall, EffectSpan, JudgeMode } from './effects/judge.js'
export {
  CONTROL,
  Control,
  builtin,
  describeOptions,
  family,
  frame,
  harnBuiltin,
  markFromOutside,
  readTextArgument,
  withRun,
} from './builtins/builtin.js'
export type { BuiltinDef, Context, EffectJudge, FrameDef, FrameState, LibraryCall, Result } from './builtins/builtin.js'
export { bytesFamily, decodeUtf8, decodeUtf8Strict, encodeUtf8, hasSameBytes, describeUtf8Problem } from './builtins/bytes.js'
export { beginFeed, endFeed, makeChannel, readTimeoutMs } from './builtins/channels.js'
export { chargeArguments } from './builtins/charging.js'
export {
  decodeBase32,
  decodeBase64,
  decodeBase64Url,
  decodeHex,
  encodeAsciiBase64,
  encodeBase32,
  encodeBase64,
  encodeBase64Url,
  encodeHex,
} from './builtins/codecs-alphabets.js'
export { readCategory, classify, toKnownCategory } from './builtins/core-errors.js'
export { hashFnv1a } from './builtins/core-hash.js'
export { MAX_TEXT, addInts, clampIndex, count, countOr, makeEntry, readTextArg } from './builtins/core-values.js'
export { parseInt64 } from './builtins/core.js'
export { failCategorized, failRuntime, failWith } from './builtins/fail.js'
export { CORE_FAMILIES } from './builtins/families-core.js'
export { makeJsonFamilies } from './builtins/families-json.js'
export { withCharges } from './builtins/family-charges.js'
export { parseJson } from './builtins/json-read.js'
export { formatInterchangeFloat, toJsonString, stringifyJson } from './builtins/json-write.js'
export { jsonFamily } from './builtins/json.js'
export { mailboxFamily } from './builtins/mailbox.js'
export { PIECE, runAtOnce, makeEachWork, definePieces, makeStepWork, spread } from './builtins/pieces.js'
export type { Budget, Cost, Pieces, Steps, Work } from './builtins/pieces.js'
export { Problem } from './builtins/problem.js'
export { randomFamily } from './builtins/random.js'
export { createRegistry } from './builtins/registry.js'
export { describeFault } from './builtins/library.js'
export type { BuiltinFamily, LaterFamilies, LibrarySource, ModuleTexts } from './builtins/registry.js'
export { sharedFamily } from './builtins/shared.js'
export { collectSignatures } from './builtins/signatures.js'
export { bytesToHex, debugQuoted, formatJsonFloat, stringifySorted, toUtf8 } from './builtins/sorted-json.js'
export { beginSpan, endSpan, tracingState } from './builtins/spans.js'
export type { SpanKind, TracingState, VmSpan } from './builtins/spans.js'
export { splitLines, splitText, trim, trimEnd } from './builtins/strings-text.js'
export { syncFamily } from './builtins/sync.js'
export { IMPORT_SCOPES } from './builtins/import-scopes.js'
export { tasksFamily } from './builtins/tasks.js'
export { toMillis, parseMillis } from './builtins/time-amounts.js'
export { UNTRACED } from './builtins/trace-log.js'
export type { Effect, EffectArgs, EffectKind, EffectOf, EffectOutcome, Plain, PlainRecord } from './effects/effect.js'
export { NOTE_KINDS } from './effects/nested-call.js'
export type { NestedCall, NoteKind } from './effects/nested-call.js'
export type { TraceRecord } from './effects/trace-records.js'
export type { Entries } from './few-map.js'
export { LimitReached } from './interpreter/exit.js'
export { CANCELLED_TEXT, Fault, makeCategorized, makeRuntimeFault, makeThrown } from './interpreter/fault.js'
export { linkProgram } from './interpreter/module.js'
export type { LinkedProgram } from './interpreter/module.js'
export { HarnBuiltin, HarnClosure, HarnStruct } from './values/callable.js'
export { HarnDict } from './values/dict.js'
export { display, displayFloat } from './values/display.js'
export { type OptionRow, readShape } from './builtins/option-shapes.js'
export { builtinTaking, listParamNames } from './builtins/unpack.js'
export type { Demands, Fit, TakingRun } from './builtins/unpack.js'
export { ln } from './values/elementary.js'
export { compare, equals } from './values/equality.js'
export { END, HarnAtomic, HarnChannel, HarnGenerator, HarnHandle, HarnIter, HarnTask } from './values/handles.js'
export { Keyed, makeBlankSlots } from './values/keyed.js'
export { HarnList } from './values/list.js'
export { lookup } from './values/lookup.js'
export { SHORT_TEXT, UNITS_A_THROW, countUnitsDone, keep, visit, work } from './values/meter.js'
export { TooDeepError, fromPlain, toPlain } from './values/plain.js'
export { HarnBytes, HarnDuration, HarnEnum, HarnFloat, HarnPair, HarnRange, err, ok } from './values/scalars.js'
export { HarnSet, makeStructuralKey } from './values/set.js'
export { makeLiteralShape } from './values/shape.js'
export { TextBuilder } from './values/text-builder.js'
export { countCodePoints, compareText, sortTexts } from './values/text-order.js'
export { detachPart } from './values/text-parts.js'
export { isCallable, isInt, isTruthy, typeName, wrapInt } from './values/value.js'
export type { Int, Value } from './values/value.js'
export { Machine } from './vm.js'
