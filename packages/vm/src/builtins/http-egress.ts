// The egress policy of a run (reference 03b §5.3): which hosts requests may go to. Deny wins, then allow, then the default.

import type { Context, Control } from './builtin.js'
import { httpState, redactUrl } from './http-state.js'
import type { EgressPolicy } from './http-state.js'
import { HarnDict } from '../values/dict.js'
import { display } from '../values/display.js'
import { HarnList } from '../values/list.js'
import type { Value } from '../values/value.js'

interface Target {
  /** Lower case, without the brackets of an IPv6 address. */
  readonly host: string
  readonly port: number
}

function targetOf(url: URL): Target {
  const port = url.port !== '' ? Number(url.port) : url.protocol === 'https:' || url.protocol === 'wss:' ? 443 : 80
  return { host: url.hostname.replace(/^\[|\]$/g, '').toLowerCase(), port }
}

/** Bits of an address, most significant first; null when the text is no IP address. */
export function addressBits(text: string): string | null {
  const four = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (four !== null) {
    const bytes = four.slice(1).map(Number)
    return bytes.some((byte) => byte > 255) ? null : bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  }
  if (!text.includes(':')) return null
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

export function ruleMatches(rule: string, target: Target): boolean {
  const { host, port } = splitRule(rule.trim().toLowerCase())
  if (port !== null && port !== target.port) return false
  if (host === '*') return true
  if (host.startsWith('*.')) return target.host.endsWith(host.slice(1)) && target.host.length > host.length - 1
  const block = /^(.+)\/(\d{1,3})$/.exec(host)
  const bits = addressBits(target.host)
  if (block !== null) {
    const prefix = addressBits(block[1]!)
    return bits !== null && prefix !== null && bits.length === prefix.length && bits.startsWith(prefix.slice(0, Number(block[2])))
  }
  return host === target.host || (bits !== null && bits === addressBits(host))
}

/** What is wrong with a rule, which has been trimmed; null when nothing is. */
function faultOf(rule: string): string | null {
  if (rule === '') return 'empty egress rule'
  const { host } = splitRule(rule)
  const slash = host.indexOf('/')
  if (slash < 0) return null
  const bits = addressBits(host.slice(0, slash))
  const length = /^\d{1,3}$/.test(host.slice(slash + 1)) ? Number(host.slice(slash + 1)) : Infinity
  return bits === null || length > bits.length ? `invalid CIDR rule \`${rule}\`: invalid IP address syntax` : null
}

/** The reason why the policy refuses a URL; null when it does not. */
function refusedBy(policy: EgressPolicy, target: Target): string | null {
  const denied = policy.deny.find((rule) => ruleMatches(rule, target))
  if (denied !== undefined) return `matched deny rule \`${denied}\``
  if (policy.allow.some((rule) => ruleMatches(rule, target)) || policy.default === 'allow') return null
  return 'no allow rule matched'
}

/** Raises the EgressBlocked dict when the run's policy refuses `url`; null when the request may go on. */
export function checkEgress(ctx: Context, surface: string, url: string): Control | null {
  const refusal = egressRefusal(ctx, surface, url)
  return refusal === null ? null : ctx.throw(refusal)
}

/** That dict, for those who raise it in a form of their own. */
export function egressRefusal(ctx: Context, surface: string, url: string): HarnDict | null {
  if (!URL.canParse(url)) return null
  const policy = ctx.state(httpState).egress
  if (policy === null) return null
  const target = targetOf(new URL(url))
  const reason = refusedBy(policy, target)
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
export function policyFromEnvironment(allow: Value, deny: Value, fallback: Value): EgressPolicy | null {
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
export function policyFromConfig(config: Value): EgressPolicy | string {
  if (!(config instanceof HarnDict)) return 'egress_policy: requires a config dict'
  const rules = (key: string): string[] | null => {
    const value = config.get(key) ?? null
    if (value === null) return []
    return value instanceof HarnList ? value.view().map((rule) => display(rule).trim()) : null
  }
  const allow = rules('allow')
  const deny = rules('deny')
  if (allow === null || deny === null) return `egress_policy: ${allow === null ? 'allow' : 'deny'} must be a list`
  for (const rule of [...allow, ...deny]) {
    const fault = faultOf(rule)
    if (fault !== null) return `egress_policy: ${fault}`
  }
  const fallback = display(config.get('default') ?? 'allow')
  if (fallback !== 'allow' && fallback !== 'deny')
    return `egress_policy: default must be \`allow\` or \`deny\`, got \`${fallback}\``
  return { source: 'stdlib', default: fallback, allow, deny }
}

export function policyValue(policy: EgressPolicy): HarnDict {
  return HarnDict.of({
    configured: true,
    source: policy.source,
    default: policy.default,
    allow: new HarnList([...policy.allow]),
    deny: new HarnList([...policy.deny]),
  })
}
