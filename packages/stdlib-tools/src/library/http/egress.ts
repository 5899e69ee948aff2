// The egress policy of a run: which hosts requests may go to. Deny wins, then allow, then the default.

import { HarnDict, HarnList, display } from '@bridle/vm/families'
import type { Context, Control, Value } from '@bridle/vm/families'
import { parseUrl } from '@bridle/compiler/grants'
import { httpState, redactUrl } from './state.js'
import type { EgressPolicy } from './state.js'

interface Target {
  /** Lower case, in punycode, without the brackets of an IPv6 address and the dot behind a name. */
  readonly host: string
  readonly port: number
}

function readTarget(url: URL): Target {
  const port = url.port !== '' ? Number(url.port) : url.protocol === 'https:' || url.protocol === 'wss:' ? 443 : 80
  return { host: normalizeHost(url.hostname), port }
}

function normalizeHost(hostname: string): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/(.)\.$/, '$1')
    .toLowerCase()
}

/** The host of a rule as URLs have it: `*.bücher.example` is `*.xn--bcher-kva.example`. */
function normalizeRuleHost(host: string): string {
  const star = host.startsWith('*.') ? '*.' : ''
  const name = host.slice(star.length)
  // Only names: an address written as a number would become another text.
  const url = /[^\x00-\x7f]/.test(name) ? parseUrl(`http://${name}/`) : null
  if (url === null) return star + (name.length > 1 ? name.replace(/\.$/, '') : name)
  return star + normalizeHost(url.hostname)
}

/** IPv6 addresses that stand for IPv4 ones: `::ffff:10.0.0.1` reaches what 10.0.0.1 reaches. */
const MAPPED = '0'.repeat(80) + '1'.repeat(16)

/** Bits of an address, most significant first, 32 of one that is IPv4 in fact; null when the text is no IP address. */
function readTargetBits(text: string): string | null {
  const bits = readAddressBits(text)
  return bits?.length === 128 && bits.startsWith(MAPPED) ? bits.slice(96) : bits
}

/** Bits of an address as it is written; null when the text is no IP address. */
export function readAddressBits(text: string): string | null {
  const four = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (four !== null) {
    const bytes = four.slice(1).map(Number)
    return bytes.some((byte) => byte > 255) ? null : bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  }
  if (!text.includes(':')) return null
  // The last 32 bits may be written as an IPv4 address.
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  if (tail !== null) {
    const bits = readAddressBits(tail[2]!)
    const formatGroup = (from: number): string => Number.parseInt(bits!.slice(from, from + 16), 2).toString(16)
    return bits === null ? null : readAddressBits(`${tail[1]!}${formatGroup(0)}:${formatGroup(16)}`)
  }
  const halves = text.split('::')
  if (halves.length > 2) return null
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')))
  const given = groups[0]!.length + (groups[1]?.length ?? 0)
  if (halves.length === 1 ? given !== 8 : given > 7) return null
  const all = [...groups[0]!, ...Array.from({ length: 8 - given }, () => '0'), ...(groups[1] ?? [])]
  if (all.some((group) => !/^[0-9a-f]{1,4}$/i.test(group))) return null
  return all.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0')).join('')
}

/** Host part and port of a rule; port null means any. */
function splitRule(rule: string): { readonly host: string; readonly port: number | null } {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(rule)
  if (bracketed !== null) return { host: bracketed[1]!, port: bracketed[2] === undefined ? null : Number(bracketed[2]) }
  const single = /^([^:]*):(\d+)$/.exec(rule)
  return single === null ? { host: rule, port: null } : { host: single[1]!, port: Number(single[2]) }
}

export function matchesRule(rule: string, target: Target): boolean {
  const { host: written, port } = splitRule(rule.trim().toLowerCase())
  if (port !== null && port !== target.port) return false
  const host = normalizeRuleHost(written)
  if (host === '*') return true
  if (host.startsWith('*.')) return target.host.endsWith(host.slice(1)) && target.host.length > host.length - 1
  const block = /^(.+)\/(\d{1,3})$/.exec(host)
  // A rule may be meant for the address as it is written, or for the one that it stands for.
  const forms = [readAddressBits(target.host), readTargetBits(target.host)].filter((bits) => bits !== null)
  if (block !== null) {
    const prefix = readAddressBits(block[1]!)
    return forms.some(
      (bits) => prefix !== null && bits.length === prefix.length && bits.startsWith(prefix.slice(0, Number(block[2]))),
    )
  }
  return host === target.host || forms.some((bits) => bits === readAddressBits(host) || bits === readTargetBits(host))
}

/** The error in a trimmed rule; null if it is valid. */
function describeRuleFault(rule: string): string | null {
  if (rule === '') return 'empty egress rule'
  const { host } = splitRule(rule)
  const slash = host.indexOf('/')
  if (slash < 0) return null
  const bits = readAddressBits(host.slice(0, slash))
  const length = /^\d{1,3}$/.test(host.slice(slash + 1)) ? Number(host.slice(slash + 1)) : Infinity
  return bits === null || length > bits.length ? `invalid CIDR rule \`${rule}\`: invalid IP address syntax` : null
}

/** The reason why the policy refuses a URL; null when it does not. */
function findRefusalReason(policy: EgressPolicy, target: Target): string | null {
  const denied = policy.deny.find((rule) => matchesRule(rule, target))
  if (denied !== undefined) return `matched deny rule \`${denied}\``
  if (policy.allow.some((rule) => matchesRule(rule, target)) || policy.default === 'allow') return null
  return 'no allow rule matched'
}

/** Raises the EgressBlocked dict when the run's policy refuses `url`; null when the request may continue. */
export function checkEgress(ctx: Context, surface: string, url: string): Control | null {
  const refusal = makeEgressRefusal(ctx, surface, url)
  return refusal === null ? null : ctx.throw(refusal)
}

/** That dict, for those who raise it in their own form. */
export function makeEgressRefusal(ctx: Context, surface: string, url: string): HarnDict | null {
  const policy = ctx.state(httpState).egress
  if (policy === null) return null
  const parsed = parseUrl(url)
  // The target of such a URL is unknown, so no policy allows it.
  const target = parsed === null ? { host: '', port: 0 } : readTarget(parsed)
  const reason = parsed === null ? 'the URL cannot be parsed' : findRefusalReason(policy, target)
  if (reason === null) return null
  return HarnDict.of({
    type: 'EgressBlocked',
    category: 'egress_blocked',
    message: `EgressBlocked: ${surface} blocked ${target.host}:${target.port} for ${redactUrl(url)} (${reason})`,
    surface,
    url: redactUrl(url),
    host: target.host,
    port: target.port,
    reason,
  })
}

/** Policy from the three environment variables; null when none is set. Lists are separated by commas. */
export function readPolicyFromEnvironment(allow: Value, deny: Value, fallback: Value): EgressPolicy | null {
  if (allow === null && deny === null && fallback === null) return null
  const list = (value: Value): string[] =>
    value === null
      ? []
      : display(value)
          .split(',')
          .map((rule) => rule.trim())
          .filter((rule) => rule !== '')
  return {
    source: 'env',
    default: fallback !== null && display(fallback).trim().toLowerCase() === 'deny' ? 'deny' : 'allow',
    allow: list(allow),
    deny: list(deny),
  }
}

/** Policy from the dict that a script gives; a text is the error. */
export function readPolicyFromConfig(config: Value): EgressPolicy | string {
  if (!(config instanceof HarnDict)) return 'egress_policy: requires a config dict'
  const readRules = (key: string): string[] | null => {
    const value = config.get(key) ?? null
    if (value === null) return []
    return value instanceof HarnList ? value.view().map((rule) => display(rule).trim()) : null
  }
  const allow = readRules('allow')
  const deny = readRules('deny')
  if (allow === null || deny === null) return `egress_policy: ${allow === null ? 'allow' : 'deny'} must be a list`
  for (const rule of [...allow, ...deny]) {
    const fault = describeRuleFault(rule)
    if (fault !== null) return `egress_policy: ${fault}`
  }
  const fallback = display(config.get('default') ?? 'allow')
  if (fallback !== 'allow' && fallback !== 'deny')
    return `egress_policy: default must be \`allow\` or \`deny\`, got \`${fallback}\``
  return { source: 'stdlib', default: fallback, allow, deny }
}

export function encodePolicy(policy: EgressPolicy): HarnDict {
  return HarnDict.of({
    configured: true,
    source: policy.source,
    default: policy.default,
    allow: new HarnList([...policy.allow]),
    deny: new HarnList([...policy.deny]),
  })
}
