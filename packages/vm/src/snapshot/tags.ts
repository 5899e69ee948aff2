// THE tags of a snapshot's contents. They are written into saved bytes: never reuse one, and increase the
// version when the format after a tag changes.
//
//   0x80 | n   the int n, 0 to 127
//   0x40 | n   a string of n units from the table of strings, 0 to 31
//   0x60 | n   the string number n again, 0 to 31

export const SMALL_INT = 0x80
export const SHORT_TEXT = 0x40
export const SHORT_TEXT_AGAIN = 0x60
export const SHORT_MAX = 31

export const TAG = {
  NIL: 0,
  FALSE: 1,
  TRUE: 2,
  UNDEFINED: 3,
  /** n; and -1 - n. */
  INT: 4,
  NEGATIVE: 5,
  /** 8 bytes, little-endian. */
  NUMBER: 6,
  /** Its digits, as a string. */
  BIGINT: 7,
  TEXT: 8,
  TEXT_AGAIN: 9,
  /** An object that was mentioned before, by its number. */
  AGAIN: 10,
  /** The first mention of an object whose contents are deferred: its tag and head. */
  LATER: 11,
  END: 12,
  FLOAT: 13,
  DURATION: 14,
  RANGE: 15,
  ARRAY: 16,
  OBJECT: 17,
  RECORD: 18,
  MAP: 19,
  JS_SET: 20,
  U8: 21,
  LIST: 22,
  LIST_OWNED: 23,
  DICT: 24,
  DICT_OWNED: 25,
  STRUCT: 26,
  STRUCT_OWNED: 27,
  SET: 28,
  BYTES: 29,
  CLOSURE: 30,
  NATIVE: 31,
  COROUTINE: 32,
  // Classes with a row in classes.ts.
  PAIR: 33,
  ENUM: 34,
  BUILTIN: 35,
  CELL: 36,
  ITER: 37,
  GENERATOR: 38,
  TASK_HANDLE: 39,
  ATOMIC: 40,
  RNG: 41,
  PERMIT: 42,
  HANDLE: 43,
  CHANNEL: 44,
  FAULT: 45,
  TASK: 46,
  /** Before a list, dict or struct that is owned by a container, or contains such (values/nest.ts): two numbers, 0 for none. */
  NESTED: 47,
} as const

/** Nested objects are written in place up to this depth and deferred beyond it: neither side recurses further. */
export const MAX_DEPTH = 64
