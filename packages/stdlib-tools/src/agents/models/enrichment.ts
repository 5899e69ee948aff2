// `project_enrich_native`: a model's summary of a folder; enrichment.harn is what it does.

import { harnBuiltin } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm/families'
import { findHarnModule } from '../../library/harn/modules.js'

const OPTIONS = `
  prompt: string -- The template of the prompt: path, evidence and files are names in it.
  schema: any -- What the answer must be.
  base_evidence: dict -- What is known of the directory; a scan of it when left out.
  budget_tokens: int (tokens) = 4000 -- No model is asked for a prompt that is longer.
  provider: string = "auto" -- Whose model answers.
  model: string = "auto" -- The model that answers.
  temperature: float -- Of the model.
  cache_key: string = "default" -- Answers under another key are not reused.
  cache_dir: string -- Where answers are stored; \`.harn/cache/enrichment\` of the directory when left out.
  schema_retries: int = 1 -- Further attempts for an answer that fits.
  include_operator_meta: bool = true -- Looks at workflows, hooks and owners too.
`

export const enrichmentFamily: BuiltinFamily = {
  name: 'enrichment',
  modules: findHarnModule,
  builtins: [
    harnBuiltin(
      'project_enrich_native(path: string, options: dict) -> dict',
      {
        doc: "A model's summary of a directory, in the shape of a schema.",
        effects: ['fs.query', 'fs.read', 'fs.write', 'llm.call', 'process.info', 'random.bytes', 'clock.now', 'callback'],
        shapes: { options: OPTIONS },
      },
      { module: 'agents/models/enrichment', function: 'project_enrich_native', output: 'drop' },
    ),
  ],
}
