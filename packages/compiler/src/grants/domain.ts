// Which URLs a domain pattern allows. The host is the one of the URL standard, never the result of a string search: user names,
// queries, fragments and backslashes have all been used to make a forbidden address look allowed. The code that
// connects judges the resolved addresses.
//
//   api.example.com      this host           *.example.com, **.example.com    it and everything below it
//   api.example.com:8443 only on this port   *                                every host
//
// Without a port the default port of the scheme is meant. IP addresses match exactly only.

import { parseUrl } from './url.js'

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

interface Pattern {
  readonly any: boolean
  readonly below: boolean
  readonly host: string
  readonly port: number | null
}

/** Why a pattern cannot be used; null when it can. */
export function domainProblem(pattern: string): string | null {
  const parsed = parsePattern(pattern)
  return typeof parsed === 'string' ? parsed : null
}

/** Whether a pattern is so wide that it deserves a warning: every host, or all of a top-level domain. */
export function isWideDomain(pattern: string): boolean {
  const parsed = parsePattern(pattern)
  return typeof parsed !== 'string' && (parsed.any || (parsed.below && !parsed.host.includes('.')))
}

/** False for an invalid pattern and for anything but an absolute http or https URL. */
export function matchDomain(pattern: string, url: string): boolean {
  const parsed = parsePattern(pattern)
  const target = parseUrl(url)
  if (typeof parsed === 'string' || target === null) return false
  const standard = DEFAULT_PORTS[target.protocol]
  if (standard === undefined || target.hostname === '') return false
  const port = target.port === '' ? standard : Number(target.port)
  if (port !== (parsed.port ?? standard)) return parsed.any && parsed.port === null
  if (parsed.any) return true
  const host = withoutDot(target.hostname)
  if (host === parsed.host) return true
  return parsed.below && !isAddress(host) && host.endsWith(`.${parsed.host}`)
}

/** The pattern, or its problem. */
function parsePattern(text: string): Pattern | string {
  const pattern = text.trim().toLowerCase()
  if (pattern === '') return 'is empty'
  if (pattern.includes('://')) return 'must be a host, without a scheme'
  if (/[/\\?#@\s]/.test(pattern)) return 'must be a host, without path, user or blanks'
  const split = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(pattern)
  if (split === null) return 'is not a host'
  const port = split[2] === undefined ? null : Number(split[2])
  if (port !== null && (port === 0 || port > 65_535)) return 'has no valid port'
  let host = split[1]!
  if (host === '*' || host === '**') return { any: true, below: false, host: '', port }
  const below = /^\*{1,2}\./.test(host)
  if (below) host = host.replace(/^\*{1,2}\./, '')
  if (host.includes('*') || host.startsWith('+')) return 'may have a star only in front, as in *.example.com'
  // Unicode names in the form that URLs have; addresses in canonical form.
  const url = parseUrl(`http://${host}/`)
  if (url === null) return 'is not a host'
  host = withoutDot(url.hostname)
  return host === '' ? 'is not a host' : { any: false, below, host, port }
}

function withoutDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(host)
}
