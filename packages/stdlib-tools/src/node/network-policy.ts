// Which addresses a run may reach. An address is judged three times: as it stands in the URL (a literal never passes through
// name resolution), as a name against the host's rules, and as the addresses it resolves to, at the moment of connecting, so
// that a name cannot point elsewhere the second time. Redirects are the builtin's, and come back here as new requests.

import { lookup } from 'node:dns'
import type { LookupAddress, LookupOptions } from 'node:dns'
import { parseUrl } from '@bridle/compiler/grants'
import ipaddr from 'ipaddr.js'

export interface NetworkPolicy {
  /** `host`, `*.suffix` (sub-domains only), an address or a CIDR range, each optionally `:port`; everything when absent. */
  readonly allow?: readonly string[]
  /** Wins over `allow`. */
  readonly deny?: readonly string[]
  /** Refuses loopback, private, link-local and other special addresses, and ports of well-known inner services; true by default. */
  readonly denyPrivate?: boolean
  /** Hosts that `denyPrivate` does not concern, in the form of `allow`, without patterns. */
  readonly privateHosts?: readonly string[]
  /** Redirects that one request of a guarded `fetch` may follow, 5 by default; scripts say it themselves (`max_redirects`). */
  readonly maxRedirects?: number
  /** Requests to one host within a window of time; without a limit by default. */
  readonly perHost?: { readonly limit: number; readonly windowMs: number }
  /** Additional rules that a host must pass, such as `environmentRules`. They name nothing that `denyPrivate` refuses. */
  readonly alsoWithin?: EgressRules
}

export interface EgressRules {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

/**
 * What HARN_EGRESS_ALLOW, HARN_EGRESS_DENY and HARN_EGRESS_DEFAULT say of all that leaves the process; null when none is set. The
 * variables are those of the process that starts a run: read once, and not those that a script sets.
 */
export function environmentRules(env: { readonly [name: string]: string | undefined }): EgressRules | null {
  const { HARN_EGRESS_ALLOW: allow, HARN_EGRESS_DENY: deny, HARN_EGRESS_DEFAULT: fallback } = env
  if (allow === undefined && deny === undefined && fallback === undefined) return null
  const splitRules = (text = ''): string[] =>
    text
      .split(',')
      .map((rule) => rule.trim().toLowerCase())
      .filter((rule) => rule !== '')
  return { ...(fallback?.trim().toLowerCase() === 'deny' ? { allow: splitRules(allow) } : {}), deny: splitRules(deny) }
}

export class EgressBlocked extends Error {
  override readonly name = 'EgressBlocked'
  readonly rule: 'private_address' | 'port' | 'scheme' | 'domain' | 'redirect' | 'rate'

  constructor(rule: EgressBlocked['rule'], url: string) {
    super(`egress blocked: ${url} (${rule})`)
    this.rule = rule
  }
}

const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  22, 23, 25, 110, 135, 139, 445, 1433, 3306, 3389, 5432, 5900, 6379, 8020, 9200, 11211, 27017,
])
const BLOCKED_HOSTS: ReadonlySet<string> = new Set(['metadata.google.internal', 'metadata', 'instance-data'])

/** Counts requests by host over the last `windowMs`. */
export class RateWindow {
  private readonly rule: NetworkPolicy['perHost']
  private readonly nowMs: () => number
  /** Times of the requests that still count, oldest first, by host. */
  private readonly sent = new Map<string, number[]>()

  constructor(rule: NetworkPolicy['perHost'], nowMs: () => number = () => performance.now()) {
    this.rule = rule
    this.nowMs = nowMs
  }

  /** Throws EgressBlocked when the host has had as many requests as it may; counts this one otherwise. */
  admit(url: URL): void {
    if (this.rule === undefined) return
    const { limit, windowMs } = this.rule
    const now = this.nowMs()
    const times = (this.sent.get(url.host) ?? []).filter((time) => time > now - windowMs)
    this.sent.set(url.host, times)
    if (times.length >= limit) throw new EgressBlocked('rate', formatUrl(url))
    times.push(now)
  }
}

/** The refusal behind an error, which libraries wrap; null when it is none. */
export function findBlocked(cause: unknown): EgressBlocked | null {
  for (let at = cause, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof EgressBlocked) return at
  return null
}

/** Throws EgressBlocked for what can be said before connecting. */
export function checkUrl(url: URL, policy: NetworkPolicy): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new EgressBlocked('scheme', formatUrl(url))
  const host = readHost(url)
  const port = readPort(url)
  const isListed = (rules: readonly string[] | undefined): boolean => rules?.some((rule) => matches(rule, host, port)) ?? false
  if (isListed(policy.deny)) throw new EgressBlocked('domain', formatUrl(url))
  if (policy.allow !== undefined && !isListed(policy.allow)) throw new EgressBlocked('domain', formatUrl(url))
  const { alsoWithin } = policy
  if (isListed(alsoWithin?.deny) || (alsoWithin?.allow !== undefined && !isListed(alsoWithin.allow)))
    throw new EgressBlocked('domain', formatUrl(url))
  if (policy.denyPrivate === false || isNamed(host, port, policy)) return
  if (BLOCKED_PORTS.has(port)) throw new EgressBlocked('port', formatUrl(url))
  if (BLOCKED_HOSTS.has(host)) throw new EgressBlocked('private_address', formatUrl(url))
  if (ipaddr.isValid(host) && !isPublic(host)) throw new EgressBlocked('private_address', formatUrl(url))
}

/** Whether resolved addresses must be judged as well. */
export function judgesAddresses(url: URL, policy: NetworkPolicy): boolean {
  return policy.denyPrivate !== false && !isNamed(readHost(url), readPort(url), policy)
}

/** A host that a rule names is the host program's own decision, also when it is a private one. */
function isNamed(host: string, port: number, { allow = [], privateHosts = [] }: NetworkPolicy): boolean {
  return [...allow, ...privateHosts].some((rule) => !rule.startsWith('*') && matches(rule, host, port))
}

/**
 * Unicast only: not loopback, private, link-local, unique-local, multicast, carrier-grade NAT, or a wrapped form of these. NAT64, 6to4 and
 * the old form `::a.b.c.d` carry an IPv4 address inside; none of them has a place in a script's URL, nor do unassigned ranges.
 */
export function isPublic(address: string): boolean {
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST)
}

/** Of all IPv6 addresses these are given out (RFC 4291 §2.4). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void

type Lookup = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** A `lookup` for sockets that refuses addresses that are not public, each time a name is resolved to connect. */
export function makeJudgingLookup(resolve: Lookup) {
  return (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, [])
        return
      }
      if (addresses.length === 0 || addresses.some((each) => !isPublic(each.address))) {
        callback(new EgressBlocked('private_address', hostname) as NodeJS.ErrnoException, [])
        return
      }
      if (options.all === true) callback(null, addresses)
      else callback(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

export const guardedLookup = makeJudgingLookup(lookup)

function matches(rule: string, host: string, port: number): boolean {
  const { pattern, port: rulePort } = splitPort(rule)
  if (rulePort !== null && rulePort !== port) return false
  if (pattern === '*') return true
  if (pattern.startsWith('*.')) return host.endsWith(`.${normalizeName(pattern.slice(2))}`)
  if (pattern.includes('/')) {
    try {
      return ipaddr.isValid(host) && ipaddr.process(host).match(ipaddr.parseCIDR(pattern))
    } catch {
      // Their address families differ.
      return false
    }
  }
  if (ipaddr.isValid(host) && ipaddr.isValid(pattern))
    return ipaddr.process(host).toNormalizedString() === ipaddr.process(pattern).toNormalizedString()
  return normalizeName(pattern) === host
}

/** A name as URLs have it: lower case, in punycode, without the dot at its end. */
function normalizeName(pattern: string): string {
  const url = /[^\x00-\x7f]/.test(pattern) ? parseUrl(`http://${pattern}/`) : null
  return url === null ? pattern.toLowerCase().replace(/\.$/, '') : readHost(url)
}

function splitPort(rule: string): { readonly pattern: string; readonly port: number | null } {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(rule)
  if (bracketed !== null) return { pattern: bracketed[1]!, port: bracketed[2] === undefined ? null : Number(bracketed[2]) }
  const match = /^([^:]+):(\d+)$/.exec(rule)
  return match === null ? { pattern: rule, port: null } : { pattern: match[1]!, port: Number(match[2]) }
}

function readHost(url: URL): string {
  return url.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
}

function readPort(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}

/** Without user, password and query: errors must not carry secrets. */
function formatUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`
}
