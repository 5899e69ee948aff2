// What a host says about tools, one slot of `hostData` each. They stand apart from those who read them, so that a run which calls no tool
// loads none of that.

import { defineHostSlot } from '@bridle/vm/families'
import type { Plain } from '@bridle/vm/families'
import type { HostCapabilities } from '../library/effects/index.js'
import type { HostNames } from './dispatch/identity.js'

// -------------------------------------------------------------------------------------------------------------- drift

export type DriftReaction = 'ignore' | 'warn' | 'fail' | 'quarantine'

/** What a host watches for. */
export interface DriftWatch {
  /** Pinned shapes as data, by the keys of lock files (tool-pins.ts). */
  readonly shapes: ReadonlyMap<string, unknown>
  /** For tools that do not say. */
  readonly onBreaking: DriftReaction
}

export const DRIFT_WATCH = defineHostSlot<DriftWatch | null>('drift_watch', null)

// --------------------------------------------------------------------------------------------------------------- pins

/** A tool that a program defined, as reported to its host. */
export interface DefinedTool {
  readonly name: string
  readonly hash: string
  readonly descriptionHash: string
  /** The entry without its handler. */
  readonly entry: Plain
}

/** Receives each tool that the program defines; null without a listener. */
export const TOOL_LISTENER = defineHostSlot<((tool: DefinedTool) => void) | null>('tool_listener', null)
/** Hashes of the only tools that may be called, by origin and name; null when any may. */
export const TOOL_PINS = defineHostSlot<ReadonlyMap<string, string> | null>('tool_pins', null)

// ---------------------------------------------------------------------------------------------------- kept calls

/** Whether effects of tool calls are recorded or shown: then they carry a hash of their arguments. True by default. */
export const KEEPS_CALLS = defineHostSlot<() => boolean>('keeps_calls', () => true)

// ---------------------------------------------------------------------------------------------------- kept results

/** What a host says about all kept results. */
export interface ResultCache {
  readonly enabled: boolean
  /** For tools that say no time of their own; null: as long as the run. */
  readonly ttlMs: number | null
}

export const RESULT_CACHE = defineHostSlot<ResultCache | null>('result_cache', null)

// ---------------------------------------------------------------------------------------------------- capabilities

/** What `host_capabilities` lists beside the built-in ones. */
export const HOST_CAPABILITIES = defineHostSlot<HostCapabilities>('host_capabilities', {})

// -------------------------------------------------------------------------------------------------------------- names

/** Under which names the host knows what it offers; null when it offers nothing. */
export const HOST_NAMES = defineHostSlot<HostNames | null>('host_names', null)
