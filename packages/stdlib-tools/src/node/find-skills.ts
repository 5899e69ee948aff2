// Whether there are skills at all: most machines have none, and reading them takes parsers, keys and hashes.

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readSkills } from './skills.js'
import type { DiscoveredSkills, SkillLayer, SkillSources } from './skills.js'

type Variables = NonNullable<SkillSources['env']>

export function discoverSkills(sources: SkillSources): DiscoveredSkills {
  const env = sources.env ?? process.env
  const isNamed = sources.manifest !== null || (sources.folders ?? []).length > 0 || (env['HARN_SKILLS_PATH'] ?? '') !== ''
  if (isNamed || listMachineRoots(env).some(({ path }) => existsSync(path))) return readSkills(sources)
  return { registry: null, problems: [], find: () => null }
}

/** Folders of skills that belong to no project. */
export function listMachineRoots(env: Variables): readonly { readonly layer: SkillLayer; readonly path: string }[] {
  const home = findHome(env)
  return [
    { layer: 'user', path: join(home, '.harn', 'skills') },
    { layer: 'system', path: join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'harn', 'skills') },
    { layer: 'system', path: join('/etc', 'harn', 'skills') },
  ]
}

export function findHome(env: Variables): string {
  return env['HOME'] ?? homedir()
}
