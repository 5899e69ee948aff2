// The confinement of a run's providers, as data: the intersection of two confinements, and whether one is within the other. Separate from
// authority.ts, because a new run compares nothing.

import { isAbsolute, relative, sep } from 'node:path'
import type { RunAuthority } from '@bridle/stdlib-tools'
import type { Plain } from '@bridle/vm'

/** The confinement of a run's providers: stored with the run, and narrowed when it continues. */
export interface Confined {
  /** Real paths; null: no confinement, neither of files nor of addresses and variables. */
  readonly roots: readonly string[] | null
  /** Hosts at private addresses that were named individually. */
  readonly privateHosts: readonly string[]
  /** Hosts of MCP servers; null: any. */
  readonly mcpHosts: readonly string[] | null
  /** Whether MCP was granted without hosts: then servers may be programs, too. */
  readonly mcpPrograms: boolean
  /** Variables that are visible in addition to the plain ones; null: all. */
  readonly variables: readonly string[] | null
  /** Secrets that may be lent, as the flag has them: NAME or NAME@ORIGIN; null: any. */
  readonly secrets: readonly string[] | null
  /** Variables that are never visible: those that were lent as secrets. */
  readonly hidden: readonly string[]
}

const NOT_CONFINED: Confined = {
  roots: null,
  privateHosts: [],
  mcpHosts: null,
  mcpPrograms: true,
  variables: null,
  secrets: null,
  hidden: [],
}
const TIGHTEST: Confined = {
  roots: [],
  privateHosts: [],
  mcpHosts: [],
  mcpPrograms: false,
  variables: [],
  secrets: [],
  hidden: [],
}

/** From an untrusted file: unreadable parts confine most. */
export function parseConfined(facts: Plain): Confined {
  if (facts === null) return NOT_CONFINED
  if (typeof facts !== 'object' || Array.isArray(facts)) return TIGHTEST
  const { roots, privateHosts, mcpHosts, mcpPrograms, variables, secrets, hidden } = facts as { readonly [key: string]: unknown }
  const listTexts = (raw: unknown): readonly string[] =>
    Array.isArray(raw) ? raw.filter((each) => typeof each === 'string') : []
  return {
    roots: roots === null ? null : listTexts(roots).filter(isAbsolute),
    privateHosts: listTexts(privateHosts),
    mcpHosts: mcpHosts === null ? null : listTexts(mcpHosts),
    mcpPrograms: mcpPrograms === true,
    variables: variables === null ? null : listTexts(variables),
    secrets: secrets === null ? null : listTexts(secrets),
    hidden: listTexts(hidden),
  }
}

/** The intersection; folders and hosts of `before` come first. */
export function narrowConfined(before: Confined, now: Confined): Confined {
  const intersectLists = <T>(
    a: readonly T[] | null,
    b: readonly T[] | null,
    common: (one: T, other: T) => T | null,
  ): readonly T[] | null => {
    if (a === null || b === null) return a ?? b
    const found = a.flatMap((one) => b.flatMap((other) => common(one, other) ?? []))
    return [...new Set(found)]
  }
  // Only a confined run has exempt hosts.
  const exempt = before.roots === null ? now.privateHosts : now.roots === null ? before.privateHosts : null
  return {
    roots: intersectLists(before.roots, now.roots, (a, b) => (isBelow(a, b) ? a : isBelow(b, a) ? b : null)),
    privateHosts: exempt ?? before.privateHosts.filter((host) => now.privateHosts.includes(host)),
    mcpHosts: intersectLists(before.mcpHosts, now.mcpHosts, (a, b) => (covers(b, a) ? a : covers(a, b) ? b : null)),
    mcpPrograms: before.mcpPrograms && now.mcpPrograms,
    variables: intersectLists(before.variables, now.variables, isSame),
    secrets: intersectLists(before.secrets, now.secrets, isSame),
    hidden: [...new Set([...before.hidden, ...now.hidden])],
  }
}

const isSame = (one: string, other: string): string | null => (one === other ? one : null)

/** Whether `now` allows nothing that `before` did not. */
export function isWithin(now: Confined, before: Confined): boolean {
  const hasAll = <T>(a: readonly T[] | null, b: readonly T[] | null, isIn: (one: T, other: T) => boolean): boolean =>
    b === null || (a !== null && a.every((one) => b.some((other) => isIn(one, other))))
  return (
    hasAll(now.roots, before.roots, isBelow) &&
    (before.roots === null || now.privateHosts.every((host) => before.privateHosts.includes(host))) &&
    hasAll(now.mcpHosts, before.mcpHosts, (a, b) => covers(b, a)) &&
    (before.mcpPrograms || !now.mcpPrograms) &&
    hasAll(now.variables, before.variables, (a, b) => a === b) &&
    hasAll(now.secrets, before.secrets, (a, b) => a === b) &&
    before.hidden.every((name) => now.hidden.includes(name))
  )
}

/** In words, one line each: what these flags add to the run's confinement. */
export function listWidenings(before: RunAuthority, { confined: now }: { readonly confined: Confined }): readonly string[] {
  const then = parseConfined(before.confinement)
  if (isWithin(now, then)) return []
  const formatList = (items: readonly string[] | null, all: string): string => (items === null ? all : items.join(', ') || 'none')
  return [
    ...(then.roots === null || now.roots?.every((root) => then.roots!.some((each) => isBelow(root, each))) === true
      ? []
      : [`files: ${formatList(now.roots, 'anywhere')}, before: ${formatList(then.roots, 'anywhere')}`]),
    ...(then.roots !== null && now.roots === null ? ['addresses and variables: all of this computer'] : []),
    ...(then.roots !== null && now.roots !== null && !now.privateHosts.every((host) => then.privateHosts.includes(host))
      ? [`private addresses: ${formatList(now.privateHosts, 'any')}`]
      : []),
    ...(then.mcpHosts !== null && JSON.stringify(now.mcpHosts) !== JSON.stringify(then.mcpHosts)
      ? [`hosts of MCP servers: ${formatList(now.mcpHosts, 'any')}, before: ${formatList(then.mcpHosts, 'any')}`]
      : []),
    ...(now.mcpPrograms && !then.mcpPrograms ? ['programs of MCP servers'] : []),
    ...listAdded('variables', now.variables, then.variables),
    ...listAdded('secrets', now.secrets, then.secrets),
    ...listAdded('secrets that are variables now', then.hidden, now.hidden),
  ]
}

/** What `now` has and `then` had not; an unrestricted list is reported with the files. */
function listAdded(what: string, now: readonly string[] | null, then: readonly string[] | null): readonly string[] {
  const added = now === null || then === null ? [] : now.filter((each) => !then.includes(each))
  return added.length === 0 ? [] : [`${what}: ${added.join(', ')}`]
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`))
}

/** Patterns of network-policy.ts: a name, or `*.` with all names below one. */
function covers(pattern: string, other: string): boolean {
  return pattern === '*' || pattern === other || (pattern.startsWith('*.') && other.endsWith(pattern.slice(1)))
}
