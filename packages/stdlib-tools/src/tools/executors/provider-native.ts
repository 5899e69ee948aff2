// Executor `provider_native`: the model's own service runs the tool while it answers. There is nothing to call from here, and
// saying so by name is all this does.

import type { Executor } from './executor.js'

export function makeProviderNativeExecutor(): Executor {
  return {
    name: 'provider_native',
    call: (call) => ({
      kind: 'rejected',
      code: 'execution_failed',
      message: `Tool '${call.tool}' is executed by the model provider (executor: "provider_native") and cannot be called from a script`,
      hint: 'offer it to a model instead',
    }),
    isReadOnly: () => false,
  }
}
