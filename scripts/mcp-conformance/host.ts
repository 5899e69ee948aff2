// Tools, resources and prompts that the server scenarios of the protocol's conformance package expect, as a host in
// TypeScript (`toMcpServer`): the counterpart of server.harn. Names and texts are the package's.

import { createRegistry, defineTool } from '@bridle/stdlib-tools'
import type { JsonSchema, Tool, ToolContext } from '@bridle/stdlib-tools'
import { toMcpServer } from '@bridle/stdlib-tools/mcp'
import type { HostBackend, ServedPrompt } from '@bridle/stdlib-tools/mcp'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' }

const embedded = (uri: string, mimeType: string, text: string): object => ({
  type: 'resource',
  resource: { uri, mimeType, text },
})
const message = (content: object | string): object => ({
  role: 'user',
  content: typeof content === 'string' ? { type: 'text', text: content } : content,
})
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const titled = (...pairs: readonly (readonly [string, string])[]): readonly object[] =>
  pairs.map(([value, title]) => ({ const: value, title }))
const needs = (name: string): JsonSchema => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] })

type Body = (args: { readonly [name: string]: string }, context: ToolContext) => unknown

function tool(name: string, execute: Body, input: JsonSchema = { type: 'object', properties: {} }): Tool {
  return defineTool({
    name,
    description: `Fixture ${name}`,
    input,
    execute: (args, context) => execute(args as { readonly [name: string]: string }, context),
  })
}

async function form(context: ToolContext, text: string, properties: { readonly [name: string]: JsonSchema }): Promise<string> {
  const { action, content } = await context.client!.elicit(text, { type: 'object', properties })
  return `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`
}

const OPTIONS = ['option1', 'option2', 'option3']

const TOOLS: readonly Tool[] = [
  tool('test_simple_text', () => 'This is a simple text response for testing.'),
  tool('test_image_content', () => [IMAGE]),
  tool('test_audio_content', () => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]),
  tool('test_embedded_resource', () => [
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]),
  tool('test_multiple_content_types', () => [
    { type: 'text', text: 'Multiple content types test:' },
    IMAGE,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ]),
  tool('test_tool_with_logging', async (_, { client }) => {
    for (const what of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      client!.log('info', what)
      await pause(50)
    }
    return 'done'
  }),
  tool('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing')
  }),
  tool('test_tool_with_progress', async (_, { progress }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100, message: `${done} of 100` })
      await pause(50)
    }
    return 'done'
  }),
  tool(
    'test_sampling',
    async ({ prompt }, { client }) => {
      const { content } = await client!.sample({ messages: [message(prompt!)], maxTokens: 100 })
      return `LLM response: ${(content as { readonly text?: string }).text ?? ''}`
    },
    needs('prompt'),
  ),
  tool(
    'test_elicitation',
    async ({ message: text }, { client }) => {
      const { action, content } = await client!.elicit(text!, {
        type: 'object',
        properties: {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email" },
        },
        required: ['username', 'email'],
      })
      return `User response: action=${action}, content=${JSON.stringify(content)}`
    },
    needs('message'),
  ),
  tool('test_elicitation_sep1034_defaults', (_, context) =>
    form(context, 'Please review', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  ),
  tool('test_elicitation_sep1330_enums', (_, context) =>
    form(context, 'Please choose', {
      untitledSingle: { type: 'string', enum: OPTIONS },
      titledSingle: {
        type: 'string',
        oneOf: titled(['value1', 'First Option'], ['value2', 'Second Option'], ['value3', 'Third Option']),
      },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
      titledMulti: {
        type: 'array',
        items: { anyOf: titled(['value1', 'First Choice'], ['value2', 'Second Choice'], ['value3', 'Third Choice']) },
      },
    }),
  ),
  tool('test_reconnection', async () => {
    await pause(600)
    return 'Reconnection test completed'
  }),
  tool('json_schema_2020_12_tool', () => 'ok', {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  }),
  tool('test_routed', ({ region }) => region, {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  }),
  // Results that ask for input.
  tool('test_input_required_result_elicitation', askName),
  tool('test_input_required_result_sampling', askCapital),
  tool('test_input_required_result_list_roots', async (_, { client }) => {
    const roots = await client!.roots({ key: 'client_roots' })
    return roots.map(({ uri }) => uri).join(', ')
  }),
  tool('test_input_required_result_request_state', askToConfirm),
  tool('test_input_required_result_multiple_inputs', async (_, { client }) => {
    const greeting = { messages: [message('Generate a greeting')], maxTokens: 50 }
    const answers = await Promise.all([
      client!.elicit('What is your name?', needs('name'), { key: 'user_name' }),
      client!.sample(greeting, { key: 'greeting' }),
      client!.roots({ key: 'client_roots' }),
    ])
    return JSON.stringify(answers)
  }),
  tool('test_input_required_result_multi_round', async (_, { client }) => {
    const name = await client!.elicit('Step 1: What is your name?', needs('name'), { key: 'step1' })
    const color = await client!.elicit('Step 2: What is your favorite color?', needs('color'), { key: 'step2' })
    return JSON.stringify([name.content, color.content])
  }),
  tool('test_input_required_result_tampered_state', askToConfirm),
  tool('test_input_required_result_capabilities', async (args, context) =>
    context.client!.capabilities['sampling'] === undefined ? askName(args, context) : askCapital(args, context),
  ),
  tool('greet', ({ name }) => `Hello, ${name}!`),
  tool('slow_compute', async (args, { signal }) => {
    const { seconds = 0, label } = args as { readonly seconds?: number; readonly label?: string }
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, seconds * 1000)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(new Error('cancelled'))
      })
    })
    return `computed ${label ?? ''}`
  }),
  tool('failing_job', async () => {
    await pause(200)
    throw new Error('the job failed')
  }),
  tool('protocol_error_job', (_, { client }) => client!.roots()),
  tool('confirm_delete', async (_, { client }) => {
    const schema = { type: 'object', properties: { confirm: { type: 'boolean' } } }
    return (await client!.elicit('Delete it?', schema)).action
  }),
  tool('multi_input', async (_, { client }) => {
    const answers = await Promise.all(['one', 'two'].map((key) => client!.elicit(key, needs('name'), { key })))
    return JSON.stringify(answers)
  }),
  tool('test_tool_with_task', askName),
  tool('test_missing_capability', askCapital),
  tool('test_streaming_elicitation', askName),
  tool('test_logging_tool', (_, { client }) => {
    client!.log('info', 'a line')
    return 'done'
  }),
]

async function askName(_: object, { client }: ToolContext): Promise<string> {
  const { content } = await client!.elicit('What is your name?', needs('name'), { key: 'user_name' })
  return `Hello, ${String(content?.['name'])}!`
}

async function askCapital(_: object, { client }: ToolContext): Promise<string> {
  const asked = { messages: [message('What is the capital of France?')], maxTokens: 100 }
  const { content } = await client!.sample(asked, { key: 'capital_question' })
  return (content as { readonly text?: string }).text ?? ''
}

async function askToConfirm(_: object, { client }: ToolContext): Promise<string> {
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
  const { action } = await client!.elicit('Please confirm', schema, { key: 'confirm' })
  return `state-ok ${action}`
}

export function hostFixture(): HostBackend {
  const registry = createRegistry(TOOLS)
  let changes = 0
  // Each call of these changes the lists.
  registry.use(
    tool('test_trigger_tool_change', () => {
      registry.use(tool(`changed_${++changes}`, () => 'ok'))
      return 'changed'
    }),
  )
  registry.use(
    tool('test_trigger_prompt_change', () => {
      backend.offer({ prompts: [...PROMPTS, { name: `changed_${++changes}`, description: 'A prompt', get: () => 'changed' }] })
      return 'changed'
    }),
  )
  const backend = toMcpServer(registry, {
    resources: [
      {
        uri: 'test://static-text',
        name: 'Static text',
        description: 'A text',
        mimeType: 'text/plain',
        read: () => 'This is the content of the static text resource.',
      },
      {
        uri: 'test://static-binary',
        name: 'Static binary',
        description: 'A picture',
        mimeType: 'image/png',
        read: () => Buffer.from(PNG, 'base64'),
      },
      {
        uri: 'test://watched-resource',
        name: 'Watched',
        description: 'A text that clients subscribe to',
        mimeType: 'text/plain',
        read: () => 'Watched content',
      },
      {
        uri: 'skill://tea-brewing/SKILL.md',
        name: 'tea-brewing',
        description: 'How tea is brewed',
        mimeType: 'text/markdown',
        read: () => '---\nname: tea-brewing\ndescription: How tea is brewed\n---\n\nSee references/leaves.md.\n',
      },
      {
        uri: 'skill://tea-brewing/references/leaves.md',
        name: 'leaves.md',
        description: 'Temperatures',
        mimeType: 'text/markdown',
        read: () => 'Green: 80 °C.\n',
      },
    ],
    templates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'Template',
        description: 'Data by id',
        mimeType: 'application/json',
        read: ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
    prompts: PROMPTS,
    tasks: {
      slow_compute: 'optional',
      failing_job: 'required',
      protocol_error_job: 'optional',
      confirm_delete: 'optional',
      multi_input: 'optional',
      test_tool_with_task: 'after_input',
    },
  })
  return backend
}

const PROMPTS: readonly ServedPrompt[] = [
  { name: 'test_simple_prompt', description: 'A prompt', get: () => 'This is a simple prompt for testing.' },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with arguments',
    arguments: [
      { name: 'arg1', description: 'First', required: true, complete: ['test value', 'testing', 'other'] },
      { name: 'arg2', description: 'Second', required: true },
    ],
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource',
    arguments: [{ name: 'resourceUri', description: 'URI', required: true }],
    get: ({ resourceUri }) => [
      message(embedded(resourceUri!, 'text/plain', 'Embedded resource content for testing.')),
      message('Please process the embedded resource above.'),
    ],
  },
  {
    name: 'test_prompt_with_image',
    description: 'A prompt with a picture',
    get: () => [message(IMAGE), message('Please analyze the image above.')],
  },
  {
    name: 'test_input_required_result_prompt',
    description: 'A prompt that asks',
    get: async (_, { client }) => {
      const { content } = await client.elicit('What context should the prompt use?', needs('context'), { key: 'user_context' })
      return `Context: ${String(content?.['context'])}`
    },
  },
]
