// A JSON Schema as the AI SDK knows one: by its own wrapper, which all versions take, and as a standard schema, by which its types
// know it.

import type { CompiledSchema, JsonSchema } from '../tools/host-tools/schema.js'

/** The wrapper by which that package knows a JSON Schema. */
const SCHEMA = Symbol.for('vercel.ai.schema')
const VALIDATOR = Symbol.for('vercel.ai.validator')

export interface AiSdkSchema {
  readonly jsonSchema: JsonSchema
  readonly validate: (value: unknown) => AiSdkValidation | Promise<AiSdkValidation>
  /** https://standardschema.dev, with its part for JSON Schema. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>
    readonly jsonSchema: {
      readonly input: () => { [key: string]: unknown }
      readonly output: () => { [key: string]: unknown }
    }
    // Types of tools are not known to TypeScript: frameworks take the input as anything.
    readonly types?: { readonly input: never; readonly output: never } | undefined
  }
  readonly [SCHEMA]: true
  readonly [VALIDATOR]: true
}

type AiSdkValidation = { readonly success: true; readonly value: unknown } | { readonly success: false; readonly error: Error }

type StandardResult =
  | { readonly value: never; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] }

export function makeAiSchema(jsonSchema: JsonSchema, check: CompiledSchema['check'] | null): AiSdkSchema {
  const validate = async (value: unknown): Promise<AiSdkValidation> => {
    const result = (await check?.(value)) ?? { ok: true, value }
    return result.ok
      ? { success: true, value: result.value }
      : { success: false, error: new Error(`invalid arguments at ${result.path}: ${result.reason}`) }
  }
  return {
    [SCHEMA]: true,
    [VALIDATOR]: true,
    jsonSchema,
    validate,
    '~standard': {
      version: 1,
      vendor: 'bridle',
      async validate(value) {
        const result = await validate(value)
        return result.success ? { value: result.value as never } : { issues: [{ message: result.error.message }] }
      },
      jsonSchema: { input: () => ({ ...jsonSchema }), output: () => ({ ...jsonSchema }) },
    },
  }
}
