// `bridle check PATH…`: static checks of scripts: syntax, types, lint, preflight (do their
// references exist?) and, on request, invariants. Findings go to stderr as excerpts or to stdout as JSON; a file without findings
// is listed on stdout. Exit 1 when any file has an error, under `--strict` also for a warning.

import { dirname, join, resolve } from 'node:path'
import type { Runtime } from '@bridle/stdlib-tools'
import { Analysis, type Parsed, parseTarget } from '../checking/analyze.js'
import { ModuleFinder } from '../checking/imports.js'
import { CheckingRuntimes } from '../checking/runtimes.js'
import { type Config, makeConfigCache, loadConfig, type PreflightSeverity } from '../config.js'
import { EXIT_FAILURE, UsageError } from '../errors.js'
import { type Finding, findingToJson, isError, showFindings } from '../findings.js'
import { applyAndWriteFixes, readTargets } from './lint.js'
import { tell, tellJson } from '../printable.js'

export interface CheckFlags {
  readonly json?: boolean
  readonly fix?: boolean
  /** Warnings fail; types are checked strictly. */
  readonly strict?: boolean
  readonly strictTypes?: boolean
  readonly workspace?: boolean
  readonly preflight?: PreflightSeverity
  readonly hostCapabilities?: string
  /** Declarations of the host's tools. */
  readonly tools?: string
  readonly bundleRoot?: string
  readonly invariants?: boolean
}

/** Findings in a manifest, by the path that the caller gave. */
interface CheckedManifest {
  readonly path: string
  readonly found: readonly Finding[]
}

/** Scripts and manifests. */
export async function checkAllCommand(paths: readonly string[], flags: CheckFlags): Promise<number> {
  const manifests = paths.filter((path) => path.endsWith('.toml'))
  if (manifests.length === 0) return checkCommand(paths, flags)
  // Loaded on demand: its rules run in a machine.
  const { checkManifest } = await import('../checking/trigger-manifest.js')
  const checked: CheckedManifest[] = []
  for (const path of manifests) checked.push({ path, found: await checkManifest(path) })
  return checkCommand(
    paths.filter((path) => !manifests.includes(path)),
    flags,
    checked,
  )
}

export function checkCommand(paths: readonly string[], flags: CheckFlags, manifests: readonly CheckedManifest[] = []): number {
  const isScriptless = manifests.length > 0 && paths.length === 0 && flags.workspace !== true
  const files = isScriptless ? [] : readTargets(listTargets(paths, flags)).map((target) => parseTarget(target))
  const configOf = makeConfigCache()
  const runtimes = new CheckingRuntimes({ flag: flags.tools, script: resolve(files[0]?.target.path ?? '.') })
  const getRuntime = (path: string): Runtime => runtimes.getRuntime(configOf(path))
  const finder = new ModuleFinder({ moduleSource: (name, from) => getRuntime(from).host.moduleSource(name) })
  const analysis = new Analysis(finder, files)
  const check = (parsed: Parsed): readonly Finding[] => {
    const config = configOf(parsed.target.path)
    return analysis.check(runtimes.getRuntime(config), parsed, {
      config,
      strictTypes: flags.strictTypes === true || config.check.strict_types || (flags.strict === true && 'unnamed'),
      preflight: flags.preflight ?? config.check.preflight_severity,
      bundleRoot: findBundleRoot(flags, config),
      hostCapabilities: findCapabilitiesFile(flags, config),
      invariants: flags.invariants ?? false,
    })
  }
  const all: Finding[] = []
  let failed = false
  for (const { path, found } of manifests) {
    all.push(...found)
    failed ||= found.some(isError) || (flags.strict === true && found.length > 0)
    if (flags.json === true) continue
    if (found.length === 0) tell(`${path}: ok\n`)
    showFindings(found)
  }
  for (const parsed of files) {
    const found = flags.fix === true ? applyAndWriteFixes(parsed, check, flags.json === true) : check(parsed)
    all.push(...found)
    const warningsFail = flags.strict ?? configOf(parsed.target.path).check.strict
    failed ||= found.some(isError) || (warningsFail && found.some(({ diagnostic }) => diagnostic.severity === 'warning'))
    if (flags.json === true) continue
    if (found.length === 0) tell(`${parsed.target.path}: ok\n`)
    showFindings(found)
  }
  if (flags.json === true) tellJson(all.map(findingToJson))
  return failed ? EXIT_FAILURE : 0
}

/** The given paths and, with `--workspace`, those of the manifest. */
function listTargets(paths: readonly string[], flags: CheckFlags): readonly string[] {
  if (flags.workspace !== true) {
    if (paths.length > 0) return paths
    throw new UsageError('`bridle check` requires at least one target path, or `--workspace` with `[workspace].pipelines`')
  }
  const config: Config = loadConfig(paths[0] ?? '.')
  if (config.path === null) throw new UsageError('--workspace could not find a harn.toml walking up from the target(s)')
  const { pipelines } = config.workspace
  if (pipelines.length === 0) throw new UsageError('--workspace requires `[workspace].pipelines` in the nearest harn.toml')
  const folder = dirname(config.path)
  return [...paths, ...pipelines.map((path) => join(folder, path))]
}

/** Paths in flags are relative to the working folder, those in a manifest to its own folder. */
function findBundleRoot(flags: CheckFlags, config: Config): string | null {
  if (flags.bundleRoot !== undefined) return resolve(flags.bundleRoot)
  return resolveBeside(config, config.check.bundle_root)
}

function findCapabilitiesFile(flags: CheckFlags, config: Config): string | null {
  if (flags.hostCapabilities !== undefined) return resolve(flags.hostCapabilities)
  return resolveBeside(config, config.check.host_capabilities_path ?? config.check.host_capabilities_file)
}

function resolveBeside(config: Config, path: string | undefined): string | null {
  return path === undefined || config.path === null ? null : resolve(dirname(config.path), path)
}
