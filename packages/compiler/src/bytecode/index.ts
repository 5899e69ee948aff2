// `@bridle/compiler/bytecode`: what running needs of the compiler: the format of chunks, and no parser.
export { OPCODES, OPCODE_BY_CODE, RAISE_KINDS } from './opcodes.js'
export type { Opcode, OpcodeName, OpcodeRow, RaiseKind } from './opcodes.js'
export type { CompiledProgram, Constant, FunctionChunk, FunctionKind, Handler, LocalName, ModuleChunk } from './chunk.js'
export type { OperandKind } from './operands.js'
export { disassemble } from './disassembler.js'
export { verify } from './verifier.js'
export type { CheckedField, CheckedLiteral, CheckedPrimitive, RuntimeCheck } from '../types/runtime-check.js'
export { ChunkFormatError, deserialize, FORMAT_VERSION, opcodeFingerprint, serialize } from './serialize.js'
