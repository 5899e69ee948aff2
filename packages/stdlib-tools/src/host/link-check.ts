// Refuses a program before its first instruction where what it declares cannot be met by this host: an alias of an unknown tool, or
// that has another version, and an import of a function that the host does not offer. No script can catch these usefully, since the
// declarations are no calls. With `link: 'strict'` the effects of the manifest are asked about as well: each needs a provider and a grant.
// Both may be wrong for a script that catches the error, or that is given a mock, so hosts ask for it.

import { findClosest } from '@bridle/parser'
import type { SourceFile, Span } from '@bridle/parser'
import { satisfiesVersion } from '@bridle/compiler/grants'
import type { EffectManifest, GrantDeclarations, HostImport, ToolAlias } from '@bridle/compiler'
import type { EffectKind, Plain } from '@bridle/vm'
import { EFFECTS } from '../library/effects/index.js'
import type { ToolErrorCode } from '../library/tool-errors.js'
import { STANDARD_TOOLS, findStandardEntry } from '../tools/definitions/standard-tools.js'
import { getEntryFacts, toHostEntry } from '../tools/definitions/entry.js'
import { ToolError } from '../tools/host-tools/errors.js'
import type { Host } from '../tools/host-tools/host.js'
import type { Grants } from './authority.js'

/**
 * What `start` makes sure of: `declared` (the default) aliases of tools, their versions and imports from the host; `strict` also a provider
 * and a grant for every effect of the manifest; `lazy` nothing, so that each is an error at its place in the run.
 */
export type LinkMode = 'declared' | 'strict' | 'lazy'

/** The checked program: a compiled Module. */
export interface DeclaringProgram {
  readonly files: ReadonlyMap<string, SourceFile>
  readonly grants: ReadonlyMap<string, GrantDeclarations>
  readonly manifest: EffectManifest
  readonly hostImports: readonly HostImport[]
  mayDefineTool(name: string): boolean
  findCause(kind: string): { readonly text: string; readonly file: SourceFile; readonly span: Span }
}

export interface LinkHost {
  readonly host: Host
  /** Another process may have tools that this one does not know. */
  readonly hasBridge: boolean
  /** Modules `host/NAME` may be files, too. */
  readonly hasResolver: boolean
}

interface LinkProblem {
  readonly code: ToolErrorCode
  readonly message: string
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Raises ToolError `not_registered` or `version_mismatch` with all declarations that this host cannot meet. */
export function checkDeclarations(module: DeclaringProgram, parts: LinkHost): void {
  const problems = [...module.grants].flatMap(([key, { aliases, scoped }]) => {
    const file = module.files.get(key)
    if (file === undefined) return []
    const versions = scoped.flatMap(({ tool, within, grant, span }) =>
      within === null && grant['version'] !== undefined && parts.host.entries.has(tool)
        ? [{ tool, required: String(grant['version']), who: 'its grant', span }]
        : [],
    )
    return [
      ...aliases.flatMap((alias) => findAliasProblems(module, parts, alias, file)),
      ...versions.flatMap((wanted) => findVersionProblem(parts.host, wanted, file)),
    ]
  })
  refuse([...problems, ...findImportProblems(module, parts)])
}

/** Raises ToolError `provider_unavailable` or `policy_violation` with all effects of the manifest that this run cannot have. */
export function checkEffects(module: DeclaringProgram, provided: ReadonlySet<string>, grants: Grants): void {
  const kinds = module.manifest.script.kinds.filter((kind): kind is EffectKind => Object.hasOwn(EFFECTS, kind))
  refuse(
    kinds.flatMap((kind) => {
      const area = kind.slice(0, kind.indexOf('.'))
      const { text, file, span } = module.findCause(kind)
      const what = `the program can reach ${kind} by ${text}`
      if (!provided.has(kind))
        return [
          makeProblem('provider_unavailable', `${what}, and this host provides no "${area}": add a provider of it`, file, span),
        ]
      if (grants.allows(kind)) return []
      const advice = `the host must grant "${kind}" or "${area}"`
      return [makeProblem('policy_violation', `${what}, which is not granted to this run: ${advice}`, file, span)]
    }),
  )
}

function findAliasProblems(
  module: DeclaringProgram,
  { host, hasBridge }: LinkHost,
  { name, tool, server, version, grant, span }: ToolAlias,
  file: SourceFile,
): readonly LinkProblem[] {
  // Which tools a server has, and what a program puts into registries of its own, is known to the run only.
  if (server || module.mayDefineTool(tool)) return []
  if (findEntryVersion(host, tool) === undefined) {
    if (hasBridge) return []
    const near = findClosest(tool, [...host.entries.keys(), ...STANDARD_TOOLS.map(({ id }) => id)])
    const advice = near === null ? 'register it, or name a tool that is registered' : `did you mean '${near}'?`
    return [
      makeProblem(
        'not_registered',
        `alias '${name}' stands for the tool '${tool}', which is not registered: ${advice}`,
        file,
        span,
      ),
    ]
  }
  return [version, grant['version']].flatMap((required) =>
    typeof required === 'string' ? findVersionProblem(host, { tool, required, who: `alias '${name}'`, span }, file) : [],
  )
}

/** Undefined for a tool that neither the host nor the library has; null for one that does not say its version. */
function findEntryVersion(host: Host, tool: string): string | null | undefined {
  const own = host.entries.get(tool)
  const entry = own === undefined ? findStandardEntry(tool) : toHostEntry(own)
  return entry === null ? undefined : getEntryFacts(entry).version
}

function findVersionProblem(
  host: Host,
  { tool, required, who, span }: { readonly tool: string; readonly required: string; readonly who: string; readonly span: Span },
  file: SourceFile,
): readonly LinkProblem[] {
  const found = findEntryVersion(host, tool) ?? null
  if (found !== null && satisfiesVersion(found, required)) return []
  const advice = 'ask for a version that the host has, or register that one'
  const message = `tool '${tool}' has version ${found ?? '(unknown)'}, and ${who} requires ${required}: ${advice}`
  return [makeProblem('version_mismatch', message, file, span)]
}

function findImportProblems(module: DeclaringProgram, { host, hasResolver }: LinkHost): readonly LinkProblem[] {
  return module.hostImports.flatMap(({ from, name: path, span, names, isFound }) => {
    const file = module.files.get(from)
    if (file === undefined) return []
    const offered = host.listModuleNames(path)
    if (offered.length > 0)
      return (names ?? []).flatMap(({ text, span: at }) => {
        if (offered.includes(text)) return []
        const near = findClosest(text, offered)
        const advice = near === null ? `it offers ${offered.join(', ')}` : `did you mean '${near}'?`
        return [makeProblem('not_registered', `"host/${path}" of this host offers no '${text}': ${advice}`, file, at)]
      })
    if (isFound || (hasResolver && host.families.size === 0)) return []
    const near = findClosest(path, host.families)
    const advice = near === null ? 'register its tools or functions' : `did you mean "host/${near}"?`
    return [makeProblem('not_registered', `this host offers nothing under the name "host/${path}": ${advice}`, file, span)]
  })
}

function makeProblem(code: ToolErrorCode, message: string, file: SourceFile, span: Span): LinkProblem {
  return { code, message, file: file.name, ...file.position(span.start) }
}

function refuse(problems: readonly LinkProblem[]): void {
  const [first] = problems
  if (first === undefined) return
  const lines = problems.map(({ message, file, line, column }) => `${message} (${file}:${line}:${column})`)
  throw new ToolError(first.code, `the run was not started: ${lines.join('; ')}`, {
    details: { violation: 'link', problems: problems.map((problem): Plain => ({ ...problem })) },
  })
}
