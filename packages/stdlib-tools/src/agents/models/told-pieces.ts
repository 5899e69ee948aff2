// Host events for streamed answers: each piece as it reaches the machine, in addition to what the script receives. Like a report
// (library/effects/reports.ts) it is not stored: it is not an effect, is not journalled, and cannot affect the run.

import { HarnDict, defineHostSlot, display } from '@bridle/vm/families'
import type { Context, HarnList, Value } from '@bridle/vm/families'

/** A piece of an answer of a model. */
export type ModelDelta =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** A piece of the JSON of a call's arguments; the first of a call has its name. */
  | { readonly type: 'tool_call'; readonly index: number; readonly id: string; readonly name: string; readonly text: string }
  /** The request is repeated; earlier pieces of this answer are void. */
  | { readonly type: 'restart' }
  /** `ok`: the answer is whole. */
  | { readonly type: 'end'; readonly ok: boolean }

export interface ModelPiece {
  /** Names the answer within the run; pieces of several answers may come in turn. */
  readonly answer: string
  readonly provider: string
  readonly model: string
  /** The task that asked. */
  readonly taskId: string
  readonly delta: ModelDelta
}

export type PieceListener = (piece: ModelPiece) => void

/** Receives each piece; null without a listener. */
export const PIECE_LISTENER = defineHostSlot<PieceListener | null>('piece_listener', null)

export type ToldAnswer = Pick<ModelPiece, 'answer' | 'provider' | 'model'>

export function tellDelta(ctx: Context, answer: ToldAnswer, delta: ModelDelta): void {
  ctx.machine.hostData(PIECE_LISTENER)?.({ ...answer, taskId: ctx.machine.task().taskId, delta })
}

/** `deltas`: as scripts have them. */
export function tellPieces(ctx: Context, answer: ToldAnswer, deltas: HarnList): void {
  if (ctx.machine.hostData(PIECE_LISTENER) === null) return
  for (const item of deltas.view()) if (item instanceof HarnDict) tellDelta(ctx, answer, decodeDelta(item))
}

function decodeDelta(item: HarnDict): ModelDelta {
  const read = (key: string): string => readWord(item.get(key) ?? null)
  const type = read('type')
  if (type !== 'tool_call') return { type: type === 'reasoning' ? 'reasoning' : 'text', text: read('text') }
  return { type, index: Number(item.get('index') ?? 0), id: read('id'), name: read('name'), text: read('text') }
}

const readWord = (value: Value): string => (value === null ? '' : display(value))
