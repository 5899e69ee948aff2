// Approval of a builtin's effect, if a rule of the host requires it: `effect.approval` is the frame in front of
// such an effect. It lies in the machine, so that the question is its own effect, which journals, traces and snapshots know.

import { HarnDict, frame, toPlain } from '@bridle/vm/families'
import type { Context, Effect, FrameState, LibraryCall, PlainRecord, Result } from '@bridle/vm/families'
import { EFFECT_JUDGE, requestApproved } from './grant-ceiling.js'
import { effectNeedsApproval } from './approval-rules.js'
import { encodeCalled, makeNamed } from '../dispatch/identity.js'
import { makeToolError } from '../../library/tool-errors.js'
import { traceDenied } from './grants.js'

interface HeldState extends FrameState {
  stage: 'start' | 'asked' | 'performing'
  /** Its kind. */
  readonly effect: Effect['kind']
  readonly args: HarnDict
}

const ASK: LibraryCall = { module: 'tools/policy/gate', function: 'ask_about_effect', output: 'drop' }

function step(ctx: Context, state: HeldState): Result {
  switch (state.stage) {
    case 'start': {
      const effect = readEffect(state)
      if (!effectNeedsApproval(ctx, effect)) return perform(ctx, state, effect)
      state.stage = 'asked'
      const { tool, secret } = describe(effect)
      const called = { shown: tool, identity: { ...makeNamed(tool), key: `effect:${effect.kind}` } }
      return ctx.library(ASK, [
        encodeCalled(called),
        state.args,
        HarnDict.of({ secrets: secret.length === 0 ? null : secretList(state) }),
      ])
    }
    case 'asked': {
      const effect = readEffect(state)
      const reason = ctx.result
      if (reason === null) return perform(ctx, state, effect)
      const { tool, secret } = describe(effect)
      const error = makeToolError('approval_denied', String(reason), { tool, callId: null, attempt: 0 })
      traceDenied(ctx, tool, state.args, error, secret)
      return ctx.throw(error)
    }
    case 'performing':
      return ctx.result
  }
}

function perform(ctx: Context, state: HeldState, effect: Effect): Result {
  state.stage = 'performing'
  return requestApproved(ctx, effect)
}

/** The same arguments that the builtin asked for: values and data are two forms of one thing. */
const readEffect = ({ effect, args }: HeldState): Effect => ({ kind: effect, args: toPlain(args) as PlainRecord }) as Effect

const secretList = ({ args }: HeldState) => args.get('secrets') ?? null

/** By the name of the tool that does the same, as traces have it. */
function describe(effect: Effect): { readonly tool: string; readonly secret: readonly string[] } {
  const call = EFFECT_JUDGE.describe(effect)
  return { tool: call?.tool ?? effect.kind, secret: call?.secret ?? [] }
}

export const effectApprovalFrame = frame<HeldState>({ kind: 'effect.approval', runBoundary: false, step })
