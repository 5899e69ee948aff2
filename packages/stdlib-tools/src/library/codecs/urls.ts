// URLs after the WHATWG rules, taken apart and put together, and query strings.

import { HarnDict, HarnList, builtin, builtinTaking, count, display, makeEntry, readTextArg } from '@bridle/vm/families'
import type { BuiltinDef, Context, Result, Value } from '@bridle/vm/families'
import { parseUrl } from '@bridle/compiler/grants'
import { parseQuery } from './percent.js'

/** Reads a URL, or says what is wrong with it. */
export function readUrl(text: string): URL | string {
  return parseUrl(text) ?? describeUrlProblem(text)
}

/** The platform only says that a URL is invalid; these are the usual reasons. */
function describeUrlProblem(text: string): string {
  const parts = /^\s*([a-zA-Z][a-zA-Z0-9+.-]*):(?:\/\/([^/?#]*))?/.exec(text)
  if (parts === null) return 'relative URL without a base'
  const authority = (parts[2] ?? '').replace(/^.*@/, '')
  if (authority.replace(/:\d*$/, '') === '') return 'empty host'
  if (authority.startsWith('[')) return 'invalid IPv6 address'
  const port = /:([^:]*)$/.exec(authority)?.[1]
  if (port !== undefined && !(/^\d*$/.test(port) && Number(port) < 65536)) return 'invalid port number'
  return 'invalid international domain name'
}

const toNil = (text: string): Value => (text === '' ? null : text)

function parse(ctx: Context, value: Value = null): Result {
  const text = readTextArg(ctx, 0, value)
  const url = readUrl(text)
  if (typeof url === 'string') return ctx.throw(`url_parse: ${url}`)
  const [beforeHash] = url.href.split('#', 1) as [string]
  return HarnDict.of({
    scheme: url.protocol.slice(0, -1),
    host: toNil(url.hostname),
    port: url.port === '' ? null : Number(url.port),
    path: url.pathname,
    query: beforeHash.includes('?') ? url.search.slice(1) : null,
    fragment: url.href.includes('#') ? url.hash.slice(1) : null,
    username: toNil(url.username),
    password: toNil(url.password),
  })
}

function build(ctx: Context, parts: HarnDict): Result {
  const readPart = (name: string): string | null => {
    const value = parts.get(name)
    return typeof value === 'string' ? value : null
  }
  const scheme = readPart('scheme')
  if (scheme === null) return ctx.throw("url_build: 'scheme' is required")
  const host = readPart('host')
  const path = readPart('path') ?? '/'
  const port = count(parts.get('port') ?? null)
  const start =
    host === null
      ? `${scheme}:${path}`
      : `${scheme}://${host}${port === null ? '' : `:${port}`}${path.startsWith('/') ? '' : '/'}${path}`
  const url = readUrl(start)
  if (typeof url === 'string') return ctx.throw(`url_build: ${url}`)
  url.username = readPart('username') ?? ''
  if (url.username !== '') url.password = readPart('password') ?? ''
  // The setters drop one mark of their own; a second one in the text is kept.
  const query = readPart('query')
  if (query !== null) url.search = query === '' ? '' : `?${query}`
  const fragment = readPart('fragment')
  if (fragment !== null) url.hash = fragment === '' ? '' : `#${fragment}`
  return url.href
}

/** Display of a member; absent ones count as empty. */
const formatText = (value: Value | undefined): string => (value === undefined ? '' : display(value))

function stringify(ctx: Context, pairs: HarnList): Result {
  ctx.charge(pairs.length)
  const params = new URLSearchParams()
  for (const pair of pairs.view()) {
    if (!(pair instanceof HarnDict)) return ctx.throw('query_stringify: each item must be a {key, value} dict')
    params.append(formatText(pair.get('key') ?? undefined), formatText(pair.get('value')))
  }
  return params.toString()
}

export const urlFunctions: readonly BuiltinDef[] = [
  builtin('url_parse(url: string) -> dict', { doc: 'The parts of a URL; absent ones are nil.' }, parse),
  builtinTaking(
    'url_build(parts: dict) -> string',
    { doc: 'A URL of its parts.' },
    { not: { parts: '{f}: expected a {type} of url parts' } },
    build,
  ),
  builtin(
    'query_parse(query: string) -> list',
    { doc: 'The `{key, value}` pairs of a query string.' },
    (ctx, query) => new HarnList(parseQuery(readTextArg(ctx, 0, query)).map(([key, value]) => makeEntry(key, value))),
  ),
  builtinTaking(
    'query_stringify(pairs: list<dict>) -> string',
    { doc: 'A query string of `{key, value}` pairs.' },
    { not: { pairs: '{f}: expected a list of {key, value} dicts' } },
    (ctx, pairs) => stringify(ctx, pairs as HarnList),
  ),
]
