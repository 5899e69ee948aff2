// Kinds of operand. Code is an array of ints: an opcode number, then one int for each operand; positions are indices into it.

export type OperandKind =
  /** Index into the chunk's constants. */
  | 'const'
  /** A literal int within 32 bits. */
  | 'int'
  /** Local slot of the running function. */
  | 'slot'
  /** Captured value of the running closure. */
  | 'capture'
  /** Slot of the module state. */
  | 'module'
  /** Index into the chunk's list of imported modules. */
  | 'unit'
  /** Index into the chunk's names. */
  | 'name'
  /** Index into the chunk's builtin names. */
  | 'builtin'
  /** Index into the chunk's functions. */
  | 'function'
  /** Code position. */
  | 'label'
  | 'count'
  | 'flag'
  /** Index into RAISE_KINDS. */
  | 'fault'
