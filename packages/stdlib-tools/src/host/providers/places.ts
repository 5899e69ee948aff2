// Where the host has put a model service: by an option, by a variable of ours, or by the variable that the service's own clients read.

import { readText, readWord, listTexts } from './wires/json.js'
import type { Json } from './wires/json.js'

type Environment = { readonly [name: string]: string | undefined }

const OLLAMA_PORT = '11434'

/** The address that a variable names, in the form that requests need; clients of services leave different parts of it out. */
export function readPlace(variable: string, value: string): string {
  const place = value.trim().replace(/\/$/, '')
  if (variable === 'OLLAMA_HOST') return readOllamaHost(place)
  // Anthropic's clients add the version themselves.
  if (variable === 'ANTHROPIC_BASE_URL') return /\/v\d+$/.test(place) ? place : `${place}/v1`
  return place
}

/** `HOST`, `HOST:PORT` or an address; what a server listens on is no address to ask. */
function readOllamaHost(place: string): string {
  const full = place.includes('://') ? place : `http://${place.startsWith(':') ? `127.0.0.1${place}` : place}`
  let url: URL
  try {
    url = new URL(full)
  } catch {
    return place
  }
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  if (!place.includes('://') && !/:\d+$/.test(place)) url.port = OLLAMA_PORT
  return url.href.replace(/\/$/, '')
}

/** Where the environment has a provider; null when it leaves that to the table. */
export function findPlace(env: Environment, args: Json): string | null {
  const own = readText(args['base_url_env'])
  for (const name of [...(own === null ? [] : [own]), ...listTexts(args['base_url_envs'])]) {
    const value = env[name]
    if (value !== undefined && value.trim() !== '') return readPlace(name, value)
  }
  const location = readLocation(env)
  const isRegional = readWord(args['provider']) === 'vertex' && location !== 'global' && /^[a-z0-9-]+$/.test(location)
  return isRegional ? `https://${location}-aiplatform.googleapis.com/v1` : null
}

function readFirst(env: Environment, ...names: readonly string[]): string | null {
  return names.map((name) => env[name]?.trim() ?? '').find((value) => value !== '') ?? null
}

function readLocation(env: Environment): string {
  return readFirst(env, 'VERTEX_AI_LOCATION', 'GOOGLE_CLOUD_LOCATION') ?? 'global'
}

/** The path of an endpoint with what the environment says in its gaps; the text of `problem` says what is missing. */
export function fillEndpoint(env: Environment, endpoint: string): { readonly endpoint: string } | { readonly problem: string } {
  if (!endpoint.includes('{project}')) return { endpoint }
  const project = readFirst(env, 'VERTEX_AI_PROJECT', 'GOOGLE_CLOUD_PROJECT')
  if (project === null) return { problem: "provider 'vertex' needs a project: set GOOGLE_CLOUD_PROJECT" }
  const filled = endpoint
    .replace('{project}', encodeURIComponent(project))
    .replace('{location}', encodeURIComponent(readLocation(env)))
  return { endpoint: filled }
}
