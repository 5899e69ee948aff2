// `self_review`: a model's judgement of a change before others see it; review.harn is what it does.

import { harnBuiltin } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'

export const reviewFamily: BuiltinFamily = {
  name: 'review',
  modules: findHarnModule,
  builtins: [
    harnBuiltin(
      'self_review(diff: string, rubric?: string | nil, max_rounds?: int) -> dict',
      {
        doc:
          "A model's review of a diff, round by round until one approves it or finds nothing new. The rubric is `code`, `docs`, " +
          '`infra`, `security`, or a text of your own.',
        effects: ['llm.call', 'process.info', 'random.bytes', 'clock.now', 'callback'],
      },
      { module: 'agents/models/review', function: 'self_review', output: 'drop' },
    ),
  ],
}
